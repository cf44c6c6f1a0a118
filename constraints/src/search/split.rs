//! Which variable to split, and where.

use super::contraction::Relaxed;
use super::task::{Search, Task};
use crate::interval::Interval;
use crate::level_set::LevelSet;
use crate::region::{Range, Region};

/// Weight of an undecided disjunction's variables, together.
const LOGICAL: f64 = 2.0;

/// What became of splitting a box.
pub(super) enum Split {
    /// Two halves and the variable that was split, the one to look at first last.
    Halves([(Region, usize); 2]),
    /// The box holds no feasible point.
    Refuted,
    /// No variable of a live constraint can be halved.
    Stuck,
}

impl Search<'_> {
    /// Halves a box.
    pub(super) fn split(&mut self, task: &Task, region: &Region, relaxed: &Relaxed) -> Split {
        for (place, v) in self.ranked(task, region, relaxed).into_iter().enumerate() {
            if let Some(halves) = self.halves(region, v, relaxed.candidate[v]) {
                return Split::Halves(halves);
            }
            // The best is down to two neighbouring floats: rounding may be all that is left to decide. If not, others may still be wide.
            if place == 0 && (self.fails_in_floats(task, region) || self.fails_exactly(task, region)) {
                return Split::Refuted;
            }
        }
        Split::Stuck
    }

    /// The free variables of live constraints, the most promising first.
    fn ranked(&mut self, task: &Task, region: &Region, relaxed: &Relaxed) -> Vec<usize> {
        let model = self.model;
        let mut score = vec![0.0_f64; self.domains.len()];
        let free = |v: usize| !region.0[v].is_fixed() && task.variables.contains(&v);
        let width = |v: usize| match &region.0[v] {
            Range::Interval { lower, upper } => {
                let (l, u) = self.domains[v].bounds();
                (upper - lower) / (u - l)
            }
            Range::Levels(levels) => levels.len() as f64 / self.domains[v].levels().unwrap_or(1) as f64,
        };
        let x = &relaxed.candidate;
        let mut columns = vec![None; self.domains.len()];
        let mut atoms = Vec::new();
        for &r in &relaxed.live {
            let root = &model.roots[r as usize];
            let variables: Vec<usize> = root.variables.iter().copied().filter(|&v| free(v)).collect();
            if relaxed.logical.contains(&r) {
                for &v in &variables {
                    score[v] += LOGICAL / variables.len() as f64 * width(v);
                }
            }
            let numeric: Vec<usize> =
                variables.iter().copied().filter(|&v| model.variable_nodes[v].is_some()).collect();
            if numeric.is_empty() {
                continue;
            }
            for (j, &v) in numeric.iter().enumerate() {
                columns[v] = Some(j as u32);
            }
            for &v in &root.variables {
                match (&region.0[v], model.variable_nodes[v]) {
                    (Range::Interval { lower, upper }, Some(node)) => {
                        self.work.natural.numbers[node.index()] = Interval::new(*lower, *upper);
                    }
                    (Range::Levels(levels), _) => self.work.natural.levels[v].clone_from(levels),
                    _ => {}
                }
            }
            self.work.natural.evaluate(model, &root.steps);
            let point = &mut self.work.local.point;
            point.evaluate(model, root, x);
            atoms.clear();
            point.atoms(model, r, &|_| true, &mut atoms);
            let mut gradient = vec![0.0; numeric.len()];
            for atom in &atoms {
                let excess = atom.excess();
                if excess == 0.0 {
                    continue;
                }
                point.gradient(model, root, atom.node, &columns, &mut gradient);
                let norm: f64 = numeric
                    .iter()
                    .enumerate()
                    .map(|(j, &v)| gradient[j] * gradient[j] / self.metric.weight[v].max(1e-300))
                    .sum::<f64>()
                    .sqrt();
                self.work.slopes.run(model, &self.work.natural, root, atom.node);
                let share: Vec<f64> = numeric
                    .iter()
                    .map(|&v| match region.0[v] {
                        Range::Interval { lower, upper } => {
                            let spread = self.work.slopes.of(model, v).width() * (upper - lower);
                            if spread.is_finite() { spread } else { 1e12 }
                        }
                        Range::Levels(_) => 0.0,
                    })
                    .collect();
                let total: f64 = share.iter().sum();
                let size = if norm > 0.0 && excess.is_finite() { excess / norm } else { 1.0 };
                if total > 0.0 && total.is_finite() {
                    for (j, &v) in numeric.iter().enumerate() {
                        score[v] += size * share[j] / total;
                    }
                }
            }
            for &v in &numeric {
                columns[v] = None;
            }
        }
        let mut read = vec![false; self.domains.len()];
        for &r in &relaxed.live {
            model.roots[r as usize].variables.iter().for_each(|&v| read[v] = true);
        }
        // A fractional integer that the relaxation cannot see comes before a blind cut by width.
        let fallback = |v: usize| {
            let fractional = match &region.0[v] {
                Range::Interval { lower, upper } if self.domains[v].is_discrete() => {
                    self.domains[v].nearest(x[v], *lower, *upper).is_some_and(|n| n != x[v])
                }
                _ => false,
            };
            width(v) + if fractional { 1.0 } else { 0.0 }
        };
        let mut ranked: Vec<(f64, f64, usize)> = (0..self.domains.len())
            .filter(|&v| free(v) && read[v])
            .map(|v| (score[v], fallback(v), v))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        ranked.into_iter().map(|(_, _, v)| v).collect()
    }

    /// Halves of a range: numbers between the middle and the candidate, categories the centre's level against the rest.
    fn halves(&self, region: &Region, v: usize, candidate: f64) -> Option<[(Region, usize); 2]> {
        let domain = &self.domains[v];
        let (first, second) = match &region.0[v] {
            Range::Levels(levels) => {
                let own =
                    if levels.contains(candidate as usize) { candidate as usize } else { levels.first()? };
                let mut rest = levels.clone();
                rest.remove(own);
                (Range::Levels(LevelSet::from_indices(levels.capacity(), [own])), Range::Levels(rest))
            }
            Range::Interval { lower, upper } => {
                let middle = 0.5 * lower + 0.5 * upper;
                let (below, above) = if domain.is_discrete() {
                    let mut below = domain.floor(middle)?.max(*lower);
                    if below >= *upper {
                        below = domain.floor(upper.next_down())?;
                    }
                    (below, domain.ceil(below.next_up())?)
                } else {
                    let at = 0.5 * middle + 0.5 * candidate.clamp(*lower, *upper);
                    // Never a sliver.
                    let at = at.clamp(lower + 0.1 * (upper - lower), upper - 0.1 * (upper - lower));
                    if !(at > *lower && at < *upper) {
                        return None;
                    }
                    (at, at.next_up())
                };
                let low = Range::Interval { lower: *lower, upper: below };
                let high = Range::Interval { lower: above, upper: *upper };
                if candidate <= below { (low, high) } else { (high, low) }
            }
        };
        let with = |range: Range| {
            let mut half = region.clone();
            half.0[v] = range;
            (half, v)
        };
        Some([with(second), with(first)])
    }
}
