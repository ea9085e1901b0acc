"""Tokenizers without tokenizer.json: fovea's ids against the originals'.

  classes.py FOVEA [CASE...]              against the stored ids (classes.json)
  classes.py FOVEA --npm DIR [CASE...]    also these against the originals; DIR has node_modules/@anush008/tokenizers
  classes.py FOVEA --npm DIR --update     writes classes.json

Each case is files of a directory without tokenizer.json, made from the vocabularies of tests/data/tokenizers. The
originals' ids come from the tokenizer.json that the original library's converter makes of the files (originals.py), run
by Hugging Face's tokenizers, or from the sentencepiece package for classes that have no such form.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import zlib

import originals

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "data" / "tokenizers"
STORED = HERE / "classes.json"
XLMR, T5 = DATA / "unigram-xlmr/sentencepiece.bpe.model", DATA / "unigram-t5/spiece.model"
LLAMA, GEMMA = DATA / "spbpe-llama/tokenizer.model", DATA / "spbpe-gemma/tokenizer.model"
# A code that vocab.json lacks is read as text; the original makes it one unknown token.
KNOWN = {("marian", ">>xxx<< unknown code")}
SHORT = 16  # longer lists of ids are stored as their number and checksum
WHISPER = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>", "<|transcribe|>",
           "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
ESM = ["<cls>", "<pad>", "<eos>", "<unk>"] + list("LAGVSERTIDPKQNFYMHWCXBUZO.-") + ["<null_1>", "<mask>"]


def read_json(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def sentencepiece(name, path, file, **config):
    return {"files": {file: path.read_bytes()}, "config": {"tokenizer_class": name, **config},
            "json": lambda: originals.sentencepiece_json(name, path, config)}


def gpt2():
    lines = (DATA / "bpe-gpt2/merges.txt").read_text(encoding="utf-8").splitlines()
    return read_json(DATA / "bpe-gpt2/vocab.json"), [line for line in lines if line and not line.startswith("#version")]


def byte_level(name, more=(), vocabulary=None, merges=None, first=(), **config):
    """`first`: tokens in front of the vocabulary; `more`: tokens of added_tokens.json."""
    own, pairs = gpt2()
    vocabulary, merges = vocabulary or own, merges or pairs
    if first:
        kept = [token for token in vocabulary if token not in first]
        vocabulary = {token: number for number, token in enumerate(list(first) + kept + ["<mask>"])}
    added = {token: len(vocabulary) + i for i, token in enumerate(t for t in more if t not in vocabulary)}
    files = {"vocab.json": json.dumps(vocabulary, ensure_ascii=False).encode("utf-8"),
             "merges.txt": "\n".join(["#version: 0.2"] + merges + [""]).encode("utf-8")}
    if added:
        files["added_tokens.json"] = json.dumps(added).encode("utf-8")
    return {"files": files, "config": {"tokenizer_class": name, **config},
            "json": lambda: originals.byte_level_json(name, vocabulary, [m.split(" ") for m in merges], config, added)}


def clip():
    """CLIP's kind of vocabulary: bytes, bytes that end a word, and merges, the same ones as GPT-2's."""
    symbols = list(originals_bytes().values())
    merges, known = [], symbols + [symbol + "</w>" for symbol in symbols]
    for line in gpt2()[1]:
        left, right = line.split(" ")
        if "\u0120" in line:
            continue
        for end in ("", "</w>"):
            if left in known and right + end in known and left + right + end not in known:
                merges.append(f"{left} {right}{end}")
                known.append(left + right + end)
    return {token: number for number, token in enumerate(known + ["<|startoftext|>", "<|endoftext|>"])}, merges


def originals_bytes():
    shown = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    hidden = [byte for byte in range(256) if byte not in shown]
    return {**{byte: chr(byte) for byte in shown}, **{byte: chr(256 + i) for i, byte in enumerate(hidden)}}


def wordpiece(name, folder, **config):
    path = DATA / folder / "vocab.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    if name == "FunnelTokenizer":
        angled = {f"[{token}]": f"<{token.lower()}>" for token in ("PAD", "UNK", "CLS", "SEP", "MASK")}
        lines = [angled.get(line, line) for line in lines]
    if name == "MPNetTokenizer":
        lines = ["<s>", "<pad>", "</s>"] + lines + ["<mask>"]
    return {"files": {"vocab.txt": "\n".join(lines + [""]).encode("utf-8")},
            "config": {"tokenizer_class": name, **config},
            "json": lambda: originals.wordpiece_json(name, lines, config)}


def with_vocabulary(name, path, codes=(), **config):
    """The pieces in another order, a few of them left out, and some that only the other language has."""
    pieces = [piece for piece, _, kind in originals.Pieces(path).pieces if kind == 1]
    own = [piece for number, piece in enumerate(pieces) if number % 37 != 5]
    first = ["</s>", "<unk>"] if name == "MarianTokenizer" else ["<s>", "<pad>", "</s>", "<unk>"]
    listed = first + own[1::2] + [f"zq{i}" for i in range(90)] + own[::2]
    if name == "MarianTokenizer":
        listed += [">>fra<<", ">>deu_Latn<<", "<pad>"]
    vocabulary = {piece: number for number, piece in enumerate(listed)}
    names = ("source.spm", "target.spm") if name == "MarianTokenizer" else ("sentencepiece.bpe.model",)
    files = {"vocab.json": json.dumps(vocabulary).encode("utf-8"), **{file: path.read_bytes() for file in names}}
    settings = {**config, "codes": codes}
    return {"files": files, "config": {"tokenizer_class": name, **config},
            "ids": lambda text: originals.by_vocabulary(name, path, vocabulary, text, settings)}


def cases():
    nllb = [code for code in read_json(HERE / "nllb.json")]
    m2m = "en ha is ja cs ru zh de".split()
    vocabulary, merges = clip()
    return {
        "t5": sentencepiece("T5Tokenizer", T5, "spiece.model"),
        "t5-no-extra": sentencepiece("T5Tokenizer", T5, "spiece.model", extra_ids=0),
        "t5-not-legacy": sentencepiece("T5Tokenizer", T5, "spiece.model", legacy=False),
        "mt5": sentencepiece("MT5Tokenizer", T5, "spiece.model", extra_ids=0),
        "pegasus": sentencepiece("PegasusTokenizer", T5, "spiece.model"),
        "xlm-roberta": sentencepiece("XLMRobertaTokenizer", XLMR, "sentencepiece.bpe.model"),
        "camembert": sentencepiece("CamembertTokenizer", XLMR, "sentencepiece.bpe.model"),
        "xglm": sentencepiece("XGLMTokenizer", XLMR, "sentencepiece.bpe.model"),
        "barthez": sentencepiece("BarthezTokenizer", XLMR, "sentencepiece.bpe.model"),
        "mbart": sentencepiece("MBartTokenizer", XLMR, "sentencepiece.bpe.model"),
        "mbart-de": sentencepiece("MBartTokenizer", XLMR, "sentencepiece.bpe.model", src_lang="de_DE"),
        "mbart50": sentencepiece("MBart50Tokenizer", XLMR, "sentencepiece.bpe.model", src_lang="uk_UA"),
        "nllb": with_codes(nllb, "fra_Latn"),
        "nllb-legacy": with_codes(nllb, "zul_Latn", legacy_behaviour=True),
        "albert": sentencepiece("AlbertTokenizer", XLMR, "spiece.model"),
        "albert-cased": sentencepiece("AlbertTokenizer", XLMR, "spiece.model", do_lower_case=False, keep_accents=True),
        "rembert": sentencepiece("RemBertTokenizer", XLMR, "sentencepiece.model"),
        "deberta-v2": sentencepiece("DebertaV2Tokenizer", XLMR, "spm.model"),
        "deberta-v2-split": sentencepiece("DebertaV2Tokenizer", XLMR, "spm.model", split_by_punct=True,
                                          do_lower_case=True),
        "llama": sentencepiece("LlamaTokenizer", LLAMA, "tokenizer.model"),
        "llama-not-legacy": sentencepiece("LlamaTokenizer", LLAMA, "tokenizer.model", legacy=False),
        "llama-no-prefix": sentencepiece("LlamaTokenizer", LLAMA, "tokenizer.model", add_prefix_space=False),
        "llama-ends": sentencepiece("LlamaTokenizer", LLAMA, "tokenizer.model", add_bos_token=False,
                                    add_eos_token=True),
        "gemma": sentencepiece("GemmaTokenizer", GEMMA, "tokenizer.model", bos_token="<s>", eos_token="</s>"),
        "gpt2": byte_level("GPT2Tokenizer", ["<|endoftext|>"]),
        "gpt2-prefix": byte_level("GPT2Tokenizer", ["<|endoftext|>"], add_prefix_space=True),
        "gpt2-begin": byte_level("GPT2Tokenizer", ["<|endoftext|>"], add_bos_token=True),
        "roberta": byte_level("RobertaTokenizer", first=["<s>", "<pad>", "</s>", "<unk>"]),
        "roberta-prefix": byte_level("RobertaTokenizer", first=["<s>", "<pad>", "</s>", "<unk>"],
                                     add_prefix_space=True),
        "qwen2": byte_level("Qwen2Tokenizer", ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]),
        "whisper": byte_level("WhisperTokenizer", WHISPER),
        "clip": byte_level("CLIPTokenizer", vocabulary=vocabulary, merges=merges),
        "bert": wordpiece("BertTokenizer", "wordpiece-uncased"),
        "bert-cased": wordpiece("BertTokenizer", "wordpiece-cased", do_lower_case=False),
        "bert-accents": wordpiece("BertTokenizer", "wordpiece-cased", strip_accents=False,
                                  tokenize_chinese_chars=False),
        "funnel": wordpiece("FunnelTokenizer", "wordpiece-uncased"),
        "mpnet": wordpiece("MPNetTokenizer", "wordpiece-uncased"),
        "esm": {"files": {"vocab.txt": "\n".join(ESM + [""]).encode()}, "config": {"tokenizer_class": "EsmTokenizer"},
                "ids": lambda text: originals.esm(text, ESM)},
        "byt5": {"files": {}, "config": {"tokenizer_class": "ByT5Tokenizer"}, "ids": originals.byt5},
        "marian": with_vocabulary("MarianTokenizer", T5),
        "m2m100": with_vocabulary("M2M100Tokenizer", XLMR, m2m, language_codes="wmt21", src_lang="de"),
    }


def with_codes(codes, source, **config):
    case = sentencepiece("NllbTokenizer", XLMR, "sentencepiece.bpe.model", src_lang=source, **config)
    settings = {"codes": codes, "src_lang": source, **config}
    return {**case, "json": lambda: originals.sentencepiece_json("NllbTokenizer", XLMR, settings)}


def by_fovea(fovea, case, texts, work):
    folder = pathlib.Path(tempfile.mkdtemp(dir=work))
    for name, data in case["files"].items():
        (folder / name).write_bytes(data)
    (folder / "tokenizer_config.json").write_text(json.dumps(case["config"]))
    arguments = [fovea, "tokenize", str(folder), "--json"]
    for number, text in enumerate(texts):
        path = folder / f"text{number}"
        path.write_bytes(text.encode("utf-8"))
        arguments += ["--document", str(path)]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        return done.stderr.decode("utf-8", "replace")
    return [result["ids"] for result in json.loads(done.stdout)]


def by_originals(case, texts, packages, work):
    if "ids" in case:
        return [case["ids"](text) for text in texts]
    jobs = work / "jobs.json"
    jobs.write_text(json.dumps([{"json": case["json"](), "texts": texts}]))
    done = subprocess.run(["node", str(HERE / "tokenizers.mjs"), str(jobs), packages], stdout=subprocess.PIPE,
                          check=True)
    result = json.loads(done.stdout)[0]
    if "error" in result:
        raise RuntimeError(result["error"])
    return result["ids"]


def stored_form(ids):
    if len(ids) <= SHORT:
        return ids
    return f"{len(ids)} ids, {zlib.crc32(json.dumps(ids).encode()):08x}"


def differences(name, texts, stored, got, whose):
    if isinstance(got, str):
        print(f"{name}: {whose}: {got}")
        return len(texts)
    wrong = [number for number in range(len(texts))
             if stored[number] != stored_form(got[number]) and (whose == "npm's" or (name, texts[number]) not in KNOWN)]
    for number in wrong[:5]:
        print(f"{name}: {whose} ids of {texts[number]!r:.80}\n  stored {stored[number]}\n  got    {got[number]}")
    return len(wrong)


def main():
    fovea, *rest = sys.argv[1:]
    packages = rest[rest.index("--npm") + 1] if "--npm" in rest else None
    update = "--update" in rest
    asked = [word for word in rest if word not in ("--npm", "--update", packages)]
    stored = read_json(STORED)
    texts, wrong, compared = stored["texts"], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name, case in cases().items():
            if asked and name not in asked:
                continue
            truth = None
            if packages is not None:
                try:
                    truth = by_originals(case, texts, packages, work)
                except ImportError:
                    print(f"NOT TESTED: the original of {name}, for want of python3-sentencepiece")
            if truth is not None:
                if update:
                    stored["ids"][name] = [stored_form(ids) for ids in truth]
                wrong += differences(name, texts, stored["ids"][name], truth, "npm's")
            wrong += differences(name, texts, stored["ids"][name], by_fovea(fovea, case, texts, work), "fovea's")
            compared += len(texts)
    if update:
        lines = [f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(i, separators=(",", ":")) for i in ids) + "]"
                 for name, ids in stored["ids"].items()]
        STORED.write_text('{"texts": [\n' + ",\n".join(json.dumps(text) for text in texts) + '],\n"ids": {\n' +
                          ",\n".join(lines) + "}}\n")
    print(f"{compared} texts, {wrong} differ")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
