#!/usr/bin/python3
"""Checks that the library splits the held-out documents into the sentences that the model was measured with."""

import argparse
import ctypes

import packages
import sentences
from train_hierarchical import paragraphs


def split(library, text):
    """The library's sentences."""
    data, begin, end, found = text.encode(), ctypes.c_uint64(0), ctypes.c_uint64(0), []
    while library.fovea_text_sentence(data, ctypes.c_uint64(len(data)), 0, ctypes.byref(begin), ctypes.byref(end)):
        found.append(data[begin.value:end.value].decode())
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", help="libfovea.so")
    parser.add_argument("--work", default="build/train", help="where the package lists are kept")
    args = parser.parse_args()
    library = ctypes.CDLL(args.library)
    total, different = 0, 0
    for example in packages.examples(args.work):
        text = "\n\n".join(paragraphs(example))
        here, there = sentences.split(text), split(library, text)
        total += 1
        if here != there:
            different += 1
            print(example.package, [s for s in here if s not in there], [s for s in there if s not in here], sep="\n  ")
    print(different, "of", total, "documents differ")


if __name__ == "__main__":
    main()
