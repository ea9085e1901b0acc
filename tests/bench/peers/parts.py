"""The parts of peers.py that need no peer: its models against `fovea run` and plain numpy, the files for others read
back by other code than wrote them, turns, tables."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import gguf_file
import install
import instructions
import models
import onnx_encoder
import peers
import reference
import table
import turns

BERT = {"layers": 2, "width": 32, "heads": 4, "inner": 80, "seed": 3, "vocabulary": 50, "positions": 64}
LLAMA = {"layers": 2, "width": 64, "heads": 4, "kv_heads": 2, "inner": 96, "seed": 4, "vocabulary": 50, "positions": 64}


def read_message(raw):
    """Fields of a protocol buffer: number -> values, integers or bytes."""
    fields, at = {}, 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte, at = raw[at], at + 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(raw):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            size = {2: varint, 5: lambda: 4}[key & 7]()
            value, at = raw[at:at + size], at + size
        fields.setdefault(key >> 3, []).append(value)
    return fields


def read_gguf(raw):
    at = 0

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, raw, at)
        at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def text():
        nonlocal at
        size = take("Q")
        at += size
        return raw[at - size:at].decode()

    assert raw[:4] == b"GGUF"
    at = 4
    version, tensor_count, key_count = take("IQQ")
    metadata = {}
    for _ in range(key_count):
        key = text()
        metadata[key] = {4: lambda: take("I"), 6: lambda: take("f"), 8: text}[take("I")]()
    infos = []
    for _ in range(tensor_count):
        name = text()
        sizes = [take("Q") for _ in range(take("I"))]
        infos.append((name, sizes, take("I"), take("Q")))
    at += -at % 32
    tensors = {}
    for name, sizes, kind, offset in infos:
        data, count = raw[at + offset:], int(np.prod(sizes))
        if kind == 2:
            blocks = np.frombuffer(data, [("d", "<f2"), ("q", "u1", 16)], count // 32)
            numbers = np.concatenate([blocks["q"] & 15, blocks["q"] >> 4], 1).astype(np.float32) - 8
            values = blocks["d"].astype(np.float32)[:, None] * numbers
        elif kind == 8:
            blocks = np.frombuffer(data, [("d", "<f2"), ("q", "i1", 32)], count // 32)
            values = blocks["d"].astype(np.float32)[:, None] * blocks["q"]
        else:
            values = np.frombuffer(data, {0: "<f4", 1: "<f2"}[kind], count).astype(np.float32)
        tensors[name] = values.reshape(sizes[::-1])
    return version, metadata, tensors


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fovea-peers-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def command(self, *arguments):
        done = subprocess.run([os.environ["FOVEA_COMMAND"], *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def run_fovea(self, source, ids):
        blob, given, results = (self.folder / name for name in ("m.fovea", "in.safetensors", "out.safetensors"))
        self.command("convert", source, "-o", blob, "--weights", "f32", "--compare", "none")
        models.safetensors.save(given, {"input_ids": np.array(ids, np.int64)[None]})
        self.command("run", blob, "--input", given, "--output", results)
        return models.safetensors.load(results)

    def assert_near(self, a, b, tolerance=1e-5):
        self.assertEqual(a.shape, b.shape)
        self.assertLess(np.linalg.norm(a - b) / np.linalg.norm(b), tolerance)

    def test_an_encoder_is_what_its_definition_says(self):
        config, weights = models.bert(**BERT)
        ids = [7, 3, 49, 0, 12]
        found = self.run_fovea(models.publish(self.folder / "model", config, weights), ids)
        self.assert_near(found["last_hidden_state"][0], reference.encode(config, weights, np.array(ids)))

    def test_windows_are_what_the_definition_says(self):
        config, weights = models.bert(**BERT, window=2)
        ids = [7, 3, 49, 0, 12, 11, 10, 9, 1]
        found = self.run_fovea(models.publish(self.folder / "model", config, weights), ids)
        expected = reference.encode(config, weights, np.array(ids))
        self.assert_near(found["x.2"][0], expected)
        everything = reference.encode({**config, "window": None}, weights, np.array(ids))
        self.assertGreater(np.linalg.norm(everything - expected), 0.1)

    def test_a_decoder_is_what_its_definition_says(self):
        config, weights = models.llama(**LLAMA)
        ids = [7, 3, 49, 0, 12]
        found = self.run_fovea(models.publish(self.folder / "model", config, weights), ids)
        self.assert_near(found["logits"][0][-1], reference.next_scores(config, weights, np.array(ids)))

    def test_a_gguf_file_has_the_weights(self):
        config, weights = models.llama(**LLAMA)
        for kind, tolerance in (("f16", 5e-4), ("q8_0", 1e-2), ("q4_0", 0.12)):
            path = self.folder / "model.gguf"
            gguf_file.write_llama(path, config, weights, kind)
            version, metadata, tensors = read_gguf(path.read_bytes())
            self.assertEqual((version, metadata["llama.block_count"], metadata["llama.rope.freq_base"]),
                             (3, 2, 10000.0))
            self.assertEqual(len(tensors), 2 + 9 * 2)
            self.assert_near(tensors["blk.1.ffn_down.weight"], weights["model.layers.1.mlp.down_proj.weight"],
                             tolerance)
            np.testing.assert_array_equal(tensors["output_norm.weight"], weights["model.norm.weight"])
            # Row 2 i of a head is the i-th of its first half, row 2 i + 1 of its second.
            q, own = tensors["blk.0.attn_q.weight"], weights["model.layers.0.self_attn.q_proj.weight"]
            for row, source in ((0, 0), (1, 8), (2, 1), (16 + 5, 16 + 10)):
                self.assert_near(q[row], own[source], tolerance)

    def test_q8_0_of_zeros_is_zeros(self):
        self.assertEqual(gguf_file.q8_0(np.zeros((1, 32), np.float32)), bytes(34))

    def test_q4_0_of_zeros_is_zeros(self):
        self.assertEqual(gguf_file.q4_0(np.zeros((1, 32), np.float32)), bytes([0, 0x80] + [0x88] * 16))

    def test_nibbles_are_near_the_weights(self):
        matrix = np.random.default_rng(0).standard_normal((3, 64), np.float32)
        numbers, scales = onnx_encoder.nibbles(matrix)
        self.assertEqual((numbers.shape, scales.shape), ((3, 2, 16), (6,)))
        back = np.stack([numbers & 15, numbers >> 4], -1).reshape(6, 32).astype(np.float32) - 8
        self.assert_near((back * scales[:, None]).reshape(3, 64), matrix, 0.12)
        with self.assertRaisesRegex(ValueError, "use heads"):
            onnx_encoder.Encoder({}, {}, "int4", "attention")

    def test_an_onnx_file_has_weights_and_every_value_before_it_is_used(self):
        config, weights = models.bert(**BERT, window=4)
        for kind in ("f32", "int8"):
            for attention in ("attention", "heads", "blocks"):
                path = self.folder / "model.onnx"
                onnx_encoder.Encoder(config, weights, kind, attention, 12).write(path)
                model = read_message(path.read_bytes())
                graph = read_message(model[7][0])
                stored = {}
                for raw in graph[5]:
                    fields = read_message(raw)
                    shape, dtype = fields.get(1, []), {1: "<f4", 3: "i1", 7: "<i8"}[fields[2][0]]
                    stored[fields[8][0].decode()] = np.frombuffer(fields[9][0], dtype).reshape(shape)
                known = {"input_ids", ""} | set(stored)
                for raw in graph[1]:
                    node = read_message(raw)
                    for name in node.get(1, []):
                        self.assertIn(name.decode(), known, (kind, attention))
                    known |= {name.decode() for name in node[2]}
                self.assertIn("last_hidden_state", known)
                name = "encoder.layer.1.output.dense.weight"
                back = stored[name].astype(np.float32) * stored.get(name + ".scale", 1)
                self.assert_near(back.T, weights[name], 1e-6 if kind == "f32" else 2e-2)
                self.assertEqual(stored[name].dtype, np.float32 if kind == "f32" else np.int8)

    def test_blocks_see_what_windows_see(self):
        mask = onnx_encoder.Encoder.mask(3, 2)[:, 0]
        seen = np.zeros((6, 6), bool)
        for block in range(3):
            for row in range(2):
                for key in np.flatnonzero(mask[block, row] == 0):
                    seen[2 * block + row, 2 * (block - 1) + key] = True
        np.testing.assert_array_equal(seen, reference.seen(6, 2, 2))


PROGRAM = """
import sys
print("1.5 Name of it", flush=True)
for line in sys.stdin:
    if line == "die\\n":
        sys.exit(3)
    print({"run\\n": "99 " + sys.argv[1], "memory\\n": 7}.get(line, "ok"), flush=True)
"""


class Turns(unittest.TestCase):
    def start(self, milliseconds, variant=""):
        program = turns.Program([sys.executable, "-c", PROGRAM, milliseconds], 1, variant)
        self.addCleanup(program.process.stdout.close)
        self.addCleanup(program.process.kill)
        return program

    def test_programs_take_turns_and_the_ratio_is_of_the_other_to_ours(self):
        own, slow, other = self.start(2), self.start(9, "slow"), self.start(6, "fast")
        self.assertEqual((own.name, own.load_ms), ("Name of it", 1.5))
        best = turns.fastest([slow, other], turns.Program.milliseconds)
        self.assertIs(best, other)
        found = turns.compare(own, best, turns.Program.milliseconds, 0.08)
        self.assertEqual(found["ratio"], {"median": 3, "low": 3, "high": 3})
        self.assertEqual((found["turns"], found["variant"]), (10, "fast"))
        turns.end([own, slow, other])
        self.assertEqual(own.process.returncode, 0)

    def test_one_that_ends_is_told(self):
        program = self.start(1)
        with self.assertRaisesRegex(RuntimeError, "status 3"):
            program.tell("die")
        program.process.stdin.close()


MEASURED = {
    "processor": "A Processor", "instructions": ["avx2"],
    "versions": {"onnx": "ONNX Runtime 1", "llama": "llama.cpp 2"},
    "times": [{"group": group, "model": "6 x 384", "weights": "int8", "threads": threads, "rows": rows,
               "before": before, "turns": 9, "fovea": "fovea 0", "peer": "P", "variant": "way",
               "own_ms": {"median": 2.0}, "peer_ms": {"median": 150.4},
               "ratio": {"median": threads + 0.25, "low": 1, "high": 9}}
              for group, rows, before in (("encoders", 16, None), ("decoders", 1, 128)) for threads in (1, 2)],
    "models": [{"group": "encoders", "model": "6 x 384", "weights": "int8", "threads": 1,
                "own": {"file": 1e6, "load_ms": 2, "memory": 3e6}, "peer": {"file": 4e6, "load_ms": 5, "memory": 6e6},
                "difference": {"fovea": 0.01, "way": 0.02}}]}


class Tables(unittest.TestCase):
    def test_a_line_for_each_text_and_a_column_for_each_number_of_threads(self):
        lines = table.summary(MEASURED).splitlines()
        self.assertIn("| encoder 6 x 384, int8 | 16 tokens | P | 1.25 | 2.25 |", lines)
        self.assertIn("| decoder 6 x 384, int8 | a token after 128 | P | 1.25 | 2.25 |", lines)
        self.assertIn("A Processor (avx2); fovea 0; ONNX Runtime 1; llama.cpp 2", lines[1])
        shown = table.summary(MEASURED, [("encoders", "6 x 384", "int8", "16 tokens")]).splitlines()
        self.assertIn("| encoder 6 x 384, int8 | 16 tokens | P | 1.25 | 2.25 |", shown)
        self.assertNotIn("decoder", "".join(shown))
        details = table.details(MEASURED)
        self.assertIn("| encoder 6 x 384, int8 | 16 tokens | 2 | 2 | 150 | 2.25 (1.00 to 9.00) | 9 | way |", details)
        self.assertIn("| encoder 6 x 384, int8 | 1 / 4 | 2 / 5 | 3 / 6 | 1.0e-02 / 2.0e-02 |", details)

    def test_the_place_in_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "README.md"
            path.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
            for _ in range(2):
                table.put(path, "new\n")
                self.assertEqual(path.read_text(), f"before\n{table.BEGIN}\nnew\n{table.END}\nafter\n")
            path.write_text("nothing")
            with self.assertRaises(SystemExit):
                table.put(path, "new\n")

    def test_readmes_have_the_place(self):
        for name in ("README.md", "tests/bench/README.md"):
            text = (table.ROOT / name).read_text()
            self.assertEqual((text.count(table.BEGIN), text.count(table.END)), (1, 1), name)
            for group, model, weights, shown in table.SHOWN:
                self.assertIn(f"| {table.TITLES[group]} {model}, {weights} | {shown} |", text, name)

    def test_a_new_measurement_replaces_those_of_its_models(self):
        decoders = [time for time in MEASURED["times"] if time["group"] == "decoders"]
        new = {**MEASURED, "times": [{**decoders[0], "turns": 1, "fovea": "fovea 1"}], "models": [],
               "versions": {"llama": "llama.cpp 3"}}
        found = table.joined(MEASURED, new)
        self.assertEqual([(time["group"], time["threads"], time["turns"]) for time in found["times"]],
                         [("encoders", 1, 9), ("encoders", 2, 9), ("decoders", 1, 1), ("decoders", 2, 9)])
        self.assertEqual((found["models"], found["versions"]["llama"]), (MEASURED["models"], "llama.cpp 3"))
        self.assertIn("; fovea 0; fovea 1; ONNX", table.summary(found))
        with self.assertRaises(SystemExit):
            table.joined({**MEASURED, "processor": "another"}, new)

    def test_the_sample_is_what_json_can_hold(self):
        self.assertEqual(table.details(json.loads(json.dumps(MEASURED))), table.details(MEASURED))


COUNTED = {
    "versions": {"onnx": "ONNX Runtime 1"},
    "fovea": [{"processor": "a76", "compiler": "gcc", "group": "encoder", "weights": "int8", "text": "16",
               "fovea": "abc", "with": "gcc 12", "instructions": 2_000_000}],
    "peers": [{"processor": "a76", "group": "encoder", "weights": "int8", "text": text, "peer": "P",
               "ways": {"slow": 4_000_000, "fast": 3_000_000}} for text in ("16", "128")]}
COUNTER = """
import mmap, struct, sys
file = open(sys.argv[-1].rpartition("=")[2], "r+b")
counter = mmap.mmap(file.fileno(), 8)
print("1 Name", flush=True)
for line in sys.stdin:
    word, count = line.split()
    total = struct.unpack("<Q", counter)[0] + 50 + int(count) * {"repeat": 1000, "append": 7}[word]
    counter[:] = struct.pack("<Q", total)
    print("ok", flush=True)
"""


class Instructions(unittest.TestCase):
    def test_words_choose_cells(self):
        self.assertEqual(instructions.chosen(["a53", "clang", "int4", "token"]),
                         [{"processor": "a53", "compiler": "clang", "group": "decoder", "weights": "int4",
                           "text": "token"}])
        every = instructions.chosen([])
        self.assertEqual(len(every), (3 * 2 + 1) * 15)
        self.assertEqual(instructions.chosen(["avx2", "clang"]), [])
        with self.assertRaisesRegex(SystemExit, "there is no a67; there are a76, "):
            instructions.chosen(["a67"])

    def test_a_run_is_the_difference_of_one_and_none(self):
        program = instructions.Emulated({"qemu": [sys.executable, "-c", COUNTER]}, [], "plugin.so", [])
        self.addCleanup(program.process.kill)
        self.assertEqual((program.instructions("128"), program.instructions("token")), (1000, 7))
        turns.end([program])

    def test_programs_that_ended_early_can_be_ended(self):
        ends = COUNTER.replace('print("ok"', 'sys.exit(3), print("ok"')
        program = instructions.Emulated({"qemu": [sys.executable, "-c", ends]}, [], "p.so", [])
        with self.assertRaisesRegex(RuntimeError, "status 3"):
            program.took("repeat 1")
        turns.end([program])

    def test_a_row_has_the_peers_best_way_over_ours(self):
        lines = instructions.counted(COUNTED).splitlines()
        self.assertIn("| Cortex-A76 | encoder 6 x 384, int8 | 16 tokens | P, fast | 3 | 1.50 |  | abc |", lines)
        self.assertFalse([line for line in lines if "128 tokens" in line])  # not measured for fovea

    def test_a_new_count_replaces_its_cell(self):
        with tempfile.TemporaryDirectory() as folder:
            counts = instructions.Counts.__new__(instructions.Counts)
            counts.file, counts.versions = pathlib.Path(folder) / "counted.json", {"llama": "L"}
            counts.file.write_text(json.dumps(COUNTED))
            counts.keep("fovea", {**COUNTED["fovea"][0], "instructions": 3_000_000}, instructions.FIELDS)
            known = instructions.read(counts.file)
        self.assertEqual([one["instructions"] for one in known["fovea"]], [3_000_000])
        self.assertEqual((known["peers"], known["versions"]), (COUNTED["peers"], {"onnx": "ONNX Runtime 1",
                                                                                   "llama": "L"}))

    def test_the_readme_has_the_place(self):
        text = (table.ROOT / "tests" / "bench" / "README.md").read_text()
        self.assertEqual((text.count(instructions.BEGIN), text.count(instructions.END)), (1, 1))


class Machine(unittest.TestCase):
    def test_processors_of_one_name_are_told_apart(self):
        amd = "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\npower management:\n"
        self.assertEqual(peers.processor(amd + "\n" + amd.replace("26", "25")), "AMD EPYC, family 26, model 2")
        arm = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n"
        self.assertRegex(peers.processor(arm), "^\\w+, implementer 0x41, part 0xd0b$")
        self.assertTrue(peers.processor(""))

    def test_the_version_is_the_commands_and_of_a_commit_where_there_is_one(self):
        with tempfile.TemporaryDirectory() as folder:
            version = install.fovea_version(os.environ["FOVEA_COMMAND"], folder)
            self.assertRegex(version, r"^fovea \d+\.\d+\.\d+$")
            git = ["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x"]
            if shutil.which("git") is None:
                return
            subprocess.run([*git, "init", "-q"], check=True)
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
            self.assertRegex(install.fovea_version(os.environ["FOVEA_COMMAND"], folder),
                             f"^{version} \\([0-9a-f]{{7,}}\\)$")


if __name__ == "__main__":
    unittest.main()
