"""Variables, as the problem file has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import Unpack

Value = Union[int, float, str, bool]


class Common(TypedDict, total=False):
    """Keys that all kinds of variables have; see :class:`Variable`."""

    unit: Union[str, None]
    active_if: Union[str, None]
    inactive_value: Union[Value, None]
    default: Union[Value, None]
    renamed_from: Union[str, Sequence[str], None]


class Variable:
    """A variable of a problem: one of the five kinds below.

    Keys of all kinds: ``unit`` (free text), ``active_if`` (the condition under which the variable exists, such as
    ``"layers >= 2"``), ``inactive_value`` (its value elsewhere), ``default`` (its value in experiments from before
    there was the variable), ``renamed_from`` (earlier names of its column).
    """

    type: str = ""

    def __init__(self, common: Common, **own: Any) -> None:
        for key in common:
            if key not in Common.__annotations__:
                expected = ", ".join([*own, *Common.__annotations__])
                raise TypeError(f"{type(self).__name__} has no key {key!r}; expected one of {expected}")
        keys = {**own, **common}
        self.__dict__.update({key: value for key, value in keys.items() if value is not None and value is not False})

    def table(self) -> dict[str, Any]:
        """The entry of the problem file."""
        return {"type": self.type, **self.__dict__}

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a variable does not change; make another {type(self).__name__}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.type, repr(sorted(self.__dict__.items()))))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.__dict__.items())})"


class Continuous(Variable):
    """A real number in ``[lower, upper]``.

    ``step`` makes it a grid of exact decimals from ``lower`` on, ``decimals`` the numbers that a person sets with so
    many decimals; with ``or_zero`` 0 is allowed besides; ``scale`` is ``"linear"`` or ``"log"``.
    """

    type = "continuous"
    bounds: list[float]

    def __init__(
        self,
        lower: float,
        upper: float,
        *,
        scale: str | None = None,
        step: float | None = None,
        decimals: int | None = None,
        or_zero: bool = False,
        **common: Unpack[Common],
    ) -> None:
        super().__init__(
            common, bounds=[lower, upper], scale=scale, step=step, decimals=decimals, or_zero=or_zero
        )


class Integer(Variable):
    """A whole number in ``[lower, upper]``; see :class:`Continuous` for the keys."""

    type = "integer"
    bounds: list[int]

    def __init__(
        self,
        lower: int,
        upper: int,
        *,
        scale: str | None = None,
        step: int | None = None,
        or_zero: bool = False,
        **common: Unpack[Common],
    ) -> None:
        super().__init__(common, bounds=[lower, upper], scale=scale, step=step, or_zero=or_zero)


class Binary(Variable):
    """0 or 1."""

    type = "binary"

    def __init__(self, **common: Unpack[Common]) -> None:
        super().__init__(common)


class Discrete(Variable):
    """One of the listed numbers; the first one is the inactive value."""

    type = "discrete"
    values: list[float]

    def __init__(
        self,
        values: Iterable[float],
        *,
        scale: str | None = None,
        **common: Unpack[Common],
    ) -> None:
        super().__init__(common, values=_listed(values), scale=scale)


class Categorical(Variable):
    """One of the named levels; ``removed`` ones are no longer suggested, but rows that have them are kept."""

    type = "categorical"
    levels: list[str]

    def __init__(
        self,
        levels: Iterable[str | int | float | bool],
        *,
        removed: Iterable[str] | None = None,
        **common: Unpack[Common],
    ) -> None:
        super().__init__(common, levels=_listed(levels), removed=removed)


def _listed(values: Any) -> Any:
    """A list of what can be listed; what cannot is told by the problem's reader."""
    return values if isinstance(values, (str, int, float)) else list(values)


KINDS = {kind.type: kind for kind in (Continuous, Integer, Binary, Discrete, Categorical)}


def variable_of(table: Mapping[str, Any]) -> Variable:
    """The variable of an entry of a problem file that was read, hence is in order."""
    keys = {key: value for key, value in table.items() if key not in ("type", "bounds")}
    return KINDS[table["type"]](*table.get("bounds", ()), **keys)
