"""What recorded runs say of a table or figure: its values by their labels, read from params, metrics and artifacts."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypar_exp.errors import UserError
from hypar_exp.paper.comparison import Value
from hypar_exp.paper.published import Labels
from hypar_exp.tracking import StoredRun

NETWORKS = ("sfc", "sconv", "lenet_c", "cifar_c", "alexnet", "vgg_a", "vgg_b", "vgg_c", "vgg_d", "vgg_e")
"""In the order of the paper's figures."""
GMEAN = "gmean"
KILO, GIGA = 1e3, 1e9
AS_EVALUATED, AS_PRINTED = {"accounting.name": "as_evaluated"}, {"accounting.name": "as_printed"}
MP_AS_PRINTED, PERFORMANCE_AS_PRINTED = "mp as printed", "performance as printed"
"""Labels of what the reading `as_printed` gives, beside the pure model's."""

Artifact = Callable[[StoredRun, str], str]
"""The text of a run's artifact, by its name."""
Values = dict[Labels, Value]


@dataclass(frozen=True)
class Surface:
    """The performance of every plan of two free parts.

    Attributes:
        first, second: what the free parts are.
        plans: the digits that either part runs through, in order.
        performance: float64[plans of first, plans of second].
    """

    first: str
    second: str
    plans: Sequence[str]
    performance: NDArray[np.float64]

    def at(self, first: str, second: str) -> float:
        """The performance of one plan, by its two parts."""
        return float(self.performance[self.plans.index(first), self.plans.index(second)])

    @property
    def peaks(self) -> list[tuple[str, str]]:
        """The parts of the fastest plans; more than one where they tie."""
        best = self.performance.max()
        return [(self.plans[x], self.plans[y]) for x, y in np.argwhere(self.performance > best * (1 - 1e-9)).tolist()]


@dataclass(frozen=True)
class Evidence:
    """The values of a table or figure, and what else its picture needs.

    Attributes:
        values: by their labels.
        layer_names: network -> its layers' names, where plans are shown.
        surface: the plans, where all of a plan space are shown.
    """

    values: Mapping[Labels, Value]
    layer_names: Mapping[str, Sequence[str]] | None = None
    surface: Surface | None = None


def plans(runs: Sequence[StoredRun], artifact: Artifact) -> Evidence:
    """Figure 5: each network's plan, a row of digits a level."""
    values: Values = {}
    names: dict[str, Sequence[str]] = {}
    for network in NETWORKS:
        header, *levels = csv.reader(io.StringIO(artifact(_only(runs, network=network), "plan.csv")))
        names[network] = header[1:]
        values |= {(network, level): "".join(splits) for level, *splits in levels}
    return Evidence(values, names)


def by_strategy(metric: str, strategies: Sequence[str], unit: float = 1.0) -> Callable[..., Evidence]:
    """Figures 6 to 8: a metric of each network under each strategy, in `unit`, and the geometric means.

    Model parallelism is given twice: as evaluated, and by the reading `as_printed`.
    """

    def read(runs: Sequence[StoredRun], artifact: Artifact) -> Evidence:
        bars = [(strategy, strategy, AS_EVALUATED) for strategy in strategies]
        bars.insert(1, (MP_AS_PRINTED, "mp", AS_PRINTED))
        table: dict[Labels, float] = {
            (network, bar): _only(runs, network=network, strategy=strategy, **accounting).metrics[metric] / unit
            for network in NETWORKS
            for bar, strategy, accounting in bars
        }
        return Evidence(_with_means(table))

    return read


def free_levels(runs: Sequence[StoredRun], artifact: Artifact) -> Evidence:
    """Figure 9: lenet_c with levels H1 and H4 free; the first part is H1's digits, the second H4's."""
    run = _only(runs, **AS_EVALUATED)
    surface, printed = (
        _surface("H1", "H4", [(row["H1"], row["H4"], float(row["performance"])) for row in _plan_rows(each, artifact)])
        for each in (run, _only(runs, **AS_PRINTED))
    )
    named = {row["strategy"]: row for row in csv.DictReader(io.StringIO(artifact(run, "named_plans.csv")))}
    hypar = named["hypar"]["H1"], named["hypar"]["H4"]
    (peak, *_), (printed_peak, *_) = surface.peaks, printed.peaks
    values: Values = {
        ("HyPar's plan", "performance"): surface.at(*hypar),
        ("HyPar's plan", PERFORMANCE_AS_PRINTED): printed.at(*hypar),
        ("HyPar's plan", "H1-H4"): "-".join(hypar),
        ("the peak", "performance"): float(surface.performance.max()),
        ("the peak", PERFORMANCE_AS_PRINTED): float(printed.performance.max()),
        ("the peak", "H1-H4"): "-".join(peak),
        ("the peak", "H1-H4 as printed"): "-".join(printed_peak),
    }
    return Evidence(values, surface=surface)


def free_layers(runs: Sequence[StoredRun], artifact: Artifact) -> Evidence:
    """Figure 10: vgg_a with conv5_2 and fc1 free at all levels; a part is a layer's digits from H1 to H4."""
    surface, printed = (
        _surface_of_layers(_only(runs, **accounting), artifact, "conv5_2", "fc1")
        for accounting in (AS_EVALUATED, AS_PRINTED)
    )
    values: Values = {}
    for words, parts in (("HyPar's plan", ("0001", "1111")), ("the printed peak", ("1000", "1111"))):
        point = f"{words}, {'-'.join(parts)}"
        values[point, "performance"] = surface.at(*parts)
        values[point, PERFORMANCE_AS_PRINTED] = printed.at(*parts)
    for quantity, of in (("performance", surface), (PERFORMANCE_AS_PRINTED, printed)):
        values["our peak, " + " = ".join("-".join(parts) for parts in of.peaks), quantity] = float(of.performance.max())
    return Evidence(values, surface=surface)


def _surface_of_layers(run: StoredRun, artifact: Artifact, first: str, second: str) -> Surface:
    """All plans of a run over two free layers."""
    layers = artifact(run, "plan.csv").partition("\n")[0].split(",")[1:]
    points = []
    for row in _plan_rows(run, artifact):
        levels = [digits for name, digits in row.items() if name.startswith("H")]
        x, y = ("".join(digits[layers.index(layer)] for digits in levels) for layer in (first, second))
        points.append((x, y, float(row["performance"])))
    return _surface(first, second, points)


def _plan_rows(run: StoredRun, artifact: Artifact) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(artifact(run, "plan_space.csv"))))


def scalability(runs: Sequence[StoredRun], artifact: Artifact) -> Evidence:
    """Figure 11: speed relative to one accelerator, and gigabytes, of each network and number of accelerators."""
    values: Values = {}
    for network in ("vgg_e", "vgg_a"):
        chosen = {
            strategy: {int(run.metrics["accelerators"]): run for run in _all(runs, network=network, strategy=strategy)}
            for strategy in ("hypar", "dp")
        }
        for count in sorted(chosen["hypar"]):
            for quantity in ("gain", "GB"):
                for strategy, by_count in chosen.items():
                    value = (
                        by_count[1].metrics["step_time_s"] / by_count[count].metrics["step_time_s"]
                        if quantity == "gain"
                        else by_count[count].metrics["communication_bytes"] / GIGA
                    )
                    values[network, str(count), f"{strategy} {quantity}"] = value
    return Evidence(values)


def topologies(runs: Sequence[StoredRun], artifact: Artifact) -> Evidence:
    """Figure 12: HyPar's speed on each topology relative to data parallelism's on the H tree."""
    table: dict[Labels, float] = {}
    for network in NETWORKS:
        reference = _only(runs, network=network, topology="htree").metrics["baseline/step_time_s"]
        for topology in ("torus", "htree"):
            step_time_s = _only(runs, network=network, topology=topology).metrics["step_time_s"]
            table[network, topology] = reference / step_time_s
    return Evidence(_with_means(table))


def trick(runs: Sequence[StoredRun], artifact: Artifact) -> Evidence:
    """Figure 13: HyPar's speed and energy efficiency relative to one weird trick's, of each case."""
    table: dict[Labels, float] = {}
    for case, network in (("conv5-b32", "vgg_e_conv5"), ("fc3-b4096", "vgg_e_fc3")):
        for run in sorted(_all(runs, network=network), key=lambda run: run.params["array.levels"]):
            name = f"{case}-h{run.params['array.levels']}"
            table[name, "performance"] = run.metrics["speedup"]
            table[name, "energy efficiency"] = run.metrics["energy_efficiency"]
    return Evidence(_with_means(table))


def amounts_within(runs: Sequence[StoredRun], artifact: Artifact) -> Evidence:
    """Table 1's worked examples: kilobytes that two accelerators exchange inside a layer."""
    examples = {"example_fc": "fc 70 -> 100", "example_conv": "conv 5x5x20 -> 50"}
    values: Values = {
        (accounting, words, split): _only(
            runs, network=network, strategy=split, **{"accounting.name": accounting}
        ).metrics["communication_bytes"]
        / KILO
        for accounting in ("as_evaluated", "as_tabulated")
        for network, words in examples.items()
        for split in ("dp", "mp")
    }
    return Evidence(values)


def amounts_between(runs: Sequence[StoredRun], artifact: Artifact) -> Evidence:
    """Table 2: what one half fetches between two layers, as shares of A(F) and A(E): half of a pair's coefficients."""
    values: Values = {}
    for producer, consumer in (("dp", "dp"), ("dp", "mp"), ("mp", "mp"), ("mp", "dp")):
        for accounting in ("as_evaluated", "as_tabulated"):
            charged = _config(_only(runs, **{"accounting.name": accounting}), artifact)["accounting"]
            row = charged["between_layers"].get(producer, {}).get(consumer, {})
            for tensor, symbol in (("feature", "A(F)"), ("error", "A(E)")):
                values[f"{producer}-{consumer}", accounting, symbol] = row.get(tensor, 0.0) / 2
    return Evidence(values)


def hyper_parameters(runs: Sequence[StoredRun], artifact: Artifact) -> Evidence:
    """Table 3: the layers of SFC and SCONV in the paper's notation."""
    sfc, sconv = (_config(_only(runs, network=name), artifact)["network"] for name in ("sfc", "sconv"))
    features = [*sfc["input"], *(layer["fc"] for layer in sfc["layers"].values())]
    convolutions = [
        "{conv}@{kernel}x{kernel}".format(**layer)
        + (" ({pool}x{pool} max pool)".format(**layer) if layer.get("pool") else "")
        for layer in sconv["layers"].values()
    ]
    return Evidence({("sfc",): "-".join(map(str, features)), ("sconv",): ", ".join(convolutions)})


def _surface(first: str, second: str, points: Sequence[tuple[str, str, float]]) -> Surface:
    plans = sorted({x for x, _, _ in points})
    place = {plan: at for at, plan in enumerate(plans)}
    performance = np.full((len(plans), len(plans)), np.nan)
    for x, y, value in points:
        performance[place[x], place[y]] = value
    return Surface(first, second, plans, performance)


def _with_means(table: Mapping[Labels, float]) -> Values:
    """The values with the geometric mean over the first label, for each second label, at the end."""
    values: Values = {**table}
    for column in dict.fromkeys(second for _, second in table):
        logarithms = [math.log(value) for labels, value in table.items() if labels[1] == column]
        values[GMEAN, column] = math.exp(sum(logarithms) / len(logarithms))
    return values


def _all(runs: Sequence[StoredRun], **wanted: str) -> list[StoredRun]:
    """The runs with these tags or params."""
    return [
        run
        for run in runs
        if all((run.params[key] if "." in key else run.tags[key]) == value for key, value in wanted.items())
    ]


def _only(runs: Sequence[StoredRun], **wanted: str) -> StoredRun:
    """The run with these tags or params; a figure's sweep has one of each.

    Raises:
        UserError: it has none or several, which takes a changed preset.
    """
    chosen = _all(runs, **wanted)
    if len(chosen) != 1:
        words = ", ".join(f"{key}={value}" for key, value in wanted.items())
        raise UserError(f"the preset must sweep one run with {words} (got {len(chosen)}); its file was changed")
    return chosen[0]


def _config(run: StoredRun, artifact: Artifact) -> Mapping[str, Any]:
    """The configuration that a run recorded."""
    import yaml

    config: Mapping[str, Any] = yaml.safe_load(artifact(run, "config.yaml"))
    return config
