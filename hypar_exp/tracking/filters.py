"""MLflow's grammar of filters (`metrics.step_time_s < 1 and tags.network = 'vgg_e'`) for runs that were read already.

It is the grammar of `mlflow.search_runs`, so that one filter means the same in every store.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypar_exp.errors import UserError
from hypar_exp.tracking import mlflow_tags
from hypar_exp.tracking.store import StoredRun

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|"
    r"(?P<sign><=|>=|!=|=|<|>|\(|\)|,)|(?P<word>(?:[^\s'\"`<>=!(),]|`[^`]*`|\.\"[^\"]*\")+))"
)
_KINDS = {
    **dict.fromkeys(("metric", "metrics"), "metric"),
    **dict.fromkeys(("param", "params", "parameter", "parameters"), "param"),
    **dict.fromkeys(("tag", "tags"), "tag"),
    **dict.fromkeys(("attribute", "attributes", "attr", "run"), "attribute"),
}
_ATTRIBUTES: dict[str, Callable[[StoredRun], str | float | None]] = {
    "run_id": lambda run: run.run_id,
    "run_name": lambda run: run.name,
    "status": lambda run: run.status,
    "artifact_uri": lambda run: run.artifact_uri,
    "start_time": lambda run: run.start_time_ms,
    "end_time": lambda run: run.end_time_ms,
}
_NUMBERS: dict[str, Callable[[float, float], bool]] = {
    **{"=": operator.eq, "!=": operator.ne},
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
}


@dataclass(frozen=True)
class Condition:
    """One comparison of a filter."""

    kind: str
    key: str
    sign: str
    """=, !=, <, <=, >, >=, LIKE, ILIKE, IN, NOT IN, IS NULL or IS NOT NULL."""
    values: tuple[str | float, ...]

    def holds(self, run: StoredRun) -> bool:
        """Whether a run meets it; one that has no such value does not, unless that is what is asked for."""
        value = _value(run, self.kind, self.key)
        if self.sign in ("IS NULL", "IS NOT NULL"):
            return (value is None) == (self.sign == "IS NULL")
        if value is None:
            return False
        if self.sign in ("IN", "NOT IN"):
            return (value in self.values) == (self.sign == "IN")
        if self.sign in ("LIKE", "ILIKE"):
            pattern = "".join({"%": ".*", "_": "."}.get(letter, re.escape(letter)) for letter in str(self.values[0]))
            flags = re.DOTALL | (re.IGNORECASE if self.sign == "ILIKE" else 0)
            return re.fullmatch(pattern, str(value), flags) is not None
        return _NUMBERS[self.sign](value, self.values[0])  # type: ignore[arg-type]


def selected(runs: Sequence[StoredRun], where: str) -> list[StoredRun]:
    """The runs that a filter selects.

    Raises:
        UserError: the filter cannot be read.
    """
    conditions = parsed(where)
    return [run for run in runs if all(condition.holds(run) for condition in conditions)]


def parsed(where: str) -> list[Condition]:
    """The comparisons of a filter, all of which must hold.

    Raises:
        UserError: the filter cannot be read.
    """
    tokens = _Tokens(where)
    conditions: list[Condition] = []
    while not tokens.ended:
        if conditions and tokens.next("word").upper() != "AND":
            raise tokens.error("comparisons are joined by 'and'")
        conditions.append(_condition(tokens))
    return conditions


def _condition(tokens: _Tokens) -> Condition:
    kind, key = _identifier(tokens)
    sign = tokens.next("sign", "word").upper()
    if sign == "NOT":
        sign = f"NOT {tokens.next('word').upper()}"
    if sign == "IS":
        rest = tokens.next("word").upper()
        sign = "IS NOT NULL" if rest == "NOT" and tokens.next("word").upper() == "NULL" else f"IS {rest}"
    numeric = kind == "metric" or key in ("start_time", "end_time")
    known = _NUMBERS if numeric else ("=", "!=", "LIKE", "ILIKE", "IN", "NOT IN", "IS NULL", "IS NOT NULL")
    if sign not in known and not sign.startswith("IS "):
        raise tokens.error(f"{sign} cannot compare {key}; it takes {', '.join(known)}")
    if sign in ("IS NULL", "IS NOT NULL"):
        return Condition(kind, key, sign, ())
    if sign in ("IN", "NOT IN"):
        return Condition(kind, key, sign, tuple(_values_in_brackets(tokens)))
    if numeric:
        return Condition(kind, key, sign, (float(tokens.next("number")),))
    return Condition(kind, key, sign, (_text(tokens.next("text")),))


def _identifier(tokens: _Tokens) -> tuple[str, str]:
    kind, dot, key = tokens.next("word").partition(".")
    if not dot:
        kind, key = "attribute", kind
    key = key[1:-1] if key[:1] in ("`", '"') else key
    if kind.lower() not in _KINDS:
        raise tokens.error(f"'{kind}' is none of metrics, params, tags and attributes")
    if _KINDS[kind.lower()] == "attribute" and key not in _ATTRIBUTES:
        raise tokens.error(f"'{key}' is none of {', '.join(_ATTRIBUTES)}; keys are metrics.KEY, params.KEY or tags.KEY")
    return _KINDS[kind.lower()], key


def _values_in_brackets(tokens: _Tokens) -> list[str]:
    values: list[str] = []
    sign = tokens.next("sign")
    while sign in ("(", ","):
        values.append(_text(tokens.next("text")))
        sign = tokens.next("sign")
    if sign != ")":
        raise tokens.error("IN takes ('a', 'b')")
    return values


def _text(quoted: str) -> str:
    return quoted[1:-1].replace(quoted[0] * 2, quoted[0])


def _value(run: StoredRun, kind: str, key: str) -> str | float | None:
    if kind == "metric":
        return run.metrics.get(key)
    if kind == "param":
        return run.params.get(key)
    if kind == "attribute":
        return _ATTRIBUTES[key](run)
    fields = {
        mlflow_tags.PARENT: run.parent_id,
        mlflow_tags.DESCRIPTION: run.description,
        mlflow_tags.NAME: run.name,
        mlflow_tags.USER: run.user,
    }
    return fields[key] if key in fields else run.tags.get(key)


class _Tokens:
    """The words, signs, numbers and quoted texts of a filter, one after the other."""

    def __init__(self, where: str) -> None:
        self._where, self._at = where.strip(), 0

    @property
    def ended(self) -> bool:
        return self._at >= len(self._where)

    def next(self, *kinds: str) -> str:
        """The next token, which must be of one of some kinds."""
        match = _TOKEN.match(self._where, self._at)
        kind = match.lastgroup if match else None
        if match is None or kind not in kinds:
            wanted = {"text": "a text in quotes", "word": "a word", "sign": "a sign as =", "number": "a number"}
            raise self.error(f"{' or '.join(wanted[one] for one in kinds)} is missing at {self._where[self._at :]!r}")
        self._at = match.end()
        return match[kind]

    def error(self, reason: str) -> UserError:
        return UserError(f"the filter {self._where!r} cannot be read: {reason}")
