"""The image that measures says what `fovea bench --json` says on the host: the same fields, work and bytes.

  measurement.py HOST_COMMAND BLOB MACHINES_PY QEMU ARGUMENT.. IMAGE
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import board

# Fields that must be equal on both sides; numbers with a fraction, to the last digit of the text.
ALIKE = ["program", "rows", "texts", "workers", "tile_rows", "backend", "gop_per_run"]
BYTES = ["blob", "model", "fixed", "state", "scratch"]


def fields(measured, prefix=""):
    for key, value in measured.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from fields(value, prefix + key + ".")


def failures(here, there):
    """Differences between the measurements of firmware (`here`) and of the host (`there`)."""
    here, there = dict(here), dict(there)
    operations, there_operations = here.pop("operations"), there.pop("operations")
    del there["steps"]
    if list(fields(here)) != list(fields(there)):
        yield f"fields {list(fields(here))}, on the host {list(fields(there))}"
        return
    for key in ALIKE:
        if here[key] != there[key]:
            yield f"{key}: {here[key]}, on the host {there[key]}"
    for key in BYTES:
        if here["bytes"][key] != there["bytes"][key]:
            yield f"bytes of {key}: {here['bytes'][key]}, on the host {there['bytes'][key]}"
    memory = sum(here["bytes"][key] for key in BYTES[1:])
    if not memory < here["bytes"]["peak_resident"] < memory + 32768:
        yield f"{here['bytes']['peak_resident']} bytes of memory, of which {memory} are the model's and the session's"
    latency = list(here["latency_ms"].values())
    if not (0 < latency[0] and latency == sorted(latency)):
        yield f"latencies {latency}"
    if abs(here["rows_per_second"] * here["latency_ms"]["p50"] / 1e3 / here["rows"] - 1) > 1e-6:
        yield f"{here['rows_per_second']} rows a second, {here['latency_ms']['p50']} ms"
    # Only instructions are counted here, so every run takes as many, but for the counter's own interrupts.
    if here["runs"] != 5 or latency[-1] > 1.001 * latency[0]:
        yield f"{here['runs']} runs of {latency[0]} to {latency[-1]} ms"
    steps = {name: operation["steps"] for name, operation in operations.items()}
    expected = {name: operation["steps"] for name, operation in there_operations.items()}
    if steps != expected:
        yield f"steps {steps}, on the host {expected}"
    together = sum(operation["microseconds"] for operation in operations.values()) / 1e3
    if not 0.97 * latency[0] < together <= latency[-1]:
        yield f"operations of {together} ms in runs of {latency[0]} ms"
    if here["clock"]["counts"] != "instructions, a nanosecond each" or here["clock"]["ticks_per_second"] < 1000000:
        yield f"clock {here['clock']}"


def main():
    host, blob, machines, *qemu, image = sys.argv[1:]
    said = board.output(qemu, image, "counts=instructions, a nanosecond each")
    here = json.loads(said)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        copy = folder / here["model"]
        shutil.copy(blob, copy)
        there = subprocess.run([host, "bench", copy, "--backend", "highway", "--rows", str(here["rows"]), "--tile-rows",
                                str(here["tile_rows"]), "--seconds", "0", "--steps", "--json"],
                               check=True, capture_output=True, text=True).stdout
        wrong = list(failures(here, json.loads(there)))
        if wrong:
            sys.exit("\n".join(wrong))
        (folder / "board.json").write_text(said, encoding="utf-8")
        (folder / "host.json").write_text(there, encoding="utf-8")
        table = subprocess.run([sys.executable, machines, folder / "board.json", f"host={folder / 'host.json'}"],
                               check=True, capture_output=True, text=True).stdout
    print(table)
    if table.count("### ") != 1 or table.count("\n| ") != 4:
        sys.exit("the table does not have both as one group")


if __name__ == "__main__":
    main()
