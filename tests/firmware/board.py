"""Runs a sample's image in QEMU."""
import struct
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


def scores(said):
    """The numbers of a line of scores."""
    return [struct.unpack(">f", bytes.fromhex(word))[0] for word in said["scores"].split()]


def unlike(expected, name):
    """The complaint for `compare` that what a sample says under `name` is not what is expected of that text."""
    def complaint(i, said):
        wanted, answer = expected[i], said.get(name)
        return None if answer == wanted else f"host says {wanted!r}, firmware {answer!r}"
    return complaint


def compare(qemu, image, texts, complaint, stack_limit):
    """Runs the sample with each text, which must keep within its stack: the exit status. `complaint` is called with the
    text's number and what the sample said: None or what is wrong with that."""
    failures = most = 0
    for i, text in enumerate(texts):
        said = run(qemu, image, text)
        wrong = complaint(i, said)
        if wrong is not None:
            print(f"{text}\n  {wrong}")
            failures += 1
        most = max(most, int(said["stack_bytes"]))
        if int(said["stack_bytes"]) > int(stack_limit):
            print(f"{text}\n  {said['stack_bytes']} bytes of stack, more than {stack_limit}")
            failures += 1
    print(" ".join(f"{key}={value}" for key, value in said.items()))
    print(f"{len(texts)} texts, {failures} failures, at most {most} bytes of stack")
    return failures != 0
