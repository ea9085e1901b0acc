"""Collects the sources of the library, all or only a profile's, for builds without CMake.

  bundle.py SOURCE_DIR HIGHWAY_DIR OUTPUT_DIR [PROFILE...]

A PROFILE is a file as `fovea inspect --needs` prints it, or a name of profiles/: attention, text. OUTPUT_DIR gets
sources/, include/, runtime/, hwy/, licences and a README with the command that compiles them; the folder is removed
first.
"""
import pathlib
import re
import shutil
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]((?:runtime|fovea|hwy)/[^">]+)[">]', re.MULTILINE)
# A file that Highway includes once per target names itself.
AGAIN = re.compile(r'^\s*#\s*define\s+HWY_TARGET_INCLUDE\s+"([^"]+)"', re.MULTILINE)

README = """# fovea, as sources

The library without a build system: compile every file of `sources/` with the flags below and link the objects, with a
linker that drops unreferenced sections. The only library needed is the C library's `libm`; of a hosted C++ standard
library only headers are needed, which Highway includes (`<vector>`). With a profile the compiler must optimise
(`-O1` or more), because this removes the code that is not listed.

    c++ -std=c++17 -O2 -I. -Iinclude {defines} {flags} -c sources/*.cc
    cc -Iinclude your_program.c *.o -Wl,--gc-sections -lm

`-DHWY_COMPILE_ONLY_STATIC` compiles the kernels for the SIMD level of the compiler's target (`-march=...`,
`-mcpu=...`): NEON on Arm, even with SVE, and none on RISC-V; `-DHWY_COMPILE_ONLY_SCALAR` instead uses no SIMD. With
`-Os`, compile `sources/kernels_attention*.cc` and `sources/kernels_gemm.cc` with `-O2`: most time is spent there;
`-DFOVEA_SMALL` halves the code of attention, which is then slower for some numbers of rows. `-ffast-math`, `-Ofast`,
their parts and x87 registers are refused when the sources are compiled, because they change results; without
`-ffp-contract=off` the last bits of results may differ. Only gcc and clang are known to work.

{profile}
`include/fovea/` is the interface, and its comments are the manual. Licences are in `LICENSES/`.
"""
FLAGS = ("-fno-exceptions -fno-rtti -fno-threadsafe-statics -ffp-contract=off -fno-math-errno "
         "-ffunction-sections -fdata-sections")
# Kernels need vectors of a size known at compile time, and arithmetic without value-changing optimisations.
PREFIX = """\
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#include "runtime/base/floating_point.h"
"""
WITH_PROFILE = """\
`fovea_profile.h` lists what the library includes. A model that needs more is refused with FOVEA_E_BUILD;
`fovea inspect MODEL --also MODEL... --needs` lists what models need.
"""


def file_lines(path):
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def profile_lines(names):
    """What any of the profiles lists. The largest of their limits counts, and none if a profile with operations has
    none: as cmake/profile.cmake does."""
    files = {file.stem: file for file in (pathlib.Path(__file__).parent / "profiles").glob("*.profile")}
    profiles = [file_lines(files.get(name, pathlib.Path(name))) for name in names]
    lines = dict.fromkeys(line for profile in profiles for line in profile if not line.startswith("limit "))
    limits = [dict(line.split()[1:] for line in profile if line.startswith("limit ")) for profile in profiles]
    of_models = [limit for limit, profile in zip(limits, profiles)
                 if limit or any(line.startswith("operation ") for line in profile)]
    for name in of_models[0] if of_models else ():
        if all(name in limit for limit in of_models):
            lines[f"limit {name} {max(int(limit[name]) for limit in of_models)}"] = None
    return list(lines)


def left_out_operations(runtime, lines):
    """Files of operations that the profile does not list."""
    text = (runtime / "blob/op_list.inc").read_text(encoding="utf-8")
    numbers = re.findall(r"^FOVEA_OP\(\d+, (\w+), (\w+), \w+\)", text, re.MULTILINE)
    listed = {name for name, _ in numbers if f"operation {name}" in lines or "operation *" in lines}
    for file in sorted((runtime / "ops").glob("*.cc")):
        text = file.read_text(encoding="utf-8")
        own = {name for name, title in numbers if re.search(rf"const OpDef k{title}Op =", text)}
        shared = re.search(r"^const \w+\* As\w+\(const Op", text, re.MULTILINE)  # needed by every model
        if own and not own & listed and not shared:
            yield file.name


def make(source, highway, output, profiles):
    """Makes the folder; returns a line for people."""
    lines = profile_lines(profiles) if profiles else None
    runtime = source / "runtime"
    left_out = set(left_out_operations(runtime, lines)) if lines is not None else set()
    files = [file for file in sorted(runtime.rglob("*.cc"))
             if "xnnpack" not in str(file.relative_to(runtime))
             and not (file.parent.name == "ops" and file.name in left_out)]
    roots = {"runtime": source, "fovea": source / "include", "hwy": highway}

    wanted = {str(file.relative_to(source)): file for file in files}
    queue = list(wanted.values())
    for header in sorted((source / "include/fovea").glob("*.h*")):
        wanted[f"include/fovea/{header.name}"] = header
        queue.append(header)
    while queue:
        text = queue.pop().read_text(encoding="utf-8")
        for name in INCLUDE.findall(text) + AGAIN.findall(text):
            file = roots[name.split("/")[0]] / name
            place = f"include/{name}" if name.startswith("fovea/") else name
            if place not in wanted and file.exists():
                wanted[place] = file
                queue.append(file)

    shutil.rmtree(output, ignore_errors=True)
    for place, file in wanted.items():
        (output / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, output / place)
    # File names repeat in folders, object names must not.
    (output / "sources").mkdir()
    for file in files:
        place = file.relative_to(source)
        name = "_".join(place.parts[1:])
        (output / "sources" / name).write_text(f'{PREFIX}#include "{place.as_posix()}"\n', encoding="utf-8")
    licences = output / "LICENSES"
    licences.mkdir(parents=True)
    for name in ("LICENSE", "LICENSE-BSD3"):
        if (highway / name).exists():
            shutil.copyfile(highway / name, licences / f"highway-{name}")
    if (source / "LICENSE").exists():
        shutil.copyfile(source / "LICENSE", licences / "fovea-LICENSE")
    if lines is not None:
        text = "".join(f' \\\n  "{line}\\n"' for line in lines)
        (output / "fovea_profile.h").write_text(f"#define FOVEA_PROFILE{text}\n", encoding="utf-8")
    profile = WITH_PROFILE if lines is not None else ""
    (output / "README.md").write_text(
        README.format(defines="-DHWY_COMPILE_ONLY_STATIC", flags=FLAGS, profile=profile),
        encoding="utf-8")
    return f"{output}: {len(files)} sources, {len(wanted) - len(files)} headers"


def main():
    print(make(*map(pathlib.Path, sys.argv[1:4]), sys.argv[4:]))


if __name__ == "__main__":
    main()
