"""Writes fovea/_constants.py and fovea/_c.py, the declarations of the C interface for ctypes: structs and functions.

  declarations.py [--check]
With --check it only reports whether the file agrees with the headers.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "include" / "fovea").glob("*.h")) + [ROOT / "ports" / "port.h"]
FOLDER = pathlib.Path(__file__).parent / "fovea"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\} \1;", re.DOTALL)
ENUM = re.compile(r"typedef enum (\w+) \{(.*?)\} \1;", re.DOTALL)
DEFINE = re.compile(r"^#define (FOVEA_\w+) (0x[0-9a-f]+|\d+)u?$", re.MULTILINE)
FUNCTION = re.compile(r"^(?:FOVEA_API )?(\w[\w *]*?)\s*\b(fovea_\w+)\(([^()]*)\);", re.MULTILINE)
FIELD = re.compile(r"(.*?)(\w+)(?:\[(\d+)\])?$")
NUMBERS = {name + "_t": "c_" + name for name in ("int32", "uint8", "uint32", "uint64")}
NUMBERS.update({"size_t": "c_size_t", "float": "c_float", "double": "c_double", "int": "c_int",
                "fovea_status": "c_int32"})
CALLBACKS = {
    "fovea_runner", "fovea_barrier", "fovea_task", "fovea_memory", "fovea_need", "fovea_allow_tokens",
    "fovea_allow_scored",
}


def ctype(declared, structs):
    """The ctypes name of a C type. Pointers are addresses, except NUL-terminated strings of the library."""
    words = declared.replace("*", " * ").split()
    plain = [word for word in words if word not in ("const", "struct")]
    if plain == ["char", "*"] and words[0] == "const":
        return "c_char_p"
    if "*" in plain or plain[0] in CALLBACKS:
        return "c_void_p"
    if plain == ["void"]:
        return "None"
    return NUMBERS.get(plain[0]) or (plain[0] if plain[0] in structs else sys.exit(f"no ctypes for '{declared}'"))


def fields_of(body, structs):
    for declaration in filter(None, (" ".join(d.split()) for d in body.split(";"))):
        function = re.search(r"\(\*(\w+)\)\(", declaration)
        if function:
            yield function[1], "c_void_p"
            continue
        first, *others = declaration.split(",")
        kind, name, count = FIELD.match(first).groups()
        base = kind.replace("*", "").strip()
        for item in [(kind, name, count)] + [FIELD.match(other.strip()).groups() for other in others]:
            own = item[0] if item[0] == kind else base + item[0]
            yield item[1], ctype(own, structs) + (f" * {item[2]}" if item[2] else "")


def constants_of(text):
    known = {}
    for name, value in DEFINE.findall(text):
        known[name] = int(value, 0)
    for _, body in ENUM.findall(text):
        for entry in filter(None, (" ".join(e.split()) for e in body.split(","))):
            name, value = entry.split(" = ")
            known[name] = eval(value, {"__builtins__": {}}, known)  # sums of numbers and earlier names
    return known


def wrapped(opening, items, closing):
    """Items between two brackets, in lines of at most 120 columns."""
    indent = " " * (len(opening) - len(opening.lstrip()))
    if len(opening + ", ".join(items) + closing) <= 119:
        return opening + ", ".join(items) + closing
    lines = [indent + "   "]
    for item in items:
        if len(lines[-1]) + len(item) + 2 > 120:
            lines.append(indent + "   ")
        lines[-1] += f" {item},"
    return "\n".join([opening, *lines, indent + closing])


def interface():
    """The text of the headers, without comments."""
    return "\n".join(COMMENT.sub("", header.read_text(encoding="utf-8")) for header in HEADERS)


def files():
    """The text of each file, by name."""
    text = interface()
    constants = ['"""Constants of the C interface. Written by declarations.py; do not edit."""\n']
    constants += [f"{name} = {value}" for name, value in constants_of(text).items()]
    parts = ['"""The C interface for ctypes. Written by declarations.py; do not edit."""',
             "from ctypes import (Structure, c_char_p, c_double, c_float, c_int32, c_size_t, c_uint32, c_uint64, "
             "c_void_p)\n\nfrom ._constants import *"]
    structs = []
    for name, body in STRUCT.findall(text):
        fields = [f'("{field}", {kind})' for field, kind in fields_of(body, structs)]
        parts.append(f"\nclass {name}(Structure):\n" + wrapped("    _fields_ = [", fields, "]"))
        structs.append(name)
    functions = []
    for result, name, parameters in FUNCTION.findall(text):
        kinds = []
        for parameter in parameters.split(","):
            declared = FIELD.match(" ".join(parameter.split()))
            if declared[0] != "void":
                kinds.append(ctype(declared[1], structs))
        functions.append(wrapped(f'    "{name}": ({ctype(result, structs)}, [', kinds, "]),"))
    parts.append("\n# The result and the parameters of each function.\nFUNCTIONS = {\n" +
                 "\n".join(functions) + "\n}")
    return {"_constants.py": "\n".join(constants) + "\n", "_c.py": "\n\n".join(parts) + "\n"}


def main():
    for name, text in files().items():
        target = FOLDER / name
        if sys.argv[1:] != ["--check"]:
            target.write_text(text, encoding="utf-8")
        elif target.read_text(encoding="utf-8") != text:
            return f"{target} differs from the headers: run declarations.py"
    return 0


if __name__ == "__main__":
    sys.exit(main())
