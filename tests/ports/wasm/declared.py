"""fovea.d.ts, pipeline.d.ts and measure.d.ts list what the modules of ports/wasm export, what their classes have and
which options are read: no more, no less.   declared.py PORT_FOLDER
"""
import pathlib
import re
import sys

# The module of each class, and what gives it members besides its own lines.
CLASSES = {
    "FoveaError": ("errors", None), "Matrix": ("session", None), "Tensor": ("tensor", None),
    "TextStreamer": ("writing", None), "Model": ("model", None), "Tokenizer": ("text", None),
    "Session": ("session", None), "Generation": ("generate", None),
    "Encoding": ("text", r"new Encoding\(text, pair, bytes, (.*?)\}\);"),
    "AttentionMap": ("session", r"  attentionMap\(tap.*?const fields = (.*?)\};"),
}
# Members that modules use of each other's classes only; members that errors and iterators have anyway.
INTERNAL = {
    "Model": "announced attention blobBytes blocks handle label library modelBytes output outputs program space value",
    "Session": "blocks handle library model open program sizes taps value",
    "Encoding": "bytes places ranges sentenceRanges span textTokens",
    "Tokenizer": "model stream",
    "Generation": "blocks encode generator made max model next return sessions stream unlimited",
    "FoveaError": "name",
    "TextStreamer": "show showToken skip step tokenizer",
}
# The interface of each list of options in options.mjs.
OPTIONS = {
    "open": "OpenOptions", "load": "LoadOptions", "encode": "EncodeOptions", "decode": "DecodeOptions",
    "run": "RunOptions", "classify": "ClassifyOptions", "explain": "ExplainOptions", "embed": "EmbedOptions",
    "similarity": "SimilarityOptions", "wordWeights": "WordWeightsOptions", "answer": "AnswerOptions",
    "generate": "GenerateOptions", "session": "SessionOptions", "tap": "Tap", "measure": "MeasureOptions",
    "pipeline": "PipelineOptions", "feature-extraction": "FeatureExtractionOptions",
    "text-classification": "TextClassificationOptions", "zero-shot-classification": "ZeroShotClassificationOptions",
    "text-generation": "TextGenerationOptions", "automatic-speech-recognition": "SpeechRecognitionOptions",
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
            *(["toString"] if f"shownAs({name}," in text else []),
            *re.findall(r"(\w+):", found(besides, text) if besides else "")} - {"constructor"}


def declared_members(text, name):
    body = found(rf"^export (?:class|interface) {name}\b(.*?)^\}}", text)
    return set(re.findall(r"^  (?:(?:static|readonly|private) )*(\w+)\??[(:]", body, ALL)) - {"constructor"}


def listed_options(text):
    """Names by call, of options.mjs: lists of strings, and of lists with names."""
    lists = {name: re.findall(r'"(\w+)"', body) for name, body in re.findall(r"^const (\w+) = \[(.*?)\];", text, ALL)}
    table = found(r"export const OPTIONS = \{(.*?)^\};", text)
    for call, body in re.findall(r'^  "?([\w-]+)"?: (\[.*?\]|\w+),$', table, ALL):
        names = set(re.findall(r'"(\w+)"', body))
        yield call, names.union(*(lists[name] for name in re.findall(r"\b[A-Z]+\b", body)))


def declared_options(text, name):
    """Members of an interface and of what it extends."""
    extends, body = re.search(rf"^export interface {name}(?: extends (.*?))? \{{(.*?)^\}}", text, ALL).groups()
    names = set(re.findall(r"^  (\w+)\??:", body, ALL))
    for base, without in re.findall(r'(?:Omit<)?(\w+)(?:, "(\w+)">)?', extends or ""):
        names |= declared_options(text, base) - {without}
    return names


def differences(folder):
    module = {path.stem: read(path) for path in folder.glob("*.mjs")}
    declared = {name: read(folder / f"{name}.d.ts") for name in ("fovea", "pipeline", "measure")}
    both = "".join(declared.values())
    pairs = [("fovea.mjs", exported(module["fovea"]), exported(declared["fovea"] + declared["pipeline"])),
             ("measure.mjs", exported(module["measure"]), exported(declared["measure"]))]
    for name, (file, besides) in CLASSES.items():
        there, internal = members(module[file], name, besides), set(INTERNAL.get(name, "").split())
        pairs += [(name, there - internal, declared_members(both, name)),
                  (f"{name}, internal", there & internal, internal)]
    options = dict(listed_options(module["options"]))
    pairs.append(("lists of options", set(options), set(OPTIONS)))
    pairs += [(f"options of {call}", names, declared_options(both, OPTIONS[call])) for call, names in options.items()]
    for what, there, listed in pairs:
        yield from (f"{what}: {name} is not declared" for name in sorted(there - listed))
        yield from (f"{what}: {name} is declared, and not there" for name in sorted(listed - there))


if __name__ == "__main__":
    sys.exit("\n".join(differences(pathlib.Path(sys.argv[1]))) or 0)
