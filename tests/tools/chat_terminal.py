"""A chat on a terminal: banner, commands, what is typed twice. chat_terminal.py COMMAND SOURCE_DIR FOLDER"""
import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import time

COMMAND, SOURCE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
SECONDS = 120  # until an expected text is there


class Terminal:
    def __init__(self, *words):
        self.shown, self.pid, self.file = "", *pty.fork()
        if self.pid == 0:
            os.execv(words[0], words)

    def expect(self, pattern):
        """Waits until what is shown matches, forgets it up to the end of the match, and returns the match."""
        end = time.monotonic() + SECONDS
        while True:
            found = re.search(pattern, self.shown)
            if found:
                self.shown = self.shown[found.end():]
                return found
            if time.monotonic() > end or not self.read():
                sys.exit(f"no {pattern!r} in {self.shown!r}")

    def read(self):
        if not select.select([self.file], [], [], 1)[0]:
            return True
        try:
            part = os.read(self.file, 4096)
        except OSError:  # the other end is closed
            part = b""
        self.shown += part.decode("utf-8", "replace")
        return part != b""

    def type(self, line):
        os.write(self.file, line.encode() + b"\n")

    def ends(self):
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    blob = str(FOLDER / "writer.fovea")
    subprocess.run([COMMAND, "convert", SOURCE / "tools/train/package-writer", "-o", blob, "--compare", "none"],
                   check=True, capture_output=True)
    chat = Terminal(COMMAND, "generate", blob, "--chat", "--chat-template", "mistral", "-n", "12")
    chat.expect(r"Chat with .*writer[.]fovea, context of 256 tokens; /help lists commands[.]\r\n> ")
    chat.type("/help")
    chat.expect(r"/clear +forget all turns")
    chat.expect("\n> ")
    chat.type("/nothing")
    chat.expect(r"/nothing is no command; /help lists them[.]\r\n> ")
    answers = []
    question = "libs / libpng-tools"
    for line in (question, "games / tetris", question):
        chat.type(line)
        answers.append(chat.expect(line + r"\r\n([^>]*)\r\n> ")[1])
    if answers[2] == answers[0]:
        sys.exit("the answer does not depend on earlier turns: choose other lines")
    chat.type("/clear")
    chat.expect(r"The chat begins anew[.]\r\n> ")
    chat.type(question)  # as at the beginning
    again = chat.expect(question + r"\r\n([^>]*)\r\n> ")[1]
    if again != answers[0]:
        sys.exit(f"after /clear the answer is {again!r} instead of {answers[0]!r}")
    chat.type("//usr")
    chat.expect(r"//usr\r\n[^>]*\r\n> ")
    chat.type("/exit")
    status = chat.ends()
    if status != 0:
        sys.exit(f"the chat ends with status {status}")


main()
