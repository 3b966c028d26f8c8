"""What a configuration may call: Hydra's list of refused targets is asked before an import, and the user's trust."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from hypar_exp.errors import UserError

ANY, PACKAGE = "any", "package"
"""What `trust` can be, besides a list of packages: every target that Hydra allows, or those of hypar_exp alone."""


@cache
def target_of(target: str) -> Callable[..., object]:
    """The class or function of a dotted name, imported if Hydra allows it to be called.

    Raises:
        UserError: Hydra refuses it.
        ImportError: there is no such thing.
    """
    from hydra.errors import InstantiationException
    from hydra.utils import get_object, instantiate

    try:
        instantiate({"_target_": target, "_partial_": True})
    except InstantiationException as error:
        if "blocklisted" in str(error) or "allowlist" in str(error).lower():
            raise UserError(f"a configuration may not call {target}: Hydra refuses it") from None
        raise ImportError(_reason(error)) from error
    made: Callable[..., object] = get_object(target)
    return made


def require_trusted(node: Any, trust: Any, group: str) -> None:
    """Every target in a group's plain configuration is one that the user trusts.

    Args:
        node: the group's configuration, with what is nested in it.
        trust: `any`, `package` (hypar_exp's own alone), or a list of packages that are trusted as well.
        group: the group's name.

    Raises:
        UserError: another target, or another value of `trust`.
    """
    if trust == ANY:
        return
    if trust != PACKAGE and not (isinstance(trust, list) and all(isinstance(name, str) for name in trust)):
        raise UserError(f"trust must be {ANY}, {PACKAGE} or a list of packages, as [my_package] (got {trust!r})")
    trusted = {"hypar_exp", *(trust if isinstance(trust, list) else [])}
    for target in _targets(node):
        if not any(target == package or target.startswith(f"{package}.") for package in trusted):
            raise UserError(
                f"{group} calls {target}, which is of none of the packages {', '.join(sorted(trusted))}; read it, and "
                f"if you trust it set trust=[{target.split('.')[0]}]"
            )


def _targets(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if "_target_" in node:
            yield str(node["_target_"])
        for value in node.values():
            yield from _targets(value)
    elif isinstance(node, list):
        for value in node:
            yield from _targets(value)


def _reason(error: BaseException) -> str:
    """The innermost of an error's causes, on one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())
