//! Problems over predictions: lower bounds of the objective and of each row as sums of leaves, from what the problem states alone.

use leafgp_constraints::statement::{Comparison, Condition, GridRow, Number, NumberId, Statement};
use leafgp_constraints::{Domain, Range, Region};

use super::cells::{CellLeaf, VariableCells, leaves_of, range_of, variable_cells};
use super::forward::Forward;
use super::known::Known;
use super::need::Need;
use super::predictions::{enclose, whole_range};
use super::row::Row;
use super::terms::{Terms, least};
use super::values::Values;
use crate::forest::Node;
use crate::learned::{LeafSum, Learned, SumLink};
use crate::limit::LeafLimit;
use crate::objective::LeafObjective;
use crate::problem::Problem;

/// Halvings that place the limit of a sum behind a bent link.
const HALVINGS: usize = 100;

/// `constant + sum of the active leaves' numbers`, in exact arithmetic.
#[derive(Clone, Debug)]
pub(crate) struct LeafFunction {
    pub(crate) constant: f64,
    /// By leaf of the forest.
    pub(crate) linear: Vec<f64>,
    /// Whether it tells more than the range of one variable does: it has predictions, or functions of two variables.
    is_joint: bool,
}

/// Lower bounds of objective and rows that are sums of leaves.
#[derive(Clone, Debug)]
pub(crate) struct Relaxation {
    /// Nowhere above the objective.
    objective: LeafFunction,
    /// At most 0 at every feasible point whose objective is below the bound: of each row, and of each equality turned round.
    pub(crate) rows: Vec<[Option<LeafFunction>; 2]>,
}

/// A multiple of a row that the objective gets: below zero only of an equality.
pub(crate) type Multiplier = (u16, f64);

/// The number that is minimised: the last constraint of a system says that it is at most the last variable.
pub(crate) fn objective_number(statement: &Statement<'_>) -> Option<NumberId> {
    let last = statement.domains.len().checked_sub(1)?;
    match statement.conditions[statement.roots.last()?.0 as usize] {
        Condition::Compare(Comparison::LessEqual, a, b)
            if statement.numbers[b.0 as usize] == Number::Variable(last) =>
        {
            Some(a)
        }
        _ => None,
    }
}

/// Where a proof over predictions makes its claims: the variables' domains, what the predictions can be, and the largest objective below the bound, in the place of the
/// value: whatever lies below the bound is at most that.
pub(crate) fn domains_below(problem: &Problem<'_>, learned: &Learned<'_>, bound: f64) -> Vec<Domain> {
    let prediction = |sum: &LeafSum| {
        let values = enclose(sum, whole_range(sum, problem.forest()));
        Domain::Continuous { lower: values.low, upper: values.high }
    };
    let value = if bound.is_finite() { bound.next_down() } else { bound };
    let mut domains = problem.domains().to_vec();
    domains.extend(learned.sums.iter().map(prediction));
    domains.push(Domain::Continuous { lower: value, upper: value });
    domains
}

impl Relaxation {
    /// From the rows of the system's evaluation `forward`, within its boxes. `None` where the objective has no lower bound.
    pub(crate) fn new(problem: &Problem<'_>, learned: &Learned<'_>, forward: &Forward<'_>) -> Option<Self> {
        let builder = Builder::new(problem, learned, forward);
        let objective = objective_number(forward.statement())?;
        let objective = builder.function(builder.terms(&[(1.0, objective)])?)?;
        let rows = forward.rows.iter().map(|row| builder.row(row)).collect();
        Some(Self { objective, rows })
    }

    /// The objective with multiples of rows, which ascend. `None` where a multiplier does not fit its row.
    pub(crate) fn objective(&self, multipliers: &[Multiplier]) -> Option<LeafObjective> {
        // No row twice: a file does not decide how long this takes.
        if !multipliers.is_sorted_by(|(a, _), (b, _)| a < b) {
            return None;
        }
        let LeafFunction { mut constant, mut linear, .. } = self.objective.clone();
        for &(row, multiplier) in multipliers {
            let function = self.rows.get(usize::from(row))?[usize::from(multiplier < 0.0)].as_ref()?;
            let factor = multiplier.abs();
            constant = (constant + (factor * function.constant).next_down()).next_down();
            for (sum, a) in linear.iter_mut().zip(&function.linear).filter(|(_, a)| **a != 0.0) {
                *sum = (*sum + (factor * a).next_down()).next_down();
            }
        }
        let finite = constant.is_finite() && linear.iter().all(|c| c.is_finite());
        finite.then_some(LeafObjective { constant, linear, quadratic: None })
    }

    /// What the rows say of the leaves, where that is more than the variables' ranges do.
    pub(crate) fn limits(&self) -> Vec<LeafLimit> {
        let joint = self.rows.iter().flatten().flatten().filter(|function| function.is_joint);
        joint.map(LeafFunction::at_most_zero).collect()
    }
}

impl LeafFunction {
    fn at_most_zero(&self) -> LeafLimit {
        let coefficients = self.linear.iter().copied().enumerate().filter(|(_, a)| *a != 0.0).collect();
        LeafLimit { constant: self.constant, coefficients, lower: f64::NEG_INFINITY, upper: 0.0 }
    }

    fn is_finite(&self) -> bool {
        self.constant.is_finite() && self.linear.iter().all(|a| a.is_finite())
    }
}

/// A tree that splits one variable alone and has no part in a prediction: its leaves are the steps of functions of that variable.
///
/// Leaves of the forest, and the part of the variable that each stands for.
type Stairs = Vec<(usize, Range)>;

struct Builder<'a> {
    learned: &'a Learned<'a>,
    forward: &'a Forward<'a>,
    n_leaves: usize,
    /// Number of variables of a point.
    n: usize,
    whole: Region,
    known: Known,
    /// What each sum can be.
    sums: Vec<Values>,
    /// By variable.
    stairs: Vec<Option<Stairs>>,
}

impl<'a> Builder<'a> {
    fn new(problem: &Problem<'_>, learned: &'a Learned<'a>, forward: &'a Forward<'a>) -> Self {
        let whole = Region::full(forward.domains());
        let (known, _) = forward.known_and_forms(&forward.row_numbers, &whole);
        let forest = problem.forest();
        let sums = learned.sums.iter().map(|sum| whole_range(sum, forest)).collect();
        let n = problem.domains().len();
        let (n_leaves, stairs) = (forest.n_leaves(), stairs(problem, learned));
        Self { learned, forward, n_leaves, n, whole, known, sums, stairs }
    }

    fn row(&self, row: &Row) -> [Option<LeafFunction>; 2] {
        let statement = self.forward.statement();
        if let Some(grid) = statement.grid_rows.get(&row.condition) {
            // The steps are those of the comparison as it stands; a negation turns its sides.
            let swapped = match &statement.conditions[row.condition.0 as usize] {
                Condition::Compare(_, first, _) => *first != row.a,
                _ => false,
            };
            let sign = if swapped { -1.0 } else { 1.0 };
            let other = if row.equality.is_some() { self.steps(grid, -sign) } else { None };
            return [self.steps(grid, sign), other];
        }
        if statement.whole_rows.contains(&row.condition) && !row.exact {
            return [None, None];
        }
        let slack = self.forward.slack(row, &self.known);
        let (a, b) = (row.a, row.b);
        let at_most_zero = |sum: &[(f64, NumberId)]| {
            let mut terms = self.terms(sum)?;
            terms.lower_by(-slack);
            self.bent(&terms).or_else(|| self.function(terms))
        };
        let below = row.equality.and_then(|_| at_most_zero(&[(-1.0, a), (1.0, b)]));
        [at_most_zero(&[(1.0, a), (-1.0, b)]), below]
    }

    fn terms(&self, sum: &[(f64, NumberId)]) -> Option<Terms> {
        Terms::new(self.forward, &self.known, (self.n, self.learned.sums.len()), sum)
    }

    /// A lower bound of the terms' sum.
    fn function(&self, mut terms: Terms) -> Option<LeafFunction> {
        let link = |k: usize| self.learned.sums[k].link;
        let has_sums = terms.predictions.iter().any(|(k, _)| link(*k) == SumLink::Identity);
        let mut function = LeafFunction {
            constant: 0.0,
            linear: vec![0.0; self.n_leaves],
            is_joint: has_sums || terms.single.windows(2).any(|pair| pair[0].0 != pair[1].0),
        };
        for (k, coefficient) in std::mem::take(&mut terms.predictions) {
            let sum = &self.learned.sums[k];
            if sum.link == SumLink::Identity {
                terms.lower_by((coefficient * sum.constant).next_down());
                terms.lower_by(-(coefficient.abs() * sum.rounding).next_up());
                for (place, a) in function.linear.iter_mut().zip(&sum.linear).filter(|(_, a)| **a != 0.0) {
                    *place = (*place + (coefficient * a).next_down()).next_down();
                }
            } else {
                terms.lower_by(least(coefficient, enclose(sum, self.sums[k]))?);
            }
        }
        let single = std::mem::take(&mut terms.single);
        for v in 0..self.n {
            let of_variable: Vec<_> = single.iter().filter(|(variable, ..)| *variable == v).collect();
            if of_variable.is_empty() {
                continue;
            }
            let mut need = Need::of(self.forward.statement());
            of_variable.iter().for_each(|(.., id)| need.number(*id));
            let numbers = need.lists().0;
            let height = |known: &Known| {
                // Where a function is undefined nothing is feasible.
                let terms = of_variable.iter().filter(|(.., id)| !known.values(*id).is_none());
                terms
                    .map(|&&(_, coefficient, id)| least(coefficient, known.values(id)))
                    .try_fold(0.0f64, |sum, term| Some((sum + term?).next_down()))
            };
            match &self.stairs[v] {
                None => terms.lower_by(height(&self.known)?),
                Some(stairs) => {
                    let mut region = self.whole.clone();
                    for (leaf, range) in stairs {
                        region.0[v] = range.clone();
                        function.linear[*leaf] = height(&self.forward.known_and_forms(&numbers, &region).0)?;
                    }
                }
            }
        }
        function.constant = terms.constant;
        function.is_finite().then_some(function)
    }

    /// What "at most 0" says of the sum behind a single prediction with a bent link.
    fn bent(&self, terms: &Terms) -> Option<LeafFunction> {
        let ([(k, coefficient)], []) = (&terms.predictions[..], &terms.single[..]) else { return None };
        let (k, coefficient, constant) = (*k, *coefficient, terms.constant);
        let sum = &self.learned.sums[k];
        if coefficient == 0.0 || sum.link == SumLink::Identity {
            return None;
        }
        let rises = coefficient > 0.0;
        let limit = -constant / coefficient;
        let limit = if rises { limit.next_up() } else { limit.next_down() };
        // Whether no prediction from this sum, and so from none beyond it, is within the limit.
        let forbidden = |s: f64| {
            let values = enclose(sum, Values::point(s));
            if rises { values.low > limit } else { values.high < limit }
        };
        let Values { low, high } = self.sums[k];
        let (mut inside, mut outside) = if rises { (low, high) } else { (high, low) };
        if !forbidden(outside) {
            return None;
        }
        if forbidden(inside) {
            // Nothing is allowed.
            outside = if rises { low - (high - low + 1.0) } else { high + (high - low + 1.0) };
        } else {
            for _ in 0..HALVINGS {
                let middle = 0.5 * inside + 0.5 * outside;
                if forbidden(middle) { outside = middle } else { inside = middle }
            }
        }
        let sign = if rises { 1.0 } else { -1.0 };
        let function = LeafFunction {
            constant: (sign * (sum.constant - outside)).next_down(),
            linear: sum.linear.iter().map(|a| sign * a).collect(),
            is_joint: true,
        };
        function.is_finite().then_some(function)
    }

    /// `sign` times a row decided in whole steps.
    fn steps(&self, row: &GridRow, sign: f64) -> Option<LeafFunction> {
        let mut constant = (-sign * row.bound as f64).next_down();
        let mut linear = vec![0.0; self.n_leaves];
        for &(variable, scale, coefficient) in &row.terms {
            let height = |range: &Range| {
                let Range::Interval { lower, upper } = range else { return None };
                let at = |x: f64| sign * coefficient as f64 * (x * scale).round();
                let (a, b) = (at(*lower), at(*upper));
                // One rounding of the coefficient, one of the product.
                Some(a.min(b).next_down().next_down())
            };
            match &self.stairs[variable] {
                None => constant = (constant + height(&self.whole.0[variable])?).next_down(),
                Some(stairs) => {
                    for (leaf, range) in stairs {
                        linear[*leaf] = (linear[*leaf] + height(range)?).next_down();
                    }
                }
            }
        }
        let function = LeafFunction { constant, linear, is_joint: row.terms.len() > 1 };
        function.is_finite().then_some(function)
    }
}

/// The first tree of each variable that splits it alone and has no part in a prediction.
fn stairs(problem: &Problem<'_>, learned: &Learned<'_>) -> Vec<Option<Stairs>> {
    let forest = problem.forest();
    let mut stairs: Vec<Option<Stairs>> = problem.domains().iter().map(|_| None).collect();
    let mut cells: Option<Vec<VariableCells>> = None;
    for (t, tree) in forest.trees().iter().enumerate() {
        let mut splits = tree.nodes.iter().filter_map(|node| match node {
            Node::Split { feature, .. } => Some(*feature),
            Node::Leaf { .. } => None,
        });
        let Some(variable) = splits.next() else { continue };
        let leaves = forest.leaf_offset(t)..forest.leaf_offset(t + 1);
        let predicts = learned.sums.iter().any(|sum| sum.linear[leaves.clone()].iter().any(|a| *a != 0.0));
        if stairs[variable].is_some() || predicts || splits.any(|other| other != variable) {
            continue;
        }
        let cells = cells.get_or_insert_with(|| variable_cells(problem.domains(), forest, &problem.excluded));
        let part = |leaf: CellLeaf| {
            let on = leaf.on.iter().find(|(f, _)| *f == variable).map(|(_, on)| &on[..]);
            Some((leaf.leaf?, range_of(&cells[variable], on)))
        };
        stairs[variable] = Some(leaves_of(forest, t, cells).into_iter().filter_map(part).collect());
    }
    stairs
}
