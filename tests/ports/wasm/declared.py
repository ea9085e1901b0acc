"""fovea.d.ts and measure.d.ts list what the modules of ports/wasm export, what their classes have and which options are
read: no more, no less.   declared.py PORT_FOLDER
"""
import pathlib
import re
import sys

# The module of each class, and what gives it members besides its own lines.
CLASSES = {
    "FoveaError": ("library", None), "Model": ("model", None), "Tokenizer": ("text", None),
    "Session": ("session", None), "Generation": ("generate", None),
    "Encoding": ("text", r"new Encoding\(text, bytes, (.*?)\}\);"),
    "Weights": ("session", r"  weights\(tap.*?const fields = (.*?)\};"),
}
# Members that modules use of each other's classes only; members that errors and iterators have anyway.
INTERNAL = {
    "Model": "attention blobBytes blocks handle label library modelBytes program space stepInput value",
    "Session": "blocks handle library model open program sizes taps value",
    "Encoding": "bytes places ranges sentenceRanges span",
    "Tokenizer": "model stream",
    "Generation": "blocks encode ended generator made max model next return sessions stops stream",
    "FoveaError": "name",
}
# Where options are listed, in a module and in the declarations.
OPTIONS = {
    "Model.open": ("model", r"static async open\(blob, ", r"static open\((.*?)\): Promise"),
    "a session": ("session", r"constructor\(model, ", r"interface SessionOptions (.*?)^\}"),
    "measure": ("measure", r"function measure\(blob, ", r"interface MeasureOptions (.*?)^\}"),
}
ALL = re.MULTILINE | re.DOTALL


def found(pattern, text):
    return re.search(pattern, text, ALL)[1]


def read(path):
    return re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", path.read_text(encoding="utf-8"), flags=ALL)


def exported(text):
    names = re.findall(r"^export (?:async )?(?:const|class|function) (\w+)", text, ALL)
    return {*names, *re.findall(r"\w+", " ".join(re.findall(r"^export \{(.*?)\}", text, ALL)))}


def members(text, name, besides):
    body = found(rf"^export class {name}\b(.*?)^\}}", text)
    return {*re.findall(r"^  (?:(?:static|async|get|set) )*(\w+)\(", body, ALL),
            *re.findall(rf"\b(?:this|{name.lower()})\.(\w+) (?:\?\?)?= ", body),
            *re.findall(r"(\w+):", found(besides, text) if besides else "")} - {"constructor"}


def declared_members(text, name):
    body = found(rf"^export (?:class|interface) {name}\b(.*?)^\}}", text)
    return set(re.findall(r"^  (?:(?:static|readonly|private) )*(\w+)\??[(:]", body, ALL)) - {"constructor"}


def differences(folder):
    module = {path.stem: read(path) for path in folder.glob("*.mjs")}
    declared = {name: read(folder / f"{name}.d.ts") for name in ("fovea", "measure")}
    both = "".join(declared.values())
    pairs = [(f"{name}.mjs", exported(module[name]), exported(text)) for name, text in declared.items()]
    for name, (file, besides) in CLASSES.items():
        there, internal = members(module[file], name, besides), set(INTERNAL.get(name, "").split())
        pairs += [(name, there - internal, declared_members(both, name)),
                  (f"{name}, internal", there & internal, internal)]
    for name, (file, before, declaration) in OPTIONS.items():
        pairs.append((f"options of {name}",
                      set(re.findall(r"(?:^|,)\s*(\w+)", found(before + r"\{(.*?)\} = \{\}\)", module[file]))),
                      set(re.findall(r"(\w+)\?:", found(declaration, both))) - {"options"}))
    for what, there, listed in pairs:
        yield from (f"{what}: {name} is not declared" for name in sorted(there - listed))
        yield from (f"{what}: {name} is declared, and not there" for name in sorted(listed - there))


if __name__ == "__main__":
    sys.exit("\n".join(differences(pathlib.Path(sys.argv[1]))) or 0)
