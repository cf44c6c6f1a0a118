"""The same with older libraries: xgboost 1.7.6, lightgbm 3.3.5.

usage: python train_old.py FOLDER
"""

import json
import sys
from pathlib import Path

import lightgbm
import numpy as np
import pandas
import xgboost

folder = Path(sys.argv[1])
rng = np.random.default_rng(20261129)
N = 200
x = np.column_stack([rng.uniform(0, 10, N).round(2), rng.normal(0, 2, N).round(3), rng.integers(0, 6, N).astype(float)])
y = 0.4 * x[:, 0] - 0.3 * x[:, 1] ** 2 + np.array([0.0, 2.0, -1.0, 0.7, 1.1, -0.4])[x[:, 2].astype(int)]
x[rng.uniform(size=N) < 0.1, 1] = np.nan
points = np.column_stack([rng.uniform(-1, 11, 40).round(3), rng.normal(0, 3, 40).round(3), rng.integers(0, 9, 40).astype(float)])
points[rng.uniform(size=points.shape) < 0.15] = np.nan


def record(name, library, predictions):
    rows = [[None if not np.isfinite(v) else float(v) for v in row] for row in points]
    (folder / f"{name}.points.json").write_text(json.dumps({"library": library, "points": rows, "predictions": [float(v) for v in predictions]}))


kinds = {"feature_names": ["flow", "temp", "metal"], "feature_types": ["float", "float", "c"], "enable_categorical": True}
common = {"max_depth": 3, "nthread": 1, "eta": 0.5, "tree_method": "approx"}
for name, form, parameters in [
    ("old-xgb-partition", "ubj", {"max_cat_to_onehot": 1}),
    ("old-xgb-onehot", "json", {"max_cat_to_onehot": 50, "booster": "dart", "rate_drop": 0.5}),
]:
    model = xgboost.train({**common, **parameters}, xgboost.DMatrix(x, y, **kinds), 4)
    model.save_model(folder / f"{name}.{form}")
    record(name, f"xgboost {xgboost.__version__}", model.predict(xgboost.DMatrix(points, **kinds)))
frame = pandas.DataFrame(x, columns=["flow", "temp", "metal"])
frame["metal"] = pandas.Categorical(frame.metal.astype(int))
asked = pandas.DataFrame(points, columns=["flow", "temp", "metal"])
asked["metal"] = pandas.Categorical(asked.metal.astype("Int64"), categories=range(6))
points[:, 2] = np.where(asked.metal.cat.codes < 0, np.nan, asked.metal.cat.codes)
model = lightgbm.train({"verbose": -1, "num_threads": 1, "num_leaves": 6, "min_data_per_group": 2, "max_cat_to_onehot": 1}, lightgbm.Dataset(frame, y), 4)
model.save_model(str(folder / "old-lgb.txt"))
record("old-lgb", f"lightgbm {lightgbm.__version__}", model.predict(asked))
