#!/usr/bin/env python3
"""A second verifier of leafgp's proofs (docs/certificate-format.md); Python's standard library, no code of the first.

    leafgp solve instance.json --certificate proof
    leafgp verify instance.json proof --statement statement
    python3 peers/verify.py statement proof [--time-limit S]

Exit code 0: accepted (one line says what is proved); 1: refused, with the reason; 2: not readable.

The statement is what the proof stands on, tied to it by its digest; that it is the statement of one's instance is to be checked against the instance's own numbers (peers/README.md).
Numbers are floats rounded outward, sums of products are `math.fsum` with the error of its terms. The factor of an objective whose kappa is below zero is not used (its deviation counts as
zero, a bound that is weak but right): instance files know no such kappa.
"""

import math
import struct
import sys
import time
from functools import reduce
from itertools import product
from operator import add, itemgetter, mul, or_
from pathlib import Path

INF = math.inf
EPS = 2.0 ** -52
TINY = 2.2250738585072014e-308
ANY = (-INF, INF)
ADD, SUB, MUL, DIV, NEG, POW, EXPB, MIN, MAX, ABS, SQRT, EXP, LOG, FLOOR, CEIL, IF, WHOLE, LOG10 = range(2, 20)
LE, LT, EQ, NE = range(4)
MAX_COMBINATIONS = MAX_WAITING = 4096

class Refused(Exception):
    """Why a proof is no proof."""

def need(holds, why):
    if not holds: raise Refused(why)
def up(x): return math.nextafter(x, INF)
def down(x): return math.nextafter(x, -INF)
def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data: value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value

# reading
class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0
    def take(self, form):
        size = struct.calcsize("<" + form)
        need(self.at + size <= len(self.data), "cut short")
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += size
        return values
    def one(self, form): return self.take(form)[0]
    def several(self, n, form):
        need(n * struct.calcsize("<" + form) <= len(self.data) - self.at, "cut short")
        return list(self.take(f"{n}{form}"))
    def list(self, item): return [item() for _ in range(self.one("Q"))]
    def n(self): return self.one("Q")
    def real(self): return self.one("d")
    def reals(self): return self.several(self.n(), "d")
    def wholes(self): return self.several(self.n(), "Q")
    def tag(self): return self.one("B")
    def levels(self):
        capacity = self.n()
        return capacity, sum(1 << member for member in self.wholes())

class Statement:
    """The problem, from the bytes of its digest."""

    def __init__(self, data):
        r = Reader(data)
        rules = bytes(r.several(16, "B"))
        need(rules in (b"leafgp problem 2", b"leafgp problem 3"), "not a statement")
        self.domains = r.list(lambda: self.domain(r))
        self.n = len(self.domains)
        self.trees = r.list(lambda: r.list(lambda: self.node(r)))
        self.offsets = [0]
        for tree in self.trees: self.offsets.append(self.offsets[-1] + sum(node[0] == "leaf" for node in tree))
        self.kappa, self.prior, self.rows, self.remainder = 0.0, 0.0, None, None
        self.numbers, self.conditions, self.steps, self.exact, self.roots = [], [], {}, set(), []
        self.limits, self.sums = [], None
        if rules.endswith(b"3"):
            self.sums = r.list(lambda: Sum(r))
            # Behind the variables come the predictions and the value.
            self.n -= len(self.sums) + 1
            need(self.n >= 0, "the sums do not fit the domains")
            self.read_constraints(r)
            self.excluded = r.list(lambda: self.region(r))
            last = self.conditions[self.roots[-1]] if self.roots else ()
            need(last[:2] == (1, LE) and self.numbers[last[3]] == (1, len(self.domains) - 1), "the last constraint is not that of the objective")
            self.objective_number = last[2]
        else:
            self.read_objective(r)
            if r.tag(): self.read_constraints(r)
            self.excluded = r.list(lambda: self.region(r))
            self.limits = r.list(lambda: (r.real(), dict(r.list(lambda: (r.n(), r.real()))), r.real(), r.real()))
        need(r.at == len(data), "bytes after the statement")
        self.rows_of_constraints = self.collect_rows()

    def read_objective(self, r):
        self.constant, self.linear = r.real(), r.reals()
        need(len(self.linear) == self.offsets[-1], "the linear part does not fit the forest")
        kind = r.tag()
        if kind:
            self.kappa, self.prior, dim = r.real(), r.real(), r.n()
            factor = r.reals()
            need(len(factor) == dim * len(self.linear), "the factor does not fit the forest")
            self.rows = [factor[dim * leaf : dim * (leaf + 1)] for leaf in range(len(self.linear))]
            self.dim = dim
            if kind == 2: self.remainder = r.reals(), r.reals(), r.real(), r.real()

    def read_constraints(self, r):
        self.numbers = r.list(lambda: self.number(r))
        self.conditions = r.list(lambda: self.condition(r))
        for _ in range(r.n()):
            key = r.n()
            self.steps[key] = r.list(lambda: (r.n(), r.real(), r.one("q"))), r.one("q")
        self.exact = set(r.wholes())
        self.roots = r.wholes()

    @staticmethod
    def region(r): return r.list(lambda: (r.take("dd") if r.tag() == 0 else r.levels()[1]))
    @staticmethod
    def domain(r):
        kind = r.tag()
        if kind in (0, 1): return ("real", "integer")[kind], *r.take("dd")
        if kind == 2:
            first, step, digits, count = r.take("qqQQ")
            return ("list", [(first + step * k) / 10.0 ** digits for k in range(count)])
        return ("list", r.reals()) if kind == 3 else ("levels", r.n())
    @staticmethod
    def node(r):
        if r.tag(): return ("leaf", *r.take("Qd"))
        feature = r.n()
        rule = r.real() if r.tag() == 0 else r.levels()[1]
        return ("split", feature, rule, *r.take("QQ"))
    @staticmethod
    def number(r):
        op = r.tag()
        if op == 0: return op, r.real()
        if op == 1: return op, r.n()
        if op in (POW, EXPB): return op, r.n(), r.real()
        return op, *r.take({ADD: "QQ", SUB: "QQ", MUL: "QQ", DIV: "QQ", MIN: "QQ", MAX: "QQ", IF: "QQQ"}.get(op, "Q"))
    @staticmethod
    def condition(r):
        kind = r.tag()
        if kind == 0: return kind, r.tag()
        if kind == 1: return kind, *r.take("BQQ")
        if kind == 2: return kind, r.n(), r.levels()[1]
        if kind in (4, 5): return kind, r.wholes()
        return kind, r.n()

    def collect_rows(self):
        """The comparisons that every feasible point satisfies: (condition, negated, a, b, is an equality, without slack)."""
        rows = []
        for root in self.roots:
            seen, stack = set(), [(root, False, False)]
            while stack:
                part = stack.pop()
                if part in seen: continue
                seen.add(part)
                at, negated, exact = part
                condition = self.conditions[at]
                kind = condition[0]
                if kind == 6:
                    stack.append((condition[1], not negated, exact))
                elif kind == 7:
                    stack.append((condition[1], negated, True))
                elif kind == (5 if negated else 4):
                    stack.extend((p, negated, exact) for p in reversed(condition[1]))
                elif kind == 1:
                    op, a, b = negate(*condition[1:]) if negated else condition[1:]
                    if op != NE: rows.append((at, a != condition[2], a, b, op == EQ, exact))
        return rows

    def bounding_prior(self):
        if self.remainder is None: return self.prior
        rounding = self.remainder[3]
        return max(self.prior - rounding, 0.0) if self.kappa < 0 else self.prior + rounding

    def objective(self, leaves):
        """In plain floats, summed in order."""
        mean = self.constant + plain_sum(self.linear[leaf] for leaf in leaves)
        if self.rows is None: return mean - 0.0
        u = [0.0] * self.dim
        for leaf in leaves: u = [a + b for a, b in zip(u, self.rows[leaf])]
        square = plain_sum(a * a for a in u)
        difference = self.prior - square
        if self.remainder is not None and difference < 1e-6 * self.prior:
            shares, of_tree, constant, _ = self.remainder
            noise = plain_sum(r * a * a for a, r in zip(u, shares))
            weights = [a + r * a for a, r in zip(u, shares)]
            outside, active = 0.0, set(leaves)
            for leaf, variance in enumerate(of_tree):
                if variance > 0.0:
                    shown = plain_sum(v * w for v, w in zip(self.rows[leaf], weights))
                    rest = float(leaf in active) - shown / variance
                    outside += variance * rest * rest
            difference = constant + noise + outside
        return mean - self.kappa * math.sqrt(max(difference, 0.0))

    def leaves(self, x):
        found = []
        for tree, offset in zip(self.trees, self.offsets):
            node = tree[0]
            while node[0] == "split":
                _, feature, rule, left, right = node
                goes_left = x[feature] <= rule if isinstance(rule, float) else rule >> int(x[feature]) & 1
                node = tree[left if goes_left else right]
            found.append(offset + node[1])
        return found
    def allows(self, x):
        if len(x) != self.n or not all(contains(d, v) for d, v in zip(self.domains, x)): return False
        for region in self.excluded:
            if all(r[0] <= v <= r[1] if isinstance(r, tuple) else r >> int(v) & 1 for r, v in zip(region, x)): return False
        leaves = self.leaves(x)
        if not all(limit_holds(limit, leaves) for limit in self.limits): return False
        at = [1 << int(v) if d[0] == "levels" else (v, v) for d, v in zip(self.domains, x)]
        if self.sums is not None:
            # Predictions are known within roundings: the constraints may hold.
            at += [s.predictions(s.range([[leaf] for leaf in leaves])) for s in self.sums] + [ANY]
        at = Box(self, at, point=self.sums is None)
        at.evaluate(range(len(self.numbers)))
        return all(at.possible(root, False, False) for root in self.roots)

    def objective_range(self, x):
        """Where the objective over predictions lies."""
        leaves = self.leaves(x)
        at = [1 << int(v) if d[0] == "levels" else (v, v) for d, v in zip(self.domains, x)]
        at += [s.predictions(s.range([[leaf] for leaf in leaves])) for s in self.sums] + [ANY]
        box = Box(self, at)
        box.evaluate(range(len(self.numbers)))
        return box.values[self.objective_number]

class Sum:
    """`constant + sum of the active leaves' coefficients`, and the prediction that follows from it."""

    def __init__(self, r):
        self.constant, self.of = r.real(), dict(r.list(lambda: (r.n(), r.real())))
        self.link = r.tag()
        need(self.link <= 5, "an unknown link")
        self.scale = r.real() if self.link == 1 else 1.0
        self.rounding, self.double = r.real(), r.tag() == 1
    def range(self, trees):
        """What the sum can be with one of the given leaves of each tree."""
        low = high = self.constant
        for leaves in trees:
            values = [self.of.get(leaf, 0.0) for leaf in leaves]
            low, high = down(low + min(values)), up(high + max(values))
        return low, high
    def apply(self, x):
        if self.link == 0: return x
        if self.link == 1: return 1.0 / (1.0 + safe(math.exp, -self.scale * x))
        if self.link == 2: return safe(math.exp, x)
        if self.link == 3: return x * x if x > 0.0 else -x * x
        if self.link == 4: return math.log1p(safe(math.exp, x)) if x < 700.0 else x
        return float(x > 0.0)
    def end(self, x, sign):
        x = (up if sign > 0 else down)(x + sign * self.rounding)
        value = self.apply(x)
        error = 0.0 if self.link in (0, 5) else 16 * EPS * abs(value) + TINY
        if self.link and not self.double: error += 1.001 * 4e-6 * abs(value) + 2.0 ** -126
        value += sign * error
        return sign * INF if not self.double and abs(value) > 0.999 * 3.4028234663852886e38 else value
    def predictions(self, sums): return no_nan(self.end(sums[0], -1), self.end(sums[1], 1))

def limit_holds(limit, leaves):
    constant, coefficients, lower, upper = limit
    value = constant + plain_sum(coefficients.get(leaf, 0.0) for leaf in leaves)
    return lower <= value <= upper
def plain_sum(values): return reduce(add, values, 0.0)
def negate(op, a, b): return {LE: (LT, b, a), LT: (LE, b, a), EQ: (NE, a, b), NE: (EQ, a, b)}[op]

# domains
def contains(domain, x): return math.isfinite(x) and within(domain, x, x) == (x, x)
def ends(domain):
    if domain[0] == "levels": return 0.0, domain[1] - 1.0
    if domain[0] == "list": return (domain[1][0], domain[1][-1]) if domain[1] else (INF, -INF)
    return domain[1:]
def within(domain, lower, upper):
    """The least and largest allowed value between two ends; None when there is none."""
    least, largest = ends(domain)
    lower, upper = max(lower, least), min(upper, largest)
    if lower > upper: return None
    if domain[0] == "list":
        inside = [v for v in domain[1] if lower <= v <= upper]
        return (inside[0], inside[-1]) if inside else None
    if domain[0] != "real": lower, upper = float(math.ceil(lower)), float(math.floor(upper))
    return (lower, upper) if lower <= upper else None

# operations over a box
def widened(a, b, steps=4):
    return reduce(lambda pair, _: (down(pair[0]), up(pair[1])), range(steps), (min(a, b), max(a, b)))
def corners(operate, a, b):
    at = [operate(x, y) for x in a for y in b]
    return ANY if any(map(math.isnan, at)) else (min(at), max(at))
def magnitude(v): return max(abs(v[0]), abs(v[1]))
def safe(function, *at):
    """A library function; infinite where it overflows, NaN where it is undefined."""
    try:
        return function(*at)
    except OverflowError:
        return INF
    except (ValueError, ZeroDivisionError):
        return math.nan
def power(x, p):
    if p == 2.0: return x * x
    if x == 0.0 and p < 0.0 or x < 0.0 and p % 1.0 != 0.0: return math.nan
    value = safe(math.pow, x, p)
    return -value if value == INF and x < 0.0 and p % 2.0 == 1.0 else value
def divide(a, b):
    if b[0] > 0.0 or b[1] < 0.0: return corners(lambda x, y: x / y, a, b)
    if b == (0.0, 0.0): return None
    if b[1] == 0.0: return divide((-a[1], -a[0]), (-b[1], -b[0]))
    if b[0] < 0.0: return ANY
    return (a[0] / b[1] if a[0] >= 0.0 else -INF), (a[1] / b[1] if a[1] <= 0.0 else INF)
def square(a):
    low, high = sorted((a[0] * a[0], a[1] * a[1]))
    return (0.0 if a[0] <= 0.0 <= a[1] else low), high
def powers(a, p):
    if p == 2.0: return square(a)
    if p == 0.0: return 1.0, 1.0
    if a[0] == a[1]:
        value = power(a[0], p)
        return None if math.isnan(value) else (value, value)

    def part(low, high):
        if low > high or high < 0.0: return None
        at = [INF if v == 0.0 and p < 0.0 else safe(math.pow, v, p) for v in (max(low, 0.0), high)]
        low, high = widened(*at)
        return max(low, 0.0), high

    above = part(*a)
    if p != math.floor(p) or a[0] >= 0.0: return above
    below = part(max(-a[1], 0.0), -a[0])
    if below and p % 2.0: below = -below[1], -below[0]
    return hull(above, below)

def library(function, a):
    low, high = function(a[0]), function(a[1])
    return (low, low) if a[0] == a[1] else widened(low, high)
def logarithm(function, a):
    if a[1] <= 0.0: return None
    return library(lambda x: -INF if x == 0.0 else safe(function, x), (max(a[0], 0.0), a[1]))
def hull(a, b):
    if a is None or b is None: return a or b
    return min(a[0], b[0]), max(a[1], b[1])
def nearest(x):
    """The nearest whole number, halves away from zero."""
    whole = math.floor(abs(x))
    whole += abs(x) - whole >= 0.5
    return whole if x >= 0 else -whole

class Box:
    """What is known over a box (or, with `point`, at a point) of numbers and conditions."""

    def __init__(self, statement, region, point=False):
        self.s, self.region, self.point = statement, region, point
        self.values, self.sizes, self.wholes, self.memo = {}, {}, {}, {}
    def evaluate(self, numbers, values_of=None):
        for k in numbers:
            natural = self.natural(k)
            if self.point and natural and natural[0] != natural[1]: natural = None
            self.values[k] = values_of(k, natural) if values_of else natural
            self.sizes[k] = self.size(k)
            if self.s.exact: self.wholes[k] = self.whole(k)
    def taken(self, c): return self.possible(c, False, True), self.possible(c, True, True)

    def natural(self, k):
        op, *of = self.s.numbers[k]
        value = self.values
        if op == 0: return None if math.isnan(of[0]) else (of[0], of[0])
        if op == 1: return coordinate(self.region[of[0]])
        if op == IF:
            yes, no = self.taken(of[0])
            return hull(value[of[1]] if yes else None, value[of[2]] if no else None)
        a = value[of[0]]
        if op == POW and of[1] == 0.0 or op == EXPB and of[1] == 1.0: return 1.0, 1.0
        if op == POW: return None if a is None else powers(a, of[1])
        if op == EXPB:
            base = of[1]
            if a is None: return None
            if base > 1.0: return library(lambda x: safe(math.pow, base, x), a)
            return library(lambda x: safe(math.pow, base, -x), (-a[1], -a[0]))
        b = value[of[1]] if len(of) > 1 else (0.0, 0.0)
        if a is None or b is None: return None
        if op == ADD: return no_nan(a[0] + b[0], a[1] + b[1])
        if op == SUB: return no_nan(a[0] - b[1], a[1] - b[0])
        if op == MUL: return square(a) if of[0] == of[1] else corners(mul, a, b)
        if op == DIV: return divide(a, b)
        if op == NEG: return -a[1], -a[0]
        if op == MIN: return min(a[0], b[0]), min(a[1], b[1])
        if op == MAX: return max(a[0], b[0]), max(a[1], b[1])
        if op == ABS: return a if a[0] >= 0.0 else (-a[1], -a[0]) if a[1] <= 0.0 else (0.0, magnitude(a))
        if op == SQRT: return None if a[1] < 0.0 or self.point and a[0] < 0.0 else (math.sqrt(max(a[0], 0.0)), math.sqrt(a[1]))
        if op == EXP:
            low, high = library(lambda x: safe(math.exp, x), a)
            return max(low, 0.0), high
        if op in (LOG, LOG10): return logarithm(math.log if op == LOG else math.log10, a)
        if op in (FLOOR, CEIL):
            function = math.floor if op == FLOOR else math.ceil
            return tuple(float(function(v)) if math.isfinite(v) else v for v in a)
        if self.point:
            x = a[0]
            if math.isfinite(x) and abs(x - nearest(x)) <= min(1e-9 * max(1.0, abs(x)), 1e-3): x = float(nearest(x))
            return x, x
        reach = 1.0000001 * min(1e-9 * max(1.0, magnitude(a)), 1e-3)
        return no_nan(a[0] - reach, a[1] + reach)

    def size(self, k):
        op, *of = self.s.numbers[k]
        size = self.sizes
        value = self.values[k]
        here = INF if value is None else magnitude(value)
        if op == 1:
            low, high = ends(self.s.domains[of[0]])
            return max(here, 1e-9 * max(high, -low) if low <= 0.0 <= high else 0.0)
        if op in (ADD, SUB, MIN, MAX): return max(size[of[0]], size[of[1]])
        if op in (NEG, ABS, WHOLE): return size[of[0]]
        if op == MUL:
            a, b = size[of[0]], size[of[1]]
            return 0.0 if a == 0.0 or b == 0.0 else a * b
        if op == DIV and self.s.numbers[of[1]][0] == 0:
            divisor = abs(self.s.numbers[of[1]][1])
            return size[of[0]] / divisor if divisor else INF
        if op == POW and of[1] == 2.0: return size[of[0]] * size[of[0]]
        if op == POW and of[1] > 0.0:
            return reduce(lambda x, _: up(x), range(0 if self.point else 4), safe(math.pow, size[of[0]], of[1]))
        if op == SQRT: return math.sqrt(size[of[0]])
        if op in (LOG, LOG10): return max(here, 1.0)
        if op == IF:
            yes, no = self.taken(of[0])
            return max(size[of[1]] if yes else 0.0, size[of[2]] if no else 0.0)
        return here

    def whole(self, k):
        """Least and largest value in whole numbers without limit; None where it may not be one."""
        op, *of = self.s.numbers[k]
        w = self.wholes
        if op == 0 or op == 1:
            pair = (of[0], of[0]) if op == 0 else self.region[of[0]]
            if not isinstance(pair, tuple) or not all(math.isfinite(v) and v == math.floor(v) for v in pair): return None
            return int(pair[0]), int(pair[1])
        if op == IF:
            yes, no = self.taken(of[0])
            picked = ([w[of[1]]] if yes else []) + ([w[of[2]]] if no else [])
            return None if not picked or None in picked else (min(p[0] for p in picked), max(p[1] for p in picked))
        a = w[of[0]]
        b = w[of[1]] if op in (ADD, SUB, MUL, MIN, MAX) else (0, 0)
        if a is None or b is None: return None
        if op in (ADD, SUB, MUL, MIN, MAX):
            operate = {ADD: int.__add__, SUB: int.__sub__, MUL: int.__mul__, MIN: min, MAX: max}[op]
            at = [operate(x, y) for x in a for y in b]
            return min(at), max(at)
        if op == NEG: return -a[1], -a[0]
        if op == ABS or op == POW and of[1] == math.floor(of[1]) and 0 <= of[1] <= 128:
            at = sorted(abs(v) if op == ABS else v ** int(of[1]) for v in a)
            even = op == ABS or of[1] > 0 and of[1] % 2 == 0
            return (0 if even and a[0] <= 0 <= a[1] else at[0]), at[1]
        return a if op in (FLOOR, CEIL, WHOLE) else None

    def possible(self, at, negated, exact):
        """False when the condition (or its negation) holds nowhere; at a point, exactly whether it holds."""
        key = at, negated, exact
        if key not in self.memo: self.memo[key] = self.judge(at, negated, exact)
        return self.memo[key]

    def judge(self, at, negated, exact):
        kind, *of = self.s.conditions[at]
        if kind == 0: return bool(of[0]) != negated
        if kind == 2:
            kept = self.region[of[0]]
            return bool(kept & ~of[1] if negated else kept & of[1])
        if kind == 3:
            a = self.values[of[0]]
            if a is None: return False
            whole = math.isfinite(a[0]) and math.ceil(a[0]) <= a[1] if a[0] == a[1] else True
            return not (whole and a[0] == a[1]) if negated else whole
        if kind in (4, 5):
            quantifier = all if (kind == 4) != negated else any
            return quantifier(self.possible(p, negated, exact) for p in of[0])
        if kind == 6: return self.possible(of[0], not negated, exact)
        if kind == 7: return self.possible(of[0], negated, True)
        op, a, b = negate(*of) if negated else of
        if at in self.s.steps:
            terms, bound = self.s.steps[at]
            low = high = -bound
            for variable, scale, coefficient in terms:
                pair = [coefficient * nearest(v * scale) for v in self.region[variable]]
                low, high = low + min(pair), high + max(pair)
            return in_wholes(op, *((-high, -low) if a != of[1] else (low, high)))
        x, y = self.values[a], self.values[b]
        if x is None or y is None: return False
        if at in self.s.exact:
            v, w = self.wholes[a], self.wholes[b]
            return True if v is None or w is None else in_wholes(op, v[0] - w[1], v[1] - w[0])
        if op == LE: return x[0] <= y[1]
        if op == LT: return x[0] < y[1]
        if op == NE: return not (x[0] == x[1] == y[0] == y[1])
        allowed = 0.0 if exact else 1e-9 * max(self.sizes[a], self.sizes[b])
        apart = max(x[0] - y[1], y[0] - x[1])
        if self.point and not math.isfinite(allowed): allowed = 0.0
        return math.isnan(apart) and not self.point or apart <= max(allowed, 0.0)

def no_nan(low, high): return ANY if math.isnan(low) or math.isnan(high) else (low, high)
def in_wholes(op, low, high): return {LE: low <= 0, LT: low < 0, EQ: low <= 0 <= high, NE: low != 0 or high != 0}[op]
def coordinate(range_):
    if isinstance(range_, tuple): return range_
    return (float((range_ & -range_).bit_length() - 1), float(range_.bit_length() - 1)) if range_ else None

# sums of rows
class Form:
    """`centre + slopes . e`, `e` in [-1, 1], within `error` of what evaluation yields. Slopes by variable."""

    def __init__(self, centre, slopes, error):
        self.centre, self.slopes, self.error = centre, slopes, error
        self.reach = sum(map(abs, slopes.values())) * (1 + 8192 * EPS)
    def settled(self, size):
        self.error = (self.error + 8 * EPS * size) * (1 + 8192 * EPS) + TINY
        return self if math.isfinite(self.error) and math.isfinite(self.centre) else None
    def values(self):
        reach = (self.reach + self.error) * (1 + 8192 * EPS)
        return no_nan(down(self.centre - reach), up(self.centre + reach))

def constant_form(v):
    if v is None: return None
    centre = 0.5 * v[0] + 0.5 * v[1]
    error = 0.0 if v[0] == v[1] else up(max(v[1] - centre, centre - v[0]))
    return Form(centre, {}, error) if math.isfinite(error) and math.isfinite(centre) else None
def variable_form(j, v): return (form := constant_form(v)) and Form(form.centre, {j: form.error}, 0.0)
def slopes_of(p, a, q, b):
    return {j: p * a.slopes.get(j, 0.0) + q * b.slopes.get(j, 0.0) for j in a.slopes | b.slopes}
def combine(factor, a, sign, b):
    """`factor a + sign b`."""
    size = abs(factor * a.centre) + abs(factor) * a.reach + abs(b.centre) + b.reach
    slopes = slopes_of(factor, a, sign, b)
    return Form(factor * a.centre + sign * b.centre, slopes, abs(factor) * a.error + b.error).settled(size)
def times(a, b):
    x, y = abs(a.centre) + a.reach, abs(b.centre) + b.reach
    slopes = slopes_of(b.centre, a, a.centre, b)
    error = a.reach * b.reach + x * b.error + y * a.error + a.error * b.error
    return Form(a.centre * b.centre, slopes, error).settled(x * y)
def squared(a):
    half, x = 0.5 * a.reach * a.reach, abs(a.centre) + a.reach
    slopes = {j: 2.0 * a.centre * s for j, s in a.slopes.items()}
    return Form(a.centre * a.centre + half, slopes, half + 2.0 * x * a.error + a.error * a.error).settled(x * x)
def bent(a, v, value, slope, convex):
    """A convex or concave function of what lies in `v` and has the form `a`."""
    if v is None or not (math.isfinite(v[0]) and math.isfinite(v[1])): return None
    middle = min(max(0.5 * v[0] + 0.5 * v[1], v[0]), v[1])
    direction = slope(middle)
    at = [(value(x), direction * x) for x in (v[0], middle, v[1])]
    low, mid, high = (f - line for f, line in at)
    margin = 32 * EPS * sum(abs(f) + abs(line) for f, line in at)
    if not math.isfinite(margin): return None
    rest = (mid - margin, max(low, high) + margin) if convex else (min(low, high) - margin, mid + margin)
    rest = constant_form(rest)
    return rest and combine(direction, a, 1.0, rest)

class Rows:
    """The rows of a statement as forms over a box."""

    def __init__(self, statement):
        self.s = statement
        self.needed = sorted(reachable(statement, [("n", k) for row in statement.rows_of_constraints for k in row[2:4]]))
        box = Box(statement, full_region(statement))
        box.evaluate(self.needed)
        self.exact_in_f64 = {
            row for row in statement.rows_of_constraints
            if row[0] in statement.exact
            and all(box.wholes[k] and max(map(abs, box.wholes[k])) <= 2 ** 53 for k in reachable(statement, [("n", row[2]), ("n", row[3])]))
        }
    def known(self, numbers, region):
        """What is known of numbers over a box, by intervals and forms together, and the forms."""
        box, forms = Box(self.s, region), {}
        def values_of(k, natural):
            form = forms[k] = None if natural is None else self.form(k, natural, box, forms) or constant_form(natural)
            if form is None: return natural
            linear = form.values()
            both = max(natural[0], linear[0]), min(natural[1], linear[1])
            return both if both[0] <= both[1] else natural
        box.evaluate(numbers, values_of)
        return box, forms
    def forms(self, region):
        box, forms = self.known(self.needed, region)
        return [self.row(row, box, forms) for row in self.s.rows_of_constraints]
    def slack(self, row, box):
        equality, exact = row[4:]
        return 1.01 * 1e-9 * max(box.sizes[row[2]], box.sizes[row[3]]) if equality and not exact and row not in self.exact_in_f64 else 0.0

    def row(self, row, box, forms):
        at, negated_sides, a, b, equality, exact = row
        if at in self.s.exact and row not in self.exact_in_f64: return None
        if at in self.s.steps:
            terms, bound = self.s.steps[at]
            difference = constant_form((-float(bound), -float(bound)))
            for variable, scale, coefficient in terms:
                factor = constant_form((scale * coefficient, scale * coefficient))
                term = variable_form(variable, box.region[variable])
                product_ = term and factor and times(term, factor)
                difference = product_ and difference and combine(1.0, product_, 1.0, difference)
            if difference and negated_sides:
                difference = Form(-difference.centre, {j: -s for j, s in difference.slopes.items()}, difference.error)
        else:
            difference = forms[a] and forms[b] and combine(1.0, forms[a], -1.0, forms[b])
        slack = self.slack(row, box)
        return (difference, slack, equality) if difference and math.isfinite(slack) else None

    def form(self, k, natural, box, forms):
        op, *of = self.s.numbers[k]
        if op in (0, IF, WHOLE): return None
        if op == 1: return variable_form(of[0], natural) if isinstance(box.region[of[0]], tuple) else None
        a, v = forms[of[0]], box.values[of[0]]
        if op in (ADD, SUB, MUL, DIV, MIN, MAX):
            b, w = forms[of[1]], box.values[of[1]]
            if op in (MIN, MAX):
                low, high = (a, b) if v[1] <= w[0] else (b, a) if w[1] <= v[0] else (None, None)
                return high if op == MAX else low
            if a is None or b is None: return None
            if op in (ADD, SUB): return combine(1.0, a, 1.0 if op == ADD else -1.0, b)
            if op == MUL: return squared(a) if of[0] == of[1] else times(a, b)
            if w[0] <= 0.0 <= w[1]: return None
            inverse = bent(b, w, lambda x: 1.0 / x, lambda x: -1.0 / (x * x), w[0] > 0.0)
            return inverse and times(a, inverse)
        if a is None or v is None: return None
        if op == NEG or op == ABS and v[1] <= 0.0: return Form(-a.centre, {j: -s for j, s in a.slopes.items()}, a.error)
        if op == ABS: return a if v[0] >= 0.0 else None
        if op in (FLOOR, CEIL):
            middle = -0.5 if op == FLOOR else 0.5
            return Form(a.centre + middle, dict(a.slopes), a.error + 0.5).settled(abs(a.centre) + 1.0)
        if op == POW:
            p = of[1]
            if p == 2.0: return squared(a)
            even = p > 0.0 and p % 2.0 == 0.0
            if not (even or v[0] > 0.0 or v[1] < 0.0 or p > 1.0 and v[0] >= 0.0) or v[0] < 0.0 and p != math.floor(p): return None
            odd_below = v[0] < 0.0 and p % 2.0 != 0.0
            return bent(a, v, lambda x: power(x, p), lambda x: p * power(x, p - 1.0), (p * (p - 1.0) >= 0.0) != odd_below)
        if op == EXPB:
            base = of[1]
            return bent(a, v, lambda x: safe(math.pow, base, x), lambda x: math.log(base) * safe(math.pow, base, x), True)
        if op == EXP: return bent(a, v, lambda x: safe(math.exp, x), lambda x: safe(math.exp, x), True)
        if op == LOG and v[0] > 0.0: return bent(a, v, math.log, lambda x: 1.0 / x, False)
        if op == LOG10 and v[0] > 0.0: return bent(a, v, math.log10, lambda x: 1.0 / (math.log(10.0) * x), False)
        if op == SQRT and v[0] >= 0.0 and v[1] > 0.0: return bent(a, v, math.sqrt, lambda x: 0.5 / math.sqrt(x), False)
        return None

    def contradict(self, region, multipliers):
        forms = self.forms(region)
        total, slopes, allowed, size = 0.0, {}, 0.0, 0.0
        for row, m in multipliers:
            form = forms[row] if row < len(forms) else None
            if form is None or not math.isfinite(m) or m < 0.0 and not form[2]: return False
            difference, slack, _ = form
            total += m * difference.centre
            for j, s in difference.slopes.items(): slopes[j] = slopes.get(j, 0.0) + m * s
            allowed += abs(m) * (difference.error + slack)
            size += abs(m) * (abs(difference.centre) + difference.reach)
        margin = 2.0 * (len(multipliers) + len(region) + 8.0) * EPS * (size + allowed) + TINY
        return total - sum(map(abs, slopes.values())) - allowed - margin > 0.0

def reachable(statement, start):
    """The numbers that some numbers ("n", k) and conditions ("c", k) need."""
    return {k for kind, k in closure(statement, start) if kind == "n"}
def closure(statement, start):
    seen, stack = set(), list(start)
    while stack:
        kind, k = at = stack.pop()
        if at in seen: continue
        seen.add(at)
        op, *of = statement.numbers[k] if kind == "n" else statement.conditions[k]
        if kind == "n" and op == IF:
            stack += [("c", of[0]), ("n", of[1]), ("n", of[2])]
        elif kind == "n" and op > 1:
            stack += [("n", i) for i in (of[:1] if op in (POW, EXPB) else of)]
        elif kind == "c" and op in (1, 3):
            stack += [("n", i) for i in (of[1:] if op == 1 else of)]
        elif kind == "c" and op in (4, 5):
            stack += [("c", i) for i in of[0]]
        elif kind == "c" and op in (6, 7):
            stack.append(("c", of[0]))
    return seen
def reads(statement, number):
    """The variables that a number depends on."""
    seen = closure(statement, [("n", number)])
    of = {statement.numbers[k][1] for kind, k in seen if kind == "n" and statement.numbers[k][0] == 1}
    return of | {statement.conditions[k][1] for kind, k in seen if kind == "c" and statement.conditions[k][0] == 2}

def full_region(statement): return region_of(statement.domains)
def region_of(domains): return [(1 << d[1]) - 1 if d[0] == "levels" else ends(d) for d in domains]

# objectives over predictions
class Unbounded(Exception):
    """There is no lower bound."""

def least(coefficient, values):
    product_ = coefficient * (values[0] if coefficient >= 0.0 else values[1])
    if not math.isfinite(product_): raise Unbounded
    return down(product_)

class Relaxation:
    """Lower bounds of the objective, and of what each row says is at most 0, as (constant, cost by leaf, whether it joins variables)."""

    def __init__(self, statement, rows, region, stairs):
        self.s, self.rows, self.region, self.stairs = statement, rows, region, stairs
        self.box = rows.known(rows.needed, region)[0]
        whole = [range(a, b) for a, b in zip(statement.offsets, statement.offsets[1:])]
        self.ranges = [s.range(whole) for s in statement.sums]
    def objective(self, multipliers):
        try:
            constant, costs, _ = self.function(self.terms([(1.0, self.s.objective_number)]))
        except Unbounded:
            raise Refused("the objective has no bound that can be checked") from None
        costs = [costs.get(leaf, 0.0) for leaf in range(self.s.offsets[-1])]
        need(all(a[0] < b[0] for a, b in zip(multipliers, multipliers[1:])), "a multiplier does not fit its constraint")
        for row, m in multipliers:
            need(row < len(self.s.rows_of_constraints) and math.isfinite(m), "a multiplier does not fit its constraint")
            function = self.row(self.s.rows_of_constraints[row], m < 0.0)
            need(function is not None, "a multiplier does not fit its constraint")
            constant = down(constant + down(abs(m) * function[0]))
            for leaf, a in function[1].items():
                if a != 0.0: costs[leaf] = down(costs[leaf] + down(abs(m) * a))
        need(math.isfinite(constant) and all(map(math.isfinite, costs)), "a multiplier does not fit its constraint")
        return constant, costs
    def limits(self):
        sides = [self.row(row, below) for row in self.s.rows_of_constraints for below in (False, True)]
        return [(constant, costs, -INF, 0.0) for constant, costs, joint in filter(None, sides) if joint]

    def row(self, row, below):
        """What a row (an equality turned round where `below`) says is at most 0; None where nothing is to be had."""
        at, swapped, a, b, equality, _ = row
        if below and not equality: return None
        try:
            if at in self.s.steps: return self.whole_steps(*self.s.steps[at], -1.0 if swapped != below else 1.0)
            if at in self.s.exact and row not in self.rows.exact_in_f64: return None
            sign = -1.0 if below else 1.0
            constant, predictions, single = self.terms([(sign, a), (-sign, b)])
            constant = down(constant - self.rows.slack(row, self.box))
            function = self.behind_link(constant, predictions, single) or self.function((constant, predictions, single))
        except Unbounded:
            return None
        return function if math.isfinite(function[0]) and all(map(math.isfinite, function[1].values())) else None

    def terms(self, parts):
        """(constant, {prediction: coefficient}, [(variable, coefficient, number)]) below a sum of numbers as evaluated."""
        waiting, constant, error, predictions, single = {}, 0.0, 0.0, {}, []
        def give(k, c, e):
            old = waiting.get(k, (0.0, 0.0))
            waiting[k] = old[0] + c, old[1] + e + EPS * abs(old[0] + c)
        for sign, k in parts: give(k, sign, 0.0)
        while waiting:
            k = max(waiting)
            c, e = waiting.pop(k)
            values = self.box.values[k]
            if values is None: continue
            size = magnitude(values)
            if not math.isfinite(size): raise Unbounded
            error += e * size + (abs(c) + e) * (EPS * size + TINY)
            op, *of = self.s.numbers[k]
            fixed = [self.factor(i) for i in of] if op in (MUL, DIV) else []
            if values[0] == values[1]:
                constant = down(constant + least(c, values))
            elif op in (ADD, SUB):
                give(of[0], c, e)
                give(of[1], c if op == ADD else -c, e)
            elif op == NEG:
                give(of[0], -c, e)
            elif op == MUL and fixed != [None, None]:
                f, other = (fixed[0], of[1]) if fixed[0] is not None else (fixed[1], of[0])
                give(other, c * f, e * abs(f) + EPS * abs(c * f) + TINY)
            elif op == DIV and fixed[1] is not None:
                give(of[0], c / fixed[1], e / abs(fixed[1]) + EPS * abs(c / fixed[1]) + TINY)
            elif op == 1 and self.s.n <= of[0] < self.s.n + len(self.s.sums):
                predictions[of[0] - self.s.n] = c
            else:
                variables = reads(self.s, k)
                if len(variables) == 1 and min(variables) < self.s.n: single.append((min(variables), c, k))
                else: constant = down(constant + least(c, values))
        return down(constant - error * (1 + 1e-9)), predictions, single
    def factor(self, k):
        values = self.box.values[k]
        return values[0] if values and values[0] == values[1] != 0.0 else None

    def function(self, terms):
        constant, predictions, single = terms
        costs, joint = {}, len({v for v, *_ in single}) > 1
        for k, c in predictions.items():
            s = self.s.sums[k]
            if s.link:
                constant = down(constant + least(c, s.predictions(self.ranges[k])))
                continue
            joint = True
            constant = down(down(constant + down(c * s.constant)) - up(abs(c) * s.rounding))
            for leaf, a in s.of.items(): costs[leaf] = down(costs.get(leaf, 0.0) + down(c * a))
        for v in sorted({v for v, *_ in single}):
            of = [(c, k) for variable, c, k in single if variable == v]
            def height(box):
                return reduce(lambda total, part: down(total + least(part[0], box.values[part[1]])), [part for part in of if box.values[part[1]] is not None], 0.0)
            if v not in self.stairs:
                constant = down(constant + height(self.box))
                continue
            numbers = sorted(reachable(self.s, [("n", k) for _, k in of]))
            for leaf, piece in self.stairs[v]:
                costs[leaf] = height(self.rows.known(numbers, self.region[:v] + [piece] + self.region[v + 1 :])[0])
        return constant, costs, joint

    def behind_link(self, constant, predictions, single):
        """What `c * prediction + constant <= 0` says of the sum behind a bent link."""
        if single or len(predictions) != 1: return None
        [(k, c)] = predictions.items()
        s = self.s.sums[k]
        if c == 0.0 or not s.link: return None
        limit = (up if c > 0.0 else down)(-constant / c)
        def forbidden(x):
            low, high = s.predictions((x, x))
            return low > limit if c > 0.0 else high < limit
        low, high = self.ranges[k]
        sign = 1.0 if c > 0.0 else -1.0
        inside, outside = (low, high) if c > 0.0 else (high, low)
        if not forbidden(outside): return None
        if forbidden(inside):
            outside = inside - sign * (high - low + 1.0)
        else:
            for _ in range(100):
                middle = 0.5 * inside + 0.5 * outside
                inside, outside = (inside, middle) if forbidden(middle) else (middle, outside)
        return down(sign * (s.constant - outside)), {leaf: sign * a for leaf, a in s.of.items()}, True

    def whole_steps(self, terms, bound, sign):
        constant, costs = down(-sign * bound), {}
        for v, scale, coefficient in terms:
            def height(piece): return down(down(min(sign * coefficient * float(nearest(x * scale)) for x in piece)))
            if v not in self.stairs:
                constant = down(constant + height(self.region[v]))
                continue
            for leaf, piece in self.stairs[v]: costs[leaf] = down(costs.get(leaf, 0.0) + height(piece))
        return constant, costs, len(terms) > 1

# certificates
def read_claims(r):
    claims = []
    for _ in range(r.one("I")):
        kind = r.tag()
        need(kind <= 4, "an unknown claim")
        of = [] if kind == 0 else [r.one("H")] if kind == 1 else [[r.take("Hf") for _ in range(r.one("H"))]] if kind == 2 else r.take("Hd")
        claims.append((kind, *of))
    return claims
def read_round(r):
    sweeps, n, size = r.take("BIf")
    return sweeps, size, r.several(n, "h")

def read_certificate(data):
    """(digest, bound, incumbent, nodes, multipliers); a node is (evidence, end)."""
    need(len(data) >= 8 and fnv(data[:-8]) == struct.unpack("<Q", data[-8:])[0], "the checksum does not fit")
    r = Reader(data[:-8])
    magic = bytes(r.several(8, "B"))
    need(magic in (b"LEAFGPC4", b"LEAFGPC5"), "not a certificate of this version")
    digest, bound, n = r.take("QdI")
    incumbent = None if n == 0xFFFFFFFF else (r.real(), r.several(n, "d"))
    multipliers = [r.take("Hd") for _ in range(r.one("H"))] if magic == b"LEAFGPC5" else None
    nodes = []
    for _ in range(r.n()):
        evidence = []
        for _ in range(r.one("H")):
            kind = r.tag()
            need(kind in (0, 1), "an unknown kind of evidence")
            evidence.append((1, read_claims(r)) if kind else (0, *read_round(r)))
        kind = r.tag()
        need(kind <= 2, "an unknown end")
        of = [] if kind == 0 else [[read_claims(r) for _ in range(r.one("I"))]] if kind == 1 else [r.one("I"), r.several(r.one("I"), "Q")]
        nodes.append((evidence, (kind, *of)))
    need(r.at == len(r.data), "bytes after the last node")
    return digest, bound, incumbent, nodes, multipliers

# the check
class Verifier:
    def __init__(self, statement, deadline=INF):
        self.s, self.deadline = statement, deadline
        self.claims = statement.domains
        self.cells = [self.cells_of(v) for v in range(statement.n)]
        self.full = [(1 << len(c)) - 1 for c in self.cells]
        self.trees = [self.tree_leaves(t) for t in range(len(statement.trees))]
        for region in statement.excluded:
            pieces = self.around(region)
            if pieces is not None: self.trees.append(pieces)
        self.rows = Rows(statement) if statement.roots else None
        self.needed = [sorted(reachable(statement, [("c", root)])) for root in statement.roots]
        self.limits = [self.widen(limit) for limit in statement.limits]
    def tick(self):
        need(time.monotonic() < self.deadline, "the time limit was reached")
    def cells_of(self, v):
        domain = self.s.domains[v]
        if domain[0] == "levels": return list(range(domain[1]))
        cuts = [node[2] for tree in self.s.trees for node in tree if node[0] == "split" and node[1] == v]
        for region in self.s.excluded: cuts += [down(region[v][0]), region[v][1]]
        pieces, above = [], -INF
        for cut in sorted(cuts) + [INF]:
            piece = within(domain, above, cut)
            if piece: pieces.append(piece)
            above = max(above, up(cut))
        return pieces
    def restrict(self, leaf, on): return leaf, {f: mask for f, mask in enumerate(on) if mask != self.full[f]}

    def tree_leaves(self, t):
        nodes, leaves, stack = self.s.trees[t], [], [(0, self.full)]
        while stack:
            at, on = stack.pop()
            node = nodes[at]
            if node[0] == "leaf":
                if all(on): leaves.append(self.restrict(self.s.offsets[t] + node[1], on))
                continue
            _, f, rule, left, right = node
            if isinstance(rule, float):
                mask = sum(1 << j for j, piece in enumerate(self.cells[f]) if piece[1] <= rule)
            else:
                mask = rule & self.full[f]
            stack.append((right, on[:f] + [on[f] & ~mask] + on[f + 1 :]))
            stack.append((left, on[:f] + [on[f] & mask] + on[f + 1 :]))
        return leaves

    def touching(self, f, range_):
        if not isinstance(range_, tuple): return range_
        return sum(1 << j for j, p in enumerate(self.cells[f]) if p[1] >= range_[0] and p[0] <= range_[1])
    def around(self, region):
        inside = [self.touching(f, r) & self.full[f] for f, r in enumerate(region)]
        if not all(inside): return None
        pieces, rest = [], list(self.full)
        for f, mask in enumerate(inside):
            outside = self.full[f] & ~mask
            below = 0 if self.s.domains[f][0] == "levels" else outside & ((mask & -mask) - 1)
            sides = [below, outside & ~below]
            pieces += [self.restrict(None, rest[:f] + [side] + rest[f + 1 :]) for side in sides if side]
            rest[f] = mask
        return pieces
    def widen(self, limit):
        constant, coefficients, lower, upper = limit
        n = len(self.s.trees) + 1.0
        slack = EPS * n * (abs(constant) + n * max(map(abs, coefficients.values()), default=0.0))
        return constant, coefficients, down(lower - slack), up(upper + slack)

    def verify(self, certificate):
        """The bound and the objective that are proved; Refused otherwise. The digest is checked by the caller."""
        _, bound, incumbent, nodes, multipliers = certificate
        need(not math.isnan(bound), "the bound is no number")
        need((multipliers is None) == (self.s.sums is None), "multipliers belong to problems over models, and to no others")
        if multipliers is not None: self.relax(bound, multipliers)
        if incumbent is None:
            need(bound == INF, "no incumbent, though the bound is finite")
        else:
            need(self.s.allows(incumbent[1]), "the incumbent is not allowed")
            value = self.s.objective(self.s.leaves(incumbent[1])) if self.s.sums is None else self.value(*incumbent)
            need(struct.pack("<d", value) == struct.pack("<d", incumbent[0]), f"the incumbent's objective is {value}, not {incumbent[0]}")
            need(bound <= value, "the bound lies above the incumbent")
        root = (list(self.full), [list(range(len(leaves))) for leaves in self.trees], region_of(self.claims))
        stack = [root if all(self.full) else None]
        number = 0
        while stack:
            state = stack.pop()
            need(number < len(nodes), f"node {number} is missing")
            try:
                stack += self.node(state, *nodes[number], bound)
            except Refused as refused:
                raise Refused(f"node {number}: {refused}") from None
            number += 1
        need(number == len(nodes), "the proof goes on behind its last node")
        return bound, incumbent and incumbent[0]

    def value(self, objective, x):
        """The objective of the file, where the point may have it: predictions are known within roundings."""
        values = self.s.objective_range(x)
        need(values and values[0] <= objective <= values[1], f"the incumbent's objective is in {values}, not {objective}")
        return objective
    def relax(self, bound, multipliers):
        """Where claims are made below the bound, and what leaves cost and restrict."""
        s = self.s
        whole = [range(a, b) for a, b in zip(s.offsets, s.offsets[1:])]
        value = down(bound) if math.isfinite(bound) else bound
        self.claims = s.domains[: s.n] + [("real", *of.predictions(of.range(whole))) for of in s.sums] + [("real", value, value)]
        stairs = {}
        for t, nodes in enumerate(s.trees):
            variables = {node[1] for node in nodes if node[0] == "split"}
            if len(variables) != 1 or any(of.of.get(leaf, 0.0) for of in s.sums for leaf in whole[t]): continue
            [v] = variables
            if v not in stairs: stairs[v] = [(leaf, self.range_of(v, on.get(v, self.full[v]))) for leaf, on in self.trees[t]]
        relaxation = Relaxation(s, self.rows, region_of(self.claims), stairs)
        s.constant, s.linear = relaxation.objective(multipliers)
        self.limits = [self.widen(limit) for limit in relaxation.limits()]

    def node(self, state, evidence, end, bound):
        """The children, the right one first. A state is (cells kept, leaves possible, region), None when empty."""
        self.tick()
        state = state and self.filter(*state)
        for kind, *content in evidence:
            self.tick()
            if state is None: break
            state = self.contract(state, content[0]) if kind else self.round(state, *content, bound)
        if end[0] == 2:
            _, f, words = end
            need(f < len(self.cells) and len(words) == (len(self.cells[f]) + 63) // 64, "the split does not fit the variables")
            if state is None: return [None, None]
            left = sum(word << 64 * k for k, word in enumerate(words)) & self.full[f]
            on, alive, region = state
            def child(mask): return (on[:f] + [mask] + on[f + 1 :], alive, region) if mask else None
            return [child(on[f] & ~left), child(on[f] & left)]
        if state is not None:
            need(end[0] == 1, "points may be left below the bound")
            self.enumerate(state, end[1], bound)
        return []

    def filter(self, on, alive, region):
        on, alive = list(on), list(alive)
        changed = True
        while changed:
            changed = False
            for t, leaves in enumerate(self.trees):
                kept = [i for i in alive[t] if all(on[f] & mask for f, mask in leaves[i][1].items())]
                changed |= len(kept) < len(alive[t])
                alive[t] = kept
                if not kept: return None
                restrictions = [leaves[i][1] for i in kept]
                for f in restrictions[0]:
                    if all(f in r for r in restrictions):
                        union = reduce(or_, (r[f] for r in restrictions))
                        if on[f] & ~union:
                            on[f] &= union
                            changed = True
            if not all(on): return None
            for limit in self.limits:
                dropped = self.filter_limit(limit, alive)
                if dropped is None: return None
                changed |= dropped
        return on, alive, region

    def filter_limit(self, limit, alive):
        constant, coefficients, lower, upper = limit
        of = [[coefficients.get(self.trees[t][i][0], 0.0) for i in kept] for t, kept in enumerate(alive)]
        low = high = constant
        for values in of: low, high = down(low + min(values)), up(high + max(values))
        if low > upper or high < lower: return None
        dropped = False
        for t, values in enumerate(of):
            others = down(low - min(values)), up(high - max(values))
            kept = [i for i, a in zip(alive[t], values) if down(others[0] + a) <= upper and up(others[1] + a) >= lower]
            if not kept: return None
            dropped |= len(kept) < len(alive[t])
            alive[t] = kept
        return dropped

    def range_of(self, f, mask):
        """The hull of some cells."""
        if self.s.domains[f][0] == "levels": return mask
        first, last = (mask & -mask).bit_length() - 1, mask.bit_length() - 1
        return self.cells[f][first][0], self.cells[f][last][1]
    def meet(self, on, leaves, region):
        """The hull of the kept cells, and what is predicted with the leaves of each tree, within the region, at allowed values."""
        cells = [self.range_of(f, mask) for f, mask in enumerate(on)]
        cells += [s.predictions(s.range(leaves)) for s in self.s.sums or []] + region[len(cells) + len(self.s.sums or []) :]
        box = []
        for range_, other, domain in zip(cells, region, self.claims):
            common = within(domain, max(range_[0], other[0]), min(range_[1], other[1])) if isinstance(range_, tuple) else range_ & other
            if not common: return None
            box.append(common)
        return box
    def leaves_of(self, alive):
        """The possible leaves of the forest's trees."""
        return [[self.trees[t][i][0] for i in kept] for t, kept in enumerate(alive[: len(self.s.trees)])]

    def settle(self, claims, region):
        """The hull of the parts about which nothing is claimed; None when there are none."""
        opened, waiting, at = None, [region], 0
        while waiting:
            self.tick()
            part = waiting.pop()
            need(at < len(claims), "a part of the box has no claim")
            kind, *content = claims[at]
            at += 1
            if part is None:
                # Over predictions, empty parts have claims too, which say nothing.
                waiting += [None, None] if kind > 2 else []
            elif kind == 0:
                opened = [hull(a, b) if isinstance(a, tuple) else a | b for a, b in zip(opened or part, part)]
            elif kind == 1:
                need(content[0] < len(self.s.roots), "a claim names no constraint")
                box = Box(self.s, part)
                box.evaluate(self.needed[content[0]])
                need(not box.possible(self.s.roots[content[0]], False, False), "a constraint is not shown to fail")
            elif kind == 2:
                need(self.rows.contradict(part, content[0]), "a sum of constraints is not shown to fail")
            else:
                waiting += self.halves(part, *content, kind == 4)
                need(len(waiting) <= MAX_WAITING, "splits are nested too deeply")
        need(at == len(claims), "claims are left over")
        return opened

    def halves(self, part, variable, value, other_first):
        need(variable < len(part) and not math.isnan(value), "a split does not fit the variables")
        range_, domain = part[variable], self.claims[variable]
        if isinstance(range_, tuple):
            sides = [within(domain, range_[0], min(value, range_[1])), within(domain, max(up(value), range_[0]), range_[1])]
        else:
            one = 1 << int(value) if 0 <= value < domain[1] and value == math.floor(value) else 0
            sides = [range_ & one, range_ & ~one]
        parts = [part[:variable] + [side] + part[variable + 1 :] if side else None for side in (sides if other_first else sides[::-1])]
        return [part for part in parts if part or self.s.sums is not None]
    def contract(self, state, claims):
        on, alive, region = state
        need(self.rows is not None, "claims about constraints, though there are none")
        box = self.meet(on, self.leaves_of(alive), region)
        opened = box and self.settle(claims, box)
        if opened is None: return None
        on = [mask & self.touching(f, range_) for f, (mask, range_) in enumerate(zip(on, opened))]
        return self.filter(on, alive, opened) if all(on) else None

    def enumerate(self, state, lists, bound):
        on, alive, region = state
        need(math.prod(map(len, alive)) <= MAX_COMBINATIONS, "too many leaf combinations")
        used = 0
        for chosen in product(*reversed(alive)):
            cells, leaves = list(on), []
            for leaf, restrictions in (self.trees[t][i] for t, i in enumerate(reversed(chosen))):
                for f, mask in restrictions.items(): cells[f] &= mask
                leaves += [] if leaf is None else [leaf]
            if not all(cells) or not self.may_lie_below(leaves, bound): continue
            box = self.meet(cells, [[leaf] for leaf in leaves], region)
            if box is not None:
                need(used < len(lists), "a leaf combination lies below the bound")
                need(self.rows is not None, "claims about constraints, though there are none")
                need(self.settle(lists[used], box) is None, "a leaf combination may hold a feasible point below the bound")
                used += 1
        need(used == len(lists), "claims about leaf combinations are left over")

    def may_lie_below(self, leaves, bound):
        if self.s.sums is None: return self.s.objective(leaves) < bound and all(limit_holds(limit, leaves) for limit in self.s.limits)
        if reduce(lambda total, leaf: down(total + self.s.linear[leaf]), leaves, self.s.constant) >= bound: return False
        return not any(reduce(lambda total, leaf: down(total + of.get(leaf, 0.0)), leaves, constant) > upper for constant, of, _, upper in self.limits)

    def linearise(self, alive, u):
        """The constant part of the bound, and a lower bound of each leaf's cost."""
        s = self.s
        linear = [[0.0 if self.trees[t][i][0] is None else s.linear[self.trees[t][i][0]] for i in kept] for t, kept in enumerate(alive)]
        prior = s.bounding_prior()
        if s.rows is None or s.kappa <= 0.0 or prior <= 0.0: return s.constant, linear
        need(len(u) == s.dim and all(map(math.isfinite, u)), "the tangent's vector does not fit the factor")
        products = list(map(mul, u, u))
        square = math.fsum(products)
        error = 4 * EPS * square + TINY
        root = max(math.sqrt(max(prior - square, 0.0)), 1e-7 * math.sqrt(prior))
        length = up(math.sqrt(up(prior * up(up(square + error) + up(root * root)))))
        base = down(s.constant - up(up(s.kappa * length) / root))
        low, high = down(s.kappa / root), up(s.kappa / root)
        costs = []
        for t, kept in enumerate(alive):
            of_tree = []
            for i, c in zip(kept, linear[t]):
                leaf = self.trees[t][i][0]
                if leaf is not None:
                    products = list(map(mul, s.rows[leaf], u))
                    dot = math.fsum(products)
                    dot = down(dot - (2 * EPS * math.fsum(map(abs, products)) + TINY))
                    c = down(c + down(dot * (low if dot >= 0.0 else high)))
                of_tree.append(c)
            costs.append(of_tree)
        return base, costs

    def links(self, on, alive):
        """For each variable: its classes of cells that no leaf tells apart (as masks), and of each tree it tells leaves of apart the classes of each leaf."""
        variables = []
        for f, kept in enumerate(on):
            trees = []
            for t, leaves in enumerate(alive):
                masks = [self.trees[t][i][1].get(f, kept) & kept for i in leaves]
                if any(mask != kept for mask in masks): trees.append((t, masks))
            if not trees: continue
            classes = [kept]
            for mask in {mask for _, masks in trees for mask in masks}: classes = [part for c in classes for part in (c & mask, c & ~mask) if part]
            linked = []
            for t, masks in trees:
                of_leaf = [[j for j, c in enumerate(classes) if c & mask] for mask in masks]
                of_class = [[k for k, mask in enumerate(masks) if c & mask] for c in classes]
                linked.append((t, list(map(getter, of_leaf)), list(map(getter, of_class))))
            variables.append((f, classes, linked))
        return variables

    def round(self, state, sweeps, size, counts, bound):
        on, alive, region = state
        base, costs = self.linearise(alive, [size * count for count in counts])
        links = self.links(on, alive)
        reduced = [list(c) for c in costs]
        sent = [[[0.0] * len(classes) for _ in trees] for _, classes, trees in links]
        values = [[[0.0] * len(of_leaf) for _, of_leaf, _ in trees] for _, _, trees in links]
        for _ in range(sweeps):
            self.tick()
            for (_, classes, trees), phis, vals in zip(links, sent, values):
                if len(trees) < 2: continue
                for k, (t, _, of_class) in enumerate(trees):
                    totals = [c + v for c, v in zip(reduced[t], vals[k])]
                    phis[k] = [min(g(totals)) for g in of_class]
                means = [plain_sum(column) / len(trees) for column in zip(*phis)]
                for k, (t, of_leaf, _) in enumerate(trees):
                    phi = phis[k] = [p - m for p, m in zip(phis[k], means)]
                    new = [max(g(phi)) for g in of_leaf]
                    reduced[t] = [c - (n - v) for c, n, v in zip(reduced[t], new, vals[k])]
                    vals[k] = new
        reduced = costs
        total = base
        for (_, classes, trees), phis in zip(links, sent):
            for (t, of_leaf, _), phi in zip(trees, phis): reduced[t] = [down(c - max(g(phi))) for c, g in zip(reduced[t], of_leaf)]
            sums = [0.0] * len(classes)
            for phi in phis: sums = [down(a + b) for a, b in zip(sums, phi)]
            total = down(total + min(sums))
        minima = [min(c) for c in reduced]
        for least in minima: total = down(total + least)
        need(math.isfinite(total), "the numbers overflow")
        if total >= bound: return None
        on = list(on)
        for f, classes, trees in links:
            for j, mask in enumerate(classes):
                of_class = total
                for t, _, leaves in trees: of_class = down(of_class + down(min(leaves[j](reduced[t])) - minima[t]))
                if of_class >= bound: on[f] &= ~mask
        alive = [
            [i for i, c in zip(kept, of_tree) if not down(total + down(c - least)) >= bound]
            for kept, of_tree, least in zip(alive, reduced, minima)
        ]
        return self.filter(on, alive, region) if all(on) else None

def getter(indices):
    if len(indices) == 1:
        only = indices[0]
        return lambda values: (values[only],)
    return itemgetter(*indices)

def main(arguments):
    limit = INF
    if "--time-limit" in arguments:
        at = arguments.index("--time-limit")
        limit = float(arguments[at + 1])
        del arguments[at : at + 2]
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    sys.setrecursionlimit(100_000)
    deadline = time.monotonic() + limit
    try:
        data = Path(arguments[0]).read_bytes()
        statement = Statement(data)
        certificate = read_certificate(Path(arguments[1]).read_bytes())
    except (OSError, Refused) as error:
        print(f"not readable: {error}", file=sys.stderr)
        return 2
    try:
        need(certificate[0] == fnv(data), "the certificate belongs to another problem")
        bound, objective = Verifier(statement, deadline).verify(certificate)
    except Refused as refused:
        print(f"refused: {refused}", file=sys.stderr)
        return 1
    nodes = len(certificate[3])
    print(f"verified: no feasible point ({nodes} nodes)" if objective is None else f"verified: objective {objective}, no point below {bound} ({nodes} nodes)")
    return 0

if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
