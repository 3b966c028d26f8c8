"""A plan that is written down and read back, in every form, and files that are no plan."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypar_exp.errors import UserError
from hypar_exp.planning import DOTS, PLAIN_DOTS, Plan, level_names, read_plan
from hypar_exp.reporting.plan_runs import run_lines

LAYERS = ["conv1", "conv2", "fc1"]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    levels, layers = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    entries = draw(st.lists(st.integers(0, 2), min_size=levels * layers, max_size=levels * layers))
    return Plan(np.array(entries, dtype=np.uint8).reshape(levels, layers))


def pasted(plan: Plan, dots: str) -> str:
    """As the terminal prints a plan."""
    lines = ["mine by hypar: 3 layers, 4 accelerators (htree), batch 256", "", "     c c f", "     1 2 1"]
    for name, choices in zip(level_names(plan.levels), plan.choices, strict=True):
        lines.append(f" {name:<4}" + " ".join(dots[choice] for choice in choices))
    return "\n".join([*lines, "", f"     {dots[0]} data parallelism   {dots[1]} model parallelism", ""])


def pasted_runs(plan: Plan, dots: str) -> str:
    """As the terminal prints a plan that is too wide for it."""
    lines = run_lines(plan, [f"l{at}" for at in range(plan.layers)], dots)
    texts = [line if isinstance(line, str) else line.plain for line in lines]
    return "\n".join(["a title", "", *texts, "", f"     {dots[0]} data parallelism", " table  1 ● ●"])


def written(plan: Plan, form: int) -> str:
    names = [f"l{at}" for at in range(plan.layers)]
    return [
        lambda: plan.csv(names),
        lambda: pasted(plan, DOTS),
        lambda: pasted(plan, PLAIN_DOTS),
        lambda: pasted_runs(plan, DOTS),
        lambda: pasted_runs(plan, PLAIN_DOTS),
        lambda: "\n".join(plan.rows()),
        lambda: "\n".join(" ".join(("dp", "mp", "op")[choice] for choice in row) for row in plan.choices),
    ][form]()


@given(plans(), st.integers(0, 6))
def test_what_is_written_is_read(plan: Plan, form: int) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "plan"
        file.write_text(written(plan, form), encoding="utf-8")
        names = [f"l{at}" for at in range(plan.layers)]
        assert np.array_equal(read_plan(str(file), names, plan.levels), plan.choices)


def test_csv_columns_go_by_name(tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text("level, fc1, conv1, conv2\nH1, 1, 0, 2\n")
    assert read_plan(str(file), LAYERS, 1).tolist() == [[0, 2, 1]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "level,conv1,conv2,fc1\nH1,0,0,1\nH2,0,7,1\n",
            "plan.csv, line 3: '7' is no split; a plan is written in ○ o 0 dp ●",
        ),
        (
            "level,conv1,conv2,fc1\nH1,0,0,1\nH2,0,1\n",
            "plan.csv, line 3: H2 has 2 choices, but the network has 3 layers",
        ),
        ("level,conv1,conv2,fc1\nH1,0,0,1\n\nH1,0,0,1\n", "plan.csv, line 4: the level H1 is there twice"),
        ("level,conv1,conv2,fc1\nH1,0,0,1\nH3,0,0,1\n", "plan.csv, line 3: the level should be H2 (got H3)"),
        ("level,conv1,conv2,fc1\nH1,0,0,1\n", "plan.csv, line 2: array.levels is 2, but the plan has 1"),
        ("level,conv1,conv3,fc1\nH1,0,0,1\n", "plan.csv, line 1: the network has no layer 'conv3'; did you mean conv"),
        ("level,conv1,fc1\nH1,0,1\n", "plan.csv, line 1: the layer 'conv2' is missing"),
        ("level,conv1,conv2,fc1,fc1\nH1,0,1,0,0\n", "plan.csv, line 1: the layer 'fc1' is there twice"),
        ("level,conv1,conv2,fc1\n", "plan.csv, line 1: array.levels is 2, but the plan has 0"),
        (" H1  ○ ○ ●\n H2  ○ x ●\n", "plan.csv, line 2: 'x' is no split"),
        (" H1  ○ ○ ●\n H2  ○ ●\n", "plan.csv, line 2: H2 has 2 choices, but the network has 3 layers"),
        ("001\n01\n", "plan.csv, line 2: H2 has 2 choices"),
        ("001\n0l1\n", "plan.csv, line 2: 'l' is no split"),
        (" H1  ○ ○ ●\n H1  ○ ○ ●\n", "plan.csv, line 2: the level H1 is there twice"),
        (" H1 H2 H3\n conv1 to fc1 3 ○ ○ ●\n", "plan.csv, line 1: array.levels is 2, but the plan has 3"),
        (
            " H1 H2\n conv1 to fc2 3 ○ ○\n",
            "plan.csv, line 2: the network has no 3 layers conv1 to fc2",
        ),
        (" H1 H2\n conv1 to conv2 2 ○ ○\n", "plan.csv, line 2: the layer 'fc1' is missing"),
        (" H1 H2\n conv1 to fc1 3 ○ x\n", "plan.csv, line 2: 'x' is no split"),
        (" H1 H2\n", "plan.csv, line 1: the layer 'conv1' is missing"),
        (" H1 H2\n conv1 to fc1 3 ○\n", "plan.csv, line 2: conv1 has 1 choices, but array.levels is 2"),
        ("", "plan.csv is empty; it should be a plan"),
    ],
)
def test_what_is_no_plan(text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_plan("plan.csv", LAYERS, 2)
    assert str(error.value).startswith(sentence)


def test_no_such_file() -> None:
    with pytest.raises(UserError, match=r"the plan nowhere\.csv cannot be read: No such file"):
        read_plan("nowhere.csv", LAYERS, 2)
