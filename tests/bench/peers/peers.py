"""fovea beside ONNX Runtime and llama.cpp: the same seeded weights, the same texts, in turns on this machine.

  peers.py [--build build/host-release] [--only encoders,windows,decoders] [--threads 1,2] [--seconds 3]
           [--json FILE] [--readme]

Gets the peers from npm's registry into the build folder (needs npm, node, git, cmake, and numpy in this Python), makes
each model for each of them, refuses what does not agree, measures, and prints tables; --readme puts them where they
are shown. A FILE.json that exists keeps what this run does not measure anew. tests/bench/README.md says what the
figures mean and what cannot be compared.
"""
import argparse
import json
import pathlib
import platform
import re
import sys

import numpy as np

import gguf_file
import install
import models
import onnx_encoder
import reference
import table
import turns

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CPU = pathlib.Path("/proc/cpuinfo")
ENCODERS = {"4 x 256": (4, 256, 4, 1024), "6 x 384": (6, 384, 12, 1536),
            "12 x 768": (12, 768, 12, 3072)}  # layers, width, heads, inner width
DECODERS = {"6 x 384": (6, 384, 6, 2, 1024), "12 x 768": (12, 768, 12, 4, 2048)}
LENGTHS = (16, 128, 512)
WINDOW, LONG = 128, 4096
PROMPT, TEXT = 512, 1024
BEFORE, NEW = 128, 32  # tokens of a text before the timed ones
CHECKED = 24  # tokens of the text that the reference reads as well
# |a - b| / |b| over all numbers of a result: by how much a program may differ from the reference, which has the weights
# in f32. Two programs may differ by twice as much.
TOLERANCES = {"f32": 1e-4, "f16": 1e-2, "int8": 0.1, "int4": 0.5}
GGUF_TYPES = {"f16": "f16", "int8": "q8_0", "int4": "q4_0"}


def difference(a, b):
    a, b = np.ravel(a).astype(np.float64), np.ravel(b).astype(np.float64)
    return float(np.linalg.norm(a - b) / np.linalg.norm(b)) if a.shape == b.shape else float("inf")


class Bench:
    """What is measured, and the tools that it takes."""

    def __init__(self, arguments):
        self.threads, self.seconds = [int(threads) for threads in arguments.threads.split(",")], arguments.seconds
        self.file, build = arguments.json, arguments.build.resolve()
        self.folder = build / "peers"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.command, self.own = install.fovea(build)
        self.version = install.fovea_version(self.command, ROOT)
        self.versions, self.times, self.models = {}, [], []

    # ---- models ----

    def convert(self, source, kind, *options):
        path = self.folder / f"model.{kind}.fovea"
        install.run(self.command, "convert", source, "-o", path, "--weights", kind, "--compare", "none", *options)
        return path

    def onnx(self, config, weights, kind, attention, rows=None):
        path = self.folder / f"model.{kind}.{attention}.onnx"
        onnx_encoder.Encoder(config, weights, kind, attention, rows).write(path)
        return path

    # ---- programs ----

    def start_fovea(self, blob, threads, *limits):
        return turns.Program([self.own, blob, threads, *limits], threads)

    def start_onnx(self, path, threads):
        return turns.Program(["node", HERE / "onnx_peer.js", self.packages, path, threads], threads,
                             path.suffixes[-2][1:])

    def result(self, program, ids):
        program.tell("ids " + " ".join(map(str, ids)))
        program.milliseconds()
        file = self.folder / f"result.{program.process.pid}"
        program.tell(f"write {file}")
        numbers = np.fromfile(file, np.float32)
        file.unlink()
        return numbers

    def check(self, what, kind, programs, ids, expected=None):
        """All agree with the reference or, where there is none, with fovea. Each has the text afterwards."""
        results = [self.result(program, ids) for program in programs]
        tolerance = TOLERANCES[kind] * (2 if expected is None else 1)
        if expected is None:
            expected = results[0]
        apart = [difference(result, expected) for result in results]
        for program, distance in zip(programs, apart):
            print(f"  {what}, {kind}, {len(ids)} tokens: {program.name} {program.variant} differs by {distance:.1e}",
                  flush=True)
            if not distance <= tolerance:
                raise turns.Disagreement(f"{what}: {program.name} {program.variant} differs by {distance:.2g}, "
                                         f"more than {tolerance:.2g}: nothing is measured")
        return dict(zip((program.variant or "fovea" for program in programs), apart))

    # ---- what is kept ----

    def time(self, about, own, peers, measure):
        peer = turns.fastest(peers, measure)
        self.times.append({**about, "fovea": self.version, **turns.compare(own, peer, measure, self.seconds)})
        row = self.times[-1]
        print(f"  {about}: {row['own_ms']['median']:.2f} ms, {row['peer']} {row['variant']} "
              f"{row['peer_ms']['median']:.2f} ms, {row['ratio']['median']:.2f} times", flush=True)
        return peer

    def keep_model(self, about, own, own_file, peer, peer_file, apart):
        def of(program, file):
            return {"program": program.name, "load_ms": program.load_ms, "memory": int(program.tell("memory")),
                    "file": file.stat().st_size}
        self.models.append({**about, "own": of(own, own_file), "peer": of(peer, peer_file), "difference": apart})
        if self.file:  # each model as it is done
            self.file.write_text(json.dumps(self.measured(), indent=1) + "\n")

    def measured(self):
        """With what the file has besides."""
        new = {"processor": processor(CPU.read_text()), "instructions": instructions(),
               "versions": self.versions, "times": self.times, "models": self.models}
        return table.joined(json.loads(self.file.read_text()), new) if self.file and self.file.exists() else new

    # ---- kinds of models ----

    def encoders(self):
        self.packages, self.versions["onnx"] = install.onnx_runtime(self.folder)
        for seed, (name, shape) in enumerate(ENCODERS.items()):
            config, weights = models.bert(*shape, seed)
            source = models.publish(self.folder / "encoder", config, weights)
            random = np.random.default_rng(seed)
            ids = random.integers(0, config["vocab_size"], max(LENGTHS))
            expected = reference.encode(config, weights, ids[:CHECKED])
            for kind in ("f32", "int8"):
                blob = self.convert(source, kind)
                files = {way: self.onnx(config, weights, kind, way) for way in ("attention", "heads")}
                for threads in self.threads:
                    own = self.start_fovea(blob, threads, max(LENGTHS))
                    peers = [self.start_onnx(file, threads) for file in files.values()]
                    about = {"group": "encoders", "model": name, "weights": kind, "threads": threads}
                    apart = self.check(name, kind, [own, *peers], ids[:CHECKED], expected)
                    for rows in LENGTHS:
                        self.check(name, kind, [own, *peers], ids[:rows])
                        peer = self.time({**about, "rows": rows}, own, peers, turns.Program.milliseconds)
                    self.keep_model(about, own, blob, peer, files[peer.variant], apart)
                    turns.end([own, *peers])

    def windows(self):
        self.packages, self.versions["onnx"] = install.onnx_runtime(self.folder)
        config, weights = models.bert(*ENCODERS["6 x 384"], seed=1, positions=LONG, window=WINDOW)
        source = models.publish(self.folder / "windows", config, weights)
        ids = np.random.default_rng(1).integers(0, config["vocab_size"], LONG)
        expected = reference.encode(config, weights, ids[:3 * WINDOW])
        for kind in ("f32", "int8"):
            blob = self.convert(source, kind)
            short = [self.start_fovea(blob, 1, 3 * WINDOW),
                     self.start_onnx(self.onnx(config, weights, kind, "blocks", 3 * WINDOW), 1)]
            apart = self.check("windows", kind, short, ids[:3 * WINDOW], expected)
            turns.end(short)
            file = self.onnx(config, weights, kind, "blocks", LONG)
            for threads in self.threads:
                own, peer = self.start_fovea(blob, threads, LONG), self.start_onnx(file, threads)
                about = {"group": "windows", "model": "6 x 384", "weights": kind, "threads": threads}
                self.check("windows", kind, [own, peer], ids)
                self.time({**about, "rows": LONG}, own, [peer], turns.Program.milliseconds)
                self.keep_model(about, own, blob, peer, file, apart)
                turns.end([own, peer])

    def decoders(self):
        program, self.versions["llama"] = install.llama_cpp(self.folder, HERE / "llama")
        for seed, (name, shape) in enumerate(DECODERS.items()):
            config, weights = models.llama(*shape, seed)
            source = models.publish(self.folder / "decoder", config, weights)
            ids = np.random.default_rng(seed).integers(3, config["vocab_size"], PROMPT)
            expected = reference.next_scores(config, weights, ids[:CHECKED])
            for kind in ("f16", "int8"):
                blob, file = self.convert(source, kind, "--keys", "f16"), self.folder / f"model.{kind}.gguf"
                gguf_file.write_llama(file, config, weights, GGUF_TYPES[kind])
                for threads in self.threads:
                    own = self.start_fovea(blob, threads, PROMPT, TEXT)
                    peers = [turns.Program([program, file, threads, PROMPT, TEXT, flash], threads, way)
                             for flash, way in enumerate(("plain attention", "flash attention"))]
                    about = {"group": "decoders", "model": name, "weights": kind, "threads": threads}
                    apart = self.check(name, kind, [own, *peers], ids[:CHECKED], expected)
                    self.check(name, kind, [own, *peers], ids)
                    self.time({**about, "rows": PROMPT}, own, peers, turns.Program.milliseconds)
                    self.check(name, kind, [own, *peers], ids[:BEFORE])
                    peer = self.time({**about, "rows": 1, "before": BEFORE}, own, peers, one_by_one)
                    self.keep_model(about, own, blob, peer, file, apart)
                    turns.end([own, *peers])


def one_by_one(program):
    program.milliseconds()
    return program.milliseconds(f"tokens {NEW}")


def processor(about):
    """The processor by /proc/cpuinfo; its name alone may be shared by several generations."""
    known = dict(re.findall(r"^(.*?)\s*: (.*)$", about.partition("\n\n")[0], re.MULTILINE))
    numbers = {"family": "cpu family", "model": "model", "implementer": "CPU implementer", "part": "CPU part"}
    return ", ".join([known.get("model name", platform.machine()),
                      *(f"{word} {known[key]}" for word, key in numbers.items() if key in known)])


def instructions():
    """Instruction sets that matter to matmul, by the names in /proc/cpuinfo."""
    words = set(CPU.read_text().split())
    return [name for name in ("avx2", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8", "asimd", "asimddp", "i8mm")
            if name in words]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "host-release")
    parser.add_argument("--only", default="encoders,windows,decoders")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=3, help="of each comparison, about")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--readme", action="store_true")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    for group in arguments.only.split(","):
        if group not in ("encoders", "windows", "decoders"):
            sys.exit(f"--only: there is no {group}")
        try:
            getattr(bench, group)()
        except turns.Disagreement as error:
            sys.exit(str(error))
    measured = bench.measured()
    print(table.summary(measured), table.details(measured), sep="\n")
    if arguments.readme:
        table.put(ROOT / "README.md", table.summary(measured, table.SHOWN))
        table.put(ROOT / "tests" / "bench" / "README.md", table.details(measured))


if __name__ == "__main__":
    main()
