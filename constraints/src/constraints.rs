//! A compiled set of known constraints: what it holds, and what can be said about a point.

use crate::answer::{Linearised, Violation};
use crate::domain::Domain;
use crate::expr::{ConditionId, Evaluation, Program, Settings, Verdict};
use crate::model::Model;
use crate::pool::Pool;
use crate::search::Workspace;
use crate::statement::{self, Statement};
use crate::tolerance::Tolerance;

/// A compiled set of known constraints over mixed variables, made by [`ConstraintsBuilder`](crate::ConstraintsBuilder).
///
/// ```
/// # use leafgp_constraints::{ConstraintsBuilder, Domain, Variable};
/// use leafgp_constraints::{Range, Region, Tolerance};
///
/// # let number = |name: &str| Variable {
/// #     name: name.into(),
/// #     domain: Domain::Continuous { lower: 0.0, upper: 10.0 },
/// #     level_names: Vec::new(),
/// # };
/// # let mut builder = ConstraintsBuilder::new(vec![number("width"), number("height")])?;
/// builder.constrain("small", "width * height <= 20")?;
/// builder.constrain("upright", "height >= 2 * width")?;
/// let set = builder.build();
/// assert!(set.is_feasible(&[2.0, 8.0], Tolerance::Produce));
/// assert_eq!(set.name(set.violations(&[2.0, 3.0], Tolerance::Judge)[0].constraint), "upright");
///
/// // What is left of the domains: height <= 10, so that width <= 5.
/// let mut region = Region::full(set.domains());
/// assert!(set.contract(&mut region));
/// assert!(matches!(region.0[0], Range::Interval { lower: 0.0, upper } if (upper - 5.0).abs() < 1e-9));
/// # Ok::<(), leafgp_constraints::ExprError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Constraints {
    pub(crate) domains: Vec<Domain>,
    pub(crate) program: Program,
    /// The program's numbers as plain data.
    pub(crate) stated: Vec<statement::Number>,
    pub(crate) names: Vec<String>,
    pub(crate) roots: Vec<ConditionId>,
    pub(crate) hierarchy: Vec<Hierarchy>,
    pub(crate) model: Model,
    pub(crate) pool: Pool<Workspace>,
}

/// A variable that exists only under a condition.
#[derive(Clone, Debug)]
pub(crate) struct Hierarchy {
    pub(crate) variable: usize,
    pub(crate) condition: ConditionId,
    pub(crate) inactive_value: f64,
    /// Number of the constraint that says so.
    pub(crate) constraint: usize,
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
            numbers: &self.stated,
            conditions: &self.program.conditions,
            grid_rows: &self.program.grid_rows,
            whole_rows: &self.program.whole_rows,
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
        self.violations_with(x, tolerance.settings())
    }

    /// [`Constraints::violations`] at [`Tolerance::Produce`] in f64 alone: what differs by no more than a rounding may be among them though it holds in decimals. Many times
    /// faster at points on the edge of a constraint, and as good for the slopes of the amounts.
    pub fn amounts(&self, x: &[f64]) -> Vec<Violation> {
        self.violations_with(x, Settings::MEASURE)
    }

    /// [`Constraints::amounts`] with their slopes, of one evaluation and one pass back for each violated constraint.
    ///
    /// ```
    /// # use leafgp_constraints::{ConstraintsBuilder, Domain, Variable};
    /// # let number = |name: &str| Variable {
    /// #     name: name.into(),
    /// #     domain: Domain::Continuous { lower: 0.0, upper: 10.0 },
    /// #     level_names: Vec::new(),
    /// # };
    /// let mut builder = ConstraintsBuilder::new(vec![number("width"), number("height")])?;
    /// builder.constrain("small", "width * height <= 20")?;
    /// let all = builder.build().linearised(&[3.0, 8.0]);
    /// assert_eq!((all[0].violation.amount, all[0].slopes.as_deref()), (4.0, Some([8.0, 3.0].as_slice())));
    /// # Ok::<(), leafgp_constraints::ExprError>(())
    /// ```
    pub fn linearised(&self, x: &[f64]) -> Vec<Linearised> {
        let evaluation = self.evaluated(x, Settings::MEASURE);
        let mut adjoints = Vec::new();
        let violations = self.violations_of(&evaluation, Settings::MEASURE);
        let linearise = |violation: Violation| {
            let mut slopes = vec![0.0; x.len()];
            let root = self.roots[violation.constraint];
            let is_known = violation.amount.is_finite()
                && evaluation.gradient(&self.program, root, Settings::MEASURE, &mut adjoints, &mut slopes);
            Linearised { violation, slopes: is_known.then_some(slopes) }
        };
        violations.map(linearise).collect()
    }

    fn violations_with(&self, x: &[f64], settings: Settings) -> Vec<Violation> {
        self.violations_of(&self.evaluated(x, settings), settings).collect()
    }

    fn evaluated(&self, x: &[f64], settings: Settings) -> Evaluation {
        let mut evaluation = Evaluation::default();
        evaluation.run(&self.program, x, settings);
        evaluation
    }

    fn violations_of(&self, evaluation: &Evaluation, settings: Settings) -> impl Iterator<Item = Violation> {
        self.roots.iter().enumerate().filter_map(move |(constraint, &root)| {
            match evaluation.verdict(&self.program, root, false, settings) {
                Verdict::Holds => None,
                Verdict::Fails(amount) => Some(Violation { constraint, amount }),
            }
        })
    }

    /// True when the point lies in the domains and violates nothing.
    pub fn is_feasible(&self, x: &[f64], tolerance: Tolerance) -> bool {
        self.is_feasible_in(&mut Evaluation::default(), x, tolerance)
    }

    /// The same in a work space.
    pub(crate) fn is_feasible_in(
        &self,
        evaluation: &mut Evaluation,
        x: &[f64],
        tolerance: Tolerance,
    ) -> bool {
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
        if self.hierarchy.is_empty() {
            return;
        }
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
}
