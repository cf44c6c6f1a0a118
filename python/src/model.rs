//! Fitted models: predictions at points.

use leafgp::engine::{self, EngineError, Prediction, Surrogate};
use leafgp::problem::ValueError;
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::array::map_rows;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::watched::watched;

/// An array of numpy.
type Array<'py> = Bound<'py, PyArray1<f64>>;

/// The model that chooses the points, or the trees and their process.
#[derive(Debug)]
enum Fitted {
    Chooser(Box<engine::Model>),
    Trees(Box<Surrogate>),
}

impl Fitted {
    fn predict(&self, x: &[f64]) -> Result<Prediction, ValueError> {
        match self {
            Self::Chooser(model) => model.predict(x),
            Self::Trees(model) => model.predict(x),
        }
    }
}

/// A fitted model.
#[pyclass(frozen, module = "leafgp")]
#[derive(Debug)]
pub(crate) struct Model {
    problem: Py<Problem>,
    fitted: Fitted,
}

impl Model {
    /// Fits a model to the experiments of an optimiser.
    pub(crate) fn fit(
        py: Python<'_>,
        problem: Py<Problem>,
        optimizer: &engine::Optimizer,
        trees: bool,
    ) -> PyResult<Self> {
        let fit = || -> Result<Fitted, EngineError> {
            Ok(if trees {
                Fitted::Trees(Box::new(optimizer.surrogate()?))
            } else {
                Fitted::Chooser(Box::new(optimizer.model()?))
            })
        };
        let fitted = watched(py, |_, _| Ok(fit()?))?.result;
        Ok(Self { problem, fitted })
    }

    /// Mean and deviation at row `i` of what was given.
    fn prediction(&self, i: usize, x: &[f64]) -> Result<(f64, f64), Failure> {
        let refuse = |error: ValueError| Failure::point(format!("row {}: {error}", i + 1));
        self.fitted.predict(x).map(|prediction| (prediction.mean, prediction.std)).map_err(refuse)
    }
}

#[pymethods]
impl Model {
    /// Its name in sentences.
    #[getter]
    fn name(&self) -> &'static str {
        match &self.fitted {
            Fitted::Chooser(model) => model.name(),
            Fitted::Trees(_) => "trees' process",
        }
    }

    /// Means and deviations at points.
    fn _predict_points(
        &self,
        py: Python<'_>,
        points: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let points = self.problem.get().points(&points)?;
        let predict = |(i, x): (usize, &Vec<f64>)| self.prediction(i, x);
        let all = watched(py, |_, _| points.iter().enumerate().map(predict).collect::<Result<Vec<_>, _>>())?;
        Ok(all.result.into_iter().unzip())
    }

    /// Means and deviations at the rows of an array.
    fn _predict_array<'py>(
        &self,
        py: Python<'py>,
        array: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let rows = self.problem.get().rows(&array)?;
        let all = watched(py, |_, _| map_rows(rows, |i, x| self.prediction(i, x)))?;
        let (means, deviations) = all.result.into_iter().unzip();
        Ok((PyArray1::from_vec(py, means), PyArray1::from_vec(py, deviations)))
    }
}
