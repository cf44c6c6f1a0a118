"""Problems of other programs: BoFire's domains and ConfigSpace's spaces, from their JSON. What cannot be said is refused by its name."""

from __future__ import annotations

import json
from typing import Any, Iterable, Mapping

from ._errors import ProblemError
from ._problem import Problem
from ._variables import Categorical, Continuous, Discrete, Integer, Variable


def from_bofire(domain: str | Mapping[str, Any], *, name: str = "bofire", settings: Mapping[str, Any] | None = None) -> Problem:
    """The problem of a BoFire domain, of ``domain.model_dump_json()`` or its dict.

    Inputs: continuous, discrete and categorical ones (categories that are not allowed become ``removed``).
    Constraints: linear ones, and how many inputs may be other than 0. One output, to be minimised, maximised or near a
    target.
    """
    document = _document(domain)
    variables = {feature["key"]: _bofire_input(feature) for feature in document["inputs"]["features"]}
    outputs = document["outputs"]["features"]
    if len(outputs) != 1:
        raise ProblemError(f"outputs: found {len(outputs)}; expected one")
    constraints: dict[str, str] = {}
    for i, constraint in enumerate(document.get("constraints", {}).get("constraints", [])):
        constraints[f"{constraint['type']} {i + 1}"] = _bofire_constraint(constraint)
    return Problem(
        name, variables, objective=outputs[0]["key"], goal=_bofire_goal(outputs[0]), constraints=constraints, settings=settings
    )


def _bofire_input(feature: Mapping[str, Any]) -> Variable:
    kind, unit = feature["type"], feature.get("unit")
    if kind == "ContinuousInput":
        lower, upper = feature["bounds"]
        # A lower bound of 0 allows it anyway.
        or_zero = bool(feature.get("allow_zero")) and not lower <= 0 <= upper
        return Continuous(lower, upper, step=feature.get("stepsize"), or_zero=or_zero, unit=unit)
    if kind == "DiscreteInput":
        return Discrete(feature["values"], unit=unit)
    if kind == "CategoricalInput":
        allowed = feature.get("allowed") or [True] * len(feature["categories"])
        offered = [level for level, is_allowed in zip(feature["categories"], allowed) if is_allowed]
        removed = [level for level in feature["categories"] if level not in offered]
        return Categorical(offered, removed=removed or None)
    raise ProblemError(f"inputs.{feature['key']}: a {kind}; expected a ContinuousInput, DiscreteInput or CategoricalInput")


def _bofire_goal(output: Mapping[str, Any]) -> str | float:
    objective = output.get("objective") or {}
    kind = objective.get("type")
    if kind == "CloseToTargetObjective":
        return float(objective["target_value"])
    goals = {"MinimizeObjective": "minimize", "MaximizeObjective": "maximize"}
    if kind not in goals:
        raise ProblemError(f"outputs.{output['key']}: the objective is {kind}; expected one of {', '.join(goals)}, CloseToTargetObjective")
    return goals[kind]


def _bofire_constraint(constraint: Mapping[str, Any]) -> str:
    kind, names = constraint["type"], [_name(feature) for feature in constraint.get("features", [])]
    if kind in ("LinearInequalityConstraint", "LinearEqualityConstraint"):
        terms = " + ".join(f"({c!r}) * {name}" for c, name in zip(constraint["coefficients"], names))
        return f"{terms} {'<=' if kind == 'LinearInequalityConstraint' else '=='} {constraint['rhs']!r}"
    if kind == "NChooseKConstraint":
        used = f"count({', '.join(f'{name} != 0' for name in names)})"
        least, most = constraint["min_count"], constraint["max_count"]
        none = f" or {used} == 0" if constraint.get("none_also_valid") and least > 0 else ""
        return f"{used} <= {most} and ({used} >= {least}{none})"
    raise ProblemError(f"constraints: a {kind}; expected linear ones and NChooseKConstraint; others are expressions of leafgp")


def from_configspace(
    space: str | Mapping[str, Any],
    *,
    objective: str = "cost",
    goal: str | float = "minimize",
    settings: Mapping[str, Any] | None = None,
) -> Problem:
    """The problem of a ConfigSpace, of its JSON file's text or ``space.to_serialized_dict()``.

    Uniform floats and integers, categories, ordinals (of numbers a discrete variable, else a category), constants;
    conditions of all kinds become ``active_if``, forbidden clauses constraints.
    """
    document = _document(space)
    kinds = {entry["name"]: entry for entry in document["hyperparameters"]}
    active: dict[str, list[str]] = {}
    for condition in document.get("conditions", []):
        active.setdefault(_child(condition), []).append(_condition(condition, kinds))

    def whole_condition(name: str, seen: tuple[str, ...] = ()) -> str | None:
        """With the conditions of its parents: what is not there activates nothing."""
        if name not in active or name in seen:
            return None
        parents = [whole_condition(parent, (*seen, name)) for entry in document["conditions"] if _child(entry) == name for parent in _parents(entry)]
        parts = [*active[name], *dict.fromkeys(parent for parent in parents if parent)]
        return " and ".join(f"({part})" for part in parts)

    variables = {name: _configspace_variable(entry, whole_condition(name)) for name, entry in kinds.items()}
    constraints = {
        f"forbidden {i + 1}": f"not ({_clause(clause, kinds)})" for i, clause in enumerate(document.get("forbiddens", []))
    }
    return Problem(
        document.get("name") or "configspace", variables, objective=objective, goal=goal, constraints=constraints, settings=settings
    )


def _configspace_variable(entry: Mapping[str, Any], active_if: str | None) -> Variable:
    kind = entry["type"]
    scale = "log" if entry.get("log") else None
    if kind == "uniform_float":
        return Continuous(entry["lower"], entry["upper"], scale=scale, active_if=active_if)
    if kind == "uniform_int":
        return Integer(entry["lower"], entry["upper"], scale=scale, active_if=active_if)
    if kind in ("categorical", "ordinal", "constant"):
        values = _values(entry)
        if kind != "categorical" and all(_is_number(value) for value in values):
            return Discrete(values, active_if=active_if)
        return Categorical([_label(value) for value in values], active_if=active_if)
    raise ProblemError(f"{entry['name']}: a {kind}; expected uniform_float, uniform_int, categorical, ordinal or constant")


def _values(entry: Mapping[str, Any]) -> list[Any]:
    return [entry["value"]] if entry["type"] == "constant" else list(entry.get("choices") or entry["sequence"])


def _child(condition: Mapping[str, Any]) -> str:
    return condition["child"] if "child" in condition else _child(condition["conditions"][0])


def _parents(condition: Mapping[str, Any]) -> list[str]:
    if "parent" in condition:
        return [condition["parent"]]
    return [parent for part in condition["conditions"] for parent in _parents(part)]


def _condition(condition: Mapping[str, Any], kinds: Mapping[str, Any]) -> str:
    kind = condition["type"]
    if kind in ("AND", "OR"):
        return f" {kind.lower()} ".join(f"({_condition(part, kinds)})" for part in condition["conditions"])
    parent = condition["parent"]
    if kind == "IN":
        return _one_of(parent, condition["values"], kinds)
    signs = {"EQ": "==", "NEQ": "!=", "LT": "<", "GT": ">"}
    if kind not in signs:
        raise ProblemError(f"conditions: of the type {kind}; expected one of {', '.join(signs)}, IN, AND, OR")
    return f"{_name(parent)} {signs[kind]} {_value(parent, condition['value'], kinds)}"


def _clause(clause: Mapping[str, Any], kinds: Mapping[str, Any]) -> str:
    kind = clause["type"]
    if kind == "AND":
        return " and ".join(f"({_clause(part, kinds)})" for part in clause["clauses"])
    if kind == "EQUALS":
        return _one_of(clause["name"], [clause["value"]], kinds)
    if kind == "IN":
        return _one_of(clause["name"], clause["values"], kinds)
    raise ProblemError(f"forbiddens: of the type {kind}; expected EQUALS, IN or AND")


def _one_of(name: str, values: Iterable[Any], kinds: Mapping[str, Any]) -> str:
    return " or ".join(f"{_name(name)} == {_value(name, value, kinds)}" for value in values)


def _value(name: str, value: Any, kinds: Mapping[str, Any]) -> str:
    """A value in an expression: a number, or a level in quotes."""
    entry = kinds[name]
    is_level = entry["type"] == "categorical" or entry["type"] in ("ordinal", "constant") and not all(map(_is_number, _values(entry)))
    return "'" + _label(value).replace("'", "''") + "'" if is_level else repr(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _label(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _document(source: str | Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        document = json.loads(source) if isinstance(source, (str, bytes)) else source
    except ValueError as error:
        raise ProblemError(f"no JSON: {error}") from None
    if not isinstance(document, Mapping) or not {"inputs", "hyperparameters"} & document.keys():
        raise ProblemError("found no domain and no space; expected JSON with `inputs` (BoFire) or `hyperparameters` (ConfigSpace)")
    return document
