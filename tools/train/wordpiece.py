"""WordPiece: BERT's text normalization, a vocabulary trained by merging frequent pairs, and greedy encoding."""

import collections
import unicodedata

from merges import merges

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PAD, UNK, CLS, SEP = range(4)


def is_punctuation(c):
    return (c.isascii() and c.isprintable() and not c.isalnum() and c != " ") or unicodedata.category(c)[0] == "P"


def is_cjk(c):
    o = ord(c)
    return 0x4E00 <= o <= 0x9FFF or 0x3400 <= o <= 0x4DBF or 0xF900 <= o <= 0xFAFF or 0x20000 <= o <= 0x2FA1F


def split_words(text):
    """Lower-cased words without accents; every punctuation mark and CJK character is a separate word."""
    out = []
    for c in unicodedata.normalize("NFD", text).lower():
        category = unicodedata.category(c)
        if c.isspace():
            out.append(" ")
        elif category == "Mn" or category[0] == "C" or c == "\ufffd":
            continue
        elif is_punctuation(c) or is_cjk(c):
            out.append(f" {c} ")
        else:
            out.append(c)
    return "".join(out).split()


def train_vocabulary(texts, size, min_char_count=20):
    """Starts from single characters and joins the most frequent neighbours until there are `size` pieces."""
    counts = collections.Counter(w for text in texts for w in split_words(text))
    chars = collections.Counter()
    for word, n in counts.items():
        for c in word:
            chars[c] += n
    alphabet = {c for c, n in chars.items() if n >= min_char_count} | {chr(i) for i in range(33, 127)}
    alphabet = {c.lower() for c in alphabet}
    words = [(w, n) for w, n in sorted(counts.items()) if n > 1 and len(w) <= 40 and set(w) <= alphabet]
    split = [[w[0]] + ["##" + c for c in w[1:]] for w, _ in words]
    freq = [n for _, n in words]
    continued = {piece for pieces in split for piece in pieces[1:]}
    vocabulary = SPECIAL + sorted(alphabet) + sorted(continued)

    known = set(vocabulary)
    for _, joined in merges(split, freq, lambda first, second: first + second[2:]):
        if len(vocabulary) >= size:
            break
        if joined not in known:
            known.add(joined)
            vocabulary.append(joined)
    return vocabulary


class Tokenizer:
    def __init__(self, vocabulary):
        self.ids = {piece: i for i, piece in enumerate(vocabulary)}
        self.cache = {}

    def word(self, word):
        """The longest known piece, again and again; a word that cannot be finished is unknown as a whole."""
        found = self.cache.get(word)
        if found is None:
            found, start = [], 0
            while start < len(word):
                prefix = "##" if start else ""
                end = next((e for e in range(len(word), start, -1) if prefix + word[start:e] in self.ids), None)
                if end is None or len(word) > 100:
                    found = [UNK]
                    break
                found.append(self.ids[prefix + word[start:end]])
                start = end
            self.cache[word] = found
        return found

    def encode(self, text):
        """Piece ids without [CLS] and [SEP]."""
        return [i for w in split_words(text) for i in self.word(w)]
