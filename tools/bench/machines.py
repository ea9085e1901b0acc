"""What `fovea bench --json` (or fovea-bench, firmware, JavaScript) said on several machines, as a table and as bars.

  machines.py [--svg FILE] [NAME=]FILE.json ..
Measurements of one model, program, number of rows and of workers are one group. NAME stands for the machine where its
processor's name says too little. The table is Markdown, on standard output.
"""
import argparse
import html
import json
import pathlib
import sys

COLUMNS = [  # heading, how a measurement has it
    ("machine", lambda m: m["name"]),
    ("vectors", lambda m: m["target"]),
    ("products", lambda m: m["backend"]),
    ("clock counts", lambda m: m["clock"]["counts"]),
    ("p50 ms", lambda m: f"{m['latency_ms']['p50']:.3f}"),
    ("min ms", lambda m: f"{m['latency_ms']['min']:.3f}"),
    ("p99 ms", lambda m: f"{m['latency_ms']['p99']:.3f}"),
    ("rows/s", lambda m: f"{m['rows_per_second']:.0f}"),
    ("GOPS", lambda m: f"{m['gops']:.1f}"),
    ("load ms", lambda m: f"{sum(m['load_ms'].values()):.1f}"),
    ("model and session MB",
     lambda m: f"{sum(m['bytes'][k] for k in ('model', 'fixed', 'state', 'scratch')) / 1e6:.2f}"),
]
TEXTS = 4  # leading columns of text; numbers follow
BAR, GAP, LABEL, WIDTH = 18, 6, 260, 420  # pixels


def measurement(argument):
    name, equals, path = argument.rpartition("=")
    path = pathlib.Path(path)
    try:
        measured = json.loads(path.read_text(encoding="utf-8"))
        machine = measured["machine"]
        measured["name"] = name if equals else machine["processor"] or machine["architecture"]
        measured["group"] = (pathlib.PurePath(measured["model"]).name, measured["program"], measured["rows"],
                             measured["texts"], measured["workers"])
        for _, cell in COLUMNS:
            cell(measured)
        if not measured["latency_ms"]["p50"] > 0:
            raise ValueError("latency_ms.p50 is not above 0")
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"has no {error}" if isinstance(error, KeyError) else error
        sys.exit(f"{path}: not what fovea bench --json writes: {reason}")
    return measured


def title(group):
    model, program, rows, texts, workers = group
    return f"{model}, {program}: {rows} rows in {texts} texts, {workers} worker{'' if workers == 1 else 's'}"


def table(group, measured):
    rows = [[heading for heading, _ in COLUMNS], ["---"] * TEXTS + ["---:"] * (len(COLUMNS) - TEXTS)]
    rows += [[str(cell(m)).replace("|", "\\|") for _, cell in COLUMNS] for m in measured]
    return f"### {title(group)}\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def svg(groups):
    """Bars of the median time; each group has a separate scale."""
    parts, y = [], 0
    for group, measured in groups.items():
        longest = max(m["latency_ms"]["p50"] for m in measured)
        y += 22
        parts.append(f'<text x="0" y="{y}" font-weight="bold">{html.escape(title(group))}, ms (median)</text>')
        y += GAP
        for m in measured:
            time = m["latency_ms"]["p50"]
            length = max(1, round(WIDTH * time / longest))
            counts = m["clock"]["counts"]
            label = html.escape(f"{m['name']}, {m['target']}" + ("" if counts == "nanoseconds" else f" ({counts})"))
            parts.append(f'<text x="{LABEL - 6}" y="{y + 13}" text-anchor="end">{label}</text>'
                         f'<rect x="{LABEL}" y="{y}" width="{length}" height="{BAR}" fill="#4878a8"/>'
                         f'<text x="{LABEL + length + 6}" y="{y + 13}">{time:.3f}</text>')
            y += BAR + GAP
    width, height = LABEL + WIDTH + 80, y + GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n' +
            "\n".join(parts) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="[NAME=]FILE.json")
    parser.add_argument("--svg", metavar="FILE")
    arguments = parser.parse_args()
    groups = {}
    for measured in map(measurement, arguments.files):
        groups.setdefault(measured["group"], []).append(measured)
    for measured in groups.values():
        measured.sort(key=lambda m: m["latency_ms"]["p50"])
    print("\n".join(table(group, measured) for group, measured in groups.items()), end="")
    if arguments.svg:
        pathlib.Path(arguments.svg).write_text(svg(groups), encoding="utf-8")


if __name__ == "__main__":
    main()
