"""Generates the C interface's declarations for JavaScript from the headers: constants, structs, functions.

  declarations.py OUT_DIR MODULE...
Writes OUT_DIR/declarations.mjs for the JavaScript files MODULE..., OUT_DIR/layout.c, with which the compiler checks
every size and offset in it, and OUT_DIR/exports.txt, the functions that these files call.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ports" / "python"))
sys.dont_write_bytecode = True
from declarations import (  # noqa: E402
    COMMENT, FIELD, FUNCTION, HEADERS, STRUCT, constants_of, ctype, fields_of, interface, wrapped)

# Headers of the module's parts besides the library and the port.
LINKED = ["ports/bench.h", "ports/inputs.h"]
# 32-bit WebAssembly: every number is at a multiple of its size, addresses and sizes have 4 bytes.
SIZES = {"c_uint8": 1, "c_int32": 4, "c_uint32": 4, "c_float": 4, "c_size_t": 4, "c_void_p": 4, "c_char_p": 4,
         "c_int": 4, "c_uint64": 8, "c_double": 8}
LETTERS = {"c_uint64": "l", "c_float": "f", "c_double": "d", "None": "-"}
READ_AS = {"c_uint8": "u8", "c_int32": "i32", "c_int": "i32", "c_uint64": "u64", "c_float": "f32", "c_double": "f64"}


def rounded(offset, to):
    return -(-offset // to) * to


def layout_of(body, known):
    """Fields as (name, offset, type, count), and the struct's size and alignment. `known`: sizes of other structs."""
    fields, end, alignment = [], 0, 1
    for name, kind in fields_of(body, known):
        kind, _, count = kind.partition(" * ")
        size, own = known.get(kind) or (SIZES[kind], SIZES[kind])
        offset = rounded(end, own)
        fields.append((name, offset, READ_AS.get(kind, "u32" if kind in SIZES else kind), int(count or 1)))
        end, alignment = offset + size * int(count or 1), max(alignment, own)
    return fields, rounded(end, alignment), alignment


def signature(result, parameters, structs):
    """A letter for the result and each parameter; the generated file explains them."""
    letters = []
    parameters = [FIELD.match(" ".join(p.split()))[1] for p in parameters.split(",") if p.strip() != "void"]
    for declared in [result] + parameters:
        if "".join(declared.split()) == "fovea_error*":
            letters.append("e")
        elif declared.strip() == "fovea_status":
            letters.append("s")
        else:
            letters.append(LETTERS.get(ctype(declared, structs), "u"))
    return "".join(letters)


def main():
    out, modules = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    text = interface() + "".join(COMMENT.sub("", (ROOT / header).read_text(encoding="utf-8")) for header in LINKED)
    code = (re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", module.read_text(encoding="utf-8"), flags=re.DOTALL)
            for module in modules)  # comments name enumerations
    used = set(re.findall(r"\bfovea_\w+", "\n".join(code)))
    constants = constants_of(text)

    script = ["// The C interface as WebAssembly sees it. Written by declarations.py from the headers.",
              wrapped("export const constants = {", [f"{name}: {value}" for name, value in constants.items()], "};"),
              "// Size, and offset, type and number of elements of each field.\nexport const structs = {"]
    checks = ['/* Sizes and offsets that JavaScript reads and writes. Written by declarations.py. */',
              *(f'#include "fovea/{header.name}"' for header in HEADERS[:-1]),
              *(f'#include "{header}"' for header in ["ports/port.h"] + LINKED)]
    structs = {}
    for name, body in STRUCT.findall(text):
        fields, *structs[name] = layout_of(body, structs)
        size = structs[name][0]
        checks.append(f'_Static_assert(sizeof({name}) == {size}, "{name}");')
        checks += [f'_Static_assert(offsetof({name}, {field}) == {offset}, "{name}.{field}");'
                   for field, offset, _, _ in fields]
        if name in used:
            script.append(wrapped(f"  {name}: {{ size: {size}, fields: {{", [
                f'{field}: [{offset}, "{kind}", {count}]' for field, offset, kind, count in fields], "} },"))
    exports, functions = [], []
    for result, name, parameters in FUNCTION.findall(text):
        if name in used:
            exports.append(name)
            functions.append(f'  {name}: "{signature(result, parameters, structs)}",')
    unknown = used - set(exports) - set(structs)
    if unknown:
        sys.exit(f"neither function nor struct of the headers: {', '.join(sorted(unknown))}")
    script += ["};",
               "// Result and parameters: s status, u 32 bits, l 64 bits, f f32, d f64, e error record, - nothing.",
               "export const functions = {", *functions, "};"]

    out.mkdir(parents=True, exist_ok=True)
    (out / "declarations.mjs").write_text("\n".join(script) + "\n", encoding="utf-8")
    (out / "layout.c").write_text("\n".join(checks) + "\n", encoding="utf-8")
    (out / "exports.txt").write_text("\n".join(f"_{name}" for name in exports) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
