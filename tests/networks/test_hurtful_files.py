"""Files made to hurt: one sentence, in a moment and in little memory."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest

from hypar_exp.errors import UserError
from hypar_exp.networks import load

HEAD = "name: n\ninput: [3, 8, 8]\n"
BOMB = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]\n" for at in range(1, 27)
)
FILES = {
    "an alias bomb": (BOMB, "with every alias written out there are more than 1,000,000 values"),
    "an alias that contains itself": (HEAD + "layers: &a {c: *a}\n", "an alias contains itself"),
    "a list in itself": (HEAD + "layers: &a [*a]\n", "an alias contains itself"),
    "deep nesting": (HEAD + "layers: " + "[" * 100 + "]" * 100 + "\n", "nested more than 40 deep"),
    "very deep nesting": (HEAD + "layers: " + "[" * 100_000 + "]" * 100_000 + "\n", "its values are nested too deeply"),
    "a huge number": (
        HEAD + f"layers: {{c: {{conv: {'9' * 400}, kernel: 1}}}}\n",
        "conv must be a whole number from 1 to",
    ),
    "a huge kernel": (HEAD + f"layers: {{c: {{conv: 1, kernel: {'9' * 400}}}}}\n", "kernel must be a whole number of"),
    "a huge input": (f"name: n\ninput: [{'9' * 400}]\nlayers: {{f: {{fc: 1}}}}\n", "network.input must be "),
    "thousands of digits": (
        HEAD + f"layers: {{c: {{conv: {'9' * 5000}, kernel: 1}}}}\n",
        "a number of thousands of digits",
    ),
    "a huge sexagesimal": (
        HEAD + f"layers: {{c: {{conv: 1{':59' * 300}, kernel: 1}}}}\n",
        "conv must be a whole number",
    ),
    "a huge sexagesimal float": (
        HEAD + f"layers: {{c: {{conv: 1{':59' * 300}.5, kernel: 1}}}}\n",
        "a number that is too large",
    ),
    "an infinite size": (HEAD + "layers: {c: {conv: .inf, kernel: 1}}\n", "conv must be a whole number"),
    "no date": (HEAD + "layers: {c: {conv: 2024-99-99, kernel: 1}}\n", "it has a value that is none"),
    "a key twice below a list": (HEAD + "layers: [{a: 1, a: 2}]\n", "the key 'a' is there twice"),
}


@pytest.mark.parametrize("name", FILES)
def test_one_sentence(name: str, tmp_path: Path) -> None:
    content, sentence = FILES[name]
    file = tmp_path / "n.yaml"
    file.write_text(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    with pytest.raises(UserError) as error:
        load(str(file))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400
    assert time.monotonic() - started < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000, "kB"
