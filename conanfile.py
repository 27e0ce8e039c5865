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
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "compiled": [True, False],  # flowgraph::compiled, a static library of the kernels
        "with_onednn": [True, False],
        # Of packed and image files: without one, reading such a file is an error that says so.
        "with_zlib": [True, False],
        "with_libpng": [True, False],
        "with_libjpeg": [False, "libjpeg", "libjpeg-turbo"],
        "with_distributed": [True, False],  # flowgraph::distributed: Asio and OpenSSL
    }
    default_options = {
        "compiled": False,
        "with_onednn": False,
        "with_zlib": False,
        "with_libpng": False,
        "with_libjpeg": False,
        "with_distributed": False,
    }
    exports_sources = (
        "CMakeLists.txt",
        "LICENSE",
        "cmake/*",
        "compiled/*",
        "include/*",
        "tests/*",
        "examples/*",
        "docs/*",
        "tools/*",
    )
    no_copy_source = True

    def set_version(self):
        project = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(\s*flowgraph\s+VERSION (\S+)", project)[1]

    def configure(self):
        self.package_type = "static-library" if self.options.compiled else "header-library"

    def layout(self):
        cmake_layout(self)

    @property
    def _skips_tests(self):
        # Unless told otherwise: they compile for the better part of an hour.
        return self.conf.get("tools.build:skip_test", default=True, check_type=bool)

    def requirements(self):
        self.requires("eigen/[>=3.4.0 <6]", transitive_headers=True)
        self.requires("fmt/[>=9 <13]", transitive_headers=True, transitive_libs=True)
        # Headers alone, and few: cheaper to have than to choose.
        self.requires("nlohmann_json/[>=3.9 <4]", transitive_headers=True)
        self.requires("protozero/[>=1.7 <2]", transitive_headers=True)
        if self.options.with_onednn:
            self.requires("onednn/[>=2.6 <4]", transitive_headers=True, transitive_libs=True)
        if self.options.with_zlib:
            self.requires("zlib/[>=1.2.11 <2]", transitive_headers=True, transitive_libs=True)
        if self.options.with_libpng:
            self.requires("libpng/[>=1.6 <2]", transitive_headers=True, transitive_libs=True)
        if self.options.with_libjpeg:
            self.requires(f"{self.options.with_libjpeg}/[*]", transitive_headers=True, transitive_libs=True)
        if self.options.with_distributed:
            self.requires("asio/[>=1.22 <2]", transitive_headers=True)
            self.requires("openssl/[>=3 <4]", transitive_headers=True, transitive_libs=True)

    def build_requirements(self):
        if not self._skips_tests:
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
        toolchain.cache_variables["FLOWGRAPH_BUILD_TESTS"] = not self._skips_tests
        toolchain.cache_variables["FLOWGRAPH_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["FLOWGRAPH_BUILD_COMPILED"] = bool(self.options.compiled)
        # Not whichever libraries the system has.
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_ZLIB"] = not self.options.with_zlib
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_PNG"] = not self.options.with_libpng
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_JPEG"] = not self.options.with_libjpeg
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_OpenSSL"] = not self.options.with_distributed
        toolchain.cache_variables["FLOWGRAPH_KERNELS"] = "onednn" if self.options.with_onednn else "eigen"
        toolchain.generate()

    def build(self):
        if self._skips_tests and not self.options.compiled:
            return
        cmake = CMake(self)
        cmake.configure()
        if self.options.compiled:
            cmake.build(target="flowgraph_compiled")
        if self._skips_tests:
            return
        cmake.build(target="test_programs")
        if can_run(self):
            # What was built; the other tests are about the repository, and run the compiler themselves.
            others = "headers|diagnostics|docs|consumer|packages|compilers|style"
            cmake.ctest(["--output-on-failure", f'--label-exclude "{others}"'])

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        if self.options.compiled:
            for archive in ("libflowgraph.a", "flowgraph.lib"):
                copy(self, archive, self.build_folder, os.path.join(self.package_folder, "lib"), keep_path=False)

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "flowgraph")

        def component(name, *requires):
            made = self.cpp_info.components[name]
            made.set_property("cmake_target_name", f"flowgraph::{name}")
            made.set_property("pkg_config_name", "flowgraph" if name == "flowgraph" else f"flowgraph-{name}")
            made.requires = list(requires)
            made.bindirs = []
            made.libdirs = []
            return made

        component("define")
        everything = component("flowgraph", "define", "eigen::eigen", "fmt::fmt")
        if self.options.compiled:
            compiled = component("compiled", "flowgraph")
            compiled.libs = ["flowgraph"]
            compiled.libdirs = ["lib"]
            compiled.defines = ["FLOWGRAPH_COMPILED"]
        # What reads and writes files is in the archive, too, and calls these libraries.
        files = [self.cpp_info.components["compiled"]] if self.options.compiled else []
        component("checkpoint", "flowgraph", "nlohmann_json::nlohmann_json")
        component("onnx", "flowgraph", "protozero::protozero")
        summary = component("summary", "flowgraph", "protozero::protozero")
        data = component("data", "flowgraph")
        if self.settings.os in ("Linux", "FreeBSD"):
            everything.system_libs = ["pthread", "m"]
        if self.options.with_onednn:
            everything.requires.append("onednn::onednn")
            everything.defines = ["FLOWGRAPH_ONEDNN=1"]
            if self.settings.os == "Linux":
                everything.system_libs.append("dl")
        if self.options.with_zlib:
            for user in (data, *files):
                user.requires.append("zlib::zlib")
            data.defines.append("FLOWGRAPH_ZLIB=1")
        if self.options.with_libpng:
            for user in (data, summary, *files):
                user.requires.append("libpng::libpng")
            for user in (data, summary):
                user.defines.append("FLOWGRAPH_PNG=1")
        if self.options.with_libjpeg:
            for user in (data, *files):
                user.requires.append("{0}::{0}".format(self.options.with_libjpeg))
            data.defines.append("FLOWGRAPH_JPEG=1")
        if self.options.with_distributed:
            for user in (component("distributed", "flowgraph", "nlohmann_json::nlohmann_json"), *files):
                user.requires += ["protozero::protozero", "asio::asio", "openssl::openssl"]
