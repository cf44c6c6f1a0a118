"""Constraints as functions of the variables, out of the expressions of problem files; standard library only.

What can be read are comparisons of smooth arithmetic: numbers, names (also in backquotes), `+ - * / ^`, `sum`, `exp`,
`log`, `sqrt`, `sin`, `cos`. Everything else is "not smooth" here.
"""

import ast

from linear import NotLinear, parse

FUNCTIONS = ("exp", "log", "sqrt", "sin", "cos")


class NotSmooth(Exception):
    """The text says where."""


class Smooth:
    """A function that must be >= 0, or 0 where `equality` is set."""

    def __init__(self, name, sides, define, quoted, equality):
        self.name, self.equality = name, equality
        self._left, self._right = sides
        self._define, self._quoted = define, quoted

    def __call__(self, values, functions):
        """Its value where the variables have the `values` (a dict of floats or tensors); `functions` is the module that
        has exp, log and so on for them: `math` or `torch`."""
        values = dict(values)
        for name, node, quoted in self._define:
            values[name] = _value(node, values, quoted, functions)
        left, right = (_value(side, values, self._quoted, functions) for side in (self._left, self._right))
        return left - right


def smooth_constraints(variables, define, constraints):
    """A `Smooth` for each comparison.

    `variables` are the names that may take part. Strict comparisons are read as weak ones. Raises `NotSmooth` with the
    first constraint that is none.
    """
    known, definitions = set(variables), []
    for definition in define:
        try:
            node, quoted = _read(definition["expr"])
            _check(node, known, quoted)
        except NotSmooth:
            continue  # matters only where it is used
        known.add(definition["name"])
        definitions.append((definition["name"], node, quoted))
    found = []
    for constraint in constraints:
        try:
            if constraint["expr"] is None:
                raise NotSmooth("it has no text")
            node, quoted = _read(constraint["expr"])
            if not isinstance(node, ast.Compare):
                raise NotSmooth("no comparison")
            sides = [node.left, *node.comparators]
            for side in sides:
                _check(side, known, quoted)
            for left, op, right in zip(sides, node.ops, sides[1:]):
                if isinstance(op, (ast.LtE, ast.Lt)):
                    left, right = right, left
                elif not isinstance(op, (ast.GtE, ast.Gt, ast.Eq)):
                    raise NotSmooth("another comparison")
                equality = isinstance(op, ast.Eq)
                used = _used(definitions, (left, right), quoted)
                found.append(Smooth(constraint["name"], (left, right), used, quoted, equality))
        except NotSmooth as why:
            raise NotSmooth(f"constraint {constraint['name']!r} is not smooth ({why})") from None
    return found


def _read(text):
    try:
        return parse(text)
    except NotLinear as why:
        raise NotSmooth(str(why)) from None


def _names(node, quoted):
    return {quoted.get(n.id, n.id) for n in ast.walk(node) if isinstance(n, ast.Name)}


def _used(definitions, sides, quoted):
    """The definitions that a comparison needs, in their order."""
    wanted = set().union(*(_names(side, quoted) for side in sides))
    used = []
    for name, node, own in reversed(definitions):
        if name in wanted:
            wanted |= _names(node, own)
            used.append((name, node, own))
    return used[::-1]


def _check(node, known, quoted):
    """Refuses what `_value` does not know."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return
    if isinstance(node, ast.Name):
        name = quoted.get(node.id, node.id)
        if name not in known:
            raise NotSmooth(f"{name} is no number variable")
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return _check(node.operand, known, quoted)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)):
        _check(node.left, known, quoted)
        return _check(node.right, known, quoted)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        one = node.func.id in FUNCTIONS and len(node.args) == 1
        if one or (node.func.id == "sum" and node.args):
            for argument in node.args:
                _check(argument, known, quoted)
            return
    raise NotSmooth("more than smooth arithmetic")


def _value(node, values, quoted, functions):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return values[quoted.get(node.id, node.id)]
    if isinstance(node, ast.UnaryOp):
        operand = _value(node.operand, values, quoted, functions)
        return -operand if isinstance(node.op, ast.USub) else operand
    if isinstance(node, ast.BinOp):
        left, right = (_value(side, values, quoted, functions) for side in (node.left, node.right))
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case _:
                return left**right
    arguments = [_value(argument, values, quoted, functions) for argument in node.args]
    return sum(arguments) if node.func.id == "sum" else getattr(functions, node.func.id)(arguments[0])
