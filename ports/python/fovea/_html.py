"""What notebooks show: marked texts and attention maps as tables. Plain HTML, without scripts."""

import html
from typing import Any, List, Optional, Tuple

import numpy as np

_MOST_SEGMENTS, _MOST_TOKENS, _MOST_HEADS = 3, 48, 16  # For attention maps; the caption has the numbers left out.
_HUE = "214,90,24"


def _mark(text: str, weight: float, title: str) -> str:
    return (f'<span style="background:rgba({_HUE},{min(1.0, weight):.3f});border-radius:3px;padding:0 1px" '
            f'title="{html.escape(title)}">{html.escape(text)}</span>')


def explanation_page(explained: Any) -> str:
    rows = "".join(
        f"<tr><td style='text-align:left'>{html.escape(one.label)}</td><td>"
        f"{one.score:.4f}</td></tr>" for one in explained.classes[:5])
    most = max((word.share for word in explained.words), default=0) or 1
    parts: List[str] = []
    at = 0
    for word in explained.words:
        parts.append(html.escape(explained.text[at:word.begin]))
        parts.append(_mark(word.text, word.share / most, f"weight {word.weight:.3f}, share {word.share:.4f}"))
        at = word.end
    parts.append(html.escape(explained.text[at:]))
    dropped = explained.dropped_sentences
    note = f"<p><em>{dropped} sentences at the end were not read.</em></p>" if dropped else ""
    return f"<table>{rows}</table><div style='white-space:pre-wrap;line-height:1.7'>{''.join(parts)}</div>{note}"


def _grid(weights: np.ndarray, queries: List[str], keys: List[str], caption: str) -> str:
    """[queries, keys] as a table; the darkest cell is the largest weight."""
    most = float(np.max(weights, where=np.isfinite(weights), initial=0)) or 1.0
    head = "".join(f"<th style='writing-mode:vertical-rl;text-align:left;font-weight:normal'>{html.escape(key)}</th>"
                   for key in keys)
    lines = []
    for query, row in zip(queries, weights.tolist()):
        cells = "".join(f"<td title='{weight:.4f}' style='padding:0;width:1em;height:1em;"
                        f"background:rgba({_HUE},{min(1.0, max(0.0, weight / most)):.3f})'></td>" for weight in row)
        lines.append(f"<tr><th style='text-align:right;font-weight:normal'>{html.escape(query)}</th>{cells}</tr>")
    return (f"<table style='font-size:80%;border-collapse:collapse'><caption>{html.escape(caption)}</caption>"
            f"<tr><th></th>{head}</tr>{''.join(lines)}</table>")


def _names(labels: Optional[List[List[str]]], segment: int, numbers: List[int], length: int) -> List[str]:
    if labels is None or segment >= len(labels) or len(labels[segment]) != length:
        return [str(number) for number in numbers]
    return [labels[segment][number] for number in numbers]


def _segment(recorded: Any, index: int) -> Tuple[np.ndarray, List[str], List[str]]:
    """[heads, queries, keys] and the names of queries and keys."""
    weights = recorded.segment(index)
    own = len(recorded.query_offsets) == len(recorded.key_offsets)
    keys = _names(recorded.labels, index, list(range(weights.shape[2])), weights.shape[2])
    if not own:
        return weights, [str(index)] * weights.shape[1], keys
    first, end = int(recorded.query_offsets[index]), int(recorded.query_offsets[index + 1])
    rows = [int(row) - first for row in recorded.query_rows if first <= row < end]
    return weights, _names(recorded.labels, index, rows, end - first), keys


def attention_page(recorded: Any) -> str:
    """Each segment's mean over its heads, and the heads below."""
    count = len(recorded.key_offsets) - 1
    parts = []
    for i in range(min(count, _MOST_SEGMENTS)):
        weights, queries, keys = _segment(recorded, i)
        if 0 in weights.shape:
            continue
        heads, rows, width = weights.shape
        shown = weights[:, :_MOST_TOKENS, :_MOST_TOKENS]
        cut = "" if max(rows, width) <= _MOST_TOKENS else f", the first {_MOST_TOKENS} of {rows} x {width} rows"
        name = f"segment {i} of {count}{cut}"
        if heads == 1:
            parts.append(_grid(shown[0], queries, keys[:_MOST_TOKENS], name))
            continue
        parts.append(_grid(shown.mean(axis=0), queries, keys[:_MOST_TOKENS], f"{name}: mean of {heads} heads"))
        each = "".join(_grid(head, queries, keys[:_MOST_TOKENS], f"head {h}")
                       for h, head in enumerate(shown[:_MOST_HEADS]))
        some = f"{_MOST_HEADS} of {heads} heads" if heads > _MOST_HEADS else "each head"
        parts.append(f"<details><summary>{some}</summary>{each}</details>")
    if count > _MOST_SEGMENTS:
        parts.append(f"<p><em>{count - _MOST_SEGMENTS} more segments are not shown: segment(i) has their weights."
                     "</em></p>")
    return "".join(parts)


def model_page(model: Any) -> str:
    return f"<pre>{html.escape(model.describe())}</pre>"
