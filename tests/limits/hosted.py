"""Bytes of the library of an encoder on systems that have shared libraries, without XNNPACK, against their limits.

  hosted.py SOURCE BUILD LIMITS [--update]

Builds encoder.profile in folders below BUILD, for each toolchain with vectors chosen at run time and with the
compiler's alone, and counts what of the shared library is loaded. LIMITS has a line `PROCESSOR-VECTORS BYTES` for each.
2 % more is too much, and 2 % less is to be stated. --update writes LIMITS.
"""
import pathlib
import subprocess
import sys

import stated

TOLERANCE = 1.02
COMPILERS = {"x86_64": "", "aarch64": "aarch64-linux-gnu-"}
# Where there is one target in any case, gcc before 13.2 for 64-bit Arm, both are the same.
VECTORS = {"x86_64": ("dispatch", "baseline"), "aarch64": ("dispatch",)}


def loaded_bytes(source, build, processor, vectors):
    folder = build / f"{processor}-{vectors}"
    options = {
        "CMAKE_TOOLCHAIN_FILE": source / f"cmake/{processor}-linux.cmake", "CMAKE_BUILD_TYPE": "MinSizeRel",
        "FOVEA_PROFILE": source / "tests/limits/encoder.profile", "FOVEA_XNNPACK": "OFF", "FOVEA_SIMD": vectors,
        "FOVEA_BUILD_TOOLS": "OFF", "FOVEA_BUILD_TESTS": "OFF"}
    subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-Wno-dev",
                    *(f"-D{name}={value}" for name, value in options.items())], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "fovea_shared"], check=True, stdout=subprocess.DEVNULL)
    sizes = subprocess.run([COMPILERS[processor] + "size", folder / "runtime/libfovea.so"], check=True,
                           capture_output=True, text=True).stdout
    return sum(map(int, sizes.splitlines()[1].split()[:2]))  # text, constants included, and data


def main():
    source, build = map(pathlib.Path, sys.argv[1:3])
    now = {f"{processor}-{vectors}": loaded_bytes(source, build, processor, vectors)
           for processor, all_vectors in VECTORS.items() for vectors in all_vectors}
    return stated.check(now, sys.argv[3], TOLERANCE, "bytes", "update_hosted_limits", "--update" in sys.argv[4:])


if __name__ == "__main__":
    sys.exit(main())
