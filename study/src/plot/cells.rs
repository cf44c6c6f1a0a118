//! The axes of a surface: the cells of one variable, in which no tree changes its answer.

use std::collections::BTreeSet;

use leafgp_solver::{Domain, Forest, Node, Rule};

use super::axis::Scale;
use leafgp::problem::{Kind, Scale as VariableScale, Variable, format_number};

/// Up to this many allowed values each one is a cell of its own.
const MOST_VALUES: usize = 60;
/// Up to this many allowed values are drawn as bands of equal width, each with its label.
const MOST_BANDS: usize = 12;

/// The cells of one variable along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct CellAxis {
    pub(super) scale: Scale,
    /// Name and unit.
    pub(super) label: String,
    /// Borders of the cells, ascending, in the axis's coordinates: one more than cells.
    pub(super) edges: Vec<f64>,
    /// A value of the variable in each cell.
    values: Vec<f64>,
    /// On a band axis the allowed values, ascending.
    bands: Vec<f64>,
}

impl CellAxis {
    /// The cells that the forest's thresholds make of a variable; every allowed value its own cell where they are few, every level for a category.
    pub(super) fn new(variable: &Variable, feature: usize, forest: &Forest) -> Self {
        let label = match &variable.unit {
            Some(unit) => format!("{} [{unit}]", variable.name),
            None => variable.name.clone(),
        };
        let domain = variable.domain();
        if let Some(levels) = domain.levels() {
            let names = variable.levels().to_vec();
            return Self::banded(label, names, (0..levels).map(|i| i as f64).collect());
        }
        if let Some(values) = allowed_values(&domain) {
            if values.len() <= MOST_BANDS || matches!(variable.kind, Kind::Discrete(_)) {
                let names = values.iter().map(|&v| format_number(v)).collect();
                return Self::banded(label, names, values);
            }
            let edges = around(&values, variable.scale);
            let scale = scale_of(variable.scale, edges[0], edges[values.len()]);
            return Self { scale, label, edges, values, bands: Vec::new() };
        }
        let (lower, upper) = domain.bounds();
        let (mut edges, mut values) = (vec![lower], Vec::new());
        let inner = thresholds(forest, feature).into_iter().filter(|&t| lower <= t && t < upper);
        let mut from = lower;
        for edge in inner.chain([upper]) {
            // A cell is `(from, edge]`, the first one closed; one without an allowed value joins the next.
            let first = if values.is_empty() { from } else { from.next_up() };
            let middle = (0.5 * from + 0.5 * edge).clamp(first.min(edge), edge);
            if let Some(value) = domain.nearest(middle, first.min(edge), edge)
                && (edge > from || values.is_empty())
            {
                values.push(value);
                edges.push(edge);
            }
            from = edge;
        }
        if values.is_empty() {
            (edges, values) = (vec![lower, upper], vec![lower]);
        }
        *edges.last_mut().expect("there are two edges") = upper;
        let scale = scale_of(variable.scale, lower, upper);
        Self { scale, label, edges, values, bands: Vec::new() }
    }

    fn banded(label: String, names: Vec<String>, values: Vec<f64>) -> Self {
        let edges = (0..=values.len()).map(|i| i as f64 - 0.5).collect();
        Self { scale: Scale::Bands(names), label, edges, bands: values.clone(), values }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Never true: there is at least one cell.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// A value of the variable in each cell, ascending.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The cell that holds a value; the nearest one for a value outside.
    pub fn cell_of(&self, value: f64) -> usize {
        let at = self.coordinate(value);
        self.edges[1..self.len()].partition_point(|&edge| edge < at)
    }

    /// Whether the axis shows bands instead of a line of numbers.
    pub(super) fn is_banded(&self) -> bool {
        !self.bands.is_empty()
    }

    /// The axis's coordinate of a value: itself, or the nearest band's index.
    pub(super) fn coordinate(&self, value: f64) -> f64 {
        if self.bands.is_empty() {
            return value;
        }
        let distance = |i: &usize| (self.bands[*i] - value).abs();
        let nearest = (0..self.bands.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.unwrap_or(0) as f64
    }

    /// `n` values spread evenly over the axis and their borders, for what is not constant on cells; on an axis of allowed values these.
    pub(super) fn raster(&self, n: usize, is_discrete: bool) -> (Vec<f64>, Vec<f64>) {
        if self.is_banded() || is_discrete {
            return (self.values.clone(), self.edges.clone());
        }
        let (lower, upper) = (self.edges[0], self.edges[self.len()]);
        let at = |share: f64| match self.scale {
            Scale::Log { .. } => (lower.ln() + share * (upper.ln() - lower.ln())).exp().clamp(lower, upper),
            _ => (lower * (1.0 - share) + upper * share).clamp(lower, upper),
        };
        let values = (0..n).map(|i| at((i as f64 + 0.5) / n as f64)).collect();
        let edges = (0..=n).map(|i| at(i as f64 / n as f64)).collect();
        (values, edges)
    }
}

fn scale_of(scale: VariableScale, lower: f64, upper: f64) -> Scale {
    match scale {
        VariableScale::Log if lower > 0.0 => Scale::log_around(lower, upper, 0.0),
        _ => Scale::linear_around(lower, upper, 0.0),
    }
}

/// The allowed values, when they are few.
fn allowed_values(domain: &Domain) -> Option<Vec<f64>> {
    let mut values = Vec::new();
    match domain {
        Domain::Discrete(list) => return Some(list.clone()),
        Domain::Integer { .. } | Domain::Grid(_) => {
            let (lower, upper) = domain.bounds();
            let mut next = domain.ceil(lower);
            while let Some(value) = next.filter(|v| *v <= upper) {
                if values.len() == MOST_VALUES {
                    return None;
                }
                values.push(value);
                next = domain.ceil(value.next_up());
            }
        }
        Domain::Continuous { .. } | Domain::Categorical { .. } => return None,
    }
    Some(values).filter(|v| !v.is_empty())
}

/// Borders half way between values, and as far outside at the ends.
fn around(values: &[f64], scale: VariableScale) -> Vec<f64> {
    let log = scale == VariableScale::Log && values[0] > 0.0;
    let to = |v: f64| if log { v.ln() } else { v };
    let back = |v: f64| if log { v.exp() } else { v };
    let n = values.len();
    let mut edges = Vec::with_capacity(n + 1);
    edges.push(back(1.5 * to(values[0]) - 0.5 * to(values[1.min(n - 1)])));
    edges.extend(values.windows(2).map(|w| back(0.5 * to(w[0]) + 0.5 * to(w[1]))));
    edges.push(back(1.5 * to(values[n - 1]) - 0.5 * to(values[n.saturating_sub(2)])));
    edges
}

/// All thresholds on a variable, ascending.
fn thresholds(forest: &Forest, feature: usize) -> Vec<f64> {
    // The bits of non-negative numbers are ordered like the numbers; total_cmp orders all.
    let mut all: Vec<f64> = forest
        .trees()
        .iter()
        .flat_map(|tree| &tree.nodes)
        .filter_map(|node| match node {
            Node::Split { feature: f, rule: Rule::Threshold(t), .. } if *f == feature => Some(*t),
            _ => None,
        })
        .collect();
    all.sort_by(f64::total_cmp);
    let mut seen = BTreeSet::new();
    all.retain(|t| seen.insert(t.to_bits()));
    all
}

#[cfg(test)]
mod tests {
    use leafgp_solver::{Forest, Node, Rule, Tree};

    use super::CellAxis;
    use leafgp::problem::Variable;

    fn forest(variable: &Variable, thresholds: &[f64]) -> Forest {
        let stump = |&t: &f64| Tree {
            nodes: vec![
                Node::Split { feature: 0, rule: Rule::Threshold(t), left: 1, right: 2 },
                Node::Leaf { leaf: 0, value: 0.0 },
                Node::Leaf { leaf: 1, value: 1.0 },
            ],
        };
        Forest::new(thresholds.iter().map(stump).collect(), &[variable.domain()]).unwrap()
    }

    #[test]
    fn a_real_variable_has_the_cells_between_thresholds() {
        let variable = Variable::continuous("x", 0.0, 10.0).unit("m");
        let axis = CellAxis::new(&variable, 0, &forest(&variable, &[4.0, 2.0, 4.0, 12.0]));
        assert_eq!(axis.edges, [0.0, 2.0, 4.0, 10.0]);
        assert_eq!(axis.values(), [1.0, 3.0, 7.0]);
        assert_eq!(axis.label, "x [m]");
        // A threshold belongs to the cell on its left.
        assert_eq!([0.0, 2.0, 2.1, 4.0, 4.1, 99.0].map(|v| axis.cell_of(v)), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn few_values_are_bands_and_many_are_cells_around_each_value() {
        let variable = Variable::integer("n", 1, 3);
        let axis = CellAxis::new(&variable, 0, &forest(&variable, &[1.5]));
        assert_eq!((axis.len(), axis.is_banded()), (3, true));
        assert_eq!(axis.edges, [-0.5, 0.5, 1.5, 2.5]);
        assert_eq!(axis.coordinate(2.0), 1.0);
        let variable = Variable::integer("n", 1, 40);
        let axis = CellAxis::new(&variable, 0, &forest(&variable, &[1.5]));
        assert_eq!((axis.len(), axis.is_banded()), (40, false));
        assert_eq!((axis.edges[0], axis.edges[1], axis.edges[40]), (0.5, 1.5, 40.5));
        let variable = Variable::integer("n", 1, 1_000_000);
        let axis = CellAxis::new(&variable, 0, &forest(&variable, &[500.5, 500.7]));
        assert_eq!(axis.len(), 2, "no whole number lies between the thresholds");
        assert!(axis.values().iter().all(|v| v.fract() == 0.0));
    }

    #[test]
    fn categories_and_lists_are_bands_with_their_names() {
        let variable = Variable::categorical("c", ["red", "blue"]);
        let axis = CellAxis::new(&variable, 0, &Forest::new(vec![], &[variable.domain()]).unwrap());
        assert_eq!(axis.values(), [0.0, 1.0]);
        let variable = Variable::discrete("dose", [0.0, 12.0, 48.0]);
        let axis = CellAxis::new(&variable, 0, &forest(&variable, &[20.0]));
        assert_eq!(axis.values(), [0.0, 12.0, 48.0]);
        assert_eq!(axis.coordinate(47.0), 2.0);
    }

    #[test]
    fn a_log_axis_keeps_arithmetic_thresholds() {
        let variable = Variable::continuous("rate", 1e-5, 1e-1).log();
        let axis = CellAxis::new(&variable, 0, &forest(&variable, &[0.01]));
        assert_eq!(axis.edges, [1e-5, 0.01, 1e-1]);
        assert!(matches!(axis.scale, super::Scale::Log { .. }));
        let (values, edges) = axis.raster(4, false);
        assert!((values[2] / 10f64.powf(-2.5) - 1.0).abs() < 1e-9, "{values:?} {edges:?}");
    }
}
