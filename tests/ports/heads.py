"""Models with other heads on the encoder of tools/train/package-section, for tests of ports: made of random numbers.

  heads.py FOLDER
Writes FOLDER/question, which finds answers in a context, and FOLDER/weights, which weighs the vocabulary (SPLADE) and
has a default prompt.
"""
import json
import pathlib
import random
import shutil
import struct
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "tools" / "train" / "package-section"
PACKAGE = "sentence_transformers.sparse_encoder.models."


def write(folder, architecture, head):
    """Copies the model with a new head: tensors by name as (shape, scale of the numbers, what is added)."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(SOURCE / name, folder / name)
    config = json.loads((SOURCE / "config.json").read_text())
    for key in ("id2label", "label2id", "problem_type", "classifier_dropout"):
        config.pop(key, None)
    (folder / "config.json").write_text(json.dumps({**config, "architectures": [architecture]}))
    raw = (SOURCE / "model.safetensors").read_bytes()
    size, = struct.unpack("<Q", raw[:8])
    known, data = json.loads(raw[8:8 + size]), bytearray(raw[8 + size:])
    header = {name: entry for name, entry in known.items() if not name.startswith(("classifier.", "bert.pooler."))}
    numbers = random.Random(11)
    for name, (shape, scale, added) in head.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = [added + scale * numbers.gauss(0, 1) for _ in range(count)]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
        data += struct.pack(f"<{count}f", *values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def main(folder):
    folder = pathlib.Path(folder)
    write(folder / "question", "BertForQuestionAnswering",
          {"qa_outputs.weight": ([2, 96], 0.4, 0), "qa_outputs.bias": ([2], 0.4, 0)})
    words = folder / "weights"
    write(words, "BertForMaskedLM", {
        "cls.predictions.transform.dense.weight": ([96, 96], 0.2, 0),
        "cls.predictions.transform.dense.bias": ([96], 0.1, 0),
        "cls.predictions.transform.LayerNorm.weight": ([96], 0.1, 1),
        "cls.predictions.transform.LayerNorm.bias": ([96], 0.1, 0),
        "cls.predictions.bias": ([5600], 0.3, -0.3),
    })
    (words / "1").mkdir(exist_ok=True)
    (words / "1" / "config.json").write_text(json.dumps({"pooling_strategy": "max"}))
    (words / "modules.json").write_text(json.dumps([{"path": "", "type": PACKAGE + "MLMTransformer"},
                                                    {"path": "1", "type": PACKAGE + "SpladePooling"}]))
    (words / "config_sentence_transformers.json").write_text(json.dumps({
        "prompts": {"query": "find: ", "document": "text: "}, "default_prompt_name": "query"}))


if __name__ == "__main__":
    main(sys.argv[1])
