"""Programs that take turns: one runs, the others are stopped, so that no thread that waits by spinning takes its time.

A program begins with a line `MILLISECONDS NAME`: how long loading took and what it is. Then it is told, a line each:
  ids 5 2 ..   the text                                               -> ok
  run          the whole text; milliseconds, and of processors        -> 12.5 12.4
  tokens N     N more tokens of a decoder; the same for one           -> 3.1 3.1
  repeat N     the whole text, N times (only C++ programs)            -> ok
  append N     the text's first token after it, N times (the same)    -> ok
  write FILE   the result's last rows, f32                            -> ok
  memory       the most bytes that it had, less those before loading  -> 1000000
"""
import os
import signal
import statistics
import subprocess


class Disagreement(Exception):
    """Results that are too far apart for their times to be compared."""


class Program:
    def __init__(self, command, threads, variant=""):
        self.threads, self.variant = threads, variant
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        load, self.name = self._answer().split(" ", 1)
        self.load_ms = float(load)
        self._signal(signal.SIGSTOP)

    def tell(self, line):
        self._signal(signal.SIGCONT)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self._answer()
        self._signal(signal.SIGSTOP)
        return answer

    def milliseconds(self, line="run"):
        """With one thread of the processor, which nothing else on the machine adds to."""
        passed, used = map(float, self.tell(line).split())
        return used if self.threads == 1 else passed

    def close(self):
        self._signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()

    def _signal(self, number):
        os.kill(self.process.pid, number)

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} ended with status {self.process.wait()}")
        return line.rstrip("\n")


def end(programs):
    for program in programs:
        program.close()


def quartiles(numbers):
    low, middle, high = statistics.quantiles(numbers, n=4, method="inclusive")
    return {"median": middle, "low": low, "high": high}


def take_turns(programs, measure, seconds, most=200):
    """For each program its times, as `measure` takes them from it; at least 5 turns each, after one that is not
    counted."""
    first = [measure(program) for program in programs]
    turns = max(5, min(most, round(1e3 * seconds / sum(first))))
    times = [[] for _ in programs]
    for turn in range(turns):
        order = range(len(programs)) if turn % 2 == 0 else reversed(range(len(programs)))
        for i in order:
            times[i].append(measure(programs[i]))
    return times


def fastest(programs, measure, turns=3):
    """The one of several settings of a peer, which have run already, that is best here."""
    if len(programs) == 1:
        return programs[0]
    times = {program: [] for program in programs}
    for _ in range(turns):
        for program in programs:
            times[program].append(measure(program))
    return min(programs, key=lambda program: min(times[program]))


def compare(own, peer, measure, seconds):
    """Times of both in alternation; `ratio` is of the peer's time to the own one, turn by turn."""
    own_times, peer_times = take_turns([own, peer], measure, seconds)
    return {"turns": len(own_times), "own_ms": quartiles(own_times), "peer_ms": quartiles(peer_times),
            "ratio": quartiles([b / a for a, b in zip(own_times, peer_times)]),
            "peer": peer.name, "variant": peer.variant}
