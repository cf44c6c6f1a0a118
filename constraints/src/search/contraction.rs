//! Contraction of a node: propagation, the ball of interesting points, and passes of the linear relaxation.

use super::task::{Search, Task};
use crate::interval::Interval;
use crate::region::{Range, Region};

/// Times the whole contraction is repeated while it pays.
const PASSES: usize = 4;

/// A contracted node.
#[derive(Debug)]
pub(super) struct Relaxed {
    /// Lower bound on the distance over the task's variables.
    pub(super) bound: f64,
    /// Where the relaxation is nearest, in variable order; categories at the nearest level.
    pub(super) candidate: Vec<f64>,
    /// Roots that some point of the box might violate.
    pub(super) live: Vec<u32>,
    /// Live roots with an undecided disjunction.
    pub(super) logical: Vec<u32>,
    /// A feasible point no other point of the box is nearer than (any feasible point for a decision).
    pub(super) solution: Option<Vec<f64>>,
}

impl Search<'_> {
    /// Contracts a box; `None` when it is proved to hold no feasible point nearer than `goal`. With `changed`, the box was contracted
    /// before these variables changed.
    pub(super) fn relax(
        &mut self,
        task: &Task,
        region: &mut Region,
        goal: f64,
        changed: Option<&[usize]>,
    ) -> Option<Relaxed> {
        let model = self.model;
        if !self.work.propagator.load(model, self.domains, region) {
            return None;
        }
        self.work.propagator.clear_queue();
        match changed {
            None => task.roots.iter().for_each(|&r| self.work.propagator.enqueue(r as usize)),
            Some(variables) => {
                for &r in variables.iter().flat_map(|&v| &model.users[v]) {
                    self.work.propagator.enqueue(r as usize);
                }
            }
        }
        let mut relaxed = None;
        for pass in 0..PASSES {
            self.ball(task, region, goal)?;
            self.work.propagator.run(model, self.domains, &self.limits).ok()?;
            self.work.propagator.store(model, region);
            if pass == 0
                && self.decide
                && let Some(x) = self.guess(task, region, changed.is_none())
            {
                return Some(Relaxed {
                    bound: 0.0,
                    candidate: Vec::new(),
                    live: Vec::new(),
                    logical: Vec::new(),
                    solution: Some(x),
                });
            }
            let mut scratch = std::mem::take(&mut self.work.pass);
            let pays = self.relax_once(task, region, goal, pass, &mut relaxed, &mut scratch);
            self.work.pass = scratch;
            if !pays? || self.limits.must_stop() {
                break;
            }
        }
        relaxed
    }

    /// Points that cost next to nothing to try, for a decision: the box's point nearest to the centre, and its middle unless the point is
    /// to be near the centre; Gauss-Newton may move the last of them when `local`.
    fn guess(&mut self, task: &Task, region: &Region, local: bool) -> Option<Vec<f64>> {
        let mut x = self.clamp(region)?;
        if self.holds(&task.roots, &x) {
            return Some(x);
        }
        let mut continuous = true;
        for &v in &task.variables {
            if let Range::Interval { lower, upper } = region.0[v] {
                continuous &= lower == upper || !self.domains[v].is_discrete();
                if !self.near {
                    x[v] = self.domains[v].nearest(Interval::new(lower, upper).middle(), lower, upper)?;
                }
            }
        }
        if !self.near && self.holds(&task.roots, &x) {
            return Some(x);
        }
        let found = local
            && continuous
            && self.newton(task, &task.roots, region, &mut x, false)
            && self.round(region, &mut x).is_some()
            && self.holds(&task.roots, &x);
        found.then_some(x)
    }

    /// Ranges no point nearer than `goal` can leave.
    fn ball(&mut self, task: &Task, region: &Region, goal: f64) -> Option<()> {
        if goal == f64::INFINITY {
            return Some(());
        }
        let model = self.model;
        let nearest = |s: &Self, v: usize| -> Option<f64> {
            let value = match (&region.0[v], model.variable_nodes[v]) {
                (Range::Interval { .. }, Some(node)) => {
                    let x = s.work.propagator.state.number(node);
                    s.domains[v].nearest(s.metric.centre[v], x.lo, x.hi)?
                }
                (range, _) => s.metric.nearest(&s.domains[v], v, range)?,
            };
            Some(s.metric.term(&s.domains[v], v, value))
        };
        let mut total = 0.0;
        for &v in &task.variables {
            total += nearest(self, v)?;
        }
        if total >= goal * (1.0 + 1e-12) {
            return None;
        }
        for &v in &task.variables {
            let own = nearest(self, v)?;
            // Rounding must not cut the goal itself.
            let rest = (goal - total + own) * (1.0 + 1e-9) + 1e-15;
            if self.domains[v].is_categorical() {
                let centre = self.metric.centre[v];
                if rest < 1.0 && centre >= 0.0 {
                    let levels = &mut self.work.propagator.state.levels[v];
                    if levels.contains(centre as usize) && levels.len() > 1 {
                        *levels =
                            crate::level_set::LevelSet::from_indices(levels.capacity(), [centre as usize]);
                        self.work.propagator.touch(v);
                        model.users[v].iter().for_each(|&r| self.work.propagator.enqueue(r as usize));
                    }
                }
                continue;
            }
            if self.metric.weight[v] == 0.0 || model.variable_nodes[v].is_none() {
                continue;
            }
            let radius = (rest / self.metric.weight[v]).sqrt();
            let centre = self.metric.centre[v];
            let ball = Interval::new(centre - radius, centre + radius);
            if self.work.propagator.restrict(model, self.domains, v, ball)? {
                model.users[v].iter().for_each(|&r| self.work.propagator.enqueue(r as usize));
            }
        }
        Some(())
    }
}
