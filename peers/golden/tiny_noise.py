#!/usr/bin/env python3
"""Acquisition problems with very little noise, and their optima in exact arithmetic: writes tests/golden/exact/tiny-noise.json.

Spaces of at most 64 points, so each point is looked at: mean and variance as fractions, the root of the variance to 60 digits. Python's standard library alone.
    python3 peers/golden/tiny_noise.py > tests/golden/exact/tiny-noise.json
"""

import json
import random
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import product

getcontext().prec = 60


def solve(matrix, right):
    """X with `matrix X = right` by elimination, in fractions."""
    n = len(matrix)
    rows = [row[:] + extra[:] for row, extra in zip(matrix, right)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]


def leaf(tree, x):
    node = tree[0]
    while "leaf" not in node:
        node = tree[node["left"] if x[node["feature"]] <= node["threshold"] else node["right"]]
    return node["leaf"]


def decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def optimum(instance):
    """The least `mean - kappa deviation` over all points."""
    trees = [tree for tree in instance["trees"] if len(tree) > 1]
    signal, noise, kappa = (Fraction(instance[k]) for k in ("signal_variance", "noise_variance", "kappa"))
    ends = [[leaf(tree, x) for tree in trees] for x in instance["X"]]
    share = lambda a, b: signal * sum(p == q for p, q in zip(a, b)) / len(trees)
    n = len(ends)
    gram = [[share(ends[i], ends[j]) + (noise if i == j else 0) for j in range(n)] for i in range(n)]
    best = None
    points = {}
    for x in product(*[range(v["lower"], v["upper"] + 1) for v in instance["variables"]]):
        points.setdefault(tuple(leaf(tree, x) for tree in trees), x)
    cells = list(points)
    cross = [[share(cell, end) for cell in cells] for end in ends]
    right = [[Fraction(y)] + row for y, row in zip(instance["y"], cross)]
    solved = solve(gram, right)
    for c, cell in enumerate(cells):
        mean = sum(cross[i][c] * solved[i][0] for i in range(n))
        variance = signal - sum(cross[i][c] * solved[i][1 + c] for i in range(n))
        value = decimal(mean) - decimal(kappa) * decimal(variance).sqrt()
        best = value if best is None else min(best, value)
    return best


def stump(rng, sizes, depth):
    nodes, leaves = [], [0]

    def grow(left):
        at = len(nodes)
        nodes.append(None)
        if left == 0:
            nodes[at] = {"leaf": leaves[0], "value": 0}
            leaves[0] += 1
            return at
        feature = rng.randrange(len(sizes))
        threshold = rng.randrange(sizes[feature]) + 0.5
        nodes[at] = {"feature": feature, "threshold": threshold, "left": grow(left - 1), "right": grow(left - 1)}
        return at

    grow(depth)
    return nodes


def main():
    rng = random.Random(19)
    cases = []
    for noise in (0.01, 1e-6):
        cases.append((1e6, noise, [1], [stump(rng, [1], 1)], [[0], [0], [1], [1]], [0, 0, 0, 0], 10.0))
    for k in range(120):
        signal = rng.choice([1.0, 0.05, 20.0, 1e6])
        noise = signal * 10.0 ** -rng.choice([3, 5, 7, 8, 9, 10, 11, 11.9])
        sizes = [rng.choice([1, 1, 2, 3]) for _ in range(rng.randint(1, 3))]
        trees = [stump(rng, sizes, rng.randint(1, 2)) for _ in range(rng.randint(1, 8))]
        every = list(product(*[range(n + 1) for n in sizes]))
        # Everything measured, some of it more than once, or a part.
        rows = [list(x) for x in every if rng.random() < (1.0 if k % 2 == 0 else 0.6)] or [list(every[0])]
        rows += [rng.choice(rows) for _ in range(rng.randint(0, 4))]
        rows = rows[:14] if k % 4 else rows[:30]
        scale = rng.choice([0.0, 0.0, 1e-6, 1.0])
        y = [round(scale * rng.gauss(0, 1), 9) for _ in rows]
        cases.append((signal, noise, sizes, trees, rows, y, rng.choice([1.96, 10.0, 0.5])))
    out = []
    for k, (signal, noise, sizes, trees, rows, y, kappa) in enumerate(cases):
        instance = {
            "name": f"tiny-noise-{k}", "kappa": kappa, "signal_variance": signal, "noise_variance": noise,
            "variables": [{"type": "integer", "lower": 0, "upper": n} for n in sizes],
            "trees": trees, "X": rows, "y": y,
        }
        out.append({"instance": instance, "optimum": f"{optimum(instance):.30e}"})
    print("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in out) + "\n]")


main()
