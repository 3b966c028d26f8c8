"""A memory of what was computed, of bounded size: what was not used for the longest time is forgotten first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Bounded(Generic[Key, Value]):
    """Key -> value, for the `most` keys used last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of `key`, made if it is not there; what `make` raises is not kept."""
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key]
        value = self._values[key] = make()
        if len(self._values) > self._most:
            self._values.popitem(last=False)
        return value


class Memory:
    """Results of functions, kept by the identity of their arguments, so what is equal must be one object."""

    def __init__(self, most: int) -> None:
        self._results: Bounded[tuple[Hashable, ...], tuple[Any, tuple[Any, ...]]] = Bounded(most)

    def call(self, function: Callable[..., Value], *arguments: Any) -> Value:
        """`function(*arguments)`, from memory where it was called with them before."""
        key = (function, *((type(one), one if isinstance(one, int | float | str) else id(one)) for one in arguments))
        # the arguments are kept as well: an identity is one's own only for as long as the object lives
        result: Value = self._results.get(key, lambda: (function(*arguments), arguments))[0]
        return result
