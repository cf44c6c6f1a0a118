"""Linear constraints out of the expressions of problem files; standard library only.

The language is close enough to Python's for `ast` to read what can be linear at all: numbers, names (also in
backquotes), `+ - * / ^`, brackets, unary minus, `<=`, `>=`, `==`, strict comparisons and chains. Everything else is "not
linear" here.
"""

import ast
import re


class NotLinear(Exception):
    """The text says where."""


class Affine:
    """constant + sum of coefficients times variables."""

    def __init__(self, constant=0.0, terms=None):
        self.constant = constant
        self.terms = {name: c for name, c in (terms or {}).items() if c != 0.0}

    def plus(self, other, factor=1.0):
        terms = dict(self.terms)
        for name, coefficient in other.terms.items():
            terms[name] = terms.get(name, 0.0) + factor * coefficient
        return Affine(self.constant + factor * other.constant, terms)

    def times(self, factor):
        return Affine(self.constant * factor, {name: c * factor for name, c in self.terms.items()})


def parse(text):
    """The tree of an expression and the names that stand for quoted ones."""
    quoted = {}

    def plain(match):
        alias = f"quoted_{len(quoted)}_"
        quoted[alias] = match.group(1)
        return alias

    text = re.sub(r"`([^`]*)`", plain, text).replace("^", "**")
    try:
        return ast.parse(text.strip(), mode="eval").body, quoted
    except SyntaxError:
        raise NotLinear("not arithmetic") from None


def _affine(node, names, quoted):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return Affine(float(node.value))
    if isinstance(node, ast.Name):
        name = quoted.get(node.id, node.id)
        if name not in names:
            raise NotLinear(f"{name} is no number variable")
        return names[name]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return _affine(node.operand, names, quoted).times(-1.0 if isinstance(node.op, ast.USub) else 1.0)
    if isinstance(node, ast.BinOp):
        left, right = _affine(node.left, names, quoted), _affine(node.right, names, quoted)
        if isinstance(node.op, ast.Add):
            return left.plus(right)
        if isinstance(node.op, ast.Sub):
            return left.plus(right, -1.0)
        if isinstance(node.op, ast.Mult) and not (left.terms and right.terms):
            return left.times(right.constant) if not right.terms else right.times(left.constant)
        if isinstance(node.op, ast.Div) and not right.terms and right.constant != 0.0:
            return left.times(1.0 / right.constant)
        if isinstance(node.op, ast.Pow) and not right.terms:
            if right.constant == 1.0:
                return left
            if not left.terms:
                try:
                    power = left.constant**right.constant
                except ArithmeticError:
                    raise NotLinear("a power without a value") from None
                if isinstance(power, float):
                    return Affine(power)
        raise NotLinear("a product, quotient or power of variables")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sum" and not node.keywords:
        total = Affine()
        for argument in node.args:
            total = total.plus(_affine(argument, names, quoted))
        return total
    raise NotLinear("more than sums of multiples")


def linear_constraints(variables, define, constraints):
    """(inequalities, equalities): affine functions that must be >= 0 and == 0.

    `variables` are the names that may take part. Strict comparisons are read as weak ones. Raises `NotLinear` with the
    first constraint that is not linear.
    """
    names = {name: Affine(0.0, {name: 1.0}) for name in variables}
    for definition in define:
        try:
            names[definition["name"]] = _affine(*_with(definition["expr"], names))
        except NotLinear:
            continue  # matters only where it is used
    inequalities, equalities = [], []
    for constraint in constraints:
        try:
            if constraint["expr"] is None:
                raise NotLinear("it has no text")
            node, quoted = parse(constraint["expr"])
            if not isinstance(node, ast.Compare):
                raise NotLinear("no comparison")
            sides = [_affine(side, names, quoted) for side in (node.left, *node.comparators)]
            for left, op, right in zip(sides, node.ops, sides[1:]):
                if isinstance(op, (ast.LtE, ast.Lt)):
                    inequalities.append(right.plus(left, -1.0))
                elif isinstance(op, (ast.GtE, ast.Gt)):
                    inequalities.append(left.plus(right, -1.0))
                elif isinstance(op, ast.Eq):
                    equalities.append(left.plus(right, -1.0))
                else:
                    raise NotLinear("another comparison")
        except NotLinear as why:
            raise NotLinear(f"constraint {constraint['name']!r} is not linear ({why})") from None
    return inequalities, equalities


def _with(text, names):
    node, quoted = parse(text)
    return node, names, quoted
