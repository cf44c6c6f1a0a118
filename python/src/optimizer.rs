//! Ask and tell.

use std::sync::{Mutex, MutexGuard, PoisonError};

use leafgp::engine::{self, Answer, Context, LeftOut, Request};
use leafgp::history::{History, Outcome, Row};
use leafgp_study::campaign::{Campaign, page};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::model::Model;
use crate::plot;
use crate::problem::Problem;
use crate::value::{from_json, point_to_json};
use crate::watched::watched;

/// An optimiser. Threads may share it: what is computed is computed on a copy of what was told until then.
#[pyclass(frozen, module = "leafgp")]
#[derive(Debug)]
pub(crate) struct Optimizer {
    problem: Py<Problem>,
    engine: Mutex<engine::Optimizer>,
    /// What is legal in the history but should be known.
    warnings: Vec<String>,
}

impl Optimizer {
    /// Held for moments only, and never while Python is called.
    fn engine(&self) -> MutexGuard<'_, engine::Optimizer> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn copy(&self) -> engine::Optimizer {
        self.engine().clone()
    }

    fn record(&self, point: &Bound<'_, PyAny>, outcome: Outcome) -> PyResult<()> {
        let point = self.problem.get().point(point)?;
        Ok(self.engine().tell_outcome(&point, outcome).map_err(Failure::from)?)
    }

    fn request(
        &self,
        fixed: &Bound<'_, PyAny>,
        among: Option<&[Bound<'_, PyAny>]>,
        same: &[String],
    ) -> PyResult<Request> {
        let problem = self.problem.get().checked();
        let mut request = Request::default();
        for (name, value) in point_to_json(fixed)? {
            let Some(index) = problem.index_of(&name) else {
                // The engine says which names there are.
                request = request.fixed(name, 0.0);
                continue;
            };
            let variable = &problem.variables()[index];
            let read = variable.from_json(&value);
            let value = read.map_err(|error| Failure::request(format!("{name} cannot be fixed: {error}")))?;
            request = request.fixed(name, value);
        }
        for name in same {
            request = request.same(name);
        }
        if let Some(points) = among {
            request = request.among(self.problem.get().points(points)?);
        }
        Ok(request)
    }
}

#[pymethods]
impl Optimizer {
    /// Starts from the bytes of a history file.
    #[new]
    fn new(problem: Py<Problem>, history: &[u8]) -> PyResult<Self> {
        let checked = problem.get().checked();
        let history = History::from_bytes(history, checked).map_err(Failure::from)?;
        let warnings = history.warnings.clone();
        let engine = engine::Optimizer::with_history(checked.clone(), &history).map_err(Failure::from)?;
        Ok(Self { problem, engine: Mutex::new(engine), warnings })
    }

    #[getter]
    fn problem(&self, py: Python<'_>) -> Py<Problem> {
        self.problem.clone_ref(py)
    }

    /// Of the history that it started from.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The answer of `leafgp suggest`, with the note, the noise and the indices of `among` that were left out; whether Ctrl-C came.
    fn _ask<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        fixed: &Bound<'py, PyAny>,
        among: Option<Vec<Bound<'py, PyAny>>>,
        same: Vec<String>,
        flags: (bool, bool),
    ) -> PyResult<(Bound<'py, PyAny>, bool)> {
        let (pending, tree_excess) = flags;
        if n == 0 {
            return Err(Failure::request("n is 0; expected a whole number of at least 1").into());
        }
        let request = self.request(fixed, among.as_deref(), &same)?;
        let problem = self.problem.get().checked();
        let engine = self.copy();
        let answer = watched(py, |context, _| {
            let context = Context { tree_excess, ..context.clone() };
            Ok(engine.ask_for(&request, n, &context)?)
        })?;
        let Answer { suggestions, fewer_because, left_out, .. } = answer.result;
        if pending && !answer.is_interrupted {
            let mut engine = self.engine();
            for suggestion in &suggestions {
                engine.tell_outcome(&suggestion.point, Outcome::Pending).map_err(Failure::from)?;
            }
        }
        let told = suggestions.iter().map(|suggestion| {
            let mut told = suggestion.to_json(problem);
            told["note"] = json!(suggestion.note);
            told["noise"] = json!(suggestion.noise());
            told["promised_bound"] = json!(suggestion.proof.as_ref().map(|proof| proof.promised_bound));
            told
        });
        let answer_json = json!({
            "suggestions": told.collect::<Vec<_>>(),
            "fewer_because": fewer_because.map(|error| error.to_string()),
            "left_out": left_out.iter().map(|left| left.as_ref().map(reason)).collect::<Vec<_>>(),
        });
        Ok((from_json(py, &answer_json)?, answer.is_interrupted))
    }

    fn _tell(&self, point: &Bound<'_, PyAny>, value: f64) -> PyResult<()> {
        self.record(point, Outcome::Done(value))
    }

    /// Tells that an experiment gave no value.
    fn fail(&self, point: &Bound<'_, PyAny>) -> PyResult<()> {
        self.record(point, Outcome::Failed)
    }

    /// Tells that an experiment is planned or running.
    fn plan(&self, point: &Bound<'_, PyAny>) -> PyResult<()> {
        self.record(point, Outcome::Pending)
    }

    /// Takes back a planned experiment; false when there is none at the point.
    fn cancel(&self, point: &Bound<'_, PyAny>) -> PyResult<bool> {
        let point = self.problem.get().point(point)?;
        Ok(self.engine().cancel(&point).map_err(Failure::from)?)
    }

    fn __len__(&self) -> usize {
        self.engine().observations().len()
    }

    /// `{"point", "value", "row"}` of the best feasible experiment, the row from 1.
    fn _best<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (best, problem) = (self.engine().best(), self.problem.get().checked());
        let best = best.map(|best| {
            json!({ "point": problem.point_to_json(&best.point), "value": best.value, "row": best.row + 1 })
        });
        from_json(py, &best.unwrap_or(Value::Null))
    }

    /// The experiments: point, value, status (`done`, `pending`, `failed`), whether the row may be the best.
    fn _observations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows: Vec<Row> = self.engine().observations().to_vec();
        let problem = self.problem.get().checked();
        let row = |row: &Row| {
            let mut object = Map::new();
            let (value, status) = match row.outcome {
                Outcome::Done(value) => (Some(value), "done"),
                Outcome::Pending => (None, "pending"),
                Outcome::Failed => (None, "failed"),
            };
            object.insert("point".into(), Value::Object(problem.point_to_json(&row.point)));
            object.insert("value".into(), json!(value));
            object.insert("status".into(), json!(status));
            object.insert("feasible".into(), json!(!row.out_of_domain && !row.violates));
            Value::Object(object)
        };
        from_json(py, &rows.iter().map(row).collect())
    }

    fn _model(&self, py: Python<'_>, trees: bool) -> PyResult<Model> {
        Model::fit(py, self.problem.clone_ref(py), &self.copy(), trees)
    }

    /// What is proved of all feasible settings; `None` while there is too little data.
    fn _promise<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let engine = self.copy();
        let promise = watched(py, |context, _| Ok(engine.promise(context)?))?.result;
        let promise = promise.map(|promise| {
            json!({
                "bound": promise.bound, "kappa": promise.kappa, "best": promise.best, "gain": promise.gain(),
                "sentence": promise.sentence(),
            })
        });
        from_json(py, &promise.unwrap_or(Value::Null))
    }

    /// A chart as SVG.
    fn _plot(&self, py: Python<'_>, kind: &str, x: Option<&str>, y: Option<&str>) -> PyResult<String> {
        let engine = self.copy();
        Ok(watched(py, |_, _| plot::svg(&engine, kind, x, y))?.result)
    }

    /// The page of `leafgp report`.
    fn _report(&self, py: Python<'_>) -> PyResult<String> {
        let engine = self.copy();
        let page = watched(py, |context, _| Ok(page(&Campaign::new(engine, &[], context)?)))?;
        Ok(page.result)
    }
}

/// Why a candidate was left out.
fn reason(left_out: &LeftOut) -> String {
    match left_out {
        LeftOut::Infeasible(rules) => format!("not feasible: {}", rules.join(", ")),
        LeftOut::Taken => "holds an experiment already".to_owned(),
        LeftOut::NotFixed => "has other values than those fixed".to_owned(),
    }
}
