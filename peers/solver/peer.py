"""One solve by one peer, in a process of its own: reads an instance, prints one JSON object.

    python peers/solver/peer.py scip INSTANCE.json [--time-limit S] [--gap G]

Only the call of the solver is counted (`cpu_s`: user and system time of this process around it); start of Python, imports, the
factorisation and building the model are not. The limit counts CPU seconds too. One thread each. `objective` is the true value
at the cell that the peer returned, `claimed` what the peer says, `bound` its lower bound.
"""

import argparse
import json
import math
import resource
import threading

import numpy as np

from instance import Instance
from misic import Misic


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Watch:
    """Calls `stop` when this process has used `limit` more CPU seconds: for solvers that know the wall clock only."""

    def __init__(self, limit, stop):
        self.end, self.stop, self.done = cpu_seconds() + limit, stop, threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self.done.wait(0.05):
            if cpu_seconds() >= self.end:
                self.stop()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def scip(instance, limit, gap):
    """SCIP: Eq. 3 and the second-order cone `sigma^2 + |w|^2 <= s2`, `w = L^-1 k`, `k` the kernel of Eq. 8."""
    import pyscipopt
    from pyscipopt import Model, quicksum

    misic = Misic(instance)
    model = Model()
    model.hideOutput()
    model.setParams(
        {"limits/gap": gap, "limits/time": limit, "timing/clocktype": 1, "lp/threads": 1, "parallel/maxnthreads": 1}
    )
    # Where the package has Ipopt, this heuristic takes most of the time on the small instances and SCIP is faster without it.
    model.setParam("heuristics/mpec/freq", -1)
    z = [model.addVar(lb=0.0, ub=0.0 if l in misic.fixed_to_zero else 1.0, obj=float(c)) for l, c in enumerate(instance.c)]
    columns = z + [model.addVar(vtype="B") for _ in range(misic.n_columns - misic.n_z)]
    for indices, coefficients, lower, upper in misic.rows():
        row = quicksum(a * columns[j] for j, a in zip(indices, coefficients))
        model.addCons(row == upper if lower == upper else row <= upper)
    if instance.kappa > 0:
        root = math.sqrt(instance.s2)
        sigma = model.addVar(lb=0.0, ub=root, obj=-instance.kappa)
        w = [model.addVar(lb=-root, ub=root) for _ in instance.y]
        # Through k: far fewer nonzeros than dense rows of L^-1 A over all leaves, and faster.
        k = [model.addVar(lb=0.0, ub=instance.s2) for _ in instance.y]
        for i, ki in enumerate(k):
            model.addCons(quicksum(instance.scale * z[l] for l in np.flatnonzero(instance.active[i])) == ki)
            model.addCons(quicksum(float(instance.lower[i, j]) * w[j] for j in range(i + 1)) == ki)
        model.addCons(sigma * sigma + quicksum(wi * wi for wi in w) <= instance.s2)
    start = cpu_seconds()
    model.optimize()
    used = cpu_seconds() - start
    found = model.getNSols() > 0
    values = [model.getVal(v) for v in columns] if found else None
    status = {"optimal": "optimal", "gaplimit": "optimal", "timelimit": "time_limit"}.get(model.getStatus(), model.getStatus())
    version = f"SCIP {model.version():g} (PySCIPOpt {pyscipopt.__version__})"
    return misic, values, status, model.getObjVal() if found else None, model.getDualbound(), model.getNTotalNodes(), used, version


def highs(instance, limit, gap):
    """HiGHS on the mean alone."""
    import highspy

    if instance.kappa > 0:
        raise SystemExit("HiGHS has no cone: kappa must be 0")
    misic = Misic(instance)
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("threads", 1)
    h.setOptionValue("parallel", "off")
    h.setOptionValue("mip_rel_gap", gap)
    starts, indices, coefficients, lower, upper = [0], [], [], [], []
    for row, values, lo, up in misic.rows():
        indices += row
        coefficients += values
        starts.append(len(indices))
        lower.append(-highspy.kHighsInf if lo is None else lo)
        upper.append(up)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = misic.n_columns, len(upper)
    lp.col_cost_ = np.concatenate([instance.c, np.zeros(misic.n_columns - misic.n_z)])
    lp.col_lower_ = np.zeros(misic.n_columns)
    lp.col_upper_ = np.array([0.0 if j in misic.fixed_to_zero else 1.0 for j in range(misic.n_columns)])
    lp.row_lower_, lp.row_upper_ = np.array(lower), np.array(upper)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = starts, indices, coefficients
    kinds = [highspy.HighsVarType.kContinuous] * misic.n_z
    lp.integrality_ = kinds + [highspy.HighsVarType.kInteger] * (misic.n_columns - misic.n_z)
    h.passModel(lp)
    h.HandleUserInterrupt = True
    start = cpu_seconds()
    with Watch(limit, h.cancelSolve):
        h.run()
    used = cpu_seconds() - start
    info = h.getInfo()
    found = info.primal_solution_status == 2
    ends = {highspy.HighsModelStatus.kOptimal: "optimal", highspy.HighsModelStatus.kInterrupt: "time_limit"}
    status = ends.get(h.getModelStatus(), h.modelStatusToString(h.getModelStatus()))
    values = list(h.getSolution().col_value) if found else None
    claimed = info.objective_function_value if found else None
    return misic, values, status, claimed, info.mip_dual_bound, info.mip_node_count, used, f"HiGHS {h.version()}"


def cpsat(instance, limit, gap):
    """CP-SAT on the mean alone: the rows of Eq. 3 as cliques of Booleans, the objective in integers of `max|c| * 2^-40`."""
    import ortools
    from ortools.sat.python import cp_model

    if instance.kappa > 0:
        raise SystemExit("CP-SAT has no cone: kappa must be 0")
    misic = Misic(instance)
    model = cp_model.CpModel()
    columns = [model.new_bool_var("") for _ in range(misic.n_columns)]
    for l in sorted(misic.fixed_to_zero):
        model.add(columns[l] == 0)
    for group in misic.one_hot:
        model.add_exactly_one(columns[j] for j in group)
    for j, k in misic.order:
        model.add_implication(columns[j], columns[k])
    for leaves, split, left in misic.sides:
        z, nu = [columns[l] for l in leaves], [columns[j] for j in split]
        if not left:
            model.add_at_most_one(z + nu)
        elif len(nu) == 1:
            model.add_at_most_one(z + [~nu[0]])
        else:
            model.add(sum(z) <= sum(nu))
    unit = float(np.max(np.abs(instance.c))) * 2.0**-40 or 1.0
    coefficients = [int(c) for c in np.rint(instance.c / unit)]
    model.minimize(cp_model.LinearExpr.weighted_sum(columns[: misic.n_z], coefficients))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.relative_gap_limit = gap
    start = cpu_seconds()
    with Watch(limit, solver.stop_search):
        code = solver.solve(model)
    used = cpu_seconds() - start
    found = code in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    values = [solver.value(v) for v in columns] if found else None
    status = "optimal" if code == cp_model.OPTIMAL else "time_limit"
    # Rounding the coefficients moves the bound by at most half a unit a tree.
    bound = (solver.best_objective_bound - 0.5 * len(instance.trees)) * unit
    claimed = solver.objective_value * unit if found else None
    return misic, values, status, claimed, bound, solver.num_branches, used, f"OR-tools CP-SAT {ortools.__version__}"


def gurobi(instance, limit, gap):
    """Gurobi with `sigma <= sqrt(s2 - |u|^2)` as tangents: lazy at integer points, user cuts at the relaxations of the root and nodes."""
    import gurobipy as gp
    from gurobipy import GRB

    misic = Misic(instance)
    env = gp.Env(params={"OutputFlag": 0})
    model = gp.Model(env=env)
    model.Params.Threads = 1
    model.Params.MIPGap = gap
    upper = [0.0 if j in misic.fixed_to_zero else 1.0 for j in range(misic.n_columns)]
    columns = model.addMVar(misic.n_columns, ub=np.array(upper), vtype=GRB.BINARY).tolist()
    for indices, coefficients, lower, up in misic.rows():
        row = gp.LinExpr(coefficients, [columns[j] for j in indices])
        model.addLConstr(row, GRB.EQUAL if lower == up else GRB.LESS_EQUAL, up)
    z, root, kappa = columns[: misic.n_z], math.sqrt(instance.s2), instance.kappa
    sigma = model.addVar(ub=root if kappa > 0 else 0.0)
    model.setObjective(gp.LinExpr(instance.c.tolist(), z) - kappa * sigma)
    end = [math.inf]

    def tangent(values, s_value):
        u = instance.v @ np.asarray(values)
        s = math.sqrt(max(instance.s2 - u @ u, 0.0))
        if s_value <= s + 1e-7:
            return None
        # Any (u, s) gives a valid tangent of the ball by Cauchy-Schwarz: s sigma + u.(V z) <= sqrt(s2 (|u|^2 + s^2)).
        s = max(s, 1e-4 * root)
        rhs = root * math.sqrt(u @ u + s * s)
        return gp.LinExpr((u @ instance.v).tolist(), z) + s * sigma, rhs

    def callback(m, where):
        if cpu_seconds() >= end[0]:
            m.terminate()
        elif kappa > 0 and where == GRB.Callback.MIPSOL:
            cut = tangent(m.cbGetSolution(z), m.cbGetSolution(sigma))
            if cut:
                m.cbLazy(cut[0], GRB.LESS_EQUAL, cut[1])
        elif kappa > 0 and where == GRB.Callback.MIPNODE and m.cbGet(GRB.Callback.MIPNODE_STATUS) == GRB.OPTIMAL:
            cut = tangent(m.cbGetNodeRel(z), m.cbGetNodeRel(sigma))
            if cut:
                m.cbCut(cut[0], GRB.LESS_EQUAL, cut[1])

    if kappa > 0:
        model.Params.LazyConstraints = 1
    start = cpu_seconds()
    end[0] = start + limit
    model.optimize(callback)
    used = cpu_seconds() - start
    found = model.SolCount > 0
    values = [v.X for v in columns] if found else None
    status = {GRB.OPTIMAL: "optimal", GRB.INTERRUPTED: "time_limit"}.get(model.Status, f"status {model.Status}")
    version = "Gurobi " + ".".join(map(str, gp.gurobi.version()))
    return misic, values, status, model.ObjVal if found else None, model.ObjBound, model.NodeCount, used, version


PEERS = {"scip": scip, "highs": highs, "cpsat": cpsat, "gurobi": gurobi}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("instance")
    parser.add_argument("--time-limit", type=float, default=100.0, help="CPU seconds")
    parser.add_argument("--gap", type=float, default=1e-4)
    args = parser.parse_args()
    # Some peers look at an interruption only between phases; the system ends them for good here.
    hard = int(3 * args.time_limit + 60)
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard + 5))
    instance = Instance.read(args.instance)
    misic, values, status, claimed, bound, nodes, used, version = PEERS[args.peer](instance, args.time_limit, args.gap)
    objective = None if values is None else instance.value(misic.leaves(values))
    finite = bound is not None and math.isfinite(bound) and abs(bound) < 1e19
    report = {
        "name": instance.name,
        "solver": version,
        "status": status,
        "objective": objective,
        "claimed": claimed,
        "bound": bound if finite else None,
        "nodes": int(nodes),
        "cpu_s": used,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
