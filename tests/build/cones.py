"""Counts the objects that each file of a list is compiled into, from what ninja recorded: its cone. Fails where a cone
is larger than its limit, so that a line in a list or a change of a header stays a small rebuild.

  cones.py BUILD_DIR            check the limits of cones.txt
  cones.py BUILD_DIR --largest  print the cones of the source tree's files, the largest first
  cones.py BUILD_DIR FILE...    print the objects that are compiled again when FILE changes
"""
import collections
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
UNKNOWN = 77  # nothing is recorded here


def recorded(build):
    """For each file the objects that were compiled from it; None where ninja did not build the folder."""
    cache = build / "CMakeCache.txt"
    found = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.*)$", cache.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None or not (build / ".ninja_deps").exists():
        return None
    answer = subprocess.run([found[1], "-C", build, "-t", "deps"], capture_output=True, text=True, check=True)
    cones = collections.defaultdict(set)
    for line in answer.stdout.splitlines():
        if line.startswith("    "):
            cones[line[4:]].add(made)
        else:
            made = line.split(": #deps")[0]
    files = collections.defaultdict(set)  # a compiler's cache may name one file in two ways, whole and from BUILD_DIR
    for path, objects in cones.items():
        files[relative(path, build)] |= objects
    return dict(files)


def relative(path, build):
    """A file's path in the source tree, or in the build folder's tool_headers (<nlohmann/json.hpp>)."""
    path = pathlib.Path(os.path.normpath(build / path))
    if build / "tool_headers" in path.parents:
        return f"<{path.relative_to(build / 'tool_headers')}>"
    if SOURCE in path.parents and build not in path.parents:
        return str(path.relative_to(SOURCE))
    return str(path)


def limits():
    for number, line in enumerate((HERE / "cones.txt").read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            most, pattern = line.split()
            yield number, most, pattern


def check(cones):
    faults = 0
    objects = len(set().union(*cones.values()))
    checked = set()  # the first line that fits a file is its limit
    for number, most, pattern in limits():
        files = fnmatch.filter(cones, pattern)
        if not files and not list(SOURCE.glob(pattern)):
            print(f"tests/build/cones.txt:{number}: no file is called {pattern}")
            faults += 1
        allowed = objects * int(most[:-1]) // 100 if most.endswith("%") else int(most)
        for file in sorted(set(files) - checked):
            if len(cones[file]) > allowed:
                print(f"{file}: {len(cones[file])} of {objects} objects include it, {allowed} is the limit of "
                      f"tests/build/cones.txt:{number}; include it in fewer headers, or raise the limit")
                faults += 1
        checked.update(files)
    return faults


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    cones = recorded(build)
    if cones is None:
        print(f"{build}: not built by ninja, so nothing is known of what its objects include")
        return UNKNOWN
    if sys.argv[2:] == ["--largest"]:
        own = {file: len(objects) for file, objects in cones.items() if not file.startswith("/")}
        for file, count in sorted(own.items(), key=lambda item: (-item[1], item[0])):
            print(f"{count:5} {file}")
        return 0
    for file in sys.argv[2:]:
        print(*sorted(cones[file]), sep="\n")
    return 1 if check(cones) else 0


if __name__ == "__main__":
    sys.exit(main())
