"""Feasible points from leafgp: what `leafgp suggest` gives for a problem without measurements; standard library only."""

import json
import subprocess
import tempfile
from pathlib import Path

from protocol import Refused


def problem_text(variables, define, constraints):
    """The problem of a `start` message as a problem file. Strings of JSON are strings of TOML."""
    lines = ["[objective]", 'name = "objective_"', 'goal = "minimize"', "[variables]"]
    for variable in variables:
        keys = [f"{key} = {json.dumps(value)}" for key, value in variable.items() if key != "name"]
        lines.append(f"{json.dumps(variable['name'])} = {{ {', '.join(keys)} }}")
    for title, items in (("define", define), ("constraints", constraints)):
        lines.append(f"[{title}]")
        for item in items:
            if item["expr"] is None:
                raise Refused(f"constraint {item['name']!r} has no text")
            lines.append(f"{json.dumps(item['name'])} = {json.dumps(item['expr'])}")
    return "\n".join(lines) + "\n"


class FeasiblePoints:
    def __init__(self, start, command):
        self.command = command
        self.folder = tempfile.TemporaryDirectory(prefix="feasible-")
        self.file = Path(self.folder.name) / "problem.toml"
        self.file.write_text(problem_text(start.variables, start.define, start.constraints), encoding="utf-8")

    def points(self, n, seed):
        """`n` feasible points, spread over the feasible set; others for another seed."""
        command = [self.command, "suggest", str(self.file), "-n", str(n), "--seed", str(seed), "--format", "json", "-q"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise Refused(f"{self.command} gives the feasible points to start from, but cannot be run: {error}") from None
        if run.returncode != 0:
            raise Refused(f"{self.command} gives no feasible points: {run.stderr.strip()[-500:]}")
        return [suggestion["point"] for suggestion in json.loads(run.stdout)["suggestions"]]

    def close(self):
        self.folder.cleanup()
