"""Tests of kurobako_solver.py: every kind of variable, overlapping questions, failures, a finite space, through the lines that kurobako writes.

    ~/kurobako/bin/python peers/test_kurobako_solver.py target/release/leafgp
"""

import json
import math
import pathlib
import subprocess
import sys
import tomllib

from kurobako import problem

from kurobako_solver import expression, problem_file

HERE = pathlib.Path(__file__).resolve().parent


def variable(name, kind, *, log=False, constraint=None, **range_):
    distribution = "LOG_UNIFORM" if log else "UNIFORM"
    return {"name": name, "range": {"type": kind, **range_}, "distribution": distribution, "constraint": constraint}


MIXED = [
    variable("rate", "CONTINUOUS", log=True, low=1e-5, high=0.1),
    variable("layers", "DISCRETE", low=1, high=4),
    variable("units", "DISCRETE", log=True, low=8, high=257),
    variable("kind", "CATEGORICAL", choices=["linear", "a deep one"]),
    variable("drop", "CONTINUOUS", constraint='kind == "a deep one" and layers ~= 1', low=0.0, high=0.5),
    variable("fixed", "DISCRETE", low=3, high=4),
    variable("shift", "CONTINUOUS", constraint="fixed == 3", low=-1.0, high=1.0),
]
FINITE = [variable("a", "DISCRETE", low=0, high=2), variable("b", "CATEGORICAL", choices=["x", "y", "z"])]


def spec(params):
    value = {"name": "v", "range": {"type": "CONTINUOUS"}, "distribution": "UNIFORM"}
    return {"name": "a test", "attrs": {}, "params_domain": params, "values_domain": [value], "steps": 1}


class Conversation:
    """The side of kurobako."""

    def __init__(self, program, params, seed=7):
        command = [sys.executable, HERE / "kurobako_solver.py", program]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.spec = self.receive()["spec"]
        self.next_id = 0
        self.send(type="CREATE_SOLVER_CAST", solver_id=0, random_seed=seed, problem=spec(params))

    def send(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def ask(self):
        self.send(type="ASK_CALL", solver_id=0, next_trial_id=self.next_id)
        reply = self.receive()
        assert reply["type"] == "ASK_REPLY" and reply["trial"]["next_step"] == 1, reply
        self.next_id = reply["next_trial_id"]
        return reply["trial"]["id"], reply["trial"]["params"]

    def tell(self, trial, values):
        self.send(type="TELL_CALL", solver_id=0, trial={"id": trial, "values": values, "current_step": 1})
        assert self.receive()["type"] == "TELL_REPLY"

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def check_mixed(params):
    rate, layers, units, kind, drop, fixed, shift = params
    assert fixed == 3 and -1.0 <= shift <= 1.0
    assert 1e-5 <= rate <= 0.1
    assert layers in (1, 2, 3) and 8 <= units <= 256 and units == int(units) and kind in (0, 1)
    assert (drop is not None) == (kind == 1 and layers != 1), params
    assert drop is None or 0.0 <= drop <= 0.5


def cost(params):
    rate, layers, units, kind, drop, _, shift = params
    return shift**2 + (math.log10(rate) + 3) ** 2 + (layers - 2) ** 2 + math.log(units / 64) ** 2 + (0 if kind == 1 else 1) + (drop or 0.3)


def every_kind_is_asked_within_its_range_and_improves(program):
    conversation = Conversation(program, MIXED)
    assert "MULTI_OBJECTIVE" not in conversation.spec["capabilities"]
    costs = []
    for _ in range(25):
        trial, params = conversation.ask()
        check_mixed(params)
        costs.append(cost(params))
        conversation.tell(trial, [costs[-1]])
    conversation.close()
    assert min(costs[5:]) < min(costs[:5]), costs


def overlapping_questions_differ_and_failures_are_passed_by(program):
    conversation = Conversation(program, MIXED)
    waiting = [conversation.ask() for _ in range(8)]
    assert len({tuple(params) for _, params in waiting}) == 8
    for trial, params in waiting:
        check_mixed(params)
        conversation.tell(trial, [] if trial % 3 == 0 else [cost(params)])
    _, params = conversation.ask()
    assert params not in [other for _, other in waiting]
    conversation.close()


def a_finite_space_is_asked_out_and_then_again(program):
    conversation = Conversation(program, FINITE)
    seen = []
    for _ in range(8):
        trial, params = conversation.ask()
        seen.append(tuple(params))
        conversation.tell(trial, [params[0] - params[1]])
    conversation.close()
    assert len(set(seen[:6])) == 6 and seen[6:] == [(0, 2)] * 2, seen


def the_same_seed_asks_the_same(program):
    answers = []
    for seed in (7, 7, 8):
        conversation = Conversation(program, MIXED, seed)
        own = []
        for _ in range(10):
            trial, params = conversation.ask()
            own.append(params)
            conversation.tell(trial, [cost(params)])
        conversation.close()
        answers.append(own)
    assert answers[0] == answers[1] != answers[2]


def the_problem_file_says_what_kurobako_said(_program):
    told = tomllib.loads(problem_file(problem.ProblemSpec.from_dict(spec(MIXED))))
    assert told["define"] == {"fixed": "3"}
    assert told["variables"] == {
        "rate": {"type": "continuous", "bounds": [1e-5, 0.1], "scale": "log"},
        "layers": {"type": "integer", "bounds": [1, 3]},
        "units": {"type": "integer", "bounds": [8, 256], "scale": "log"},
        "kind": {"type": "categorical", "levels": ["linear", "a deep one"]},
        "drop": {"type": "continuous", "bounds": [0.0, 0.5], "active_if": "kind == 'a deep one' and layers != 1"},
        "shift": {"type": "continuous", "bounds": [-1.0, 1.0], "active_if": "fixed == 3"},
    }
    assert expression("x ~= 'y'") == "x != 'y'"


if __name__ == "__main__":
    for test in (
        every_kind_is_asked_within_its_range_and_improves,
        overlapping_questions_differ_and_failures_are_passed_by,
        a_finite_space_is_asked_out_and_then_again,
        the_same_seed_asks_the_same,
        the_problem_file_says_what_kurobako_said,
    ):
        test(sys.argv[1])
        print(f"ok {test.__name__}")
