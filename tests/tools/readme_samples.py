"""What documents show of the command is what the command prints, and the options that they name exist.

  readme_samples.py FOVEA_COMMAND SOURCE_DIR FOLDER

A sample is a fenced block with lines "$ COMMAND": what follows is its output, where ".." is a line for any number of
them. A sample that begins with "fovea: " is the message of a command that fails. Numbers with a point may be 0.01 from
those shown, shades of a map one step: vectors of other lengths add in another order.
Lines "fovea ..." of other blocks are run as well, in their order, and must succeed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

COMMAND, SOURCE, FOLDER = (pathlib.Path(path).resolve() for path in sys.argv[1:])
TOLERANCE = 0.01
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
SUBCOMMAND = re.compile(r"\bfovea ([a-z-]+)\b((?:\\\n|[^|;`\n])*)")
SHADES = " .:-=+*#%@"
# Names in lines, and the models of this machine that are used for them.
NAMES = {"DIRECTORY": "tools/train/package-section",
         "USE_LITE": os.path.join(os.environ.get("FOVEA_SHARED_DIR", "missing"), "models/use-lite")}
complaints = []


def pages():
    """Every document of the repository, without the files of other projects in the data of tests."""
    return [page for page in sorted(SOURCE.rglob("*.md"))
            if page.relative_to(SOURCE).parts[0] != "build" and "data" not in page.relative_to(SOURCE).parts[:2]]


def samples(readme):
    """Commands with the lines that are shown after each."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", readme, re.DOTALL | re.MULTILINE):
        lines = block.splitlines()
        while lines:
            command = lines.pop(0)[2:]
            while command.endswith("\\"):
                command = command[:-1] + lines.pop(0)
            shown = []
            while lines and not lines[0].startswith("$ "):
                shown.append(lines.pop(0).rstrip())
            while shown and not shown[-1]:
                shown.pop()
            yield command, shown


def alike(shown, found):
    """Whether a line is the one shown, numbers with a point and shades within their tolerances."""
    def near(a, b):
        return all(re.fullmatch(r"\d+\.\d+", word) for word in (a, b)) and abs(float(a) - float(b)) <= TOLERANCE

    length = max(len(shown), len(found))
    if all(a == b or (a in SHADES and b in SHADES and abs(SHADES.index(a) - SHADES.index(b)) <= 1)
           for a, b in zip(shown.ljust(length), found.ljust(length))):
        return True
    one, other = shown.split(), found.split()
    return len(one) == len(other) and all(a == b or near(a, b) for a, b in zip(one, other))


def matches(shown, found):
    if not shown:
        return not found
    if shown[0] == "..":
        return any(matches(shown[1:], found[skipped:]) for skipped in range(len(found) + 1))
    return bool(found) and alike(shown[0], found[0]) and matches(shown[1:], found[1:])


def check_samples():
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "bin").mkdir(parents=True)
    (FOLDER / "bin" / "fovea").symlink_to(COMMAND)
    (FOLDER / "tools").symlink_to(SOURCE / "tools")
    every = [(page, *sample) for page in pages() for sample in samples(page.read_text(encoding="utf-8"))]
    for page, command, shown in every:
        name = page.relative_to(SOURCE)
        done = subprocess.run(["sh", "-c", f'PATH="$PWD/bin:$PATH"; {command}'], cwd=FOLDER, capture_output=True,
                              text=True)
        fails = bool(shown) and shown[0].startswith("fovea: ")
        found = [line.rstrip() for line in (done.stderr if fails else done.stdout).rstrip().splitlines()]
        if fails and done.returncode == 0:
            complaints.append(f"{name}: '{command}' does not fail")
        elif not fails and done.returncode != 0:
            complaints.append(f"{name}: '{command}' ends with {done.returncode}: {done.stderr}")
        elif shown and not matches(shown, found):
            complaints.append(f"{name} shows of '{command}'\n" + "\n".join(shown) + "\nit prints\n" +
                              "\n".join(found))
    for page, least in (("README.md", 1), ("tools/COMMAND.md", 5), ("tools/FAQ.md", 2)):
        if sum(1 for sample in every if sample[0] == SOURCE / page) < least:
            complaints.append(f"{page} has fewer samples than {least}")


def plain_commands(text):
    """Lines with a command alone, in fenced and in indented blocks, without their comments."""
    blocks = re.findall(r"^```(?:sh)?\n(?!\$ )(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    blocks += re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
    for block in blocks:
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            if re.match(r"\s*fovea [a-z-]+ ", line):
                yield re.sub(r"\s+# .*", "", line).strip()


def check_commands():
    (FOLDER / "captions.txt").write_text("A man plays a guitar.\nTwo dogs run in the snow.\n", encoding="utf-8")
    count = 0
    for page in pages():
        for line in plain_commands(page.read_text(encoding="utf-8")):
            command = line
            for name, path in NAMES.items():
                command = re.sub(rf"\b{name}\b", path, command)
            if "USE_LITE" in line and not os.path.exists(NAMES["USE_LITE"]):
                continue
            done = subprocess.run(["sh", "-c", f'PATH="$PWD/bin:$PATH"; {command}'], cwd=FOLDER, capture_output=True,
                                  text=True)
            count += 1
            if done.returncode != 0:
                complaints.append(f"{page.relative_to(SOURCE)}: '{command}' ends with {done.returncode}: {done.stderr}")
    if count < 8:
        complaints.append(f"only {count} lines with a command alone were found")


def helps():
    """The help of every command."""
    listed = subprocess.run([COMMAND, "--help"], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^  ([a-z-]+) ", listed, re.MULTILINE)
    found = {name: subprocess.run([COMMAND, name, "--help"], check=True, capture_output=True, text=True).stdout
             for name in names}
    found["bench"] += subprocess.run([COMMAND, "bench", "attention", "--help"], check=True, capture_output=True,
                                     text=True).stdout
    return found


def check_options():
    known = helps()
    count = 0
    for readme in pages():
        name, text = readme.relative_to(SOURCE), readme.read_text(encoding="utf-8")
        spans = re.findall(r"^```.*?^```$", text, re.DOTALL | re.MULTILINE)
        text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        rows = [line for line in text.splitlines() if re.match(r"\| `fovea [a-z-]+ ", line)]
        spans += [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", text)]
        found = [match for span in spans for match in SUBCOMMAND.findall(span)]
        found += [(re.match(r"\| `fovea ([a-z-]+)", row)[1], row) for row in rows]
        for command, rest in found:
            if command not in known:
                continue
            for option in OPTION.findall(rest):
                count += 1
                if not re.search(re.escape(option) + r"(?![\w-])", known[command]):
                    complaints.append(f"{name}: 'fovea {command}' has no {option}")
    if count < 50:
        complaints.append(f"only {count} options are named")
    return count


check_samples()
check_commands()
options = check_options()
print("\n".join(complaints) or f"all {options} options exist in the command")
sys.exit(bool(complaints))
