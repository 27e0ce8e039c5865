import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.scm import Version

required_conan_version = ">=2.0"


class FlowgraphConan(ConanFile):
    name = "flowgraph"
    description = "Typed dataflow graphs that the compiler builds, checks, differentiates and plans"
    license = "Apache-2.0"
    topics = ("dataflow", "machine-learning", "automatic-differentiation", "constexpr", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_onednn": [True, False]}
    default_options = {"with_onednn": False}
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "tests/*", "examples/*", "docs/*", "tools/*"
    no_copy_source = True

    def set_version(self):
        project = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(\s*flowgraph\s+VERSION (\S+)", project)[1]

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("eigen/[>=3.4.0 <6]", transitive_headers=True)
        self.requires("fmt/[>=9 <13]", transitive_headers=True, transitive_libs=True)
        if self.options.with_onednn:
            self.requires("onednn/[>=2.6 <4]", transitive_headers=True, transitive_libs=True)

    def build_requirements(self):
        self.test_requires("doctest/[>=2.4.9 <3]")

    def validate(self):
        compiler = self.settings.compiler
        cppstd = str(compiler.get_safe("cppstd") or "").removeprefix("gnu")
        if cppstd not in ("20", "23", "26"):
            raise ConanInvalidConfiguration(
                f"flowgraph is written in C++20, but the profile says compiler.cppstd={compiler.get_safe('cppstd')}; "
                "pass -s compiler.cppstd=20 or set it in the profile"
            )
        oldest = {"gcc": "12", "clang": "16"}.get(str(compiler))
        if oldest and Version(compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"flowgraph needs {compiler} {oldest} or later, not {compiler.version}")
        if self.options.with_onednn and self.dependencies["onednn"].options.get_safe("cpu_runtime") == "TBB":
            raise ConanInvalidConfiguration(
                "flowgraph needs a oneDNN for OpenMP or without threads: TBB's can't be kept to a session's number; "
                "pass -o onednn/*:cpu_runtime=OMP"
            )

    def generate(self):
        dependencies = CMakeDeps(self)
        if self.options.with_onednn:  # by the names of oneDNN's own CMake files, whatever the recipe calls them
            dependencies.set_property("onednn", "cmake_file_name", "dnnl")
            dependencies.set_property("onednn", "cmake_target_name", "DNNL::dnnl")
        dependencies.generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        skip = self.conf.get("tools.build:skip_test", default=False, check_type=bool)
        toolchain.cache_variables["FLOWGRAPH_BUILD_TESTS"] = not skip
        toolchain.cache_variables["FLOWGRAPH_BUILD_EXAMPLES"] = False
        # Not whichever zlib, libpng, libjpeg and protozero the system has: the package requires none; nor its oneDNN.
        for library in ("ZLIB", "PNG", "JPEG", "protozero"):
            toolchain.cache_variables[f"CMAKE_DISABLE_FIND_PACKAGE_{library}"] = True
        toolchain.cache_variables["FLOWGRAPH_KERNELS"] = "onednn" if self.options.with_onednn else "eigen"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        if not self.conf.get("tools.build:skip_test", default=False, check_type=bool):
            cmake.build(target="test_programs")
            if can_run(self):
                # What was built; the other tests are about the repository, and run the compiler themselves.
                cmake.ctest(["--output-on-failure", '--label-exclude "headers|diagnostics|docs|consumer|style"'])

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "flowgraph")
        define, everything = self.cpp_info.components["define"], self.cpp_info.components["flowgraph"]
        define.set_property("cmake_target_name", "flowgraph::define")
        everything.set_property("cmake_target_name", "flowgraph::flowgraph")
        everything.requires = ["define", "eigen::eigen", "fmt::fmt"]
        data = self.cpp_info.components["data"]
        data.set_property("cmake_target_name", "flowgraph::data")
        data.requires = ["flowgraph"]
        for component in (define, everything, data):
            component.bindirs = []
            component.libdirs = []
        if self.settings.os in ("Linux", "FreeBSD"):
            everything.system_libs = ["pthread", "m"]
        if self.options.with_onednn:
            everything.requires.append("onednn::onednn")
            everything.defines = ["FLOWGRAPH_ONEDNN=1"]
            if self.settings.os == "Linux":
                everything.system_libs.append("dl")
