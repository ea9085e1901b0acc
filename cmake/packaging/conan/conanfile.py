"""Conan 2: the library, and with -o "fovea/*:tools=True" also the command, from the release archive."""
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir


class FoveaConan(ConanFile):
    name = "fovea"
    version = "@VERSION@"
    description = "Attention models in memory that the caller owns: a C library for small machines"
    topics = ("transformer", "attention", "inference", "embedded")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "xnnpack": [True, False], "tools": [True, False]}
    default_options = {"shared": False, "fPIC": True, "xnnpack": True, "tools": False}

    def configure(self):
        # A C interface that needs no C++ runtime: packages do not differ by the C++ standard or its library.
        self.settings.compiler.rm_safe("libcxx")
        self.settings.compiler.rm_safe("cppstd")
        self.options.rm_safe("fPIC")  # objects are always position-independent

    def validate(self):
        if self.settings.os not in ("Linux", "Macos", "Android", "iOS"):
            raise ConanInvalidConfiguration(f"fovea's recipe does not build for {self.settings.os}")
        if str(self.settings.compiler) not in ("gcc", "clang", "apple-clang"):
            raise ConanInvalidConfiguration("fovea is compiled by gcc or clang")

    def layout(self):
        cmake_layout(self, src_folder="src")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["FOVEA_XNNPACK"] = bool(self.options.xnnpack)
        toolchain.cache_variables["FOVEA_BUILD_TOOLS"] = bool(self.options.tools)
        toolchain.cache_variables["FOVEA_BUILD_TESTS"] = False
        toolchain.cache_variables["BUILD_SHARED_LIBS"] = bool(self.options.shared)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE.*", os.path.join(self.package_folder, "share", "doc", "fovea"),
             os.path.join(self.package_folder, "licenses"))
        for folder in (("lib", "cmake"), ("lib", "pkgconfig"), ("share",)):
            rmdir(self, os.path.join(self.package_folder, *folder))

    def package_info(self):
        self.cpp_info.libs = ["fovea"]
        self.cpp_info.set_property("cmake_file_name", "fovea")
        self.cpp_info.set_property("cmake_target_name", "fovea::fovea")
        self.cpp_info.set_property("pkg_config_name", "fovea")
        if self.options.shared:
            self.cpp_info.defines = ["FOVEA_SHARED"]
        elif self.settings.os in ("Linux", "Android"):
            self.cpp_info.system_libs = ["m"]
            if self.settings.os == "Linux" and self.options.xnnpack:
                self.cpp_info.system_libs.append("pthread")
