//! Several trained models in one problem, and the smallest change that reaches a target.

use std::path::{Path, PathBuf};

use leafgp::problem::{Goal, Modelled, Variable};
use leafgp_models::{self as models, Goal as Direction, ModelError, NamedModel, Reach, Target};
use leafgp_solver::search::Status;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::document;
use crate::ensemble::{Ensemble, excluded, open, search_options};
use crate::failure::Failure;
use crate::value::{from_json, from_toml, point_to_json};
use crate::watched::watched;

/// A problem over trained models, its models, and the text of its file.
#[pyclass(frozen, module = "leafgp")]
#[derive(Debug)]
pub(crate) struct ModelProblem {
    stated: Modelled,
    models: Vec<(String, Py<Ensemble>)>,
    together: models::ModelProblem,
    text: String,
}

impl ModelProblem {
    /// Puts the models that the file names, those in `given` and else from their files, and all that it states together.
    fn new(
        py: Python<'_>,
        stated: Option<Modelled>,
        text: String,
        given: Vec<(String, Py<Ensemble>)>,
    ) -> PyResult<Self> {
        let Some(stated) = stated else {
            let message =
                "the problem has no [models]; expected trained models, by the names that expressions use";
            return Err(Failure::new("ProblemError", message).into());
        };
        let variables: Vec<_> = stated.variables().iter().map(Variable::in_expressions).collect();
        let (mut used, mut named) = (Vec::new(), Vec::new());
        for (i, entry) in stated.models().iter().enumerate() {
            let refuse = |error: ModelError| {
                let (message, file) = (error.to_string(), entry.file.display().to_string());
                let message = if message.contains(&file) { message } else { format!("{file}: {message}") };
                Failure::new("ModelError", stated.refuse_model(i, message).to_string())
            };
            let model = match given.iter().find(|(name, _)| *name == entry.name) {
                Some((_, model)) => model.clone_ref(py),
                None => Py::new(py, open(&entry.file, entry.class).map_err(refuse)?)?,
            };
            let ensemble = model.get().model().clone();
            let bound = NamedModel::bind(entry.name.as_str(), ensemble, &variables, entry.by_position);
            named.push(bound.map_err(refuse)?);
            used.push((entry.name.clone(), model));
        }
        let together = models::ModelProblem::new(variables, named).map_err(Failure::from)?;
        let together = together.stating(stated.stated()).map_err(Failure::from)?;
        Ok(Self { stated, models: used, together, text })
    }

    fn excluded(&self, fixed: &Bound<'_, PyAny>) -> PyResult<Vec<leafgp_solver::Region>> {
        excluded(self.stated.variables(), |name| self.stated.index_of(name), fixed)
    }
}

#[pymethods]
impl ModelProblem {
    /// Reads the text of a problem file; `file` is its name in messages, and its folder that of the models' files. Models that are given by name are not read.
    #[staticmethod]
    fn _from_toml(
        py: Python<'_>,
        text: String,
        file: PathBuf,
        models: Vec<(String, Py<Ensemble>)>,
    ) -> PyResult<Self> {
        let stated = Modelled::from_text(&file, &text).map_err(Failure::from)?;
        Self::new(py, stated, text, models)
    }

    /// Reads a problem file and the models that it names.
    #[staticmethod]
    fn _from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let stated = Modelled::from_file(&path).map_err(Failure::from)?;
        Self::new(py, stated, document::text_in(&path)?, Vec::new())
    }

    /// Writes the sections of a problem file and reads them.
    #[staticmethod]
    fn _from_document(
        py: Python<'_>,
        sections: &Bound<'_, PyDict>,
        models: Vec<(String, Py<Ensemble>)>,
    ) -> PyResult<Self> {
        let text = document::text_of(sections)?;
        let stated = Modelled::from_text(Path::new("problem"), &text).map_err(Failure::from)?;
        Self::new(py, stated, text, models)
    }

    /// The text of the problem file.
    fn to_toml(&self) -> &str {
        &self.text
    }

    /// The sections of the problem file.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_toml(py, &toml::Value::Table(document::sections(&self.text)?))
    }

    /// The models by name.
    fn _models(&self, py: Python<'_>) -> Vec<(String, Py<Ensemble>)> {
        self.models.iter().map(|(name, model)| (name.clone(), model.clone_ref(py))).collect()
    }

    #[getter]
    fn name(&self) -> &str {
        self.stated.name()
    }

    /// The objective's name.
    #[getter]
    fn objective(&self) -> &str {
        &self.stated.objective().name
    }

    /// What is optimised.
    #[getter]
    fn expression(&self) -> &str {
        &self.stated.objective().expr
    }

    #[getter]
    fn goal(&self) -> &'static str {
        if self.stated.goal() == Goal::Maximize { "maximize" } else { "minimize" }
    }

    /// The variables' names.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.stated.variables().iter().map(|variable| variable.name.as_str()).collect()
    }

    /// What is legal but probably not meant.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.stated.warnings().to_vec()
    }

    /// All settings, defaults filled in.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let settings = serde_json::to_value(self.stated.settings());
        from_json(py, &settings.map_err(|error| Failure::internal(error.to_string()))?)
    }

    /// The answer of `leafgp optimize FILE.toml`, and whether Ctrl-C came.
    fn _optimize<'py>(
        &self,
        py: Python<'py>,
        fixed: &Bound<'py, PyAny>,
        top: usize,
    ) -> PyResult<(Bound<'py, PyAny>, bool)> {
        let excluded = self.excluded(fixed)?;
        let goal = Direction::maximize_if(self.stated.goal() == Goal::Maximize);
        let optimum = watched(py, |context, _| {
            let options = search_options(self.stated.settings(), context, top);
            Ok(self.together.optimize(&self.stated.objective().expr, goal, &excluded, &options)?)
        })?;
        if optimum.result.status == Status::Infeasible {
            return Err(Failure::new("InfeasibleError", "the constraints leave no feasible point").into());
        }
        Ok((from_json(py, &optimum.result.to_json(&self.together))?, optimum.is_interrupted))
    }

    /// The answer of `leafgp reach`, and whether Ctrl-C came. `target`: the model's name, whether at least, and how much.
    fn _reach<'py>(
        &self,
        py: Python<'py>,
        from: &Bound<'py, PyAny>,
        costs: &Bound<'py, PyAny>,
        target: (&str, bool, f64),
        fixed: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, bool)> {
        let from = self.stated.point_from_json(&point_to_json(from)?).map_err(Failure::from)?;
        let mut weights = vec![1.0; from.len()];
        for (name, cost) in point_to_json(costs)? {
            let cost = cost.as_f64().filter(|cost| *cost >= 0.0);
            let (Some(index), Some(cost)) = (self.stated.index_of(&name), cost) else {
                let message = format!(
                    "costs: {name:?}; expected a number, not negative, for some of {}",
                    self.names().join(", ")
                );
                return Err(Failure::request(message).into());
            };
            weights[index] = cost;
        }
        let excluded = self.excluded(fixed)?;
        let (name, at_least, limit) = target;
        let Some(model) = self.models.iter().position(|(known, _)| known == name) else {
            let names: Vec<&str> = self.models.iter().map(|(name, _)| name.as_str()).collect();
            let message = format!("there is no model {name:?}; expected one of {}", names.join(", "));
            return Err(Failure::request(message).into());
        };
        let target = if at_least { Target::AtLeast(limit) } else { Target::AtMost(limit) };
        let reach = Reach { from: &from, weights: &weights, model, target };
        let outcome = watched(py, |context, _| {
            Ok(self.together.reach(&reach, &excluded, &search_options(self.stated.settings(), context, 1))?)
        })?;
        Ok((from_json(py, &outcome.result.to_json(&self.together, &from))?, outcome.is_interrupted))
    }
}
