"""Pages of their templates, each with its script, its styles and its data in one file."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


def filled(name: str, data: Any, **values: Any) -> str:
    """The page of the template `name`.html with the script `name`.js, which reads `data` as JSON.

    Args:
        name: of the template.
        data: what JSON can hold.
        values: what the template names.
    """
    from jinja2 import Environment, FunctionLoader

    template = Environment(autoescape=True, loader=FunctionLoader(_text)).get_template(f"{name}.html")
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return template.render(data=text, css=_text("page.css"), script=_text("common.js") + _text(f"{name}.js"), **values)


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
