"""Writes manual pages from the help of the command: fovea.1 and one page for each subcommand.

  man_pages.py COMMAND VERSION OUTPUT_DIR
"""
import pathlib
import re
import subprocess
import sys

HEADING = re.compile(r"^([A-Z][A-Za-z ]+):$")
# CLI11 prints a column of names and one of descriptions, which moves to the next line behind a long name.
OPTION = re.compile(r"^  (\S.*?)(?:  +(\S.*))?$")
INDENT = 20


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{text}" if text.startswith(".") else text


def help_of(command, *subcommand):
    return subprocess.run([command, *subcommand, "--help"], check=True, capture_output=True, text=True).stdout


def page(name, text, version, also):
    """The page of a command in troff's man macros. `text` is its help."""
    lines = text.splitlines()
    description = lines[0].rstrip(".")
    out = [f'.TH {name.upper()} 1 "" "fovea {version}" "User commands"', ".nh", ".ad l", ".SH NAME",
           f"{escaped(name)} \\- {escaped(description)}"]
    examples, entry = False, False
    for line in lines[1:]:
        heading = HEADING.match(line)
        if line.startswith("Usage: "):
            out += [".SH SYNOPSIS", f".B {escaped(line.removeprefix('Usage: '))}"]
        elif heading:
            if examples:
                out.append(".EE")
            examples, entry = heading[1] == "Examples", False
            out.append(f'.SH "{heading[1].upper()}"')
            if examples:
                out.append(".EX")
        elif not line.strip():
            continue
        elif examples:
            out.append(escaped(line.strip()))
        elif line.startswith(" " * INDENT) and entry:
            out.append(escaped(line.strip()))
        elif line.startswith("  ") and OPTION.match(line):
            option, rest = OPTION.match(line).groups()
            out += [".TP", f"\\fB{escaped(option)}\\fR"]
            if rest:
                out.append(escaped(rest))
            entry = True
        else:
            out += [".PP", escaped(line.strip())]
            entry = False
    if examples:
        out.append(".EE")
    out += [".SH \"SEE ALSO\"", ",\n".join(f"\\fB{escaped(other)}\\fR(1)"
                                              for other in also)]
    return "\n".join(out) + "\n"


def subcommands(text):
    return re.findall(r"^  ([a-z][a-z-]*) ", text, re.MULTILINE)


def main():
    command, version, output = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    output.mkdir(parents=True, exist_ok=True)
    text = help_of(command)
    names = subcommands(text)
    pages = [f"fovea-{name}" for name in names]
    (output / "fovea.1").write_text(page("fovea", text, version, pages), encoding="utf-8")
    for name in names:
        made = page(f"fovea-{name}", help_of(command, name), version, ["fovea"])
        (output / f"fovea-{name}.1").write_text(made, encoding="utf-8")
    print(f"{output}: {len(names) + 1} manual pages")


if __name__ == "__main__":
    main()
