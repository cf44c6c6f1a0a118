"""scikit-learn's models on the laboratory tables of `examples/laboratory_tables.rs`, beside leafgp's presets.

    cargo build --release --example laboratory_tables
    python peers/laboratory_tables.py target/release/examples/laboratory_tables [--seeds A..B] [--evaluations N] [--jobs N]

The example is run once for each seed; it writes the first rows of that seed, which all methods here start from too, and prints one row a preset, which is
this seed's value. Printed are the table of the example with the methods of this file added, and a sign test of each preset against each of them, by
(table, seed). Needs scikit-learn, numpy and scipy, and the tables of the shared folder's `data/real`.

- `forest`: RandomForestRegressor with its defaults (100 trees), expected improvement from the mean and deviation of the trees.
- `process`: GaussianProcessRegressor, constant times Matern 5/2 with a length scale each, plus white noise, two restarts; expected improvement of the
  function without the noise.
- `chance`: rows at random.

Variables are scaled to 0 to 1 by their bounds, a category is one column for each level. Ties of the acquisition are broken at random.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import subprocess
import tempfile
import warnings
import zlib
from concurrent.futures import ProcessPoolExecutor

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np
from scipy.special import ndtr
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

ROOT = pathlib.Path(__file__).resolve().parents[1]
# The percentile is that of the best row after so many evaluations; as in the example.
AFTER = 25
# Where the two terms of the expected improvement cancel, its logarithm is that of its leading term.
FAR = -30.0


class Table:
    """A table with one measured column, as a matrix in the unit cube and costs to be minimised."""

    def __init__(self, name, variables, lines, column, goal):
        self.name = name
        self.inputs = np.column_stack([part for variable in variables for part in encoded(variable, lines)])
        sign = 1.0 if goal == "minimize" else -1.0
        self.costs = sign * np.array([float(line[column]) for line in lines])
        # The number of rows that are better.
        self.ranks = np.searchsorted(np.sort(self.costs), self.costs)


def encoded(variable, lines):
    texts = [line[variable["name"]].strip() for line in lines]
    if variable["type"] == "categorical":
        return [np.array([float(text == level) for text in texts]) for level in variable["options"]]
    low, high = variable["low"], variable["high"]
    return [(np.array([float(text) for text in texts]) - low) / (high - low)]


def read_all(folder):
    tables = {}
    for path in sorted(folder.glob("*.json")):
        space = json.loads(path.read_text())
        with open(path.with_suffix(".csv"), newline="") as file:
            lines = list(csv.DictReader(file))
        measured, goals = space["measurements"], space["goal"]
        for column, goal in zip(measured, goals if isinstance(goals, list) else [goals] * len(measured)):
            name = f"{space['name']} {column}"
            tables[name] = Table(name, space["variables"], lines, column, goal)
    return tables


def log_expected_improvement(mean, deviation, best):
    deviation = np.maximum(deviation, 1e-12)
    z = (best - mean) / deviation
    log_density = -0.5 * z * z - 0.5 * math.log(2.0 * math.pi)
    near = np.maximum(z, FAR)
    inner = np.exp(-0.5 * near * near) / math.sqrt(2.0 * math.pi) + near * ndtr(near)
    return np.log(deviation) + np.where(z > FAR, np.log(inner), log_density - 2.0 * np.log(np.maximum(-z, 1.0)))


def forest(inputs, costs, candidates, rng):
    model = RandomForestRegressor(random_state=int(rng.integers(2**31)), n_jobs=1).fit(inputs, costs)
    single = candidates.astype(np.float32)
    trees = np.array([tree.tree_.predict(single).ravel() for tree in model.estimators_])
    return log_expected_improvement(trees.mean(axis=0), trees.std(axis=0), costs.min())


def process(inputs, costs, candidates, rng):
    scale = costs.std() or 1.0
    values = (costs - costs.mean()) / scale
    kernel = ConstantKernel(1.0, (1e-2, 1e2)) * Matern(np.ones(inputs.shape[1]), (1e-2, 1e2), nu=2.5) + WhiteKernel(1e-2, (1e-6, 1.0))
    model = GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=int(rng.integers(2**31)))
    mean, deviation = model.fit(inputs, values).predict(candidates, return_std=True)
    noise = model.kernel_.k2.noise_level
    return log_expected_improvement(mean, np.sqrt(np.maximum(deviation**2 - noise, 0.0)), values.min())


def chance(_inputs, _costs, candidates, _rng):
    return np.zeros(len(candidates))


METHODS = {"forest": forest, "process": process, "chance": chance}


def score(table, method, first, seed, budget):
    """Evaluations until a row of the best 1 % is known (the budget plus one where none is), and the percentile after AFTER."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    # The table counts too: draws of one seed must not be alike on all tables.
    rng = np.random.default_rng([seed, zlib.crc32(table.name.encode())])
    n = len(table.costs)
    budget = min(budget, n)
    best = -(-n // 100)
    known = list(first)
    # Neither number changes any more once a row of the best is known and AFTER rows are.
    while len(known) < budget and (len(known) < AFTER or table.ranks[known].min() >= best):
        left = np.setdiff1d(np.arange(n), known)
        acquisition = METHODS[method](table.inputs[known], table.costs[known], table.inputs[left], rng)
        known.append(int(rng.choice(left[acquisition == acquisition.max()])))
    found = np.flatnonzero(table.ranks[known] < best)
    evaluations = int(found[0]) + 1 if len(found) else budget + 1
    return evaluations, 100.0 * table.ranks[known[:AFTER]].min() / n


def example(program, seed, evaluations):
    """The first rows by table, and {(preset, table): (evaluations, percentile)}, of one seed."""
    with tempfile.TemporaryDirectory() as folder:
        starts = pathlib.Path(folder) / "starts.csv"
        command = [program, "--seeds", f"{seed}..{seed + 1}", "--evaluations", str(evaluations), "--starts", str(starts)]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        with open(starts, newline="") as file:
            rows = {line[0]: [int(row) for row in line[2:]] for line in csv.reader(file)}
    header, _, *lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines()]
    tables = [cell.rsplit(" (", 1)[0] for cell in header[1:-1]]
    values = {}
    for name, *cells in lines:
        for table, cell in zip(tables, cells):
            count, percentile = cell.split(";")
            values[name, table] = (round(float(count)), float(percentile))
    return rows, values


def sign_test(pairs):
    better = sum(a < b for a, b in pairs)
    worse = sum(a > b for a, b in pairs)
    n = better + worse
    p = min(1.0, 2.0 * sum(math.comb(n, i) for i in range(min(better, worse) + 1)) / 2.0**n)
    return f"{better} / {len(pairs) - n} / {worse}, p {p:.2g}"


def report(tables, seeds, values):
    methods = list(dict.fromkeys(method for method, _, _ in values))
    print("| method | " + " | ".join(f"{t.name} ({len(t.costs)})" for t in tables.values()) + " | mean |")
    print("|---" * (len(tables) + 2) + "|")
    for method in methods:
        cells = [np.mean([values[method, table, seed] for seed in seeds], axis=0) for table in tables]
        cells.append(np.mean(cells, axis=0))
        print(f"| {method} | " + " | ".join(f"{count:.1f}; {percentile:.2f}" for count, percentile in cells) + " |")
    for k, what in enumerate(["evaluations until a row of the best 1 %", f"percentile after {AFTER}"]):
        print(f"\n{what}: better / equal / worse of {len(tables) * len(seeds)}, two-sided sign test\n")
        print("| | " + " | ".join(f"against {peer}" for peer in METHODS) + " |")
        print("|---" * (len(METHODS) + 1) + "|")
        for method in methods:
            if method in METHODS:
                continue
            # Percentiles of the example have two decimals.
            tests = [
                sign_test([(values[method, t, s][k], round(values[peer, t, s][k], 2)) for t in tables for s in seeds])
                for peer in METHODS
            ]
            print(f"| {method} | " + " | ".join(tests) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("example")
    parser.add_argument("--seeds", default="301..311")
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", type=pathlib.Path, help="the folder of the tables, by default that of the shared folder")
    options = parser.parse_args()
    seeds = range(*map(int, options.seeds.split("..")))
    tables = read_all(options.data or pathlib.Path(os.environ.get("LEAFGP_SHARED", ROOT.parent / "shared")) / "data" / "real")
    values, first = {}, {}
    for seed in seeds:
        rows, own = example(options.example, seed, options.evaluations)
        first |= {(table, seed): own_rows for table, own_rows in rows.items()}
        values |= {(method, table, seed): value for (method, table), value in own.items()}
    cases = [(method, table, seed) for method in METHODS for table in tables for seed in seeds]
    with ProcessPoolExecutor(options.jobs) as pool:
        jobs = [
            pool.submit(score, tables[table], method, first[table, seed], seed, options.evaluations)
            for method, table, seed in cases
        ]
        values |= {case: job.result() for case, job in zip(cases, jobs)}
    report(tables, seeds, values)


if __name__ == "__main__":
    main()
