"""Ask and tell."""

import json
import os
import pickle
import signal
import threading
import time

import pytest
from conftest import gloss, measured

import leafgp


def told(optimizer):
    return [(row["point"], row["value"]) for row in optimizer.observations()]


@pytest.mark.parametrize("preset", ["mixed", "paper", "proven", "smooth"])
def test_suggestions_are_those_of_the_command_bit_for_bit(command, coating, tmp_path, preset):
    problem = coating.with_settings(preset=preset)
    problem.save(tmp_path / "p.toml")
    for n in (0, 5, 20, 21):
        optimizer = measured(problem, n)
        (tmp_path / "p.csv").write_text(optimizer.to_csv())
        ran = command("suggest", tmp_path / "p.toml", "-n", 2, "--format", "json", "-q")
        assert ran.returncode == 0, ran.stderr
        mine = [suggestion.to_dict() for suggestion in optimizer.ask(2)]
        assert mine == json.loads(ran.stdout)["suggestions"], f"{preset}, {n} rows"


def test_wishes_are_those_of_the_command(command, coating, tmp_path):
    coating.save(tmp_path / "p.toml")
    optimizer = measured(coating, 12)
    (tmp_path / "p.csv").write_text(optimizer.to_csv())
    ran = command("suggest", tmp_path / "p.toml", "-n", 3, "--format", "json", "-q", "--fix", "resin=B", "--same", "bake")
    mine = optimizer.ask(3, fixed={"resin": "B"}, same=["bake"])
    assert [s.to_dict() for s in mine] == json.loads(ran.stdout)["suggestions"]
    assert len({s["bake"] for s in mine}) == 1 and {s["resin"] for s in mine} == {"B"}


def test_predictions_are_those_of_the_command(command, coating, tmp_path):
    coating.save(tmp_path / "p.toml")
    optimizer = measured(coating, 12)
    (tmp_path / "p.csv").write_text(optimizer.to_csv())
    points = [s.point for s in leafgp.Optimizer(coating.with_settings(seed=9)).ask(6)]
    lines = [",".join(points[0]), *(",".join(str(value) for value in point.values()) for point in points)]
    (tmp_path / "points.csv").write_text("\n".join(lines) + "\n")
    ran = command("predict", tmp_path / "p.toml", tmp_path / "points.csv", "--format", "json", "-q")
    assert ran.returncode == 0, ran.stderr
    theirs = [(p["mean"], p["std"]) for p in json.loads(ran.stdout)["predictions"]]
    assert [tuple(p) for p in optimizer.predict(points)] == theirs


def test_a_choice_among_points(coating):
    optimizer = measured(coating, 10)
    points = [s.point for s in leafgp.Optimizer(coating.with_settings(seed=9)).ask(6)]
    forbidden = {**points[0], "resin": "A", "bake": 179.0}
    taken = optimizer.observations()[0]["point"]
    chosen = optimizer.ask(2, among=[forbidden, *points, taken])
    assert [s.point for s in chosen] == [[forbidden, *points, taken][s.candidate] for s in chosen]
    assert chosen.left_out[0].startswith("not feasible: A is cool")
    assert chosen.left_out[-1] == "holds an experiment already"
    assert {s.status for s in chosen} == {"exhaustive"}


def test_pending_experiments_and_failed_ones_count(coating):
    optimizer = leafgp.Optimizer(coating)
    first = optimizer.ask(3, pending=True)
    assert [row["status"] for row in optimizer.observations()] == ["pending"] * 3
    assert optimizer.ask().point not in [s.point for s in first]
    optimizer.tell(first[0], 3.0)
    optimizer.fail(first[1])
    assert optimizer.cancel(first[2]) and not optimizer.cancel(first[2])
    assert [row["status"] for row in optimizer.observations()] == ["done", "failed"]
    assert (optimizer.best().value, optimizer.best().point) == (3.0, first[0].point)
    again = leafgp.Optimizer(coating, optimizer.to_csv().encode())
    assert again.observations() == optimizer.observations()


def test_what_a_suggestion_says(coating):
    suggestion = measured(coating.with_settings(preset="paper"), 12).ask()
    assert suggestion.status == "optimal" and suggestion.gap <= 1e-3
    assert suggestion.bound <= suggestion.acquisition and suggestion.promised_bound >= suggestion.mean
    lower, upper = suggestion.cell["bake"]
    assert lower <= suggestion["bake"] <= upper and suggestion["resin"] in suggestion.cell["resin"]
    assert "predicted" in repr(suggestion)
    assert leafgp.Optimizer(coating).ask().mean is None


def test_tables_go_in_and_out(coating):
    pandas = pytest.importorskip("pandas")
    optimizer = measured(coating, 12)
    optimizer.plan(optimizer.ask())
    frame = optimizer.to_frame()
    assert list(frame.columns) == [*coating.names, "gloss", "status"] and len(frame) == 13
    again = leafgp.Optimizer(coating, frame.drop(columns="status"))
    assert again.observations() == optimizer.observations()
    assert leafgp.Optimizer(coating, [{**p, "gloss": v} for p, v in told(optimizer)]).observations() == optimizer.observations()
    predicted = optimizer.predict(frame.set_index(frame.index + 100))
    model = optimizer.model()
    one = model.predict(optimizer.observations()[0]["point"])
    assert isinstance(predicted, pandas.DataFrame) and list(predicted.index) == list(range(100, 113))
    assert (predicted["mean"].iloc[0], predicted["std"].iloc[0]) == one
    array = coating.to_array(frame[coating.names])
    assert list(model.predict(array).mean) == list(predicted["mean"])
    assert list(model.predict(array.T.copy().T).mean) == list(predicted["mean"])


def test_polars_tables(coating):
    polars = pytest.importorskip("polars")
    optimizer = measured(coating, 10)
    frame = polars.DataFrame([{**point, "gloss": value} for point, value in told(optimizer)])
    again = leafgp.Optimizer(coating, frame)
    assert again.observations() == optimizer.observations()
    assert list(again.predict(frame)["mean"]) == [p.mean for p in optimizer.predict([o["point"] for o in optimizer.observations()])]


def test_several_experiments_at_once_or_none(coating):
    numpy = pytest.importorskip("numpy")
    optimizer = leafgp.Optimizer(coating)
    asked = optimizer.ask(4)
    optimizer.tell(asked, numpy.arange(4.0))
    assert [row["value"] for row in optimizer.observations()] == [0, 1, 2, 3]
    for points, values in [([asked[0].point, {"bake": 1}], [1, 2]), (asked, [1, 2]), (asked, [1, 2, 3, "x"])]:
        with pytest.raises(leafgp.PointError):
            optimizer.tell(points, values)
    assert len(optimizer) == 4


def test_pictures_page_and_promise(coating, tmp_path):
    optimizer = measured(coating, 12)
    for kind in ("convergence", "importance", "parallel", "predictions", "surface"):
        svg = optimizer.plot(kind)
        assert svg.startswith("<svg") and svg._repr_svg_() == svg, kind
    assert "bake" in optimizer.plot("surface", x="bake", y="dose")
    page = optimizer.report(tmp_path / "page.html")
    assert page.startswith("<!DOCTYPE html>") and (tmp_path / "page.html").read_text() == page
    promise = optimizer.promise()
    assert promise.bound >= promise.best and "proved" in promise.sentence
    trees = optimizer.surrogate()
    for row in optimizer.observations():
        prediction = trees.predict(row["point"])
        assert prediction.mean + promise.kappa * prediction.std <= promise.bound + 1e-9
    assert leafgp.Optimizer(coating).promise() is None


def test_the_constraints_in_conflict_have_names():
    x = {"x": leafgp.Continuous(0, 1), "y": leafgp.Continuous(0, 1)}
    problem = leafgp.Problem("p", x, constraints={"high": "x + y >= 1.5", "low": "x + y <= 1", "idle": "x <= 2 * y"})
    with pytest.raises(leafgp.InfeasibleError) as caught:
        leafgp.Optimizer(problem).ask()
    assert sorted(caught.value.conflict) == ["high", "low"]
    assert isinstance(caught.value, leafgp.NoAnswer) and "cannot hold together" in str(caught.value)


def test_an_exhausted_space_says_so():
    problem = leafgp.Problem("p", {"a": leafgp.Binary(), "b": leafgp.Categorical(["u", "v"])})
    result = leafgp.minimize(lambda point: point["a"], problem, n=9)
    assert len(result.optimizer) == 4 and "exhausted" in result.reason and result.value == 0
    with pytest.raises(leafgp.SpaceExhausted):
        result.optimizer.ask()
    with pytest.raises(leafgp.SpaceExhausted):
        result.optimizer.ask(fixed={"a": 1})


def test_a_loop(coating):
    seen = []
    result = leafgp.minimize(gloss, coating, n=12, callback=lambda optimizer: seen.append(len(optimizer)))
    assert seen == list(range(1, 13)) and result.reason == "12 experiments"
    assert result.value == max(gloss(row["point"]) for row in result.optimizer.observations())
    assert told(result.optimizer) == told(measured(coating, 12))
    assert leafgp.minimize(gloss, coating, n=12, callback=lambda optimizer: len(optimizer) == 3).reason == "the callback ended it"
    failing = leafgp.minimize(lambda point: 1 / 0, coating, n=3, on_error="fail")
    assert failing.value is None and [row["status"] for row in failing.optimizer.observations()] == ["failed"] * 3
    with pytest.raises(ZeroDivisionError):
        leafgp.minimize(lambda point: 1 / 0, coating, n=3)


def test_threads_may_share_an_optimizer(coating):
    optimizer = measured(coating, 8)
    problems = []

    def work():
        try:
            for _ in range(5):
                suggestion = optimizer.ask(1, pending=True, tree_excess=False)[0]
                optimizer.tell(suggestion, gloss(suggestion.point))
        except Exception as error:  # noqa: BLE001
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Two threads may ask the same, and tell it twice.
    assert not problems and len(optimizer) >= 8 + 5
    assert all(row["status"] == "done" for row in optimizer.observations())


def test_other_threads_run_while_one_asks(coating):
    optimizer = measured(coating, 20)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.monotonic()
    optimizer.ask(3)
    ended = time.monotonic()
    done.set()
    thread.join()
    within = [tick for tick in ticks if started < tick < ended]
    assert len(within) >= 3


def long_search():
    """A problem whose search would take minutes."""
    variables = {f"x{i}": leafgp.Continuous(-5, 5) for i in range(20)}
    settings = {"preset": "paper", "design": {"initial": 5}, "solver": {"time_limit": 600, "gap": 0}, "trees": {"n_trees": 400, "max_depth": 6}}
    problem = leafgp.Problem("long", variables, settings=settings)
    points = [s.point for s in leafgp.Optimizer(problem.with_settings(design={"initial": 200})).ask(150)]
    values = [sum(x**4 - 16 * x**2 + 5 * x for x in point.values()) / 2 for point in points]
    return leafgp.Optimizer(problem, [{**point, "objective": value} for point, value in zip(points, values)])


def test_ctrl_c_ends_a_search_and_gives_the_best_so_far():
    optimizer = long_search()
    # Where the tests run in the background of a shell, SIGINT is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(5.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(leafgp.Interrupted) as caught:
            optimizer.ask()
    finally:
        signal.signal(signal.SIGINT, before)
    assert isinstance(caught.value, KeyboardInterrupt)
    suggestion = caught.value.result
    assert optimizer.problem.is_feasible(suggestion.point) and suggestion.stop_reason == "interrupted"


def test_optimizers_can_be_pickled(coating):
    optimizer = measured(coating, 10)
    again = pickle.loads(pickle.dumps(optimizer))
    assert again.observations() == optimizer.observations() and again.ask().point == optimizer.ask().point


def test_ten_thousand_asks_and_tells_leave_no_memory_behind():
    resource = pytest.importorskip("resource")
    problem = leafgp.Problem("p", {"x": leafgp.Continuous(0, 1), "c": leafgp.Categorical(["a", "b"])})

    def many(n):
        for k in range(n):
            optimizer = leafgp.Optimizer(problem)
            optimizer.tell(optimizer.ask(), float(k))
            optimizer.best()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = many(1000)
    # The peak in kilobytes: a leak of 1 kB each would be 10 MB.
    assert many(10_000) - before < 4000
