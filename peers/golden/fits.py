"""Writes tests/golden: fits of generated tables by LightGBM. The README beside this file says how to run it."""

import pathlib

import lightgbm
import numpy as np

import forest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/golden"
FOLDS = 5

# What the fits leave at LightGBM's defaults, written out so that the tests need not know them.
STOCK = {
    "max_depth": -1,
    "min_data_in_leaf": 20,
    "min_data_per_group": 100,
    "learning_rate": 0.1,
    "num_leaves": 31,
    "max_bin": 255,
    "min_data_in_bin": 3,
    "min_sum_hessian_in_leaf": 0.001,
    "lambda_l2": 0.0,
    "cat_smooth": 10.0,
    "cat_l2": 10.0,
    "max_cat_threshold": 32,
    "max_cat_to_onehot": 4,
}
PAPER = STOCK | {"max_depth": 3, "min_data_in_leaf": 1, "min_data_per_group": 1}


def real(lower, upper):
    return {"type": "continuous", "lower": lower, "upper": upper}


def whole(lower, upper):
    return {"type": "integer", "lower": lower, "upper": upper}


def levels(n):
    return {"type": "categorical", "categories": n}


def column(variable, n, rng):
    """Values with at most four decimals, so that the file stays short and its numbers are those of the fit."""
    if variable["type"] == "continuous":
        return np.round(rng.uniform(variable["lower"], variable["upper"], n), 4)
    if variable["type"] == "integer":
        return rng.integers(variable["lower"], variable["upper"] + 1, n).astype(float)
    return rng.integers(0, variable["categories"], n).astype(float)


def table(variables, function, n, seed):
    rng = np.random.default_rng(seed)
    x = np.column_stack([column(variable, n, rng) for variable in variables])
    y = np.array([function(row) for row in x]) + 0.05 * rng.normal(size=n)
    return x, np.round(y, 6)


def waves(x):
    return np.sin(3 * x[0]) + x[1] * x[1] - 0.5 * x[0] * x[2] + 0.3 * x[3]


def steps(x):
    return 0.2 * x[0] - 0.05 * (x[1] - 6) ** 2 + 0.4 * (x[2] % 3) + 0.1 * x[0] * (x[1] > 4)


LEVELS = [1.3, -1.2, 0.8, 1.1, 1.7, -1.4, -0.9, 1.6, -1.1, -1.6, 1.0, -1.9]


def kinds(x):
    return LEVELS[int(x[0])] + [0.5, -0.5, 0.2][int(x[1])] * x[2] + 0.1 * x[3]


REALS = [real(-2, 2), real(-1, 1), real(0, 5), real(0, 1)]
WHOLES = [whole(0, 9), whole(-3, 20), whole(0, 5)]
MIXED = [levels(12), levels(3), real(-1, 1), whole(0, 6)]

CASES = [
    # name, variables, function, rows, seed, parameters, rounds
    ("reals-paper", REALS, waves, 60, 11, PAPER, 50),
    ("reals-bins", REALS, waves, 90, 12, PAPER | {"min_data_in_bin": 1, "max_bin": 15, "lambda_l2": 1.0, "num_leaves": 5}, 10),
    ("reals-large", REALS, waves, 80, 13, PAPER | {"max_depth": 5}, 5),
    ("wholes-paper", WHOLES, steps, 70, 14, PAPER, 15),
    ("wholes-stock", WHOLES, steps, 150, 15, STOCK, 12),
    ("kinds-paper", MIXED, kinds, 100, 16, PAPER, 15),
    ("kinds-stock", MIXED, kinds, 260, 17, STOCK, 15),
]


def train(x, y, variables, parameters, rounds):
    categories = [i for i, variable in enumerate(variables) if variable["type"] == "categorical"]
    data = lightgbm.Dataset(x, y, categorical_feature=categories, free_raw_data=False)
    fixed = {"objective": "regression", "num_threads": 1, "deterministic": True, "force_row_wise": True, "verbosity": -1, "seed": 1}
    return lightgbm.train(parameters | fixed, data, num_boost_round=rounds)


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, variables, function, n, seed, parameters, rounds in CASES:
        x, y = table(variables, function, n, seed)
        booster = train(x, y, variables, parameters, rounds)
        held_out = np.empty(n)
        for fold in range(FOLDS):
            test = np.arange(n) % FOLDS == fold
            held_out[test] = train(x[~test], y[~test], variables, parameters, rounds).predict(x[test])
        golden = {
            "name": name,
            "params": parameters | {"rounds": rounds},
            "variables": variables,
            "X": x.tolist(),
            "y": y.tolist(),
            "trees": forest.trees(booster),
            "predictions": booster.predict(x).tolist(),
            "cv5_rmse": float(np.sqrt(np.mean((held_out - y) ** 2))),
        }
        forest.write(FOLDER / f"{name}.json", golden)
        booster.save_model(FOLDER / f"{name}.lgb.txt")
        sizes = [(FOLDER / f"{name}{ext}").stat().st_size for ext in (".json", ".lgb.txt")]
        print(name, [sum("leaf" in node for node in tree) for tree in golden["trees"]], sizes, golden["cv5_rmse"] / np.std(y))


if __name__ == "__main__":
    main()
