//! Looking for a feasible point in a box: Gauss-Newton, then fixing discrete variables one by one.

use super::contraction::Relaxed;
use super::task::{Search, Task};
use super::workspace::Frame;
use crate::domain::Domain;
use crate::local::{ascend, gauss_newton, sqp};
use crate::model::{Truth, TruthId};
use crate::propagate::CAN_TRUE;
use crate::region::{Range, Region};

/// Values of one discrete variable tried in a dive.
const VALUES: usize = 4;

impl Search<'_> {
    /// Looks for a feasible point nearer than `upper`, from the relaxation's candidate and, when nothing is known yet, from the middle.
    /// A point within the gap of the node's bound is not improved.
    pub(super) fn dive_from(
        &mut self,
        task: &Task,
        region: &Region,
        relaxed: &Relaxed,
        upper: f64,
        gap: f64,
        budget: &mut usize,
    ) -> Option<(Vec<f64>, f64)> {
        let roots: &[u32] = &relaxed.live;
        let mut found = self.dive(task, roots, region, &relaxed.candidate, budget, 0);
        if found.is_none() && self.thorough && upper == f64::INFINITY {
            let nearly = std::mem::take(&mut self.nearly);
            found = self.snap(task, region, &nearly);
        }
        if found.is_none() && upper == f64::INFINITY {
            let mut middle = relaxed.candidate.clone();
            for &v in &task.variables {
                if let Range::Interval { lower, upper } = region.0[v] {
                    middle[v] = 0.5 * lower + 0.5 * upper;
                }
            }
            found = self.dive(task, roots, region, &middle, budget, 0);
            if found.is_none() && self.thorough {
                let nearly = std::mem::take(&mut self.nearly);
                found = self.snap(task, region, &nearly);
            }
        }
        let mut x = found?;
        let mut distance = self.metric.distance(self.domains, &task.variables, &x);
        if !self.decide
            && distance < upper
            && distance * (1.0 - gap) > relaxed.bound
            && let Some(better) = self.improve(task, roots, region, &x)
        {
            let nearer = self.metric.distance(self.domains, &task.variables, &better);
            if nearer < distance {
                (x, distance) = (better, nearer);
            }
        }
        Some((x, distance))
    }

    /// Takes the work space's frame and fills it; to be given back.
    fn frame(&mut self, task: &Task, roots: &[u32], region: &Region, move_discrete: bool) -> Frame {
        let mut frame = std::mem::take(&mut self.work.frame);
        let Frame { columns, lower, upper, weights, read } = &mut frame;
        columns.variables.clear();
        columns.of_variable.clear();
        columns.of_variable.resize(self.domains.len(), None);
        read.clear();
        read.resize(self.domains.len(), false);
        for vector in [&mut *lower, &mut *upper, &mut *weights] {
            vector.clear();
        }
        for &r in roots {
            self.model.roots[r as usize].variables.iter().for_each(|&v| read[v] = true);
        }
        for &v in &task.variables {
            let Range::Interval { lower: l, upper: u } = region.0[v] else { continue };
            if l == u || !read[v] || (self.domains[v].is_discrete() && !move_discrete) {
                continue;
            }
            columns.of_variable[v] = Some(columns.variables.len() as u32);
            columns.variables.push(v);
            lower.push(l);
            upper.push(u);
            weights.push(if self.metric.weight[v] > 0.0 { self.metric.weight[v] } else { 1.0 });
        }
        frame
    }

    /// Moves `x` towards feasibility; discrete variables as if continuous when `move_discrete`.
    pub(super) fn newton(
        &mut self,
        task: &Task,
        roots: &[u32],
        region: &Region,
        x: &mut [f64],
        move_discrete: bool,
    ) -> bool {
        let frame = self.frame(task, roots, region, move_discrete);
        let setting = frame.setting(self.model, roots, &self.limits);
        let holds = gauss_newton(&mut self.work.local, setting, x);
        self.work.frame = frame;
        holds
    }

    /// Looks among the vertices for a point near which the constraints hold; discrete variables as if continuous.
    fn ascend(&mut self, task: &Task, roots: &[u32], region: &Region, x: &mut [f64]) -> bool {
        let frame = self.frame(task, roots, region, true);
        let setting = frame.setting(self.model, roots, &self.limits);
        let holds = ascend(&mut self.work.local, setting, x);
        self.work.frame = frame;
        holds
    }

    /// Puts every variable at an allowed value of its range.
    pub(super) fn round(&self, region: &Region, x: &mut [f64]) -> Option<bool> {
        let mut moved = false;
        for (v, range) in region.0.iter().enumerate() {
            let rounded = match range {
                Range::Interval { lower, upper } => self.domains[v].nearest(x[v], *lower, *upper)?,
                Range::Levels(levels) => {
                    if range.contains(x[v]) {
                        x[v]
                    } else {
                        levels.first()? as f64
                    }
                }
            };
            moved |= rounded != x[v];
            x[v] = rounded;
        }
        Some(moved)
    }

    pub(super) fn dive(
        &mut self,
        task: &Task,
        roots: &[u32],
        region: &Region,
        start: &[f64],
        budget: &mut usize,
        depth: usize,
    ) -> Option<Vec<f64>> {
        if *budget == 0 || depth > 2 * self.domains.len() + 8 || self.limits.must_stop() {
            return None;
        }
        *budget -= 1;
        let mut x = start.to_vec();
        for (v, range) in region.0.iter().enumerate() {
            match range {
                Range::Interval { lower, upper } => x[v] = x[v].clamp(*lower, *upper),
                Range::Levels(levels) => {
                    if !range.contains(x[v]) {
                        x[v] = levels.first()? as f64;
                    }
                }
            }
        }
        // What costs next to nothing comes first: the start itself, at allowed values.
        let mut rounded = x.clone();
        self.round(region, &mut rounded)?;
        if self.holds(&task.roots, &rounded) {
            return Some(rounded);
        }
        if !self.newton(task, roots, region, &mut x, true) && depth == 0 && *budget > 0 {
            let mut vertex = x.clone();
            if self.ascend(task, roots, region, &mut vertex) {
                x = vertex;
            }
        }
        let relaxed = x.clone();
        if self.round(region, &mut x)? {
            self.newton(task, roots, region, &mut x, false);
            self.round(region, &mut x)?;
        }
        if self.holds(&task.roots, &x) {
            return Some(x);
        }
        if depth == 0 {
            self.nearly.clone_from(&x);
        }
        if let Some(v) = self.smallest_discrete(task, roots, region) {
            for value in self.values_by_nearness(region, v, relaxed[v]) {
                if *budget == 0 {
                    return None;
                }
                let mut child = region.clone();
                child.0[v] = fixed(&self.domains[v], value);
                let (model, domains) = (self.model, self.domains);
                if !self.work.propagator.contract_model(model, domains, &mut child, Some(&[v])) {
                    continue;
                }
                if let Some(found) = self.dive(task, roots, &child, &relaxed, budget, depth + 1) {
                    return Some(found);
                }
            }
            return None;
        }
        // Continuous variables only: settle the open disjunctions, the least violated alternative first.
        for &r in roots {
            let Some(parts) = self.open_disjunction(region, r) else { continue };
            self.work.local.point.evaluate(self.model, &self.model.roots[r as usize], &x);
            let mut order: Vec<(f64, TruthId)> =
                parts.iter().map(|&p| (self.work.local.point.violation(p), p)).collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (_, part) in order {
                if *budget == 0 {
                    return None;
                }
                let mut child = region.clone();
                let (model, domains) = (self.model, self.domains);
                if !self.work.propagator.assume(model, domains, &mut child, r, part) || child == *region {
                    continue;
                }
                if let Some(found) = self.dive(task, roots, &child, &x, budget, depth + 1) {
                    return Some(found);
                }
            }
            return None;
        }
        None
    }

    /// Evaluates a root over a box, from the variables' ranges alone.
    pub(super) fn evaluate_naturally(&mut self, region: &Region, root: u32) {
        let model = self.model;
        for &v in &model.roots[root as usize].variables {
            match (&region.0[v], model.variable_nodes[v]) {
                (Range::Interval { lower, upper }, Some(node)) => {
                    self.work.natural.numbers[node.index()] = crate::interval::Interval::new(*lower, *upper);
                }
                (Range::Levels(levels), _) => self.work.natural.levels[v].clone_from(levels),
                _ => {}
            }
        }
        self.work.natural.evaluate(model, &model.roots[root as usize].steps);
    }

    /// The alternatives of a root that is an undecided disjunction over the box.
    pub(super) fn open_disjunction(&mut self, region: &Region, root: u32) -> Option<Vec<TruthId>> {
        let model = self.model;
        let Truth::Or(parts) = model.truth(model.roots[root as usize].truth) else { return None };
        self.evaluate_naturally(region, root);
        let bits = |p: &TruthId| self.work.natural.truths[p.index()];
        if parts.iter().any(|p| bits(p) == CAN_TRUE) {
            return None;
        }
        let possible: Vec<TruthId> = parts.iter().copied().filter(|p| bits(p) & CAN_TRUE != 0).collect();
        (possible.len() > 1).then_some(possible)
    }

    /// The alternatives of an undecided disjunction over the box, with their position.
    pub(crate) fn numbered_alternatives(
        &mut self,
        region: &Region,
        root: u32,
    ) -> Option<Vec<(usize, TruthId)>> {
        let open = self.open_disjunction(region, root)?;
        let Truth::Or(parts) = self.model.truth(self.model.roots[root as usize].truth) else { return None };
        Some(parts.iter().copied().enumerate().filter(|(_, p)| open.contains(p)).collect())
    }

    /// Which alternatives of a root hold in the whole box.
    pub(crate) fn alternatives_taken(&mut self, region: &Region, root: u32) -> Vec<usize> {
        let Truth::Or(parts) = self.model.truth(self.model.roots[root as usize].truth) else {
            return Vec::new();
        };
        self.open_disjunction(region, root);
        let holds = |p: &TruthId| self.work.natural.truths[p.index()] == CAN_TRUE;
        (0..parts.len()).filter(|&k| holds(&parts[k])).collect()
    }

    /// The free discrete variable of the roots with the fewest values.
    fn smallest_discrete(&self, task: &Task, roots: &[u32], region: &Region) -> Option<usize> {
        let read = |v: usize| roots.iter().any(|&r| self.model.roots[r as usize].variables.contains(&v));
        task.variables
            .iter()
            .copied()
            .filter(|&v| self.domains[v].is_discrete() && !region.0[v].is_fixed() && read(v))
            .min_by(|&a, &b| {
                size(&self.domains[a], &region.0[a]).total_cmp(&size(&self.domains[b], &region.0[b]))
            })
    }

    /// A few allowed values of a range, nearest to `x` first; of a category, the present one first.
    fn values_by_nearness(&self, region: &Region, v: usize, x: f64) -> Vec<f64> {
        match &region.0[v] {
            Range::Levels(levels) => {
                let mut all: Vec<f64> = levels.iter().map(|l| l as f64).collect();
                all.sort_by_key(|&l| l != x);
                all.truncate(2 * VALUES);
                all
            }
            Range::Interval { lower, upper } => {
                let domain = &self.domains[v];
                let mut values = Vec::with_capacity(VALUES);
                let (mut below, mut above) = (domain.floor(x.min(*upper)), domain.ceil(x.max(*lower)));
                if below == above {
                    above = below.and_then(|b| domain.ceil(b.next_up()));
                }
                while values.len() < VALUES {
                    let below_ok = below.filter(|b| b >= lower);
                    let above_ok = above.filter(|a| a <= upper);
                    match (below_ok, above_ok) {
                        (None, None) => break,
                        (Some(b), a) if a.is_none_or(|a| x - b <= a - x) => {
                            values.push(b);
                            below = domain.floor(b.next_down());
                        }
                        (_, Some(a)) => {
                            values.push(a);
                            above = domain.ceil(a.next_up());
                        }
                        (Some(_), None) => break,
                    }
                }
                values
            }
        }
    }

    /// A local minimum of the distance near a feasible point, discrete variables as they are.
    fn improve(&mut self, task: &Task, roots: &[u32], region: &Region, x: &[f64]) -> Option<Vec<f64>> {
        let mut y = x.to_vec();
        let clamp = self.clamp(region)?;
        let frame = self.frame(task, roots, region, false);
        // Variables that no live constraint reads are best where they are nearest.
        for &v in &task.variables {
            if !frame.read[v] {
                y[v] = clamp[v];
            }
        }
        let centre: Vec<f64> = frame.columns.variables.iter().map(|&v| self.metric.centre[v]).collect();
        let setting = frame.setting(self.model, roots, &self.limits);
        sqp(&mut self.work.local, setting, &centre, &mut y);
        gauss_newton(&mut self.work.local, setting, &mut y);
        self.work.frame = frame;
        self.round(region, &mut y)?;
        self.holds(&task.roots, &y).then_some(y)
    }
}

/// A single allowed value.
pub(crate) fn fixed(domain: &Domain, value: f64) -> Range {
    match domain {
        Domain::Categorical { levels } => {
            Range::Levels(crate::level_set::LevelSet::from_indices(*levels, [value as usize]))
        }
        _ => Range::Interval { lower: value, upper: value },
    }
}

/// About the number of values of a discrete range.
pub(crate) fn size(domain: &Domain, range: &Range) -> f64 {
    match (domain, range) {
        (_, Range::Levels(levels)) => levels.len() as f64,
        (Domain::Integer { .. }, Range::Interval { lower, upper }) => upper - lower + 1.0,
        (Domain::Discrete(values), Range::Interval { lower, upper }) => {
            values.iter().filter(|&v| v >= lower && v <= upper).count() as f64
        }
        (Domain::Grid(grid), Range::Interval { lower, upper }) => {
            let (_, step, digits) = grid.numerators();
            (upper - lower) * 10f64.powi(digits as i32) / step as f64 + 1.0
        }
        _ => f64::INFINITY,
    }
}
