"""Networks that are not chains: what their edges carry, and every way in which a description can be wrong."""

from __future__ import annotations

from typing import Any

import pytest

from hypar_exp.errors import UserError
from hypar_exp.networks import Network, build

Layers = dict[str, dict[str, Any]]


def edges(network: Network) -> dict[tuple[str, str], int]:
    names = network.layer_names
    return {(names[edge.producer], names[edge.consumer]): edge.elements for edge in network.edges}


def test_concat_carries_each_producers_own_part() -> None:
    network = build(
        "n",
        [3, 8, 8],
        {
            "a": {"conv": 4, "kernel": 1},
            "b": {"conv": 6, "kernel": 1, "reads": "a"},
            "c": {"conv": 10, "kernel": 3, "padding": 1, "reads": "a"},
            "joined": {"concat": ["b", "c"], "pool": 2},
            "d": {"fc": 7},
        },
    )
    assert network.layers[-1].input.elements == (6 + 10) * 16
    assert edges(network) == {
        ("a", "b"): 4 * 64,
        ("a", "c"): 4 * 64,
        ("b", "d"): 6 * 16,
        ("c", "d"): 10 * 16,
    }


def test_several_that_a_layer_reads_are_put_side_by_side() -> None:
    first: Layers = {"a": {"conv": 4, "kernel": 1}, "b": {"conv": 6, "kernel": 1, "reads": "input"}}
    last: Layers = {"c": {"conv": 5, "kernel": 1}}
    as_node = build("n", [3, 8, 8], first | {"joined": {"concat": ["a", "b"]}} | last)
    last["c"]["reads"] = ["a", "b"]
    assert as_node == build("n", [3, 8, 8], first | last)


def test_the_last_producer_of_a_sum_reads_the_others_and_is_read_for_all() -> None:
    network = build(
        "n",
        [3, 8, 8],
        {
            "a": {"conv": 4, "kernel": 1},
            "b": {"conv": 4, "kernel": 1},
            "c": {"conv": 4, "kernel": 1, "add": "a", "pool": 2},
            "d": {"conv": 4, "kernel": 1},
            "e": {"conv": 4, "kernel": 1, "add": "c"},
            "f": {"fc": 5},
        },
    )
    assert edges(network) == {
        ("a", "b"): 256,
        ("a", "c"): 256,
        ("b", "c"): 256,
        ("c", "d"): 64,
        ("c", "e"): 64,
        ("d", "e"): 64,
        ("e", "f"): 64,
    }
    # the tensor is added before it is pooled
    assert str(network.layers[2].output) == "4x4x4"


def test_a_sum_as_a_node_is_the_same_network() -> None:
    first: Layers = {"a": {"conv": 4, "kernel": 1}, "b": {"conv": 4, "kernel": 1, "reads": "input"}}
    last: Layers = {"c": {"fc": 5}}
    as_node = build("n", [3, 8, 8], first | {"sum": {"add": ["a", "b"]}} | last)
    first["b"]["add"] = "a"
    assert as_node == build("n", [3, 8, 8], first | last)


def test_a_layer_that_adds_what_it_reads_fetches_it_once() -> None:
    network = build("n", [3, 8, 8], {"a": {"conv": 4, "kernel": 1}, "b": {"conv": 4, "kernel": 1, "add": "a"}})
    assert edges(network) == {("a", "b"): 256}


def test_attention_brings_query_key_and_value_whole_and_computes_where_it_is_read() -> None:
    layers: Layers = {
        "q": {"matmul": 8},
        "k": {"matmul": 8, "reads": "input"},
        "v": {"matmul": 8, "reads": "input"},
        "mixed": {"attention": ["q", "k", "v"]},
        "out": {"matmul": 8},
    }
    network = build("n", [8, 5], layers)
    assert edges(network) == {("q", "out"): 40, ("k", "out"): 40, ("v", "out"): 40}
    # 5 x 5 scores and 5 x 5 weights for 8 channels each, beside the matrix's own 8 x 8 for 5 positions
    assert network.layers[-1].macs_at_output == 8 * 8 * 5 + 2 * 5 * 5 * 8
    fused = build("n", [8, 5], {"qkv": {"matmul": 24}, "mixed": {"attention": "qkv"}, "out": {"matmul": 8}})
    assert edges(fused) == {("qkv", "out"): 120}
    assert fused.layers[-1] == network.layers[-1]


def test_products_that_no_layer_reads_count_for_the_last_layer_that_made_them() -> None:
    network = build("n", [8, 5], {"qkv": {"matmul": 24}, "mixed": {"attention": "qkv"}})
    assert network.layers[0].extra_macs == 2 * 5 * 5 * 8


def test_transposed_depthwise_and_looked_up_layers_count_by_hand() -> None:
    network = build(
        "n",
        [16, 7, 7],
        {
            "up": {"conv_transpose": 8, "kernel": 4, "stride": 2, "padding": 1},
            "depthwise": {"conv": 8, "kernel": 3, "padding": 1, "groups": 8, "pool": "global"},
        },
    )
    up, depthwise = network.layers
    # DCGAN's step: (7 - 1) x 2 - 2 x 1 + 4 = 14; every one of the 7 x 7 positions that come in spreads the kernel
    assert (str(up.output), up.weights, up.macs_at_output) == ("8x14x14", 16 * 8 * 16, 16 * 8 * 16 * 49)
    assert (str(depthwise.output), depthwise.weights, depthwise.macs_at_output) == ("8", 72, 72 * 196)
    table = build("n", [1, 6], {"table": {"embedding": 4, "vocabulary": 100}}).layers[0]
    assert (table.weights, table.macs_at_input, table.macs_at_output) == (400, 0, 0)
    assert (table.input.elements, str(table.output)) == (6, "4x6")


CONV = {"conv": 4, "kernel": 1}


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        ({"a": CONV, "b": CONV | {"reads": "aa"}}, "b: it reads 'aa', which is no layer; did you mean a?"),
        (
            {"a": CONV | {"reads": "b"}, "b": CONV},
            "a: it reads 'b', which does not come before it; layers stand in the order in which data flows",
        ),
        ({"a": CONV | {"add": "a"}}, "a: it reads 'a', which does not come before it"),
        (
            {"a": CONV, "b": CONV | {"conv": 5, "add": "a"}},
            "b: it writes 5x8x8, but a, which is added to it, is 4x8x8",
        ),
        (
            {"a": CONV, "b": CONV | {"stride": 2}, "s": {"add": ["a", "b"]}},
            "s: a writes 4x8x8, but b, which is added to it, is 4x4x4",
        ),
        (
            {"a": CONV, "b": CONV | {"stride": 2}, "s": {"concat": ["a", "b"]}},
            "s: a writes 4x8x8 and b writes 4x4x4; what is put side by side must have the same height and width",
        ),
        ({"a": CONV, "s": {"concat": ["a"]}}, "s: concat needs a list of at least two layers"),
        ({"a": CONV, "s": {"concat": ["a", "a"], "reads": "a"}}, "s: concat has no key 'reads'"),
        ({"a": CONV, "s": {"attention": ["a", "a"]}}, "s: attention needs [query, key, value]"),
        ({"a": CONV, "s": {"attention": "a"}}, "s: a writes 4x8x8, whose channels are not three times"),
        ({"input": CONV}, "input: 'input' is what the network itself reads"),
        ({"a": CONV | {"reads": []}}, "a: it reads nothing; reads is the name of a layer, or a list of names"),
        ({"a": CONV, "b": CONV | {"reads": [["a"]]}}, "b: it reads '['a']', which is no layer"),
        ({"a": CONV | {"conv": [3, 3]}}, "a: conv must be a whole number of at least 1 (got (3, 3))"),
        ({"a": CONV | {"groups": None}}, "a: groups must be a whole number of at least 1 (got None)"),
        ({"a": CONV | {"kernel": [3]}}, "a: kernel must be a whole number of at least 1, or two of them (got [3])"),
        ({"a": {"fc": None}}, "a: fc must be a whole number of at least 1 (got None)"),
        ({"a": {"kernel": 3}}, "a: a layer needs exactly one of the keys conv, fc, matmul"),
        ({"a": CONV | {"fc": 3}}, "a: a layer needs exactly one of the keys conv, fc, matmul"),
        ({"a": CONV | {"groups": 2}}, "a: 2 groups must divide the 3 channels that come in and the 4 that go out"),
        (
            {"a": {"conv_transpose": 4, "kernel": 1, "padding": 9}},
            "a: its padding leaves nothing of the 3x8x8 that comes in",
        ),
    ],
)
def test_a_wrong_description_is_one_sentence(layers: Layers, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        build("n", [3, 8, 8], layers)
    assert str(error.value).startswith(f"network.layers.{sentence}")


def lenet(pooled_on_its_own: bool) -> Network:
    pooled = {} if pooled_on_its_own else {"pool": 2}
    layers: dict[str, dict[str, Any]] = {
        "conv1": {"conv": 20, "kernel": 5, **pooled},
        "conv2": {"conv": 50, "kernel": 5, **pooled},
        "fc1": {"fc": 500},
        "fc2": {"fc": 10},
    }
    if pooled_on_its_own:
        layers = {
            "conv1": layers["conv1"], "p1": {"pool": 2}, "conv2": layers["conv2"], "p2": {"pool": 2},
            "fc1": layers["fc1"], "fc2": layers["fc2"],
        }  # fmt: skip
    return build("lenet", [1, 28, 28], layers)


def test_pooling_is_the_same_wherever_it_is_written() -> None:
    assert lenet(pooled_on_its_own=True) == lenet(pooled_on_its_own=False)


CONV = {"conv": 4, "kernel": 1}
POOLED: dict[str, tuple[Layers, list[str]]] = {
    "on its own": ({"a": CONV, "p": {"pool": 2}, "b": CONV}, ["4x4x4", "4x4x4"]),
    "a concatenation": (
        {
            "a": CONV,
            "b": {"conv": 2, "kernel": 1, "reads": "input"},
            "c": {"concat": ["a", "b"], "pool": 2},
            "d": {"fc": 9},
        },
        ["4x4x4", "2x4x4", "9"],
    ),
    "at the end": ({"a": CONV, "p": {"pool": "global"}}, ["4"]),
    "for one of two readers": (
        {"a": CONV, "p": {"pool": 2}, "b": CONV, "c": CONV | {"reads": "a"}},
        ["4x8x8", "4x4x4", "4x8x8"],
    ),
    "for two readers in two ways": (
        {"a": CONV, "p": {"pool": 2}, "b": CONV, "q": {"pool": 4, "reads": "a"}, "c": CONV},
        ["4x4x4", "4x4x4", "4x2x2"],
    ),
}


@pytest.mark.parametrize(("layers", "outputs"), POOLED.values(), ids=POOLED)
def test_an_output_is_what_all_its_readers_read(layers: dict[str, Any], outputs: list[str]) -> None:
    network = build("n", [3, 8, 8], layers)
    assert [str(layer.output) for layer in network.layers] == outputs
