"""Writes tools/convert/MODELS.md from models.txt and what the test of expected.txt shows.

  table.py            write it
  table.py --check    fail if it is not up to date
"""
import collections
import pathlib
import sys

import check

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "tools" / "convert" / "MODELS.md"
WEIGHTS = {"A": 15, "B": 3, "C": 0.4, "D": 0.05}  # downloads of a month, million
HEAD = """# Models by name

What happens to models that people deploy: `tests/hub` makes directories that look like the published ones (files,
settings, names and types of tensors; small sizes, random values), converts each with `fovea convert` and runs it with
the command named here. `tests/hub/table.py` writes this page from what that test shows. Use: A at least 10 million
downloads a month or as much elsewhere, B 1 to 10, C 0.1 to 1, D less.

"""


def rows():
    for line in (HERE / "models.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield [field.strip() for field in line.split("|")]


def happens(directories, expected):
    """(whether all of them run, what is written of them)"""
    if directories.startswith("- "):
        return True, directories[2:]
    if directories == "-":
        return False, "not tested"
    texts, runs = [], True
    for name in directories.split():
        state, words = expected[name]
        runs = runs and state.startswith("runs")
        text = f"{state.replace('runs ', '`fovea ')}`" if state.startswith("runs") else \
            "token ids or tensors only" + (f": {words}" if words else "") if state == "ids" else f"{state}: {words}"
        if text not in texts:
            texts.append(text)
    return runs, "; ".join(texts).replace("|", "/")


def document():
    expected = check.expectations()
    table, used, done, count = [], collections.Counter(), collections.Counter(), 0
    for model, kind, task, use, directories in rows():
        runs, text = happens(directories, expected)
        used[use] += 1
        done[use] += runs
        count += runs
        table.append(f"| {model} | {kind} | {task} | {use} | {text} |")
    whole = sum(WEIGHTS[use] * number for use, number in used.items())
    part = sum(WEIGHTS[use] * number for use, number in done.items())
    summary = f"{count} of these {len(table)} run, {100 * part / whole:.0f} % by use " \
        f"({', '.join(f'{use} {done[use]} of {used[use]}' for use in sorted(used))}).\n\n"
    return HEAD + summary + "| model | model_type | task | use | what happens |\n|---|---|---|---|---|\n" + \
        "\n".join(table) + "\n"


def main():
    made = document()
    if "--check" in sys.argv[1:]:
        if DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == made:
            return 0
        print(f"{DOCUMENT}: not as tests/hub/table.py writes it")
        return 1
    DOCUMENT.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
