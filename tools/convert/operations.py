"""Writes a page for each operation of graph.json into operations/, from the lists of runtime/blob and the attributes
that runtime/ops accepts. Text below the made part of a page is written by hand and stays.

  operations.py            writes the pages and their index
  operations.py --check    fails if a page is missing, stale or of no operation
"""
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
BLOB, OPS = HERE.parents[1] / "runtime/blob", HERE.parents[1] / "runtime/ops"
PAGES = HERE / "operations"
BEGIN, END = "<!-- made by tools/convert/operations.py -->\n", "<!-- end -->\n"
MIXES = {
    "Nothing": "Row-local: a row of the result depends on the same row of the inputs only.",
    "Rows": "A row of the result depends on other rows of its segment (sequence).",
    "Segments": "A row of the result depends on rows of several segments.",
    "Spaces": "The result is in another row space than the input, or combines rows of two spaces.",
}
STORAGE = {"Weight": "any type of weights, by `--weights`", "Table": "any type of weights, by `--weights`",
           "Half": "f32 or f16", "Float": "f32", "Index": "i32"}
PRESENCE = {"Required": "yes", "Optional": "no", "Repeated": "one or more"}


def entries(path, macro):
    """(arguments, comment) of each FOVEA_...(...) of a list: its comment is above it, or behind it."""
    above, found = [], []
    for line in path.read_text(encoding="utf-8").split("\n"):
        entry = re.match(rf"{macro}\(([^)]*)\)\s*(?://\s*(.*))?$", line)
        if entry:
            found.append(([part.strip() for part in entry[1].split(",")], entry[2] or " ".join(above)))
            above = []
        elif line.startswith("//"):
            above.append(line[2:].strip())
        elif re.match(r" +//", line) and found:  # the comment behind an entry continues
            found[-1] = (found[-1][0], found[-1][1] + " " + line.strip()[2:].strip())
        else:
            above = []
    return found


def operands():
    """{operation: [(kind, name, presence, storage, comment)]}"""
    found, current = {}, None
    for line in (BLOB / "operand_list.inc").read_text(encoding="utf-8").split("\n"):
        begin = re.match(r"FOVEA_OPERANDS\((\w+)\)", line)
        if begin:
            current = found.setdefault(begin[1], [])
        elif "attention_operand_list.inc" in line:
            current += operand_entries(BLOB / "attention_operand_list.inc")
        elif current is not None:
            current += operand_lines([line])
    return found


def operand_lines(lines):
    for line in lines:
        entry = re.match(r"FOVEA_(INPUT|TENSOR)\(\d+, (\w+), \w+, (\w+)(?:, (\w+))?\)\s*(?://\s*(.*))?$", line)
        if entry:
            yield entry[1], entry[2], entry[3], entry[4], entry[5] or ""


def operand_entries(path):
    return list(operand_lines(path.read_text(encoding="utf-8").split("\n")))


def enumerations():
    """{Enum: [(name, comment)]}"""
    found = {}
    for name in ("enum_list.inc", "record_enum_list.inc"):
        text = (BLOB / name).read_text(encoding="utf-8")
        for enum, body in re.findall(r"FOVEA_ENUM_BEGIN\((\w+)\)(.*?)FOVEA_ENUM_END", text, re.DOTALL):
            found[enum] = re.findall(r"FOVEA_ENUM\(\d+, (\w+), \w+\)(?:\s*//\s*(.*))?", body)
    return found


def accepted():
    """{Operation: [Attribute]}: the array that its OpDef names."""
    shared = re.search(r"kAttentionAttributes\[\] = \{(.*?)\};",
                       (OPS / "attention_records.h").read_text(encoding="utf-8"), re.DOTALL)[1]
    fields = re.findall(r"^FOVEA_(?:NUMBER|REAL|FLAG|CHOICE)\(\w+, \w+, (\w+)",
                        (BLOB / "attention_fields.inc").read_text(encoding="utf-8"), re.MULTILINE)
    found = {}
    for path in sorted(OPS.glob("*.cc")):
        text = path.read_text(encoding="utf-8")
        arrays = {name: re.findall(r"Attribute::k(\w+)", body)
                  for name, body in re.findall(r"Attribute (k\w+)\[\] = \{(.*?)\};", text, re.DOTALL)}
        arrays["kAttentionAttributes"] = re.findall(r"Attribute::k(\w+)", shared) + fields
        for operation, rest in re.findall(r"DefineOp<OpCode::k(\w+),(.*?)\}\)", text, re.DOTALL):
            used = re.search(r"def\.attributes = (k\w+)", rest)
            found[operation] = arrays[used[1]] if used else []
    return found


def clauses(comment, operation, operations):
    """The part of an attribute's comment that concerns an operation: "attention: ...; norm, cast: ..."."""
    comment = re.sub(r"\. (?=[a-z_]+: )", "; ", comment)
    kept, keep = [], True
    for clause in comment.split("; "):
        clause = re.sub(r"^([a-z_]+), (?=default)", r"\1: ", clause)
        subject, colon, text = clause.partition(": ")
        named = re.findall(r"\w+", re.sub(r"\([^)]*\)", "", subject))
        if colon and named and all(name in operations for name in named):
            keep = operation in named
            clause = text
        elif not colon and named and all(name in operations for name in named):
            continue  # a list of operations alone
        if keep:
            kept.append(clause)
    return "; ".join(kept)


def cell(text):
    return text.replace("|", "\\|")


def wrapped(text, first="", rest=""):
    return textwrap.fill(text, 120, initial_indent=first, subsequent_indent=rest, break_long_words=False,
                         break_on_hyphens=False)


def made(number, name, title, mixes, meaning, lists):
    operand, attributes, accepts, enums, operations = lists
    lines = [wrapped(meaning), "", MIXES[mixes], ""]
    explained = []
    if name != "attention" and operand.get(title) == operand["Attention"]:
        lines += ["It has the operands and attributes of [`attention`](attention.md).", "",
                  f"Number {number} in the format."]
        return f"# `{name}`\n\n{BEGIN}" + "\n".join(lines) + f"\n{END}"
    for kind, heading in (("INPUT", "`in`"), ("TENSOR", "`tensors`")):
        rows = [one for one in operand.get(title, []) if one[0] == kind]
        if not rows:
            continue
        if kind == "INPUT":
            lines += [f"| {heading} | required | meaning |", "|---|---|---|"]
            lines += [f"| `{one[1]}` | {PRESENCE[one[2]]} | {cell(one[4])} |" for one in rows]
        else:
            lines += [f"| {heading} | required | stored as | shape, meaning |", "|---|---|---|---|"]
            lines += [f"| `{one[1]}` | {PRESENCE[one[2]]} | {STORAGE[one[3]]} | {cell(one[4])} |" for one in rows]
        lines.append("")
    if accepts.get(title):
        lines += ["| attribute | values | meaning |", "|---|---|---|"]
        for attribute in sorted(accepts[title], key=list(attributes).index):
            key, kind, comment = attributes[attribute]
            members = []
            if kind == "Enum":
                choices = [title + "Kind"] if key == "kind" else re.findall(r"\b[A-Z]\w+\b", comment) + [attribute]
                members = next((enums[choice] for choice in choices if choice in enums), [])
                comment = re.sub(rf"\b(?:{'|'.join(enums)})[:,;] ", "", comment)
                if key == "kind":
                    comment = f"default `{members[0][0]}`"
            types = {"U32": "whole number", "F32": "number", "Flag": "true or false"}
            shown = types.get(kind) or ", ".join(f"`{member}`" for member, _ in members)
            lines.append(f"| `{key}` | {shown} | {cell(clauses(comment, name, operations))} |")
            explained += [wrapped(f"`{key}` `{member}`: {text}", "- ", "  ") for member, text in members if text]
        lines += ["", *explained, ""]
    return f"# `{name}`\n\n{BEGIN}" + "\n".join(lines).rstrip() + f"\n\nNumber {number} in the format.\n{END}"


def pages():
    listed = entries(BLOB / "op_list.inc", "FOVEA_OP")
    attributes = {parts[2]: (parts[1], parts[3], comment.rpartition("stay unused). ")[2])
                  for parts, comment in entries(BLOB / "attribute_list.inc", "FOVEA_ATTRIBUTE")}
    names = [parts[1] for parts, _ in listed]
    lists = operands(), attributes, accepted(), enumerations(), set(names)
    found = {f"{parts[1]}.md": made(*parts, comment, lists) for parts, comment in listed}
    index = ["# Operations of graph.json", "", BEGIN + "| operation | inputs ; tensors -> result |", "|---|---|"]
    index += [f"| [`{parts[1]}`]({parts[1]}.md) | {cell(comment)} |"
              for parts, comment in sorted(listed, key=lambda one: one[0][1])]
    found["README.md"] = "\n".join(index) + "\n" + END
    return found


def main(mode=""):
    stale = []
    wanted = pages()
    PAGES.mkdir(exist_ok=True)
    for name, text in wanted.items():
        path = PAGES / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        new = text + (old.partition(END)[2])
        if new != old:
            stale.append(name)
            if mode != "--check":
                path.write_text(new, encoding="utf-8")
    unknown = [path.name for path in PAGES.glob("*.md") if path.name not in wanted]
    if mode == "--check" and stale:
        sys.exit(f"operations/: {', '.join(stale)} differ from the lists: run tools/convert/operations.py")
    if unknown:
        sys.exit(f"operations/: {', '.join(unknown)}: no operation has this name; remove the page")


if __name__ == "__main__":
    main(*sys.argv[1:])
