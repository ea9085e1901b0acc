"""Measures every golden model and writes the tables of GOLDENS.md and examples/README.md.

  tables.py FOVEA            FOVEA: the command
  tables.py --check          fails if a table does not have the rows that it should; measures nothing
"""

import ast
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDENS = HERE.parents[1] / "tests/data/hf"
BEGIN, END = "<!-- made by tables.py -->\n", "<!-- end -->\n"
HEADING = ["f32: largest difference, of the largest value", "int8: lowest cosine"]

# Cases that the command alone cannot compare, with the reason. Tests compare them separately, or state the difference.
BLOCKS = ["rand_a", "rand_b", "rand_c", "pad_eval", "pad_rand"]
PADDED = "shorter texts of a padded batch are not what they are alone"
APART = {
    "big_bird": (BLOCKS, "random blocks of training; " + PADDED),
    "big_bird-mlm": (BLOCKS, "random blocks of training; " + PADDED),
    "funnel": (["pad"], PADDED),
    "hubert": (["pad"], PADDED),
    "mobilebert": (["pad"], PADDED),
    "mobilebert-mlm": (["pad"], PADDED),
    "moonshine": (["pad"], PADDED),
    "siglip-text": (["pad"], PADDED),
    "wav2vec2-ctc": (["pad"], PADDED),
    "squeezebert-mlm": (["attentions"], "its attentions are scores"),
    "reformer-lm": (None, "rotations are random: `golden/reformer_test.cc`"),
    "reformer-mlm": (None, "rotations are random: `golden/reformer_test.cc`"),
    "layoutlm": (None, "boxes are several inputs here: `golden/text_encoders_test.cc`"),
    "layoutlmv3": (None, "boxes are several inputs here: `golden/text_encoders_test.cc`"),
}


def run(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.stderr and not done.stdout:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def compared(fovea, source, golden, weights, convert=(), check=()):
    """The lines of `fovea check` that compare something."""
    with tempfile.TemporaryDirectory() as directory:
        blob = directory + "/model.fovea"
        run(fovea, "convert", source, "-o", blob, "--weights", weights, "--compare", "none", *convert)
        return [line for line in json.loads(run(fovea, "check", blob, golden, "--json", *check))["tensors"]
                if line["compared"]]


def figures(lines_of):
    """`lines_of`: lines of a type of weights."""
    exact = max(line["max_diff"] / (line["max_abs"] or 1) for line in lines_of("f32"))
    return [f"{exact:.1e}", f"{min(line['cosine'] for line in lines_of('int8')):.5f}"]


def examples(fovea):
    """A row for each folder of examples/, with figures if there is a command."""
    for script in sorted(HERE.glob("examples/*/make.py")):
        about = " ".join(ast.get_docstring(ast.parse(script.read_text())).split()).replace("|", "\\|")
        golden = script.parent / "golden.safetensors"
        measured = []
        if fovea:
            measured = figures(lambda weights: compared(fovea, script.parent / "graph.json", golden, weights))
        yield [f"`{script.parent.name}`", about, *measured]


def sizes(golden):
    """Cases by the size of their images; one group where there are none."""
    groups = {}
    for name in (case["name"] for case in golden["cases"]):
        shape = golden["tensors"].get(f"{name}.in.pixel_values", {}).get("shape")
        groups.setdefault(f"{shape[-2]}x{shape[-1]}" if shape else "", []).append(name)
    return groups


def published_lines(fovea, folder, weights):
    golden = json.loads((folder / "golden.json").read_text())
    left_out = APART.get(folder.name, ([], ""))[0]
    lines = []
    for size, cases in sizes(golden).items():
        chosen = [option for case in cases if case not in left_out for option in ("--case", case)]
        if chosen:
            convert = ["--image-size", size] if size else []
            lines += compared(fovea, folder, folder / "golden.safetensors", weights, convert, ["--skip", *chosen])
    return [line for line in lines if line["tensor"].split(".")[0] not in left_out]


def published(fovea):
    """A row for each folder of tests/data/hf."""
    rows = []
    for folder in sorted(path.parent for path in GOLDENS.glob("*/config.json")):
        config = json.loads((folder / "config.json").read_text())
        left_out, why = APART.get(folder.name, ([], ""))
        measured = []
        if fovea:
            apart = left_out is None
            measured = ["", ""] if apart else figures(lambda weights: published_lines(fovea, folder, weights))
        rows.append([config["model_type"], config["architectures"][0], f"`{folder.name}`", *measured, why])
    return sorted(rows)


TABLES = [
    (HERE / "GOLDENS.md", published, ["`model_type`", "class", "golden", *HEADING, "left out"], 3),
    (HERE / "examples/README.md", examples, ["directory", "system", *HEADING], 2),
]


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def main(fovea):
    for readme, rows, heading, named in TABLES:
        before, rest = readme.read_text().split(BEGIN)
        table, after = rest.split(END)
        if fovea == "--check":
            shown = [line.split(" | ")[:named] for line in table.splitlines()[2:]]
            wanted = [row(cells[:named])[:-3].split(" | ") for cells in rows(None)]
            if shown != wanted:
                sys.exit(f"{readme}: its table has other rows than there are models: run tables.py")
            continue
        text = row(heading) + "|" + "---|" * len(heading) + "\n" + "".join(row(cells) for cells in rows(fovea))
        readme.write_text(before + BEGIN + text + END + after)


if __name__ == "__main__":
    main(*sys.argv[1:])
