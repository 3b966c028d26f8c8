"""A network of many layers does not drown the other params of a run."""

from __future__ import annotations

from hypar_exp.experiments.run_record import params_of


def test_layers_are_one_param() -> None:
    def config(layers: int) -> dict[str, object]:
        network = {"name": "n", "layers": {f"conv{at}": {"conv": 8} for at in range(layers)}}
        return {"network": network, "strategy": {"name": "dp"}, "seed": 3}

    few, many = params_of(config(2)), params_of(config(156))
    assert few["network.layers"] == "{conv0: {conv: 8}, conv1: {conv: 8}}"
    assert many["network.layers"] == "156 entries, in config.yaml"
    assert not [key for key in (*few, *many) if key.startswith("network.layers.")]
