"""How many ticks a sample takes to be made and to run, against their limits.

  ticks.py LIMITS INPUT QEMU ARGUMENT.. IMAGE [--update]

With -icount a tick is always as many instructions, so 3 % more is the program's doing. Two runs must have equal counts,
but for the one tick that may be just before or after.
"""
import pathlib
import sys

import board

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "limits"))
import stated  # noqa: E402

TOLERANCE = 1.03


def main():
    limits, line, *qemu, image = [argument for argument in sys.argv[1:] if argument != "--update"]
    first, second = (
        {name.removesuffix("_ticks"): int(number) for name, number in board.run(qemu, image, line).items()
         if name.endswith("_ticks")} for _ in range(2))
    if any(abs(number - second[name]) > 1 for name, number in first.items()):
        print(f"two runs differ: {first} {second}")
        return 1
    return stated.check(first, limits, TOLERANCE, "ticks", "--update" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
