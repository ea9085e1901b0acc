"""Runs a sample's image in QEMU."""
import struct
import subprocess
import sys

LONGEST = 255  # bytes that every sample takes


def longest(text, filler):
    """The text after enough of `filler` that both together have LONGEST bytes."""
    room = LONGEST - len(text.encode())
    return (filler * room)[-room:] + text


def output(qemu, image, line):
    """Everything that an image prints; `line` is its command line."""
    # A comma in an argument of QEMU is written twice.
    console = "enable=on,target=native,arg=" + line.replace(",", ",,")
    result = subprocess.run([*qemu, "-display", "none", "-monitor", "none", "-serial", "none",
                             "-semihosting-config", console, "-kernel", image],
                            capture_output=True, text=True, timeout=120)
    printed = result.stdout + result.stderr
    if result.returncode != 0:
        sys.exit(f"{line}\nexit status {result.returncode}: {' / '.join(printed.splitlines())}")
    return printed


def run(qemu, image, text):
    """The output of a sample: a number or word for each name, and under "text" the rest after that name."""
    printed, found, written = output(qemu, image, text).partition("\ntext ")
    answer = dict(line.split(" ", 1) for line in printed.splitlines() if " " in line)
    if found:
        answer["text"] = written.removesuffix("\n")
    return answer


def scores(printed):
    """The numbers of a line of scores."""
    return [struct.unpack(">f", bytes.fromhex(word))[0] for word in printed["scores"].split()]


def unlike(expected, name):
    """The complaint for `compare` that a sample's output under `name` is not the expected one for that text."""
    def complaint(i, printed):
        wanted, answer = expected[i], printed.get(name)
        return None if answer == wanted else f"host prints {wanted!r}, firmware {answer!r}"
    return complaint


def compare(qemu, image, texts, complaint, stack_limit):
    """Runs the sample with each text, which must keep within its stack: the exit status. `complaint` is called with the
    text's number and what the sample printed: None, or the fault."""
    failures = most = 0
    for i, text in enumerate(texts):
        printed = run(qemu, image, text)
        wrong = complaint(i, printed)
        if wrong is not None:
            print(f"{text}\n  {wrong}")
            failures += 1
        most = max(most, int(printed["stack_bytes"]))
        if int(printed["stack_bytes"]) > int(stack_limit):
            print(f"{text}\n  {printed['stack_bytes']} bytes of stack, more than {stack_limit}")
            failures += 1
    print(" ".join(f"{key}={value}" for key, value in printed.items()))
    print(f"{len(texts)} texts, {failures} failures, at most {most} bytes of stack")
    return failures != 0
