"""A firmware image in QEMU gives texts or sounds the classes and scores that the host gives them, within its stack.

  classes.py HOST_COMMAND BLOB texts TSV MAX_TOKENS STACK_LIMIT QEMU ARGUMENT.. IMAGE
  classes.py HOST_COMMAND BLOB words TSV MAX_TOKENS STACK_LIMIT QEMU ARGUMENT.. IMAGE
  classes.py HOST_COMMAND BLOB clips FOLDER - STACK_LIMIT QEMU ARGUMENT.. IMAGE

TSV: lines of a class, a text and more of it; `words`: of both, and the words that decided, too. FOLDER has files
WORD_NUMBER.wav, whose classes are their words. The last input's numbers are printed.
"""
import json
import pathlib
import subprocess
import sys

import board

TEXTS = 12
CLIPS = 8
NOT_WORDS = ("silence", "unknown")
# How far a score of each kind, and a share of a word, may be from the host's: tests/README.md.
SCORES = {"texts": 0.02, "words": 0.02, "clips": 0.1}
SHARES = 1e-3


def of_host(command, blob, option, inputs, max_tokens):
    given = [part for value in inputs for part in (option, value)]
    length = [] if max_tokens == "-" else ["--max-length", max_tokens]
    printed = subprocess.run([command, "run", blob, "--backend", "highway", "--top", "1000", "--json", *length, *given],
                             check=True, capture_output=True, text=True).stdout
    return json.loads(printed)


def labels_of(command, blob):
    printed = subprocess.run([command, "inspect", blob, "--json"], check=True, capture_output=True, text=True).stdout
    metadata = json.loads(printed)["metadata"]
    return [metadata[f"label.{i}"] for i in range(sum(key.startswith("label.") for key in metadata))]


def words_that_decided(answer, count):
    words = [(word["share"], word["text"]) for sentence in answer["sentences"] for word in sentence["words"]]
    return sorted(words, key=lambda word: -word[0])[:count]


class Comparison:
    def __init__(self, answers, labels, kind):
        self.answers, self.labels, self.kind = answers, labels, kind
        self.scores = self.shares = 0.0  # the largest differences

    def complaint(self, i, printed):
        answer = self.answers[i]
        best = answer["classes"][0]["label"]
        if printed.get("class") != best:
            return f"host prints {best!r}, firmware {printed.get('class')!r}"
        logits = {one["label"]: one["logit"] for one in answer["classes"]}
        far = [abs(score - logits[label]) for score, label in zip(board.scores(printed), self.labels, strict=True)]
        self.scores = max(self.scores, *far)
        if not all(distance <= SCORES[self.kind] for distance in far):  # max() may pass over NaN
            return f"scores are up to {max(far)} from the host's"
        if self.kind == "words":
            parts = printed["words"].split()
            expected = words_that_decided(answer, len(parts) // 2)
            if parts[1::2] != [word for _, word in expected]:
                return f"host prints {expected}, firmware {printed['words']}"
            far = [abs(float(part) - share) for part, (share, _) in zip(parts[::2], expected)]
            self.shares = max(self.shares, *far)
            if not all(distance <= SHARES for distance in far):
                return f"shares of words are up to {max(far)} from the host's: {expected}, firmware {printed['words']}"
        return None


def texts_of(tsv, columns):
    with open(tsv, encoding="utf-8") as lines:
        texts = [". ".join(line.rstrip("\n").split("\t")[1:1 + columns]) for line in lines]
    texts = [text for text in texts if len(text.encode()) < board.LONGEST]
    texts = texts[:: len(texts) // TEXTS][:TEXTS]
    return [board.longest(texts[0], "library "), *texts]


def clips_of(folder):
    # Noise is also a class, but not a word.
    clips = sorted(path for path in pathlib.Path(folder).glob("*_0.wav") if path.name.split("_")[0] not in NOT_WORDS)
    return [str(path) for path in clips][:CLIPS]


def main():
    host, blob, kind, source, max_tokens, stack_limit, *qemu, image = sys.argv[1:]
    inputs = clips_of(source) if kind == "clips" else texts_of(source, 2 if kind == "words" else 1)
    answers = of_host(host, blob, "--wav" if kind == "clips" else "--text", inputs, max_tokens)
    if kind == "clips":
        recognized = [answer["classes"][0]["label"] for answer in answers]
        spoken = [pathlib.Path(clip).name.split("_")[0] for clip in inputs]
        if len(inputs) != CLIPS or recognized != spoken:
            sys.exit(f"the host recognizes {recognized} in {spoken}")
    comparison = Comparison(answers, labels_of(host, blob), kind)
    status = board.compare(qemu, image, inputs, comparison.complaint, stack_limit)
    print(f"scores differ by {comparison.scores:.3g}, shares by {comparison.shares:.3g}")
    return status


if __name__ == "__main__":
    sys.exit(main())
