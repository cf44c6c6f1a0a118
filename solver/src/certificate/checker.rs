//! A node of the proof under examination.

use std::borrow::Cow;

use crate::learned::LeafSum;
use crate::objective::LeafObjective;
use crate::problem::Problem;
use leafgp_constraints::{Domain, Range, Region};

use super::arithmetic::{Bounds, dot};
use super::cells::{
    CellBox, CellLeaf, VariableCells, around, hull, intersect, meet, tree_leaves, variable_cells,
};
use super::claims::{Claim, EmptyParts, settle};
use super::forward::Forward;
use super::limits::WideLimit;
use super::messages::{links, send, sweep_work};
use super::predictions::{enclose, range};
use super::relaxation::Relaxation;
use super::secant::secant;
use super::state::State;
use super::values::Values;
use super::work::{Objection, Work};
use super::{Certificate, ProofRound, Refusal};

/// Leaf combinations that an enumerated node may have at most.
const MAX_COMBINATIONS: usize = 4096;

/// The problem from the verifier's side.
pub(super) struct Checker<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) cells: Vec<VariableCells>,
    /// Leaves of the trees, then the pieces around each excluded region.
    pub(super) trees: Vec<Vec<CellLeaf>>,
    pub(super) limits: Vec<WideLimit>,
    /// What the constraints say of boxes; its boxes are those of claims.
    pub(super) forward: Option<Forward<'a>>,
    /// What leaves cost: the objective itself, or a lower bound of it over predictions.
    pub(super) objective: Cow<'a, LeafObjective>,
    pub(super) bound: f64,
}

/// Where the claims about a leaf combination come from: `None` when there are none.
pub(super) type Claims<'a> = dyn FnMut(usize, &Region) -> Option<Vec<Claim>> + 'a;

fn flaw(problem: &'static str) -> Objection {
    Objection::Flaw(problem)
}

impl<'a> Checker<'a> {
    /// `domains` are those of claims.
    pub(super) fn new(
        problem: &'a Problem<'a>,
        certificate: &Certificate,
        domains: &'a [Domain],
    ) -> Result<Self, Refusal> {
        let cells = variable_cells(problem.domains(), problem.forest(), &problem.excluded);
        let mut trees = tree_leaves(problem.forest(), &cells);
        trees.extend(problem.excluded.iter().filter_map(|region| around(&cells, region)));
        let constraints = problem.learned.map(|learned| learned.system).or(problem.constraints);
        let forward = constraints.map(|set| Forward::new(set.statement()).within(domains));
        let (mut objective, mut limits) = (Cow::Borrowed(problem.objective()), problem.limits.clone());
        if let (Some(learned), Some(forward)) = (&problem.learned, &forward) {
            // What the problem says of leaves besides is not trusted.
            let relaxation = Relaxation::new(problem, learned, forward)
                .ok_or(Refusal::Format("the objective has no bound that can be checked".into()))?;
            let multipliers = certificate.multipliers.as_deref().unwrap_or_default();
            objective = Cow::Owned(
                relaxation
                    .objective(multipliers)
                    .ok_or(Refusal::Format("a multiplier does not fit its constraint".into()))?,
            );
            limits = relaxation.limits();
        }
        let limits = limits.iter().map(|limit| WideLimit::new(limit, problem.forest())).collect();
        Ok(Self { problem, cells, trees, limits, forward, objective, bound: certificate.bound })
    }

    /// The domains of claims.
    fn domains(&self) -> &[Domain] {
        self.forward.as_ref().map_or(self.problem.domains(), Forward::domains)
    }

    /// Every point.
    pub(super) fn root(&self) -> State {
        let on: CellBox = self.cells.iter().map(|c| vec![true; c.len()]).collect();
        let alive = self.trees.iter().map(|leaves| (0..leaves.len()).collect()).collect();
        let empty = on.iter().any(Vec::is_empty);
        let region = if empty { Region(Vec::new()) } else { Region::full(self.domains()) };
        State { on, alive, region }
    }

    /// The cells of `left` and the others, the others first. Children keep what their parent proved useless.
    pub(super) fn split(
        &self,
        f: usize,
        left: &[u64],
        state: Option<State>,
        work: &mut Work,
    ) -> Result<[Option<State>; 2], Objection> {
        if f >= self.cells.len() || left.len() != self.cells[f].len().div_ceil(64) {
            return Err(flaw("the split does not fit the variables"));
        }
        if let Some(state) = &state {
            work.charge(self.work_of_leaves(state))?;
        }
        let side = |mut part: Option<State>, side: bool| {
            if let Some(part) = &mut part {
                for (j, kept) in part.on[f].iter_mut().enumerate() {
                    *kept &= (left[j / 64] >> (j % 64) & 1 == 1) == side;
                }
            }
            part.filter(|part| part.on[f].contains(&true))
        };
        Ok([side(state.clone(), false), side(state, true)])
    }

    fn touches(&self, leaf: &CellLeaf, on: &CellBox) -> bool {
        leaf.on.iter().all(|(f, cells)| cells.iter().zip(&on[*f]).any(|(a, b)| *a && *b))
    }

    /// Drops leaves outside the box and cells without a leaf, to a fixpoint. False when nothing is left.
    pub(super) fn filter(&self, state: &mut State, work: &mut Work) -> Result<bool, Objection> {
        loop {
            work.charge(self.work_of_leaves(state))?;
            let mut changed = false;
            for (leaves, alive) in self.trees.iter().zip(&mut state.alive) {
                let before = alive.len();
                alive.retain(|&i| self.touches(&leaves[i], &state.on));
                changed |= alive.len() < before;
                if alive.is_empty() {
                    return Ok(false);
                }
                for f in 0..self.cells.len() {
                    let restriction = |i: &usize| leaves[*i].on.iter().find(|(g, _)| *g == f);
                    let restrictions: Option<Vec<_>> = alive.iter().map(restriction).collect();
                    let Some(restrictions) = restrictions else { continue };
                    for (j, kept) in state.on[f].iter_mut().enumerate() {
                        if *kept && !restrictions.iter().any(|(_, cells)| cells[j]) {
                            *kept = false;
                            changed = true;
                        }
                    }
                }
            }
            if state.on.iter().any(|cells| !cells.contains(&true)) {
                return Ok(false);
            }
            for limit in &self.limits {
                match limit.filter(&self.trees, &mut state.alive) {
                    None => return Ok(false),
                    Some(any) => changed |= any,
                }
            }
            if !changed {
                return Ok(true);
            }
        }
    }

    /// Steps of looking at every cell of every leaf still possible.
    fn work_of_leaves(&self, state: &State) -> usize {
        let cells: usize = self.cells.iter().map(VariableCells::len).sum();
        (state.alive.iter().map(Vec::len).sum::<usize>() + 1) * (cells + self.cells.len() + 1)
    }

    /// Takes away what claims prove to hold no feasible point. False when nothing is left.
    pub(super) fn contract(
        &self,
        state: &mut State,
        claims: &[Claim],
        work: &mut Work,
    ) -> Result<bool, Objection> {
        let Some(forward) = &self.forward else {
            return Err(flaw("claims about constraints, though there are none"));
        };
        work.charge(state.alive.iter().map(Vec::len).sum::<usize>() * self.n_sums())?;
        let Some(region) = self.meet(state) else { return Ok(false) };
        let Some(open) = settle(forward, self.empty_parts(), claims, region, work)? else {
            return Ok(false);
        };
        work.charge(self.work_of_leaves(state))?;
        let changed = intersect(&self.cells, &mut state.on, &open);
        state.region = open;
        if changed { self.filter(state, work) } else { Ok(true) }
    }

    fn empty_parts(&self) -> EmptyParts {
        if self.problem.learned.is_some() { EmptyParts::HaveClaims } else { EmptyParts::HaveNone }
    }

    /// Number of predictions.
    fn n_sums(&self) -> usize {
        self.problem.learned.map_or(0, |learned| learned.sums.len())
    }

    /// The smallest box around the cells of a state, and what is predicted in them, within its region; `None` when they have no point in common.
    fn meet(&self, state: &State) -> Option<Region> {
        let coefficient =
            |sum: &LeafSum, t: usize, i: usize| self.trees[t][i].leaf.map_or(0.0, |leaf| sum.linear[leaf]);
        let predictions = self.problem.learned.iter().flat_map(|learned| learned.sums).map(|sum| {
            let trees = state.alive.iter().enumerate();
            let of_trees = trees.map(|(t, alive)| alive.iter().map(move |&i| coefficient(sum, t, i)));
            enclose(sum, range(sum, of_trees))
        });
        let predictions: Vec<Values> = predictions.collect();
        self.meet_with(hull(&self.cells, &state.on), &predictions, &state.region)
    }

    /// A box of points and what is predicted there, within a region.
    fn meet_with(&self, mut cells: Region, predictions: &[Values], region: &Region) -> Option<Region> {
        cells.0.extend(predictions.iter().map(|y| Range::Interval { lower: y.low, upper: y.high }));
        // The value is one number.
        cells.0.extend(region.0.get(cells.0.len()..).unwrap_or_default().iter().cloned());
        meet(cells, region, self.domains())
    }

    /// The box of a leaf combination: its predictions are the same at all of its points.
    fn meet_combination(&self, on: &CellBox, leaves: &[usize], region: &Region) -> Option<Region> {
        let cells = hull(&self.cells, on);
        let Some(learned) = &self.problem.learned else { return self.meet_with(cells, &[], region) };
        let Region(ranges) = meet(cells.clone(), region, self.problem.domains())?;
        let first = |range: &Range| match range {
            Range::Interval { lower, .. } => *lower,
            Range::Levels(kept) => kept.first().map_or(0.0, |level| level as f64),
        };
        let point: Vec<f64> = ranges.iter().map(first).collect();
        // Where the point's leaves are others nothing is known but the ranges of the sums.
        let forest = self.problem.forest();
        let predictions: Vec<Values> = if forest.active_leaves(&point) == leaves {
            learned.predictor.predict(&point).into_iter().map(|y| Values::new(y, y)).collect()
        } else {
            let sums = learned.sums.iter();
            sums.map(|sum| enclose(sum, range(sum, leaves.iter().map(|&leaf| [sum.linear[leaf]])))).collect()
        };
        self.meet_with(cells, &predictions, region)
    }

    /// Bounds the node by one tangent with messages and drops what it proves useless. True when nothing is left below the bound.
    pub(super) fn round(
        &self,
        state: &mut State,
        round: &ProofRound,
        work: &mut Work,
    ) -> Result<bool, Objection> {
        work.charge(3 * self.work_of_leaves(state) + self.work_of_linearising(state))?;
        let (base, costs) = self.linearise(state, round).map_err(flaw)?;
        let links = links(&self.trees, state);
        work.charge((usize::from(round.sweeps) + 2) * sweep_work(&links))?;
        let values = send(&links, &costs, round.sweeps);
        let numbers = costs.iter().flatten().chain(values.iter().flatten().flatten());
        if !(base.is_finite() && numbers.copied().all(f64::is_finite)) {
            return Err(flaw("the numbers overflow"));
        }
        // What an item pays at most, and what the messages of a variable sum to at least.
        let mut reduced: Vec<Vec<f64>> = costs;
        let mut bound = base;
        let mut by_piece = Vec::new();
        for (variable, values) in links.iter().zip(&values) {
            for (link, phi) in variable.links.iter().zip(values) {
                for (cost, pays) in reduced[link.tree].iter_mut().zip(link.pays(phi, &mut by_piece)) {
                    *cost = (*cost - pays).next_down();
                }
            }
            let total = |j: usize| values.iter().fold(0.0, |sum: f64, phi| (sum + phi[j]).next_down());
            let least = (0..variable.n_columns).map(total).fold(f64::INFINITY, f64::min);
            bound = (bound + least).next_down();
        }
        let minima: Vec<f64> =
            reduced.iter().map(|costs| costs.iter().copied().fold(f64::INFINITY, f64::min)).collect();
        for min in &minima {
            bound = (bound + min).next_down();
        }
        if bound >= self.bound {
            return Ok(true);
        }
        let above = |min: f64, cost: f64| (bound + (cost - min).next_down()).next_down();
        for variable in &links {
            let kept: Vec<usize> =
                (0..state.on[variable.feature].len()).filter(|&j| state.on[variable.feature][j]).collect();
            let mut column_bounds = vec![bound; variable.n_columns];
            for link in &variable.links {
                link.fill_cheapest(reduced[link.tree].iter().copied(), &mut by_piece);
                for (bound, &p) in column_bounds.iter_mut().zip(&link.pieces) {
                    *bound = (*bound + (by_piece[p] - minima[link.tree]).next_down()).next_down();
                }
            }
            for (&cell, &column) in kept.iter().zip(&variable.columns) {
                if column_bounds[column] >= self.bound {
                    state.on[variable.feature][cell] = false;
                }
            }
        }
        for ((alive, costs), &min) in state.alive.iter_mut().zip(&reduced).zip(&minima) {
            let mut costs = costs.iter();
            // Written so that a NaN keeps the leaf.
            alive.retain(|_| {
                let useless = above(min, *costs.next().expect("a cost for each leaf")) >= self.bound;
                !useless
            });
        }
        Ok(!self.filter(state, work)?)
    }

    /// Steps of [`Checker::linearise`]: products of vectors, with a concave deviation those of all pairs.
    fn work_of_linearising(&self, state: &State) -> usize {
        let objective = &*self.objective;
        let leaves: usize = state.alive.iter().map(Vec::len).sum();
        match &objective.quadratic {
            Some(q) if q.kappa < 0.0 => (leaves + 1).saturating_mul(leaves + 1).saturating_mul(q.dim + 1),
            Some(q) => (leaves + 1) * (q.dim + 1),
            None => leaves,
        }
    }

    /// The bound before messages: its constant part, and a lower bound of the cost of each leaf still possible. A convex deviation gives way to its
    /// tangent at the round's vector, a concave one to its chord.
    fn linearise(&self, state: &State, round: &ProofRound) -> Result<(f64, Vec<Vec<f64>>), &'static str> {
        let objective = &*self.objective;
        let quadratic = objective.quadratic.as_ref().filter(|q| q.kappa != 0.0 && q.bounding_prior() > 0.0);
        let linear = |t: usize, i: usize| self.trees[t][i].leaf.map_or(0.0, |leaf| objective.linear[leaf]);
        let costs = |cost: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            state
                .alive
                .iter()
                .enumerate()
                .map(|(t, alive)| alive.iter().map(|&i| cost(t, i)).collect())
                .collect()
        };
        let Some(q) = quadratic else {
            return Ok((objective.constant, costs(&linear)));
        };
        if q.kappa < 0.0 {
            let vector = |t: usize, i: usize| self.trees[t][i].leaf.map(|leaf| q.row(leaf));
            let vectors: Vec<Vec<_>> = state
                .alive
                .iter()
                .enumerate()
                .map(|(t, alive)| alive.iter().map(|&i| vector(t, i)).collect())
                .collect();
            let (base, mut parts) = secant(q, &vectors);
            for (t, (parts, alive)) in parts.iter_mut().zip(&state.alive).enumerate() {
                for (part, &i) in parts.iter_mut().zip(alive) {
                    *part = (*part + linear(t, i)).next_down();
                }
            }
            return Ok(((objective.constant + base).next_down(), parts));
        }
        let u = round.u.vector();
        if u.len() != q.dim || u.iter().any(|v| !v.is_finite()) {
            return Err("the tangent's vector does not fit the factor");
        }
        let norm_sq = dot(&u, &u);
        // Any positive s is valid.
        let prior = q.bounding_prior();
        let s = (prior - norm_sq.low).max(0.0).sqrt().max(1e-7 * prior.sqrt());
        let (kappa, s) = (Bounds::exact(q.kappa), Bounds::exact(s));
        let a = kappa.div_positive(s);
        let length = Bounds::exact(prior).mul(norm_sq.add(s.mul(s))).sqrt();
        let base = Bounds::exact(objective.constant).sub(kappa.mul(length).div_positive(s)).low;
        let cost = |t: usize, i: usize| {
            let Some(leaf) = self.trees[t][i].leaf else { return 0.0 };
            Bounds::exact(linear(t, i)).add(a.mul(dot(q.row(leaf), &u))).low
        };
        Ok((base, costs(&cost)))
    }

    /// Whether points with these leaves may be allowed and have an objective below the bound, for all that is known of the leaves.
    fn may_lie_below(&self, leaves: &[usize]) -> bool {
        if self.problem.learned.is_none() {
            // The value is what the search reports for a point, so it needs no widening; limits hold in plain arithmetic.
            return self.objective.value(leaves) < self.bound
                && self.problem.limits.iter().all(|limit| limit.holds(leaves));
        }
        let cost = |sum: f64, &leaf: &usize| (sum + self.objective.linear[leaf]).next_down();
        leaves.iter().fold(self.objective.constant, cost) < self.bound
            && !self.limits.iter().any(|limit| limit.rules_out(leaves))
    }

    /// Looks at every leaf combination that is left: each lies at or above the bound, or holds no feasible point. Returns how many claims that took.
    pub(super) fn enumerate(
        &self,
        state: &State,
        claims: &mut Claims<'_>,
        work: &mut Work,
    ) -> Result<usize, Objection> {
        let combinations = state.alive.iter().try_fold(1usize, |n, alive| n.checked_mul(alive.len()));
        let Some(combinations) = combinations.filter(|&n| n <= MAX_COMBINATIONS) else {
            return Err(flaw("too many leaf combinations to enumerate"));
        };
        let objective = &*self.objective;
        let cells: usize = self.cells.iter().map(VariableCells::len).sum();
        let dim = objective.quadratic.as_ref().map_or(0, |q| q.dim);
        work.charge(
            combinations * (self.trees.len() + 1) * (cells + dim + self.limits.len() + self.n_sums() + 1),
        )?;
        let mut at = vec![0; state.alive.len()];
        let mut used = 0;
        loop {
            let chosen: Vec<&CellLeaf> =
                at.iter().enumerate().map(|(t, &k)| &self.trees[t][state.alive[t][k]]).collect();
            let mut on = state.on.clone();
            for leaf in &chosen {
                for (f, cells) in &leaf.on {
                    on[*f].iter_mut().zip(cells).for_each(|(kept, cell)| *kept &= cell);
                }
            }
            if on.iter().all(|cells| cells.contains(&true)) {
                let leaves: Vec<usize> = chosen.iter().filter_map(|leaf| leaf.leaf).collect();
                if self.may_lie_below(&leaves)
                    && let Some(region) = self.meet_combination(&on, &leaves, &state.region)
                {
                    let Some(forward) = &self.forward else {
                        return Err(flaw("a leaf combination lies below the bound"));
                    };
                    let claims = claims(used, &region).ok_or(flaw(
                        "a leaf combination lies below the bound, and nothing is claimed of it",
                    ))?;
                    used += 1;
                    if settle(forward, self.empty_parts(), &claims, region, work)?.is_some() {
                        return Err(flaw("a leaf combination lies below the bound and may be feasible"));
                    }
                }
            }
            let Some(t) = (0..at.len()).find(|&t| at[t] + 1 < state.alive[t].len()) else { return Ok(used) };
            at[t] += 1;
            at[..t].fill(0);
        }
    }
}
