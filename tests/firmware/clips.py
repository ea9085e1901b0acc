"""A firmware image in QEMU hears in WAV files what the host hears, and what their names say, within its stack.

  clips.py HOST_COMMAND BLOB FOLDER STACK_LIMIT QEMU ARGUMENT.. IMAGE

FOLDER has files WORD_NUMBER.wav. The last one's numbers are printed.
"""
import pathlib
import sys

import board
import classes

CLIPS = 8
NOT_WORDS = ("silence", "unknown")


def main():
    host, blob, folder, stack_limit, *qemu, image = sys.argv[1:]
    # Noise is a class, too, but no word.
    clips = sorted(path for path in pathlib.Path(folder).glob("*_0.wav") if path.name.split("_")[0] not in NOT_WORDS)
    clips = [str(path) for path in clips][:CLIPS]
    heard = classes.host_classes(host, blob, "--wav", clips)
    said = [pathlib.Path(clip).name.split("_")[0] for clip in clips]
    if len(clips) != CLIPS or heard != said:
        sys.exit(f"the host hears {heard} in {said}")
    return board.compare(qemu, image, clips, heard, "class", stack_limit)


if __name__ == "__main__":
    sys.exit(main())
