"""Problems."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from . import _leafgp
from ._errors import ProblemError
from ._tables import float_array, is_array, record, records
from ._variables import Variable, variable_of


class Stated:
    """What a problem file says, whatever it is about."""

    _core: _leafgp.Problem | _leafgp.ModelProblem

    def to_toml(self) -> str:
        """The problem file, as the command ``leafgp`` reads it; what was read from a file is as it stood there."""
        return self._core.to_toml()

    def to_dict(self) -> dict[str, Any]:
        """The sections of the problem file."""
        return self._core.to_dict()

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def objective(self) -> str:
        """The objective's name."""
        return self._core.objective

    @property
    def variables(self) -> dict[str, Variable]:
        """The variables by name, in the order of arrays' columns."""
        return {name: variable_of(table) for name, table in self.to_dict()["variables"].items()}

    @property
    def names(self) -> list[str]:
        """The variables' names, in the order of arrays' columns."""
        return self._core.names

    @property
    def constraints(self) -> dict[str, str]:
        """The constraints by name."""
        constraints = self.to_dict().get("constraints", {})
        return constraints if isinstance(constraints, dict) else {text.strip(): text for text in constraints}

    @property
    def settings(self) -> dict[str, Any]:
        """All settings, defaults filled in."""
        return self._core.settings

    @property
    def warnings(self) -> list[str]:
        """What is legal but probably not meant."""
        return self._core.warnings

    def _changed(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The sections with some settings changed; tables are merged."""
        document = {"name": self.name, **self.to_dict()}
        merged = dict(document.get("settings", {}))
        for key, value in settings.items():
            is_table = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
            merged[key] = {**merged[key], **value} if is_table else value
        return {**document, "settings": merged}


class Problem(Stated):
    """Variables, objective, known constraints and settings: what a problem file says.

    ``variables``: names and :class:`Continuous`, :class:`Integer`, :class:`Discrete`, :class:`Categorical` or
    :class:`Binary`. ``objective``: the name of what is measured. ``goal``: ``"minimize"``, ``"maximize"`` or a number
    to come near to. ``constraints``: ``{"name": "x + y <= 1"}``, or a list of expressions. ``define``: named
    quantities for later expressions, ``{"area": "width * height"}``. ``settings``: of the problem file's
    ``[settings]``, such as ``{"seed": 7, "preset": "paper", "solver": {"time_limit": 10}}``.

    Raises :class:`ProblemError`, which says where, what is wrong and what was expected.
    """

    _core: _leafgp.Problem

    def __init__(
        self,
        name: str,
        variables: Mapping[str, Variable],
        *,
        objective: str = "objective",
        goal: str | float = "minimize",
        constraints: Mapping[str, str] | Sequence[str] | None = None,
        define: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        tables = tables_of(variables)
        document = {
            "name": name,
            "objective": {"name": objective, "goal": goal_of(goal)},
            "variables": tables,
            "define": define or None,
            "constraints": constraints or None,
            "settings": settings or None,
        }
        self._core = _leafgp.Problem._from_document(document)

    @classmethod
    def _of(cls, core: _leafgp.Problem) -> Problem:
        problem = cls.__new__(cls)
        problem._core = core
        return problem

    @classmethod
    def from_toml(cls, text: str, file: str | os.PathLike[str] = "problem.toml") -> Problem:
        """Reads the text of a problem file; ``file`` is its name in messages."""
        return cls._of(_leafgp.Problem._from_toml(text, os.fspath(file)))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Problem:
        """Reads a problem file."""
        return cls._of(_leafgp.Problem._from_file(os.fspath(path)))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Problem:
        """The problem of a problem file's sections; the opposite of :meth:`to_dict`."""
        return cls._of(_leafgp.Problem._from_document(dict(document)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the problem file."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self.to_toml())

    def with_settings(self, **settings: Any) -> Problem:
        """The same problem with some settings changed; a table such as ``solver`` is merged."""
        return self.from_dict(self._changed(settings))

    @property
    def goal(self) -> str | float:
        """``"minimize"``, ``"maximize"`` or the target."""
        return self._core.goal

    def violations(self, point: Mapping[str, Any]) -> dict[str, float | None]:
        """What keeps a point from being feasible: names of variables and constraints, with the amount where there is one."""
        return dict(self._core.violations(record(point)))

    def is_feasible(self, point: Mapping[str, Any]) -> bool:
        """True when nothing keeps the point from being feasible."""
        return not self.violations(point)

    def to_array(self, points: Any) -> Any:
        """Points as a numpy array, shape ``(n, n_variables)``: a category as its level index."""
        import numpy  # noqa: F401  (the compiled half makes the array)

        return self._core._to_array(records(points))

    def from_array(self, array: Any) -> list[dict[str, Any]]:
        """The rows of an array as points; the opposite of :meth:`to_array`."""
        import numpy

        return self._core._from_array(float_array(array if is_array(array) else numpy.asarray(array)))

    def __eq__(self, other: object) -> bool:
        """The same sections, as the problem file has them."""
        return isinstance(other, Problem) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return Problem.from_toml, (self.to_toml(), self.name)

    def __repr__(self) -> str:
        n = len(self.names)
        return f"Problem({self.name!r}: {self.objective}, {self.goal}; {n} variables: {', '.join(self.names)})"


def tables_of(variables: Any) -> dict[str, dict[str, Any]]:
    """The section of the problem file."""
    if not isinstance(variables, Mapping):
        found = type(variables).__name__
        raise ProblemError(f"variables: found a {found}; expected a dict such as {{'x': Continuous(0, 1)}}")
    return {name: _table(name, variable) for name, variable in variables.items()}


def goal_of(goal: Any) -> Any:
    """The goal as the problem file has it: a number is a target."""
    is_target = isinstance(goal, (int, float)) and not isinstance(goal, bool)
    return {"target": goal} if is_target else goal


def _table(name: str, variable: Any) -> dict[str, Any]:
    if isinstance(variable, Variable):
        return variable.table()
    found = type(variable).__name__
    raise ProblemError(
        f"variables.{name}: found a {found}; expected Continuous, Integer, Discrete, Categorical or Binary"
    )
