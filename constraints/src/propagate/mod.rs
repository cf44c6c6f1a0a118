//! Hull consistency by forward and backward evaluation (HC4), with a worklist.
//!
//! Benhamou, Goualard, Granvilliers and Puget (1999), Revising hull and box consistency, ICLP.

mod backward;
mod state;

pub(super) use state::{CAN_FALSE, CAN_TRUE, Conflict, State};

use super::model::{Model, Step, TruthId};
use crate::domain::Domain;
use crate::interval::Interval;
use crate::level_set::LevelSet;
use crate::limits::Limits;
use crate::region::{Range, Region};

/// A continuous variable's range must lose this share for the constraints that read it to be revised again, and as much more each time
/// every constraint has been revised `PATIENCE` times.
const WORTHWHILE: f64 = 0.05;
const PATIENCE: f64 = 2.0;
/// Largest number of revisions, per constraint: slow convergence is left to the search.
const REVISIONS: usize = 30;
/// How often the clock is looked at.
const REVISIONS_AT_A_TIME: usize = 256;

/// Reusable memory of [`Constraints::contract`](crate::Constraints::contract): one for each thread of a search. After the first call nothing is allocated.
///
/// A search that changed some variables of a box that was contracted before passes their indices, and only the constraints they
/// reach are revised.
#[derive(Clone, Debug)]
pub struct Propagator {
    pub(super) state: State,
    /// Truths demanded by the constraint at hand.
    forced: Vec<bool>,
    /// Nodes whose value the constraint at hand depends on: they must be defined.
    needed: Vec<bool>,
    /// Nodes that are known to be narrower than what their operands give: only these have something to say to their operands.
    cut: Vec<bool>,
    /// Scratch of a linear node: each term, and the sum of the terms after it.
    own: Vec<Interval>,
    suffix: Vec<Interval>,
    queued: Vec<bool>,
    queue: std::collections::VecDeque<u32>,
    /// Scratch of one revision: the variables' values before it.
    before: Vec<Interval>,
    before_levels: Vec<LevelSet>,
    /// Variables whose range shrank since the load.
    changed: Vec<bool>,
    /// The share that is worthwhile at present.
    worthwhile: f64,
    /// A root and one of its alternatives that is tried out.
    assumed: Option<(u32, TruthId)>,
}

impl Propagator {
    pub(super) fn for_model(model: &Model, domains: &[Domain]) -> Self {
        let mut state = State::new(domains);
        state.numbers = model.initial.clone();
        state.truths = vec![CAN_FALSE | CAN_TRUE; model.truths.len()];
        Self {
            before_levels: state.levels.clone(),
            forced: vec![false; model.truths.len()],
            needed: vec![false; model.operations.len()],
            cut: vec![false; model.operations.len()],
            own: Vec::new(),
            suffix: Vec::new(),
            queued: vec![false; model.roots.len()],
            queue: std::collections::VecDeque::with_capacity(model.roots.len()),
            before: vec![Interval::ENTIRE; domains.len()],
            changed: vec![false; domains.len()],
            worthwhile: WORTHWHILE,
            assumed: None,
            state,
        }
    }

    pub(super) fn contract_model(
        &mut self,
        model: &Model,
        domains: &[Domain],
        region: &mut Region,
        changed: Option<&[usize]>,
    ) -> bool {
        if !self.load(model, domains, region) {
            return false;
        }
        self.clear_queue();
        match changed {
            None => (0..model.roots.len()).for_each(|r| self.enqueue(r)),
            Some(variables) => {
                for &v in variables {
                    model.users[v].iter().for_each(|&r| self.enqueue(r as usize));
                }
            }
        }
        let feasible = self.run(model, domains, &Limits::default()).is_ok();
        if feasible {
            self.store(model, region);
        }
        feasible
    }

    /// Contracts a box under the assumption that one alternative of a root holds.
    pub(super) fn assume(
        &mut self,
        model: &Model,
        domains: &[Domain],
        region: &mut Region,
        root: u32,
        alternative: TruthId,
    ) -> bool {
        if !self.load(model, domains, region) {
            return false;
        }
        self.clear_queue();
        self.enqueue(root as usize);
        self.assumed = Some((root, alternative));
        let feasible = self.run(model, domains, &Limits::default()).is_ok();
        self.assumed = None;
        if feasible {
            self.store(model, region);
        }
        feasible
    }

    /// Intersects a numeric variable's range, rounded to allowed values; `None` when nothing is left, else whether it shrank
    /// worthwhile. Constraints are not queued.
    pub(super) fn restrict(
        &mut self,
        model: &Model,
        domains: &[Domain],
        v: usize,
        to: Interval,
    ) -> Option<bool> {
        let node = model.variable_nodes[v]?.index();
        let old = self.state.numbers[node];
        let new = old.intersect(to);
        if new == old {
            return Some(false);
        }
        let (lo, hi) = domains[v].within(new.lo, new.hi)?;
        if (lo, hi) == (old.lo, old.hi) {
            return Some(false);
        }
        self.state.numbers[node] = Interval::new(lo, hi);
        self.changed[v] = true;
        Some(domains[v].is_discrete() || lo == hi || hi - lo <= (1.0 - WORTHWHILE) * (old.hi - old.lo))
    }

    /// Brings the nodes of a root up to date with the variables: constraints that were not revised still hold values of another box.
    pub(super) fn refresh(&mut self, model: &Model, root: usize) {
        for &step in &model.roots[root].steps {
            match step {
                Step::Number(node) => {
                    let i = node.index();
                    self.state.numbers[i] =
                        self.state.forward_number(model, node).intersect(self.state.numbers[i]);
                }
                Step::Truth(truth) => {
                    self.state.truths[truth.index()] = self.state.forward_truth(model, truth);
                }
            }
        }
    }

    /// Marks a category's levels as changed.
    pub(super) fn touch(&mut self, v: usize) {
        self.changed[v] = true;
    }

    /// Reads a box; false when a range holds no allowed value. Ranges are rounded to allowed values.
    pub(super) fn load(&mut self, model: &Model, domains: &[Domain], region: &Region) -> bool {
        self.state.numbers.copy_from_slice(&model.initial);
        let mut nonempty = true;
        for (v, (range, domain)) in region.0.iter().zip(domains).enumerate() {
            match range {
                Range::Interval { lower, upper } => match domain.within(*lower, *upper) {
                    Some((lo, hi)) => {
                        if let Some(node) = model.variable_nodes[v] {
                            self.state.numbers[node.index()] = Interval::new(lo, hi);
                        }
                        self.changed[v] = lo > *lower || hi < *upper;
                        self.before[v] = Interval::new(lo, hi);
                    }
                    None => nonempty = false,
                },
                Range::Levels(levels) => {
                    self.state.levels[v].clone_from(levels);
                    self.changed[v] = false;
                    nonempty &= !levels.is_empty();
                }
            }
        }
        nonempty
    }

    /// Writes the variables that shrank back to a box.
    pub(super) fn store(&self, model: &Model, region: &mut Region) {
        for (v, range) in region.0.iter_mut().enumerate() {
            if !self.changed[v] {
                continue;
            }
            match range {
                Range::Interval { lower, upper } => {
                    let value =
                        model.variable_nodes[v].map_or(self.before[v], |node| self.state.number(node));
                    (*lower, *upper) = (value.lo, value.hi);
                }
                Range::Levels(levels) => levels.clone_from(&self.state.levels[v]),
            }
        }
    }

    pub(super) fn clear_queue(&mut self) {
        while let Some(r) = self.queue.pop_front() {
            self.queued[r as usize] = false;
        }
    }

    pub(super) fn enqueue(&mut self, root: usize) {
        if !self.queued[root] {
            self.queued[root] = true;
            self.queue.push_back(root as u32);
        }
    }

    /// Revises queued constraints until nothing worthwhile changes, or the time is over: what was found until then stays true.
    pub(super) fn run(&mut self, model: &Model, domains: &[Domain], limits: &Limits) -> Result<(), Conflict> {
        let n = model.roots.len().max(1);
        let mut left = REVISIONS * n;
        let growth = WORTHWHILE / (PATIENCE * n as f64);
        self.worthwhile = WORTHWHILE;
        while let Some(root) = self.queue.pop_front() {
            self.queued[root as usize] = false;
            let outcome = self.revise(model, domains, root);
            left -= 1;
            self.worthwhile += growth;
            let is_over = left.is_multiple_of(REVISIONS_AT_A_TIME) && limits.must_stop();
            if outcome.is_err() || left == 0 || is_over {
                self.clear_queue();
                return outcome;
            }
        }
        Ok(())
    }

    /// One constraint, forward then backward; queues the constraints of the variables that shrank.
    fn revise(&mut self, model: &Model, domains: &[Domain], index: u32) -> Result<(), Conflict> {
        let root = &model.roots[index as usize];
        for &v in &root.variables {
            match model.variable_nodes[v] {
                Some(node) => self.before[v] = self.state.number(node),
                None => self.before_levels[v].clone_from(&self.state.levels[v]),
            }
        }
        for &step in &root.steps {
            match step {
                Step::Number(node) => {
                    let i = node.index();
                    self.needed[i] = false;
                    let natural = self.state.forward_number(model, node);
                    let value = natural.intersect(self.state.numbers[i]);
                    self.cut[i] = value != natural || value.is_empty();
                    self.state.numbers[i] = value;
                }
                Step::Truth(truth) => {
                    let i = truth.index();
                    self.forced[i] = false;
                    self.state.truths[i] = self.state.forward_truth(model, truth);
                }
            }
        }
        let top = root.truth.index();
        if self.state.truths[top] & CAN_TRUE == 0 {
            return Err(Conflict);
        }
        self.forced[top] = true;
        if let Some((of, truth)) = self.assumed
            && of == index
        {
            if self.state.truths[truth.index()] & CAN_TRUE == 0 {
                return Err(Conflict);
            }
            self.forced[truth.index()] = true;
            self.state.truths[truth.index()] = CAN_TRUE;
        }
        for &step in root.steps.iter().rev() {
            match step {
                Step::Number(node) => self.backward_number(model, node)?,
                Step::Truth(truth) => self.backward_truth(model, truth)?,
            }
        }
        for &v in &root.variables {
            let worthwhile = match model.variable_nodes[v] {
                Some(node) => self.round_variable(&domains[v], v, node.index())?,
                None => {
                    let shrank = self.state.levels[v] != self.before_levels[v];
                    self.changed[v] |= shrank;
                    shrank
                }
            };
            if worthwhile {
                for &user in &model.users[v] {
                    self.enqueue(user as usize);
                }
            }
        }
        Ok(())
    }

    /// Rounds a variable to its allowed values; true when it shrank enough to look at its other constraints again.
    fn round_variable(&mut self, domain: &Domain, v: usize, node: usize) -> Result<bool, Conflict> {
        let (old, new) = (self.before[v], self.state.numbers[node]);
        if new == old {
            return Ok(false);
        }
        let (lo, hi) = domain.within(new.lo, new.hi).ok_or(Conflict)?;
        self.state.numbers[node] = Interval::new(lo, hi);
        if (lo, hi) == (old.lo, old.hi) {
            return Ok(false);
        }
        self.changed[v] = true;
        Ok(domain.is_discrete() || hi - lo <= (1.0 - self.worthwhile) * (old.hi - old.lo) || lo == hi)
    }
}
