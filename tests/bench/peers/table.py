"""Tables in Markdown of what peers.py measured (its JSON).

  table.py FILE.json [--readme]     --readme puts them where they are shown, as peers.py does
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BEGIN, END = "<!-- made by tests/bench/peers -->", "<!-- end -->"
# The lines of README.md, by group, model, weights and text; `details` has all of them. One where fovea is slower too.
SHOWN = [("encoders", "6 x 384", "f32", "128 tokens"), ("encoders", "12 x 768", "int8", "128 tokens"),
         ("windows", "6 x 384", "int8", "4096 tokens"), ("decoders", "6 x 384", "f16", "a token after 128"),
         ("decoders", "12 x 768", "int8", "512 tokens")]
TITLES = {"encoders": "encoder", "windows": "encoder, windows of 128 rows on either side", "decoders": "decoder"}


def times_of(measured, group):
    return [time for time in measured["times"] if time["group"] == group]


def what(time):
    if time.get("before"):
        return f"a token after {time['before']}"
    return f"{time['rows']} tokens"


def number(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def grid(heading, rows):
    left = ["---"] + ["---:"] * (len(heading) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in [heading, left, *rows]) + "\n"


def intro(measured):
    vectors = ", ".join(measured["instructions"])
    own = dict.fromkeys(time["fovea"] for time in measured["times"] if "fovea" in time)  # several of a file that grew
    return f"{measured['processor']} ({vectors}); {'; '.join([*own, *measured['versions'].values()])}"


def summary(measured, shown=None):
    """For models and lengths, all or those shown, how many times as long as fovea its peer takes, by one thread and by
    two."""
    found = {}
    for time in measured["times"]:
        if shown is not None and (time["group"], time["model"], time["weights"], what(time)) not in shown:
            continue
        key = (TITLES[time["group"]], time["model"], time["weights"], what(time))
        found.setdefault(key, {"peer": time["peer"]})[time["threads"]] = time["ratio"]["median"]
    threads = sorted({time["threads"] for time in measured["times"]})
    rows = [[f"{title} {model}, {weights}", text, time["peer"],
             *(f"{time[count]:.2f}" if count in time else "" for count in threads)]
            for (title, model, weights, text), time in found.items()]
    return (f"The other runtime's time divided by fovea's (above 1: fovea is faster);\n{intro(measured)}:\n\n" +
            grid(["model", "text", "compared with", *(f"{count} thread{'s'[:count > 1]}" for count in threads)], rows))


def details(measured):
    parts = []
    rows = []
    for time in measured["times"]:
        rows.append([f"{TITLES[time['group']]} {time['model']}, {time['weights']}", what(time), str(time["threads"]),
                     number(time["own_ms"]["median"]), number(time["peer_ms"]["median"]),
                     f"{time['ratio']['median']:.2f} ({time['ratio']['low']:.2f} to {time['ratio']['high']:.2f})",
                     str(time["turns"]), time["variant"]])
    parts.append(grid(["model", "text", "threads", "fovea ms", "peer ms", "ratio (quartiles)", "turns",
                       "the peer's best way"], rows))
    rows = []
    for model in measured["models"]:
        own, peer = model["own"], model["peer"]
        if model["threads"] != 1:
            continue
        rows.append([f"{TITLES[model['group']]} {model['model']}, {model['weights']}",
                     *(f"{number(own[key] / unit)} / {number(peer[key] / unit)}"
                       for key, unit in (("file", 1e6), ("load_ms", 1), ("memory", 1e6))),
                     f"{model['difference']['fovea']:.1e} / "
                     f"{min(far for name, far in model['difference'].items() if name != 'fovea'):.1e}"])
    parts.append("fovea / its peer, one thread:\n\n" +
                 grid(["model", "file MB", "load ms", "memory MB", "off the reference"], rows))
    return f"{intro(measured)}.\n\n" + "\n".join(parts)


def model_of(one):
    return one["group"], one["model"], one["weights"], one["threads"]


def place(one):
    group, model, weights, threads = model_of(one)
    return list(TITLES).index(group), int(model.split()[0]), weights, threads


def joined(old, new):
    """What was measured before, of the same processor, with what is new in the place of the same models."""
    if old["processor"] != new["processor"]:
        sys.exit(f"that was measured on {old['processor']}, not on {new['processor']}")
    models = {model_of(time) for time in new["times"]}
    whole = {**new, "versions": {**old["versions"], **new["versions"]}}
    for part in ("times", "models"):
        whole[part] = sorted([one for one in old[part] if model_of(one) not in models] + new[part], key=place)
    return whole


def put(path, text, marks=(BEGIN, END)):
    """Between the two marks of a file."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        sys.exit(f"{path}: has no place for the table")
    path.write_text(f"{before}{begin}\n{text}{end}{after}", encoding="utf-8")


def main():
    measured = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    print(summary(measured), details(measured), sep="\n")
    if "--readme" in sys.argv[2:]:
        put(ROOT / "README.md", summary(measured, SHOWN))
        put(ROOT / "tests" / "bench" / "README.md", details(measured))


if __name__ == "__main__":
    main()
