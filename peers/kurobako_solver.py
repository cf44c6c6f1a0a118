"""leafgp as a solver of kurobako (https://github.com/optuna/kurobako): an external program that speaks its JSON lines.

    kurobako solver --name leafgp command python3 peers/kurobako_solver.py target/release/leafgp [options of `leafgp suggest`]

Each solver has a temporary folder with a problem file and a history; every question is one `leafgp suggest` on them, with leafgp's defaults. All kinds of
variables of kurobako are passed on: continuous, discrete, categorical, logarithmic scales, and conditions (`active_if`). Questions may overlap: points
without a value are pending rows. A trial that kurobako could not evaluate is a failed row, one that stopped before its last step a row with its last value.
Needs the package kurobako, and lupa for problems with conditions.
"""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from kurobako import problem, solver

VALUE = "objective value"


class Leafgp(solver.Solver):
    def __init__(self, program, options, seed, spec):
        self.command = [program, "suggest", *options, "--format", "json", "--quiet", "--seed", str(seed), "--threads", "1"]
        self.spec = spec
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "problem.toml"
        self.history = pathlib.Path(self.folder.name) / "problem.csv"
        self.file.write_text(problem_file(spec), encoding="utf-8")
        # Trial id: [cells of the variables, value, status].
        self.rows = {}

    def ask(self, idg):
        self.write_history()
        done = subprocess.run([*self.command, self.file], capture_output=True, text=True)
        if done.returncode == 0:
            point = json.loads(done.stdout)["suggestions"][0]["point"]
            cells = [point.get(var.name, var.range.low) for var in self.spec.params]
        elif done.returncode == 1 and "exhausted" in done.stderr and self.rows:
            # The space is finite and every point of it has been asked for: the best one again does no harm.
            cells = min(self.rows.values(), key=lambda row: float(row[1] or "inf"))[0]
        else:
            raise RuntimeError(f"{self.spec.name}: {done.stderr}")
        trial = idg.generate()
        self.rows[trial] = [cells, "", ""]
        return solver.NextTrial(trial, self.params(cells), self.spec.last_step)

    def params(self, cells):
        """The numbers of kurobako: the index of a category, None where a variable does not exist."""
        params = []
        for var, cell in zip(self.spec.params, cells):
            value = var.range.choices.index(cell) if isinstance(var.range, problem.CategoricalRange) else cell
            params.append(value if var.is_constraint_satisfied(self.spec.params, params) else None)
        return params

    def tell(self, trial):
        row = self.rows[trial.trial_id]
        if trial.values:
            row[1] = repr(float(trial.values[0]))
        else:
            row[2] = "failed"

    def write_history(self):
        with open(self.history, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            # The table has columns of fixed variables too; leafgp leaves them alone.
            writer.writerow([var.name for var in self.spec.params] + [VALUE, "status"])
            writer.writerows(cells + [value, status] for cells, value, status in self.rows.values())


def problem_file(spec):
    # JSON's strings are strings of TOML.
    lines = [f"name = {json.dumps(spec.name)}", "[objective]", f"name = {json.dumps(VALUE)}", 'goal = "minimize"', "[variables]"]
    lines += [f"{json.dumps(var.name)} = {{ {', '.join(fields(var))} }}" for var in spec.params if not is_fixed(var)]
    # Conditions may speak of them.
    lines += ["[define]"] + [f'{json.dumps(var.name)} = "{var.range.low!r}"' for var in spec.params if is_fixed(var)]
    return "\n".join(lines) + "\n"


def is_fixed(var):
    """A number with a single value, which leafgp takes for no variable."""
    if isinstance(var.range, problem.CategoricalRange):
        return False
    return var.range.low == (var.range.high - 1 if isinstance(var.range, problem.DiscreteRange) else var.range.high)


def fields(var):
    if isinstance(var.range, problem.CategoricalRange):
        entries = ['type = "categorical"', f"levels = {json.dumps(var.range.choices)}"]
    elif isinstance(var.range, problem.DiscreteRange):
        # The upper end does not belong to the range.
        entries = ['type = "integer"', f"bounds = [{var.range.low}, {var.range.high - 1}]"]
    else:
        entries = ['type = "continuous"', f"bounds = [{float(var.range.low)!r}, {float(var.range.high)!r}]"]
    if var.distribution == problem.Distribution.LOG_UNIFORM:
        entries.append('scale = "log"')
    if var.constraint is not None:
        entries.append(f"active_if = {json.dumps(expression(var.constraint))}")
    return entries


def expression(lua):
    """A condition in Lua as an expression of leafgp: unequal and strings are written differently."""
    quoted = re.sub(r'"([^"\']*)"', r"'\1'", lua)
    return quoted.replace("~=", "!=")


class Factory(solver.SolverFactory):
    def __init__(self, program, options):
        self.program, self.options = program, options

    def specification(self):
        version = subprocess.run([self.program, "--version"], check=True, capture_output=True, text=True).stdout.strip()
        capabilities = solver.all_capabilities() - {solver.Capability.MULTI_OBJECTIVE}
        return solver.SolverSpec("leafgp", capabilities, {"version": version})

    def create_solver(self, seed, problem):
        return Leafgp(self.program, self.options, seed, problem)


class Runner(solver.SolverRunner):
    def _send_message(self, message):
        print(json.dumps(message), flush=True)


if __name__ == "__main__":
    Runner(Factory(sys.argv[1], sys.argv[2:])).run()
