//! Trained ensembles of other libraries: predictions and proven optima.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use leafgp::engine::Context;
use leafgp::problem::{Settings, ValueError, Variable};
use leafgp_models::{
    self as models, ArrayCategories, ArrayEnsemble, ArrayTree, Binding, Column, Feature, FeatureKind, Goal,
    Link, ModelError, ReadOptions, Space, variables_from_table,
};
use leafgp_solver::search::Status;
use leafgp_solver::{Domain, Region, SearchOptions};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::array::{map_rows, view};
use crate::failure::Failure;
use crate::problem::Problem;
use crate::value::{from_json, point_to_json};
use crate::watched::watched;

/// A trained ensemble, exactly as its library predicts.
#[pyclass(frozen, module = "leafgp")]
#[derive(Debug)]
pub(crate) struct Ensemble {
    model: models::Ensemble,
}

impl Ensemble {
    pub(crate) fn model(&self) -> &models::Ensemble {
        &self.model
    }
}

fn options(class: Option<usize>) -> ReadOptions {
    class.map_or_else(ReadOptions::default, |class| ReadOptions::default().with_class(class))
}

/// A tree in arrays: left, right, feature, threshold, missing left, value, and by node the codes of a category and whether they go left.
type Arrays =
    (Vec<i64>, Vec<i64>, Vec<i64>, Vec<f64>, Vec<bool>, Vec<f64>, BTreeMap<usize, (Vec<usize>, bool)>);

#[pymethods]
impl Ensemble {
    /// Reads the content of a model file.
    #[staticmethod]
    #[pyo3(signature = (bytes, class_index=None))]
    fn _read(bytes: &[u8], class_index: Option<usize>) -> PyResult<Self> {
        let model = models::Ensemble::read(bytes, &options(class_index)).map_err(Failure::from)?;
        Ok(Self { model })
    }

    #[staticmethod]
    #[pyo3(signature = (path, class_index=None))]
    fn _open(path: PathBuf, class_index: Option<usize>) -> PyResult<Self> {
        let named = |error: ModelError| {
            let (message, name) = (error.to_string(), path.display().to_string());
            // Errors of the file itself name it already.
            Failure::new(
                "ModelError",
                if message.contains(&name) { message } else { format!("{name}: {message}") },
            )
        };
        Ok(open(&path, class_index).map_err(named)?)
    }

    /// Puts trees in arrays together. `features`: names, and of a category its labels (empty: it is known by its codes); `link` is `identity`, `exp`, or the scale of a logistic function.
    #[staticmethod]
    fn _from_arrays(
        features: Vec<(String, Option<Vec<String>>)>,
        trees: Vec<Arrays>,
        base: f64,
        weight: f64,
        kinds: (bool, bool),
        link: (String, f64),
    ) -> PyResult<Self> {
        let ((is_mean, is_single), (link, scale)) = (kinds, link);
        let link = match link.as_str() {
            "identity" => Link::Identity,
            "exp" => Link::Exp,
            "logistic" => Link::Logistic { scale },
            _ => return Err(Failure::internal(format!("no link {link:?}")).into()),
        };
        let feature = |(name, labels): (String, Option<Vec<String>>)| match labels {
            None => Feature::numeric(name),
            Some(labels) => {
                let labels = (!labels.is_empty()).then_some(labels);
                Feature { name, kind: FeatureKind::Categorical { labels }, range: None }
            }
        };
        let asked = |(listed, listed_left)| ArrayCategories { listed, listed_left };
        let tree = |(left, right, feature, threshold, missing_left, value, categories): Arrays| ArrayTree {
            left,
            right,
            feature,
            threshold,
            missing_left,
            value,
            categories: categories.into_iter().map(|(node, codes)| (node, asked(codes))).collect(),
        };
        let features = features.into_iter().map(feature).collect();
        let trees = trees.into_iter().map(tree).collect();
        let arrays = ArrayEnsemble { features, trees, base, weight, is_mean, is_single, link };
        Ok(Self { model: models::Ensemble::from_arrays(&arrays).map_err(Failure::from)? })
    }

    /// The ensemble as a file that is read again as the same, and whose bytes `_read` takes.
    fn _write<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.model.write())
    }

    /// The features: name, levels (of a category; `None` for a number, empty for a category known by its codes), range in the training data.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let feature = |feature: &models::Feature| {
            let levels = match &feature.kind {
                FeatureKind::Numeric => None,
                FeatureKind::Categorical { labels } => Some(labels.clone().unwrap_or_default()),
            };
            json!({ "name": feature.name, "levels": levels, "range": feature.range })
        };
        from_json(py, &self.model.features().iter().map(feature).collect())
    }

    #[getter]
    fn n_trees(&self) -> usize {
        self.model.n_trees()
    }

    #[getter]
    fn n_leaves(&self) -> usize {
        self.model.n_leaves()
    }

    /// Predictions at the rows of an array, a column for each feature: a category as its code, NaN for a missing value.
    fn _predict_array<'py>(
        &self,
        py: Python<'py>,
        array: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let names: Vec<&str> = self.model.features().iter().map(|feature| feature.name.as_str()).collect();
        let rows = view(&array, &names, "feature")?;
        let predictions = watched(py, |_, _| map_rows(rows, |_, x| Ok(self.model.predict(x))))?.result;
        Ok(PyArray1::from_vec(py, predictions))
    }

    /// Predictions at points `{name: value}`; a feature that is not there or `None` is missing.
    fn _predict_points(&self, points: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<f64>> {
        let point = |(i, point): (usize, &Bound<'_, PyAny>)| {
            let point = point_to_json(point)?;
            let wrong = |message: String| Failure::point(format!("row {}: {message}", i + 1));
            let value = |feature: &models::Feature| match point.get(&feature.name) {
                None => Ok(f64::NAN),
                Some(value) if feature.is_categorical() => {
                    let label = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let code = feature.code(&label);
                    code.map(|code| code as f64).ok_or_else(|| {
                        wrong(format!("{:?}: the model has no category {label:?}", feature.name))
                    })
                }
                Some(value) => value
                    .as_f64()
                    .or_else(|| value.as_bool().map(|truth| f64::from(u8::from(truth))))
                    .ok_or_else(|| wrong(format!("{:?} is {value}; expected a number", feature.name))),
            };
            let x: Vec<f64> = self.model.features().iter().map(value).collect::<Result<_, Failure>>()?;
            Ok(self.model.predict(&x))
        };
        points.iter().enumerate().map(point).collect()
    }

    /// What columns of text span, by feature: `[lower, upper]`, or the levels that occur in the order of their codes.
    fn _bounds<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<(String, Vec<String>)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let cells: Vec<Vec<&str>> =
            columns.iter().map(|(_, cells)| cells.iter().map(String::as_str).collect()).collect();
        let columns: Vec<Column<'_>> =
            columns.iter().zip(&cells).map(|((name, _), cells)| Column { name, cells }).collect();
        let variables = variables_from_table(&self.model, &columns).map_err(Failure::from)?;
        let bounds = variables.into_iter().map(|variable| {
            let (lower, upper) = variable.domain.bounds();
            let is_category = variable.domain.is_categorical();
            (variable.name, if is_category { json!(variable.level_names) } else { json!([lower, upper]) })
        });
        from_json(py, &Value::Object(bounds.collect()))
    }

    /// The answer of `leafgp optimize --problem`, and whether Ctrl-C came.
    fn _optimize<'py>(
        &self,
        py: Python<'py>,
        problem: &Problem,
        maximize: bool,
        fixed: &Bound<'py, PyAny>,
        by_position: bool,
        top: usize,
    ) -> PyResult<(Bound<'py, PyAny>, bool)> {
        let problem = problem.checked();
        let variables: Vec<_> = problem.variables().iter().map(Variable::in_expressions).collect();
        let bind = if by_position { Binding::by_position } else { Binding::by_name };
        let binding = bind(&self.model, &variables).map_err(Failure::from)?;
        let domains = problem.domains();
        let excluded = excluded(problem.variables(), |name| problem.index_of(name), fixed)?;
        let goal = Goal::maximize_if(maximize);
        let optimum = watched(py, |context, _| {
            let mut space = Space::new(&domains, &binding).excluding(&excluded);
            if !problem.constraints().is_empty() {
                space = space.with_constraints(problem.constraints());
            }
            Ok(self.model.optimize(&space, goal, &search_options(problem.settings(), context, top))?)
        })?;
        let found = &optimum.result;
        if found.status == Status::Infeasible {
            return Err(Failure::new("InfeasibleError", "the constraints leave no feasible point").into());
        }
        Ok((from_json(py, &found.to_json(&variables))?, optimum.is_interrupted))
    }
}

/// Reads a model file.
pub(crate) fn open(path: &Path, class: Option<usize>) -> Result<Ensemble, ModelError> {
    Ok(Ensemble { model: models::Ensemble::open(path, &options(class))? })
}

/// The search as the problem's settings have it.
pub(crate) fn search_options(settings: &Settings, context: &Context, top: usize) -> SearchOptions {
    let mut options = SearchOptions::default();
    options.gap = settings.solver.gap;
    options.time_limit = Some(Duration::from_secs_f64(settings.solver.time_limit));
    options.node_limit = settings.solver.node_limit;
    options.threads = settings.solver.thread_count();
    options.seed = settings.seed;
    options.interrupt.clone_from(&context.interrupt);
    options.k_best = top.max(1);
    options
}

/// The boxes that fixed values leave out.
pub(crate) fn excluded(
    variables: &[Variable],
    index_of: impl Fn(&str) -> Option<usize>,
    fixed: &Bound<'_, PyAny>,
) -> PyResult<Vec<Region>> {
    let domains: Vec<Domain> = variables.iter().map(Variable::domain).collect();
    let mut excluded = Vec::new();
    for (name, value) in point_to_json(fixed)? {
        let Some(index) = index_of(&name) else {
            let names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
            let names = names.join(", ");
            return Err(
                Failure::request(format!("there is no variable {name:?}; expected one of {names}")).into()
            );
        };
        let refuse = |error: ValueError| Failure::request(format!("{name} cannot be fixed: {error}"));
        let value = variables[index].from_json(&value).map_err(refuse)?;
        variables[index].check_offered(value).map_err(refuse)?;
        excluded.extend(Region::all_but(&domains, index, value));
    }
    Ok(excluded)
}
