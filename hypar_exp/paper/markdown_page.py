"""The reproduction as a Markdown page for the repository; it holds nothing of the machine that made it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypar_exp.paper import table
from hypar_exp.paper.comparison import Verdict
from hypar_exp.paper.finding import Finding

PICTURES = "reproduction"
"""The folder of the pictures, beside the page."""
INTRODUCTION = """\
# The paper's tables and figures, reproduced

Every number below comes from recorded runs of `hypar_exp`, beside the one that the paper prints (Song et al., "HyPar:
Towards Hybrid Parallelism for Deep Learning Accelerator Array", HPCA 2019). A value is **equal** if it is, rounded as
the paper rounds, the printed one; otherwise its relative difference is given. Numbers read off a plot are marked `~`.
Differences that we can explain carry the number of a note.

```
python -m hypar_exp experiment=fig06              # the sweep of a figure, recorded in MLflow; add overrides to vary it
python -m hypar_exp.reproduce fig06               # the figure and its table from recorded runs; makes what is missing
python -m hypar_exp.reproduce all                 # everything, and outputs/paper/index.html: one page with all of this
python -m hypar_exp.reproduce all --no-run        # only from what is recorded
python -m hypar_exp.reproduce all --docs docs     # this page and its pictures
```

Each sweep's parent run in MLflow keeps the figure, the comparison and their numbers (`max_relative_difference`,
`published/equal`, ...). Runs of another version or configuration are never mixed in: they are named and made again.

"""


def markdown_page(findings: Sequence[Finding]) -> str:
    """The page: a scoreboard, then each table and figure."""
    return INTRODUCTION + _scoreboard(findings) + "".join(section(finding) for finding in findings)


def _scoreboard(findings: Sequence[Finding]) -> str:
    lines = [
        f"| | values | {' | '.join(Verdict)} | largest difference | of those unexplained |",
        f"| :-- | --: | {' | '.join(['--:'] * len(Verdict))} | --: | --: |",
    ]
    for finding in findings:
        counts = " | ".join(str(finding.tally[verdict] or "") for verdict in Verdict)
        anchor = re.sub(r"[^a-z0-9_ -]", "", finding.item.title.lower()).replace(" ", "-")
        largest = f"{percent(finding.largest_difference)} | {percent(finding.largest_unexplained_difference)}"
        lines.append(f"| [{finding.item.title}](#{anchor}) | {finding.compared_rows} | {counts} | {largest} |")
    return "\n".join(lines) + "\n"


def section(finding: Finding, *, picture: bool = True) -> str:
    """One table or figure."""
    item = finding.item
    parts = [f"\n## {item.title}\n", f"{item.question}\n"]
    if picture and finding.svg is not None:
        parts.append(f"![{item.title}]({PICTURES}/{item.name}.svg)\n")
    parts.append(f"Values: {item.value}.\n")
    parts.append(table.markdown(finding.table))
    parts += [f"[{number}] {text}\n" for number, text in finding.shown_notes]
    parts.append(f"Made by `{item.command}` from the runs of `python -m hypar_exp experiment={item.name}`.\n")
    return "\n".join(parts)


def percent(share: float) -> str:
    """A share in percent, as the scoreboards have it."""
    return "0" if share == 0 else f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"
