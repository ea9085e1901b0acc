"""Prints the platform tag of a wheel, proved by what its libraries need of the system: manylinux_2_34_x86_64.

  platform_tag.py LIBRARY...

readelf (binutils) lists the libraries and symbol versions that a shared library needs. If that is only the C library,
the tag names its kind and version: manylinux_X_Y (PEP 600) for glibc X.Y, musllinux_1_2 (PEP 656) for musl, whose
symbols have no versions. Else, or without readelf, the tag is that of this machine's Python, which is not proved.
"""
import os
import re
import subprocess
import sys
import sysconfig

MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64", "ARM": "armv7l", "RISC-V": "riscv64",
            "Intel 80386": "i686", "IBM S/390": "s390x", "PowerPC64": "ppc64le"}
GLIBC = re.compile(r"lib(c|m|pthread|dl|rt)\.so\.[0-9]+|ld-linux[-_a-z0-9]*\.so\.[0-9]+")
MUSL = re.compile(r"libc\.musl-[a-z0-9_]+\.so\.1|libc\.so|ld-musl-[a-z0-9_]+\.so\.1")
OLDEST = (2, 17)  # glibc of the oldest systems that installers know


def usual_tag():
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def tag_of(report):
    """The tag for the output of readelf, and the reason."""
    machine = re.search(r"^ *Machine: +(.+)$", report, re.M)
    machine = MACHINES.get(machine[1].strip()) if machine else None
    if machine is None:
        return None, "its machine is not known"
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", report))
    versions = sorted({name for name in re.findall(r": +Name: ([A-Za-z][\w.]*)", report)})
    if needed and all(MUSL.fullmatch(name) for name in needed):
        return ("musllinux", (1, 2), machine), f"it needs {', '.join(sorted(needed))}"
    strange = sorted(name for name in needed if not GLIBC.fullmatch(name))
    strange += [name for name in versions if not re.fullmatch(r"GLIBC_\d+(\.\d+)+", name)]
    if strange or not needed:
        return None, f"it needs {', '.join(strange) or 'no C library'}"
    newest = max((tuple(map(int, name[6:].split(".")))[:2] for name in versions), default=OLDEST)
    return ("manylinux", max(newest, OLDEST), machine), f"it needs symbols up to GLIBC_{newest[0]}.{newest[1]}"


def platform_tag(libraries):
    """The tag for all libraries together, and lines that explain it."""
    if not sys.platform.startswith("linux"):
        return usual_tag(), []
    found, lines = [], []
    for library in libraries:
        try:
            report = subprocess.run(["readelf", "-W", "-h", "-d", "-V", library], check=True, capture_output=True,
                                    text=True, env={**os.environ, "LC_ALL": "C"}).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            return usual_tag(), [f"the tag is not proved: {library}: {error} (readelf is part of binutils)"]
        tag, reason = tag_of(report)
        if tag is None:
            return usual_tag(), [f"the tag is not proved: {library}: {reason}"]
        found.append(tag)
        lines.append(f"{os.path.basename(library)}: {reason}")
    if len({(kind, machine) for kind, _, machine in found}) != 1:
        return usual_tag(), ["the tag is not proved: the libraries are for different systems", *lines]
    kind, version, machine = max(found, key=lambda one: one[1])
    return f"{kind}_{version[0]}_{version[1]}_{machine}", lines


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tag, lines = platform_tag(sys.argv[1:])
    print(tag)
    print("\n".join(lines), file=sys.stderr)


if __name__ == "__main__":
    main()
