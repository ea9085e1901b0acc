"""How many bytes of code and constants each folder of the library has in a firmware image, against their limits.

  folders.py MAP LIMITS [--update]

MAP is what GNU ld writes of an image with the library's objects; LIMITS has a line `FOLDER BYTES` for each folder and
for each library of the compiler. 2 % more is too much, and 2 % less is to be stated. --update writes LIMITS.
"""
import collections
import re
import sys

import stated

# An input section: a long name is on a separate line.
PLACED = re.compile(r"^ \.(text|rodata|data)(?:\.\S+)?\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S+)$", re.MULTILINE)
# With the profile of the build, or one of a sample's own.
OWN = re.compile(r"(?:runtime/CMakeFiles/fovea_objects\.dir|_objects\.dir/__/__/runtime)/(\w+)/")
OTHERS = re.compile(r"/lib(\w+)\.a\(")
TOLERANCE = 1.02


def folder_of(file):
    """None: the sample itself and its board."""
    own, others = OWN.search(file), OTHERS.search(file)
    return own[1] if own else "lib" + others[1] if others else None


def measured(text):
    folders = collections.Counter()
    for _, size, file in PLACED.findall(text[text.index("Linker script and memory map"):]):
        folders[folder_of(file)] += int(size, 16)
    del folders[None]
    folders["all"] = sum(folders.values())
    return {folder: size for folder, size in sorted(folders.items(), key=lambda item: -item[1]) if size != 0}


def main():
    map_file, limits_file = sys.argv[1:3]
    with open(map_file, encoding="utf-8") as file:
        now = measured(file.read())
    return stated.check(now, limits_file, TOLERANCE, "bytes", "update_limits", "--update" in sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
