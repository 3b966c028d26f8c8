"""The tables and figures of the paper's evaluation: what each asks, how it is read from runs, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hypar_exp.errors import UserError, did_you_mean
from hypar_exp.paper import evidence
from hypar_exp.paper.comparison import Compared, Verdict, compare
from hypar_exp.paper.evidence import Artifact, Evidence
from hypar_exp.paper.figures.bars import grouped_bars
from hypar_exp.paper.figures.plans import draw_plans
from hypar_exp.paper.figures.scalability import draw_scalability
from hypar_exp.paper.figures.style import printed_name
from hypar_exp.paper.figures.surface import surface_and_map
from hypar_exp.paper.published import published_values
from hypar_exp.tracking import StoredRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Note:
    """Why some values of a table or figure are not the published ones.

    Attributes:
        text: a sentence or two.
        of: column -> the labels that it is about; {} for all.
    """

    text: str
    of: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """One table or figure.

    Attributes:
        name: fig06, ...; its preset in conf/experiment has the same name.
        title: what it is called.
        question: what it answers, in a sentence.
        value: what its values are, with their unit.
        columns: the names of a value's labels.
        read: its values from its recorded runs.
        draw: its picture; None for a table.
        notes: where it differs from the paper and why.
        also_printed: a last label of ours -> the published last label that it is compared with too.
    """

    name: str
    title: str
    question: str
    value: str
    columns: tuple[str, ...]
    read: Callable[[Sequence[StoredRun], Artifact], Evidence]
    draw: Callable[[Sequence[Compared], Evidence], Figure] | None = None
    notes: tuple[Note, ...] = ()
    also_printed: Mapping[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """What a person types to make it."""
        return f"python -m hypar_exp.reproduce {self.name}"

    def compared(self, found: Evidence) -> list[Compared]:
        """The values beside the published ones, those that are not equal with the number of their note."""
        published = dict(published_values(self.name))
        for ours, printed in self.also_printed.items():
            twins = {(*labels[:-1], ours): value for labels, value in published.items() if labels[-1] == printed}
            published |= twins
        return [self._with_note(row) for row in compare(found.values, published)]

    def _with_note(self, row: Compared) -> Compared:
        if row.verdict is Verdict.EQUAL:
            return row
        told = dict(zip(self.columns, row.labels, strict=True))
        for number, note in enumerate(self.notes, 1):
            if all(told[column] in labels for column, labels in note.of.items()):
                return replace(row, note=number)
        return row


def item(name: str) -> Item:
    """The table or figure of that name.

    Raises:
        UserError: there is none; says which there are.
    """
    for found in ITEMS:
        if found.name == name:
            return found
    names = [found.name for found in ITEMS]
    near = did_you_mean(name, names).partition(";")[2].strip()
    hint = f" ({near})" if near.startswith("did") else ""
    raise UserError(f"the paper has no table or figure '{name}'{hint}; choose of {', '.join(names)}, or all")


_MP_BARS = (
    "The model-parallelism bars do not come out: that is the finding. The difference is not fitted away, and the "
    "ranking (model parallelism worst, SFC apart) is the same either way."
)
_MP_AS_PRINTED = (
    "A reading, not a finding: `accounting=as_printed` counts a layer half that is forced to model parallelism where "
    "the paper's algorithm, asked level by level, gives it data parallelism. With it nine of the ten communication "
    "totals of figure 8 come out to the printed digits, and with them the performance of figure 6 within 0.4 %; SCONV "
    "stays 2 % off (0.470 GB for 0.48, 0.0382 for 0.0374). AlexNet needs a pooling of 2 after conv1 that its layers do "
    "not have (without it 40.7 GB for 13.0). The bars of HyPar and of data parallelism are the same under it."
)
_MP_ENERGY = (
    " The energies of figure 7 do not follow in the small networks: Cifar-c 71 %, AlexNet 22 %, SCONV 14 % and Lenet-c "
    "13 % too high; SFC and the VGGs within 1.5 %. What the printed energies count there is not known."
)
_TRICK = (
    " Figure 13's trick is not charged so in the paper: under the reading its fc3 cases would be 1.12, 1.19 and 1.53 "
    "where the figure prints 1.23, 1.58 and 2.40 and the pure model gives 1.23, 1.58 and 2.37."
)


def _words_of_case(case: str) -> str:
    """`conv5-b32-h2` as the words below its bars."""
    if case == evidence.GMEAN:
        return printed_name(case)
    layers, batch, levels = case.split("-")
    return f"{layers}, batch {batch[1:]}\n{2 ** int(levels[1:])} accelerators"


_CONTESTED = (
    "`as printed` is the reading of figure 6's model-parallelism bars (`accounting=as_printed`), which was found "
    "by comparing totals. HyPar's plan costs the same under it and stays the peak. The rest of the printed surface has "
    "no numbers and is not compared."
)
_STRATEGIES = ("mp", "dp", "hypar")
_BARS = ("mp", evidence.MP_AS_PRINTED, "dp", "hypar")
_MP_TWICE = {evidence.MP_AS_PRINTED: "mp"}

ITEMS: tuple[Item, ...] = (
    Item(
        name="table1",
        title="Table 1: communication inside a layer",
        question="What do two accelerators exchange inside a layer, for the paper's two worked examples at batch 32?",
        value="kilobytes (1 kB = 1,000 bytes)",
        columns=("accounting", "layer", "split"),
        read=evidence.amounts_within,
    ),
    Item(
        name="table2",
        title="Table 2: communication between layers",
        question="What does one of two accelerators fetch between two layers, for each pair of their splits?",
        value="share of the tensor that one half fetches",
        columns=("splits", "accounting", "tensor"),
        read=evidence.amounts_between,
        notes=(
            Note(
                "As evaluated, a layer under model parallelism is charged a reduce-scatter of its partial sums forward "
                "and an all-gather of its errors backward inside the layer (2 A(F) in all), which leaves nothing to "
                "fetch after it. With that the evaluation's figures come out; with the rows that the table states "
                "they do not.",
                {"splits": ("mp-mp", "mp-dp"), "accounting": ("as_evaluated",), "tensor": ("A(E)",)},
            ),
        ),
    ),
    Item(
        name="table3",
        title="Table 3: SFC and SCONV",
        question="Which layers have the two networks that the paper made up to be extreme?",
        value="layers",
        columns=("network",),
        read=evidence.hyper_parameters,
    ),
    Item(
        name="fig05",
        title="Figure 5: HyPar's plans",
        question="How does HyPar split every layer of the ten networks at the four levels of 16 accelerators?",
        value="plan (a digit a layer: 0 data, 1 model parallelism)",
        columns=("network", "level"),
        read=evidence.plans,
        draw=draw_plans,
    ),
    Item(
        name="fig06",
        title="Figure 6: performance",
        question="How much faster is a training step under HyPar than under one kind of parallelism alone?",
        value="performance, normalised to data parallelism",
        columns=("network", "strategy"),
        also_printed=_MP_TWICE,
        read=evidence.by_strategy("speedup", ("mp", "hypar")),
        draw=grouped_bars("Normalised performance", _BARS, top=6.0, constant="dp"),
        notes=(
            Note(_MP_BARS, {"strategy": ("mp",)}),
            Note(_MP_AS_PRINTED + _TRICK, {"strategy": (evidence.MP_AS_PRINTED,)}),
            Note(
                "The model gives 3.279 for AlexNet. The paper's AlexNet seems not to be this one to the last weight: "
                "figure 8 prints 2.00 GB under data parallelism, and these layers come to 1.995 GB. How they differ is "
                "not known.",
                {"network": ("alexnet",)},
            ),
            Note(
                "The model gives 4.065 for VGG-B, at the edge between 4.06 and 4.07.",
                {"network": ("vgg_b",)},
            ),
        ),
    ),
    Item(
        name="fig07",
        title="Figure 7: energy efficiency",
        question="How much less energy does a training step take under HyPar than under one kind of parallelism alone?",
        value="energy efficiency, normalised to data parallelism",
        columns=("network", "strategy"),
        also_printed=_MP_TWICE,
        read=evidence.by_strategy("energy_efficiency", ("mp", "hypar")),
        draw=grouped_bars("Normalised energy efficiency", _BARS, top=2.2, constant="dp"),
        notes=(
            Note(_MP_BARS, {"strategy": ("mp",)}),
            Note(_MP_AS_PRINTED + _MP_ENERGY, {"strategy": (evidence.MP_AS_PRINTED,)}),
            Note(
                "The paper gives the energy of an operation and of an access, but not how often memory is accessed. "
                "With each tensor touched once a phase and three accesses an exchanged element, the published "
                "efficiencies come out within 2.5 %."
            ),
        ),
    ),
    Item(
        name="fig08",
        title="Figure 8: total communication",
        question="How many gigabytes do 16 accelerators exchange in a training step?",
        value="gigabytes a step (1 GB = 10^9 bytes)",
        columns=("network", "strategy"),
        also_printed=_MP_TWICE,
        read=evidence.by_strategy("communication_bytes", _STRATEGIES, evidence.GIGA),
        draw=grouped_bars("Communication (GB a step)", _BARS, bottom=0.005, top=2000, logarithmic=True),
        notes=(
            Note(_MP_BARS, {"strategy": ("mp",)}),
            Note(_MP_AS_PRINTED, {"strategy": (evidence.MP_AS_PRINTED,)}),
            Note(
                "The figure labels VGG-B's HyPar bar 1.47, VGG-A's number; the 4.06 of figure 6 needs 1.49, which is "
                "what the model gives.",
                {"network": ("vgg_b",), "strategy": ("hypar",)},
            ),
            Note(
                "AlexNet's layers have 16,624,656 weights, which is 1.995 GB under data parallelism; printed is 2.00.",
                {"network": ("alexnet",), "strategy": ("dp",)},
            ),
        ),
    ),
    Item(
        name="fig09",
        title="Figure 9: Lenet-c's plans, levels H1 and H4 free",
        question="Is HyPar's plan the fastest if every split at levels H1 and H4 is tried (256 plans)?",
        value="performance, normalised to data parallelism",
        columns=("point", "quantity"),
        also_printed={evidence.PERFORMANCE_AS_PRINTED: "performance", "H1-H4 as printed": "H1-H4"},
        read=evidence.free_levels,
        draw=surface_and_map({"HyPar's plan": ("0011", "0011")}),
        notes=(Note(_CONTESTED),),
    ),
    Item(
        name="fig10",
        title="Figure 10: VGG-A's plans, conv5_2 and fc1 free",
        question="Is HyPar's plan the fastest if every split of layers conv5_2 and fc1 is tried (256 plans)?",
        value="performance, normalised to data parallelism",
        columns=("point", "quantity"),
        also_printed={evidence.PERFORMANCE_AS_PRINTED: "performance"},
        read=evidence.free_layers,
        draw=surface_and_map(
            {"HyPar's plan, 0001-1111": ("0001", "1111"), "the printed peak, 1000-1111": ("1000", "1111")}
        ),
        notes=(
            Note(
                "The figure's peak reads 5.05 at conv5_2 = 1000. The model gives 4.97 there, tied with 0100, 0010 and "
                "0001, HyPar's own choice: that is the finding.",
                {"quantity": ("performance",)},
            ),
            Note(
                "By the reading of figure 6's model-parallelism bars (`accounting=as_printed`) the tie is broken as in "
                "the figure: 1000 is the peak with 5.03, then 0100 (5.02) and 0010 (4.99); HyPar's own plan stays "
                "4.97.",
                {"quantity": (evidence.PERFORMANCE_AS_PRINTED,)},
            ),
        ),
    ),
    Item(
        name="fig11",
        title="Figure 11: scalability",
        question="How do speed and communication grow from 1 to 64 accelerators?",
        value="gain over one accelerator, and gigabytes a step",
        columns=("network", "accelerators", "quantity"),
        read=evidence.scalability,
        draw=draw_scalability,
        notes=(
            Note(
                "The text calls the network of this figure VGG-A, but its numbers are VGG-E's: 17.2 and 2.76 GB at 16 "
                "accelerators, as in figure 8. The published values are compared with VGG-E; VGG-A is shown beside it.",
                {"network": ("vgg_a",)},
            ),
            Note(
                "Published are numbers read off the plot to about 3 %.",
                {"network": ("vgg_e",)},
            ),
        ),
    ),
    Item(
        name="fig12",
        title="Figure 12: torus against H tree",
        question="What does it cost HyPar if the accelerators are connected as a torus and not as an H tree?",
        value="performance, normalised to data parallelism on the H tree",
        columns=("network", "topology"),
        read=evidence.topologies,
        draw=grouped_bars("Normalised performance", ("torus", "htree"), top=10.0),
        notes=(
            Note(
                "The torus' bars were read off the plot to about 2 %; SFC's is cut off at 10 there.",
                {"topology": ("torus",)},
            ),
            Note("See figure 6, which prints the same bars.", {"topology": ("htree",)}),
        ),
    ),
    Item(
        name="fig13",
        title="Figure 13: HyPar against one weird trick",
        question="What does HyPar gain over the fixed rule 'convolutions data, fully connected layers model parallel'?",
        value="HyPar over the trick",
        columns=("case", "quantity"),
        read=evidence.trick,
        draw=grouped_bars(
            "HyPar over the trick", ("performance", "energy efficiency"), top=3.0, group_names=_words_of_case
        ),
        notes=(
            Note(
                "The figure's last performance bar reads 2.40; the model gives 2.37, with the other five and their "
                "mean as printed.",
                {"case": ("fc3-b4096-h4",), "quantity": ("performance",)},
            ),
            Note(
                "The energies carry the open choice of figure 7: how often memory is accessed.",
                {"quantity": ("energy efficiency",)},
            ),
        ),
    ),
)
