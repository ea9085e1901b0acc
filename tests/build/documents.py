"""Checks the documents: what they name exists, what they show is compiled, and they stay short enough to be read.

  documents.py SOURCE_DIR

- Every relative link, and every path in backquotes that looks like a file of this repository, exists.
- A heading that is named behind its page (`PAGE.md`, "Heading") is there; a block of JSON is JSON.
- A block of C or C++ that is a program, or longer than a few lines, is a part of a source file, which is compiled.
- README.md has at most 150 lines, a cell of a table at most 300 characters, a paragraph at most 200 words.
- Every page beside a README is linked or named by another page.
- Every model_type that is converted is on a page of tools/convert/families.
- tools/FAQ.md quotes messages that the sources have; cmake/CHANGELOG.md has a section for the version.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
TOP = {"CMakeLists.txt", "CMakePresets.json", "README.md", "cmake", "include", "ports", "runtime", "tests", "tools",
       ".github", ".ci"}
# Files that a build, an installation or a user makes, and placeholders.
MADE = re.compile(r"(^|/)(build|third_party|release|packages|bundle|newbert|x|[A-Z]{3,})([/._]|$)|(^|/)\.\w+$|"
                  r"^(fovea/prefix\.h|fovea_profile\.h|fovea-inline\.mjs)$")
PATH = re.compile(r"[\w.+-]+(/[\w.+-]+)*/?")
ENDINGS = (".md", ".c", ".cc", ".h", ".hpp", ".inc", ".py", ".sh", ".mjs", ".cmake")
LONG_README, LONG_CELL, LONG_PARAGRAPH, SHORT_BLOCK = 150, 300, 200, 6
complaints = []


def tracked():
    """Files of the repository, also new ones that are not ignored; None in an unpacked archive."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                            check=False)
    return [name for name in listed.stdout.split("\n") if name and (ROOT / name).exists()] or None


def without_blocks(text):
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)


def check_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^\[[^\]]+\]: +(\S+)", text, re.MULTILINE):
        if re.match(r"\w+:|#", target):
            continue
        if not (page.parent / target.split("#")[0]).exists():
            complaints.append(f"{page.relative_to(ROOT)}: link to {target}, which does not exist")


def exists(page, name, names, endings):
    """Whether a path is meant from the top, from the page's folder or one above it, or by its end below that folder."""
    folder = page.parent
    while True:
        if (folder / name).exists():
            return True
        if folder == ROOT:
            break
        folder = folder.parent
    if (ROOT / "include" / name).exists():
        return True
    return name in names or "/" + name in endings


def check_paths(page, text, names, endings):
    for span in re.findall(r"`([^`\n]+)`", text):
        name = re.sub(r":\d+$", "", span)
        if not PATH.fullmatch(name) or MADE.search(name):
            continue
        if "/" in name.rstrip("/") and name.split("/")[0] in TOP or name.endswith(ENDINGS):
            if not exists(page, name.rstrip("/"), names, endings):
                complaints.append(f"{page.relative_to(ROOT)}: names `{span}`, which does not exist")


def check_headings(page, text):
    for name, heading in re.findall(r'`([\w./-]+\.md)`,\s+"([^"]+)"', text):
        target = next((folder / name for folder in (page.parent, ROOT) if (folder / name).exists()), None)
        wanted = " ".join(heading.split())
        if target and not re.search(rf"^#+ {re.escape(wanted)}$", target.read_text(encoding="utf-8"), re.MULTILINE):
            complaints.append(f"{page.relative_to(ROOT)}: {name} has no heading '{wanted}'")


def check_json(page, text):
    for block in re.findall(r"^```json\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        try:
            json.loads(block)
        except ValueError as error:
            complaints.append(f"{page.relative_to(ROOT)}: a block that begins with {block[:30]!r}: {error}")


def check_cells(page, text):
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("|"):
            continue
        longest = max(len(cell.strip()) for cell in re.split(r"(?<!\\)\|", line))
        if longest > LONG_CELL:
            complaints.append(f"{page.relative_to(ROOT)}:{number}: a cell of {longest} characters (limit {LONG_CELL}); "
                              "write a paragraph below the table")


def check_paragraphs(page, text):
    for paragraph in re.split(r"\n\s*\n|\n(?= *[-*|#] )|\n(?= *\d+\. )|\n(?= *\|)", text):
        words = len(paragraph.split())
        if words > LONG_PARAGRAPH:
            complaints.append(f"{page.relative_to(ROOT)}: a paragraph of {words} words (limit {LONG_PARAGRAPH}): "
                              f"'{' '.join(paragraph.split()[:6])} ...'")


def check_programs(page, text, sources):
    for block in re.findall(r"^```(?:c|cpp)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        if "#include" not in block and block.count("\n") <= SHORT_BLOCK:
            continue
        if not any(block in source for source in sources):
            complaints.append(f"{page.relative_to(ROOT)}: no source file has the program that begins with\n"
                              f"    {block.splitlines()[0]}")


def check_faq():
    """The parts of each quoted message between "..." are in the sources, whose strings may be split over lines."""
    path = ROOT / "tools/FAQ.md"
    folders = [folder for top in ("tools", "runtime") for folder in (ROOT / top).rglob("*") if folder.suffix in
               (".cc", ".h", ".inc")]
    whole = "\n".join(re.sub(r'"\s*\n\s*"', "", file.read_text(encoding="utf-8")) for file in folders)
    whole = whole.replace('\\"', '"')
    headings = "\n".join(re.findall(r"^### (`.*)$", path.read_text(encoding="utf-8"), re.MULTILINE))
    for message in re.findall(r"`([^`]+)`", headings):
        for part in message.split("..."):
            if len(part.strip(" :,;'\"")) > 2 and part.strip() not in whole:
                complaints.append(f"tools/FAQ.md: no message has '{part.strip()}' (of '{message}')")


def check_families():
    """Every model_type that is converted is on a page of its family."""
    listed = (ROOT / "tools/convert/arch/architecture_list.inc").read_text(encoding="utf-8")
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "tools/convert/families").glob("*.md"))
    for name in re.findall(r'^FOVEA_ARCHITECTURE\("([^"]+)"', listed, re.MULTILINE):
        if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", pages):
            complaints.append(f"tools/convert/families: no page has the model_type {name}")


def check_changes():
    version = re.findall(r"FOVEA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                         (ROOT / "include/fovea/version.h").read_text(encoding="utf-8"))
    if f"\n## {'.'.join(version)}" not in (ROOT / "cmake/CHANGELOG.md").read_text(encoding="utf-8"):
        complaints.append(f"cmake/CHANGELOG.md: has no section for version {'.'.join(version)}")


def main():
    files = tracked()
    if not files:
        print("no list of files: this is not a checkout, so documents are not checked")
        return 77
    names = set(files)
    endings = {"/" + "/".join(parts[i:]) for parts in (name.split("/") for name in files) for i in range(len(parts))}
    # Folders as well.
    endings |= {"/" + "/".join(parts[i:j]) for parts in (name.split("/") for name in files)
                for j in range(1, len(parts)) for i in range(j)}
    sources = [(ROOT / name).read_text(encoding="utf-8") for name in files
               if name.endswith((".c", ".cc")) and name.startswith(("tests/tools/", "ports/examples/"))]
    pages = [ROOT / name for name in files if name.endswith(".md") and not name.startswith("tests/data/")]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    for page, text in texts.items():
        check_links(page, without_blocks(text))
        check_paths(page, without_blocks(text), names, endings)
        if page.name != "MODELS.md":  # cells of messages, as they are printed
            check_cells(page, text)
            check_paragraphs(page, text)
        check_headings(page, text)
        check_json(page, text)
        check_programs(page, text, sources)
        if page.name != "README.md" and not any(page.name in other for name, other in texts.items() if name != page):
            complaints.append(f"{page.relative_to(ROOT)}: no other page names it")
    lines = texts[ROOT / "README.md"].count("\n")
    if lines > LONG_README:
        complaints.append(f"README.md: {lines} lines; at most {LONG_README}, move the rest to its folder")
    check_faq()
    check_families()
    check_changes()
    print("\n".join(complaints) or f"{len(pages)} pages")
    return 1 if complaints else 0


sys.exit(main())
