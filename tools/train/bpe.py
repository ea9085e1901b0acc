"""Byte-level BPE as GPT-2 has it: words by its pattern, their bytes as characters, merges trained by frequency."""

import collections
import itertools
import re
import sys
import unicodedata

from merges import merges, replaced

END_OF_TEXT, END = "<|endoftext|>", 0


def characters_of(category):
    """All characters whose Unicode category begins so, as the inside of a class in a regular expression."""
    codes = (c for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c))[0] == category)
    runs = itertools.groupby(enumerate(codes), lambda item: item[1] - item[0])
    spans = ([code for _, code in run] for _, run in runs)
    return "".join(f"\\U{span[0]:08x}-\\U{span[-1]:08x}" for span in spans)


def word_pattern():
    letter, number = characters_of("L"), characters_of("N")
    return re.compile(rf"'s|'t|'re|'ve|'m|'ll|'d| ?[{letter}]+| ?[{number}]+| ?[^\s{letter}{number}]+|\s+(?!\S)|\s+")


def byte_characters():
    """The character that represents each byte: itself if it is printable, else one from 256 on."""
    plain = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = itertools.count(256)
    return [chr(b) if b in plain else chr(next(others)) for b in range(256)]


WORD = word_pattern()
CHARACTERS = byte_characters()
BYTES = {c: b for b, c in enumerate(CHARACTERS)}


def split_words(text):
    """Words of the text, each with a character per byte. A space belongs to the word after it."""
    return ["".join(CHARACTERS[b] for b in word.encode()) for word in WORD.findall(text)]


def train_merges(texts, size):
    """The vocabulary, of at most `size` pieces, and its merges in order. All bytes are in it, so it covers any text."""
    counts = collections.Counter(w for text in texts for w in split_words(text))
    words = sorted((w, n) for w, n in counts.items() if n > 1)
    vocabulary, found = [END_OF_TEXT, *CHARACTERS], []
    known = set(vocabulary)
    for pair, joined in merges([list(w) for w, _ in words], [n for _, n in words], str.__add__):
        if len(vocabulary) >= size:
            break
        found.append(pair)
        if joined not in known:
            known.add(joined)
            vocabulary.append(joined)
    return vocabulary, found


class Tokenizer:
    def __init__(self, vocabulary, pairs):
        self.vocabulary, self.pairs = vocabulary, pairs
        self.ids = {piece: i for i, piece in enumerate(vocabulary)}
        self.ranks = {pair: i for i, pair in reversed(list(enumerate(pairs)))}
        self.cache = {}

    def word(self, word):
        """Joins the pair that was learned first, again and again."""
        found = self.cache.get(word)
        if found is None:
            pieces = list(word)
            while len(pieces) > 1:
                pair = min(zip(pieces, pieces[1:]), key=lambda p: self.ranks.get(p, len(self.ranks)))
                if pair not in self.ranks:
                    break
                pieces = replaced(pieces, pair, "".join(pair))
            found = self.cache[word] = [self.ids[p] for p in pieces]
        return found

    def encode(self, text):
        return [i for w in split_words(text) for i in self.word(w)]

    def decode(self, ids):
        raw = bytes(BYTES[c] for i in ids if i != END for c in self.vocabulary[i])
        return raw.decode("utf-8", errors="replace")

    def json(self):
        """The content of tokenizer.json."""
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        return {"version": "1.0", "truncation": None, "padding": None, "normalizer": None,
                "added_tokens": [{"id": END, "content": END_OF_TEXT, "single_word": False, "lstrip": False,
                                  "rstrip": False, "normalized": False, "special": True}],
                "pre_tokenizer": byte_level, "post_processor": byte_level, "decoder": byte_level,
                "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                          "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                          "ignore_merges": False, "vocab": self.ids,
                          "merges": [" ".join(pair) for pair in self.pairs]}}
