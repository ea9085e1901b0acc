"""Hierarchical transformer, documents early: blocks within a segment and blocks across the first rows of a document's
segments."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import segment_blocks  # noqa: E402

segment_blocks.make(__file__, ("within", "across", "within", "within"))
