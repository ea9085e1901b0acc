"""Size and offset of every field of every public struct are those of layout_<data model>.txt: a field that is added,
moved or changed shows in review.

  layout.py [--update] INCLUDE_DIR CC [EMULATOR...]
After a change that is meant: cmake --build --preset host-release --target update_layout, and read the difference.
"""
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

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


def program_of(structs, include):
    yield from (f"#include <fovea/{header.name}>" for header in sorted((include / "fovea").glob("*.h")))
    yield "#include <stdio.h>"
    yield "#define ALIGNMENT(s) (int)offsetof(struct { char c; s x; }, x)"
    yield '#define SIZE(s) printf("%s: %d bytes, alignment %d\\n", #s, (int)sizeof(s), ALIGNMENT(s))'
    yield '#define FIELD(s, f) printf("  %3d %2d %s\\n", (int)offsetof(s, f), (int)sizeof(((s*)0)->f), #f)'
    yield "int main(void) {"
    yield '  printf("%s\\n", sizeof(void*) == 8 ? sizeof(long) == 8 ? "lp64" : "llp64" : "ilp32");'
    for name, fields in structs.items():
        yield f"  SIZE({name});"
        yield from (f"  FIELD({name}, {field});" for field in fields)
    yield "  return 0;\n}\n"


def layout(structs, include, cc, emulator):
    with tempfile.TemporaryDirectory() as folder:
        source, program = f"{folder}/layout.c", f"{folder}/layout"
        pathlib.Path(source).write_text("\n".join(program_of(structs, include)), encoding="utf-8")
        subprocess.run([cc, "-std=c99", "-Werror", "-I", include, source, "-o", program], check=True)
        output = subprocess.run([*emulator, program], check=True, capture_output=True, text=True).stdout
    model, table = output.split("\n", 1)
    return model, "Bytes of the public structs and, of each field, offset and size.\n" + table


def main():
    arguments = sys.argv[1:]
    update = arguments[0] == "--update"
    include, cc, *emulator = arguments[update:]
    include = pathlib.Path(include)
    model, table = layout(structs_of(include), include, cc, emulator)
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
