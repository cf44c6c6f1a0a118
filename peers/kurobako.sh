#!/usr/bin/env bash
# leafgp beside Optuna's multivariate TPE, judged by kurobako: the 56 functions of the suite `sigopt nonparametric`, 50 evaluations.
#
#     cargo install kurobako
#     python3 -m venv ~/kurobako && ~/kurobako/bin/pip install -r peers/requirements-kurobako.txt
#     PATH=~/kurobako/bin:$PATH peers/kurobako.sh target/release/leafgp target/kurobako [-- options of leafgp suggest]
#
# Both solvers get the same seeds, 301 and on. Each finished study is a line of the folder's studies.json, function by function, so that a run that was
# stopped has a table too (kurobako_report.py). REPEATS: studies of each function and solver (3). PARALLEL: studies at a time (1). PROBLEMS: a file of other
# problems of kurobako, one a line.
set -euo pipefail

leafgp=$(realpath "$1")
out=$2
here=$(realpath "$(dirname "$0")")
python=$(command -v python3)
mkdir -p "$out"
mapfile -t problems < <(if [ -n "${PROBLEMS:-}" ]; then cat "$PROBLEMS"; else kurobako problem-suite sigopt nonparametric; fi)
own=$(kurobako solver --name leafgp command "$python" "$here/kurobako_solver.py" "$leafgp" "${@:3}")
tpe=$(kurobako solver --name TPE command "$python" "$here/kurobako_tpe.py")

export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
kurobako studies --solvers "$own" "$tpe" --problems "${problems[@]}" --repeats "${REPEATS:-3}" --budget 50 --seed 301 |
  kurobako run --quiet --parallelism "${PARALLEL:-1}" >"$out/studies.json"
"$python" "$here/kurobako_report.py" "$out/studies.json"
