"""Problems: made in Python, written as TOML, read back."""

import pickle

import pytest
from conftest import random_problem

import leafgp


def test_a_thousand_random_problems_survive_the_way_to_toml_and_back():
    for seed in range(1000):
        problem = random_problem(seed)
        again = leafgp.Problem.from_toml(problem.to_toml())
        assert again == problem, f"seed {seed}"
        for part in ("name", "objective", "goal", "variables", "names", "constraints", "settings", "warnings"):
            assert getattr(again, part) == getattr(problem, part), f"seed {seed}: {part}"
        # Not only the description: both suggest the same.
        if seed % 20 == 0:
            asked = [leafgp.Optimizer(p).ask(2) for p in (problem, again)]
            assert [s.point for s in asked[0]] == [s.point for s in asked[1]], f"seed {seed}"
        # Variables taken from the problem make the same problem.
        document = problem.to_dict()
        rebuilt = leafgp.Problem(
            problem.name,
            problem.variables,
            objective=problem.objective,
            goal=problem.goal,
            constraints=document.get("constraints"),
            define=document.get("define"),
            settings=document.get("settings"),
        )
        assert rebuilt == problem, f"seed {seed}"


def test_the_command_reads_what_python_writes(command, coating, tmp_path):
    coating.save(tmp_path / "coating.toml")
    checked = command("check", tmp_path / "coating.toml")
    assert checked.returncode == 0, checked.stderr


def test_a_file_keeps_its_text(tmp_path):
    text = '# ours\n[objective]\nname = "y"\ngoal = { target = 7.5 }\n[variables]\nx = { type = "continuous", bounds = [0, 1] } # this one\n'
    (tmp_path / "ours.toml").write_text(text)
    problem = leafgp.Problem.from_file(tmp_path / "ours.toml")
    assert (problem.to_toml(), problem.name, problem.goal) == (text, "ours", 7.5)
    changed = problem.with_settings(seed=7, solver={"gap": 0.25})
    assert (changed.settings["seed"], changed.settings["solver"]["gap"], changed.name) == (7, 0.25, "ours")
    again = changed.with_settings(solver={"time_limit": 3})
    assert (again.settings["solver"]["gap"], again.settings["solver"]["time_limit"]) == (0.25, 3)


def test_errors_are_those_of_the_command(command, tmp_path):
    text = '[objective]\nname = "y"\ngoal = "minimise"\n[variables]\nx = { type = "continuous", bounds = [0, 1] }\n'
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(leafgp.ProblemError) as caught:
        leafgp.Problem.from_file(path)
    assert command("check", path).stderr.strip() == f"error: {caught.value}"


def test_violations_name_constraints_and_variables(coating):
    point = {"bake": 150, "layers": 2, "gap": 2.0, "resin": "A", "dose": 12, "primer": True}
    assert coating.violations(point).keys() == {"A is cool"}
    assert coating.is_feasible({**point, "resin": "B"})
    assert "bake" in coating.violations({**point, "bake": 200, "resin": "B"})


def test_points_and_arrays_are_each_others_opposites(coating):
    numpy = pytest.importorskip("numpy")
    points = [suggestion.point for suggestion in leafgp.Optimizer(coating).ask(5)]
    array = coating.to_array(points)
    assert array.shape == (5, 6) and array.dtype == numpy.float64
    assert coating.from_array(array) == points
    assert coating.from_array(array.astype(int).astype(numpy.int32)[:, :]) is not None
    assert [type(value) for value in points[0].values()] == [float, int, float, str, float, int]


def test_problems_can_be_pickled(coating):
    again = pickle.loads(pickle.dumps(coating))
    assert again == coating and again.name == coating.name


def test_variables_do_not_change_and_compare():
    x = leafgp.Continuous(0, 1, unit="g")
    with pytest.raises(AttributeError):
        x.unit = "kg"
    assert x == leafgp.Continuous(0, 1, unit="g") != leafgp.Continuous(0, 1)
    assert repr(x) == "Continuous(bounds=[0, 1], unit='g')"
