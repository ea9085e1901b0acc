"""Examples of package description -> archive section, from the package lists of a Debian release."""

import collections
import glob
import hashlib
import os
import re
import subprocess

SUITE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {} bookworm main\n"

# Sections by purpose of a package. Omitted: sections that name a role in the archive instead of a subject (doc,
# debug, oldlibs, metapackages, tasks, localization, introspection, misc, otherosfs), interpreters, and small ones.
SECTIONS = """admin database devel editors fonts games gnome gnu-r golang graphics haskell java javascript kde libs lisp
mail net ocaml perl php python ruby rust science sound text utils video web x11""".split()
MERGED = {"libdevel": "libs", "math": "science", "httpd": "web", "xfce": "x11"}

TRAIN_PER_SOURCE = 3  # examples of one source and label; a source of fifty plugins repeats itself fifty times
HELD_OUT_PER_SOURCE = 1

# `long` is the long description as one run of words, `lines` its paragraphs and list items.
Example = collections.namedtuple("Example", "package label short long lines held_out")


def mirror():
    """The Debian mirror that this machine's apt is set up with."""
    for path in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*"))]:
        if os.path.isfile(path):
            with open(path) as f:
                found = re.search(r"^(?:URIs:|deb(?: \[[^]]*\])?) *(\S+)", f.read(), re.MULTILINE)
            if found:
                return found.group(1)
    raise SystemExit("apt is not set up with a Debian mirror")


def fetch(work):
    """Fetches the lists with apt into a private state directory; returns the texts of Packages and Translation-en."""
    lists = os.path.abspath(os.path.join(work, "apt"))
    os.makedirs(os.path.join(lists, "partial"), exist_ok=True)
    sources = lists + ".list"
    with open(sources, "w") as f:
        f.write(SUITE.format(mirror()))
    options = {"Dir::State::lists": lists, "Dir::Etc::sourcelist": sources, "Dir::Etc::sourceparts": "/dev/null",
               "Acquire::Languages": "en", "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": ""}
    flags = [f"-o{key}={value}" for key, value in options.items()]
    if not glob.glob(lists + "/*Translation-en*"):
        subprocess.run(["apt-get", "-q", *flags, "update"], check=True)

    def read(pattern):
        path, = glob.glob(f"{lists}/*{pattern}*")
        return subprocess.run(["/usr/lib/apt/apt-helper", *flags, "cat-file", path], check=True,
                              stdout=subprocess.PIPE).stdout.decode("utf-8")

    return read("_Packages"), read("_Translation-en")


def stanzas(text):
    """Yields each stanza of a control file as {field: value}, continuation lines joined with newlines."""
    for block in text.split("\n\n"):
        fields, key = {}, None
        for line in block.split("\n"):
            if line[:1] == " ":
                fields[key] += "\n" + line[1:]
            elif ":" in line:
                key, value = line.split(":", 1)
                fields[key] = value.strip()
        if fields:
            yield fields


def family(source):
    """The source's name without a trailing version: gcc-11 and gcc-12 share their texts and must not be split."""
    return re.sub(r"[-.0-9]+$", "", source) or source


def paragraphs(rest):
    """Paragraphs and list items of a long description; continuation lines are joined."""
    lines, open_line = [], False
    for line in rest.split("\n"):
        words = " ".join(line.split())
        item = line[:1] == " " and words[:2] in ("* ", "- ", "+ ", "o ")
        if words in ("", "."):
            open_line = False
        elif open_line and not item:
            lines[-1] += " " + words
        else:
            lines.append(words)
            open_line = True
    return lines


def letters(text):
    return re.sub(r"[^a-z]+", " ", text.lower())


def examples(work):
    """All examples in a fixed order; the held-out sources do not depend on the rest of the lists."""
    packages, translations = fetch(work)
    described = {(t["Package"], t["Description-md5"]): t["Description-en"] for t in stanzas(translations)}
    groups = collections.defaultdict(list)
    for p in sorted(stanzas(packages), key=lambda p: p["Package"]):
        label = MERGED.get(p["Section"], p["Section"])
        text = described.get((p["Package"], p.get("Description-md5")))
        if label not in SECTIONS or not text:
            continue
        short, _, rest = text.partition("\n")
        long = " ".join(w for w in rest.split() if w != ".")
        source = family(p.get("Source", p["Package"]).split()[0])
        groups[source, label].append((p["Package"], short, long, paragraphs(rest)))

    found = []
    for (source, label), members in sorted(groups.items()):
        held_out = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 10 == 0
        seen = set()
        for package, short, long, lines in members:
            key = letters(short + " " + long)
            if key not in seen and len(seen) < (HELD_OUT_PER_SOURCE if held_out else TRAIN_PER_SOURCE):
                seen.add(key)
                found.append(Example(package, label, short, long, lines, held_out))
    # A text may still occur in two sources (forks, renamed packages): what is held out is not trained on.
    hidden = {letters(e.short + " " + e.long) for e in found if e.held_out}
    return [e for e in found if e.held_out or letters(e.short + " " + e.long) not in hidden]
