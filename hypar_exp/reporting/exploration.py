"""An exploration on the terminal and as files: the plans, and where known strategies fall among them."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hypar_exp.planning import Exploration, Points, level_names
from hypar_exp.reporting.console import console, print_uncut
from hypar_exp.reporting.distribution_picture import distribution_svg
from hypar_exp.units import quantity, significant


def show_exploration(exploration: Exploration) -> None:
    """Print how the plans are distributed, and how many of them are faster than each known strategy."""
    drawn = "" if exploration.costed == exploration.space else f" drawn from {exploration.space:,}"
    title = f"{exploration.costed:,} plans{drawn} (performance: {exploration.reference} = 1)"
    console().print(Text(title, style="bold"))
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("plan")
    for heading in ("performance", "step time", "communication", "faster", "of all"):
        table.add_column(heading, justify="right")
    table.add_row("the fastest", *_cells(exploration.best, 0), "0", "", style="bold")
    for at, name in enumerate(exploration.names):
        faster = int(exploration.faster_than_named[at])
        share = f"{100 * faster / exploration.costed:.2f} %"
        table.add_row(name, *_cells(exploration.named, at), f"{faster:,}", share)
    table.add_row("the median", significant(exploration.quantile(0.5)))
    print_uncut(table)


def exploration_artifacts(exploration: Exploration, title: str) -> dict[str, str]:
    """File name -> text: the picture, the fastest plans and the known ones, and all of them if they are listed."""
    files = {
        "plan_space.svg": distribution_svg(exploration, title),
        "best_plans.csv": points_csv(exploration.best),
        "named_plans.csv": points_csv(exploration.named, exploration.names),
    }
    return files if exploration.every is None else files | {"plan_space.csv": points_csv(exploration.every)}


def points_csv(points: Points, names: tuple[str, ...] | None = None) -> str:
    """A row for each plan: its name if it has one, the choices of each level as digits, and what it comes to."""
    levels = points.plans.shape[1]
    columns = [_digits(points, level) for level in range(levels)]
    numbers = (points.communication_bytes, points.step_time_s, points.performance)
    columns += [[f"{value:.9g}" for value in values.tolist()] for values in numbers]
    head = [*level_names(levels), "communication_bytes", "step_time_s", "performance"]
    if names is not None:
        head, columns = ["strategy", *head], [list(names), *columns]
    return "\n".join([",".join(head), *map(",".join, zip(*columns, strict=True)), ""])


def _digits(points: Points, level: int) -> list[str]:
    """The choices of a level, one digit a layer, for each plan."""
    text = (points.plans[:, level] + ord("0")).tobytes().decode("ascii")
    layers = points.plans.shape[2]
    return [text[start : start + layers] for start in range(0, len(text), layers)]


def _cells(points: Points, at: int) -> list[str]:
    return [
        significant(points.performance[at]),
        quantity(points.step_time_s[at], "s"),
        quantity(points.communication_bytes[at], "B"),
    ]
