"""The Optuna sampler."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import leafgp

optuna = pytest.importorskip("optuna")
from leafgp.optuna import LeafgpSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)

WORKER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_optuna import objective, sampler
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(study_name="s", storage=storage(sys.argv[2]), sampler=sampler())
study.optimize(objective, n_trials=int(sys.argv[3]))
"""


def problem():
    return leafgp.Problem(
        "mix",
        {
            "a": leafgp.Continuous(0, 1, step=0.05),
            "b": leafgp.Continuous(0, 1),
            "n": leafgp.Integer(1, 4),
            "kind": leafgp.Categorical(["x", "y", "z"]),
            "dose": leafgp.Discrete([0, 12.5, 50]),
            "hold": leafgp.Continuous(1, 9, active_if="n >= 3", inactive_value=1),
        },
        constraints={"sum": "a + b <= 1", "pair": "kind == 'x' implies n <= 2"},
        settings={"design": {"initial": 6}},
    )


def sampler():
    return LeafgpSampler(problem(), seed=4)


def objective(trial):
    a = trial.suggest_float("a", 0, 1, step=0.05)
    b = trial.suggest_float("b", 0, 1)
    n = trial.suggest_int("n", 1, 4)
    kind = trial.suggest_categorical("kind", ["x", "y", "z"])
    dose = trial.suggest_categorical("dose", [0, 12.5, 50])
    hold = trial.suggest_float("hold", 1, 9) if n >= 3 else 1
    trial.set_user_attr("point", {"a": a, "b": b, "n": n, "kind": kind, "dose": dose, "hold": hold})
    return (a - 0.3) ** 2 + (b - 0.6) ** 2 + 0.1 * n - 0.2 * (kind == "y") + dose / 100 + 0.01 * hold


def points(study):
    return [trial.user_attrs["point"] for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]


def check(found, n):
    assert len(found) == n
    assert len({json.dumps(point, sort_keys=True) for point in found}) == n, "no repeats"
    for point in found:
        assert problem().is_feasible(point), point


def test_thirty_trials_are_feasible_and_distinct_and_the_same_again():
    found = []
    for _ in range(2):
        study = optuna.create_study(sampler=sampler())
        study.optimize(objective, n_trials=30)
        check(points(study), 30)
        found.append(points(study))
    assert found[0] == found[1]
    assert study.best_value < 0.25


def test_a_study_is_resumed_from_its_storage(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    study = optuna.create_study(study_name="s", storage=storage, sampler=sampler())
    study.optimize(objective, n_trials=7)
    # As a killed session leaves it: a trial that runs for ever.
    left = study.ask()
    for name, distribution in study.sampler.infer_relative_search_space(study, left).items():
        left._suggest(name, distribution)
    again = optuna.load_study(study_name="s", storage=storage, sampler=sampler())
    again.optimize(objective, n_trials=8)
    check(points(again), 15)
    assert left.params not in points(again)


def test_thirty_trials_around_a_kill(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    study = optuna.create_study(study_name="s", storage=storage, sampler=sampler())
    prelude = (
        "import time\n"
        "def storage(path):\n"
        "    return path\n"
    )
    # Slow, so that the kill comes in the middle of a trial.
    slow = WORKER.replace("study.optimize(objective", "study.optimize(lambda trial: (time.sleep(0.1), objective(trial))[1]")
    here = os.path.dirname(os.path.abspath(__file__))
    worker = subprocess.Popen([sys.executable, "-c", prelude + slow, here, storage, "30"], stderr=subprocess.PIPE, text=True)
    while len(points(study)) < 9:
        assert worker.poll() is None, worker.communicate()[1]
        time.sleep(0.02)
    worker.kill()
    assert worker.wait() == -signal.SIGKILL
    worker.stderr.close()
    n_done = len(points(study))
    assert 9 <= n_done < 30
    again = optuna.load_study(study_name="s", storage=storage, sampler=sampler())
    again.optimize(objective, n_trials=30 - n_done)
    check(points(again), 30)
    # What the killed worker had planned is not planned again.
    planned = [trial.system_attrs["leafgp:point"] for trial in again.trials if "leafgp:point" in trial.system_attrs]
    assert len(planned) == len(set(planned)) >= 30


def test_four_threads_do_not_repeat_each_other():
    study = optuna.create_study(sampler=sampler())
    study.optimize(objective, n_trials=16, n_jobs=4)
    check(points(study), 16)


def test_four_processes_do_not_repeat_each_other(tmp_path):
    path = str(tmp_path / "s.log")
    backend = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(path))
    optuna.create_study(study_name="s", storage=backend)
    prelude = (
        "import optuna\n"
        "def storage(path):\n"
        "    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(path))\n"
    )
    here = os.path.dirname(os.path.abspath(__file__))
    workers = [
        subprocess.Popen([sys.executable, "-c", prelude + WORKER, here, path, "4"], stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for worker in workers:
        _, said = worker.communicate()
        assert worker.returncode == 0, said
    study = optuna.load_study(study_name="s", storage=backend)
    check(points(study), 16)


def test_without_a_problem_the_shared_parameters_are_its_variables():
    def plain(trial):
        x = trial.suggest_float("x", 0, 2)
        k = trial.suggest_categorical("k", [1, 2.5, None])
        trial.set_user_attr("x", (x, k))
        return x * (k or 1)

    study = optuna.create_study(direction="maximize", sampler=LeafgpSampler(constraints=["x <= 1.5"], seed=1))
    study.optimize(plain, n_trials=15)
    found = [trial.user_attrs["x"] for trial in study.trials]
    # The first one comes before any parameter is known.
    assert all(x <= 1.5 for x, _ in found[1:]) and len(set(found)) == 15
    assert study.best_value > 3


def test_failed_and_pruned_trials_are_not_tried_again():
    def failing(trial):
        value = objective(trial)
        if trial.number % 3 == 0:
            raise optuna.TrialPruned
        if trial.number % 3 == 1:
            raise ValueError
        return value

    study = optuna.create_study(sampler=sampler())
    study.optimize(failing, n_trials=15, catch=(ValueError,))
    found = [json.dumps(trial.user_attrs["point"], sort_keys=True) for trial in study.trials]
    assert len(set(found)) == 15


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler())
    with pytest.raises(leafgp.RequestError):
        study.optimize(lambda trial: (objective(trial), 0.0), n_trials=1)
