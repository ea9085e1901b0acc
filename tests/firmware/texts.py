"""A firmware image in QEMU writes the texts that the host writes, within its stack.

  texts.py HOST_COMMAND translate|generate BLOB TEXTS_TSV COLUMN COUNT FILLER MAX_NEW STACK_LIMIT QEMU ARGUMENT.. IMAGE

TEXTS_TSV: lines whose COLUMN is read, COUNT of them, and the first once more as the longest text, with FILLER before
it. `generate` goes on after the text and the end of a line.
"""
import json
import subprocess
import sys

import board


def host_text(command, verb, blob, text, max_new):
    given = ["--text", text] if verb == "translate" else ["--prompt", text + "\n", "--no-display-prompt"]
    result = subprocess.run([command, verb, blob, "--backend", "highway", "--max-tokens", max_new, "--json", *given],
                            check=True, capture_output=True, text=True)
    return json.loads(result.stdout)[0]["text"]


def main():
    host, verb, blob, tsv, column, count, filler, max_new, stack_limit, *qemu, image = sys.argv[1:]
    with open(tsv, encoding="utf-8") as lines:
        texts = [line.rstrip("\n").split("\t")[int(column)] for line in lines]
    texts = texts[:: len(texts) // int(count)][: int(count)]
    texts.insert(0, board.longest(texts[0], filler))
    expected = [host_text(host, verb, blob, text, max_new) for text in texts]
    return board.compare(qemu, image, texts, board.unlike(expected, "text"), stack_limit)


if __name__ == "__main__":
    sys.exit(main())
