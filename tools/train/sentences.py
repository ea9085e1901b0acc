"""Splits a document into sentences by the rules of runtime/text/sentences.cc (beyond European text only roughly)."""

import re

TERMINATORS, CLOSERS, CONTINUERS = ".!?\u2026\u2024", "\"')]}\u00ab\u00bb\u2018-\u201f\u2039\u203a", ",:;\u2013\u2014-"
BREAK = re.compile("[\n\v\f\r\x85\u2028\u2029]")
STOP = re.compile(rf"(?:[{TERMINATORS}][{re.escape(CLOSERS[:5])}{CLOSERS[5:]}]*)+")
WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,5}$")  # letters up to the period, not more than five
BEFORE_NAMES = set("""Mr Mrs Ms Mx Dr Prof St Mt Rev Hon Gen Col Maj Capt Lt Sgt Gov Sen Rep Pres Hr Fr Sra Mme vs
cf""".split())
BEFORE_NUMBERS = set("No Nos no nos Nr Fig Figs fig figs Eq Eqs eq Sec Vol vol Ch p pp Art art ca Ca".split())


def is_small(c):
    return c.islower() and c != "\u00b5"  # the micro sign is a symbol to the runtime


def is_abbreviation(before, following):
    """Is the word before the period an initial, or one that a name or a number follows?"""
    found = WORD.search(before)
    if not found:
        return False
    word, last = found.group(), before[:found.start()][-1:]
    if last.isdigit() or last in ("'", "\u2019"):
        return False
    if len(word) == 1 and (word.isupper() or last == "."):
        return True
    return word in BEFORE_NAMES or (following.isdigit() and word in BEFORE_NUMBERS)


def ends(sentence, stop, rest):
    """Does the sentence end with these terminators and closing marks, or does `rest` continue it?"""
    following = rest.lstrip()
    if not following:
        return True
    c = following[0]
    if c in CONTINUERS or c in TERMINATORS or following == rest:
        return False
    last = next(t for t in reversed(stop) if t in TERMINATORS)
    if last in "!?":
        return not is_small(c)
    letter = next((f for f in following if f.isalpha() or f in TERMINATORS), "")
    return not is_small(letter) and not (len(stop) == 1 and is_abbreviation(sentence, c))


def split(text):
    """Sentences end with their line, and with terminators that no small letter follows."""
    found = []
    for line in BREAK.split(text):
        begin = 0
        for stop in STOP.finditer(line):
            if ends(line[begin:stop.start()].lstrip(), stop.group(), line[stop.end():]):
                found.append(line[begin:stop.end()].strip())
                begin = stop.end()
        found.append(line[begin:].strip())
    return [s for s in found if s]
