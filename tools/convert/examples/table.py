"""Measures every example and writes the table of README.md: table.py FOVEA (the command)."""

import ast
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- made by table.py -->\n", "<!-- end -->\n"


def lines(fovea, example, weights):
    with tempfile.TemporaryDirectory() as directory:
        blob = directory + "/model.fovea"
        subprocess.run([fovea, "convert", example / "graph.json", "-o", blob, "--weights", weights], check=True,
                       stdout=subprocess.DEVNULL)
        found = subprocess.run([fovea, "check", blob, example / "golden.safetensors", "--json"], stdout=subprocess.PIPE)
        return json.loads(found.stdout)["tensors"]


def main(fovea):
    rows = ["| directory | system | f32: largest difference, of the largest value | int8: lowest cosine |\n",
            "|---|---|---|---|\n"]
    for script in sorted(HERE.glob("*/make.py")):
        about = " ".join(ast.get_docstring(ast.parse(script.read_text())).split()).replace("|", "\\|")
        exact = max(line["max_diff"] / (line["max_abs"] or 1) for line in lines(fovea, script.parent, "f32"))
        cosine = min(line["cosine"] for line in lines(fovea, script.parent, "int8"))
        rows.append(f"| `{script.parent.name}` | {about} | {exact:.1e} | {cosine:.5f} |\n")
    readme = HERE / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    readme.write_text(before + BEGIN + "".join(rows) + END + rest.split(END)[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
