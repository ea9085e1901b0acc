"""Writes the C interface for Rust, in the form that bindgen gives it: constants.rs, structs.rs and functions.rs in
fovea-sys/src, and fovea-sys/tests/fields.rs.inc, the fields whose layout a test compares with the C compiler's.

  declarations.py [--check]
With --check it only reports whether the files agree with the headers.
"""
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "python"))
sys.dont_write_bytecode = True
from declarations import COMMENT, ENUM, FIELD, FUNCTION, HEADERS, STRUCT, constants_of  # noqa: E402

NUMBERS = {"int32_t": "i32", "uint8_t": "u8", "uint32_t": "u32", "uint64_t": "u64", "size_t": "usize", "float": "f32",
           "double": "f64", "char": "c_char", "void": "c_void"}
CALLBACK = re.compile(r"^typedef (\w+\*?) \(\*(\w+)\)\(([^()]*)\);", re.MULTILINE)
HANDLE = re.compile(r"^typedef struct (\w+) \1;", re.MULTILINE)
KEYWORDS = {"type"}  # a field of C that is a keyword of Rust gets an underscore, as bindgen does it


def rust_type(declared):
    """The Rust type of a C type: 'const char* const*' is '*const *const c_char'."""
    parts = declared.replace("struct ", "").split("*")
    base = [word for word in parts[0].split() if word != "const"]
    result = NUMBERS.get(base[0], base[0])
    constant = "const" in parts[0].split()
    for after in parts[1:]:
        result = f"*{'const' if constant else 'mut'} {result}"
        constant = "const" in after.split()
    return result


def named(field):
    return field + "_" if field in KEYWORDS else field


def parameter_of(text):
    """'const char* name' as (name, type)."""
    kind, name, _ = FIELD.match(" ".join(text.split())).groups()
    return named(name), rust_type(kind)


def parameters_of(text):
    return [] if text.strip() == "void" else [parameter_of(part) for part in text.split(",")]


def function_type(result, parameters):
    listed = ", ".join(f"{name}: {kind}" for name, kind in parameters_of(parameters))
    returned = "" if result == "void" else f" -> {rust_type(result)}"
    return f"Option<unsafe extern \"C\" fn({listed}){returned}>"


def fields_of(body):
    for declaration in filter(None, (" ".join(d.split()) for d in body.split(";"))):
        function = re.match(r"(\w+) \(\*(\w+)\)\(([^()]*)\)$", declaration)
        if function:
            yield function[2], function_type(function[1], function[3])
            continue
        first, *others = declaration.split(",")
        kind, name, count = FIELD.match(first).groups()
        base = kind.replace("*", "").strip()
        for item in [(kind, name, count)] + [FIELD.match(other.strip()).groups() for other in others]:
            declared = item[0] if item[0] == kind else base + item[0]
            yield named(item[1]), f"[{rust_type(declared)}; {item[2]}]" if item[2] else rust_type(declared)


def wrapped(opening, items, closing, indent="    "):
    """One line, or items in lines of at most 120 columns."""
    line = indent + opening + ", ".join(items) + closing
    if len(line) <= 120:
        return line
    lines = [indent + "   "]
    for item in items:
        if len(lines[-1]) + len(item) + 2 > 120:
            lines.append(indent + "   ")
        lines[-1] += f" {item},"
    return "\n".join([(indent + opening).rstrip(), *lines, indent + closing.strip()])


WRITTEN = "Written by declarations.py from the headers; do not edit."


def constants(text):
    """Constants and the names of enumerations."""
    enums = {name: body for name, body in ENUM.findall(text)}
    statuses = re.findall(r"(\w+) =", enums.pop("fovea_status"))
    lines = [f"//! Constants of the C interface. {WRITTEN}", "",
             "pub type fovea_status = i32;", *(f"pub type {name} = u32;" for name in sorted(enums)), ""]
    for name, value in constants_of(text).items():
        kind = "fovea_status" if name in statuses else "usize" if name == "FOVEA_STRUCT_SIZE_MAX" else "u32"
        lines.append(f"pub const {name}: {kind} = {value};")
    return "\n".join(lines) + "\n"


def structs(text):
    """Structs, handles and types of functions."""
    lines = [f"//! Structs of the C interface. {WRITTEN}", "", "use crate::fovea_status;", "use core::ffi::c_void;",
             "use std::os::raw::c_char;", ""]
    for result, name, parameters in CALLBACK.findall(text):
        listed = [f"{parameter}: {kind}" for parameter, kind in parameters_of(parameters)]
        returned = "" if result == "void" else f" -> {rust_type(result)}"
        lines.append(wrapped(f'pub type {name} = Option<unsafe extern "C" fn(', listed, f"){returned}>;", ""))
    for name in HANDLE.findall(text):
        lines += ["", "#[repr(C)]", "#[derive(Debug)]", f"pub struct {name} {{ _unused: [u8; 0] }}"]
    for name, body in STRUCT.findall(text):
        lines += ["", "#[repr(C)]", "#[derive(Debug, Copy, Clone)]",
                  wrapped(f"pub struct {name} {{ ", [f"pub {field}: {kind}" for field, kind in fields_of(body)], " }",
                          ""),
                  f"{'sized' if 'struct_size' in body else 'zeroed'}!({name});"]
    return "\n".join(lines) + "\n"


def functions(text):
    lines = [f"//! Functions of the C interface. {WRITTEN}", "", "use crate::*;", "use core::ffi::c_void;",
             "use std::os::raw::c_char;", "", 'extern "C" {']
    for result, name, parameters in FUNCTION.findall(text):
        returned = "" if result == "void" else f" -> {rust_type(result)}"
        listed = [f"{parameter}: {kind}" for parameter, kind in parameters_of(parameters)]
        lines.append(wrapped(f"pub fn {name}(", listed, f"){returned};"))
    return "\n".join(lines) + "\n}\n"


def layouts(text):
    lines = [f"// Fields of the structs of the C interface. {WRITTEN}", "{"]
    lines += [wrapped(f"layout!({name}: ", [field for field, _ in fields_of(body)], ");")
              for name, body in STRUCT.findall(text)]
    return "\n".join(lines) + "\n}\n"


def main():
    headers = [header for header in HEADERS if header.parent.name == "fovea"]
    text = "\n".join(COMMENT.sub("", header.read_text(encoding="utf-8")) for header in headers)
    crate = FOLDER / "fovea-sys"
    files = {crate / "src" / "constants.rs": constants(text), crate / "src" / "structs.rs": structs(text),
             crate / "src" / "functions.rs": functions(text), crate / "tests" / "fields.rs.inc": layouts(text)}
    for path, content in files.items():
        if sys.argv[1:] != ["--check"]:
            path.write_text(content, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != content:
            return f"{path} differs from the headers: run declarations.py"
    return 0


if __name__ == "__main__":
    sys.exit(main())
