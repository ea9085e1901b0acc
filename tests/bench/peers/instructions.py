"""fovea beside ONNX Runtime and llama.cpp by executed instructions, on processors that QEMU emulates.

  instructions.py [--only WORDS] [--json FILE] [--again] [--list] [--readme]

Measures the cells of a table: processors (a76, a53, i8mm, avx2), compilers of fovea (gcc, clang), models (encoder,
decoder), weights (f32, f16, int8, int4) and texts (16, 128, 512, token). WORDS, separated by commas, name those to
measure; without a word of a kind, all of it. Results are kept in FILE, a peer's also for other builds of fovea: --again
counts peers anew. --list shows what the words select and what is known, and measures nothing. --readme puts the table
into tests/bench/README.md, which says what the figures mean.

Needs npm, git, qemu-user, a cross compiler and numpy in this Python, and builds of the presets host-release,
aarch64-linux and (for clang) aarch64-clang-whole, which are configured where they are missing.
"""
import argparse
import itertools
import json
import mmap
import pathlib
import struct
import sys
import tempfile

import numpy as np

import gguf_file
import install
import models
import onnx_encoder
import peers
import reference
import table
import turns

HERE, ROOT = peers.HERE, peers.ROOT
ARM = {"build": {"gcc": "aarch64-linux", "clang": "aarch64-clang-whole"}, "machine": "arm64",
       "cxx": "aarch64-linux-gnu-g++", "libraries": "/usr/aarch64-linux-gnu/lib"}
NEON, DOT = "fp asimd aes pmull sha1 sha2 crc32 cpuid", " atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp"
# Title, QEMU's name, and the lines of /proc/cpuinfo without which ONNX Runtime ends: implementer, part (one that it
# knows, here an A76 also for i8mm), features.
ARM_PROCESSORS = {"a76": ("Cortex-A76", "cortex-a76", "0x41", "0xd0b", NEON + DOT),
                  "a53": ("Cortex-A53", "cortex-a53", "0x41", "0xd03", NEON),
                  "i8mm": ("64-bit Arm with i8mm, without SVE", "max,sve=off,sme=off", "0x41", "0xd0b",
                           NEON + DOT + " i8mm bf16")}
PROCESSORS = {name: {**ARM, "title": title, "qemu": ["qemu-aarch64", "-cpu", cpu], "about": about}
              for name, (title, cpu, *about) in ARM_PROCESSORS.items()}
HASWELL = "Haswell,-pcid,-x2apic,-tsc-deadline,-hle,-invpcid,-rtm"  # without what QEMU warns that it does not emulate
PROCESSORS["avx2"] = {"title": "x86-64 with AVX2", "qemu": ["qemu-x86_64", "-cpu", HASWELL], "machine": "x64",
                      "build": {"gcc": "host-release"}, "cxx": "g++"}
COMPILERS = ("gcc", "clang")
GROUPS = {"encoder": ("f32", "int8", "int4"), "decoder": ("f16", "int8", "int4")}
TEXTS = {"encoder": ("16", "128", "512"), "decoder": ("128", "token")}
SHORT = ("16", "token")  # which what else a run does, such as allocations that differ from run to run, could distort
SHAPE, BEFORE, SEED = "6 x 384", 128, 1
WORDS = [PROCESSORS, COMPILERS, GROUPS, ("f32", "f16", "int8", "int4"), ("16", "128", "512", "token")]
FIELDS = ("processor", "compiler", "group", "weights", "text")


def chosen(words):
    """The cells that have a word of each kind which `words` has."""
    kinds = [[word for word in kind if word in words] or list(kind) for kind in WORDS]
    for word in words:
        if not any(word in kind for kind in WORDS):
            sys.exit(f"--only: there is no {word}; there are {', '.join(word for kind in WORDS for word in kind)}")
    return [dict(zip(FIELDS, (processor, compiler, group, weights, text)))
            for compiler in kinds[1] for processor in kinds[0] if compiler in PROCESSORS[processor]["build"]
            for group in kinds[2] for weights in GROUPS[group] if weights in kinds[3]
            for text in TEXTS[group] if text in kinds[4]]


def found(known, cell, *keys):
    """The one of `known` that has the cell's values of these fields, or None."""
    return next((one for one in known if all(one[key] == cell[key] for key in keys)), None)


def read(file):
    return json.loads(file.read_text()) if file.exists() else {"versions": {}, "fovea": [], "peers": []}


class Emulated(turns.Program):
    """A program under QEMU, whose plugin (tests/limits/plugin.c) counts in a file."""

    def __init__(self, processor, root, plugin, command, variant=""):
        self.file = tempfile.NamedTemporaryFile(prefix="fovea-count-")
        self.file.write(bytes(8))
        self.file.flush()
        self.counter = mmap.mmap(self.file.fileno(), 8)
        super().__init__([*processor["qemu"], *root, "-plugin", f"{plugin},counter={self.file.name}", *command], 1,
                         variant)

    def close(self):
        if self.process.poll() is None:
            super().close()
        self.process.stdout.close()
        self.counter.close()
        self.file.close()

    def took(self, request):
        """Instructions until the answer."""
        before = struct.unpack("<Q", self.counter)[0]
        self.tell(request)
        return struct.unpack("<Q", self.counter)[0] - before

    def instructions(self, text):
        """One run of the text, or a token after it: the difference of one and of none, each the least of several."""
        word = "append" if text == "token" else "repeat"
        if text == "token":
            self.tell("append 1")  # the first one finds its place
        none = min(self.took(f"{word} 0") for _ in range(3))
        return min(self.took(f"{word} 1") for _ in range(3 if text in SHORT else 1)) - none


PEER = [field for field in FIELDS if field != "compiler"]  # which a peer's figures do not depend on


class Counts(peers.Bench):
    def __init__(self, arguments):
        self.file, self.again = arguments.json, arguments.again
        self.known = read(self.file)
        self.folder = ROOT / "build" / "host-release" / "peers"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.built, self.models, self.versions, self.running = set(), {}, {}, []
        self.command = self.build("host-release", "fovea_command") / "fovea"
        self.version = install.library_commit(ROOT)

    # ---- programs ----

    def build(self, preset, *targets):
        folder = ROOT / "build" / preset
        if (preset, *targets) not in self.built:
            print(f"building {preset}: {', '.join(targets)}", flush=True)
            if not (folder / "build.ninja").exists():
                install.run("cmake", "--preset", preset, "-Wno-dev", cwd=ROOT)
            install.run("cmake", "--build", folder, "-j2", "--target", *targets)
            self.built.add((preset, *targets))
        return folder

    def root(self, name):
        """QEMU's options for a folder whose files a program sees in place of this machine's."""
        processor = PROCESSORS[name]
        if "about" not in processor:
            return []
        root = self.folder / f"root-{name}"
        (root / "proc").mkdir(parents=True, exist_ok=True)
        if not (root / "lib").exists():
            (root / "lib").symlink_to(processor["libraries"])
        implementer, part, features = processor["about"]
        (root / "proc" / "cpuinfo").write_text(
            f"processor\t: 0\nBogoMIPS\t: 100.00\nFeatures\t: {features}\nCPU implementer\t: {implementer}\n"
            f"CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: {part}\nCPU revision\t: 0\n\n")
        return ["-L", root]

    def start(self, cell, command, variant=""):
        plugin = self.build(PROCESSORS[cell["processor"]]["build"]["gcc"], "count_plugin") / "tests/limits/plugin.so"
        self.running.append(Emulated(PROCESSORS[cell["processor"]], self.root(cell["processor"]), plugin, command,
                                     variant))
        return self.running[-1]

    def start_own(self, cell, blob, rows):
        preset = PROCESSORS[cell["processor"]]["build"][cell["compiler"]]
        folder = self.build(preset, "fovea_plain_peer")
        return self.start(cell, [folder / "tests" / "bench" / "fovea_plain_peer", blob, rows])

    def compiled(self, cell, source, program, *options):
        cxx = PROCESSORS[cell["processor"]]["cxx"]
        if program not in self.built:
            install.run(cxx, "-std=c++17", "-O2", HERE / source, "-o", program, *options, "-ldl")
            self.built.add(program)
        return program

    def start_peers(self, cell, config, weights):
        machine, kind = PROCESSORS[cell["processor"]]["machine"], cell["weights"]
        if cell["group"] == "encoder":
            library, self.versions["onnx"] = install.onnx_library(self.folder, machine)
            program = self.compiled(cell, "onnx_peer.cc", self.folder / f"onnx_peer-{machine}")
            return [self.start(cell, [program, library, self.onnx(config, weights, kind, way), 512], way)
                    for way in (("heads",) if kind == "int4" else ("attention", "heads"))]
        sources, self.versions["llama"] = install.llama_sources(self.folder)
        libraries = install.llama_libraries(self.folder, machine)
        program = self.compiled(cell, "llama/llama_peer.cc", libraries / "llama_peer", "-I", sources / "include", "-I",
                                sources / "ggml/include", *libraries.glob("libllama.v*.so"),
                                *libraries.glob("libggml.v*.so"), libraries / "libggml-base.so", "-Wl,-rpath,$ORIGIN")
        file = self.folder / f"model.{kind}.gguf"
        gguf_file.write_llama(file, config, weights, peers.GGUF_TYPES[kind])
        return [self.start(cell, [program, file, 1, BEFORE, 2 * BEFORE, flash], way)
                for flash, way in enumerate(("plain attention", "flash attention"))]

    # ---- cells ----

    def model(self, group, kind):
        """Config, weights, ids, the reference's result for the first of these, and fovea's blob."""
        if group not in self.models:
            shape = (peers.ENCODERS if group == "encoder" else peers.DECODERS)[SHAPE]
            config, weights = (models.bert if group == "encoder" else models.llama)(*shape, SEED)
            ids = np.random.default_rng(SEED).integers(3, config["vocab_size"], 512)
            source = models.publish(self.folder / f"counted-{group}", config, weights)
            result = (reference.encode if group == "encoder" else reference.next_scores)(config, weights,
                                                                                         ids[:peers.CHECKED])
            self.models[group] = config, weights, ids, result, source
        *about, source = self.models[group]
        if (group, kind) not in self.models:
            blob = self.convert(source, kind, *(("--keys", "f16") if group == "decoder" else ()))
            self.models[group, kind] = blob.rename(self.folder / f"counted-{group}.{kind}.fovea")
        return *about, self.models[group, kind]

    def measure(self, cells):
        """Cells that differ in their texts alone."""
        cell = cells[0]
        config, weights, ids, expected, blob = self.model(cell["group"], cell["weights"])
        new = [one for one in cells if self.again or not found(self.known["peers"], one, *PEER)]
        own = self.start_own(cell, blob, 512 if cell["group"] == "encoder" else 2 * BEFORE)
        others = self.start_peers(cell, config, weights) if new else []
        what = f"{PROCESSORS[cell['processor']]['title']}, {cell['compiler']}, {cell['group']}"
        self.check(what, cell["weights"], [own, *others], ids[:peers.CHECKED], expected)
        for one in cells:
            rows = BEFORE if one["text"] == "token" else int(one["text"])
            asked = others if one in new else []
            self.check(what, cell["weights"], [own, *asked], ids[:rows])
            compiler = install.compiler(ROOT / "build" / PROCESSORS[one["processor"]]["build"][one["compiler"]])
            self.keep("fovea", {**one, "fovea": self.version, "with": compiler,
                                "instructions": own.instructions(one["text"])}, FIELDS)
            if asked:
                ways = {program.variant: program.instructions(one["text"]) for program in asked}
                self.keep("peers", {**{key: one[key] for key in PEER}, "peer": asked[0].name, "ways": ways}, PEER)
            print("  " + " | ".join(row_of(self.known, one)), flush=True)

    def end(self):
        turns.end(self.running)
        self.running = []

    def keep(self, part, one, keys):
        """Writes it at once, beside what another process has written."""
        self.known = {**read(self.file), "versions": {**read(self.file)["versions"], **self.versions}}
        same = found(self.known[part], one, *keys)
        self.known[part] = [other for other in self.known[part] if other is not same] + [one]
        self.known[part].sort(key=lambda other: [[*kind].index(other[field]) for field, kind in zip(FIELDS, WORDS)
                                                 if field in other])
        self.file.write_text(json.dumps(self.known, indent=1) + "\n")


# ---- the table ----

BEGIN, END = "<!-- made by tests/bench/peers/instructions.py -->", "<!-- end of instructions -->"


def row_of(known, cell):
    """The cells of a table row: one text of one model on one processor, by all compilers."""
    peer = found(known["peers"], cell, *PEER)
    way, count = min(peer["ways"].items(), key=lambda item: item[1]) if peer else ("", None)
    text = f"a token after {BEFORE}" if cell["text"] == "token" else f"{cell['text']} tokens"
    own = [found(known["fovea"], {**cell, "compiler": compiler}, *FIELDS) for compiler in COMPILERS]
    commits = dict.fromkeys(one["fovea"] for one in own if one)
    return [PROCESSORS[cell["processor"]]["title"], f"{cell['group']} {SHAPE}, {cell['weights']}", text,
            f"{peer['peer']}, {way}" if peer else "", table.number(count / 1e6) if peer else "",
            *(f"{count / one['instructions']:.2f}" if one and peer else "" for one in own), ", ".join(commits)]


def counted(known):
    """The table of all that is known."""
    compilers = {one["compiler"]: one["with"] for one in known["fovea"]}
    cells = {tuple(one[key] for key in PEER): one for one in known["peers"] if any(
        found([own], one, *PEER) for own in known["fovea"])}
    return (f"{'; '.join(known['versions'].values())}; QEMU.\n\n" + table.grid(
        ["processor", "model", "text", "compared with", "its instructions, M",
         *(f"/ fovea's, {compilers.get(name, name)}" for name in COMPILERS), "fovea at"],
        [row_of(known, cell) for cell in cells.values()]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORDS")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", default=HERE / "instructions.json")
    for name in ("again", "list", "readme"):
        parser.add_argument(f"--{name}", action="store_true")
    arguments = parser.parse_args()
    cells = chosen([word for word in arguments.only.split(",") if word])
    if not cells:
        sys.exit(f"--only {arguments.only}: no cell has all of these")
    failed = False
    if arguments.list:
        known = read(arguments.json)
        for cell in cells:
            print(" | ".join([cell["compiler"], *row_of(known, cell)]))
    else:
        counts = Counts(arguments)
        for _, group in itertools.groupby(cells, lambda cell: [cell[field] for field in FIELDS[:-1]]):
            try:
                counts.measure(list(group))
            except (turns.Disagreement, RuntimeError, BrokenPipeError) as error:
                print(f"NOT MEASURED: {error}", file=sys.stderr, flush=True)
                failed = True
            finally:
                counts.end()
    known = read(arguments.json)
    print(counted(known))
    if arguments.readme:
        table.put(ROOT / "tests" / "bench" / "README.md", counted(known), (BEGIN, END))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
