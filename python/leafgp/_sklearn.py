"""The arrays of scikit-learn's fitted estimators."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._errors import ModelError

EXPECTED = (
    "a fitted regressor or binary classifier of scikit-learn: GradientBoosting, HistGradientBoosting, RandomForest, "
    "ExtraTrees or DecisionTree"
)


def arrays(model: Any) -> tuple[Any, ...]:
    """Features with labels, trees, base, weight, (is_mean, is_single), (link, its scale), as ``_from_arrays`` takes them."""
    kind = _kind(model)
    if not hasattr(model, "n_features_in_"):
        raise ModelError(f"the {type(model).__name__} is not fitted; call fit first")
    n_outputs = getattr(model, "n_outputs_", 1)
    n_classes = len(getattr(model, "classes_", ())) if kind.endswith("Classifier") and n_outputs == 1 else 2
    if n_outputs != 1 or n_classes != 2:
        raise ModelError(
            f"a model of {n_outputs} targets and {n_classes} classes: its prediction is a list of numbers; "
            "train a model of one target, or of two classes"
        )
    features = [str(name) for name in getattr(model, "feature_names_in_", ())]
    features = features or [f"x{i}" for i in range(model.n_features_in_)]
    if kind.startswith("HistGradientBoosting"):
        categories = _categories(model)
        named = [(name, categories[i].labels if i in categories else None) for i, name in enumerate(features)]
        return named, *_histogram(model, categories)
    numbers = [(name, None) for name in features]
    if kind.startswith("GradientBoosting"):
        return numbers, *_boosted(model, kind)
    estimators = [model] if kind.startswith("DecisionTree") else model.estimators_
    # A tree of a classifier holds the shares (in older versions the numbers) of both classes.
    trees = [_tree(one.tree_, kind.endswith("Classifier")) for one in estimators]
    return numbers, trees, 0.0, 1.0, (True, True), ("identity", 1.0)


def _kind(model: Any) -> str:
    """The class of scikit-learn, of a subclass too."""
    names = ("GradientBoosting", "HistGradientBoosting", "RandomForest", "ExtraTrees", "DecisionTree", "ExtraTree")
    known = {name + what for name in names for what in ("Regressor", "Classifier")}
    for base in type(model).__mro__:
        if base.__module__.startswith("sklearn.") and base.__name__ in known:
            return base.__name__.replace("ExtraTreeR", "DecisionTreeR").replace("ExtraTreeC", "DecisionTreeC")
    raise ModelError(f"found a {type(model).__module__}.{type(model).__qualname__}; expected {EXPECTED}")


def _tree(tree: Any, is_classifier: bool) -> tuple[Any, ...]:
    value = tree.value[:, 0, :]
    value = value[:, 1] / value.sum(axis=1) if is_classifier else value[:, 0]
    missing_left = getattr(tree, "missing_go_to_left", None)
    return (
        tree.children_left.tolist(),
        tree.children_right.tolist(),
        tree.feature.tolist(),
        tree.threshold.tolist(),
        [False] * tree.node_count if missing_left is None else missing_left.astype(bool).tolist(),
        value.tolist(),
        {},
    )


def _boosted(model: Any, kind: str) -> tuple[Any, ...]:
    import numpy

    init = getattr(model, "init_", None)
    if init != "zero" and not type(init).__name__.startswith("Dummy"):
        raise ModelError(f"GradientBoosting with init={type(init).__name__}: its start depends on the point; use init='zero'")
    zeros = numpy.zeros((1, model.n_features_in_), dtype=numpy.float32)
    base = float(model._raw_predict_init(zeros)[0, 0])
    trees = [_tree(one.tree_, False) for one in model.estimators_[:, 0]]
    link, scale = "identity", 1.0
    if kind.endswith("Classifier"):
        link, scale = "logistic", 2.0 if model.loss == "exponential" else 1.0
    return trees, base, float(model.learning_rate), (False, True), (link, scale)


class _Category(NamedTuple):
    """A category. ``bits``: where scikit-learn's sets have each of its values; ``codes``: ours; ``labels``: of the codes,
    none where the values themselves are the codes."""

    bits: list[int]
    codes: list[int]
    labels: list[str]


def _categories(model: Any) -> dict[int, _Category]:
    """The categories of HistGradientBoosting, by feature."""
    is_category = getattr(model, "is_categorical_", None)
    if is_category is None:
        return {}
    which = [i for i, one in enumerate(is_category) if one]
    encoder = getattr(model, "_preprocessor", None)
    if encoder is None:
        # scikit-learn before 1.4: values are codes.
        known = [model._bin_mapper.bin_thresholds_[i].tolist() for i in which]
    else:
        known = [values.tolist() for values in encoder.named_transformers_["encoder"].categories_]
    found = {}
    for i, values in zip(which, known):
        # What stands for a missing value is no category.
        values = [value for value in values if value is not None and value == value]
        is_code = all(isinstance(value, (int, float)) and value >= 0 and value == int(value) for value in values)
        codes = [int(value) for value in values] if is_code else list(range(len(values)))
        bits = codes if encoder is None else list(range(len(values)))
        found[i] = _Category(bits, codes, [] if is_code else [str(value) for value in values])
    return found


def _order(model: Any) -> list[int]:
    """The feature of each of the trees' columns: where there is an encoder, it puts the categories first."""
    n = int(model.n_features_in_)
    if getattr(model, "_preprocessor", None) is None:
        return list(range(n))
    return sorted(range(n), key=lambda i: not model.is_categorical_[i])


def _listed(left: Any, category: _Category, missing_left: bool) -> tuple[list[int], bool]:
    """The codes of a split's set of categories, and their side: unknown ones go where missing values go."""
    is_left = [bool(int(left[bit // 32]) >> (bit % 32) & 1) for bit in category.bits]
    return [code for code, goes in zip(category.codes, is_left) if goes != missing_left], not missing_left


def _histogram(model: Any, categories: dict[int, _Category]) -> tuple[Any, ...]:
    order = _order(model)
    trees = []
    for predictors in model._predictors:
        nodes = predictors[0].nodes
        feature = [order[i] for i in nodes["feature_idx"].tolist()]
        sets = {}
        for at in (nodes["is_categorical"].astype(bool) & ~nodes["is_leaf"].astype(bool)).nonzero()[0].tolist():
            left_set = predictors[0].raw_left_cat_bitsets[nodes["bitset_idx"][at]]
            sets[at] = _listed(left_set, categories[feature[at]], bool(nodes["missing_go_to_left"][at]))
        leaf = nodes["is_leaf"].astype(bool)
        left, right = nodes["left"].astype("int64"), nodes["right"].astype("int64")
        left[leaf] = right[leaf] = -1
        trees.append(
            (
                left.tolist(),
                right.tolist(),
                feature,
                nodes["num_threshold"].tolist(),
                nodes["missing_go_to_left"].astype(bool).tolist(),
                nodes["value"].tolist(),
                sets,
            )
        )
    base = float(model._baseline_prediction.ravel()[0])
    links = {"IdentityLink": "identity", "LogLink": "exp", "LogitLink": "logistic"}
    name = type(model._loss.link).__name__
    if name not in links:
        raise ModelError(f"HistGradientBoosting with the link {name}: expected one of {', '.join(links)}")
    return trees, base, 1.0, (False, False), (links[name], 1.0)
