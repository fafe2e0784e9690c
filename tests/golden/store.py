"""The golden file: sorted JSON, a line for each small value, long texts that repeat written once."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent / "golden.json"
WIDTH = 120
LONG = 40  # characters from which on a text that repeats is written once


def write(golden: dict[str, Any], path: Path = PATH) -> None:
    many: Counter[str] = Counter()
    count_texts(golden, many)
    keys = {text: f"text {mark_of(text)}" for text, times in many.items() if times > 1 and len(text) > LONG}
    texts = {key: text for text, key in keys.items()}
    path.write_text(lines({**replace_texts(golden, keys), "texts": texts}) + "\n", encoding="utf-8")


def read(path: Path = PATH) -> dict[str, Any]:
    golden = json.loads(path.read_text(encoding="utf-8"))
    return replace_texts(golden, golden.pop("texts"))


def mark_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def count_texts(value: Any, many: Counter[str]) -> None:
    if isinstance(value, str):
        many[value] += 1
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            count_texts(one, many)


def replace_texts(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: replace_texts(one, texts) for key, one in value.items()}
    if isinstance(value, list):
        return [replace_texts(one, texts) for one in value]
    return texts.get(value, value) if isinstance(value, str) else value


def lines(value: Any, indent: str = "") -> str:
    """JSON in which whatever fits a line is on one, so that a changed number is a changed line."""
    flat = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
    if len(indent) + len(flat) <= WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    more = indent + " "
    if isinstance(value, dict):
        inner = [f"{json.dumps(key, ensure_ascii=False)}: {lines(value[key], more)}" for key in sorted(value)]
        return "{\n" + ",\n".join(more + one for one in inner) + f"\n{indent}}}"
    return "[\n" + ",\n".join(more + lines(one, more) for one in value) + f"\n{indent}]"
