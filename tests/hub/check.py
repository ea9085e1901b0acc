"""Converts each directory of models/ and runs it on a text, an audio file or an image from the command line, as its
users do, and compares what happens with expected.txt: how it runs, or words of the sentence that refuses it.

  check.py FOVEA [NAME...]            all models, or those
  check.py FOVEA --update [NAME...]   also write expected.txt anew; read its difference before committing it
"""
import concurrent.futures
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

import make

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "expected.txt"
IMAGE = HERE.parent / "data" / "images" / "rgb.png"
TEXT = "Machine learning is fun, isn't it?"
TIMEOUT = 120  # seconds of one command
HEADER = """# What `fovea convert` and the command that fits the model do with each directory of models/ (check.py):
#   NAME runs COMMAND        converted, and COMMAND (run, pair, generate, ...) answers
#   NAME ids                 converted; takes token ids or tensors only, with a warning that gives the reason
#   NAME refused: WORDS      refused with a sentence that contains WORDS
"""


def write_sound(path):
    """Half a second of noise, as WAVE of 16 bits at 16 kHz."""
    noise = random.Random(3)
    samples = struct.pack("<8000h", *(int(noise.gauss(0, 3000)) for _ in range(8000)))
    form = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(samples), b"WAVE", b"fmt ", 16, 1, 1, 16000, 32000, 2,
                       16, b"data", len(samples))
    path.write_bytes(form + samples)


def command_for(report, blob, sound, series):
    """(word, arguments) of a command that runs the model; None if it takes only ids or tensors."""
    metadata = report["metadata"]
    task = metadata.get("task", "")
    if "series.tokens" in metadata:
        return "forecast", ["forecast", blob, "--series", series, "--steps", "3", "--samples", "2"]
    reads_text = report["bytes"]["text"] > 0
    reads_sound = any(key.startswith("sampling_rate.") for key in metadata)
    reads_image = any(key.startswith("image.") for key in metadata)
    if reads_sound and (task == "ctc" or task == "seq2seq-lm" and reads_text):
        return "transcribe", ["transcribe", blob, "--wav", sound]
    if reads_sound and task == "seq2seq-lm":
        return None
    if reads_sound:
        return "run --wav", ["run", blob, "--wav", sound]
    if reads_image and reads_text and task != "seq2seq-lm":
        return "similarity", ["similarity", blob, "--text", TEXT, "--image", str(IMAGE)]
    if reads_image and task == "seq2seq-lm":
        return "generate --image", ["generate", blob, "--image", str(IMAGE), "-n", "3"]
    if reads_image:
        return "run --image", ["run", blob, "--image", str(IMAGE)]
    if not reads_text:
        return None
    if task in ("causal-lm", "seq2seq-lm"):
        return "generate", ["generate", blob, "--text", TEXT, "-n", "3"]
    if task == "question-answering":
        return "question", ["run", blob, "--question", "What is fun?", "--context", TEXT]
    if task in ("multiple-choice", "next-sentence-prediction"):
        return "run --pair", ["run", blob, "--text", TEXT, "--pair", "It is."]
    return "run", ["run", blob, "--text", TEXT]


def called(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, errors="replace")


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1].removeprefix("fovea: ") if lines else "no message"


def outcome(fovea, description, folder, sound, series):
    """(first words, explanation)"""
    make.make(description, folder)
    blob = str(folder) + ".fovea"
    given = folder / description.get("input", "")
    made = called(fovea, "convert", str(given), "-o", blob, "--compare", "none", "--json",
                  *description.get("options", []))
    if made.returncode != 0:
        return "refused", last_line(made.stderr).replace(str(folder), "DIR")
    report = json.loads(made.stdout)
    run = command_for(report, blob, sound, series)
    if run is None:
        reasons = [w for w in report["warnings"] if "only" in w] or report["warnings"] or [""]
        return "ids", reasons[0].replace(str(folder), "DIR")
    word, arguments = run
    answer = called(fovea, *arguments)
    os.remove(blob)
    if answer.returncode != 0:
        return f"fails in {word}", last_line(answer.stderr).replace(str(folder), "DIR")
    return f"runs {word}", ""


def expectations():
    expected = {}
    for line in EXPECTED.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, rest = line.split(" ", 1)
            state, _, words = rest.partition(": ")
            expected[name] = (state, words)
    return expected


def differs(expected, state, text):
    return expected is None or expected[0] != state or expected[1] not in text


def main():
    arguments = sys.argv[2:]
    update = "--update" in arguments
    names = [name for name in arguments if name != "--update"]
    expected = expectations() if EXPECTED.exists() else {}
    faults = 0
    with tempfile.TemporaryDirectory() as scratch:
        sound = pathlib.Path(scratch, "sound.wav")
        write_sound(sound)
        series = pathlib.Path(scratch, "series.txt")
        series.write_text(" ".join(str(i % 12 + i / 10) for i in range(48)))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = {name: pool.submit(outcome, sys.argv[1], description, pathlib.Path(scratch, name), str(sound),
                                         str(series))
                     for name, description in make.descriptions(names)}
            for name, result in found.items():
                state, text = result.result()
                if differs(expected.get(name), state, text):
                    print(f"{name}: expected {': '.join(expected.get(name, ('nothing', '')))}; {state}: {text}")
                    faults += 1
                expected[name] = (state, re.sub(r"; these are:.*", "", text))
    counts = [state.split(" ")[0] for state, _ in expected.values()]
    print(", ".join(f"{counts.count(word)} {word}" for word in sorted(set(counts))))
    if update:
        lines = [f"{name} {state}" + (f": {text}" if text else "") for name, (state, text) in sorted(expected.items())]
        EXPECTED.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    return 1 if faults and not update else 0


if __name__ == "__main__":
    sys.exit(main())
