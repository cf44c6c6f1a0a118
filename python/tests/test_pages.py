"""The Python of docs/python.md, run as it stands there."""

import pathlib
import re

import pytest

import leafgp

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


@pytest.fixture
def snippets(tmp_path, monkeypatch):
    """Runs the snippets of a section of the page, in a folder of their own; `given` are the names that the reader brings."""
    if not PAGE.exists():
        pytest.skip("the page is not beside the tests")
    monkeypatch.chdir(tmp_path)
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S))

    def run(title, given):
        blocks = re.findall(r"```python\n(.*?)```", sections[title], re.S)
        assert blocks, title
        for block in blocks:
            exec(compile(block, f"{PAGE.name}: {title}", "exec"), given)
        return given

    return run


def hardness(point):
    return 60 + 20 * point["resin"] - 5 * point["filler"] + {"xylene": 3, "butanol": 0, "water": 5}[point["solvent"]]


def test_a_problem_is_its_file(snippets):
    names = snippets("A problem", {})
    assert names["same"] == names["problem"]


def test_ask_and_tell(snippets):
    names = snippets("A problem", {})
    # What the snippet gives no value to is a point of the reader's, and so is the list to choose from.
    candidates = leafgp.Optimizer(names["problem"]).ask(5)
    names["point"], names["table"] = candidates[-1].point, [candidate.point for candidate in candidates]
    snippets("Ask and tell", names)
    assert len(names["batch"]) == 4 and all(s.point["solvent"] == "water" for s in names["batch"])
    assert len({s.point["passes"] for s in names["batch"]}) == 1
    assert len(names["chosen"]) == 2
    assert names["optimizer"].best().value == 71.5


def concrete(n):
    """A made-up table of mixes, and what is measured."""
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    random = numpy.random.default_rng(5)
    table = pandas.DataFrame(
        {"cement": random.uniform(150, 500, n), "ash": random.uniform(0, 200, n), "age": random.choice([7, 28, 90], n)}
    )
    return table, 0.1 * table["cement"] - 0.05 * table["ash"] + 0.2 * table["age"]


def test_my_trained_model(snippets):
    lightgbm = pytest.importorskip("lightgbm")
    table, strength = concrete(300)
    booster = lightgbm.LGBMRegressor(n_estimators=20, n_jobs=1, verbose=-1).fit(table, strength).booster_
    names = snippets("My trained model", {"leafgp": leafgp, "booster": booster, "table": table})
    best = names["best"]
    assert best.status == "optimal" and best.point["age"] == 28 and best.point["cement"] + best.point["ash"] <= 450
    assert best.value == pytest.approx(names["model"].predict([best.point])[0])


def test_several_trained_models(snippets):
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    random = numpy.random.default_rng(6)
    table = pandas.DataFrame({"flow": random.uniform(0, 10, 300), "temp": random.integers(20, 91, 300)})
    booster = lightgbm.LGBMRegressor(n_estimators=20, n_jobs=1, verbose=-1).fit(table, 3 * table["flow"] + 0.1 * table["temp"]).booster_
    xgb_model = xgboost.XGBRegressor(n_estimators=10, n_jobs=1).fit(table, 1 - 0.01 * table["flow"])
    names = snippets("Several trained models in one problem", {"leafgp": leafgp, "booster": booster, "xgb_model": xgb_model})
    assert names["best"].status == "optimal" and names["best"].point["temp"] == 40
    assert names["best"].predictions["purity"] >= 0.95
    assert names["near"].predictions["strength"] >= 20
    assert pathlib.Path("recipe.toml").exists() and pathlib.Path("strength.json").exists()


def test_optuna(snippets):
    names = {"leafgp": leafgp, "optuna": pytest.importorskip("optuna")}
    names["problem"] = snippets("A problem", {})["problem"]
    snippets("Optuna, scikit-optimize, scipy", names)
    assert pathlib.Path("study.db").exists()
