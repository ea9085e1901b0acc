"""Limits: files with a line `NAME NUMBER` each, the largest first, and a factor by which a new measurement may be above
or below."""


def check(now, file, tolerance, unit, target, update=False):
    """0: `now`, numbers by name, is what is stated; 1: a number is too far off, or a name is new or gone. `update`
    writes the file instead, as the build's `target` does."""
    if update:
        with open(file, "w", encoding="utf-8") as stated:
            stated.writelines(f"{name} {number}\n" for name, number in sorted(now.items(), key=lambda item: -item[1]))
        return 0
    with open(file, encoding="utf-8") as stated:
        limits = {name: int(number) for name, number in map(str.split, stated)}
    failures = 0
    for name in [*now, *sorted(limits.keys() - now.keys())]:
        number, limit = now.get(name, 0), limits.get(name, 0)
        verdict = ("  GONE" if name not in now else "  TOO MUCH" if number > limit * tolerance else
                   "  TOO LITTLE" if number * tolerance < limit else "")
        failures += verdict != ""
        print(f"{name:12} {number:10} {unit}, stated {limit:10}{verdict}")
    if failures != 0:
        print(f"If that is as it should be, the target {target} states it.")
    return int(failures != 0)
