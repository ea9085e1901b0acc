"""Makes an AAR of fovea, for Java and Kotlin, and by prefab for C and C++. No network is needed.

  ANDROID_NDK_HOME=... aar.py -o fovea.aar [--abi arm64-v8a --abi x86_64]
  aar.py -o fovea.aar --without-ndk x86_64=PREFIX:COMPILER [--without-ndk arm64-v8a=PREFIX:aarch64-linux-gnu-gcc]

The first builds all of fovea for each ABI, in build/android. The second links an installed libfovea.a of a Linux of the
same processor again, against the functions of Android's libc and libm alone: for tests, and for a package whose
structure is to be looked at. It has not been run on Android.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import elf

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MIN_SDK = 24
DEFAULT_ABIS = ["arm64-v8a", "armeabi-v7a", "x86_64"]
# The functions of Android's libc and libm at API level 21 that a library made without the NDK may use.
BIONIC = {
    "libc.so": """__errno calloc clock_gettime close free fstat getauxval getpagesize malloc memcmp memcpy memmove
                  memset mmap munmap open posix_memalign pread pthread_cond_broadcast pthread_cond_destroy
                  pthread_cond_init pthread_cond_signal pthread_cond_wait pthread_create pthread_join
                  pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock pthread_once
                  realloc snprintf strcmp strerror strlen strncmp sysconf write""",
    "libm.so": "exp exp2f expf fmaxf fminf log log1p log2f logf pow powf",
}
MANIFEST = f"""<?xml version="1.0" encoding="utf-8"?>
<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="fovea.android">
    <uses-sdk android:minSdkVersion="{MIN_SDK}" />
</manifest>
"""
AAR_METADATA = f"aarFormatVersion=1.0\naarMetadataVersion=1.0\nminCompileSdk={MIN_SDK}\n"
# Names of glibc that headers and libgcc (atomic operations of 64-bit Arm) use.
GLIBC_TO_BIONIC = """int* __errno(void);
unsigned long getauxval(unsigned long);
int* __errno_location(void) { return __errno(); }
unsigned long __getauxval(unsigned long kind) { return getauxval(kind); }
"""


def run(*words, **options):
    words = [str(word) for word in words]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"aar.py: {' '.join(words[:6])} ... failed:\n{done.stdout}")
    return done.stdout


def version():
    text = (ROOT / "include/fovea/version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"#define FOVEA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


# ---- Libraries ----

def built_with_ndk(ndk, abi):
    """Folder of the two libraries, and the NDK's major version."""
    folder = ROOT / "build/android" / abi
    print(f"aar.py: building for {abi} in {folder}", flush=True)
    run("cmake", "-S", HERE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_TOOLCHAIN_FILE={ndk}/build/cmake/android.toolchain.cmake", f"-DANDROID_ABI={abi}",
        f"-DANDROID_PLATFORM=android-{MIN_SDK}", f"-DFOVEA_CACHE_DIR={ROOT}/build/deps")
    run("cmake", "--build", folder, "--target", "fovea_jni")
    found = {path.name: path for path in folder.rglob("lib*.so")}
    strip, = ndk.glob("toolchains/llvm/prebuilt/*/bin/llvm-strip")
    for name in ("libfovea.so", "libfovea_jni.so"):
        run(strip, "--strip-unneeded", found[name])
    revision = re.search(r"Pkg.Revision *= *(\d+)", (ndk / "source.properties").read_text(encoding="utf-8"))
    return {name: found[name].read_bytes() for name in ("libfovea.so", "libfovea_jni.so")}, int(revision[1])


def java_home():
    found = os.environ.get("JAVA_HOME") or os.path.dirname(os.path.dirname(os.path.realpath(
        shutil.which("javac") or sys.exit("aar.py: no javac: install a JDK, or set JAVA_HOME"))))
    return pathlib.Path(found)


def linked_without_ndk(prefix, compiler, work):
    """The libraries, of an installed libfovea.a; what is not in BIONIC is a linker's error."""
    prefix, shared = pathlib.Path(prefix), ["-shared", "-nostdlib", "-Wl,--no-undefined", "-Wl,-s",
                                            "-Wl,-z,max-page-size=16384", "-Wl,--gc-sections", "-Wl,--hash-style=both"]
    for name, symbols in BIONIC.items():
        source = work / f"{name}.c"
        source.write_text("".join(f"void {symbol}(void) {{}}\n" for symbol in symbols.split()), encoding="ascii")
        run(compiler, "-w", "-fno-builtin", "-fPIC", *shared[:2], f"-Wl,-soname,{name}", source, "-o", work / name)
    (work / "names.c").write_text(GLIBC_TO_BIONIC, encoding="ascii")
    run(compiler, "-O2", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-c", work / "names.c", "-o",
        work / "names.o")
    archive, = [path for path in prefix.glob("lib*/**/libfovea.a")]
    system, java = [work / name for name in BIONIC] + ["-lgcc"], java_home() / "include"
    # The joined object of libfovea.a hides its names.
    joined = subprocess.run(["ar", "p", archive], stdout=subprocess.PIPE, check=True).stdout
    (work / "fovea.o").write_bytes(elf.visible(joined, b"fovea_"))
    run(compiler, *shared, "-Wl,-soname,libfovea.so", work / "fovea.o", work / "names.o", *system,
        "-o", work / "libfovea.so")
    sources = [*sorted((HERE / "jni").glob("*.c")), *sorted((ROOT / "ports/posix").glob("*.c")), work / "names.o"]
    run(compiler, "-O2", "-fPIC", "-fvisibility=hidden", "-std=gnu99", f"-I{ROOT}", f"-I{prefix}/include", f"-I{java}",
        f"-I{java}/linux", "-DFOVEA_SHARED", "-U_FORTIFY_SOURCE", "-fno-stack-protector", *shared,
        "-Wl,-soname,libfovea_jni.so", f"-Wl,--version-script={HERE}/jni/exports.map", *sources, work / "libfovea.so",
        *system, "-o", work / "libfovea_jni.so")
    return {name: (work / name).read_bytes() for name in ("libfovea.so", "libfovea_jni.so")}, 0


# ---- Classes ----

def archive_of(files):
    """A zip with these files; the same files give the same bytes."""
    with tempfile.TemporaryFile() as made:
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(files):
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(info, files[name])
        made.seek(0)
        return made.read()


def classes(work):
    """classes.jar, for Java 8. Android's classes come from the newest SDK in ANDROID_HOME, else from the stubs here."""
    sdk = os.environ.get("ANDROID_HOME") or os.environ.get("ANDROID_SDK_ROOT")
    platforms = sorted(pathlib.Path(sdk).glob("platforms/android-*/android.jar")) if sdk else []
    javac, against = java_home() / "bin/javac", platforms[-1] if platforms else work / "stubs"
    if not platforms:
        against.mkdir()
        run(javac, "--release", "8", "-Xlint:-options", "-d", against, *sorted((HERE / "stubs").rglob("*.java")))
    made = work / "classes"
    run(javac, "--release", "8", "-Xlint:-options", "-encoding", "UTF-8", "-cp", against, "-d", made,
        *sorted((HERE / "java").rglob("*.java")))
    files = {str(path.relative_to(made)): path.read_bytes() for path in made.rglob("*.class")}
    return archive_of({**files, "META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n\r\n"})


# ---- The package ----

def package(libraries, work):
    """The files of the AAR. `libraries`: of each ABI their bytes by name, and the NDK's version."""
    files = {"AndroidManifest.xml": MANIFEST, "R.txt": "", "classes.jar": classes(work),
             "proguard.txt": (HERE / "proguard.txt").read_text(encoding="utf-8"),
             "META-INF/com/android/build/gradle/aar-metadata.properties": AAR_METADATA,
             "prefab/prefab.json": {"schema_version": 2, "name": "fovea", "version": version(), "dependencies": []},
             "prefab/modules/fovea/module.json": {"export_libraries": [], "android": {}}}
    for header in sorted((ROOT / "include").rglob("*.h*")):
        files[f"prefab/modules/fovea/include/{header.relative_to(ROOT / 'include')}"] = header.read_bytes()
    for abi, (found, ndk) in libraries.items():
        for name, data in found.items():
            for fault in elf.faults(data, abi, name, found):
                sys.exit(f"aar.py: {abi}/{name}: {fault}")
            files[f"jni/{abi}/{name}"] = data
        folder = f"prefab/modules/fovea/libs/android.{abi}"
        files[f"{folder}/libfovea.so"] = found["libfovea.so"]
        files[f"{folder}/abi.json"] = {"abi": abi, "api": MIN_SDK, "ndk": ndk, "stl": "none", "static": False}
    return {name: json.dumps(data, indent=2) + "\n" if isinstance(data, dict) else data for name, data in files.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default="fovea.aar", metavar="FILE")
    parser.add_argument("--abi", action="append", choices=sorted(elf.ABIS), help="(repeatable); default: "
                        + ", ".join(DEFAULT_ABIS))
    parser.add_argument("--without-ndk", action="append", default=[], metavar="ABI=PREFIX:COMPILER")
    given = parser.parse_args()
    ndk = os.environ.get("ANDROID_NDK_HOME") or os.environ.get("ANDROID_NDK_ROOT")
    if not given.without_ndk and not ndk:
        parser.error("Android's NDK is needed: set ANDROID_NDK_HOME to its folder; see --without-ndk")
    if given.without_ndk and given.abi:
        parser.error("--abi is for the NDK; --without-ndk names the ABI itself")
    libraries = {}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for abi in [] if given.without_ndk else given.abi or DEFAULT_ABIS:
            libraries[abi] = built_with_ndk(pathlib.Path(ndk), abi)
        for wanted in given.without_ndk:
            match = re.fullmatch(r"([^=]+)=([^:]+):(.+)", wanted)
            if not match or match[1] not in elf.ABIS:
                parser.error(f"--without-ndk {wanted}: ABI=PREFIX:COMPILER is needed, ABI one of {', '.join(elf.ABIS)}")
            (work / match[1]).mkdir()
            libraries[match[1]] = linked_without_ndk(match[2], match[3], work / match[1])
        pathlib.Path(given.output).write_bytes(archive_of(package(libraries, work)))
    note = "; made without the NDK, not run on Android" if given.without_ndk else ""
    print(f"{given.output}: fovea {version()} for {', '.join(libraries)}, Android {MIN_SDK} and later{note}")


if __name__ == "__main__":
    main()
