//! What the model says over two variables, the others fixed.

use leafgp_solver::constraints::Tolerance;

use super::cells::CellAxis;
use super::contour::Field;
use crate::functions::Benchmark;
use leafgp::engine::{EngineError, Surrogate};
use leafgp::history::Row;
use leafgp::problem::{Goal, Problem};

/// Steps along each axis at which constraints are judged, and the true function is evaluated for its contours.
const RASTER: usize = 160;
const CONTOUR_NODES: usize = 81;

/// Mean, standard deviation and acquisition over two variables of a problem: one value for each cell of the forest, which is exact, because the model is constant there.
#[derive(Clone, Debug)]
pub struct Surface {
    /// The cells of the horizontal variable.
    pub x: CellAxis,
    /// The cells of the vertical variable.
    pub y: CellAxis,
    /// Predicted objective in its units and direction, `[n_y][n_x]`: cell `(i, j)` at `j * x.len() + i`.
    pub mean: Vec<f64>,
    /// Standard deviation of the prediction, in the objective's units.
    pub std: Vec<f64>,
    /// `mu - kappa * sigma` in standardised minimisation units: smaller is better.
    pub acquisition: Vec<f64>,
    pub(super) kappa: f64,
    pub(super) objective: String,
    pub(super) goal: Goal,
    /// Parts of the plane that break a constraint.
    pub(super) infeasible: Option<Mask>,
    /// The true function at the nodes of a raster.
    pub(super) truth: Option<Truth>,
    /// The point through which the plane goes: what is fixed, for the caption.
    pub(super) fixed: String,
}

/// Cells of a raster that break a constraint.
#[derive(Clone, Debug)]
pub(super) struct Mask {
    pub(super) x_edges: Vec<f64>,
    pub(super) y_edges: Vec<f64>,
    /// `[n_y][n_x]`.
    pub(super) out: Vec<bool>,
}

/// The true function.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) field: Field,
}

impl Surface {
    /// Fits the model to the experiments and evaluates it on the plane through `at` (in variable order) along the variables `x` and `y` (indices). Pending experiments
    /// are believed, as for a suggestion. Inactive variables take their inactive values.
    ///
    /// # Errors
    /// Fewer than two measured rows; what the trainer and the process refuse.
    ///
    /// # Panics
    /// When `x` and `y` are equal or no variables, or `at` has another length than the variables.
    pub fn new(problem: &Problem, rows: &[Row], x: usize, y: usize, at: &[f64]) -> Result<Self, EngineError> {
        let n_measured = rows.iter().filter(|row| row.value().is_some()).count();
        if n_measured < 2 {
            let message = format!("a surface needs at least 2 measured rows; there are {n_measured}");
            return Err(EngineError::BadObservation { message });
        }
        Self::of(&Surrogate::of(problem, rows)?, x, y, at)
    }

    /// [`Surface::new`] for a fitted model.
    ///
    /// # Errors
    /// A coordinate of `at` that is not finite or no level.
    ///
    /// # Panics
    /// As [`Surface::new`].
    pub fn of(surrogate: &Surrogate, x: usize, y: usize, at: &[f64]) -> Result<Self, EngineError> {
        let problem = surrogate.problem();
        assert!(x != y, "two different variables");
        assert_eq!(at.len(), problem.variables().len(), "one coordinate for each variable");
        let forest = &surrogate.trees().forest;
        let x_axis = CellAxis::new(&problem.variables()[x], x, forest);
        let y_axis = CellAxis::new(&problem.variables()[y], y, forest);
        let plane = Plane { problem, x, y, at };
        let n = x_axis.len() * y_axis.len();
        let (mut mean, mut std, mut acquisition) =
            (Vec::with_capacity(n), Vec::with_capacity(n), Vec::with_capacity(n));
        let scale = surrogate.scale();
        for &v in y_axis.values() {
            for &u in x_axis.values() {
                let at_cell = surrogate.evaluate(&plane.point(u, v))?;
                mean.push(scale.mean(at_cell.mean));
                std.push(scale.deviation(at_cell.deviation));
                acquisition.push(at_cell.value);
            }
        }
        let fixed: Vec<String> = (0..at.len())
            .filter(|&i| i != x && i != y)
            .map(|i| {
                let variable = &problem.variables()[i];
                format!("{} = {}", variable.name, variable.format_value(at[i]))
            })
            .collect();
        let infeasible = plane.infeasible(&x_axis, &y_axis);
        Ok(Self {
            mean,
            std,
            acquisition,
            kappa: problem.settings().kappa,
            objective: problem.objective().modelled_name(),
            goal: problem.objective().goal,
            infeasible,
            truth: None,
            fixed: fixed.join(", "),
            x: x_axis,
            y: y_axis,
        })
    }

    /// Adds contour lines of the true function; none along axes of bands.
    #[must_use]
    pub fn with_truth(
        mut self,
        problem: &Problem,
        function: &Benchmark,
        x: usize,
        y: usize,
        at: &[f64],
    ) -> Self {
        if self.x.is_banded() || self.y.is_banded() {
            return self;
        }
        let plane = Plane { problem, x, y, at };
        // The borders of a raster: corner to corner.
        let (_, nodes_x) = self.x.raster(CONTOUR_NODES - 1, false);
        let (_, nodes_y) = self.y.raster(CONTOUR_NODES - 1, false);
        let values = nodes_y
            .iter()
            .flat_map(|&v| nodes_x.iter().map(move |&u| (u, v)))
            .map(|(u, v)| function.evaluate(&plane.point(u, v)))
            .collect();
        let field = Field { n_x: nodes_x.len(), n_y: nodes_y.len(), values };
        self.truth = Some(Truth { x: nodes_x, y: nodes_y, field });
        self
    }
}

/// The plane through a point along two variables.
struct Plane<'a> {
    problem: &'a Problem,
    x: usize,
    y: usize,
    at: &'a [f64],
}

impl Plane<'_> {
    fn point(&self, u: f64, v: f64) -> Vec<f64> {
        let mut point = self.at.to_vec();
        (point[self.x], point[self.y]) = (u, v);
        self.problem.constraints().deactivate(&mut point);
        point
    }

    fn infeasible(&self, x: &CellAxis, y: &CellAxis) -> Option<Mask> {
        if self.problem.constraints().is_empty() {
            return None;
        }
        let is_discrete = |i: usize| self.problem.variables()[i].domain().is_discrete();
        let (xs, x_edges) = x.raster(RASTER, is_discrete(self.x));
        let (ys, y_edges) = y.raster(RASTER, is_discrete(self.y));
        let out: Vec<bool> = ys
            .iter()
            .flat_map(|&v| xs.iter().map(move |&u| (u, v)))
            .map(|(u, v)| !self.problem.constraints().is_feasible(&self.point(u, v), Tolerance::Judge))
            .collect();
        out.contains(&true).then_some(Mask { x_edges, y_edges, out })
    }
}

#[cfg(test)]
mod tests {
    use super::Surface;
    use crate::functions;
    use leafgp::engine::Surrogate;
    use leafgp::history::{Outcome, Row};
    use leafgp::problem::{Problem, Variable};

    fn rows(problem: &Problem, n: usize, f: impl Fn(&[f64]) -> f64) -> Vec<Row> {
        let full = leafgp_solver::Region::full(&problem.domains());
        let mut rng = leafgp::engine::stream(7, leafgp::engine::Purpose::Initial, 0);
        (0..n)
            .map(|_| {
                let point = leafgp::engine::uniform(problem, &full, &mut rng);
                Row::new(problem, &point, Outcome::Done(f(&point))).unwrap()
            })
            .collect()
    }

    #[test]
    fn the_cells_hold_the_models_predictions_everywhere_inside() {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("a", -1.0, 2.0))
            .variable(Variable::categorical("c", ["u", "v", "w"]))
            .variable(Variable::continuous("rate", 1e-4, 1.0).log())
            .variable(Variable::integer("n", 0, 30))
            .build()
            .unwrap();
        let observations = rows(&problem, 40, |x| x[0] * x[0] + x[1] - x[2].ln() + 0.1 * x[3]);
        let surrogate = Surrogate::of(&problem, &observations).unwrap();
        let at = [0.3, 1.0, 0.01, 12.0];
        let full = leafgp_solver::Region::full(&problem.domains());
        let mut rng = leafgp::engine::stream(8, leafgp::engine::Purpose::Sample, 0);
        for (x, y) in [(0, 2), (2, 0), (1, 3), (3, 0), (0, 1)] {
            let surface = Surface::new(&problem, &observations, x, y, &at).unwrap();
            assert_eq!(surface.mean.len(), surface.x.len() * surface.y.len());
            for _ in 0..200 {
                let drawn = leafgp::engine::uniform(&problem, &full, &mut rng);
                let mut point = at.to_vec();
                (point[x], point[y]) = (drawn[x], drawn[y]);
                let cell = surface.y.cell_of(point[y]) * surface.x.len() + surface.x.cell_of(point[x]);
                let expected = surrogate.predict(&point).unwrap();
                assert_eq!(surface.mean[cell], expected.mean, "{point:?}");
                assert_eq!(surface.std[cell], expected.std);
                let posterior = surrogate.process().posterior(&point);
                assert_eq!(surface.acquisition[cell], posterior.mean - 1.96 * posterior.deviation());
            }
        }
    }

    #[test]
    fn the_mask_is_where_constraints_break() {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("a", 0.0, 1.0))
            .variable(Variable::continuous("b", 0.0, 1.0))
            .constraint("sum", "a + b <= 1")
            .build()
            .unwrap();
        let observations = rows(&problem, 10, |x| x[0]);
        let surface = Surface::new(&problem, &observations, 0, 1, &[0.0, 0.0]).unwrap();
        let mask = surface.infeasible.unwrap();
        let n = mask.x_edges.len() - 1;
        let share = mask.out.iter().filter(|&&out| out).count() as f64 / (n * n) as f64;
        assert!((share - 0.5).abs() < 0.01, "{share}");
        assert!(!mask.out[0] && mask.out[n * n - 1]);
    }

    #[test]
    fn a_model_needs_two_rows() {
        let problem = functions::find("branin").unwrap().problem().unwrap();
        let observations = rows(&problem, 1, |x| x[0]);
        assert!(Surface::new(&problem, &observations, 0, 1, &[0.0, 0.0]).is_err());
    }
}
