"""The recipes of vcpkg and Conan, run with replacements of the two programs, which Debian does not have.

  recipes.py SOURCE_DIR BUILD_DIR

vcpkg: the manifest's names and types, and every call of the port, for static and dynamic triplets. Conan: every method
of the recipe. In both the archive is checked and unpacked, and what is installed is that of the build.
"""
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import types
import urllib.request

VCPKG_KEYS = {"name": str, "version": str, "description": str, "supports": str, "dependencies": list, "features": dict}


def check_manifest(file):
    manifest = json.loads(file.read_text(encoding="utf-8"))
    for key, value in manifest.items():
        if not isinstance(value, VCPKG_KEYS.get(key, type(None))):
            raise RuntimeError(f"vcpkg.json: {key} is not known, or of another type")
    names = [manifest["name"], *manifest["features"], *(entry["name"] for entry in manifest["dependencies"])]
    wrong = [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)]
    if wrong or not re.fullmatch(r"\d+(\.\d+)*", manifest["version"]):
        raise RuntimeError(f"vcpkg.json: not a name or version: {wrong}, {manifest['version']}")
    if any("description" not in feature for feature in manifest["features"].values()):
        raise RuntimeError("vcpkg.json: a feature has no description")


def run_port(here, build, release, work):
    port = release / "vcpkg" / "fovea"
    check_manifest(port / "vcpkg.json")
    for linkage in ("static", "dynamic"):
        shutil.rmtree(work / linkage, ignore_errors=True)
        (work / linkage).mkdir(parents=True)
        subprocess.run(["cmake", f"-DPORT_FOLDER={port}", f"-DBUILD={build}", f"-DWORK={work / linkage}",
                        f"-DLINKAGE={linkage}", "-P", here / "vcpkg_double.cmake"], check=True)


class Settings(dict):
    """Conan's settings and options: attributes that may be removed."""
    __getattr__ = dict.__getitem__

    def __str__(self):
        return self["self"]

    def rm_safe(self, name):
        self.pop(name, None)


def conan_modules(release, build, folder):
    """Modules that the recipe imports. `noted` is what it asked of them."""
    noted = {}

    def get(recipe, url, sha256, strip_root):
        with urllib.request.urlopen(url) as stream:
            data = stream.read()
        if hashlib.sha256(data).hexdigest() != sha256 or not strip_root:
            raise RuntimeError("conandata.yml: the archive has another checksum")
        (folder / "source.tar.xz").write_bytes(data)
        with tarfile.open(folder / "source.tar.xz") as tar:
            noted["files"] = tar.getnames()

    def copy(recipe, pattern, source, destination):
        pathlib.Path(destination).mkdir(parents=True, exist_ok=True)
        for file in pathlib.Path(source).glob(pattern):
            shutil.copy(file, destination)

    class CMakeToolchain:
        def __init__(self, recipe):
            self.cache_variables = {}

        def generate(self):
            noted["variables"] = self.cache_variables

    class CMake:
        def __init__(self, recipe):
            self.recipe = recipe

        def configure(self):
            noted["configured"] = True

        def build(self):
            noted["built"] = True

        def install(self):
            subprocess.run(["cmake", "--install", build, "--prefix", self.recipe.package_folder], check=True,
                           capture_output=True)

    def module(name, **content):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(content)
    module("conan", ConanFile=object)
    module("conan.errors", ConanInvalidConfiguration=ValueError)
    module("conan.tools")
    module("conan.tools.cmake", CMake=CMake, CMakeToolchain=CMakeToolchain,
           cmake_layout=lambda recipe, src_folder: None)
    module("conan.tools.files", copy=copy, get=get,
           rmdir=lambda recipe, place: shutil.rmtree(place, ignore_errors=True))
    return noted


def run_recipe(source, build, release, work):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    noted = conan_modules(release, build, work)
    content = {}
    text = (release / "conan" / "conanfile.py").read_text(encoding="utf-8")
    exec(compile(text, "conanfile.py", "exec"), content)  # pylint: disable=exec-used
    recipe = content["FoveaConan"]()
    data = (release / "conan" / "conandata.yml").read_text(encoding="utf-8")
    values = dict(re.findall(r'^    (\w+): "([^"]+)"$', data, re.MULTILINE))
    recipe.conan_data = {"sources": {re.search(r'^  "([^"]+)":$', data, re.MULTILINE)[1]: values}}
    unknown = set(recipe.default_options) ^ set(recipe.options)
    if unknown:
        raise RuntimeError(f"conanfile.py: options and their defaults differ: {unknown}")
    recipe.package_folder = str(work / "package")
    for shared in (False, True):
        recipe.settings = Settings(os="Linux", arch="x86_64", build_type="Release", compiler=Settings(
            self="gcc", version="12", libcxx="libstdc++11", cppstd="17"))
        recipe.options = Settings(recipe.default_options, shared=shared)
        recipe.cpp_info = types.SimpleNamespace(set_property=lambda name, value: noted.__setitem__(name, value))
        for step in ("configure", "validate", "layout", "source", "generate", "build", "package", "package_info"):
            getattr(recipe, step)()
        options = (source / "cmake" / "options.cmake").read_text(encoding="utf-8")
        for name in noted["variables"]:
            if not re.search(rf"(option|set)\({name}\b", options):
                raise RuntimeError(f"conanfile.py sets {name}, which is no option of fovea")
        kind = "libfovea.so" if shared else "libfovea.a"
        if not (work / "package" / "lib" / kind).exists() or not list((work / "package/licenses").iterdir()):
            raise RuntimeError(f"the package has no {kind} or no licences")
    recipe.settings = Settings(recipe.settings, os="Windows")
    try:
        recipe.validate()
    except ValueError:
        pass
    else:
        raise RuntimeError("conanfile.py: Windows is not refused")


def main():
    source, build = (pathlib.Path(part).resolve() for part in sys.argv[1:3])
    subprocess.run(["cmake", "--build", build, "--target", "release"], check=True, capture_output=True)
    release, work = build / "release", build / "tests" / "packages"
    try:
        run_port(pathlib.Path(__file__).resolve().parent, build, release, work / "vcpkg")
        run_recipe(source, build, release, work / "conan")
    except (RuntimeError, subprocess.CalledProcessError) as fault:
        print(fault)
        return 1
    print("recipes of vcpkg and Conan, with replacements of their functions; the programs themselves were not run")
    for folder in ("vcpkg", "conan"):
        shutil.rmtree(work / folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
