"""How many instructions a program's classification takes on an emulated processor, part by part, against their limits.

  instructions.py LIMITS PLUGIN PROGRAM BLOB QEMU ARGUMENT.. [--update]

PROGRAM is count.c, PLUGIN plugin.c. The same program takes the same instructions on every machine, so 3 % more or less
is the program's doing; two runs must have equal counts. Exit status 77: something is not built,
or QEMU is not there or takes no such plugin.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import stated

TEXT = ("A library to read compressed audio files. It supports FLAC and Ogg Vorbis, reads tags and cue sheets, and "
        "seeks to any sample. This package has the headers that programs are built with.")
TOLERANCE = 1.03


def measured(plugin, program, blob, qemu):
    with tempfile.NamedTemporaryFile() as counter:
        counter.write(bytes(8))
        counter.flush()
        # Nothing of this machine's environment reaches the program, whose stack would begin elsewhere.
        done = subprocess.run([*qemu, "-plugin", f"{plugin},counter={counter.name}", program, blob, TEXT, counter.name],
                              capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    if "plugin" in done.stderr and done.returncode != 0:
        print(f"SKIPPED: {qemu[0]} takes no plugin: {done.stderr.strip()}")
        sys.exit(77)
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode}: {done.stderr}")
    print(done.stderr.strip())
    return {name: int(number) for name, number in map(str.split, done.stdout.splitlines())}


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    limits, plugin, program, blob, *qemu = arguments
    if shutil.which(qemu[0]) is None:
        print(f"SKIPPED: there is no {qemu[0]} (tools/setup.sh --test installs it)")
        return 77
    for needed in (plugin, program):
        if not os.path.exists(needed):
            print(f"SKIPPED: {os.path.basename(needed)} is not built")
            return 77
    first, second = (measured(plugin, program, blob, qemu) for _ in range(2))
    if first != second:
        different = {name: (number, second[name]) for name, number in first.items() if number != second[name]}
        print(f"two runs differ: {different}")
        return 1
    return stated.check(first, limits, TOLERANCE, "instructions", "update_instructions", "--update" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
