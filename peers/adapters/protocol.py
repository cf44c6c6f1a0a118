"""The ask/tell protocol of docs/external-optimisers.md; standard library only.

Importing this module claims standard output for protocol lines: file descriptor 1 and `sys.stdout` then lead to
standard error, so that nothing a library prints, from Python or from C, gets between the lines. It also starts Python
anew with PYTHONHASHSEED=0, because the order of sets decides about points in some libraries. Import it first.

    class MyOptimizer(Optimizer):
        def ask(self): ...                     # a point, a dict of names and values
        def tell(self, evaluation): ...        # the result of a point
    serve(MyOptimizer)
"""

import json
import os
import random
import sys
import traceback
from dataclasses import dataclass, field

VERSION = 1

if os.environ.get("PYTHONHASHSEED") != "0":
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])

_lines = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
os.dup2(2, 1)
sys.stdout = sys.stderr


class Refused(Exception):
    """The optimiser cannot work on this problem; the text says why."""


@dataclass(frozen=True)
class Evaluation:
    """An evaluated point.

    `cost` is to be minimised: the value, negated when the problem maximises. A failed evaluation has the worst cost
    known before it (0 when there is none) and `failed` set. `violations` has one number for each constraint, 0 where it
    holds; it is empty under a penalty, which is part of the cost then.
    """

    point: dict
    cost: float
    feasible: bool
    violations: list
    failed: bool = False


@dataclass
class Start:
    """What `start` says.

    `variables`, `define` and `constraints` are the lists of the message as they are; `initial` are the first points,
    evaluated already; `iterations` is the number of asks that will follow.
    """

    seed: int
    iterations: int
    variables: list
    initial: list
    name: str = "problem"
    goal: str = "minimize"
    define: list = field(default_factory=list)
    constraints: list = field(default_factory=list)
    candidates: list | None = None
    penalty: float | None = None

    def require_box(self, peer):
        """For optimisers that know no constraints: they need `constraints = "penalty"`."""
        if self.constraints:
            raise Refused(f'{peer} knows no constraints; set constraints = "penalty" and a lambda for this method')


class Optimizer:
    """Base of the adapters. `__init__` gets a `Start` and has to take in its `initial` points."""

    def __init__(self, start):
        raise NotImplementedError

    def ask(self):
        """The next point: a dict with a value for every variable."""
        raise NotImplementedError

    def tell(self, evaluation):
        """The result of a point. Usually the one just asked for, but `evaluation.point` counts: the study moves
        values to the nearest allowed ones, and a resumed run may replay other points."""
        raise NotImplementedError

    def close(self):
        """After the last message."""


class _Costs:
    """Turns results into evaluations: one direction, failures replaced."""

    def __init__(self, goal):
        if goal not in ("minimize", "maximize"):
            raise Refused(f"the goal {goal!r} is neither minimize nor maximize")
        self.sign = 1.0 if goal == "minimize" else -1.0
        self.worst = None

    def evaluation(self, message):
        value = message.get("value")
        failed = value is None
        cost = (self.worst if self.worst is not None else 0.0) if failed else self.sign * float(value)
        if not failed:
            self.worst = cost if self.worst is None else max(self.worst, cost)
        violations = [float(v) for v in message.get("violations", [])]
        return Evaluation(dict(message["point"]), cost, bool(message["feasible"]), violations, failed)


def read_start(message):
    """A `start` message as a `Start`, and what turns later results into evaluations."""
    if message.get("protocol") != VERSION:
        raise Refused(f"protocol {message.get('protocol')!r} is not known, only {VERSION}")
    problem = message["problem"]
    costs = _Costs(problem["goal"])
    start = Start(
        seed=int(message["seed"]),
        iterations=int(message["iterations"]),
        variables=problem["variables"],
        initial=[costs.evaluation(result) for result in message["initial"]],
        name=problem["name"],
        goal=problem["goal"],
        define=problem.get("define", []),
        constraints=problem.get("constraints", []),
        candidates=problem.get("candidates"),
        penalty=message.get("lambda"),
    )
    return start, costs


def _answer(message):
    _lines.write(json.dumps(message, allow_nan=False) + "\n")
    _lines.flush()


def _plain(value):
    """A value as JSON knows it, also when it is a scalar of numpy."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value


def serve(make):
    """Speaks the protocol until `stop` or the end of the input. `make(start)` gives the optimiser.

    Errors are answered as `error` and end the process with code 1; the trace goes to standard error.
    """
    optimizer = costs = None
    try:
        for line in sys.stdin:
            if not line.strip():
                continue
            message = json.loads(line)
            kind = message.get("type")
            if kind == "start":
                start, costs = read_start(message)
                seed_everything(start.seed)
                optimizer = make(start)
                _answer({"type": "ready"})
            elif kind == "ask":
                if optimizer is None:
                    raise Refused("ask before start")
                point = optimizer.ask()
                _answer({"type": "point", "point": {name: _plain(value) for name, value in point.items()}})
            elif kind == "tell":
                if optimizer is None:
                    raise Refused("tell before start")
                optimizer.tell(costs.evaluation(message))
            elif kind == "stop":
                break
            else:
                raise Refused(f"a message of type {kind!r} is not known")
    except BrokenPipeError:
        os._exit(1)
    except Exception as error:  # noqa: BLE001  whatever a library raises is the answer
        if not isinstance(error, Refused):
            traceback.print_exc()
        text = str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
        _answer({"type": "error", "message": text[:2000]})
        sys.exit(1)
    finally:
        if optimizer is not None:
            optimizer.close()


def seed_everything(seed):
    """Seeds the generators libraries share: `random`, and numpy's and torch's where they are loaded."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
