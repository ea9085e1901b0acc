"""What is stated is neither passed nor far above the truth, and nothing of it is gone."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import stated


class Stated(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "limits.txt"
        self.file.write_text("all 3000\nops 1000\nbase 0\n")

    def said(self, status, **changed):
        now = {"all": 3000, "ops": 1000, "base": 0, **changed}
        with contextlib.redirect_stdout(io.StringIO()) as out:
            found = stated.check({name: number for name, number in now.items() if number is not None}, self.file, 1.02,
                                 "bytes", "update_limits")
        self.assertEqual(found, status, out.getvalue())
        self.assertEqual("update_limits" in out.getvalue(), status != 0)
        return out.getvalue()

    def test_within_the_tolerance(self):
        for ops in (981, 1000, 1020):
            self.said(0, ops=ops)

    def test_beyond_it(self):
        self.assertRegex(self.said(1, ops=1021), "ops .* 1021 bytes, stated .* 1000  TOO MUCH")
        self.assertRegex(self.said(1, ops=980), "ops .* 980 bytes, stated .* 1000  TOO LITTLE")

    def test_names_that_come_and_go(self):
        self.assertRegex(self.said(1, text=7), "text .*TOO MUCH")
        for name in ("ops", "base"):
            self.assertRegex(self.said(1, **{name: None}), f"{name} .*GONE")

    def test_update_states_what_is_there(self):
        self.assertEqual(stated.check({"a": 1, "b": 2}, self.file, 1.02, "bytes", "update_limits", update=True), 0)
        self.assertEqual(self.file.read_text(), "b 2\na 1\n")


if __name__ == "__main__":
    unittest.main()
