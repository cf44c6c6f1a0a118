"""Several trained models in one problem."""

import json
import pickle

import pytest

import leafgp
from leafgp import Categorical, Continuous, Ensemble, Integer, ModelProblem

numpy = pytest.importorskip("numpy")

VARIABLES = {"flow": Continuous(0, 10, step=0.5), "temp": Integer(20, 90), "kind": Categorical(["tin", "zinc"])}
FEATURES = ["flow", "temp", "kind"]


def data(n=300):
    rng = numpy.random.default_rng(3)
    x = numpy.c_[rng.uniform(0, 10, n), rng.integers(20, 91, n), rng.integers(0, 2, n)]
    strength = 3 * x[:, 0] - 0.25 * x[:, 0] ** 2 + 0.3 * x[:, 1] + 4 * x[:, 2] + rng.normal(scale=0.3, size=n)
    purity = 0.99 - 0.01 * x[:, 0] - 0.0004 * x[:, 1] + 0.02 * x[:, 2] + rng.normal(scale=0.002, size=n)
    early = 0.5 * strength + 0.05 * x[:, 1] * x[:, 2]
    return x, strength, purity, early


@pytest.fixture(scope="module")
def trained():
    """A model of each library, and what each predicts of rows of `FEATURES`, a kind as its level index."""
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    ensemble, pandas = pytest.importorskip("sklearn.ensemble"), pytest.importorskip("pandas")
    x, strength, purity, early = data()

    def frame(rows):
        table = pandas.DataFrame(rows, columns=FEATURES)
        return table.assign(kind=pandas.Categorical.from_codes(table["kind"].astype(int), ["tin", "zinc"]))

    settings = {"verbosity": -1, "num_leaves": 8, "num_threads": 1, "min_data_per_group": 5}
    booster = lightgbm.train(settings, lightgbm.Dataset(frame(x), strength), 12)
    pure = xgboost.XGBRegressor(n_estimators=10, max_depth=3, n_jobs=1, enable_categorical=True).fit(frame(x), purity)
    forest = ensemble.HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=6, categorical_features=["kind"]).fit(frame(x), early)
    models = {"strength": booster, "purity": pure, "early": forest}
    return models, lambda name, rows: models[name].predict(frame(rows)).astype(float)


def recipe(models, **changed):
    keys = {
        "models": models,
        "expression": "strength - 0.5 * cost",
        "objective": "worth",
        "goal": "maximize",
        "define": {"cost": "flow + 0.1 * temp"},
        "constraints": {"pure enough": "purity >= 0.93", "zinc is early": "kind == 'zinc' implies early >= 9", "budget": "cost <= 14"},
        "settings": {"solver": {"gap": 0}},
    }
    return ModelProblem("mix", VARIABLES, **{**keys, **changed})


def all_settings():
    return numpy.array([(f, t, k) for f in numpy.arange(0, 10.5, 0.5) for t in range(20, 91) for k in (0, 1)])


def same(optimum, theirs):
    """The answer of the command, but for the time that it took."""
    mine = optimum._asdict()
    assert mine.keys() <= {*theirs, "seconds"}
    assert {k: v for k, v in mine.items() if k != "seconds"} == {k: theirs[k] for k in mine if k != "seconds"}


def test_models_of_three_libraries_give_the_optimum_of_enumeration_by_the_libraries_themselves(trained):
    models, predict = trained
    rows = all_settings()
    strength, purity, early = (predict(name, rows) for name in models)
    cost = rows[:, 0] + 0.1 * rows[:, 1]
    allowed = (purity >= 0.93) & ((rows[:, 2] == 0) | (early >= 9)) & (cost <= 14)
    worth = numpy.where(allowed, strength - 0.5 * cost, -numpy.inf)
    best = recipe(models).optimize()
    assert best.status == "optimal" and abs(best.value - worth.max()) < 1e-9 and best.bound >= best.value
    at = numpy.array([[best.point["flow"], best.point["temp"], ["tin", "zinc"].index(best.point["kind"])]])
    assert list(best.predictions) == list(models)
    for name in models:
        assert abs(predict(name, at)[0] - best.predictions[name]) < 1e-9, name
    other = {"tin": "zinc", "zinc": "tin"}[best.point["kind"]]
    fixed = recipe(models).optimize(fixed={"kind": other})
    assert fixed.point["kind"] == other
    assert abs(fixed.value - worth[rows[:, 2] == ["tin", "zinc"].index(other)].max()) < 1e-9
    listed = recipe(models).optimize(top=3)
    values = [listed.value] + [other["value"] for other in listed.others]
    assert values[0] == best.value and len(values) == 3 and values == sorted(values, reverse=True)
    cells = [listed.cell] + [other["cell"] for other in listed.others]
    assert all(cells[i] != cells[j] for i in range(3) for j in range(i))
    least = recipe(models, goal="minimize").optimize()
    assert abs(least.value - numpy.where(allowed, worth, numpy.inf).min()) < 1e-9


def test_the_answers_are_those_of_the_command_on_what_python_saves(command, trained, tmp_path):
    models, _ = trained
    problem = recipe(models)
    problem.save(tmp_path / "mix.toml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["early.json", "mix.toml", "purity.json", "strength.json"]
    ran = command("optimize", tmp_path / "mix.toml", "--format", "json", "-q")
    assert ran.returncode == 0, ran.stderr
    same(problem.optimize(), json.loads(ran.stdout))
    ran = command("optimize", tmp_path / "mix.toml", "--fix", "kind=tin", "--fix", "temp=30", "--format", "json", "-q")
    same(problem.optimize(fixed={"kind": "tin", "temp": 30}), json.loads(ran.stdout))
    start = {"flow": 1.0, "temp": 25, "kind": "tin"}
    ran = command(
        "reach", tmp_path / "mix.toml", "--from", "flow=1, temp=25, kind=tin", "--target", "strength >= 20", "--cost", "temp=3",
        "--format", "json", "-q",
    )
    assert ran.returncode == 0, ran.stderr
    reached = problem.reach(start, "strength", at_least=20, costs={"temp": 3})
    same(reached, json.loads(ran.stdout))
    assert reached.value == reached.distance and all(reached.point[n] == c["to"] for n, c in reached.changes.items())
    again = ModelProblem.from_file(tmp_path / "mix.toml")
    assert again == problem and again.to_toml() == problem.to_toml()
    same(again.optimize(), problem.optimize()._asdict())


def test_a_file_of_the_librarys_own_models_keeps_its_text_and_goes_elsewhere_with_its_models(command, trained, tmp_path):
    models, _ = trained
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    (home / "models").mkdir(parents=True)
    (elsewhere / "models").mkdir(parents=True)
    models["strength"].save_model(home / "models" / "strength.txt")
    models["purity"].save_model(home / "models" / "purity.ubj")
    text = """# Ours
[objective]
name = "worth"
goal = "maximize"
expression = "strength - 0.5 * flow"
[variables]
flow = { type = "continuous", bounds = [0, 10] }   # litres
temp = { type = "integer", bounds = [20, 90] }
kind = { type = "categorical", levels = ["tin", "zinc"] }
[models]
strength = { file = "models/strength.txt" }
purity = { file = "models/purity.ubj", by_position = true }
[constraints]
"pure enough" = "purity >= 0.93"
"""
    (home / "ours.toml").write_text(text)
    problem = ModelProblem.from_file(home / "ours.toml")
    assert (problem.to_toml(), problem.name, problem.goal, problem.objective) == (text, "ours", "maximize", "worth")
    assert problem.expression == "strength - 0.5 * flow" and list(problem.models) == ["strength", "purity"]
    assert problem.constraints == {"pure enough": "purity >= 0.93"} and problem.variables["temp"] == Integer(20, 90)
    ran = command("optimize", home / "ours.toml", "--format", "json", "-q")
    same(problem.optimize(), json.loads(ran.stdout))
    before = (home / "models" / "strength.txt").stat().st_mtime_ns
    problem.with_settings(seed=5).save(home / "seeded.toml")
    assert (home / "models" / "strength.txt").stat().st_mtime_ns == before, "what lies there is left alone"
    problem.save(elsewhere / "ours.toml")
    assert (elsewhere / "models" / "strength.txt").read_bytes() == (home / "models" / "strength.txt").read_bytes()
    same(ModelProblem.from_file(elsewhere / "ours.toml").optimize(), json.loads(ran.stdout))
    # The text with objects instead of the files.
    in_memory = ModelProblem.from_toml(text, models={"strength": models["strength"], "purity": models["purity"]})
    same(in_memory.optimize(), json.loads(ran.stdout))
    for one in (problem, in_memory, recipe(models)):
        again = pickle.loads(pickle.dumps(one))
        assert again == one and again.optimize().point == one.optimize().point


def test_models_are_paths_objects_and_tables(trained, tmp_path):
    models, _ = trained
    models["strength"].save_model(tmp_path / "s.txt")
    paths = recipe({**models, "strength": str(tmp_path / "s.txt")})
    tables = recipe({**models, "strength": {"file": tmp_path / "s.txt"}, "purity": {"model": models["purity"], "by_position": True}})
    objects = recipe({name: Ensemble.of(model) for name, model in models.items()})
    best = recipe(models).optimize()
    for problem in (paths, tables, objects):
        assert problem.optimize()[:6] == best[:6]
    odd = {f"{c}{c}": model for c, model in zip("/ß.", models.values())}
    named = ModelProblem("odd", VARIABLES, models=odd, expression="`//` + `..`", goal="minimize")
    files = [entry["file"] for entry in named.to_dict()["models"].values()]
    assert len(set(files)) == 3 and all(file[:-5].replace("-2", "").replace("-3", "").strip("_") == "" for file in files)
    named.save(tmp_path / "odd.toml")
    assert ModelProblem.from_file(tmp_path / "odd.toml") == named


def test_ensembles_are_saved_and_pickled_bit_for_bit(command, trained, tmp_path):
    models, _ = trained
    rows = all_settings()[::7]
    for name, model in models.items():
        ensemble = Ensemble.of(model)
        ensemble.save(tmp_path / "m.json")
        for again in (Ensemble.from_file(tmp_path / "m.json"), pickle.loads(pickle.dumps(ensemble))):
            assert (again.features, again.n_trees) == (ensemble.features, ensemble.n_trees)
            assert (again.predict(rows) == ensemble.predict(rows)).all(), name
        table = [dict(zip(FEATURES, row)) for row in rows.tolist()]
        lines = [",".join(FEATURES), *(",".join([str(r["flow"]), str(r["temp"]), ["tin", "zinc"][int(r["kind"])]]) for r in table)]
        (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
        ran = command("predict", tmp_path / "m.json", tmp_path / "rows.csv", "--format", "json", "-q")
        assert ran.returncode == 0, ran.stderr
        theirs = [p["prediction"] if isinstance(p, dict) else p for p in json.loads(ran.stdout)["predictions"]]
        assert theirs == list(ensemble.predict(rows)), name


@pytest.mark.parametrize(
    ("error", "call", "said"),
    [
        (leafgp.ProblemError, lambda m: recipe([m]), "expected a dict"),
        (leafgp.ProblemError, lambda m: recipe({}), "there are no models"),
        (leafgp.ProblemError, lambda m: recipe(m, goal=7.5), "has no target"),
        (leafgp.ProblemError, lambda m: recipe(m, goal="best"), "`minimize`"),
        (leafgp.ProblemError, lambda m: recipe(m, expression="strngth"), "strngth"),
        (leafgp.ProblemError, lambda m: recipe(m, expression=5), "text in quotes"),
        (leafgp.ProblemError, lambda m: recipe(m, constraints={"c": "purty >= 1"}), "purty"),
        (leafgp.ProblemError, lambda m: recipe({**m, "flow": m["strength"]}), "flow"),
        (leafgp.ProblemError, lambda m: recipe({**m, "purity": {"file": "p.json", "calss": 1}}), "calss"),
        (leafgp.ProblemError, lambda m: recipe({**m, "purity": {"by_position": True}}), "file"),
        (leafgp.ModelError, lambda m: recipe({**m, "purity": 5}), "found a builtins.int"),
        (leafgp.ModelError, lambda m: recipe({**m, "purity": "no-such-model.json"}), "no-such-model.json"),
        (leafgp.ModelError, lambda m: ModelProblem("p", {"a": Continuous(0, 1)}, models=m, expression="strength", goal="maximize"), "the model's features"),
        (leafgp.RequestError, lambda m: recipe(m).optimize(fixed={"flw": 1}), "expected one of flow"),
        (leafgp.RequestError, lambda m: recipe(m).optimize(fixed={"flow": 0.3}), "cannot be fixed"),
        (leafgp.PointError, lambda m: recipe(m).optimize(fixed=[("flow", 1)]), "expected a dict"),
        (leafgp.RequestError, lambda m: recipe(m).reach({"flow": 1, "temp": 25, "kind": "tin"}, at_least=3), "expected one of strength"),
        (leafgp.RequestError, lambda m: recipe(m).reach({"flow": 1, "temp": 25, "kind": "tin"}, "strngth", at_least=3), "strngth"),
        (leafgp.RequestError, lambda m: recipe(m).reach({"flow": 1, "temp": 25, "kind": "tin"}, "strength"), "at_least and at_most"),
        (leafgp.RequestError, lambda m: recipe(m).reach({"flow": 1, "temp": 25, "kind": "tin"}, "strength", at_least="3"), "expected a number"),
        (leafgp.RequestError, lambda m: recipe(m).reach({"flow": 1, "temp": 25, "kind": "tin"}, "strength", at_least=3, costs={"flow": -1}), "costs"),
        (leafgp.PointError, lambda m: recipe(m).reach({"flow": 1}, "strength", at_least=3), "has no"),
        (leafgp.ModelError, lambda m: recipe(m).reach({"flow": 1, "temp": 25, "kind": "tin"}, "strength", at_most=float("nan")), "finite"),
        (leafgp.InfeasibleError, lambda m: recipe(m, constraints=["purity >= 2"]).optimize(), "no feasible point"),
        (leafgp.InfeasibleError, lambda m: recipe(m).reach({"flow": 1, "temp": 25, "kind": "tin"}, "strength", at_least=1000), "the best prediction is"),
    ],
)
def test_bad_calls_say_what_was_expected(trained, error, call, said):
    with pytest.raises(error) as caught:
        call(trained[0])
    assert said in str(caught.value), str(caught.value)


def test_errors_of_a_file_are_those_of_the_command(command, tmp_path):
    for text in ("[objective]\nname = 'y'\n", "[objective]\nname = 'y'\ngoal = 'maximize'\n[variables]\nx = { type = 'continuous', bounds = [0, 1] }\n[models]\nm = { file = 'gone.txt' }\n"):
        path = tmp_path / "p.toml"
        path.write_text(text)
        with pytest.raises(leafgp.LeafgpError) as caught:
            ModelProblem.from_file(path)
        assert command("optimize", path).stderr.strip() == f"error: {caught.value}"
    with pytest.raises(leafgp.ProblemError, match="has no \\[models\\]"):
        ModelProblem.from_toml("[objective]\nname = 'y'\ngoal = 'maximize'\n[variables]\nx = { type = 'continuous', bounds = [0, 1] }\n")
    with pytest.raises(leafgp.ProblemError, match="leafgp optimize"):
        leafgp.Problem.from_file(path)
