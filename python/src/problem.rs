//! Problems: descriptions of Python, problem files, and points.

use std::path::{Path, PathBuf};

use leafgp::history::{Judgement, judge};
use leafgp::problem::Problem as Checked;
use leafgp_solver::constraints::Tolerance;
use numpy::ndarray::ArrayView2;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::array::{map_rows, view};
use crate::document;
use crate::failure::Failure;
use crate::value::{from_json, from_toml, point_to_json};

/// A checked problem and the text of its file.
#[pyclass(frozen, module = "leafgp")]
#[derive(Debug)]
pub(crate) struct Problem {
    checked: Checked,
    text: String,
}

impl Problem {
    pub(crate) fn checked(&self) -> &Checked {
        &self.checked
    }

    pub(crate) fn point(&self, point: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let point = point_to_json(point)?;
        Ok(self.checked.point_from_json(&point).map_err(Failure::from)?)
    }

    pub(crate) fn points(&self, points: &[Bound<'_, PyAny>]) -> PyResult<Vec<Vec<f64>>> {
        let numbered = |(i, point)| {
            let point = point_to_json(point)?;
            let read = self.checked.point_from_json(&point);
            Ok(read.map_err(|error| Failure::point(format!("row {}: {error}", i + 1)))?)
        };
        points.iter().enumerate().map(numbered).collect()
    }

    /// The rows of an array, a column for each variable, a category as its level index.
    pub(crate) fn rows<'a>(
        &self,
        array: &'a PyReadonlyArray2<'_, f64>,
    ) -> Result<ArrayView2<'a, f64>, Failure> {
        view(array, &self.names(), "variable")
    }
}

#[pymethods]
impl Problem {
    /// Reads the text of a problem file; `file` is its name in messages.
    #[staticmethod]
    fn _from_toml(text: String, file: PathBuf) -> PyResult<Self> {
        let checked = Checked::from_text(&file, &text).map_err(Failure::from)?;
        Ok(Self { checked, text })
    }

    #[staticmethod]
    fn _from_file(path: PathBuf) -> PyResult<Self> {
        let checked = Checked::from_file(&path).map_err(Failure::from)?;
        Ok(Self { checked, text: document::text_in(&path)? })
    }

    /// Writes the sections of a problem file and reads them.
    #[staticmethod]
    fn _from_document(sections: &Bound<'_, PyDict>) -> PyResult<Self> {
        let text = document::text_of(sections)?;
        let checked = Checked::from_text(Path::new("problem"), &text).map_err(Failure::from)?;
        Ok(Self { checked, text })
    }

    /// The text of the problem file.
    fn to_toml(&self) -> &str {
        &self.text
    }

    /// The sections of the problem file.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_toml(py, &toml::Value::Table(document::sections(&self.text)?))
    }

    #[getter]
    fn name(&self) -> &str {
        self.checked.name()
    }

    /// The objective's column.
    #[getter]
    fn objective(&self) -> &str {
        &self.checked.objective().name
    }

    /// `minimize`, `maximize`, or the target.
    #[getter]
    fn goal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        use leafgp::problem::Goal;
        let goal = match self.checked.objective().goal {
            Goal::Minimize => Value::from("minimize"),
            Goal::Maximize => Value::from("maximize"),
            Goal::Target(target) => Value::from(target),
        };
        from_json(py, &goal)
    }

    /// The variables' names, in the order of arrays' columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.checked.variables().iter().map(|variable| variable.name.as_str()).collect()
    }

    /// What is legal but probably not meant.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.checked.warnings().to_vec()
    }

    /// All settings, defaults filled in.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let settings = serde_json::to_value(self.checked.settings());
        from_json(py, &settings.map_err(|error| Failure::internal(error.to_string()))?)
    }

    /// What keeps a point from being feasible, judged like a row of a history: names of variables and constraints with the amount, `None` where there is none.
    fn violations(&self, point: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Option<f64>)>> {
        let point = self.point(point)?;
        let Judgement { outside, beside, .. } = judge(&self.checked, &point);
        let variable = |(i, distance): (usize, f64)| (self.checked.variables()[i].name.clone(), distance);
        let rules = self.checked.constraints().violations(&point, Tolerance::Judge);
        let rule =
            rules.into_iter().map(|v| (self.checked.constraints().name(v.constraint).to_owned(), v.amount));
        let all = outside.into_iter().chain(beside).map(variable).chain(rule);
        Ok(all.map(|(name, amount)| (name, amount.is_finite().then_some(amount))).collect())
    }

    /// Points as the rows of an array: a category as its level index.
    fn _to_array<'py>(
        &self,
        py: Python<'py>,
        points: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let points = self.points(&points)?;
        if points.is_empty() {
            return Ok(PyArray2::zeros(py, [0, self.checked.variables().len()], false));
        }
        PyArray2::from_vec2(py, &points).map_err(|error| Failure::internal(error.to_string()).into())
    }

    /// The rows of an array as points.
    fn _from_array<'py>(
        &self,
        py: Python<'py>,
        array: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let points = map_rows(self.rows(&array)?, |_, row| {
            self.checked.check_point(row)?;
            Ok(Value::Object(self.checked.point_to_json(row)))
        })?;
        from_json(py, &Value::Array(points))
    }
}
