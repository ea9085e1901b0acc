"""Doxygen's input filter for the public headers: plain comments become comments that Doxygen reads.

  filter.py HEADER

The comment at the top describes the file. A comment on lines of its own describes what follows it up to an empty line
or the next such comment: declarations, or fields. A comment behind a declaration, field or constant describes that.
In headers for C++ a comment describes the one declaration that follows.
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRUCT_SIZE = "/**< Size of this struct, set by its initial value FOVEA_..._INIT (fovea/types.h). */"


def lines_of(text):
    """Lines, with a comment of several lines as one."""
    lines, rest = [], text.split("\n")
    while rest:
        line = rest.pop(0)
        while line.count("/*") > line.count("*/") and rest:
            line += "\n" + rest.pop(0)
        lines.append(line)
    return lines


def text_of(comment):
    return re.sub(r"\n\s*\*?", "\n", comment.strip()[2:-2]).strip()


def marked(comment, mark):
    """The words of a comment as Doxygen's: nothing in it is a command or HTML."""
    text = re.sub(r"([@\\<>#%&])", r"\\\1", text_of(comment))
    text = re.sub(r"\n(\s{2,}\S[^\n]*)", r"\n@n\1", text)  # lists of statuses keep their lines
    return mark + " " + text.replace("\n", " ") + " */"


def filtered(text):
    lines, made = lines_of(text), []
    inside = pending = None  # a struct or an enumeration is open; the comment for the next fields or declarations
    for number, line in enumerate(lines):
        stripped = line.strip()
        padding = "\n" * line.count("\n")
        if number == 0 and stripped.startswith("/*"):
            made.append("/** @file\n * " + re.sub(r"([@\\<>#%&])", r"\\\1", text_of(stripped)).replace("\n", "\n * ") +
                        " */")
            continue
        if stripped.startswith("/*") and stripped.endswith("*/") and stripped.count("/*") == 1:
            heading = stripped.startswith("/* ----")
            pending = None if heading else marked(stripped, "/**<" if inside else "/**")
            made.append(padding)
            continue
        own = COMMENT.search(line)
        if not stripped:
            pending = None
        elif inside and stripped.startswith("}"):
            inside = None
            if own:  # describes the whole
                made[opened] = f"{marked(own[0], '/**')} {made[opened]}"
                line = line[:own.start()].rstrip() + padding
        elif inside:
            if own:
                line = line[:own.start()] + marked(own[0], "/**<") + line[own.end():] + padding
            elif stripped == "size_t struct_size;":
                line = f"{line} {STRUCT_SIZE}"
            elif pending and re.search(r"[;,]$|^\w+ = |^[A-Z_0-9]+$", stripped):
                line = f"{line} {pending}"
        elif line.startswith(("FOVEA_API", "typedef", "#define", "struct")):
            before = marked(own[0], "/**") if own else pending
            if own:
                line = line[:own.start()].rstrip() + line[own.end():] + padding
            if before:
                line = f"{before} {line}" if not line.startswith("#") else f"{before}\n{line}"
            if re.match(r"(typedef )?(struct|enum|union)\b[^;}]*\{$", stripped):
                inside, pending, opened = True, None, len(made)
        fields = re.match(r"(\s+)([\w ]+?) (\**\w+(?:, \**\w+)+); +(/\*\*<.*)$", line, re.DOTALL) if inside else None
        if fields:  # Doxygen gives a comment to the last of several fields
            line = " ".join(f"{fields[1]}{fields[2]} {name}; {fields[4].rstrip()}" for name in fields[3].split(", "))
        made.append(line)
    return "\n".join(made)


def filtered_cpp(text):
    """C++: a comment on lines of its own describes the declaration behind it. The inline namespace, which has the
    version of the language in its name, is left out."""
    lines = lines_of(re.sub(r"^(inline namespace FOVEA_CPP \{|\}  // namespace FOVEA_CPP)$", "", text,
                            flags=re.MULTILINE))
    made = ["/** @file\n * " + re.sub(r"([@\\<>#%&])", r"\\\1", text_of(lines[0])).replace("\n", "\n * ") + " */"]
    for line in lines[1:]:
        stripped = line.strip()
        alone = stripped.startswith("/*") and stripped.endswith("*/") and stripped.count("/*") == 1
        made.append(marked(stripped, "/**") + "\n" * line.count("\n") if alone else line)
    return "\n".join(made)


HEADER = pathlib.Path(sys.argv[1])
sys.stdout.write((filtered_cpp if HEADER.suffix == ".hpp" else filtered)(HEADER.read_text(encoding="utf-8")))
