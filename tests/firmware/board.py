"""Runs a sample's image in QEMU."""
import subprocess
import sys

LONGEST = 255  # bytes that every sample takes


def longest(text, filler):
    """The text, with so much of `filler` before it that both have LONGEST bytes."""
    room = LONGEST - len(text.encode())
    return (filler * room)[-room:] + text


def output(qemu, image, line):
    """All that an image says; `line` is its command line."""
    # A comma in an argument of QEMU is written twice.
    console = "enable=on,target=native,arg=" + line.replace(",", ",,")
    result = subprocess.run([*qemu, "-display", "none", "-monitor", "none", "-serial", "none",
                             "-semihosting-config", console, "-kernel", image],
                            capture_output=True, text=True, timeout=120)
    said = result.stdout + result.stderr
    if result.returncode != 0:
        sys.exit(f"{line}\nexit status {result.returncode}: {' / '.join(said.splitlines())}")
    return said


def run(qemu, image, text):
    """What a sample said: a number or word for each name, and under "text" all that follows that name."""
    said, found, written = output(qemu, image, text).partition("\ntext ")
    answer = dict(line.split(" ", 1) for line in said.splitlines() if " " in line)
    if found:
        answer["text"] = written.removesuffix("\n")
    return answer


def compare(qemu, image, texts, expected, name, stack_limit):
    """Whether the sample says under `name` what is expected of each text, within its stack: the exit status."""
    failures = 0
    for text, wanted in zip(texts, expected, strict=True):
        said = run(qemu, image, text)
        if said.get(name) != wanted:
            print(f"{text}\n  host says {wanted!r}, firmware {said.get(name)!r}")
            failures += 1
        if int(said["stack_bytes"]) > int(stack_limit):
            print(f"{text}\n  {said['stack_bytes']} bytes of stack, more than {stack_limit}")
            failures += 1
    print(" ".join(f"{key}={value}" for key, value in said.items()))
    print(f"{len(texts)} texts, {failures} failures")
    return failures != 0
