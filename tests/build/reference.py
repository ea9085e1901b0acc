"""Every public function, struct, field, enumeration, constant, type and macro with parameters has text in the reference
that Doxygen makes from include/fovea, and every class of the headers for C++, whose methods are those of C.

  reference.py SOURCE_DIR WORK_DIR PYTHON
"""
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree

SOURCE, WORK = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
KINDS = {"function", "enum", "typedef", "variable"}
LEAST = {"function": 100, "field": 250, "constant": 80, "class": 12, "method": 120}
missing, counts = [], dict.fromkeys(LEAST, 0)


def words(node):
    return any("".join(part.itertext()).strip() for part in node
               if part.tag in ("briefdescription", "detaileddescription", "inbodydescription"))


def make():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    settings = (SOURCE / "cmake/doxygen/Doxyfile.in").read_text(encoding="utf-8")
    for name, value in (("SOURCE", SOURCE), ("VERSION", "0"), ("PYTHON", sys.argv[3]), ("OUTPUT", WORK)):
        settings = settings.replace(f"@{name}@", str(value))
    (WORK / "Doxyfile").write_text(settings + "GENERATE_HTML = NO\n", encoding="utf-8")
    subprocess.run(["doxygen", str(WORK / "Doxyfile")], check=True)


def check(path, fields_text):
    for compound in tree.parse(path).getroot():
        name = compound.findtext("compoundname")
        described = words(compound)
        if not described:
            missing.append(f"{name}: no text")
        struct = "".join("".join(part.itertext()) for part in compound if part.tag.endswith("description"))
        for member in compound.iter("memberdef"):
            kind, of = member.get("kind"), member.findtext("name")
            if kind not in KINDS:
                continue
            if compound.get("kind") == "struct":
                counts["field"] += 1
                # The text of a struct may describe its fields, by name.
                if not words(member) and not re.search(rf"`?\b{of}\b", struct):
                    missing.append(f"{name}.{of}: no text")
                continue
            counts["function"] += kind == "function"
            # An enumeration in one line may be described by the field that has it: "fovea_role: ...".
            elsewhere = kind == "enum" and f"{of}: " in fields_text
            if not words(member) and not elsewhere:
                missing.append(f"{name}: {of}: no text")
            for constant in member.iter("enumvalue"):
                counts["constant"] += 1
                if not words(constant) and not words(member) and not elsewhere:
                    missing.append(f"{name}: {constant.findtext('name')}: no text")


def check_class(path):
    compound = tree.parse(path).getroot().find("compounddef")
    counts["class"] += 1
    counts["method"] += sum(member.get("kind") == "function" for member in compound.iter("memberdef"))
    if not words(compound):
        missing.append(f"{compound.findtext('compoundname')}: no text")


def main():
    if not shutil.which("doxygen"):
        print("SKIPPED: no doxygen, so text of the public headers is not checked (Debian's package doxygen)")
        return 77
    make()
    paths = [path for path in sorted((WORK / "xml").glob("*.xml")) if re.match(r"struct|.*_8h\.xml", path.name)]
    fields_text = " ".join("".join(tree.parse(path).getroot().itertext()) for path in paths
                           if path.name.startswith("struct"))
    for path in paths:
        check(path, fields_text)
    for path in sorted((WORK / "xml").glob("class*.xml")):
        check_class(path)
    for header in ("fovea_8hpp.xml", "base_8hpp.xml"):
        if not (WORK / "xml" / header).exists():
            missing.append(f"{header}: the header is not in the reference")
    for kind, least in LEAST.items():
        if counts[kind] < least:
            missing.append(f"only {counts[kind]} of kind {kind} were found")
    found = ", ".join(f"{count} {kind}{'es' if kind == 'class' else 's'}" for kind, count in counts.items())
    print("\n".join(missing) or found + " have text")
    return 1 if missing else 0


sys.exit(main())
