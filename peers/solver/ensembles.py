"""Large ensembles for the mean-only comparison, written as instances with kappa = 0.

    python peers/solver/ensembles.py FOLDER [--trees 100 300 1000] [--depths 3 4 5 6] [--functions rastrigin friedman] [--seed 101]

LightGBM fits the function in ten variables on uniform rows (Friedman's first with unit noise); the coefficients of the leaves are
those of the tree-kernel process on these trees (`c = (s2/T) A' alpha`), with s2 = 1 and a noise variance of 0.05, so that every
leaf has a value of its own and the problem is the linear one of Misic. Same arguments, same files.
"""

import argparse
import json
import pathlib

import lightgbm
import numpy as np

ROWS = 500


def rastrigin(rng):
    x = rng.uniform(-5.12, 5.12, (ROWS, 10))
    return x, 100.0 + np.sum(x * x - 10.0 * np.cos(2.0 * np.pi * x), axis=1), (-5.12, 5.12)


def friedman(rng):
    x = rng.random((ROWS, 10))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, y + rng.normal(size=ROWS), (0.0, 1.0)


FUNCTIONS = {"rastrigin": rastrigin, "friedman": friedman}


def nodes_of(root):
    """LightGBM's nested tree as a list of nodes, the root first."""
    nodes, leaves = [], 0

    def add(node):
        nonlocal leaves
        place = len(nodes)
        nodes.append(None)
        if "leaf_value" in node:
            nodes[place] = {"leaf": leaves, "value": node["leaf_value"]}
            leaves += 1
        else:
            left = add(node["left_child"])
            right = add(node["right_child"])
            nodes[place] = {"feature": node["split_feature"], "threshold": node["threshold"], "left": left, "right": right}
        return place

    add(root)
    return nodes


def build(function, n_trees, depth, seed):
    x, y, (lower, upper) = FUNCTIONS[function](np.random.default_rng(seed))
    y = (y - y.mean()) / y.std(ddof=1)
    params = {
        "objective": "regression",
        "learning_rate": 0.1,
        "max_depth": depth,
        "num_leaves": 2**depth,
        "min_data_in_leaf": 5,
        "seed": seed,
        "deterministic": True,
        "num_threads": 1,
        "verbosity": -1,
    }
    model = lightgbm.train(params, lightgbm.Dataset(x, y), num_boost_round=n_trees).dump_model()
    return {
        "name": f"{function}10-m{ROWS}-t{n_trees}d{depth}-s{seed}",
        "kappa": 0.0,
        "signal_variance": 1.0,
        "noise_variance": 0.05,
        "variables": [{"type": "continuous", "lower": lower, "upper": upper} for _ in range(10)],
        "trees": [nodes_of(tree["tree_structure"]) for tree in model["tree_info"]],
        "X": x.tolist(),
        "y": y.tolist(),
    }


def write(folder, functions, trees, depths, seed):
    """Writes what is missing; returns the paths, small ensembles first."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for n_trees in trees:
        for depth in depths:
            for function in functions:
                path = folder / f"{function}10-m{ROWS}-t{n_trees}d{depth}-s{seed}.json"
                if not path.exists():
                    path.write_text(json.dumps(build(function, n_trees, depth, seed)), encoding="utf-8")
                paths.append(path)
    return paths


def add_arguments(parser):
    parser.add_argument("--trees", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4, 5, 6])
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=list(FUNCTIONS))
    parser.add_argument("--seed", type=int, default=101)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    add_arguments(parser)
    args = parser.parse_args()
    for path in write(args.folder, args.functions, args.trees, args.depths, args.seed):
        print(path)


if __name__ == "__main__":
    main()
