//! Sets without an interior: where the constraints meet in a point, an edge or nowhere, rounding hides it from propagation and from local methods.

use super::contraction::Relaxed;
use super::task::{Search, Task};
use crate::exact::{self, Verdict};
use crate::model::{Operation, Piece, Step, TruthId};
use crate::propagate::CAN_TRUE;
use crate::region::{Range, Region};

/// How far a number may move to the shortest decimal near it, as shares of its variable's range.
const REACHES: [f64; 6] = [1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3];
/// Fixings of a dive that settles switches first.
const SWITCH_BUDGET: usize = 150;
/// Fixings of the dive below it.
const VALUE_BUDGET: usize = 12;
/// Digits of a short decimal beyond its first.
const MOST_DIGITS: i32 = 16;

/// What became of a box.
pub(super) enum Settled {
    Feasible(Vec<f64>),
    Refuted,
    /// All of its feasible points lie in this smaller one.
    Narrower(Region),
}

impl Search<'_> {
    fn pieces(&self, task: &Task) -> Vec<Piece> {
        task.roots.iter().map(|&r| self.model.roots[r as usize].piece).collect()
    }

    /// True when the strict comparisons among the constraints contradict the others: at most their edges meet.
    pub(super) fn contradicts_strictly(&self, task: &Task, region: &Region) -> bool {
        let program = &self.set.program;
        exact::any_strict(program, self.pieces(task)) && self.fails_exactly(task, region)
    }

    /// True when the linear constraints have no common point in the box: in fractions, without a rounding.
    pub(super) fn fails_exactly(&self, task: &Task, region: &Region) -> bool {
        exact::verdict(&self.set.program, self.domains, self.pieces(task), region)
            == Some(Verdict::Infeasible)
    }

    /// The linear constraints in exact fractions, then a dive that settles the switches of counts first.
    pub(super) fn settle(&mut self, task: &Task, region: &Region, relaxed: &Relaxed) -> Option<Settled> {
        match exact::verdict(&self.set.program, self.domains, self.pieces(task), region) {
            Some(Verdict::Infeasible) => return Some(Settled::Refuted),
            Some(Verdict::Point(values)) => {
                let mut x = relaxed.candidate.clone();
                values.into_iter().for_each(|(v, value)| x[v] = value);
                self.round(region, &mut x)?;
                if self.holds(&task.roots, &x) {
                    return Some(Settled::Feasible(x));
                }
                if let Some(x) = self.snap(task, region, &x) {
                    return Some(Settled::Feasible(x));
                }
            }
            None => {}
        }
        let mut budget = SWITCH_BUDGET;
        let start = relaxed.candidate.clone();
        if let Some(found) = self.dive_switches(task, &relaxed.live, region, &start, &mut budget) {
            return Some(Settled::Feasible(found));
        }
        match self.hull_of_alternatives(&relaxed.logical, region) {
            None => Some(Settled::Refuted),
            Some(narrower) => (narrower != *region).then_some(Settled::Narrower(narrower)),
        }
    }

    /// The ranges that at least one alternative of each open disjunction leaves; `None` when one has none left.
    fn hull_of_alternatives(&mut self, roots: &[u32], region: &Region) -> Option<Region> {
        let mut kept = region.clone();
        for &root in roots {
            let Some(parts) = self.open_disjunction(&kept, root) else { continue };
            let mut hull: Option<Region> = None;
            for part in parts {
                let mut child = kept.clone();
                let (model, domains) = (self.model, self.domains);
                if self.work.propagator.assume(model, domains, &mut child, root, part) {
                    match &mut hull {
                        None => hull = Some(child),
                        Some(hull) => widen(hull, &child, &kept),
                    }
                }
            }
            kept = hull?;
        }
        Some(kept)
    }

    /// The point in the shortest decimals near it at which the constraints hold: where they leave no room, a person has nearly always written such numbers.
    pub(super) fn snap(&mut self, task: &Task, region: &Region, x: &[f64]) -> Option<Vec<f64>> {
        if x.is_empty() {
            return None;
        }
        REACHES.into_iter().find_map(|reach| {
            let mut short = x.to_vec();
            for &v in &task.variables {
                if let Range::Interval { lower, upper } = region.0[v]
                    && !self.domains[v].is_discrete()
                {
                    let (l, u) = self.domains[v].bounds();
                    let by = reach * (u - l);
                    short[v] = simplest((x[v] - by).max(lower), (x[v] + by).min(upper));
                }
            }
            self.round(region, &mut short)?;
            self.holds(&task.roots, &short).then_some(short)
        })
    }

    /// A dive that first settles the conditions of `if` and `count`, each as it is at `start` if it can be, and then the values.
    fn dive_switches(
        &mut self,
        task: &Task,
        roots: &[u32],
        region: &Region,
        start: &[f64],
        budget: &mut usize,
    ) -> Option<Vec<f64>> {
        if *budget == 0 || self.limits.must_stop() {
            return None;
        }
        *budget -= 1;
        let Some((root, yes, no)) = self.open_switch(roots, region) else {
            let mut values = VALUE_BUDGET;
            return self.dive(task, roots, region, start, &mut values, 0);
        };
        let point = &mut self.work.local.point;
        point.evaluate(self.model, &self.model.roots[root as usize], start);
        let order = if point.violation(yes) <= 0.0 { [yes, no] } else { [no, yes] };
        for truth in order {
            let mut child = region.clone();
            let (model, domains) = (self.model, self.domains);
            if self.work.propagator.assume(model, domains, &mut child, root, truth)
                && child != *region
                && let Some(found) = self.dive_switches(task, roots, &child, start, budget)
            {
                return Some(found);
            }
        }
        None
    }

    /// The first `if` of the roots whose condition the box leaves open: its root, the condition and the negation.
    fn open_switch(&mut self, roots: &[u32], region: &Region) -> Option<(u32, TruthId, TruthId)> {
        roots.iter().find_map(|&root| {
            self.evaluate_naturally(region, root);
            let possible = |truth: TruthId| self.work.natural.truths[truth.index()] & CAN_TRUE != 0;
            self.model.roots[root as usize].steps.iter().find_map(|step| match *step {
                Step::Number(node) => match *self.model.operation(node) {
                    Operation::If { yes, no, .. } if possible(yes) && possible(no) => Some((root, yes, no)),
                    _ => None,
                },
                Step::Truth(_) => None,
            })
        })
    }
}

/// Widens a box to hold another one, both parts of `all`; levels that differ are those of `all`.
fn widen(hull: &mut Region, other: &Region, all: &Region) {
    for ((range, other), all) in hull.0.iter_mut().zip(&other.0).zip(&all.0) {
        match (&mut *range, other) {
            (Range::Interval { lower, upper }, &Range::Interval { lower: l, upper: u }) => {
                (*lower, *upper) = (lower.min(l), upper.max(u));
            }
            (range, other) if range != other => range.clone_from(all),
            _ => {}
        }
    }
}

/// The decimal with the fewest digits in `[lower, upper]`, the nearest to the middle of several; the middle when no short one lies there.
pub(crate) fn simplest(lower: f64, upper: f64) -> f64 {
    let middle = 0.5 * lower + 0.5 * upper;
    if lower <= 0.0 && upper >= 0.0 {
        return 0.0;
    }
    let largest = lower.abs().max(upper.abs());
    if !(lower < upper && largest.is_finite()) {
        return if lower == upper { lower } else { middle };
    }
    let top = largest.log10().floor() as i32;
    for place in (top - MOST_DIGITS..=top).rev() {
        // 10^22 is the last power of ten that is exact.
        if place.abs() > 22 {
            continue;
        }
        let factor = 10f64.powi(place.abs());
        let short = |k: f64| if place < 0 { k / factor } else { k * factor };
        let whole = if place < 0 { middle * factor } else { middle / factor };
        for k in [whole.round(), whole.floor(), whole.ceil()] {
            let x = short(k);
            if lower <= x && x <= upper {
                return x;
            }
        }
    }
    middle
}
