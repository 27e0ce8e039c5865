#!/usr/bin/env python3
"""Makes the Conan package and runs its test_package, without a network.

  check_conan.py CONAN SOURCE [--compiler CXX] [--system DIR]...

What the package requires comes from recipes that are written here and wrap the headers and libraries of this machine. The
test is skipped where there is no Conan.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77

# name: CMake's file and target, the header that must be there, what of its directory is packaged, libraries, definitions.
# Headers that every compiler finds by itself are packaged only where nothing is to be linked.
REQUIRED = {
    "eigen": ("Eigen3", "Eigen3::Eigen", "Eigen/Core", ["Eigen/*", "unsupported/*"], [], []),
    "fmt": ("fmt", "fmt::fmt", "fmt/core.h", ["fmt/*"], [], ["FMT_HEADER_ONLY=1"]),
    "nlohmann_json": ("nlohmann_json", "nlohmann_json::nlohmann_json", "nlohmann/json.hpp", ["nlohmann/*"], [], []),
    "protozero": ("protozero", "protozero::protozero", "protozero/version.hpp", ["protozero/*"], [], []),
}
OPTIONAL = {
    "zlib": ("ZLIB", "ZLIB::ZLIB", "zlib.h", [], ["z"], []),
    "libpng": ("PNG", "PNG::PNG", "png.h", [], ["png"], []),
    "libjpeg": ("JPEG", "JPEG::JPEG", "jpeglib.h", [], ["jpeg"], []),
    "onednn": ("dnnl", "DNNL::dnnl", "oneapi/dnnl/dnnl.h", [], ["dnnl"], []),
    "asio": ("asio", "asio::asio", "asio.hpp", ["asio.hpp", "asio/*"], [], []),
    "openssl": ("OpenSSL", "OpenSSL::SSL", "openssl/ssl.h", [], ["ssl", "crypto"], []),
}
# Chosen together, where both are here.
DISTRIBUTED = {"asio", "openssl"}
# The file with an integer for each part of the version, and their names.
VERSIONS = {
    "eigen": ("Eigen/src/Core/util/Macros.h", ["EIGEN_WORLD_VERSION", "EIGEN_MAJOR_VERSION", "EIGEN_MINOR_VERSION"]),
    "fmt": ("fmt/core.h", ["FMT_VERSION"]),
    "nlohmann_json": (
        "nlohmann/detail/abi_macros.hpp",
        ["NLOHMANN_JSON_VERSION_MAJOR", "NLOHMANN_JSON_VERSION_MINOR", "NLOHMANN_JSON_VERSION_PATCH"],
    ),
    "protozero": (
        "protozero/version.hpp",
        ["PROTOZERO_VERSION_MAJOR", "PROTOZERO_VERSION_MINOR", "PROTOZERO_VERSION_PATCH"],
    ),
    "zlib": ("zlib.h", ["ZLIB_VER_MAJOR", "ZLIB_VER_MINOR", "ZLIB_VER_REVISION"]),
    "libpng": ("png.h", ["PNG_LIBPNG_VER_MAJOR", "PNG_LIBPNG_VER_MINOR", "PNG_LIBPNG_VER_RELEASE"]),
    "openssl": (
        "openssl/opensslv.h",
        ["OPENSSL_VERSION_MAJOR", "OPENSSL_VERSION_MINOR", "OPENSSL_VERSION_PATCH"],
    ),
    "asio": ("asio/version.hpp", ["ASIO_VERSION"]),
    "onednn": (
        "oneapi/dnnl/dnnl_version.h",
        ["DNNL_VERSION_MAJOR", "DNNL_VERSION_MINOR", "DNNL_VERSION_PATCH"],
    ),
}

RECIPE = """from conan import ConanFile
from conan.tools.files import copy


class SystemConan(ConanFile):
    name = "{name}"
    package_type = "header-library"

    def package(self):
        for pattern in {patterns}:
            copy(self, pattern, "{directory}", self.package_folder + "/include")

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "{file}")
        self.cpp_info.set_property("cmake_target_name", "{target}")
        self.cpp_info.includedirs = ["include"] if {patterns} else []
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        self.cpp_info.system_libs = {libraries}
        self.cpp_info.defines = {definitions}
"""


def find(header: str, directories: list[pathlib.Path]) -> pathlib.Path | None:
    return next((d for d in directories if (d / header).is_file()), None)


def version_of(name: str, directory: pathlib.Path) -> str:
    if name not in VERSIONS:
        return "1.0"
    file, parts = VERSIONS[name]
    text = (directory / file).read_text(encoding="utf-8")
    numbers = [int(re.search(rf"define\s+{part}\s+(\d+)", text)[1]) for part in parts]
    if name == "asio":  # 102201
        numbers = [numbers[0] // 100000, numbers[0] // 100 % 1000, numbers[0] % 100]
    elif len(numbers) == 1:  # 90100
        numbers = [numbers[0] // 10000, numbers[0] // 100 % 100, numbers[0] % 100]
    return ".".join(map(str, numbers))


def write_recipe(index: pathlib.Path, name: str, row: tuple, directory: pathlib.Path) -> None:
    file, target, _, patterns, libraries, definitions = row
    recipe = RECIPE.format(name=name, patterns=patterns, directory=directory, file=file, target=target,
                           libraries=libraries, definitions=definitions)  # fmt: skip
    folder = index / "recipes" / name
    (folder / "all").mkdir(parents=True)
    (folder / "all" / "conanfile.py").write_text(recipe)
    (folder / "config.yml").write_text(f'versions:\n  "{version_of(name, directory)}":\n    folder: all\n')


def skip(reason: str) -> None:
    print(reason)
    sys.exit(SKIPPED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conan")
    parser.add_argument("source")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--system", action="append", default=[])
    arguments = parser.parse_args()
    if not os.access(arguments.conan, os.X_OK):
        skip("no Conan: tools/test installs it from PyPI into build/venv")
    directories = [pathlib.Path(d) for d in (*arguments.system, "/usr/include", "/usr/local/include") if d]

    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        index = work / "index"
        options = []
        for package, row in (REQUIRED | OPTIONAL).items():
            directory = find(row[2], directories)
            if directory is not None:
                write_recipe(index, package, row, directory)
                if package in OPTIONAL and package not in DISTRIBUTED:
                    value = "libjpeg" if package == "libjpeg" else "True"
                    options += ["-o", f"flowgraph/*:with_{package}={value}"]
            elif package in REQUIRED:
                skip(f"the package requires {package}, and this machine has no <{row[2]}>")

        if all(find(OPTIONAL[package][2], directories) for package in DISTRIBUTED):
            options += ["-o", "flowgraph/*:with_distributed=True"]

        environment = os.environ | {"CONAN_HOME": str(work / "home"), "CXX": arguments.compiler}

        def conan(*command: str) -> tuple[int, str]:
            print("conan", *command, flush=True)
            done = subprocess.run([arguments.conan, *command], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, cwd=work)  # fmt: skip
            print(done.stdout, flush=True)
            return done.returncode, done.stdout

        def check(what: str, holds: bool) -> None:
            if not holds:
                sys.exit(f"check_conan: {what}")

        for command in (
            ["profile", "detect"],
            ["remote", "remove", "conancenter"],
            ["remote", "add", "system", str(index), "--type=local-recipes-index"],
        ):
            check("Conan can't be set up", conan(*command)[0] == 0)

        # What profiles of g++ 12 and clang 16 say by themselves.
        test_package = work / "test_package"  # which is also built there
        shutil.copytree(f"{arguments.source}/test_package", test_package, ignore=shutil.ignore_patterns("build"))
        create = ["create", arguments.source, f"--test-folder={test_package}", "--build=missing"]
        status, text = conan(*create, "-s", "compiler.cppstd=gnu17")
        check("C++17 is refused", status != 0)
        check("the reason is given", "the profile says compiler.cppstd=gnu17; pass -s compiler.cppstd=20" in text)

        status, text = conan(*create, "-s", "compiler.cppstd=20", "-s", "build_type=Debug", *options)
        check("the package is made and serves test_package", status == 0)
        check("test_package ran", "flowgraph works here" in text)

        # One instruction set, compiled quickly, is enough to see that the archive is packaged and linked.
        quickly = "{'FLOWGRAPH_VARIANTS': 'OFF', 'FLOWGRAPH_IMPLEMENTATION_OPTIONS': '-O0'}"
        one = ["-c", f"tools.cmake.cmaketoolchain:extra_variables={quickly}"]
        options = ["-s", "compiler.cppstd=20", "-s", "build_type=Debug", "-o", "flowgraph/*:compiled=True"]
        status, text = conan(*create, *options, *one)
        check("the package with compiled kernels is made and serves test_package", status == 0)
        check("test_package ran with them", "kernels for " in text and "flowgraph works here" in text)


if __name__ == "__main__":
    main()
