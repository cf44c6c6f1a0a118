"""The model's error over tree agreement without maximisation: the control of the uncertainty study (docs/uncertainty-study.md).

Independent of leafgp: LightGBM trees with the paper's settings, a tree-kernel Gaussian process whose two variances maximise the
likelihood on a grid. Test points lie between the data and random points: a training point, a random part of its coordinates redrawn.

    pip install lightgbm==4.7 numpy && python datasets/study/agreement/unselected.py > datasets/study/agreement/unselected.csv
"""

import lightgbm
import numpy as np

SEEDS, DIM, TESTS = range(101, 121), 10, 1500
TREES = dict(
    objective="regression", learning_rate=0.1, max_depth=3, num_leaves=31, min_data_in_leaf=1,
    min_data_per_group=1, verbose=-1, num_threads=1, feature_pre_filter=False,
)
VARIANCES = [(s, n) for s in np.geomspace(0.05, 20, 25) for n in np.geomspace(5e-4, 0.2, 15)]


def rastrigin(x):
    return 10 * DIM + np.sum(x * x - 10 * np.cos(2 * np.pi * x), axis=1)


def schwefel(x):
    return 418.9829 * DIM - np.sum(x * np.sin(np.sqrt(np.abs(x))), axis=1)


def weights(gram, y):
    """s2 (s2 K + nz I)^-1 y at the variances of the largest likelihood."""
    values, vectors = np.linalg.eigh(gram)
    r = vectors.T @ y

    def log_likelihood(variances):
        d = variances[0] * values + variances[1]
        return -0.5 * np.sum(r * r / d) - 0.5 * np.sum(np.log(d))

    s2, nz = max(VARIANCES, key=log_likelihood)
    return s2 * (vectors @ (r / (s2 * values + nz)))


def errors(function, lower, upper, n, seed):
    """Largest agreement, relative error (Eq. 13) and error in standard deviations of the data, at the test points."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(lower, upper, (n, DIM))
    y = function(x)
    mean, std = y.mean(), y.std(ddof=1)
    target = (y - mean) / std
    booster = lightgbm.train(dict(TREES, seed=seed), lightgbm.Dataset(x, target, params=dict(verbose=-1)), 50)
    leaves = booster.predict(x, pred_leaf=True)
    alpha = weights((leaves[:, None, :] == leaves[None, :, :]).mean(axis=2), target)
    start = x[rng.integers(0, n, TESTS)]
    redrawn = rng.random((TESTS, DIM)) < rng.random((TESTS, 1))
    test = np.where(redrawn, rng.uniform(lower, upper, (TESTS, DIM)), start)
    kernel = (booster.predict(test, pred_leaf=True)[:, None, :] == leaves[None, :, :]).mean(axis=2)
    predicted, true = mean + std * (kernel @ alpha), function(test)
    return kernel.max(axis=1), np.abs((predicted - true) / predicted), np.abs(predicted - true) / std


def main():
    print("function,points,agreement_from,agreement_to,tests,error_median,error_in_std_median")
    for name, function, lower, upper in [("rastrigin", rastrigin, -4, 5), ("schwefel", schwefel, -500, 500)]:
        for n in (50, 100, 200):
            runs = [errors(function, lower, upper, n, seed) for seed in SEEDS]
            agreement, relative, scaled = (np.concatenate(part) for part in zip(*runs))
            for tenth in range(3, 10):
                inside = (agreement > tenth / 10) & (agreement <= (tenth + 1) / 10)
                if inside.sum() > 20:
                    medians = f"{np.median(relative[inside]):.3f},{np.median(scaled[inside]):.3f}"
                    print(f"{name},{n},{tenth / 10},{(tenth + 1) / 10},{inside.sum()},{medians}", flush=True)


if __name__ == "__main__":
    main()
