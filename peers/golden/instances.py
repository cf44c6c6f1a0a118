"""Writes solver/tests/golden/instances: acquisition instances of generated tables with their optima, found by visiting every cell of the forest.

Everything but the trees (LightGBM's) is written here from the definitions with dense linear algebra; nothing of leafgp is used. The README
beside this file says how to run it.
"""

import math
import pathlib

import lightgbm
import numpy as np

import forest
from fits import PAPER, column, levels, real, whole

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "solver/tests/golden/instances"
SIGNAL, NOISE = (0.05, 20.0), (5e-4, 0.2)
EPOCHS, RATE = 200, 0.1
CHUNK = 1 << 16


def wells(x):
    return sum(v**4 - 16 * v**2 + 5 * v for v in x) / 2


def recipe(x):
    base, additive, passes, heat, share = x
    return [1.0, -0.4, 0.7][int(base)] * heat + [0.0, 0.5, -1.1, 0.2, 0.9][int(additive)] + 0.3 * (passes - 3) ** 2 - 4 * share * heat


def ripples(x):
    return sum(math.sin(5 * v + i) + 0.3 * v * x[i - 1] for i, v in enumerate(x))


def vessel(x):
    shell, head, radius, length, steel = x
    return 0.04 * shell * length + 0.5 * head - 3 * radius + [0.0, 2.0, -2.0][int(steel)]


WELLS = [real(-5, 5)] * 4
RECIPE = [levels(3), levels(5), whole(0, 8), real(-2, 2), real(0, 1)]
RIPPLES = [real(-1, 2)] * 5
VESSEL = [whole(1, 20), whole(1, 12), real(1, 9), real(0, 30), levels(3)]

# Each constraint as text and as a function of columns. All are monotone and agree on the better end of every variable they
# name (`better`: 0 the lower, 1 the upper), so that a cell holds a feasible point if and only if its better corner is one.
VESSEL_RULES = {
    "better": {0: 1, 1: 1, 2: 0, 3: 1},
    "rules": [
        ("0.45*x2 <= 0.2*x0", lambda x: 0.45 * x[2] - 0.2 * x[0]),
        ("0.3*x2^2 <= x1 - 1", lambda x: 0.3 * x[2] ** 2 - x[1] + 1),
        ("x0*x3 >= 250", lambda x: 250 - x[0] * x[3]),
        ("x4 == '2' implies x3 >= 24.5", lambda x: np.where(x[4] == 2, 24.5 - x[3], -1.0)),
    ],
}

# name, variables, function, rows, rounds, depth, kappa, seed, constraints
CASES = [
    ("wells4-m10-t50d3", WELLS, wells, 10, 50, 3, 1.96, 21, None),
    ("recipe5-m10-t50d3", RECIPE, recipe, 10, 50, 3, 1.96, 22, None),
    ("recipe5-m25-t50d3", RECIPE, recipe, 25, 50, 3, 1.96, 23, None),
    ("wells4-m25-t20d3-mean", WELLS, wells, 25, 20, 3, 0.0, 24, None),
    ("ripples5-m50-t20d5", RIPPLES, ripples, 50, 20, 5, 1.96, 25, None),
    ("vessel5-c-m10-t50d3", VESSEL, vessel, 10, 50, 3, 1.96, 30, VESSEL_RULES),
    ("vessel5-c-m25-t20d3", VESSEL, vessel, 25, 20, 3, 1.96, 33, VESSEL_RULES),
]


def sample(variables, rules, n, rng):
    """Points of the box that satisfy the constraints, by rejection."""
    rows = []
    while len(rows) < n:
        x = np.array([column(variable, 1, rng)[0] for variable in variables])
        if rules is None or all(value(x) <= 0 for _, value in rules["rules"]):
            rows.append(x)
    return np.array(rows)


def leaves_of(trees, x):
    """Global number of the active leaf of every tree (rows: trees, columns: points); x holds a column a point."""
    out = np.empty((len(trees), x.shape[1]), dtype=np.int64)
    first = 0
    for t, tree in enumerate(trees):

        def visit(place, points):
            node = tree[place]
            if "leaf" in node:
                out[t, points] = first + node["leaf"]
                return
            values = x[node["feature"], points]
            left = values <= node["threshold"] if "threshold" in node else np.isin(values, node["categories"])
            visit(node["left"], points[left])
            visit(node["right"], points[~left])

        visit(0, np.arange(x.shape[1]))
        first += sum("leaf" in node for node in tree)
    return out, first


class Process:
    """The tree-kernel process of Eq. 1 and 2 with an explicit inverse, and its maximum-likelihood fit by Adam."""

    def __init__(self, trees, x, y):
        self.trees, self.y = trees, y
        self.leaves, self.n_leaves = leaves_of(trees, x.T)
        self.common = sum((row[:, None] == row[None, :]).astype(float) for row in self.leaves) / len(trees)
        self._fit()

    def _fit(self):
        raw, first, second = np.zeros(2), np.zeros(2), np.zeros(2)
        m = len(self.y)
        for step in range(1, EPOCHS + 1):
            share = 1 / (1 + np.exp(-raw))
            width = np.array([SIGNAL[1] - SIGNAL[0], NOISE[1] - NOISE[0]])
            self.signal, self.noise = np.array([SIGNAL[0], NOISE[0]]) + width * share
            inverse = np.linalg.inv(self.signal * self.common + self.noise * np.eye(m))
            alpha = inverse @ self.y
            slope = np.outer(alpha, alpha) - inverse
            gradient = -0.5 * np.array([np.sum(slope * self.common), np.trace(slope)]) * width * share * (1 - share) / m
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            raw = raw - RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        share = 1 / (1 + np.exp(-raw))
        self.signal, self.noise = np.array([SIGNAL[0], NOISE[0]]) + width * share
        self.inverse = np.linalg.inv(self.signal * self.common + self.noise * np.eye(m))
        self.alpha = self.inverse @ self.y

    def posterior(self, x):
        """Mean and deviation at the columns of x."""
        active, _ = leaves_of(self.trees, x)
        k = np.zeros((len(self.y), x.shape[1]))
        for own, theirs in zip(self.leaves, active):
            k += own[:, None] == theirs[None, :]
        k *= self.signal / len(self.trees)
        variance = self.signal - np.sum(k * (self.inverse @ k), axis=0)
        return self.alpha @ k, np.sqrt(np.maximum(variance, 0.0))


def intervals(variables, trees):
    """For every variable the ends of its cells that hold a value of the domain: (lower, upper), a level twice."""
    out = []
    for i, variable in enumerate(variables):
        if variable["type"] == "categorical":
            out.append([(float(level), float(level)) for level in range(variable["categories"])])
            continue
        lower, upper = float(variable["lower"]), float(variable["upper"])
        cuts = {node["threshold"] for tree in trees for node in tree if node.get("feature") == i}
        if variable["type"] == "integer":
            cuts = {float(math.floor(cut)) for cut in cuts}
        ends = sorted(cut for cut in cuts if lower <= cut < upper) + [upper]
        step = 1.0 if variable["type"] == "integer" else 0.0
        starts = [lower] + [end + step for end in ends[:-1]]
        out.append(list(zip(starts, ends)))
    return out


def optimum(variables, rules, process, kappa, inside):
    """The least value over all cells that hold a feasible point, a point of the best cell, and the number of cells.

    A cell's representative is its upper end, which belongs to it. With `inside` the lower ends of real variables are moved into the cell by
    that share of the range: cells are open there, and closed ones are only a bound.
    """
    cells = intervals(variables, process.trees)
    shape = [len(c) for c in cells]
    best, best_x = math.inf, None
    for start in range(0, math.prod(shape), CHUNK):
        places = np.unravel_index(np.arange(start, min(start + CHUNK, math.prod(shape))), shape)
        lower = np.array([np.array(c)[p, 0] for c, p in zip(cells, places)])
        upper = np.array([np.array(c)[p, 1] for c, p in zip(cells, places)])
        if rules is not None:
            for i, variable in enumerate(variables):
                if variable["type"] == "continuous":
                    lower[i] = np.minimum(lower[i] + inside * (variable["upper"] - variable["lower"]), upper[i])
            corner = np.array([upper[i] if rules["better"].get(i, 1) else lower[i] for i in range(len(variables))])
            feasible = np.all([value(corner) <= 0 for _, value in rules["rules"]], axis=0)
            upper = upper[:, feasible]
            if upper.shape[1] == 0:
                continue
        mean, deviation = process.posterior(upper)
        values = mean - kappa * deviation
        place = int(np.argmin(values))
        if values[place] < best:
            best, best_x = float(values[place]), upper[:, place].tolist()
    return best, best_x, math.prod(shape)


def main():
    expected = {"plain": {}, "constrained": {}}
    for name, variables, function, n, rounds, depth, kappa, seed, rules in CASES:
        rng = np.random.default_rng(seed)
        x = sample(variables, rules, n, rng)
        y = np.array([function(row) for row in x])
        y = (y - y.mean()) / y.std(ddof=1)
        categories = [i for i, variable in enumerate(variables) if variable["type"] == "categorical"]
        data = lightgbm.Dataset(x, y, categorical_feature=categories)
        fixed = {"objective": "regression", "num_threads": 1, "deterministic": True, "force_row_wise": True, "verbosity": -1, "seed": 1}
        booster = lightgbm.train(PAPER | {"max_depth": depth} | fixed, data, num_boost_round=rounds)
        trees = [tree for tree in forest.trees(booster) if len(tree) > 1]
        process = Process(trees, x, y)
        points = sample(variables, rules, 100, rng).T
        mean, deviation = process.posterior(points)
        place = int(np.argmin(mean - kappa * deviation))
        instance = {
            "name": name,
            "kappa": kappa,
            "signal_variance": float(process.signal),
            "noise_variance": float(process.noise),
            "variables": variables,
            "trees": trees,
            "X": x.tolist(),
            "y": y.tolist(),
            "sampled": {
                "x": points[:, place].tolist(),
                "acquisition": float(mean[place] - kappa * deviation[place]),
                "mean": float(mean[place]),
                "std": float(deviation[place]),
            },
        }
        kind = "plain" if rules is None else "constrained"
        at_least, best, n_cells = optimum(variables, rules, process, kappa, 0.0)
        if rules is None:
            found = {"objective": at_least, "x": best}
        else:
            instance["constraints"] = [text for text, _ in rules["rules"]]
            unconstrained = optimum(variables, None, process, kappa, 0.0)[0]
            if at_least < unconstrained + 1e-3:
                raise SystemExit(f"{name}: its constraints exclude nothing that matters; choose another seed")
            found = {"objective_at_least": at_least, "objective_at_most": optimum(variables, rules, process, kappa, 1e-5)[0], "without_constraints": unconstrained}
        expected[kind][name] = found | {"cells": n_cells}
        (FOLDER / kind).mkdir(parents=True, exist_ok=True)
        forest.write(FOLDER / kind / f"{name}.json", instance)
        print(name, len(trees), process.signal, process.noise, found, n_cells, (FOLDER / kind / f"{name}.json").stat().st_size)
    for kind, optima in expected.items():
        forest.write(FOLDER / kind / "expected.json", optima)


if __name__ == "__main__":
    main()
