"""A firmware image in QEMU gives texts the classes that the host gives them, within its stack.

  classes.py HOST_COMMAND BLOB TEXTS_TSV MAX_TOKENS STACK_LIMIT QEMU ARGUMENT.. IMAGE

TEXTS_TSV: lines of a class and a text. The last text's numbers are printed.
"""
import json
import subprocess
import sys

TEXTS = 12
LONGEST = 256  # bytes that the sample takes


def host_classes(command, blob, texts, max_tokens):
    given = [part for text in texts for part in ("--text", text)]
    result = subprocess.run([command, "run", blob, "--max-length", max_tokens, "--json", *given],
                            check=True, capture_output=True, text=True)
    return [answer["classes"][0]["label"] for answer in json.loads(result.stdout)]


def firmware(qemu, image, text):
    # A comma in an argument of QEMU is written twice.
    console = "enable=on,target=native,arg=" + text.replace(",", ",,")
    result = subprocess.run([*qemu, "-display", "none", "-monitor", "none", "-serial", "none",
                             "-semihosting-config", console, "-kernel", image],
                            capture_output=True, text=True, timeout=120)
    lines = (result.stdout + result.stderr).splitlines()
    if result.returncode != 0:
        sys.exit(f"{text}\nexit status {result.returncode}: {' / '.join(lines)}")
    return dict(line.split(" ", 1) for line in lines if " " in line)


def main():
    host, blob, tsv, max_tokens, stack_limit, *qemu, image = sys.argv[1:]
    with open(tsv, encoding="utf-8") as lines:
        texts = [line.rstrip("\n").split("\t")[1] for line in lines]
    texts = [text for text in texts if len(text.encode()) < LONGEST]
    texts = texts[:: len(texts) // TEXTS][:TEXTS]
    failures = 0
    for text, expected in zip(texts, host_classes(host, blob, texts, max_tokens)):
        said = firmware(qemu, image, text)
        if said.get("class") != expected:
            print(f"{text}\n  host says {expected}, firmware {said.get('class')}")
            failures += 1
        if int(said["stack_bytes"]) > int(stack_limit):
            print(f"{text}\n  {said['stack_bytes']} bytes of stack, more than {stack_limit}")
            failures += 1
    print(" ".join(f"{name}={value}" for name, value in said.items()))
    print(f"{len(texts)} texts, {failures} failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
