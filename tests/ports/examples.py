"""The examples, built against the installed package, print what the command finds.

  examples.py CMAKE BUILD_DIR CC CXX

Each is a project of its own, found with find_package; one is also linked by pkg-config, one is C++.
"""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

import jobs

TEXT = "A library to read compressed audio files. It supports FLAC and Ogg Vorbis."
LATER = "A library to read compressed audio files. It supports FLAC and Speex."
PROMPT = "libs / libpng-tools\n"
NEW_TOKENS = 48
# Read in three parts.
PASSAGES = " ".join(f"Release {number} reads FLAC. {TEXT}" for number in range(1, 15))


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Command(jobs.Jobs):
    """What the command finds; `tensors_of` is that of the four jobs."""

    def __init__(self, command, blobs):  # pylint: disable=super-init-not-called
        self.command, self.blobs = command, blobs

    def texts(self):
        return ["--text", TEXT, "--text", LATER]

    def cpp(self):
        return self.classify()

    def classes(self, blob, *options):
        found = json.loads(self.told("run", self.blob(blob), *options, "--json", "--top", 1, "--explain", 0))
        return [(one["classes"][0]["label"], one["classes"][0]["probability"]) for one in found]

    def classify(self):
        label, probability = self.classes("package-section", "--text", TEXT)[0]
        return f"{label} {probability:.4f}\n"

    def embed(self):
        pooled = [one["pooler_output"][1] for one in self.tensors_of("package-section-encoder")]
        product = math.fsum(a * b for a, b in zip(*pooled))
        return f"{product / math.prod(math.sqrt(math.fsum(a * a for a in row)) for row in pooled):.4f}\n"

    def tokenize(self):
        told = json.loads(self.told("tokenize", self.blob("package-section"), "--text", TEXT, "--json"))
        return " ".join(map(str, told[0]["ids"])) + "\n" + TEXT.lower() + "\n"

    def reuse(self):
        (first, _), (second, _) = self.classes("package-section-hierarchical", "--document", self.blobs / "first.txt",
                                               "--document", self.blobs / "second.txt")
        return f"{first}, 2 of 2 sentences encoded\n{second}, 1 of 2 sentences encoded\n"

    def generate(self):
        return self.told("generate", self.blob("package-writer"), "--prompt", PROMPT, "--max-tokens", NEW_TOKENS,
                         "--no-display-prompt")

    def taps(self):
        tokens = json.loads(self.told("tokenize", self.blob("package-section"), "--text", TEXT, "--json"))[0]
        one = next(self.tensors_of("package-section", "--trace"))
        last = max((name for name in one if name.startswith("attentions.")), key=lambda name: int(name.split(".")[1]))
        (_, heads, rows, keys), weights = one[last]
        received = [math.fsum(weights[key::keys]) / (heads * rows) for key in range(keys)]
        best = sorted(range(1, keys - 1), key=lambda key: -received[key])[:5]
        return "".join(f"{received[key]:.3f} {piece_of(tokens, key)}\n" for key in best)

    def answer(self):
        told = json.loads(self.told("run", self.blob("question"), "--question", jobs.QUESTION, "--context", PASSAGES,
                                    "--top", 3, "--stride", 128 // 3, "--json"))[0]
        self.equal("parts of the context", told["windows"], 3)
        return "".join(f"{one['score']:.4f} {one['text']}\n" for one in told["answers"])

    def threads(self):
        blobs = [self.blob("package-section"), self.blob("package-section-int8")]
        return "".join(f"{blob}: {self.classes(blob.stem, '--text', TEXT)[0][0]}\n" for blob in blobs)


def piece_of(tokens, token):
    begin, end = tokens["ranges"][token]
    return TEXT.encode()[begin:end].decode()


def compare(name, found, expected):
    if found != expected:
        sys.exit(f"{name} prints\n{found}\nand the command finds\n{expected}")
    print(f"{name}: as the command")


def main():
    cmake, build, cc, cxx = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    source = pathlib.Path(__file__).resolve().parents[2]
    work = build / "tests/ports/examples"
    shutil.rmtree(work, ignore_errors=True)
    (work / "blobs").mkdir(parents=True)
    run(cmake, "--install", build, "--prefix", work / "prefix")
    blobs = work / "blobs"
    command = Command(build / "fovea", blobs)
    run("sh", source / "tests/ports/job_blobs.sh", command.command, blobs)
    run(command.command, "convert", source / "tools/train/package-section", "-o", blobs / "package-section-int8.fovea",
        "--weights", "int8", "--compare", "none")
    (blobs / "first.txt").write_text(TEXT, encoding="utf-8")
    (blobs / "second.txt").write_text(LATER, encoding="utf-8")

    def blob(name):
        return blobs / f"{name}.fovea"

    arguments = {
        "answer": [blob("question"), jobs.QUESTION, PASSAGES], "classify": [blob("package-section"), TEXT],
        "embed": [blob("package-section-encoder"), TEXT, LATER], "attention": [],
        "tokenize": [blob("package-section"), TEXT],
        "reuse": [blob("package-section-hierarchical"), TEXT, LATER], "generate": [blob("package-writer"), PROMPT],
        "taps": [blob("package-section"), TEXT],
        "threads": [blob("package-section"), blob("package-section-int8"), TEXT]}
    # One program for four jobs prints what the examples in C print; of the words only the first.
    in_cpp = {"classify": arguments["classify"], "embed": arguments["embed"], "generate": arguments["generate"],
              "look": arguments["taps"]}
    arguments["cpp"] = ["classify", *arguments["classify"]]
    folders = sorted(folder.name for folder in (source / "ports/examples").iterdir() if folder.is_dir())
    if folders != sorted(arguments):
        sys.exit(f"examples without a test, or the reverse: {folders}")
    for name, words in arguments.items():
        # A copy elsewhere, so that nothing of the repository is found by chance; the shared header is beside it.
        shutil.copytree(source / "ports/examples" / name, work / "examples" / name)
        shutil.copyfile(source / "ports/examples/example.h", work / "examples/example.h")
        folder = work / "build" / name
        run(cmake, "-S", work / "examples" / name, "-B", folder, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={work / 'prefix'}", f"-DCMAKE_C_COMPILER={cc}", f"-DCMAKE_CXX_COMPILER={cxx}",
            "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror",
            "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror -fno-exceptions -fno-rtti")
        run(cmake, "--build", folder)
        expected = "1.00 1.50 2.00 3.00 4.00 5.00 " if name == "attention" else getattr(command, name)()
        compare(name, run(folder / name, *words), expected)

    for job, words in in_cpp.items():
        expected = command.taps().splitlines(keepends=True)[0] if job == "look" else getattr(command, job)()
        compare(f"{job} in C++", run(work / "build/cpp/cpp", job, *words), expected)

    package = next((work / "prefix").rglob("fovea-port.pc")).parent
    os.environ["PKG_CONFIG_PATH"] = str(package)
    for kind, extra in (("shared", [f"-Wl,-rpath,{package.parent}"]), ("static", ["-static"])):
        flags = run("pkg-config", *(["--static"] if kind == "static" else []), "--cflags", "--libs", "fovea-port")
        program = work / f"threads_{kind}"
        run(cc, source / "ports/examples/threads/threads.c", "-o", program, *flags.split(), *extra)
        if run(program, *arguments["threads"]) != command.threads():
            sys.exit(f"pkg-config, {kind}: another class")
        print(f"pkg-config, {kind}: as the command")


if __name__ == "__main__":
    main()
