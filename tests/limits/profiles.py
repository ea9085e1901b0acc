"""Bytes that a program takes of a library for attention alone or for tokenizers alone, against their limits.

  profiles.py SOURCE BUILD COMMAND LIMITS [--update]

Builds the profiles `attention` and `text` in folders below BUILD, links the example of each with dropped unreferenced
sections, and counts code, constants and data without the C library. LIMITS has a line `MACHINE-PROFILE BYTES` for each:
x86_64 has the compiler's SIMD level alone, cortex-m7 is firmware. 2 % more is too much, and 2 % less is to be stated.
--update writes LIMITS. Programs of this machine also run, with COMMAND's blob.
"""
import pathlib
import shutil
import subprocess
import sys

import stated

TOLERANCE = 1.02
EXAMPLES = {"attention": "attention", "text": "tokenize"}
BUILDS = {
    "x86_64": ("", {"CMAKE_TOOLCHAIN_FILE": "x86_64-linux.cmake", "FOVEA_SIMD": "baseline"}),
    "cortex-m7": ("arm-none-eabi-", {"CMAKE_TOOLCHAIN_FILE": "cortex-m7.cmake"}),
}
CORTEX_M7 = ["-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mthumb", "-mfloat-abi=hard"]
TEXT = "A library to read FLAC."


def run(*words):
    words = list(map(str, words))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Profiles:
    def __init__(self, source, build, command):
        self.source, self.build, self.command = source, build, command

    def library(self, machine, profiles):
        """The folder of a build."""
        folder = self.build / "-".join([machine, *profiles])
        options = {"CMAKE_BUILD_TYPE": "MinSizeRel", "FOVEA_PROFILE": ";".join(profiles), "FOVEA_BUILD_TOOLS": "OFF",
                   "FOVEA_BUILD_TESTS": "OFF", **BUILDS[machine][1]}
        options["CMAKE_TOOLCHAIN_FILE"] = self.source / "cmake" / options["CMAKE_TOOLCHAIN_FILE"]
        run("cmake", "-S", self.source, "-B", folder, "-G", "Ninja", "-Wno-dev",
            *(f"-D{name}={value}" for name, value in options.items()))
        run("cmake", "--build", folder, "-j", "2", "--target", "fovea_static")
        return folder / "runtime/libfovea.a"

    def include(self):
        folder = self.build / "include/fovea"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.source / "ports/port.h", folder / "port.h")
        return [f"-I{self.source / 'include'}", f"-I{folder.parent}"]

    def bytes_of(self, machine, profile, library):
        """What of the library the example takes, and the example itself."""
        tools, _ = BUILDS[machine]
        example = self.source / "ports/examples" / EXAMPLES[profile] / f"{EXAMPLES[profile]}.c"
        program = library.parent / f"{profile}.elf"
        flags = CORTEX_M7 if machine == "cortex-m7" else []
        run(f"{tools}gcc", *flags, "-std=c99", "-Os", *self.include(), "-nostdlib", "-static", "-e", "main",
            "-Wl,--gc-sections", "-Wl,--unresolved-symbols=ignore-all", "-o", program, example, library)
        sizes = run(f"{tools}size", program).splitlines()[1].split()
        return int(sizes[0]) + int(sizes[1])

    def runs(self, library, profiles):
        """The examples of these profiles, linked with the C library and run."""
        blob = self.build / "model.fovea"
        if not blob.exists():
            run(self.command, "convert", self.source / "tools/train/package-section", "-o", blob, "--compare", "none")
        port = [self.source / "ports/posix" / name for name in ("system.c", "threads.c")]
        for profile in profiles:
            name = EXAMPLES[profile]
            program = library.parent / name
            run("gcc", "-std=gnu11", "-O1", "-D_POSIX_C_SOURCE=200809L", f"-I{self.source}", *self.include(), "-o",
                program, self.source / "ports/examples" / name / f"{name}.c", *port, library, "-lm", "-lpthread")
            printed = run(program, blob, TEXT) if profile == "text" else run(program)
            expected = "1.00 1.50 2.00 3.00 4.00 5.00"
            if profile == "text":
                told = run(self.command, "tokenize", blob, "--text", TEXT, "--json")
                expected = " ".join(told.split('"ids": [')[1].split("]")[0].replace(",", " ").split())
            if printed.splitlines()[0].strip() != expected:
                sys.exit(f"{name} prints\n{printed}instead of {expected}")

    def no_sessions(self, library):
        """A program that runs models is refused by name."""
        example = self.source / "tests/tools/readme_example.c"
        program = library.parent / "classify"
        run("gcc", "-std=c99", "-O1", *self.include(), "-o", program, example, library, "-lm")
        done = subprocess.run([program, self.build / "model.fovea", TEXT], capture_output=True, text=True, check=False)
        if done.returncode != 1 or "this build's profile lists no operation" not in done.stderr:
            sys.exit(f"a build for tokenizers alone, asked for a class: {done.returncode} {done.stdout}{done.stderr}")


def main():
    source, build, command = map(pathlib.Path, sys.argv[1:4])
    profiles = Profiles(source, build, command)
    now = {}
    for machine, (tools, _) in BUILDS.items():
        if shutil.which(f"{tools}gcc") is None:
            print(f"NOT TESTED: bytes of {machine}, for want of {tools}gcc (tools/setup.sh --test)")
            return 77
        for profile in EXAMPLES:
            library = profiles.library(machine, [profile])
            now[f"{machine}-{profile}"] = profiles.bytes_of(machine, profile, library)
            if machine != "cortex-m7":
                profiles.runs(library, [profile])
            if machine == "x86_64" and profile == "text":
                profiles.no_sessions(library)
    both = profiles.library("x86_64", list(EXAMPLES))
    profiles.runs(both, list(EXAMPLES))
    return stated.check(now, sys.argv[4], TOLERANCE, "bytes", "update_profile_limits", "--update" in sys.argv[5:])


if __name__ == "__main__":
    sys.exit(main())
