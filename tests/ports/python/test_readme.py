"""Every example of the README runs as it is printed."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import fovea
from support import FOLDER, ROOT, blob

README = ROOT / "ports" / "python" / "README.md"
MODELS = {"model.fovea": ("package-section-hierarchical",),
          "embedder.fovea": ("package-section", "--task", "embedding"), "writer.fovea": ("package-writer",)}


class Examples(unittest.TestCase):
    def test_python(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
        for name, model in MODELS.items():
            shutil.copyfile(blob(*model), folder / name)
        (folder / "lines.txt").write_text("a line\nanother one\n", encoding="utf-8")
        package = str(pathlib.Path(fovea.__file__).parents[1])
        settings = {**os.environ, "PYTHONPATH": package, "PYTHONIOENCODING": "utf-8"}
        examples = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
        self.assertGreater(len(examples), 3)
        for example in examples:
            done = subprocess.run([sys.executable, "-W", "error", "-"], input=example, capture_output=True, text=True,
                                  cwd=folder, encoding="utf-8", env=settings)
            self.assertEqual(done.returncode, 0, f"{example}\n{done.stderr}")
            self.assertTrue(done.stdout)

    def test_names(self):
        """Files that the README names exist, and so do the names of the package."""
        text = README.read_text(encoding="utf-8")
        for file in re.findall(r"`([\w/]+\.py)`", text):
            self.assertTrue((README.parent / file).exists(), file)
        for name in re.findall(r"fovea\.(\w+)", text):
            self.assertTrue(hasattr(fovea, name), name)


if __name__ == "__main__":
    unittest.main()
