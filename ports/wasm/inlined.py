"""A file as a script that exports it, gzip in base64.   inlined.py FILE SCRIPT"""
import base64
import gzip
import pathlib
import sys


def main():
    packed = gzip.compress(pathlib.Path(sys.argv[1]).read_bytes(), 9, mtime=0)
    text = base64.b64encode(packed).decode()
    pathlib.Path(sys.argv[2]).write_text(f'export default "{text}";\n', encoding="utf-8")


if __name__ == "__main__":
    main()
