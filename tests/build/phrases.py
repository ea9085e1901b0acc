#!/usr/bin/env python3
"""Counts phrases that have a plainer wording, by folder, against a budget that may only fall.

  phrases.py SOURCE_DIR                 fails if a folder has more of them than tests/build/phrases.txt allows
  phrases.py SOURCE_DIR --list [PATH..] shows each line that has one, with the phrase
  phrases.py SOURCE_DIR --update        writes the counts found as the budget

Prose is all of a .md file, comments, and text in quotes that has a space in it.
The plain words are in the glossary of runtime/README.md.
"""
import os
import re
import signal
import subprocess
import sys

signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for `--list | head`

# (name, pattern). A pattern that begins with ^ applies to the first words of a comment.
PHRASES = [
    ("say, tell, hear: specify, return, report, receive", r"\b(says?|said|tells?|told|hears?|heard|knows? nothing)\b"),
    ("^What as a noun: name the thing", r"^What\b(?!.*\?)"),
    ("^Of: For", r"^[Oo]f\b(?!\.)"),
    ("stand: is, is listed, precedes", r"\b(stands?|stood)\b(?! ?-?alone)"),
    ("lie: is stored, is at", r"\b(lies|lie|lay|lain)\b"),
    ("others, theirs, own, those as nouns: repeat the noun",
     r"\bothers\b|\btheirs\b|\bof (its|their|one's|his|your) own\b|\bthose (of|that|which|who|in|with|at|for|on)\b"),
    ("so many, so much: N, the given number of", r"\bso (many|much)\b"),
    ("whatever: regardless of", r"\bwhatever\b"),
    (", too: also", r", too\b"),
    ("goes with, goes without: can(not) be combined with", r"\b(go|goes|went|gone) (with|without)\b"),
    ("goes on: continues", r"\b(go|goes|going|went) on\b"),
    ("nobody, somebody: no caller, nothing", r"\b(nobody|somebody)\b"),
    ("is had, has to do: is available", r"\b(is|are|be) had\b|\b(has|have|had) to do\b"),
    ("takes apart, takes in: splits, parses, reads", r"\b(takes?|taken|took) (apart|in)\b"),
    ("..: ...", r"(?<![.\[/\w])\w[\w'\)]*\.\.(?![.\w/\]])"),
    ("riddles", r"\b(too dear|foretells?|lets? go|who multiplies|may be given several times|texts in the making|"
                r"guess(es|ing)? ahead)\b"),
    ("weighed: weighted", r"\b(un)?weighed\b"),
    ("beside, below each other: concatenated", r"\b(beside|below) each other\b"),
]
PHRASES = [(name, re.compile(pattern)) for name, pattern in PHRASES]

SUFFIXES = (".h", ".hpp", ".c", ".cc", ".inc", ".js", ".mjs", ".java", ".swift", ".py", ".sh", ".cmake", ".md", ".html")
HASH = (".py", ".sh", ".cmake")
EXCLUDED = ("tests/data/", "tests/fuzz/corpus/", "tests/build/phrases")
COMMENT = re.compile(r"(?:^|\s)(?://+!?|/\*+|\*(?=\s))\s?(.*)$")
HASH_COMMENT = re.compile(r"(?:^|\s)#+\s?(.*)$")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def prose(path, lines):
    """Yields (line number, text, first line of a comment?)."""
    if path.endswith(".md"):
        fenced = False
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield number, re.sub(r"`[^`]*`", "``", line), False
        return
    comment = HASH_COMMENT if path.endswith(HASH) or "CMakeLists" in path else COMMENT
    before = False
    for number, line in enumerate(lines, 1):
        for text in STRING.findall(line):
            if " " in text.strip():
                yield number, text, False
        found = comment.search(STRING.sub('""', line))
        if found:
            whole = line.strip().startswith(("//", "/*", "*", "#"))
            yield number, found.group(1).replace("*/", "").strip(), not (before and whole)
            before = whole
        else:
            before = False


def find(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    for number, text, first in prose(path, lines):
        for name, pattern in PHRASES:
            if pattern.pattern.startswith("^") and not first:
                continue
            for _ in pattern.finditer(text):
                yield number, name, lines[number - 1].strip()


def folder(path):
    parts = path.split("/")
    if len(parts) > 2 and parts[0] in ("runtime", "tools", "ports", "tests"):
        return "/".join(parts[:2])
    return parts[0]


def main():
    root = sys.argv[1]
    git = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False)
    listed = git.stdout.split("\n")
    if not any(listed):
        print("no list of files: this is not a checkout, so phrases are not counted")
        return 77
    paths = [p for p in listed if (p.endswith(SUFFIXES) or p.endswith("CMakeLists.txt")) and not p.startswith(EXCLUDED)
             and os.path.isfile(os.path.join(root, p))]
    if "--list" in sys.argv:
        wanted = tuple(sys.argv[sys.argv.index("--list") + 1:])
        for path in paths:
            if not wanted or path.startswith(wanted):
                for number, name, line in find(root, path):
                    print(f"{path}:{number}: [{name}] {line}")
        return 0
    counts = {}
    for path in paths:
        counts[folder(path)] = counts.get(folder(path), 0) + sum(1 for _ in find(root, path))
    budget_path = os.path.join(root, "tests/build/phrases.txt")
    if "--update" in sys.argv:
        with open(budget_path, "w", encoding="utf-8") as file:
            file.write("".join(f"{count} {name}\n" for name, count in sorted(counts.items()) if count))
        print(sum(counts.values()))
        return 0
    budget = {}
    with open(budget_path, encoding="utf-8") as file:
        for line in file:
            count, name = line.split()
            budget[name] = int(count)
    failed = False
    for name, count in sorted(counts.items()):
        if count > budget.get(name, 0):
            print(f"{name}: {count} listed phrases, {budget.get(name, 0)} allowed; --list {name}/ shows them")
            failed = True
        elif count < budget.get(name, 0):
            print(f"{name}: {count} listed phrases, {budget[name]} allowed; --update lowers the budget")
            failed = True
    return 1 if failed else 0


sys.exit(main())
