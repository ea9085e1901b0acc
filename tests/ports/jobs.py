"""The jobs of a port (classify, embed, generate, look, answer, weigh words) give what the command gives.

  jobs.py COMMAND BLOBS PROGRAM...
PROGRAM is the port's program of the jobs: it gets the folder BLOBS and texts as arguments and writes JSON.
Tolerance: none for logits, token ids, texts, attention weights and pooled rows, which are the same bits; a relative
1e-6 for means of rows, where only the order of the sum may differ.
"""
import array
import json
import math
import pathlib
import struct
import subprocess
import sys

TEXTS = ["a text editor for programmers", "A library to read png files. With \"headers\"!", "x",
         "\u00e4\u4e2d\U0001f600 3.14"]
DATES = ["3rd of March 2014", "Tuesday, 5 May 1998", "1/2/2003"]
WRITER = ["--prompt", "libs / libpng-tools\n", "--max-tokens", "24", "--no-display-prompt"]
GENERATED = {"greedy": [], "sampled": ["--temperature", "0.8", "--top-k", "20", "--seed", "7"],
             "stopped": ["--stop", "is a lib", "--stop", "nowhere"]}
QUESTION = "Which formats?"
CONTEXT = ("A library to read compressed audio files. \u00c4ltere und neuere Formate: it supports FLAC, Ogg Vorbis and "
           "\u4e2d\u6587 tags; a text editor for programmers is not part of it, nor are games, fonts or a web server.")
ASK = ["--question", QUESTION, "--context", CONTEXT, "--top", 4, "--allow-no-answer", "--json"]
ANSWERS = {"answers": [], "long_answers": ["--max-length", 30, "--stride", 8, "--max-answer", 5]}
CODES = {"F32": "f", "I64": "q", "I32": "i"}


def single(number):
    """As f32."""
    return struct.unpack("f", struct.pack("f", number))[0]


def safetensors(path):
    """Tensors as (shape, flat numbers)."""
    raw = path.read_bytes()
    size, = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, end = entry["data_offsets"]
        tensors[name] = entry["shape"], array.array(CODES[entry["dtype"]], raw[8 + size + first:8 + size + end])
    return tensors


class Jobs:
    def __init__(self, command, blobs, program):
        self.command, self.blobs = command, pathlib.Path(blobs)
        self.results = json.loads(self.output([*program, blobs, *TEXTS]))

    def output(self, words):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            sys.exit(f"{words[0]} failed: {done.stderr}")
        return done.stdout

    def told(self, *words):
        return self.output([self.command, *words])

    def blob(self, name):
        return self.blobs / f"{name}.fovea"

    def equal(self, what, found, expected):
        if found != expected:
            sys.exit(f"{what}: the port gives\n  {found}\nand the command\n  {expected}")

    def near(self, what, found, expected, relative):
        self.equal(f"{what}, number", len(found), len(expected))
        for i, (a, b) in enumerate(zip(found, expected)):
            if not math.isclose(a, b, rel_tol=relative, abs_tol=relative):
                sys.exit(f"{what}: entry {i} is {a}, and {b} by the command")

    def texts(self):
        return [word for text in TEXTS for word in ("--text", text)]

    def classify(self):
        for job, name in (("classify", "package-section"), ("documents", "package-section-hierarchical")):
            told = json.loads(self.told("run", self.blob(name), *self.texts(), "--json", "--top", 1000, "--explain", 0))
            self.equal(job, len(self.results[job]), len(TEXTS))
            for found, entry in zip(self.results[job], told):
                classes = entry["classes"]
                self.equal(job, [c["label"] for c in found], [c["label"] for c in classes])
                self.equal(job, [single(c["logit"]) for c in found], [single(c["logit"]) for c in classes])
                self.equal(job, [single(c["probability"]) for c in found], [single(c["probability"]) for c in classes])
        told = json.loads(self.told("tokenize", self.blob("package-section"), *self.texts(), "--json"))
        self.equal("tokens", self.results["tokens"], [entry["ids"] for entry in told])

    def tensors_of(self, name, *options):
        """`fovea run --input`, for the token ids of TEXTS, each text a file with one row."""
        told = json.loads(self.told("tokenize", self.blob(name), *self.texts(), "--json"))
        for entry in told:
            ids = array.array("q", entry["ids"])
            shape, ones = [1, len(ids)], array.array("q", [1] * len(ids))
            header = {"input_ids": {"dtype": "I64", "shape": shape, "data_offsets": [0, 8 * len(ids)]},
                      "attention_mask": {"dtype": "I64", "shape": shape, "data_offsets": [8 * len(ids), 16 * len(ids)]}}
            text = json.dumps(header).encode()
            given, written = self.blobs / "in.safetensors", self.blobs / "out.safetensors"
            given.write_bytes(struct.pack("<Q", len(text)) + text + ids.tobytes() + ones.tobytes())
            self.told("run", self.blob(name), "--input", given, "--output", written, *options)
            yield safetensors(written)

    def embed(self):
        expected = [list(one["pooler_output"][1]) for one in self.tensors_of("package-section-encoder")]
        self.equal("pooled", [list(map(single, row)) for row in self.results["pooled"]], expected)
        expected = []
        for one in self.tensors_of("package-writer-encoder"):
            (_, rows, width), numbers = one["last_hidden_state"]
            expected.append([math.fsum(numbers[i::width]) / rows for i in range(width)])
        for found, row in zip(self.results["means"], expected):
            self.near("means", found, row, 1e-6)
        self.equal("means", len(self.results["means"]), len(expected))

    def generate(self):
        for job, options in GENERATED.items():
            told = self.told("generate", self.blob("package-writer"), *WRITER, *options)
            self.equal(job, self.results[job] + "\n", told)
        if self.results["stopped"] == self.results["greedy"]:
            sys.exit("the stop strings do not occur: choose different ones")
        dates = [word for date in DATES for word in ("--text", date)]
        told = self.told("generate", self.blob("date-normaliser"), *dates)
        self.equal("dates", [f"{date} -> {text}" for date, text in zip(DATES, self.results["dates"])],
                   told.strip().split("\n"))

    def look(self):
        for text, one in enumerate(self.tensors_of("package-section", "--trace")):
            names = [name for name in one if name.startswith("attentions.")]
            for job in ("look", "look_sparse"):
                maps = {entry["operation"]: entry["segments"] for entry in self.results[job]}
                self.equal(job, sorted(maps), sorted(names))
                for name in names:
                    found = [single(x) for head in maps[name][text] for row in head for x in row]
                    self.equal(f"{job} {name}", found, list(one[name][1]))
        for job in ("look", "look_sparse"):  # what the port wrote is a page by the command
            page = self.blobs / f"{job}.html"
            page.unlink(missing_ok=True)
            self.told("attend", "--from", self.blobs / f"{job}.safetensors", "-o", page)
            self.equal(f"page of {job}", "attentions.1" in page.read_text(encoding="utf-8"), True)


    def answer(self):
        for job, options in ANSWERS.items():
            told = json.loads(self.told("run", self.blob("question"), *ASK, *options))[0]["answers"]
            keys = ("text", "begin", "end")
            self.equal(job, [[a[key] for key in keys] for a in self.results[job]],
                       [[a[key] for key in keys] for a in told])
            self.near(job, [a["score"] for a in self.results[job]], [a["score"] for a in told], 1e-6)
            self.equal(f"{job} are of the context", all(
                a["text"] == CONTEXT.encode()[a["begin"]:a["end"]].decode() for a in self.results[job]), True)

    def weights(self):
        for job, options in (("weights", []), ("document_weights", ["--prompt-name", "document"])):
            told = json.loads(self.told("run", self.blob("weights"), *self.texts(), "--top", 6, "--json", *options))
            for found, entry in zip(self.results[job], told):
                words = entry["sparse"]["words"]
                self.equal(job, [[w["id"], w["token"]] for w in found], [[w["id"], w["token"]] for w in words])
                self.near(job, [w["weight"] for w in found], [w["weight"] for w in words], 1e-6)
            self.equal(f"{job}, number", len(self.results[job]), len(told))
        if self.results["weights"] == self.results["document_weights"]:
            sys.exit("the prompts make no difference: choose different ones")


def main():
    jobs = Jobs(sys.argv[1], sys.argv[2], sys.argv[3:])
    for job in (jobs.classify, jobs.embed, jobs.generate, jobs.look, jobs.answer, jobs.weights):
        job()
        print(f"{job.__name__}: as the command")


if __name__ == "__main__":
    main()
