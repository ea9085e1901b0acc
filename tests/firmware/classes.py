"""A firmware image in QEMU gives texts the classes that the host gives them, within its stack.

  classes.py HOST_COMMAND BLOB TEXTS_TSV MAX_TOKENS STACK_LIMIT QEMU ARGUMENT.. IMAGE

TEXTS_TSV: lines of a class and a text. The last text's numbers are printed.
"""
import json
import subprocess
import sys

import board

TEXTS = 12


def host_classes(command, blob, option, inputs, *options):
    """The class of each input, which `option` of `fovea run` names."""
    given = [part for value in inputs for part in (option, value)]
    result = subprocess.run([command, "run", blob, *options, "--json", *given],
                            check=True, capture_output=True, text=True)
    return [answer["classes"][0]["label"] for answer in json.loads(result.stdout)]


def main():
    host, blob, tsv, max_tokens, stack_limit, *qemu, image = sys.argv[1:]
    with open(tsv, encoding="utf-8") as lines:
        texts = [line.rstrip("\n").split("\t")[1] for line in lines]
    texts = [text for text in texts if len(text.encode()) < board.LONGEST]
    texts = texts[:: len(texts) // TEXTS][:TEXTS]
    texts.insert(0, board.longest(texts[0], "library "))
    expected = host_classes(host, blob, "--text", texts, "--max-length", max_tokens)
    return board.compare(qemu, image, texts, expected, "class", stack_limit)


if __name__ == "__main__":
    sys.exit(main())
