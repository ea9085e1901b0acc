"""Every tokenizer.json of the repository and of ../shared: fovea's ids and offsets, against Hugging Face's tokenizers.

  files.py FOVEA DIR SOURCE_DIR [FILE...]

DIR has node_modules/@anush008/tokenizers. The texts are those of classes.json. Files that say the same are taken once.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
SHOWN = 3  # differences of each file that are printed


def characters(text, ranges):
    """Byte ranges as ranges of characters, as the library counts."""
    data = text.encode("utf-8")
    return [[len(data[:at].decode("utf-8", "ignore")) for at in both] for both in ranges]


def main():
    fovea, packages, source, *files = sys.argv[1:]
    if not files:
        shared = pathlib.Path(os.environ.get("FOVEA_SHARED_DIR") or pathlib.Path(source).parent / "shared")
        folders = [pathlib.Path(source) / "tests" / "data", shared / "tokenizers"]
        files = [path for folder in folders for path in sorted(folder.rglob("tokenizer.json"))]
    contents = {}
    for path in files:
        data = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        data["truncation"] = data["padding"] = None
        contents.setdefault(json.dumps(data), path)
    texts = json.loads((HERE / "classes.json").read_text(encoding="utf-8"))["texts"]
    compared = wrong = 0
    with tempfile.TemporaryDirectory() as made:
        work = pathlib.Path(made)
        arguments = []
        for number, text in enumerate(texts):
            (work / f"text{number}").write_bytes(text.encode("utf-8"))
            arguments += ["--document", str(work / f"text{number}")]
        for content, path in contents.items():
            (work / "tokenizer.json").write_text(content)
            (work / "jobs.json").write_text(json.dumps([{"file": str(work / "tokenizer.json"), "texts": texts}]))
            right = json.loads(subprocess.run(["node", str(HERE / "tokenizers.mjs"), str(work / "jobs.json"), packages],
                                              stdout=subprocess.PIPE, check=True).stdout)[0]
            done = subprocess.run([fovea, "tokenize", str(work), "--json"] + arguments, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            if "error" in right or done.returncode != 0:
                print(f"{path}: {right.get('error', '')} | fovea: {done.stderr.decode('utf-8', 'replace').strip()}")
                wrong += ("error" in right) != (done.returncode != 0)
                continue
            shown = 0
            for text, ids, offsets, got in zip(texts, right["ids"], right["offsets"], json.loads(done.stdout)):
                compared += 1
                ranges = characters(text, got["ranges"])
                if got["ids"] == ids and ranges == offsets:
                    continue
                wrong, shown = wrong + 1, shown + 1
                what, a, b = ("ids", ids, got["ids"]) if got["ids"] != ids else ("offsets", offsets, ranges)
                if shown <= SHOWN:
                    print(f"{path}: {what} of {text!r:.80}\n  library {a}\n  fovea   {b}")
    print(f"{len(contents)} tokenizers, {compared} texts, {wrong} differ")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
