//! Re-checks a certificate: plain code, outward rounding, nothing shared with the search but the problem.

use crate::constraints::{Decision, Limits};
use crate::problem::Problem;

use super::arithmetic::{Bounds, dot};
use super::cells::{CellBox, CellLeaf, VariableCells, around, hull, intersect, tree_leaves, variable_cells};
use super::limits::WideLimit;
use super::secant::secant;
use super::{Certificate, ProofEnd, ProofRound, Refusal, digest};

/// What a certificate proves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verified {
    /// Objective of the incumbent, evaluated; `None` when the problem is infeasible.
    pub objective: Option<f64>,
    /// No allowed point has a smaller objective.
    pub bound: f64,
    /// `(objective - bound) / max(|objective|, 1e-9)`; 0 when infeasible.
    pub gap: f64,
    /// Nodes of the proof.
    pub nodes: usize,
}

/// Leaf combinations that an enumerated node may have at most.
const MAX_COMBINATIONS: usize = 4096;

/// The problem from the verifier's side.
struct Checker<'a> {
    problem: &'a Problem<'a>,
    cells: Vec<VariableCells>,
    /// Leaves of the trees, then the pieces around each excluded region.
    trees: Vec<Vec<CellLeaf>>,
    limits: Vec<WideLimit>,
    bound: f64,
}

/// A node under examination: the box, and the leaves (numbers within their tree's list) still possible.
#[derive(Clone)]
struct State {
    on: CellBox,
    alive: Vec<Vec<usize>>,
}

/// Re-checks a certificate against its problem.
///
/// # Errors
/// Says what does not hold. A refusal does not mean that the claimed bound is wrong, only that this is no proof of it.
pub fn verify(problem: &Problem<'_>, certificate: &Certificate) -> Result<Verified, Refusal> {
    problem.validate().map_err(|error| Refusal::Format(error.to_string()))?;
    if digest(problem) != certificate.digest {
        return Err(Refusal::OtherProblem);
    }
    let bound = certificate.bound;
    if bound.is_nan() {
        return Err(Refusal::Format("the bound is not a number".into()));
    }
    let objective = check_incumbent(problem, certificate)?;
    let cells = variable_cells(problem.domains(), problem.forest(), &problem.excluded);
    let mut trees = tree_leaves(problem.forest(), &cells);
    trees.extend(problem.excluded.iter().filter_map(|region| around(&cells, region)));
    let limits = problem.limits.iter().map(|limit| WideLimit::new(limit, problem.forest())).collect();
    let checker = Checker { problem, cells, trees, limits, bound };
    let root: CellBox = checker.cells.iter().map(|c| vec![true; c.len()]).collect();
    // Children keep what their parent proved useless.
    let alive = checker.trees.iter().map(|leaves| (0..leaves.len()).collect()).collect();
    // `None` is an empty box: nothing of it is kept, however often a hostile proof splits it.
    let mut stack = vec![Some(State { on: root, alive })];
    let mut number = 0;
    while let Some(mut state) = stack.pop() {
        let refuse = |problem: &str| Refusal::Node { node: number, problem: problem.into() };
        let node = certificate.nodes.get(number).ok_or_else(|| refuse("it is missing"))?;
        if state.as_mut().is_some_and(|state| !checker.filter(state)) {
            state = None;
        }
        for round in &node.rounds {
            if let Some(left) = &mut state
                && checker.round(left, round).map_err(refuse)?
            {
                state = None;
            }
        }
        match &node.end {
            ProofEnd::Closed => {
                if state.is_some() {
                    return Err(refuse("points may be left below the bound"));
                }
            }
            ProofEnd::Enumerated => {
                if let Some(state) = &state {
                    checker.enumerate(state).map_err(refuse)?;
                }
            }
            ProofEnd::Split { feature, left } => {
                let f = *feature as usize;
                if f >= checker.cells.len() || left.len() != checker.cells[f].len().div_ceil(64) {
                    return Err(refuse("the split does not fit the variables"));
                }
                for (side, mut part) in [(false, state.clone()), (true, state)] {
                    if let Some(part) = &mut part {
                        for (j, kept) in part.on[f].iter_mut().enumerate() {
                            *kept &= (left[j / 64] >> (j % 64) & 1 == 1) == side;
                        }
                    }
                    // The left one, which comes first, is pushed last.
                    stack.push(part.filter(|part| part.on[f].contains(&true)));
                }
            }
        }
        number += 1;
    }
    if number < certificate.nodes.len() {
        return Err(Refusal::Node { node: number, problem: "the proof ends before it".into() });
    }
    let gap = objective.map_or(0.0, |o| crate::objective::relative_gap(o, bound));
    Ok(Verified { objective, bound, gap, nodes: certificate.nodes.len() })
}

fn check_incumbent(problem: &Problem<'_>, certificate: &Certificate) -> Result<Option<f64>, Refusal> {
    let Some((objective, x)) = &certificate.incumbent else {
        return if certificate.bound == f64::INFINITY {
            Ok(None)
        } else {
            Err(Refusal::Incumbent("none, though the bound is finite".into()))
        };
    };
    if !problem.allows(x) {
        return Err(Refusal::Incumbent("the point is not allowed".into()));
    }
    let value = problem.objective().value(&problem.forest().active_leaves(x));
    if value.to_bits() != objective.to_bits() {
        return Err(Refusal::Incumbent(format!("the objective is {value}, not {objective}")));
    }
    if certificate.bound > value {
        return Err(Refusal::Incumbent(format!(
            "the bound {} is above its objective {value}",
            certificate.bound
        )));
    }
    Ok(Some(value))
}

impl Checker<'_> {
    fn touches(&self, leaf: &CellLeaf, on: &CellBox) -> bool {
        leaf.on.iter().all(|(f, cells)| cells.iter().zip(&on[*f]).any(|(a, b)| *a && *b))
    }

    /// Drops leaves outside the box, cells without a leaf and cells without a feasible point, to a fixpoint. False when nothing is left.
    fn filter(&self, state: &mut State) -> bool {
        loop {
            let mut changed = false;
            for (leaves, alive) in self.trees.iter().zip(&mut state.alive) {
                let before = alive.len();
                alive.retain(|&i| self.touches(&leaves[i], &state.on));
                changed |= alive.len() < before;
                if alive.is_empty() {
                    return false;
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
                return false;
            }
            for limit in &self.limits {
                match limit.filter(&self.trees, &mut state.alive) {
                    None => return false,
                    Some(any) => changed |= any,
                }
            }
            if changed {
                continue;
            }
            let Some(constraints) = self.problem.constraints else {
                return true;
            };
            let mut region = hull(&self.cells, &state.on);
            if !constraints.contract(&mut region) {
                return false;
            }
            if !intersect(&self.cells, &mut state.on, &region) {
                return true;
            }
            if state.on.iter().any(|cells| !cells.contains(&true)) {
                return false;
            }
        }
    }

    /// Bounds the node by one tangent with messages and drops what it proves useless. True when nothing is left below the bound.
    fn round(&self, state: &mut State, round: &ProofRound) -> Result<bool, &'static str> {
        let (base, costs) = self.linearise(state, round)?;
        let links = self.links(state);
        let values = send(&links, &costs, round.sweeps);
        let numbers = costs.iter().flatten().chain(values.iter().flatten().flatten());
        if !(base.is_finite() && numbers.copied().all(f64::is_finite)) {
            return Err("the numbers overflow");
        }
        // What an item pays at most, and what the messages of a variable sum to at least.
        let mut reduced: Vec<Vec<f64>> = costs;
        let mut bound = base;
        for (variable, values) in links.iter().zip(&values) {
            for (link, phi) in variable.links.iter().zip(values) {
                for (cost, cells) in reduced[link.tree].iter_mut().zip(&link.items) {
                    let pays = cells.iter().map(|&j| phi[j]).fold(f64::NEG_INFINITY, f64::max);
                    *cost = (*cost - pays).next_down();
                }
            }
            let total = |j: usize| values.iter().fold(0.0, |sum: f64, phi| (sum + phi[j]).next_down());
            let least = (0..variable.n_cells).map(total).fold(f64::INFINITY, f64::min);
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
            let mut cell_bounds = vec![bound; kept.len()];
            for link in &variable.links {
                let mut cheapest = vec![f64::INFINITY; kept.len()];
                for (&cost, cells) in reduced[link.tree].iter().zip(&link.items) {
                    cells.iter().for_each(|&j| cheapest[j] = cost.min(cheapest[j]));
                }
                for (bound, cheapest) in cell_bounds.iter_mut().zip(&cheapest) {
                    *bound = (*bound + (cheapest - minima[link.tree]).next_down()).next_down();
                }
            }
            for (&cell, cell_bound) in kept.iter().zip(&cell_bounds) {
                if *cell_bound >= self.bound {
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
        Ok(!self.filter(state))
    }

    /// The bound before messages: its constant part, and a lower bound of the cost of each leaf still possible. A convex deviation gives way to its
    /// tangent at the round's vector, a concave one to its chord.
    fn linearise(&self, state: &State, round: &ProofRound) -> Result<(f64, Vec<Vec<f64>>), &'static str> {
        let objective = self.problem.objective();
        let quadratic = objective.quadratic.as_ref().filter(|q| q.kappa != 0.0 && q.prior_variance > 0.0);
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
        let s = (q.prior_variance - norm_sq.low).max(0.0).sqrt().max(1e-7 * q.prior_variance.sqrt());
        let (kappa, s) = (Bounds::exact(q.kappa), Bounds::exact(s));
        let a = kappa.div_positive(s);
        let length = Bounds::exact(q.prior_variance).mul(norm_sq.add(s.mul(s))).sqrt();
        let base = Bounds::exact(objective.constant).sub(kappa.mul(length).div_positive(s)).low;
        let cost = |t: usize, i: usize| {
            let Some(leaf) = self.trees[t][i].leaf else { return 0.0 };
            Bounds::exact(linear(t, i)).add(a.mul(dot(q.row(leaf), &u))).low
        };
        Ok((base, costs(&cost)))
    }

    /// Which trees each variable tells leaves of apart; cells are numbered among those kept.
    fn links(&self, state: &State) -> Vec<Variable> {
        let mut variables = Vec::new();
        for f in 0..self.cells.len() {
            let kept: Vec<usize> = (0..state.on[f].len()).filter(|&j| state.on[f][j]).collect();
            let mut links = Vec::new();
            for (t, alive) in state.alive.iter().enumerate() {
                let items: Vec<Vec<usize>> = alive
                    .iter()
                    .map(|&i| match self.trees[t][i].on.iter().find(|(g, _)| *g == f) {
                        None => (0..kept.len()).collect(),
                        Some((_, cells)) => (0..kept.len()).filter(|&j| cells[kept[j]]).collect(),
                    })
                    .collect();
                if items.iter().any(|cells| cells.len() < kept.len()) {
                    links.push(TreeLink { tree: t, items });
                }
            }
            if !links.is_empty() {
                variables.push(Variable { feature: f, n_cells: kept.len(), links });
            }
        }
        variables
    }

    /// Looks at every leaf combination that is left: each lies at or above the bound, or holds no feasible point.
    fn enumerate(&self, state: &State) -> Result<(), &'static str> {
        let combinations = state.alive.iter().try_fold(1usize, |n, alive| n.checked_mul(alive.len()));
        if combinations.is_none_or(|n| n > MAX_COMBINATIONS) {
            return Err("too many leaf combinations to enumerate");
        }
        let objective = self.problem.objective();
        let mut at = vec![0; state.alive.len()];
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
                // The value is what the search reports for a point, so it needs no widening.
                if objective.value(&leaves) < self.bound
                    && self.problem.limits.iter().all(|limit| limit.holds(&leaves))
                {
                    let infeasible = self.problem.constraints.is_some_and(|constraints| {
                        matches!(
                            constraints.decide(&hull(&self.cells, &on), Limits::default()),
                            Decision::Infeasible
                        )
                    });
                    if !infeasible {
                        return Err("a leaf combination lies below the bound");
                    }
                }
            }
            let Some(t) = (0..at.len()).find(|&t| at[t] + 1 < state.alive[t].len()) else { return Ok(()) };
            at[t] += 1;
            at[..t].fill(0);
        }
    }
}

/// A variable that tells leaves apart.
struct Variable {
    feature: usize,
    n_cells: usize,
    links: Vec<TreeLink>,
}

/// A tree whose leaves the variable tells apart: the kept cells of each leaf still possible.
struct TreeLink {
    tree: usize,
    items: Vec<Vec<usize>>,
}

/// Messages `[variable][link][cell]` by min-marginal averaging, in plain arithmetic: any values are valid, since their sum is accounted for.
fn send(links: &[Variable], costs: &[Vec<f64>], sweeps: u8) -> Vec<Vec<Vec<f64>>> {
    let mut messages: Vec<Vec<Vec<f64>>> =
        links.iter().map(|v| v.links.iter().map(|_| vec![0.0; v.n_cells]).collect()).collect();
    let mut reduced = costs.to_vec();
    let mut values: Vec<Vec<Vec<f64>>> =
        links.iter().map(|v| v.links.iter().map(|link| vec![0.0; link.items.len()]).collect()).collect();
    for _ in 0..sweeps {
        for ((variable, phi), values) in links.iter().zip(&mut messages).zip(&mut values) {
            if variable.links.len() < 2 {
                continue;
            }
            let mut mean = vec![0.0; variable.n_cells];
            for ((link, phi), values) in variable.links.iter().zip(&mut *phi).zip(&*values) {
                phi.fill(f64::INFINITY);
                for ((cells, value), cost) in link.items.iter().zip(values).zip(&reduced[link.tree]) {
                    cells.iter().for_each(|&j| phi[j] = phi[j].min(cost + value));
                }
                mean.iter_mut().zip(&*phi).for_each(|(mean, phi)| *mean += phi);
            }
            for ((link, phi), values) in variable.links.iter().zip(&mut *phi).zip(values) {
                phi.iter_mut().zip(&mean).for_each(|(phi, mean)| *phi -= mean / variable.links.len() as f64);
                for ((cells, value), cost) in link.items.iter().zip(values).zip(&mut reduced[link.tree]) {
                    let new = cells.iter().map(|&j| phi[j]).fold(f64::NEG_INFINITY, f64::max);
                    *cost -= new - *value;
                    *value = new;
                }
            }
        }
    }
    messages
}
