"""Limits: files with a line `NAME NUMBER` each, the largest first, and a share by which a new measurement may be
above."""


def check(now, file, tolerance, unit, update=False):
    """0: nothing of `now`, numbers by name, is more than stated; 1: something is. `update` writes the file instead."""
    if update:
        with open(file, "w", encoding="utf-8") as stated:
            stated.writelines(f"{name} {number}\n" for name, number in sorted(now.items(), key=lambda item: -item[1]))
        return 0
    with open(file, encoding="utf-8") as stated:
        limits = {name: int(number) for name, number in map(str.split, stated)}
    failures = 0
    for name, number in now.items():
        limit = limits.get(name, 0)
        too_much = number > limit * tolerance
        failures += too_much
        print(f"{name:12} {number:10} {unit}, stated {limit:10}{'  TOO MUCH' if too_much else ''}")
    return int(failures != 0)
