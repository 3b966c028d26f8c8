"""The page of a step in which things happen at the same time: its plan, its timeline, and where the time goes."""

from __future__ import annotations

from collections.abc import Sequence

from hypar_exp.reporting.page.template import filled
from hypar_exp.reporting.report_rows import Rows


def timeline_page(
    title: str, words: Sequence[str], rows: Rows, *, plan_svg: str, timeline_svg: str, breakdown_svg: str
) -> str:
    """One self-contained HTML document.

    Args:
        title: what was planned.
        words: sentences under it.
        rows: of the step's numbers, as `report_rows` has them.
        plan_svg, timeline_svg, breakdown_svg: SVG documents.
    """
    return filled(
        "timeline", None, title=title, words=words, rows=rows, plan=plan_svg, timeline=timeline_svg,
        breakdown=breakdown_svg,
    )  # fmt: skip
