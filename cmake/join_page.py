"""Joins the attention page to one HTML file, and to C++ that holds it.

  join_page.py SOURCE_DIR HTML [CC]

SOURCE_DIR has page.html, page.css and ES modules, of which page.mjs is the first. Modules become one script, each after
the modules that it imports; so their top-level names must differ. HTML is complete except for the marker @RECORD@.
"""
import base64
import hashlib
import pathlib
import re
import sys

RECORD = "@RECORD@"
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+\.mjs)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|class|function)\b)", re.MULTILINE)
NAMES = re.compile(r"^(?:export )?(?:async )?(?:const|let|class|function\*?) (\w+|[\[{][^=]*[\]}])", re.MULTILINE)
LINE = 4000  # bytes of a string in C++, which some compilers limit


def exported(text):
    return set(re.findall(r"^export (?:async )?(?:const|let|class|function\*?) (\w+)", text, re.MULTILINE))


def names_of(file, text):
    for name in NAMES.findall(text):
        if not name.isidentifier():
            sys.exit(f"{file}: '{name}' at the top level: one name for each declaration is needed")
        yield name


def modules_of(folder, name, done):
    """The modules that `name` needs, itself last: [(name, text)]."""
    if name in done:
        if done[name] is None:
            sys.exit(f"{folder / name}: imports itself through other modules")
        return []
    done[name] = None
    file = folder / name
    text = file.read_text(encoding="utf-8")
    modules = []
    for names, other in IMPORT.findall(text):
        modules += modules_of(folder, other, done)
        for imported in filter(None, (part.strip() for part in names.split(","))):
            if imported not in done[other]:
                sys.exit(f"{file}: {other} exports no '{imported}'")
    done[name] = exported(text)
    rest = EXPORT.sub("", IMPORT.sub("", text))
    if re.search(r"^(import|export)\b", rest, re.MULTILINE):
        sys.exit(f"{file}: only 'import {{ names }} from \"./file.mjs\";' and exported declarations can be joined")
    return modules + [(name, text, rest)]


def joined_script(folder):
    modules = modules_of(folder, "page.mjs", {})
    owners = {}
    for name, text, _ in modules:
        for declared in names_of(folder / name, text):
            if declared in owners:
                sys.exit(f"{folder / name}: '{declared}' is declared in {owners[declared]} as well")
            owners[declared] = name
    return '(() => {\n"use strict";\n' + "\n".join(rest for _, _, rest in modules) + "})();\n"


def hash_of(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page_of(folder):
    script = joined_script(folder)
    style = (folder / "page.css").read_text(encoding="utf-8")
    for text, what, end in ((script, "script", "</script"), (style, "style", "</style")):
        if end in text.lower() or "<!--" in text or RECORD in text:
            sys.exit(f"{folder}: the {what} has {end}, <!-- or {RECORD} in it")
    page = (folder / "page.html").read_text(encoding="utf-8")
    # The hashes allow only this script and this style, for any record.
    for marker, text in (("@SCRIPT_HASH@", hash_of(script)), ("@STYLE_HASH@", hash_of(style)), ("@STYLE@", style),
                         ("@SCRIPT@", script), (RECORD, RECORD)):
        if page.count(marker) != 1:
            sys.exit(f"{folder / 'page.html'}: {marker} is needed once")
        page = page.replace(marker, text)
    return page


def cpp_of(page):
    data = page.encode()
    strings = []
    for at in range(0, len(data), LINE):
        escaped = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
                          for byte in data[at:at + LINE])
        strings.append(f'    "{escaped}"')
    return ("// Made by cmake/join_page.py.\n#include \"tools/attend/page_template.h\"\n\nnamespace fovea::tools {\n\n"
            "const char kAttentionPage[] =\n" + "\n".join(strings) + ";\n"
            f"const unsigned long kAttentionPageSize = {len(data)};\n\n}}  // namespace fovea::tools\n")


def main():
    page = page_of(pathlib.Path(sys.argv[1]))
    outputs = [(sys.argv[2], page)] + [(path, cpp_of(page)) for path in sys.argv[3:4]]
    for path, text in outputs:
        pathlib.Path(path).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
