"""What the original library makes of tokenizer files without tokenizer.json.

`tokenizer_json(name, files, config)` is the tokenizer.json that its converter (convert_slow_tokenizer.py) writes for
class `name`, for Hugging Face's tokenizers to run. Classes without such a converter are computed here: ByT5 and ESM in
full, Marian and M2M100 with the sentencepiece package.
"""
import base64
import json
import re
import struct

SPACE = "\u2581"
MBART = ("ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP "
         "nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN").split()
MBART50 = ("af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE "
           "sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI").split()
UNKNOWN, CONTROL, USER = 2, 3, 4  # types of pieces


def fields(data):
    """The fields of a protocol buffer: (number, value)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        elif kind == 2:
            size = varint()
            at += size
            yield key >> 3, data[at - size:at]
        else:
            size = 4 if kind == 5 else 8
            at += size
            yield key >> 3, data[at - size:at]


class Pieces:
    """A SentencePiece model file."""

    def __init__(self, path):
        self.pieces, self.bpe, self.charsmap, self.unknown = [], False, b"", 0
        with open(path, "rb") as file:
            data = file.read()
        for number, value in fields(data):
            if number == 1:
                piece = {1: b"", 2: b"\0\0\0\0", 3: 1, **dict(fields(value))}
                self.pieces.append((piece[1].decode("utf-8"), struct.unpack("<f", piece[2])[0], piece[3]))
            elif number == 2:
                trainer = dict(fields(value))
                self.bpe, self.unknown = trainer.get(3, 1) == 2, trainer.get(40, 0)
            elif number == 3:
                self.charsmap = dict(fields(value)).get(2, b"")

    def scored(self, first=0):
        return [(piece, score) for piece, score, _ in self.pieces[first:]]


def template(single, pair, ids):
    def items(text):
        for word in text.split():
            name, _, kind = word.partition(":")
            part = "Sequence" if name.startswith("$") else "SpecialToken"
            yield {part: {"id": name[1:] if part == "Sequence" else name, "type_id": int(kind or 0)}}

    names = {w.partition(":")[0] for w in (single + " " + pair).split() if not w.startswith("$")}
    return {"type": "TemplateProcessing", "single": list(items(single)), "pair": list(items(pair)),
            "special_tokens": {n: {"id": n, "ids": [ids[n]], "tokens": [n]} for n in names}}


def sequence(kind, parts):
    return {"type": "Sequence", kind: parts}


def replace(what, content):
    return {"type": "Replace", "pattern": what, "content": content}


def merges_of(vocabulary, scores):
    """All pairs whose concatenation is a piece, the best score first (generate_merges)."""
    merges = []
    for piece, score in scores:
        local = [(piece[:i], piece[i:]) for i in range(1, len(piece))
                 if piece[:i] in vocabulary and piece[i:] in vocabulary]
        local.sort(key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
        merges += [(score, pair) for pair in local]
    merges.sort(key=lambda merge: merge[0], reverse=True)
    return [list(pair) for _, pair in merges]


def sentencepiece_json(name, path, config):
    read = Pieces(path)
    unknown, fallback = read.unknown, name in ("LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer")
    prefix, legacy = config.get("add_prefix_space", True), config.get("legacy", True)
    scheme = ("always" if legacy else "first") if prefix else "never"
    metaspace = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": True}
    charsmap = [{"type": "Precompiled", "precompiled_charsmap": base64.b64encode(read.charsmap).decode()}]
    charsmap = charsmap if read.charsmap else []
    runs = {"Regex": " {2,}"}
    normalizer = sequence("normalizers", charsmap + [{"type": "Strip", "strip_left": False, "strip_right": True},
                                                     replace(runs, SPACE)])
    words, decoder = metaspace, metaspace
    bert = ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    angled = ("<s> $A </s>", "<s> $A </s> </s> $B </s>")
    fairseq = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    special, ends = ["<s>", "</s>", "<unk>", "<pad>"], None
    lower = config.get("do_lower_case", name == "AlbertTokenizer")
    comma = [(p, s - 100 if len(p) > 1 and p[-1] == "," and p[-2].isdigit() else s) for p, s in read.scored()]

    def cleaned(first, accents, last):
        parts = [replace({"String": "``"}, '"'), replace({"String": "''"}, '"')] + first
        if not config.get("keep_accents", accents):
            parts += [{"type": "NFKD"}, {"type": "StripAccents"}]
        return sequence("normalizers", parts + ([{"type": "Lowercase"}] if lower else []) + charsmap + last)

    if name in ("T5Tokenizer", "MT5Tokenizer"):
        extra = [f"<extra_id_{i}>" for i in range(config.get("extra_ids", 100) - 1, -1, -1)]
        vocabulary = read.scored() + [(token, 0.0) for token in extra]
        special, ends = ["</s>", "<unk>", "<pad>"] + extra, ("$A </s>", "$A </s> $B </s>")
    elif name == "PegasusTokenizer":
        offset = config.get("offset", 103)
        vocabulary = [("<pad>", 0.0), ("</s>", 0.0), ("<mask_1>", 0.0), ("<mask_2>", 0.0)]
        vocabulary += [(f"<unk_{i}>", -100.0) for i in range(2, offset)] + read.scored(2)
        unknown, ends = unknown + offset, ("$A </s>", "$A $B </s>")
        words = sequence("pretokenizers", [{"type": "WhitespaceSplit"}, metaspace])
        special = ["</s>", "<unk>", "<pad>", "<mask_1>", "<mask_2>"] + [f"<unk_{i}>" for i in range(2, offset)]
    elif name in ("XLMRobertaTokenizer", "MBartTokenizer", "MBart50Tokenizer", "NllbTokenizer", "XGLMTokenizer"):
        codes = {"MBartTokenizer": MBART, "MBart50Tokenizer": MBART + MBART50,
                 "NllbTokenizer": config.get("codes", [])}.get(name, [])
        filled = [f"<madeupword{i}>" for i in range(7)] if name == "XGLMTokenizer" else []
        vocabulary = fairseq + read.scored(3) + [(token, 0.0) for token in codes + filled]
        unknown, ends = 3, angled
        special += codes + filled
        if name != "XGLMTokenizer":
            vocabulary.append(("<mask>", 0.0))
            special.append("<mask>")
        source = config.get("src_lang", "eng_Latn" if name == "NllbTokenizer" else "en_XX")
        if name == "MBartTokenizer" or name == "NllbTokenizer" and config.get("legacy_behaviour"):
            ends = (f"$A </s> {source}", f"$A $B </s> {source}")
        elif codes:
            ends = (f"{source} $A </s>", f"{source} $A $B </s>")
        if name == "XGLMTokenizer":
            ends = ("</s> $A", "</s> $A </s> </s> $B")
    elif name == "CamembertTokenizer":
        vocabulary = [("<s>NOTUSED", 0.0), ("<pad>", 0.0), ("</s>NOTUSED", 0.0), ("<unk>", 0.0),
                      ("<unk>NOTUSED", -100.0)] + read.scored(1) + [("<mask>", 0.0)]
        special, unknown, ends = special + ["<mask>"], 3, angled
    elif name in ("BarthezTokenizer", "BigBirdTokenizer"):
        vocabulary, ends = read.scored(), bert if name == "BigBirdTokenizer" else angled
        special += ["[CLS]", "[SEP]", "[MASK]"] if name == "BigBirdTokenizer" else ["<mask>"]
    elif name in ("AlbertTokenizer", "XLNetTokenizer"):
        vocabulary, normalizer = comma, cleaned([], False, [replace(runs, " ")])
        special, ends = ["[CLS]", "[SEP]", "<unk>", "<pad>", "[MASK]"], bert
        if name == "XLNetTokenizer":
            special, ends = ["<s>", "</s>", "<unk>", "<sep>", "<pad>", "<cls>", "<mask>"], (
                "$A <sep> <cls>:2", "$A <sep> $B:1 <sep>:1 <cls>:2")
    elif name == "RemBertTokenizer":
        vocabulary, normalizer = read.scored(), cleaned([replace(runs, " ")], True, [])
        special, ends = ["[CLS]", "[SEP]", "<unk>", "<pad>", "[MASK]"], bert
    elif name == "DebertaV2Tokenizer":
        vocabulary, ends = read.scored(), bert
        special = ["[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]"]
        normalizer = sequence("normalizers", ([{"type": "Lowercase"}] if lower else []) + [
            {"type": "Strip", "strip_left": True, "strip_right": True}] + charsmap + [replace(runs, " ")])
        split = [{"type": "Punctuation", "behavior": "Isolated"}] if config.get("split_by_punct") else []
        words = sequence("pretokenizers", split + [metaspace])
    elif name in ("LlamaTokenizer", "CodeLlamaTokenizer"):
        vocabulary = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0)] + read.scored(3)
        special, unknown = ["<s>", "</s>", "<unk>"], 0
        before = "<s> " if config.get("add_bos_token", True) else ""
        after = " </s>" if config.get("add_eos_token", False) else ""
        second = before.replace("> ", ">:1 ") + "$B:1" + after.replace(">", ">:1")
        ends = (f"{before}$A{after}", f"{before}$A{after} {second}")
        normalizer = sequence("normalizers", ([{"type": "Prepend", "prepend": SPACE}] if prefix else []) + [
            replace({"String": " "}, SPACE)]) if legacy else None
        words = None if legacy else {**metaspace, "split": False}
    elif name == "GemmaTokenizer":
        begin, end = config.get("bos_token", "<bos>"), config.get("eos_token", "<eos>")
        vocabulary = [("<pad>", 0.0), (end, 0.0), (begin, 0.0)] + read.scored(3)
        if "\t" not in dict(vocabulary):
            vocabulary = [("\t", 0.0) if piece == "<0x09>" else (piece, score) for piece, score in vocabulary]
        special, unknown = [begin, end, "<unk>", "<pad>"], 3
        ends = (f"{begin} $A", f"{begin} $A {begin}:1 $B:1")
        normalizer = replace({"String": " "}, SPACE)
        words = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    else:
        raise ValueError(name)
    ids = {}
    for number, (piece, _) in enumerate(vocabulary):
        ids.setdefault(piece, number) if not read.bpe else ids.__setitem__(piece, number)
    if read.bpe:
        model = {"type": "BPE", "vocab": ids, "merges": merges_of(ids, list(dict(vocabulary).items())),
                 "unk_token": read.pieces[read.unknown][0], "fuse_unk": True, "byte_fallback": fallback}
    else:
        model = {"type": "Unigram", "vocab": vocabulary, "unk_id": unknown, "byte_fallback": fallback}
    added = {piece: kind == CONTROL for piece, _, kind in read.pieces if kind in (CONTROL, USER)}
    added = {piece: flag for piece, flag in added.items() if piece in ids}
    added.update({token: True for token in special})
    known = len(vocabulary)
    tokens = []
    for token, flag in added.items():
        if token not in ids:
            ids[token] = known
            known += 1
        left = token in ("<mask>", "[MASK]") and name != "DebertaV2Tokenizer"
        tokens.append(added_token(ids[token], token, flag, lstrip=left))
    return whole(model, tokens, normalizer, words, template(*ends, ids), decoder)


def added_token(number, content, special, lstrip=False, rstrip=False, normalized=False):
    return {"id": number, "content": content, "single_word": False, "lstrip": lstrip, "rstrip": rstrip,
            "normalized": normalized, "special": special}


def whole(model, tokens, normalizer, words, ends, decoder):
    tokens.sort(key=lambda token: token["id"])
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, "normalizer": normalizer,
            "pre_tokenizer": words, "post_processor": ends, "decoder": decoder, "model": model}


QWEN2 = ("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
         "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+")
CLIP = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"


def byte_level_json(name, vocabulary, merges, config, more=()):
    """`more`: tokens of added_tokens.json, by id."""
    prefix = config.get("add_prefix_space", name in ("DebertaTokenizer", "BlenderbotTokenizer") and name[0] == "B")
    ids = {**vocabulary, **dict(more)}
    level = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "vocab": vocabulary, "merges": merges, "fuse_unk": False, "byte_fallback": False,
             "continuing_subword_prefix": "", "end_of_word_suffix": ""}
    normalizer, words, end = None, level, "<|endoftext|>"
    special = ["<|endoftext|>"]
    ends = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    if name == "GPT2Tokenizer" and config.get("add_bos_token"):
        ends = template(f"{end} $A", f"{end} $A $B:1", ids)
    elif name in ("RobertaTokenizer", "BartTokenizer"):
        special = ["<s>", "</s>", "<unk>", "<pad>", "<mask>"]
        ends = {"type": "RobertaProcessing", "sep": ["</s>", ids["</s>"]], "cls": ["<s>", ids["<s>"]],
                "trim_offsets": True, "add_prefix_space": prefix}
    elif name == "Qwen2Tokenizer":
        normalizer = {"type": "NFC"}
        words = sequence("pretokenizers", [
            {"type": "Split", "pattern": {"Regex": QWEN2}, "behavior": "Isolated", "invert": False},
            {**level, "use_regex": False}])
    elif name == "WhisperTokenizer":
        ends = template(f"<|startoftranscript|> <|notimestamps|> $A {end}",
                        f"<|startoftranscript|> <|notimestamps|> $A $B:1 {end}:1", ids)
    elif name == "CLIPTokenizer":
        special = ["<|startoftext|>", end]
        model.update(end_of_word_suffix="</w>", unk_token=end)
        normalizer = sequence("normalizers", [{"type": "NFC"}, replace({"Regex": "\\s+"}, " "), {"type": "Lowercase"}])
        words = sequence("pretokenizers", [
            {"type": "Split", "pattern": {"Regex": CLIP}, "behavior": "Removed", "invert": True},
            {**level, "add_prefix_space": False}])
        ends = {"type": "RobertaProcessing", "sep": [end, ids[end]], "cls": ["<|startoftext|>", ids["<|startoftext|>"]],
                "trim_offsets": False, "add_prefix_space": False}
    tokens = [added_token(ids[token], token, True, lstrip=token == "<mask>") for token in special if token in ids]
    tokens += [added_token(number, token, True) for token, number in dict(more).items() if token not in special]
    return whole(model, tokens, normalizer, words, ends, {**level, "add_prefix_space": True})


def wordpiece_json(name, lines, config):
    ids = {line: number for number, line in enumerate(lines)}
    lower = config.get("do_lower_case", True)
    two, funnel = name == "MPNetTokenizer", name == "FunnelTokenizer"
    first, last = ("<s>", "</s>") if two else ("<cls>", "<sep>") if funnel else ("[CLS]", "[SEP]")
    normalizer = {"type": "BertNormalizer", "clean_text": True, "lowercase": lower,
                  "handle_chinese_chars": config.get("tokenize_chinese_chars", True),
                  "strip_accents": config.get("strip_accents")}
    model = {"type": "WordPiece", "vocab": ids, "unk_token": "<unk>" if funnel else "[UNK]",
             "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    if two or funnel:
        special = ("<s>", "<pad>", "</s>", "[UNK]", "<mask>") if two else ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>")
    tokens = [added_token(ids[token], token, True, lstrip=two and token == "<mask>") for token in special
              if token in ids]
    begin = f"{first}:2" if funnel else first
    pair = f"{begin} $A {last} {last + ' ' if two else ''}$B:1 {last}:1"
    return whole(model, tokens, normalizer, {"type": "BertPreTokenizer"}, template(f"{begin} $A {last}", pair, ids),
                 {"type": "WordPiece", "prefix": "##", "cleanup": True})


def byt5(text):
    """ids of ByT5Tokenizer: bytes behind three special tokens; those, which absorb the spaces around them, and the
    sentinel tokens are found in the text."""
    special = {"<pad>": 0, "</s>": 1, "<unk>": 2}
    named = {**special, **{f"<extra_id_{i}>": 259 + i for i in range(125)}}
    ids = []
    parts = re.split("(" + "|".join(map(re.escape, sorted(named, key=len, reverse=True))) + ")", text)
    for number in range(1, len(parts), 2):
        if parts[number] in special:
            parts[number - 1], parts[number + 1] = parts[number - 1].rstrip(), parts[number + 1].lstrip()
    for part in parts:
        ids += [named[part]] if part in named else [byte + 3 for byte in part.encode("utf-8")]
    return ids + [1]


def esm(text, lines):
    """ids of EsmTokenizer: tokens are found wherever they are, the longest first; what is left between is unknown."""
    ids = {line: number for number, line in enumerate(lines)}
    found = re.split("(" + "|".join(map(re.escape, sorted(ids, key=len, reverse=True))) + ")", text)
    inner = []
    for part in found:
        inner += [ids[part]] if part in ids else [ids["<unk>"]] * len(part.split())
    return [ids["<cls>"]] + inner + [ids["<eos>"]]


def by_vocabulary(name, path, vocabulary, text, config):
    """ids of MarianTokenizer and M2M100Tokenizer."""
    import sentencepiece
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    codes = {f"__{code}__": len(vocabulary) + i for i, code in enumerate(config.get("codes", []))}
    special = {token: vocabulary[token] for token in ("<s>", "</s>", "<unk>", "<pad>") if token in vocabulary}
    if name == "MarianTokenizer":
        special.pop("<s>", None)
    named = {**special, **codes}
    ids = []
    for part in re.split("(" + "|".join(map(re.escape, sorted(named, key=len, reverse=True))) + ")", text):
        if part in named:
            ids.append(named[part])
            continue
        code = re.match(">>.*?<<", part, re.DOTALL) if name == "MarianTokenizer" else None
        if code:
            ids.append(vocabulary.get(code[0], vocabulary["<unk>"]))
            part = part[code.end():]
        ids += [vocabulary.get(piece, vocabulary["<unk>"]) for piece in model.encode(part, out_type=str)]
    if name == "M2M100Tokenizer":
        return [named["__" + config.get("src_lang", "en") + "__"]] + ids + [vocabulary["</s>"]]
    return ids + [vocabulary["</s>"]]
