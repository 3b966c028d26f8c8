"""Profiles: times and sizes of PipeDream's and HPGO's files, and a sentence for each mistake in one."""

from pathlib import Path

import pytest

from hypar_exp.errors import UserError
from hypar_exp.networks.profile import SHIPPED, load_profile

DATA = Path(__file__).parents[1] / "data"
NODE = "forward_compute_time=1.5, backward_compute_time=2, activation_size=[400; 80], parameter_size=8"


@pytest.mark.parametrize(
    ("file", "nodes", "total_s", "weight_bytes"),
    [
        ("pipedream/vgg16.graph.txt", 41, 0.690507, 553430000.0),
        ("vgg19", 26, None, None),
        ("amoebanet_36", 44, None, None),
        ("bert_large", 29, None, None),
    ],
)
def test_profiles_of_the_authors(file: str, nodes: int, total_s: float | None, weight_bytes: float | None) -> None:
    profile = load_profile(file if file in SHIPPED else str(DATA / file), batch_size=64)
    assert len(profile.node_names) == nodes
    assert all(producer < consumer for producer, consumer in profile.edges)
    if total_s is not None:
        assert (profile.forward_s + profile.backward_s).sum() == pytest.approx(total_s, rel=1e-6)


def test_shipped_profiles_know_what_was_profiled() -> None:
    assert {name: load_profile(name).batch_size for name in SHIPPED} == SHIPPED
    with pytest.raises(UserError, match="vgg20"):
        load_profile("vgg20")


def test_a_fully_connected_node_tells_the_batch() -> None:
    assert load_profile(str(DATA / "pipedream/vgg16.graph.txt")).batch_size == 128
    assert load_profile(str(DATA / "pipedream/alexnet.graph.txt")).batch_size == 256


def test_times_are_seconds_and_outputs_all_that_is_written(tmp_path: Path) -> None:
    file = tmp_path / "two.graph.txt"
    file.write_text(f"b -- Second -- {NODE}\na -- First -- {NODE} -- stage_id=3\n\ta -- b\n")
    profile = load_profile(str(file), batch_size=4)
    assert profile.node_names == ("a", "b")
    assert profile.edges == ((0, 1),)
    assert (profile.forward_s[0], profile.backward_s[0]) == (0.0015, 0.002)
    assert (profile.output_bytes[0], profile.weight_bytes[0]) == (480, 8)
    assert profile.is_chain


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a -- X -- forward_compute_time=1", "line 1: the node has no backward_compute_time"),
        (f"a -- X -- {NODE.replace('=2', '=-2')}", "line 1: backward_compute_time must be a number of at least 0"),
        (f"a -- X -- {NODE.replace('=1.5', '=nan')}", "line 1: forward_compute_time must be a number of at least 0"),
        (f"a -- X -- {NODE.replace('80', 'many')}", "line 1: activation_size must be a number of at least 0"),
        (f"a -- X -- {NODE}\na -- Y -- {NODE}", "line 2: 'a' appears twice"),
        (f"a -- X -- {NODE}\n\ta -- b", "line 2: there is no node 'b'"),
        (f"a -- X -- {NODE}\nb -- X -- {NODE}\n\ta -- b\n\tb -- a", "its nodes read each other in a circle"),
        ("nonsense", "line 1: a line is 'NODE -- WHAT -- TIMES AND SIZES' or 'NODE -- NODE'"),
        (f"a -- X -- {NODE}", "does not tell how many samples were profiled; give them as workload.profile_batch=N"),
        ("", "is empty; it should be a profile"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "bad.txt"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        load_profile(str(file))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
