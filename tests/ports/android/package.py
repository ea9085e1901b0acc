"""The AAR: its structure by the rules of AAR and prefab, and its libraries with a libc under Android's name.

  package.py AAR COMPILER JAVA FOLDER CLASSES_OF_TESTS BLOBS
The rules of prefab are those of its reader (google/prefab, schema version 2), which refuses unknown keys.
"""
import io
import json
import pathlib
import re
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "ports/android"))
import elf  # noqa: E402

STLS = {"c++_shared", "c++_static", "none", "system"}


def check(holds, what):
    if not holds:
        sys.exit(f"package.py: {what}")


def keys(found, needed, possible):
    check(needed <= set(found) <= needed | possible, f"keys {sorted(found)}, not {sorted(needed)}")
    return found


def structure(path):
    """The ABIs of the package."""
    archive = zipfile.ZipFile(path)
    files = {name: archive.read(name) for name in archive.namelist()}
    check(len(files) == len(archive.namelist()), "a file is there twice")
    needed = {"AndroidManifest.xml", "classes.jar", "R.txt", "proguard.txt", "prefab/prefab.json",
              "prefab/modules/fovea/module.json", "META-INF/com/android/build/gradle/aar-metadata.properties"}
    check(needed <= set(files), f"missing: {needed - set(files)}")
    package = keys(json.loads(files["prefab/prefab.json"]), {"schema_version", "name", "dependencies"}, {"version"})
    check(package["schema_version"] == 2 and package["dependencies"] == [], f"prefab.json: {package}")
    check(re.fullmatch(r"\d+(\.\d+){0,3}", package["version"]), "a version that CMake reads")
    module = keys(json.loads(files["prefab/modules/fovea/module.json"]), set(),
                  {"export_libraries", "library_name", "android"})
    check(module["export_libraries"] == [], "libraries that users must link besides")
    abis = set()
    for name in files:
        match = re.fullmatch(r"prefab/modules/fovea/libs/android\.([^/]+)/(abi\.json|libfovea\.so)", name)
        check(match or not name.startswith("prefab/modules/fovea/libs/"), f"an unexpected file: {name}")
        abis |= {match[1]} if match else set()
    for abi in abis:
        folder = f"prefab/modules/fovea/libs/android.{abi}"
        about = keys(json.loads(files[f"{folder}/abi.json"]), {"abi", "api", "ndk", "stl"}, {"static"})
        check(about["abi"] == abi and abi in elf.ABIS and about["stl"] in STLS and not about["static"], f"{about}")
        check(f'minSdkVersion="{about["api"]}"' in files["AndroidManifest.xml"].decode(), "two minimal API levels")
        inside = [f"jni/{abi}/libfovea.so", f"jni/{abi}/libfovea_jni.so"]
        check(files[f"{folder}/libfovea.so"] == files[inside[0]], "two different libfovea.so")
        for name in inside:
            check(elf.faults(files[name], abi, name.split("/")[-1], ["libfovea.so"]) == [], f"{name} would not load")
    listed = {line.split("/")[1] for line in files if line.startswith("jni/")}
    check(listed == abis and abis, f"ABIs {listed} and {abis}")
    headers = {name for name in files if name.startswith("prefab/modules/fovea/include/fovea/")}
    check(len(headers) == len(list((HERE.parents[2] / "include/fovea").iterdir())), "headers are missing")
    jar = zipfile.ZipFile(io.BytesIO(files["classes.jar"]))
    classes = [name for name in jar.namelist() if name.endswith(".class")]
    check({"fovea/Model.class", "fovea/android/Assets.class"} <= set(classes), "classes are missing")
    check(not any(name.startswith("android/") for name in classes), "stubs are in the package")
    for name in classes:
        check(jar.read(name)[4:8] == b"\0\0\0\x34", f"{name} is not of Java 8")
    kept = re.findall(r"-keep class (\S+)", files["proguard.txt"].decode())
    check(set(kept) == {"fovea.Native", "fovea.FoveaException"}, f"kept: {kept}")
    return files, abis


def refusals(files):
    """The check of libraries finds what a device would refuse."""
    good = files["jni/x86_64/libfovea_jni.so"]
    check("not a shared library for arm64-v8a" in elf.faults(good, "arm64-v8a", "libfovea_jni.so", ["libfovea.so"]),
          "another processor's library is accepted")
    check("it needs libfovea.so" in elf.faults(good, "x86_64", "libfovea_jni.so", []), "a missing library")
    check(any("SONAME" in one for one in elf.faults(good, "x86_64", "libother.so", ["libfovea.so"])), "another name")
    check(elf.faults(b"\x7fELF", "x86_64", "x", []) and elf.faults(good[:70], "x86_64", "x", []), "a part of a file")
    narrow = bytearray(good)  # p_align of all segments: 4096
    for at in range(64, 64 + 56 * int.from_bytes(good[56:58], "little"), 56):
        narrow[at + 48:at + 56] = (4096).to_bytes(8, "little")
    found = elf.faults(bytes(narrow), "x86_64", "libfovea_jni.so", ["libfovea.so"])
    check(any("pages of 16384" in one for one in found), f"small pages: {found}")
    own = pathlib.Path("/lib/x86_64-linux-gnu/libm.so.6")
    if own.exists():
        found = elf.faults(own.read_bytes(), "x86_64", "libm.so.6", [])
        check(any("versions of symbols" in one for one in found), f"a library of this system: {found}")


def run(files, compiler, java, folder, tests, blobs):
    """Runs the package's classes and libraries with libc.so and libm.so that pass on to this machine's."""
    (folder / "shim.c").write_text("extern int* __errno_location(void);\nint* __errno(void) "
                                   "{ return __errno_location(); }\n", encoding="ascii")
    for name, behind in (("libc.so", "-lc"), ("libm.so", "-lm")):
        subprocess.run([compiler, "-shared", "-fPIC", "-Wl,--no-as-needed", f"-Wl,-soname,{name}", folder / "shim.c",
                        behind, "-o", folder / name], check=True)
    for name in ("libfovea.so", "libfovea_jni.so"):
        (folder / name).write_bytes(files[f"jni/x86_64/{name}"])
    (folder / "classes.jar").write_bytes(files["classes.jar"])
    words = [java, "-Xcheck:jni", f"-Djava.library.path={folder}", "-cp", f"{folder}/classes.jar:{tests}", "Jobs"]
    done = subprocess.run([*words, blobs, "a text editor"], env={"LD_LIBRARY_PATH": str(folder), "LC_ALL": "C.UTF-8"},
                          stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    check(found["classify"][0][0]["label"] and found["dates"] and found["look"], "results of the package")


def main():
    aar, compiler, java, folder, tests, blobs = sys.argv[1:]
    files, abis = structure(aar)
    refusals(files)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    run(files, compiler, java, folder, tests, blobs)
    print(f"package for {', '.join(sorted(abis))}: as AAR and prefab want it; runs with a libc of that name")


if __name__ == "__main__":
    main()
