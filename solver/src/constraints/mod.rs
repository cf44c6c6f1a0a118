//! Known constraints: checked, propagated, decided, projected, explained.

mod builder;
mod cycle;
mod design;
mod explain;
mod local;
mod metric;
mod model;
mod pool;
mod propagate;
mod relax;
mod search;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rand::Rng;

pub use builder::ConstraintsBuilder;
use design::Design;
pub use explain::Denominator;
use model::Model;
use pool::Pool;
pub use propagate::Propagator;
use search::Search;

use crate::domain::Domain;
use crate::expr::{Condition, ConditionId, Evaluation, GridRow, Number, Program, Settings, Verdict};
use crate::region::{Range, Region};

/// A variable as expressions see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name used in expressions (in backquotes when it is no bare identifier).
    pub name: String,
    /// Its allowed values.
    pub domain: Domain,
    /// Names of the levels, `[levels]`; empty for numbers.
    pub level_names: Vec<String>,
}

/// An expression that was refused: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// What is wrong and what was expected.
    pub message: String,
    /// Byte range of the offending part within the expression.
    pub span: std::ops::Range<usize>,
}

/// Which of the three tolerances a check uses (inequalities and equalities; `<`, `>`, `!=` and categories are always exact).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// For points leafgp prints: inequalities in plain f64, equalities within `1e-9 * max(1, |lhs|, |rhs|)`.
    Produce,
    /// For rows a user brings: within `1e-6 * max(1, |lhs|, |rhs|)`.
    Judge,
}

impl Tolerance {
    fn settings(self) -> Settings {
        match self {
            Self::Produce => Settings::PRODUCE,
            Self::Judge => Settings::JUDGE,
        }
    }
}

/// One violated constraint at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Index of the constraint.
    pub constraint: usize,
    /// By how much, in the constraint's own units; infinite when it is undefined there or logical.
    pub amount: f64,
}

/// Limits of a decision or projection.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Largest number of search nodes.
    pub nodes: usize,
    /// When to stop at the latest.
    pub deadline: Option<Instant>,
    /// Ends the work soon after it becomes true.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// True when the clock or the user asks to stop.
    pub(crate) fn must_stop(&self) -> bool {
        self.is_interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 10_000, deadline: None, interrupt: None }
    }
}

/// Whether a box holds a feasible point.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// A point feasible at [`Tolerance::Produce`].
    Feasible(Vec<f64>),
    /// Proved: there is none.
    Infeasible,
    /// Not decided within the limits, and why.
    Undecided(String),
}

/// The nearest feasible point of a box.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The best point found and its distance, see [`Constraints::project`]; `None` when none was found.
    pub nearest: Option<(Vec<f64>, f64)>,
    /// No feasible point of the box is nearer than this; infinite when the box is proved infeasible.
    pub bound: f64,
    /// Search nodes used.
    pub nodes: usize,
}

/// A compiled set of known constraints over mixed variables.
#[derive(Clone, Debug)]
pub struct Constraints {
    domains: Vec<Domain>,
    program: Program,
    names: Vec<String>,
    roots: Vec<ConditionId>,
    hierarchy: Vec<Hierarchy>,
    model: Model,
    pool: Pool,
}

/// What a set of constraints states, as plain data: every feasible point lies in the domains and makes each root hold at [`Tolerance::Produce`]. A variable
/// that exists only under a condition is a root like any other.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// The variables' domains.
    pub domains: &'a [Domain],
    /// Operations; operands come before their users.
    pub numbers: &'a [Number],
    /// Conditions; operands come before their users.
    pub conditions: &'a [Condition],
    /// Comparisons that are decided in whole steps.
    pub grid_rows: &'a BTreeMap<ConditionId, GridRow>,
    /// One condition for each constraint.
    pub roots: &'a [ConditionId],
}

/// A variable that exists only under a condition.
#[derive(Clone, Debug)]
struct Hierarchy {
    variable: usize,
    condition: ConditionId,
    inactive_value: f64,
    /// Number of the constraint that says so.
    constraint: usize,
}

impl Constraints {
    /// True when every point of the domains is feasible: no constraint, no define that must be whole, no hierarchy.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// What the set states, as plain data.
    pub fn statement(&self) -> Statement<'_> {
        Statement {
            domains: &self.domains,
            numbers: &self.program.numbers,
            conditions: &self.program.conditions,
            grid_rows: &self.program.grid_rows,
            roots: &self.roots,
        }
    }

    /// Number of constraints (each user constraint, each whole-valued define, each `active_if`), in the order they were added.
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// The constraint's name as the user gave it; for a whole-valued define and for `active_if`, a phrase that names it.
    ///
    /// # Panics
    /// When there is no such constraint.
    pub fn name(&self, constraint: usize) -> &str {
        &self.names[constraint]
    }

    /// The variables' domains.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// The constraints violated at a point whose coordinates lie in their domains, in their order.
    pub fn violations(&self, x: &[f64], tolerance: Tolerance) -> Vec<Violation> {
        let mut evaluation = Evaluation::default();
        let settings = tolerance.settings();
        evaluation.run(&self.program, x, settings);
        let verdicts =
            self.roots.iter().map(|&root| evaluation.verdict(&self.program, root, false, settings));
        verdicts
            .enumerate()
            .filter_map(|(constraint, verdict)| match verdict {
                Verdict::Holds => None,
                Verdict::Fails(amount) => Some(Violation { constraint, amount }),
            })
            .collect()
    }

    /// True when the point lies in the domains and violates nothing.
    pub fn is_feasible(&self, x: &[f64], tolerance: Tolerance) -> bool {
        self.is_feasible_in(&mut Evaluation::default(), x, tolerance)
    }

    /// The same in a work space.
    fn is_feasible_in(&self, evaluation: &mut Evaluation, x: &[f64], tolerance: Tolerance) -> bool {
        if !self.domains.iter().zip(x).all(|(d, &v)| d.contains(v)) {
            return false;
        }
        let settings = tolerance.settings();
        evaluation.run(&self.program, x, settings);
        self.roots.iter().all(|&root| evaluation.verdict(&self.program, root, false, settings).holds())
    }

    /// True unless the variable is hierarchical and its condition is false (or undefined) at the point.
    pub fn is_active(&self, variable: usize, x: &[f64]) -> bool {
        let mut parents = self.hierarchy.iter().filter(|h| h.variable == variable).peekable();
        if parents.peek().is_none() {
            return true;
        }
        let mut evaluation = Evaluation::default();
        evaluation.run(&self.program, x, Settings::PRODUCE);
        parents.all(|h| evaluation.decided(&self.program, h.condition, Settings::PRODUCE) == Some(true))
    }

    /// Writes the inactive value into each inactive variable of a point. A variable whose condition reads another inactive variable
    /// follows it.
    pub fn deactivate(&self, x: &mut [f64]) {
        let mut evaluation = Evaluation::default();
        let given = x.to_vec();
        // Each pass settles at least one more level of the hierarchy; a cyclic one must end too. A pass starts from the given values, so
        // that a variable judged by a parent's stale value gets its own back.
        for _ in 0..=self.hierarchy.len() {
            evaluation.run(&self.program, x, Settings::PRODUCE);
            let mut next = given.clone();
            for h in &self.hierarchy {
                if evaluation.decided(&self.program, h.condition, Settings::PRODUCE) != Some(true) {
                    next[h.variable] = h.inactive_value;
                }
            }
            if next == x {
                break;
            }
            x.copy_from_slice(&next);
        }
    }

    /// Shrinks a box without losing a feasible point; false when it is proved to hold none.
    #[must_use]
    pub fn contract(&self, region: &mut Region) -> bool {
        self.pool.with(self, |work| work.propagator.contract(self, region, None))
    }

    /// Decides whether a box holds a feasible point.
    pub fn decide(&self, region: &Region, limits: Limits) -> Decision {
        let centre: Vec<f64> = region.0.iter().map(middle).collect();
        self.pool.with(self, |work| Search::new(self, work, &centre, limits, true).decision(region))
    }

    /// The feasible point of a box nearest to `centre` in `sum ((x_i - c_i) / range_i)^2 + number of changed categories`, to a relative
    /// `gap` (Eq. 11).
    pub fn project(&self, region: &Region, centre: &[f64], gap: f64, limits: Limits) -> Projection {
        let finite = |(&c, range): (&f64, &Range)| if c.is_finite() { c } else { middle(range) };
        let centre: Vec<f64> = centre.iter().zip(&region.0).map(finite).collect();
        self.pool.with(self, |work| Search::new(self, work, &centre, limits, false).projection(region, gap))
    }

    /// The same point in short decimals: continuous coordinates are rounded to about four digits of their range (or of their value, where
    /// that is finer), to more digits where the constraints or the box need them. Feasible, and within the box, whenever `x` is.
    pub fn shorten(&self, x: &[f64], region: &Region) -> Vec<f64> {
        self.pool.with(self, |work| Search::new(self, work, x, Limits::default(), true).shorten(x, region))
    }

    /// `n` feasible points that fill the space, away from the points in `existing`. `log_scale[i]` asks for a spread on the
    /// logarithmic scale of variable `i`. Fewer than `n` points only when there are no more distinct ones or the limits ran out.
    ///
    /// Each free direction and each alternative of the constraints gets its share, and the coordinates are short decimals.
    pub fn design(
        &self,
        n: usize,
        existing: &[Vec<f64>],
        log_scale: &[bool],
        rng: &mut impl Rng,
        limits: Limits,
    ) -> Vec<Vec<f64>> {
        self.pool.with(self, |work| Design::new(self, work, existing, log_scale, limits).points(n, rng))
    }
}

/// The middle of an interval, the first of some levels.
fn middle(range: &Range) -> f64 {
    match range {
        Range::Interval { lower, upper } => 0.5 * lower + 0.5 * upper,
        Range::Levels(levels) => levels.first().unwrap_or(0) as f64,
    }
}
