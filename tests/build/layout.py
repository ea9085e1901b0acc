"""Size and offset of every field of every public struct are those of layout_<data model>.txt: a field that is added,
moved or changed shows in review.

  layout.py [--update] INCLUDE_DIR CC [OPTIONS...]
After a change that is meant: cmake --build --preset host-release --target update_layout, and read the difference.
"""
import difflib
import pathlib
import re
import subprocess
import sys

STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\} \1;", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FUNCTION = re.compile(r"\(\*(\w+)\)\(")
NAME = re.compile(r"(\w+)(?:\[\w+\])?$")


def fields_of(body):
    """The names that a struct's declarations declare, as `type *a, *b;`, `type c[8];` or `type (*d)(void);`."""
    for declaration in body.split(";"):
        declaration = " ".join(declaration.split())
        function = FUNCTION.search(declaration)
        if function:
            yield function[1]
        elif declaration:
            for declared in declaration.split(","):
                yield NAME.search(declared)[1]


def structs_of(include):
    found = {}
    for header in sorted((include / "fovea").glob("*.h")):
        text = COMMENT.sub("", header.read_text(encoding="utf-8"))
        for name, body in STRUCT.findall(text):
            found[name] = list(fields_of(body))
        if len(re.findall(r"\bstruct \w+ \{", text)) != len(STRUCT.findall(text)) or re.search(r"\bunion\b", text):
            sys.exit(f"{header}: a struct that is not written as typedef struct NAME {{ .. }} NAME;")
    return dict(sorted(found.items()))


# Added to every number, so that no number is written as zeros and no two are confused.
MARK = 1000000


def numbers_of(cc, include, expressions):
    """What a compiler makes of constant expressions: read from its assembly, so that nothing runs on the target."""
    source = "".join(f"#include <fovea/{header.name}>\n" for header in sorted((include / "fovea").glob("*.h")))
    source += "const int numbers[] = {\n" + "".join(f"  {MARK} + (int)({e}),\n" for e in expressions) + "};\n"
    command = [*cc, "-std=c99", "-Werror", "-ffreestanding", "-I", include, "-x", "c", "-S", "-o", "-", "-"]
    assembly = subprocess.run(command, input=source, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^\s*\.(?:long|word|4byte|int32)\s+(\d{7,})\b", assembly, re.MULTILINE)
    numbers = [int(n) - MARK for n in found]
    if len(numbers) != len(expressions):
        sys.exit(f"{len(numbers)} numbers of {len(expressions)} found in the assembly of {cc[0]}")
    return iter(numbers)


def layout(structs, include, cc):
    expressions = ["sizeof(void*)"]
    for name, fields in structs.items():
        expressions += [f"sizeof({name})", f"offsetof(struct {{ char c; {name} x; }}, x)"]
        for field in fields:
            expressions += [f"offsetof({name}, {field})", f"sizeof((({name}*)0)->{field})"]
    numbers = numbers_of(cc, include, expressions)
    # 64-bit Windows (LLP64) has the layout of LP64 as well: the headers have no long.
    model = "ilp32" if next(numbers) == 4 else "lp64"
    lines = ["Bytes of the public structs and, of each field, offset and size."]
    for name, fields in structs.items():
        lines.append(f"{name}: {next(numbers)} bytes, alignment {next(numbers)}")
        lines += [f"  {next(numbers):3} {next(numbers):2} {field}" for field in fields]
    return model, "\n".join(lines) + "\n"


def main():
    arguments = sys.argv[1:]
    update = arguments[0] == "--update"
    include, cc = pathlib.Path(arguments[update]), arguments[update + 1:]
    model, table = layout(structs_of(include), include, cc)
    expected = pathlib.Path(__file__).parent / f"layout_{model}.txt"
    if update:
        expected.write_text(table, encoding="utf-8")
    if not expected.exists():
        sys.exit(f"{expected} is missing: run this with --update and read what it writes")
    difference = list(difflib.unified_diff(expected.read_text(encoding="utf-8").splitlines(), table.splitlines(),
                                           str(expected), "include/fovea", lineterm=""))
    print("\n".join(difference) or f"{model}: as expected")
    return bool(difference)


if __name__ == "__main__":
    sys.exit(main())
