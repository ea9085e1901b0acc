"""Explanations of the Java package are those of the command.   explained.py COMMAND BLOB PROGRAM...
Positions are chars (UTF-16) in Java and bytes in the command. Tolerance: 1e-6, the order of sums may differ."""
import json
import math
import subprocess
import sys

TEXTS = ["A library to read png files. It is fast, na\u00efve and small.", "x", "",
         "\U0001f600 emoji! \u4e2d\u6587\u6587\u672c\u3002 The 2nd editor's e.g. 3.14 text? Yes."]


def chars(text, place):
    return len(text.encode()[:place].decode().encode("utf-16-le")) // 2


def lines_of(text, entry):
    lines = [("class", one["label"], 0, 0, one["probability"], one["logit"]) for one in entry["classes"]]
    for sentence in entry.get("sentences", []):
        place = [chars(text, sentence[end]) for end in ("begin", "end")]
        lines.append(("sentence", sentence["text"], *place, 0.0, sentence["share"]))
        for word in sentence["words"]:
            place = [chars(text, word[end]) for end in ("begin", "end")]
            lines.append(("word", word["text"], *place, word["weight"], word["share"]))
    return lines + [("end", "", 0, 0, 0.0, 0.0)]


def output(words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True, encoding="utf-8").stdout


def main():
    command, blob, *program = sys.argv[1:]
    told = output([command, "run", blob, *(word for text in TEXTS for word in ("--text", text)), "--json", "--top", "2",
                   "--explain", "1000"])
    expected = [line for text, entry in zip(TEXTS, json.loads(told)) for line in lines_of(text, entry)]
    found = [line.split("\t") for line in output([*program, blob, *TEXTS]).rstrip("\n").split("\n")]
    if len(found) != len(expected) or len(found) < 40:
        sys.exit(f"{len(found)} lines instead of {len(expected)}")
    for (kind, text, begin, end, weight, share), right in zip(found, expected):
        same = (kind, text, int(begin), int(end)) == right[:4]
        near = all(math.isclose(float(a), b, rel_tol=1e-6) for a, b in ((weight, right[4]), (share, right[5])))
        # Java prints a logit, which is an f32, with the digits of an f64.
        if not same or not near:
            sys.exit(f"{kind} '{text}' {begin} {end} {weight} {share}, and by the command {right}")
    print(f"explain: {len(found)} lines as the command")


if __name__ == "__main__":
    main()
