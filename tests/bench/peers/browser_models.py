"""A model twice, for browser.mjs: a directory for `fovea convert`, and one for transformers.js with the same weights as
ONNX. Weights are random, of the shape of MiniLM-L6; words are those of tools/train/package-section.

  browser_models.py FOLDER
"""
import json
import pathlib
import shutil
import sys

import numpy as np

import models
import onnx_file
from onnx_encoder import Encoder

SECTION = pathlib.Path(__file__).resolve().parents[3] / "tools" / "train" / "package-section"
LAYERS, WIDTH, HEADS, INNER, POSITIONS, SEED = 6, 384, 12, 1536, 512, 11


def write_onnx(path, config, weights, kind):
    encoder = Encoder(config, weights, kind, "attention")
    # Tokenizers give int64.
    encoder.ids = encoder.graph.add("Cast", "input_ids", to=onnx_file.TYPES[np.dtype(np.int32)])
    encoder.graph.write(path, [("input_ids", np.int64, (1, "rows"))], encoder.encoded(),
                        ("last_hidden_state", np.float32, (1, "rows", config["hidden_size"])))


def tokenizer_json(words):
    """The same tokenizer as vocab.txt with BertTokenizer's rules, as transformers.js reads it."""
    special = {word: i for i, word in enumerate(words) if word.startswith("[") and word.endswith("]") and len(word) > 2}

    def part(name):
        return {"SpecialToken": {"id": name, "type_id": 0}}

    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [{"id": i, "content": word, "special": True, "single_word": False, "lstrip": False,
                              "rstrip": False, "normalized": False} for word, i in special.items()],
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                           "strip_accents": None, "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "TemplateProcessing",
                               "single": [part("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, part("[SEP]")],
                               "pair": [], "special_tokens": {
                                   word: {"id": word, "ids": [special[word]], "tokens": [word]}
                                   for word in ("[CLS]", "[SEP]")}},
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 100, "vocab": {word: i for i, word in enumerate(words)}}}


def main():
    folder = pathlib.Path(sys.argv[1])
    words = (SECTION / "vocab.txt").read_text(encoding="utf-8").splitlines()
    config, weights = models.bert(LAYERS, WIDTH, HEADS, INNER, SEED, vocabulary=len(words), positions=POSITIONS)
    ours = models.publish(folder / "fovea", config, weights)
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(SECTION / name, ours / name)
    settings = json.loads((SECTION / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["model_max_length"] = POSITIONS
    (ours / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    theirs = folder / "models" / "encoder"
    (theirs / "onnx").mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "tokenizer_config.json"):
        shutil.copy(ours / name, theirs / name)
    (theirs / "tokenizer.json").write_text(json.dumps(tokenizer_json(words)), encoding="utf-8")
    write_onnx(theirs / "onnx" / "model.onnx", config, weights, "f32")
    write_onnx(theirs / "onnx" / "model_quantized.onnx", config, weights, "int8")


if __name__ == "__main__":
    main()
