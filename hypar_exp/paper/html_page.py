"""The reproduction as one HTML page that needs no network: pictures are part of it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from hypar_exp.paper import table
from hypar_exp.paper.comparison import Verdict
from hypar_exp.paper.finding import Finding
from hypar_exp.paper.markdown_page import percent

KEY = {**{verdict: str(verdict) for verdict in Verdict}, Verdict.EQUAL: "equal to the printed digits"}
STYLE = """
:root { --ink: #1b1f24; --faint: #5b6570; --line: #d9dee3; --accent: #0b5394; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 24px 20px 80px; color: var(--ink);
       font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif; }
h1 { font-size: 28px; margin: 8px 0 4px; }
h2 { font-size: 21px; margin: 56px 0 4px; padding-top: 16px; border-top: 2px solid var(--line); }
p { margin: 8px 0; } .question { font-size: 17px; } .faint, .made { color: var(--faint); font-size: 14px; }
a { color: var(--accent); } img { width: 100%; height: auto; margin: 12px 0; }
code { font: 14px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; background: #f2f4f6; padding: 1px 5px;
       border-radius: 4px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; margin: 12px 0; }
th, td { padding: 3px 8px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
th.group { text-align: center; border-left: 1px solid var(--line); }
td.label, th.label, td.long, .board td:first-child { text-align: left; } td.long { white-space: normal; }
.note { font-size: 14px; margin: 4px 0 4px 0; padding-left: 28px; text-indent: -28px; max-width: 900px; }
.key span { padding: 1px 8px; margin-right: 8px; border-radius: 3px; font-size: 14px; }
.equal { background: #dff0e6; } .within_1_percent { background: #e4eff9; }
.within_3_percent { background: #fdf0cf; }
.differs { background: #fbe3dc; }
"""


def html_page(findings: Sequence[Finding], version: str, store: str, ui_command: str | None) -> str:
    """The page: a scoreboard, then each table and figure.

    Args:
        findings: in the order of the paper.
        version: of the package that made the runs.
        store: where they are recorded.
        ui_command: what opens the store in the MLflow UI, for the links to the sweeps; None where it is up.
    """
    opened = f" (to follow the links to MLflow, start <code>{escape(ui_command)}</code>)" if ui_command else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>HyPar reproduced</title><style>{STYLE}</style></head><body>\n"
        "<h1>The paper's tables and figures, reproduced</h1>\n"
        "<p>Song et al., <i>HyPar: Towards Hybrid Parallelism for Deep Learning Accelerator Array</i>, HPCA 2019: "
        "every number from recorded runs, beside the published one.</p>\n"
        f'<p class="faint">hypar_exp {escape(version)}, runs recorded in <code>{escape(store)}</code>{opened}.</p>\n'
        f"{_scoreboard(findings)}{''.join(_section(finding) for finding in findings)}</body></html>\n"
    )


def _scoreboard(findings: Sequence[Finding]) -> str:
    headings = "".join(f"<th>{escape(verdict)}</th>" for verdict in Verdict)
    lines = "".join(_line(finding) for finding in findings)
    totals = [sum(finding.tally[verdict] for finding in findings) for verdict in Verdict]
    bottom = "".join(f"<td><b>{total or ''}</b></td>" for total in totals)
    key = "".join(f'<span class="{table.CLASSES[verdict]}">{words}</span>' for verdict, words in KEY.items())
    return (
        f'<p class="key">{key} '
        '<span class="faint">~ was read off a plot; [1] is explained below its table</span></p>\n'
        f'<div class="wide"><table class="board"><thead><tr><th></th><th>values</th>{headings}'
        "<th>largest<br>difference</th><th>of those<br>unexplained</th></tr></thead>\n"
        f"<tbody>{lines}<tr><td><b>all</b></td><td><b>{sum(totals)}</b></td>{bottom}<td></td><td></td></tr>"
        "</tbody></table></div>\n"
    )


def _line(finding: Finding) -> str:
    counts = "".join(
        f'<td class="{table.CLASSES[verdict]}">{count}</td>' if (count := finding.tally[verdict]) else "<td></td>"
        for verdict in Verdict
    )
    return (
        f'<tr><td><a href="#{finding.item.name}">{escape(finding.item.title)}</a></td>'
        f"<td>{finding.compared_rows}</td>{counts}<td>{percent(finding.largest_difference)}</td>"
        f"<td>{percent(finding.largest_unexplained_difference)}</td></tr>\n"
    )


def _section(finding: Finding) -> str:
    item = finding.item
    picture = ""
    if finding.svg is not None:
        data = base64.b64encode(finding.svg).decode()
        picture = f'<img alt="{escape(item.title)}" src="data:image/svg+xml;base64,{data}">\n'
    notes = "".join(f'<p class="note">[{number}] {escape(text)}</p>\n' for number, text in finding.shown_notes)
    link = f' · <a href="{escape(finding.sweep_url)}">its sweep in MLflow</a>' if finding.sweep_url else ""
    return (
        f'<h2 id="{item.name}">{escape(item.title)}</h2>\n<p class="question">{escape(item.question)}</p>\n{picture}'
        f'<p class="faint">Values: {escape(item.value)}.</p>\n<div class="wide">{table.html(finding.table)}</div>\n'
        f'{notes}<p class="made"><code>{escape(item.command)}</code> from the runs of '
        f"<code>python -m hypar_exp experiment={item.name}</code>{link}</p>\n"
    )
