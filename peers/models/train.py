"""Trains the small models of models/tests/golden with their own libraries and records what they predict.

usage: python train.py FOLDER [FACTOR]

FACTOR (default 1) multiplies the number of recorded points.
"""

import json
import sys
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import onnx
import onnxruntime
import pandas
import skl2onnx
import sklearn
import xgboost
from onnxmltools import convert_lightgbm
from onnxmltools.convert.common.data_types import FloatTensorType
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor

SEED = 20261128
folder = Path(sys.argv[1])
factor = int(sys.argv[2]) if len(sys.argv) > 2 else 1
rng = np.random.default_rng(SEED)
METALS = ["zinc", "alu", "iron", "tin", "lead", "copper", "nickel", "chrome"]
N = 240

frame = pandas.DataFrame(
    {
        "speed": rng.uniform(0.0, 10.0, N).round(2),
        "metal": pandas.Categorical(rng.choice(METALS, N), categories=sorted(METALS)),
        "load": rng.normal(0.0, 2.0, N).round(3),
        "grade": pandas.Categorical(rng.choice([3, 5, 9], N)),
        "dose": rng.choice([0.0, 0.0, 0.5, 1.0, 2.0, -1.0], N),
    }
)
codes = frame.metal.cat.codes.to_numpy()
target = (
    0.4 * frame.speed
    + np.array([0.3, 2.0, -1.0, 0.7, 1.1, -0.4, 0.1, 1.6])[codes]
    - (frame.load - 0.7) ** 2 * 0.3
    + (frame.grade.astype(int) == 5) * 1.5
    + (frame.dose == 0.0) * 0.8
    + rng.normal(0.0, 0.1, N)
).to_numpy()
numbers = frame[["speed", "load", "dose"]].to_numpy()
holes = numbers.copy()
holes[rng.uniform(size=holes.shape) < 0.15] = np.nan
positive = np.exp(0.3 * target)
yes = (target > np.median(target)).astype(int)
three = np.digitize(target, np.quantile(target, [0.33, 0.66]))


def encode(table):
    """Categories as codes, missing values as null."""
    columns = [table[c].cat.codes.replace(-1, np.nan) if str(table[c].dtype) == "category" else table[c] for c in table]
    return [[None if not np.isfinite(v) else float(v) for v in row] for row in np.column_stack(columns)]


def record(name, library, points, predictions, **more):
    rows = [[None if v is None or not np.isfinite(v) else float(v) for v in row] for row in points]
    answer = {"library": library, "points": rows, "predictions": [float(v) for v in predictions], **more}
    (folder / f"{name}.points.json").write_text(json.dumps(answer))


def beside(thresholds, columns, single, start):
    """Points on every threshold and on the numbers beside it, in f64 and in f32; the other columns are random."""
    rows = []
    for column, threshold in thresholds:
        around = [threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf)]
        if single:
            t = np.float32(threshold)
            below, above = np.nextafter(t, np.float32(-np.inf)), np.nextafter(t, np.float32(np.inf))
            middles = [(float(t) + float(below)) / 2, (float(t) + float(above)) / 2]
            around = [float(t), float(below), float(above)]
            for m in middles:
                around += [m, np.nextafter(m, np.inf), np.nextafter(m, -np.inf)]
        for value in around:
            row = start[rng.integers(len(start))].copy()
            row[column] = value
            rows.append(row)
    keep = rng.permutation(len(rows))[: 50 * factor]
    return np.array([rows[i] for i in sorted(keep)])


def sample(n=25, missing=0.0):
    n *= factor
    x = np.column_stack([rng.uniform(-1, 11, n).round(3), rng.normal(0, 3, n).round(3), rng.choice([0.0, -0.0, 1e-36, -1e-30, 0.7, -2.0], n)])
    x[rng.uniform(size=x.shape) < missing] = np.nan
    return x


def table(n=40):
    """Rows with known, and missing, categories."""
    n *= factor
    t = frame.sample(n, random_state=SEED, replace=True).reset_index(drop=True)
    t.loc[rng.uniform(size=n) < 0.1, "metal"] = None
    t.loc[rng.uniform(size=n) < 0.1, "speed"] = np.nan
    t["load"] = rng.normal(0, 3, n).round(3)
    return t


# LightGBM
lgb_version = f"lightgbm {lightgbm.__version__}"
lgb_common = {"verbose": -1, "num_threads": 1, "seed": SEED, "num_leaves": 7, "min_data_in_leaf": 4, "deterministic": True, "force_row_wise": True}


def lightgbm_model(name, parameters, x, y, points, rounds=4, **dataset):
    data = lightgbm.Dataset(x, y, **dataset)
    model = lightgbm.train({**lgb_common, **parameters}, data, rounds)
    model.save_model(folder / f"{name}.txt")
    rows = encode(points) if isinstance(points, pandas.DataFrame) else points
    record(name, lgb_version, rows, np.ravel(model.predict(points)))
    return model


def lightgbm_thresholds(model):
    trees = model.trees_to_dataframe().dropna(subset=["threshold"])
    names = model.feature_name()
    return [(names.index(f), float(t)) for f, t in zip(trees.split_feature, trees.threshold) if str(t).replace(".", "").replace("-", "").replace("e", "").isdigit()]


model = lightgbm_model("lgb-numbers", {"objective": "regression"}, numbers, target, sample())
record("lgb-numbers", lgb_version, *(lambda p: (p, model.predict(p)))(np.vstack([sample(missing=0.2), beside(lightgbm_thresholds(model), 3, False, sample())])))
lightgbm_model("lgb-missing", {"objective": "regression"}, holes, target, sample(50, 0.3))
lightgbm_model("lgb-zero", {"objective": "regression", "zero_as_missing": True}, numbers, target, sample(60, 0.1))
lightgbm_model("lgb-unused-missing", {"objective": "regression", "use_missing": False}, holes, target, sample(50, 0.3))
lightgbm_model("lgb-categories", {"objective": "regression", "max_cat_to_onehot": 2, "min_data_per_group": 2, "cat_smooth": 1.0}, frame, target, table())
lightgbm_model("lgb-dart", {"objective": "regression", "boosting": "dart", "drop_rate": 0.5}, numbers, target, sample())
lightgbm_model("lgb-forest", {"objective": "regression", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}, numbers, target, sample())
lightgbm_model("lgb-poisson", {"objective": "poisson"}, numbers, positive, sample())
lightgbm_model("lgb-binary", {"objective": "binary", "sigmoid": 0.7}, numbers, yes, sample())
lightgbm_model("lgb-sqrt", {"objective": "regression", "reg_sqrt": True}, numbers, target, sample())
lightgbm_model("lgb-xentlambda", {"objective": "cross_entropy_lambda"}, numbers, yes, sample(), 3)
model = lightgbm.train({**lgb_common, "objective": "multiclass", "num_class": 3}, lightgbm.Dataset(numbers, three), 2)
model.save_model(folder / "lgb-classes.txt")
points = sample()
record("lgb-classes", lgb_version, points, model.predict(points, raw_score=True)[:, 1], **{"class": 1})

# XGBoost
xgb_version = f"xgboost {xgboost.__version__}"
xgb_common = {"max_depth": 3, "nthread": 1, "seed": SEED, "eta": 0.4}


def xgboost_model(name, parameters, x, y, points, rounds=4, forms=("json",), output_margin=False, **data):
    matrix = xgboost.DMatrix(x, y, **data)
    model = xgboost.train({**xgb_common, **parameters}, matrix, rounds)
    asked = xgboost.DMatrix(points, **{k: v for k, v in data.items() if k != "feature_names"})
    if "feature_names" in data:
        asked.feature_names = data["feature_names"]
    for form in forms:
        model.save_model(folder / f"{name}.{form}")
    rows = encode(points) if isinstance(points, pandas.DataFrame) else points
    record(name, xgb_version, rows, model.predict(asked, output_margin=output_margin))
    return model


def xgboost_thresholds(model):
    trees = model.trees_to_dataframe()
    trees = trees[trees.Feature != "Leaf"]
    names = model.feature_names or ["f0", "f1", "f2"]
    return [(names.index(f), float(t)) for f, t in zip(trees.Feature, trees.Split)]


named = {"feature_names": ["speed", "load", "dose"]}
model = xgboost_model("xgb-numbers", {}, numbers, target, sample(), forms=("json", "ubj"), **named)
points = np.vstack([sample(missing=0.2), beside(xgboost_thresholds(model), 3, True, sample())])
record("xgb-numbers", xgb_version, points, model.predict(xgboost.DMatrix(points, **named)))
xgboost_model("xgb-missing", {}, holes, target, sample(50, 0.3))
xgboost_model("xgb-dart", {"booster": "dart", "rate_drop": 0.5, "one_drop": 1}, numbers, target, sample(), forms=("json", "ubj"))
xgboost_model("xgb-parallel", {"num_parallel_tree": 3, "subsample": 0.6, "colsample_bynode": 0.7}, numbers, target, sample(), 2)
xgboost_model("xgb-onehot", {"max_cat_to_onehot": 100}, frame, target, table(), enable_categorical=True)
xgboost_model("xgb-partition", {"max_cat_to_onehot": 1}, frame, target, table(), forms=("json", "ubj"), enable_categorical=True)
xgboost_model("xgb-logistic", {"objective": "binary:logistic", "base_score": 0.3}, numbers, yes, sample())
xgboost_model("xgb-logitraw", {"objective": "binary:logitraw", "base_score": 0.3}, numbers, yes, sample())
xgboost_model("xgb-hinge", {"objective": "binary:hinge"}, numbers, yes, sample())
xgboost_model("xgb-poisson", {"objective": "count:poisson"}, numbers, positive, sample())
xgboost_model("xgb-tweedie", {"objective": "reg:tweedie"}, numbers, positive, sample(), 5)
model = xgboost.train({**xgb_common, "objective": "multi:softprob", "num_class": 3}, xgboost.DMatrix(numbers, three), 2)
model.save_model(folder / "xgb-classes.json")
points = sample()
record("xgb-classes", xgb_version, points, model.predict(xgboost.DMatrix(points), output_margin=True)[:, 1], **{"class": 1})
model = xgboost.train({**xgb_common, "multi_strategy": "multi_output_tree", "tree_method": "hist"}, xgboost.DMatrix(numbers, np.column_stack([target, -target])), 2)
model.save_model(folder / "refuse-vector-leaves.json")
model = xgboost.train({**xgb_common, "objective": "rank:pairwise"}, xgboost.DMatrix(numbers, three, qid=np.zeros(N, dtype=int)), 2)
model.save_model(folder / "refuse-ranking.json")

# CatBoost
cat_version = f"catboost {catboost.__version__}"
cat_common = {"iterations": 4, "depth": 3, "verbose": 0, "thread_count": 1, "random_seed": SEED, "allow_writing_files": False}


def slim(name):
    """Leaves out what a prediction does not need: most of the file is parameters."""
    file = folder / f"{name}.json"
    model = json.loads(file.read_text())
    model["model_info"] = {"params": {"loss_function": model["model_info"]["params"]["loss_function"]}}
    file.write_text(json.dumps(model))


def catboost_model(name, parameters, x, y, points, **pool):
    kind = catboost.CatBoostClassifier if parameters.get("loss_function") == "Logloss" else catboost.CatBoostRegressor
    model = kind(**{**cat_common, **parameters})
    data = catboost.Pool(x, y, **pool)
    model.fit(data)
    model.save_model(folder / f"{name}.json", format="json", pool=data)
    slim(name)
    predictions = model.predict_proba(points)[:, 1] if kind is catboost.CatBoostClassifier else model.predict(points)
    record(name, cat_version, points if not isinstance(points, pandas.DataFrame) else [], predictions, **({"rows": points.astype(str).values.tolist()} if isinstance(points, pandas.DataFrame) else {}))
    return model


def catboost_thresholds(model):
    return [(i, float(b)) for i, borders in model.get_borders().items() for b in borders]


model = catboost_model("cat-numbers", {}, numbers, target, sample())
points = np.vstack([sample(), beside(catboost_thresholds(model), 3, True, sample())])
record("cat-numbers", cat_version, points, model.predict(points))
catboost_model("cat-missing", {"nan_mode": "Max"}, holes, target, sample(50, 0.3))
catboost_model("cat-missing-min", {"nan_mode": "Min"}, holes, target, sample(50, 0.3))
catboost_model("cat-nested", {"grow_policy": "Lossguide", "max_leaves": 6}, numbers, target, sample())
catboost_model("cat-poisson", {"loss_function": "Poisson"}, numbers, positive, sample())
catboost_model("cat-tweedie", {"loss_function": "Tweedie:variance_power=1.5"}, numbers, positive, sample())
catboost_model("cat-logloss", {"loss_function": "Logloss"}, numbers, yes, sample())
texts = frame.assign(metal=frame.metal.astype(str), grade=frame.grade.astype(str))
catboost_model("cat-onehot", {"one_hot_max_size": 20}, texts, target, texts.sample(40 * factor, random_state=SEED, replace=True), cat_features=["metal", "grade"])
pair = texts[["metal", "grade"]]
catboost_model("refuse-ctr", {"one_hot_max_size": 1, "iterations": 2}, pair, target, pair.head(2), cat_features=["metal", "grade"])
document = json.loads((folder / "refuse-ctr.json").read_text())
document.pop("ctr_data", None)
(folder / "refuse-ctr.json").write_text(json.dumps(document))
(folder / "refuse-ctr.points.json").unlink()

# scikit-learn and others by ONNX
onnx_version = f"scikit-learn {sklearn.__version__}, skl2onnx {skl2onnx.__version__}, onnxruntime {onnxruntime.__version__}"


def onnx_record(name, model, points, kind):
    data = model.SerializeToString()
    (folder / f"{name}.onnx").write_bytes(data)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    answer = session.run(None, {session.get_inputs()[0].name: points.astype(kind)})[0]
    record(name, onnx_version, points, np.ravel(answer))


def onnx_thresholds(model):
    for node in model.graph.node:
        a = {x.name: x for x in node.attribute}
        if "nodes_values" in a:
            return [(int(f), float(t)) for f, t, m in zip(a["nodes_featureids"].ints, a["nodes_values"].floats, a["nodes_modes"].strings) if m != b"LEAF"]
    return []


for name, model in [
    ("onnx-forest", RandomForestRegressor(4, max_depth=3, random_state=SEED, n_jobs=1)),
    ("onnx-boosting", GradientBoostingRegressor(n_estimators=4, max_depth=3, random_state=SEED)),
    ("onnx-extra", ExtraTreesRegressor(4, max_depth=3, random_state=SEED, n_jobs=1)),
]:
    model.fit(numbers, target)
    converted = skl2onnx.to_onnx(model, numbers[:1].astype(np.float32), target_opset={"": 17, "ai.onnx.ml": 3})
    points = np.vstack([sample(), beside(onnx_thresholds(converted), 3, True, sample())])
    onnx_record(name, converted, points, np.float32)
    if name == "onnx-boosting":
        double = skl2onnx.to_onnx(model, numbers[:1], target_opset={"": 17, "ai.onnx.ml": 3})
        double.graph.output[0].type.tensor_type.elem_type = 1
        onnx_record("onnx-double", double, sample(), np.float64)
light = lightgbm.LGBMRegressor(n_estimators=4, num_leaves=7, random_state=SEED, n_jobs=1, verbose=-1).fit(holes, target)
onnx_record("onnx-lightgbm", convert_lightgbm(light, initial_types=[("X", FloatTensorType([None, 3]))], target_opset=15), sample(50, 0.3), np.float32)


def version_5(model):
    """The same trees as the operator TreeEnsemble of ai.onnx.ml 5."""
    a = {x.name: onnx.helper.get_attribute_value(x) for x in model.graph.node[0].attribute}
    weights = {(t, n): w for t, n, w in zip(a["target_treeids"], a["target_nodeids"], a["target_weights"])}
    leaves, splits = {}, {}
    for i, (t, n, mode) in enumerate(zip(a["nodes_treeids"], a["nodes_nodeids"], a["nodes_modes"])):
        (leaves if mode == b"LEAF" else splits)[t, n] = (len(leaves) if mode == b"LEAF" else len(splits), i)
    child = lambda t, n: (leaves[t, n][0], 1) if (t, n) in leaves else (splits[t, n][0], 0)
    rows = [(t, n, i) for (t, n), (_, i) in splits.items()]
    true = [child(t, a["nodes_truenodeids"][i]) for t, _, i in rows]
    false = [child(t, a["nodes_falsenodeids"][i]) for t, _, i in rows]
    tensor = lambda name, kind, values: onnx.helper.make_tensor(name, kind, [len(values)], values)
    node = onnx.helper.make_node(
        "TreeEnsemble", ["X"], ["Y"], domain="ai.onnx.ml", n_targets=1, aggregate_function=1, post_transform=0,
        tree_roots=[splits[t, 0][0] for t in sorted({t for t, _ in splits})],
        nodes_featureids=[a["nodes_featureids"][i] for _, _, i in rows],
        nodes_splits=tensor("splits", onnx.TensorProto.FLOAT, [a["nodes_values"][i] for _, _, i in rows]),
        nodes_modes=tensor("modes", onnx.TensorProto.UINT8, [0] * len(rows)),
        nodes_truenodeids=[c for c, _ in true], nodes_trueleafs=[leaf for _, leaf in true],
        nodes_falsenodeids=[c for c, _ in false], nodes_falseleafs=[leaf for _, leaf in false],
        nodes_missing_value_tracks_true=[i % 2 for i in range(len(rows))],
        leaf_targetids=[0] * len(leaves), leaf_weights=tensor("weights", onnx.TensorProto.FLOAT, [weights[k] for k in leaves]),
    )
    x = onnx.helper.make_tensor_value_info("X", onnx.TensorProto.FLOAT, [None, 3])
    y = onnx.helper.make_tensor_value_info("Y", onnx.TensorProto.FLOAT, [None, 1])
    graph = onnx.helper.make_graph([node], "trees", [x], [y])
    return onnx.helper.make_model(graph, ir_version=10, opset_imports=[onnx.helper.make_opsetid("ai.onnx.ml", 5), onnx.helper.make_opsetid("", 17)])


forest = RandomForestRegressor(3, max_depth=3, random_state=SEED, n_jobs=1).fit(numbers, target)
onnx_record("onnx-version-5", version_5(skl2onnx.to_onnx(forest, numbers[:1].astype(np.float32), target_opset={"": 17, "ai.onnx.ml": 3})), sample(missing=0.2), np.float32)
