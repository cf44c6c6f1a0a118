"""Bad calls get an exception that says what was expected."""

import datetime
import math

import pytest
from conftest import gloss, measured

import leafgp
from leafgp import Binary, Categorical, Continuous, Discrete, Integer, Optimizer, Problem

numpy = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")

X = {"x": Continuous(0, 1)}
GOOD = {"bake": 100.0, "layers": 1, "gap": 1.0, "resin": "B", "dose": 12, "primer": 0}


def one(variable):
    return lambda: Problem("p", {"v": variable})


def problem(**keys):
    return lambda: Problem("p", X, **keys)


PROBLEMS = [
    (one(Continuous(1, 0)), "lower bound 1 is above the upper"),
    (one(Continuous(math.nan, 1)), "finite number"),
    (one(Continuous(0, math.inf)), "finite number"),
    (one(Continuous("0", 1)), "expected a number"),
    (one(Continuous(0, None)), "expected"),
    (one(Continuous([0], 1)), "expected a number"),
    (one(Continuous(0, 1, scale="cubic")), "`linear` or `log`"),
    (one(Continuous(0, 1, scale="log")), "expected"),
    (one(Continuous(0, 1, step=-1)), "step"),
    (one(Continuous(0, 1, step=0.5, decimals=2)), "one of them"),
    (one(Continuous(0, 1, decimals=99)), "from 0 to 15"),
    (one(Continuous(0, 1, unit=3)), "text in quotes"),
    (one(Continuous(0, 1, active_if="v >")), "expected"),
    (one(Continuous(0, 1, inactive_value=0.5)), "both or neither"),
    (one(Continuous(0, 1, default="warm")), "expected a number"),
    (one(Continuous(0, 1, renamed_from=[3])), "text in quotes"),
    (one(Integer(0.5, 3)), "whole number"),
    (one(Integer(0, 2**70)), "too large"),
    (one(Discrete([])), "v"),
    (one(Discrete([1, 1])), "expected"),
    (one(Discrete([1, "a"])), "expected a number"),
    (one(Discrete(5)), "expected a list"),
    (one(Categorical([])), "expected"),
    (one(Categorical(["a", "a"])), "expected"),
    (one(Categorical("ab")), "expected a list"),
    (one(Categorical(["a", None])), "None"),
    (one(Categorical(["a", "b"], default="c")), "c"),
    (one(Categorical([object(), "b"])), "found a object"),
    (one("continuous"), "expected Continuous, Integer"),
    (one((0, 1)), "expected Continuous, Integer"),
    (lambda: Problem("p", {}), "variables"),
    (lambda: Problem("p", [Continuous(0, 1)]), "expected a dict"),
    (lambda: Problem("p", {3: Continuous(0, 1)}), "expected text"),
    (lambda: Problem("p", {"objective": Continuous(0, 1)}), "objective"),
    (lambda: Problem("p", {"status": Continuous(0, 1)}), "status"),
    (lambda: Problem(3, X), "text in quotes"),
    (problem(goal="smallest"), "`minimize`"),
    (problem(goal=math.nan), "finite number"),
    (problem(goal=True), "expected"),
    (problem(objective=""), "objective"),
    (problem(objective=5), "text in quotes"),
    (problem(constraints={"c": "x <= "}), "expected"),
    (problem(constraints={"c": "y <= 1"}), "y"),
    (problem(constraints={"c": 5}), "text in quotes"),
    (problem(constraints=["x <= 1", 3]), "text in quotes"),
    (problem(constraints="x <= 1"), "expected"),
    (problem(define={"x": "2"}), "x"),
    (problem(define={"d": 5}), "expected an expression"),
    (problem(settings={"sed": 7}), "seed"),
    (problem(settings={"seed": -1}), "settings.seed"),
    (problem(settings={"kappa": "big"}), "settings.kappa"),
    (problem(settings={"solver": {"gap": 2}}), "[0, 1]"),
    (problem(settings={"preset": "fast"}), "expected"),
    (problem(settings=[1]), "expected a table"),
    (lambda: Problem.from_toml("variables = 3"), "expected"),
    (lambda: Problem.from_toml("[objective"), "not valid TOML"),
    (lambda: Problem.from_file("no-such-file.toml"), "no-such-file.toml"),
    (lambda: Problem("p", X).with_settings(seed="x"), "settings.seed"),
]

POINTS = [
    (lambda o: o.tell({}, 1.0), "has no"),
    (lambda o: o.tell({**GOOD, "extra": 1}, 1.0), "no variable"),
    (lambda o: o.tell({k: v for k, v in GOOD.items() if k != "dose"}, 1.0), "dose"),
    (lambda o: o.tell({**GOOD, "resin": "D"}, 1.0), "unknown level"),
    (lambda o: o.tell({**GOOD, "bake": math.nan}, 1.0), "expected a finite number"),
    (lambda o: o.tell({**GOOD, "bake": None}, 1.0), "expected a finite number"),
    (lambda o: o.tell({**GOOD, "bake": "hot"}, 1.0), "no number"),
    (lambda o: o.tell({**GOOD, "bake": [100]}, 1.0), "a list"),
    (lambda o: o.tell({**GOOD, "bake": datetime.date(2020, 1, 1)}, 1.0), "a date"),
    (lambda o: o.tell({**GOOD, 3: 1}, 1.0), "expected text"),
    (lambda o: o.tell(GOOD, math.nan), "finite number"),
    (lambda o: o.tell(GOOD, math.inf), "finite number"),
    (lambda o: o.tell(GOOD, "3.5"), "expected a finite number"),
    (lambda o: o.tell(GOOD, 10**400), "expected a finite number"),
    (lambda o: o.tell(GOOD, 1 + 2j), "expected a finite number"),
    (lambda o: o.tell({**GOOD, "bake": 10**400}, 1.0), "below 2^63"),
    (lambda o: o.tell(GOOD), "expected a finite number"),
    (lambda o: o.tell(GOOD, [1.0, 2.0]), "expected a finite number"),
    (lambda o: o.tell(GOOD, object()), "expected a finite number"),
    (lambda o: o.tell(5, 1.0), "expected a list of dicts"),
    (lambda o: o.tell("bake", 1.0), "expected a list of dicts"),
    (lambda o: o.tell([GOOD], 1.0), "a value for each"),
    (lambda o: o.tell([GOOD, GOOD], [1.0]), "expected as many"),
    (lambda o: o.fail({"bake": 1}), "has no"),
    (lambda o: o.plan(5), "expected a dict"),
    (lambda o: o.cancel({**GOOD, "layers": "two"}), "no number"),
    (lambda o: o.predict({**GOOD, "resin": "D"}), "row 1: "),
    (lambda o: o.predict([GOOD, {"bake": 1}]), "row 2: "),
    (lambda o: o.predict(numpy.zeros((3, 2))), "expected 6, one for each variable"),
    (lambda o: o.predict(numpy.zeros(6)), "expected 2, a row for each point"),
    (lambda o: o.predict(numpy.array([["a"] * 6])), "expected numbers"),
    (lambda o: o.predict(numpy.array([[object()] * 6])), "expected numbers"),
    (lambda o: o.predict(numpy.full((1, 6), numpy.nan)), "row 1: "),
    (lambda o: o.predict(numpy.array([[100, 1, 1, 7, 12, 0.0]])), "row 1: "),
    (lambda o: o.predict(pandas.DataFrame({"bake": [1.0]})), "has no"),
    (lambda o: o.ask(among={"bake": 1}), "expected a list of points"),
    (lambda o: o.ask(among=[{"bake": 1}]), "row 1: "),
    (lambda o: o.ask(among="all"), "expected a list of dicts"),
    (lambda o: o.ask(among=numpy.zeros((2, 2))), "expected 6"),
]

REQUESTS = [
    (lambda o: o.ask(0), "at least 1"),
    (lambda o: o.ask(-3), "at least 1"),
    (lambda o: o.ask(2.5), "at least 1"),
    (lambda o: o.ask("two"), "at least 1"),
    (lambda o: o.ask(True), "at least 1"),
    (lambda o: o.ask(10**30), "below 2^32"),
    (lambda o: o.ask(same=5), "expected the names of variables"),
    (lambda o: o.ask(fixed={"bak": 100}), "expected one of bake"),
    (lambda o: o.ask(fixed={"bake": 500}), "cannot be fixed"),
    (lambda o: o.ask(fixed={"resin": "D"}), "cannot be fixed"),
    (lambda o: o.ask(fixed={"layers": 1.5}), "cannot be fixed"),
    (lambda o: o.ask(2, same=["bak"]), "expected one of bake"),
    (lambda o: o.plot("pie"), "expected one of convergence"),
    (lambda o: o.plot("surface", x="bak"), "there are bake"),
    (lambda o: o.plot("surface", x="bake", y="bake"), "both"),
    (lambda o: o.plot("parallel", x="bake"), "axes of a surface"),
    (lambda o: Optimizer(5), "expected a Problem"),
    (lambda o: leafgp.minimize(5, o.problem), "expected a function"),
    (lambda o: leafgp.minimize(gloss, {}), "expected a Problem"),
    (lambda o: leafgp.minimize(gloss, o.problem, n=-1), "at least 0"),
    (lambda o: leafgp.minimize(gloss, o.problem, on_error="skip"), "'raise' or 'fail'"),
]

HISTORIES = [
    ([{**GOOD, "gloss": "bright"}], "gloss"),
    ([{**GOOD, "resin": "D", "gloss": 1.0}], "resin"),
    ([{"bake": 1.0, "gloss": 1.0}], "column"),
    (pandas.DataFrame({"bake": [1.0], "gloss": [1.0]}), "column"),
    (pandas.DataFrame({name: [{}] for name in [*GOOD, "gloss"]}), "expected"),
    (b"\xff\xfe\x00", "UTF-16"),
]


def test_there_are_more_than_a_hundred():
    assert len(PROBLEMS) + len(POINTS) + len(REQUESTS) + len(HISTORIES) + len(MODELS) > 150


@pytest.mark.parametrize("index", range(len(PROBLEMS)))
def test_problems(index):
    call, said = PROBLEMS[index]
    with pytest.raises((leafgp.ProblemError, leafgp.PointError)) as caught:
        call()
    assert said in str(caught.value), str(caught.value)


@pytest.fixture(scope="module")
def told():
    coating = Problem(
        "coating",
        {"bake": Continuous(60, 180), "layers": Integer(1, 3), "gap": Continuous(1, 9), "resin": Categorical(["A", "B", "C"]), "dose": Discrete([0, 12, 24]), "primer": Binary()},
        objective="gloss",
        settings={"design": {"initial": 6}},
    )
    return measured(coating, 8)


@pytest.mark.parametrize("index", range(len(POINTS)))
def test_points(told, index):
    call, said = POINTS[index]
    before = told.observations()
    with pytest.raises(leafgp.PointError) as caught:
        call(told)
    assert said in str(caught.value), str(caught.value)
    assert told.observations() == before


@pytest.mark.parametrize("index", range(len(REQUESTS)))
def test_requests(told, index):
    call, said = REQUESTS[index]
    before = told.observations()
    with pytest.raises(leafgp.RequestError) as caught:
        call(told)
    assert said in str(caught.value), str(caught.value)
    assert told.observations() == before


@pytest.mark.parametrize("index", range(len(HISTORIES)))
def test_histories(told, index):
    history, said = HISTORIES[index]
    with pytest.raises(leafgp.HistoryError) as caught:
        Optimizer(told.problem, history)
    assert said in str(caught.value), str(caught.value)


@pytest.fixture(scope="module")
def model():
    ensemble = pytest.importorskip("sklearn.ensemble")
    frame = pandas.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    return leafgp.Ensemble.of(ensemble.RandomForestRegressor(3, random_state=0).fit(frame, frame["a"])), frame


MODELS = [
    (lambda m, t: m.predict("x"), "expected a list of dicts"),
    (lambda m, t: m.predict(None), "expected a list of dicts"),
    (lambda m, t: m.predict({"a": "x", "b": 1}), "expected a number"),
    (lambda m, t: m.predict(pandas.DataFrame()), "no column is called 'a'"),
    (lambda m, t: m.predict(numpy.zeros((2, 3))), "expected 2, one for each feature"),
    (lambda m, t: m.predict(numpy.zeros((2, 2), dtype=object)), "holds object"),
    (lambda m, t: m.optimize(t), "expected True or False"),
    (lambda m, t: m.optimize(t, maximize="yes"), "expected True or False"),
    (lambda m, t: m.optimize(t, maximize=True, top=0), "at least 1"),
    (lambda m, t: m.optimize(t.iloc[:0], maximize=True), "has no values"),
    (lambda m, t: m.optimize([], maximize=True), "no column is called"),
    (lambda m, t: m.optimize(5, maximize=True), "expected a list of dicts"),
    (lambda m, t: m.optimize(t.assign(a="x"), maximize=True), "expected a number"),
    (lambda m, t: m.optimize({"a": (0, 1)}, maximize=True), "no variable is called"),
    (lambda m, t: m.optimize({"a": (0, math.nan), "b": (0, 1)}, maximize=True), "finite number"),
    (lambda m, t: m.optimize({"a": "low", "b": (0, 1)}, maximize=True), "expected (lower, upper)"),
    (lambda m, t: m.optimize(t, maximize=True, constraints=["a <"]), "ends where a value was expected"),
    (lambda m, t: m.optimize(t, maximize=True, fixed={"a": "x"}), "cannot be fixed"),
    (lambda m, t: m.optimize(t, maximize=True, fixed={"c": 1}), "expected one of a, b"),
    (lambda m, t: m.optimize(t, maximize=True, settings={"solver": {"gp": 1}}), "unknown key"),
    (lambda m, t: m.reach({"a": 1}, t, at_least=2), "has no"),
    (lambda m, t: m.reach(None, t, at_least=2), "expected a dict"),
    (lambda m, t: m.reach({"a": 1, "b": 1}, t, at_least="2"), "expected a number"),
    (lambda m, t: m.reach({"a": 1, "b": 1}, t, at_least=1, costs={"c": 1}), "for some of a, b"),
    (lambda m, t: leafgp.Ensemble.of(None), "found a builtins.NoneType"),
    (lambda m, t: leafgp.Ensemble(5), "from_lightgbm"),
    (lambda m, t: leafgp.Ensemble.from_bytes(b"{}", class_index=-1), "from 0"),
    (lambda m, t: leafgp.Ensemble.from_bytes(m.to_bytes()[:-9]), "line 1"),
    (lambda m, t: leafgp.optimize_models(5, Problem("p", X), "m", maximize=True), "expected a dict"),
    (lambda m, t: leafgp.optimize_models({"m": m}, 5, "m", maximize=True), "expected a Problem"),
    (lambda m, t: leafgp.optimize_models({"m": m}, Problem("p", X), "m", maximize=1.5), "expected True or False"),
    (lambda m, t: leafgp.optimize_models({"m": m}, Problem("p", X), "m", maximize=True), "no variable is called"),
]


@pytest.mark.parametrize("index", range(len(MODELS)))
def test_models(model, index):
    call, said = MODELS[index]
    with pytest.raises(leafgp.LeafgpError) as caught:
        call(*model)
    assert said in str(caught.value), str(caught.value)


def test_a_mistake_of_leafgp_is_an_exception_and_the_process_goes_on(told):
    for _ in range(3):
        with pytest.raises(leafgp.InternalError, match="please report it: a broken invariant"):
            leafgp._leafgp._panic("a broken invariant", True)
        # Outside of work on a thread PyO3 carries it over.
        with pytest.raises(BaseException, match="a broken invariant") as caught:
            leafgp._leafgp._panic("a broken invariant", False)
        assert type(caught.value).__name__ == "PanicException"
    assert told.problem.is_feasible(told.ask().point)


def test_a_key_that_variables_do_not_have_is_named():
    for kind in (lambda **keys: Continuous(0, 1, **keys), lambda **keys: Categorical(["a", "b"], **keys), Binary):
        with pytest.raises(TypeError, match="'units'.*expected one of .*unit"):
            kind(units="g")


def test_an_empty_table_is_an_empty_history(told):
    for history in (None, [], pandas.DataFrame(), b"", told.to_frame().iloc[:0]):
        assert len(Optimizer(told.problem, history)) == 0


def test_without_a_value_there_is_no_model(told):
    empty = Optimizer(told.problem)
    for call in (empty.model, empty.surrogate, lambda: empty.predict(GOOD)):
        with pytest.raises(leafgp.NoModelError):
            call()


def test_an_experiment_may_be_told_before_any_was_asked_for(told):
    optimizer = Optimizer(told.problem)
    optimizer.tell(GOOD, 3.0)
    optimizer.tell({**GOOD, "bake": numpy.float32(90), "layers": numpy.int64(2), "primer": numpy.bool_(True)}, numpy.float64(4))
    optimizer.tell(pandas.Series({**GOOD, "dose": 24}), numpy.array(5.0))
    points = [row["point"] for row in optimizer.observations()]
    assert points[1]["bake"] == 90.0 and points[1]["primer"] == 1 and points[2]["dose"] == 24
