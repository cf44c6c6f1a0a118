"""Trained ensembles: exact predictions and proven optima from the objects of their libraries."""

import glob
import itertools
import json
import os

import pytest

import leafgp

numpy = pytest.importorskip("numpy")


def table(n=400, seed=0, missing=False):
    rng = numpy.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, 3))
    y = x[:, 0] * x[:, 1] + numpy.sin(3 * x[:, 2]) + rng.normal(scale=0.1, size=n)
    if missing:
        x[rng.uniform(size=x.shape) < 0.1] = numpy.nan
    return x, y


def enumerated(predict, cuts, maximize=True):
    """The best prediction over a point of each cell between the cuts, by the library itself."""
    grids = []
    for values in cuts:
        values = sorted(set(values))
        grids.append([values[0], *((a + b) / 2 for a, b in zip(values, values[1:])), values[-1]])
    points = numpy.array(list(itertools.product(*grids)))
    values = predict(points)
    return values.max() if maximize else values.min()


def sklearn_models():
    ensemble = pytest.importorskip("sklearn.ensemble")
    tree = pytest.importorskip("sklearn.tree")
    x, y = table()
    hole, target = table(missing=True)
    classes = (y > 0).astype(int)
    small = {"max_depth": 3, "random_state": 0}
    yield "GB", ensemble.GradientBoostingRegressor(n_estimators=30, **small).fit(x, y), "predict"
    yield "GB absolute", ensemble.GradientBoostingRegressor(n_estimators=10, loss="absolute_error", **small).fit(x, y), "predict"
    yield "GB zero", ensemble.GradientBoostingRegressor(n_estimators=10, init="zero", **small).fit(x, y), "predict"
    yield "GB classifier", ensemble.GradientBoostingClassifier(n_estimators=10, **small).fit(x, classes), "predict_proba"
    yield "GB exponential", ensemble.GradientBoostingClassifier(n_estimators=10, loss="exponential", **small).fit(x, classes), "predict_proba"
    yield "forest", ensemble.RandomForestRegressor(n_estimators=12, **small).fit(x, y), "predict"
    yield "forest with holes", ensemble.RandomForestRegressor(n_estimators=12, **small).fit(hole, target), "predict"
    yield "forest classifier", ensemble.RandomForestClassifier(n_estimators=12, **small).fit(x, classes), "predict_proba"
    yield "extra", ensemble.ExtraTreesRegressor(n_estimators=12, **small).fit(x, y), "predict"
    yield "extra classifier", ensemble.ExtraTreesClassifier(n_estimators=12, **small).fit(x, classes), "predict_proba"
    yield "tree", tree.DecisionTreeRegressor(**small).fit(x, y), "predict"
    yield "hist", ensemble.HistGradientBoostingRegressor(max_iter=20, **small).fit(x, y), "predict"
    yield "hist with holes", ensemble.HistGradientBoostingRegressor(max_iter=20, **small).fit(hole, target), "predict"
    yield "hist poisson", ensemble.HistGradientBoostingRegressor(max_iter=20, loss="poisson", **small).fit(x, y - y.min()), "predict"
    yield "hist classifier", ensemble.HistGradientBoostingClassifier(max_iter=20, **small).fit(x, classes), "predict_proba"


def test_scikit_learns_models_predict_the_same_and_no_point_beats_the_optimum():
    x, _ = table(n=3000, seed=1)
    # Values on and beside the thresholds, where single precision counts.
    for name, model, method in sklearn_models():
        def predict(points, model=model, method=method):
            predicted = getattr(model, method)(points)
            return predicted[:, 1] if method == "predict_proba" else predicted

        mine = leafgp.Ensemble.from_sklearn(model)
        points = x.copy()
        for one in [e.tree_ for e in numpy.ravel(getattr(model, "estimators_", []))][:5]:
            splits = (one.feature >= 0) & numpy.isfinite(one.threshold)
            for feature, threshold in list(zip(one.feature[splits], one.threshold[splits]))[:8]:
                beside = [threshold, numpy.nextafter(threshold, 9), numpy.float64(numpy.nextafter(numpy.float32(threshold), numpy.float32(9)))]
                for value in beside:
                    row = x[:1].copy()
                    row[0, feature] = value
                    points = numpy.concatenate([points, row])
        if "holes" in name:
            points[::7, 1] = numpy.nan
        exact = "classifier" not in name and "exponential" not in name and "poisson" not in name
        difference = numpy.abs(mine.predict(points) - predict(points)).max()
        assert difference == 0 if exact else difference < 1e-15 * 8, f"{name}: {difference}"
        box = {f"x{i}": (-2.0, 2.0) for i in range(3)}
        for maximize in (True, False):
            optimum = mine.optimize(box, maximize=maximize, settings={"solver": {"gap": 0}})
            sign = 1 if maximize else -1
            assert optimum.status == "optimal", name
            best = numpy.array([list(optimum.point.values())])
            assert abs(predict(best)[0] - optimum.value) < 1e-14, name
            assert (sign * predict(points)[numpy.abs(points).max(axis=1) <= 2]).max() <= sign * optimum.bound, name


def table_of_categories(n=600):
    """Grades as text, batches as numbers with gaps, holes in both, and a number; the target depends on all."""
    pandas = pytest.importorskip("pandas")
    rng = numpy.random.default_rng(5)
    grade, batch, x = rng.integers(0, 7, n), rng.choice([0, 3, 4, 9, 200], n), rng.uniform(-2, 2, n)
    y = numpy.sin(5 * grade) + numpy.cos(batch) + x * (grade % 2) + rng.normal(scale=0.05, size=n)
    frame = pandas.DataFrame({"x": x, "grade": pandas.Categorical(numpy.array(list("qwertyu"))[grade]), "batch": batch.astype(float)})
    frame.loc[::17, "grade"] = None
    frame.loc[::19, "batch"] = numpy.nan
    frame.loc[::23, "x"] = numpy.nan
    return frame, y


def test_categories_of_histogram_trees_predict_as_scikit_learn_does():
    ensemble = pytest.importorskip("sklearn.ensemble")
    frame, y = table_of_categories()
    settings = {"max_iter": 30, "random_state": 0, "categorical_features": ["grade", "batch"], "min_samples_leaf": 5}
    regressor = ensemble.HistGradientBoostingRegressor(**settings).fit(frame, y)
    classifier = ensemble.HistGradientBoostingClassifier(**settings).fit(frame, y > 0)
    for model, predict in ((regressor, regressor.predict), (classifier, lambda table: classifier.predict_proba(table)[:, 1])):
        mine = leafgp.Ensemble.from_sklearn(model)
        assert numpy.abs(mine.predict(frame) - predict(frame)).max() < 1e-9
        # A category that the training never saw goes where missing values go.
        unseen = frame.assign(batch=[5.0, 255.0] * 300)
        assert numpy.abs(mine.predict(unseen) - predict(unseen)).max() < 1e-9
        assert [feature["levels"] for feature in mine.features] == [None, list("eqrtuwy"), []]
        box = {"x": (-2.0, 2.0), "grade": list("qwertyu"), "batch": ["0", "3", "4", "9", "200"]}
        optimum = mine.optimize(box, maximize=True, settings={"solver": {"gap": 0}})
        cuts = sorted({-2.0, 2.0, *(t for p in model._predictors for t in p[0].nodes["num_threshold"] if abs(t) < 2)})
        middles = [-2.0, 2.0, *((a + b) / 2 for a, b in zip(cuts, cuts[1:]))]
        every = type(frame)(itertools.product(middles, "qwertyu", [0.0, 3.0, 4.0, 9.0, 200.0]), columns=["x", "grade", "batch"])
        every["grade"] = every["grade"].astype(frame["grade"].dtype)
        assert optimum.status == "optimal" and abs(optimum.value - predict(every).max()) < 1e-9


def test_categories_of_arrays_are_read_without_names():
    ensemble = pytest.importorskip("sklearn.ensemble")
    frame, y = table_of_categories()
    array = numpy.c_[frame["x"], frame["batch"], frame["batch"][::-1]]
    model = ensemble.HistGradientBoostingRegressor(max_iter=20, categorical_features=[1]).fit(array, y)
    assert numpy.abs(leafgp.Ensemble.from_sklearn(model).predict(array) - model.predict(array)).max() < 1e-9


def test_the_optimum_of_a_small_model_is_that_of_enumeration():
    ensemble = pytest.importorskip("sklearn.ensemble")
    x, y = table()
    model = ensemble.GradientBoostingRegressor(n_estimators=6, max_depth=2, random_state=0).fit(x, y)
    mine = leafgp.Ensemble.from_sklearn(model)
    cuts = [[-2.0, 2.0] for _ in range(3)]
    for one in model.estimators_[:, 0]:
        for feature, threshold in zip(one.tree_.feature, one.tree_.threshold):
            if feature >= 0:
                cuts[feature].append(threshold)
    for maximize in (True, False):
        optimum = mine.optimize({f"x{i}": (-2.0, 2.0) for i in range(3)}, maximize=maximize, settings={"solver": {"gap": 0}})
        assert optimum.value == enumerated(model.predict, cuts, maximize)


def test_lightgbm_from_its_object():
    lightgbm = pytest.importorskip("lightgbm")
    pandas = pytest.importorskip("pandas")
    x, y = table()
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    frame["grade"] = pandas.Categorical(numpy.where(y > 0.5, "high", numpy.where(y < -0.5, "low", "mid")))
    booster = lightgbm.train({"verbosity": -1, "num_leaves": 8, "min_data_per_group": 5}, lightgbm.Dataset(frame, y), 25)
    mine = leafgp.Ensemble.from_lightgbm(booster)
    assert numpy.abs(mine.predict(frame) - booster.predict(frame)).max() < 1e-12
    optimum = mine.optimize(frame, maximize=True)
    assert optimum.status == "optimal" and booster.predict(frame).max() <= optimum.bound
    with_constraints = mine.optimize(frame, maximize=True, constraints=["a + b <= 0.5", "grade != 'high'"], fixed={"c": 0.25})
    point = with_constraints.point
    assert point["a"] + point["b"] <= 0.5 + 1e-9 and point["grade"] != "high" and point["c"] == 0.25
    assert with_constraints.value <= optimum.value
    estimator = lightgbm.LGBMRegressor(n_estimators=10, verbosity=-1).fit(x, y)
    assert numpy.abs(leafgp.Ensemble.from_lightgbm(estimator).predict(x) - estimator.predict(x)).max() < 1e-12


def test_xgboost_from_its_object():
    xgboost = pytest.importorskip("xgboost")
    x, y = table()
    estimator = xgboost.XGBRegressor(n_estimators=20, max_depth=3).fit(x, y)
    for model in (estimator, estimator.get_booster()):
        mine = leafgp.Ensemble.from_xgboost(model)
        assert numpy.abs(mine.predict(x) - estimator.predict(x)).max() < 1e-6
    optimum = mine.optimize({name: (-2.0, 2.0) for name in mine.names}, maximize=True, top=3)
    assert optimum.status == "optimal" and estimator.predict(x).max() <= optimum.bound + 1e-6
    assert [other["value"] for other in optimum.others] == sorted((o["value"] for o in optimum.others), reverse=True)
    half = x.shape[0] // 2
    stopped = xgboost.XGBRegressor(n_estimators=300, max_depth=6, early_stopping_rounds=2, learning_rate=0.5)
    stopped.fit(x[:half], y[:half], eval_set=[(x[half:], y[half:])], verbose=False)
    assert stopped.best_iteration + 1 < stopped.get_booster().num_boosted_rounds()
    assert numpy.abs(leafgp.Ensemble.from_xgboost(stopped).predict(x) - stopped.predict(x)).max() < 1e-6


def test_the_optima_of_the_reference_models_from_their_libraries_objects(shared):
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    folder = os.path.join(shared, "models")
    with open(os.path.join(folder, "expected.json")) as file:
        expected = json.load(file)
    n_models = 0
    for name, known in sorted(expected.items()):
        (path,) = [p for p in glob.glob(os.path.join(folder, f"{name}.*")) if not p.endswith(".points.json")]
        with open(os.path.join(folder, f"{name}.points.json")) as file:
            points = json.load(file)
        if path.endswith(".txt"):
            model = leafgp.Ensemble.from_lightgbm(lightgbm.Booster(model_file=path))
        else:
            booster = xgboost.Booster()
            booster.load_model(path)
            model = leafgp.Ensemble.from_xgboost(booster)
        box = bounds_of(model, points)
        optimum = model.optimize(box, maximize=True, settings={"solver": {"gap": 1e-6, "time_limit": 600}})
        assert optimum.status == "optimal", name
        n_models += 1
        scale = 1e-5 * max(1.0, abs(known["maximum_prediction"]))
        assert abs(optimum.value - known["maximum_prediction"]) < scale, name
        assert optimum.bound >= known["maximum_prediction"] - scale, name
    assert n_models == len(expected) >= 14


def bounds_of(model, points):
    box = {}
    for feature, bound in zip(model.features, points["bounds"]):
        # A category known by its codes, from 0.
        codes = range(int(bound[1]) + 1)
        box[feature["name"]] = tuple(bound) if feature["levels"] is None else [str(code) for code in codes]
    return box


def test_a_model_of_another_kind_is_refused_by_its_name():
    linear = pytest.importorskip("sklearn.linear_model")
    ensemble = pytest.importorskip("sklearn.ensemble")
    x, y = table()
    classes = numpy.digitize(y, [-0.5, 0.5])
    cases = [
        (leafgp.Ensemble.from_sklearn, linear.LinearRegression().fit(x, y), "LinearRegression"),
        (leafgp.Ensemble.from_sklearn, ensemble.RandomForestRegressor(), "not fitted"),
        (leafgp.Ensemble.from_sklearn, ensemble.RandomForestClassifier(n_estimators=3).fit(x, classes), "3 classes"),
        (leafgp.Ensemble.from_sklearn, ensemble.RandomForestRegressor(n_estimators=3).fit(x, numpy.c_[y, y]), "2 targets"),
        (leafgp.Ensemble.from_sklearn, ensemble.GradientBoostingRegressor(n_estimators=3, init=linear.LinearRegression()).fit(x, y), "init=LinearRegression"),
        (leafgp.Ensemble.from_lightgbm, ensemble.RandomForestRegressor(n_estimators=3).fit(x, y), "lightgbm.Booster"),
        (leafgp.Ensemble.from_xgboost, "model.json", "xgboost.Booster"),
        (leafgp.Ensemble.from_bytes, b"", "empty"),
        (leafgp.Ensemble.from_file, "no-such-model.json", "no-such-model.json"),
    ]
    for make, model, said in cases:
        with pytest.raises(leafgp.ModelError) as caught:
            make(model)
        assert said in str(caught.value), (said, str(caught.value))


def test_predictions_take_dicts_lists_frames_and_arrays_alike():
    ensemble = pytest.importorskip("sklearn.ensemble")
    pandas = pytest.importorskip("pandas")
    x, y = table(n=50)
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    model = leafgp.Ensemble.from_sklearn(ensemble.RandomForestRegressor(n_estimators=5, random_state=0).fit(frame, y))
    expected = model.predict(x)
    assert model.names == ["a", "b", "c"]
    assert list(model.predict(frame[["c", "a", "b"]])) == list(expected)
    assert model.predict(frame.to_dict("records")) == list(expected)
    assert model.predict(frame.iloc[3]) == expected[3] == model.predict(dict(frame.iloc[3]))
    assert list(model.predict(numpy.asfortranarray(x))) == list(expected)
    assert list(model.predict(x[::2])) == list(expected[::2])


def test_a_model_without_names_takes_columns_in_their_order():
    xgboost, pandas = pytest.importorskip("xgboost"), pytest.importorskip("pandas")
    x, y = table(n=200)
    frame = pandas.DataFrame(x, columns=["a", "b", "c"]).assign(y=y)
    estimator = xgboost.XGBRegressor(n_estimators=8, max_depth=3, n_jobs=1).fit(x, y)
    mine = leafgp.Ensemble.from_xgboost(estimator)
    assert mine.names == ["f0", "f1", "f2"]
    of_array = mine.optimize(x, maximize=True)
    of_frame = mine.optimize(frame, maximize=True, by_position=True, constraints=["a <= 3"])
    assert list(of_array.point) == ["f0", "f1", "f2"] and list(of_frame.point) == ["a", "b", "c"]
    assert of_array.value == of_frame.value and of_frame.bound >= estimator.predict(x).max()
    assert mine.bounds_of(x) == {"f0": [x[:, 0].min(), x[:, 0].max()], "f1": [x[:, 1].min(), x[:, 1].max()], "f2": [x[:, 2].min(), x[:, 2].max()]}
    start = {"a": 0.0, "b": 0.0, "c": 0.0}
    reached = mine.reach(start, frame, at_least=float(y.mean()) + 0.5, by_position=True)
    assert reached.predictions.keys() == {"prediction"} and reached.changes
    assert all(change == {"from": 0.0, "to": reached.point[name]} for name, change in reached.changes.items())
    for call, said in [
        (lambda: mine.optimize(frame, maximize=True), "by_position=True"),
        (lambda: mine.predict(frame), "an array takes them"),
        (lambda: mine.optimize(frame[["a", "b"]], maximize=True, by_position=True), "found 2 columns"),
        (lambda: mine.optimize(x[:, :2], maximize=True), "expected 3, one for each feature"),
    ]:
        with pytest.raises(leafgp.LeafgpError) as caught:
            call()
        assert said in str(caught.value), str(caught.value)


def two_models():
    ensemble = pytest.importorskip("sklearn.ensemble")
    x, y = table(n=200)
    z = x[:, 0] ** 2 + x[:, 2]
    models = [ensemble.GradientBoostingRegressor(n_estimators=8, max_depth=2, random_state=0).fit(x, t) for t in (y, z)]
    cuts = [[-2.0, 2.0] for _ in range(3)]
    for model in models:
        for one in model.estimators_[:, 0]:
            for feature, threshold in zip(one.tree_.feature, one.tree_.threshold):
                if feature >= 0:
                    cuts[feature].append(threshold)
    return models, cuts


def test_several_models_in_one_problem_give_the_optimum_of_enumeration():
    (first, second), cuts = two_models()
    problem = leafgp.Problem("two", {f"x{i}": leafgp.Continuous(-2, 2) for i in range(3)}, settings={"solver": {"gap": 1e-9}})
    models = {"y": leafgp.Ensemble.from_sklearn(first), "z": leafgp.Ensemble.from_sklearn(second)}
    optimum = leafgp.optimize_models(models, problem, "y - 0.5 * z", maximize=True, constraints=["z <= 1"])

    def value(points):
        y, z = first.predict(points), second.predict(points)
        return numpy.where(z <= 1, y - 0.5 * z, -numpy.inf)

    assert optimum.status == "optimal" and optimum.predictions["z"] <= 1
    assert abs(optimum.value - enumerated(value, cuts)) < 1e-6
    with pytest.raises(leafgp.InfeasibleError):
        leafgp.optimize_models(models, problem, "y", maximize=True, constraints=["z >= 1000"])
    with pytest.raises(leafgp.ModelError):
        leafgp.optimize_models(models, problem, "w", maximize=True)


def test_the_smallest_change_that_reaches_a_target():
    (model, _), _ = two_models()
    mine = leafgp.Ensemble.from_sklearn(model)
    box = {f"x{i}": (-2.0, 2.0) for i in range(3)}
    start = {"x0": 1.0, "x1": -1.0, "x2": 0.0}
    before = mine.predict(start)
    nearest = mine.reach(start, box, at_least=before + 0.5)
    distance = sum(abs(nearest.point[name] - start[name]) / 4 for name in box)
    assert mine.predict(nearest.point) >= before + 0.5 and abs(distance - nearest.value) < 1e-9
    # No point of a fine grid that reaches it is nearer.
    grid = numpy.stack(numpy.meshgrid(*[numpy.linspace(-2, 2, 41)] * 3), axis=-1).reshape(-1, 3)
    reached = grid[model.predict(grid) >= before + 0.5]
    assert nearest.bound <= (numpy.abs(reached - list(start.values())).sum(axis=1) / 4).min() + 1e-12
    with pytest.raises(leafgp.InfeasibleError):
        mine.reach(start, box, at_least=1000.0)
    with pytest.raises(leafgp.RequestError):
        mine.reach(start, box)
