"""The platform tag of a wheel, and the lines of a build."""
import sys
import unittest
from unittest import mock

from support import FOLDER, ROOT

sys.path.insert(0, str(ROOT / "ports" / "python"))
import backend  # noqa: E402
import platform_tag  # noqa: E402

HEAD = "  Machine:                           {}\n"
NEEDED = " 0x0000000000000001 (NEEDED)             Shared library: [{}]\n"
VERSION = "  0x0010:   Name: {}  Flags: none  Version: 5\n"


def report(machine, needed, versions=()):
    """As readelf prints it."""
    return HEAD.format(machine) + "".join(map(NEEDED.format, needed)) + "".join(map(VERSION.format, versions))


class Tags(unittest.TestCase):
    X86, ARM = "Advanced Micro Devices X86-64", "AArch64"

    def test_reports(self):
        for machine, needed, versions, tag in (
                (self.X86, ["libm.so.6", "libc.so.6"], ["GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_2.4"],
                 ("manylinux", (2, 34), "x86_64")),
                (self.ARM, ["libc.so.6", "ld-linux-aarch64.so.1"], ["GLIBC_2.17"], ("manylinux", (2, 17), "aarch64")),
                (self.X86, ["libc.so.6"], ["GLIBC_2.2.5"], ("manylinux", (2, 17), "x86_64")),
                (self.X86, ["libc.musl-x86_64.so.1"], [], ("musllinux", (1, 2), "x86_64")),
                (self.ARM, ["libc.so"], [], ("musllinux", (1, 2), "aarch64")),
                (self.X86, ["libc.so.6", "libstdc++.so.6"], ["GLIBC_2.34", "GLIBCXX_3.4.30"], None),
                (self.X86, ["libc.so.6"], ["GLIBC_2.34", "GLIBC_PRIVATE"], None),
                (self.X86, [], [], None), ("unheard of", ["libc.so.6"], ["GLIBC_2.34"], None)):
            with self.subTest(needed=needed, versions=versions):
                self.assertEqual(platform_tag.tag_of(report(machine, needed, versions))[0], tag)

    def test_several_libraries(self):
        def told(*reports):
            outputs = [mock.Mock(stdout=text) for text in reports]
            with mock.patch.object(platform_tag.subprocess, "run", side_effect=outputs):
                return platform_tag.platform_tag(["lib.so"] * len(reports))
        old, new = (report(self.X86, ["libc.so.6"], [f"GLIBC_2.{minor}"]) for minor in (9, 35))
        self.assertEqual(told(old, new)[0], "manylinux_2_35_x86_64")
        self.assertEqual(told(new, old)[0], "manylinux_2_35_x86_64")
        usual = platform_tag.usual_tag()
        for other in (report(self.ARM, ["libc.so.6"], ["GLIBC_2.30"]), report(self.X86, ["libc.so"])):
            tag, lines = told(old, other)
            self.assertEqual((tag, "not proved: the libraries are for different" in lines[0]), (usual, True))

    def test_no_library(self):
        path = FOLDER / "text.so"
        path.write_text("no library")
        with mock.patch.dict("os.environ", {"PATH": str(FOLDER)}):
            tag, lines = platform_tag.platform_tag([path])
        self.assertEqual((tag, "not proved" in lines[0]), (platform_tag.usual_tag(), True))


class Builds(unittest.TestCase):
    def lines(self, *program):
        with mock.patch.object(backend, "_report") as reported:
            backend._run(program, "built")
        return [call.args[0] for call in reported.call_args_list]

    def test_progress(self):
        for line in ("print(f'[{i}/100] x')", "print(f'[{i:3}%] Building x')"):
            program = f"for i in range(1, 101):\n  {line}\n  print('noise')"
            self.assertEqual(self.lines(sys.executable, "-c", program), [f"{n} % built" for n in range(5, 101, 5)] +
                             ["built"])

    def test_failures(self):
        with self.assertRaisesRegex(SystemExit, r"(?s)the reason.*failed"):
            self.lines(sys.executable, "-c", "print('the reason'); raise SystemExit(1)")
        with self.assertRaisesRegex(SystemExit, "no absent-command; install it, or set FOVEA_LIBRARY_DIR"):
            self.lines("absent-command")


if __name__ == "__main__":
    unittest.main()
