"""Damaged text files: each is read or refused in one sentence, in little time and memory."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from hypar_exp import networks
from hypar_exp.errors import UserError
from hypar_exp.networks.operator_graph import load_operator_graph
from hypar_exp.networks.parallel_profile import load_parallel_profile
from hypar_exp.networks.profile import PROFILES, load_profile
from hypar_exp.paths import CONF_DIR
from tests.conftest import DATA

READERS: list[tuple[Path, Callable[[str], object]]] = [
    *((DATA / file, networks.load) for file in ("accpar/Vgg11.txt", "calculon/gpt3-13B.json")),
    *((DATA / file, networks.load) for file in ("pipedream/pipedream_list_of_sizes.txt", "scalesim/Resnet18.csv")),
    *((file, networks.load) for file in (DATA / "scalesim" / "gpt2.csv", CONF_DIR / "network" / "cifar_c.yaml")),
    (PROFILES / "vgg19.graph.txt", lambda path: load_profile(path, batch_size=32)),
    (PROFILES / "bert24_inference.json", load_operator_graph),
    (DATA / "piper" / "bert32a100.json", load_parallel_profile),
]
MUTATIONS = 1000
ODD = ["", "-1", "0", "1e400", "9" * 20, "9" * 400, "NaN", "é\u202e", "[", "{", "}", '"', ",", "\t", "(", "=", " -- "]


@pytest.mark.parametrize(("source", "read"), READERS, ids=[file.name for file, _ in READERS])
def test_a_damaged_file_is_refused_in_one_sentence(source: Path, read: Callable[[str], object], tmp_path: Path) -> None:
    whole = source.read_bytes()
    file = tmp_path / source.name
    random_ = random.Random(source.name)
    refused = 0
    tracemalloc.start()
    for _ in range(MUTATIONS):
        damaged = whole
        for _ in range(random_.choice([1, 1, 2, 5])):
            damaged = random_.choice(DAMAGES)(damaged, random_)
        file.write_bytes(damaged)
        started = time.process_time()
        sentence = refusal(read, str(file))
        refused += bool(sentence)
        assert "\n" not in sentence
        assert len(sentence) < 600 + len(str(file))
        assert time.process_time() - started < 5
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()
    assert refused > MUTATIONS / 10


def refusal(read: Callable[[str], object], path: str) -> str:
    """What is wrong with a file, '' where it is read."""
    try:
        read(path)
    except UserError as error:
        return str(error)
    return ""


def cut_off(text: bytes, random_: random.Random) -> bytes:
    return text[: random_.randrange(len(text) + 1)]


def scribbled(text: bytes, random_: random.Random) -> bytes:
    place = random_.randrange(len(text) + 1)
    return text[:place] + random_.randbytes(random_.choice([1, 3])) + text[place + 1 :]


def odd_word(text: bytes, random_: random.Random) -> bytes:
    start = random_.randrange(len(text) + 1)
    return text[:start] + random_.choice(ODD).encode() + text[start + random_.choice([0, 1, 3, 8]) :]


def other_lines(text: bytes, random_: random.Random) -> bytes:
    """A line is left out, there twice, or in another place."""
    lines = text.splitlines(keepends=True) or [b""]
    line = lines.pop(random_.randrange(len(lines)))
    for _ in range(random_.choice([0, 1, 2])):
        lines.insert(random_.randrange(len(lines) + 1), line)
    return b"".join(lines)


def other_number(text: bytes, random_: random.Random) -> bytes:
    places = [place for place, byte in enumerate(text) if chr(byte).isdigit()]
    if not places:
        return text
    place = random_.choice(places)
    return text[:place] + random_.choice([b"0", b"-7", b"7" * 12, b"7" * 17, b"1e9", b"1.5"]) + text[place + 1 :]


DAMAGES: list[Callable[[bytes, random.Random], bytes]] = [cut_off, scribbled, odd_word, other_lines, other_number]
