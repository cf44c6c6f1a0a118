//! The linear relaxation of a node: affine estimators of its comparisons, solved as one projection, and what its multipliers prove.

use super::contraction::Relaxed;
use super::task::{Search, Task};
use super::workspace::Pass;
use crate::expr::Comparison;
use crate::interval::Interval;
use crate::model::{NodeId, Operation, Slack, Step, Truth, TruthId};
use crate::propagate::{CAN_FALSE, CAN_TRUE};
use crate::qp::Status;
use crate::region::{Range, Region};
use crate::relax::Estimates;

/// Rounds of cuts in a pass.
const ROUNDS: usize = 3;
/// Another pass is worth its while when a width fell by this share.
const PAYS: f64 = 0.3;
/// Coefficients whose whole range is below this share of the row are rounding noise.
const NOISE: f64 = 1e-11;
/// How often the clock is looked at.
const ATOMS_AT_A_TIME: usize = 64;
/// Ranges narrower than this, relative to their size, are constants: a column of nothing but rounding would decide.
const NARROW: f64 = 1e-12;

/// A comparison that must hold in the box.
#[derive(Clone, Copy, Debug)]
struct Active {
    node: NodeId,
    root: u32,
    equality: Option<Slack>,
    affine: bool,
}

impl Search<'_> {
    /// The decided comparisons of the live roots, and which roots are live and logical.
    fn active(&mut self, task: &Task) -> (Vec<Active>, Vec<u32>, Vec<u32>) {
        let model = self.model;
        // Natural values, from the variables alone: a constraint that has cut its own nodes would look satisfied.
        for &v in task.roots.iter().flat_map(|&r| &model.roots[r as usize].variables) {
            match model.variable_nodes[v] {
                Some(node) => {
                    self.work.natural.numbers[node.index()] = self.work.propagator.state.number(node);
                }
                None => self.work.natural.levels[v].clone_from(&self.work.propagator.state.levels[v]),
            }
        }
        let (mut active, mut live, mut logical) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = vec![None; model.truths.len()];
        for &r in &task.roots {
            let root = &model.roots[r as usize];
            let defined = self.work.natural.evaluate(model, &root.steps);
            if defined && self.work.natural.truths[root.truth.index()] & CAN_FALSE == 0 {
                continue;
            }
            live.push(r);
            self.work.propagator.refresh(model, r as usize);
            for &step in &root.steps {
                if let Step::Truth(truth) = step {
                    seen[truth.index()] = None;
                }
            }
            if !self.collect(r, root.truth, &mut seen, &mut active) {
                logical.push(r);
            }
        }
        (active, live, logical)
    }

    /// Adds the comparisons that must hold for a truth to hold; false when a disjunction is undecided. `seen`: what it said about the root's truths so far.
    fn collect(&self, root: u32, truth: TruthId, seen: &mut [Option<bool>], out: &mut Vec<Active>) -> bool {
        if let Some(said) = seen[truth.index()] {
            return said;
        }
        let decided = self.collect_parts(root, truth, seen, out);
        seen[truth.index()] = Some(decided);
        decided
    }

    fn collect_parts(
        &self,
        root: u32,
        truth: TruthId,
        seen: &mut [Option<bool>],
        out: &mut Vec<Active>,
    ) -> bool {
        let model = self.model;
        match model.truth(truth) {
            Truth::Compare { op, difference, slack } => {
                if *op != Comparison::NotEqual {
                    let equality = (*op == Comparison::Equal).then_some(*slack);
                    let affine = model.affine[difference.index()];
                    out.push(Active { node: *difference, root, equality, affine });
                }
                *op != Comparison::NotEqual
            }
            Truth::And(parts) => {
                // All of them, whatever the first says.
                let undecided = parts.iter().filter(|&&p| !self.collect(root, p, seen, out)).count();
                undecided == 0
            }
            Truth::Or(parts) => {
                let possible: Vec<TruthId> = parts
                    .iter()
                    .copied()
                    .filter(|p| self.work.propagator.state.truths[p.index()] & CAN_TRUE != 0)
                    .collect();
                match possible[..] {
                    [only] => self.collect(root, only, seen, out),
                    _ => false,
                }
            }
            Truth::Integral(_) => false,
            Truth::Constant(_) | Truth::Level(..) => true,
        }
    }

    /// One pass. Returns whether another one pays.
    pub(super) fn relax_once(
        &mut self,
        task: &Task,
        region: &mut Region,
        goal: f64,
        pass: usize,
        relaxed: &mut Option<Relaxed>,
        scratch: &mut Pass,
    ) -> Option<bool> {
        let model = self.model;
        let (active, live, logical) = self.active(task);
        let candidate = self.clamp(region)?;
        let base = self.metric.distance(self.domains, &task.variables, &candidate);
        if base >= goal * (1.0 + 1e-12) && goal < f64::INFINITY {
            return None;
        }
        let nearest = pass == 0 && !live.is_empty() && self.holds(&task.roots, &candidate);
        let solution = nearest.then(|| candidate.clone());
        *relaxed = Some(Relaxed { bound: base, candidate, live, logical, solution });
        if active.is_empty() || nearest {
            return Some(false);
        }
        self.choose_columns(region, &active);
        let n = self.work.columns.variables.len();
        if n == 0 {
            return Some(false);
        }
        self.fill(region, scratch);
        self.work.qp.reset(n);
        self.work.qp.set_box(&scratch.lower, &scratch.upper);
        self.work.qp.set_target(&scratch.centre);
        self.work.qp.set_diagonal_metric(&scratch.metric);
        self.work.estimates.reset(model.operations.len(), n);
        scratch.affine.clear();
        scratch.start_at_centre();
        self.add_cuts(&active, scratch, true, false);
        if pass == 0 {
            scratch.z.clear();
            scratch.z.extend(scratch.lower.iter().zip(&scratch.upper).map(|(l, u)| 0.5 * l + 0.5 * u));
            self.add_cuts(&active, scratch, false, false);
        }
        let others = base - self.distance_of_columns(task, scratch)?;
        let mut value = 0.0;
        for round in 0..ROUNDS {
            match self.work.qp.resume() {
                Ok(Status::Infeasible { proved: true }) => return None,
                Ok(Status::Infeasible { proved: false } | Status::Unsolved) => break,
                Ok(Status::Cutoff | Status::Optimal) => {}
                // No data to reason with: propagation alone then.
                Err(_) => return Some(false),
            }
            scratch.z.copy_from_slice(self.work.qp.x());
            let grown = self.work.qp.value();
            // Far enough already, or not worth another round.
            if round + 1 == ROUNDS
                || (round > 0 && grown - value < 1e-3 * grown)
                || grown + others > goal * (1.0 + 1e-9)
            {
                break;
            }
            value = grown;
            // Of an affine equality the side that the first point violates is there; with switches the other one may tell.
            let affine = self.work.estimates.follows_switches();
            if !self.add_cuts(&active, scratch, affine, true) {
                break;
            }
        }
        if let Some(relaxed) = relaxed {
            for (&v, &z) in self.work.columns.variables.iter().zip(&scratch.z) {
                relaxed.candidate[v] = z;
            }
        }
        self.tighten(region, goal, others, base, relaxed, scratch)
    }

    /// Ranges, weights and centres of the columns.
    fn fill(&self, region: &Region, scratch: &mut Pass) {
        let Pass { lower, upper, weights, centre, metric, .. } = scratch;
        for vector in [&mut *lower, &mut *upper, &mut *weights, &mut *centre, &mut *metric] {
            vector.clear();
        }
        for &v in &self.work.columns.variables {
            let Range::Interval { lower: l, upper: u } = region.0[v] else {
                unreachable!("columns are numbers")
            };
            lower.push(l);
            upper.push(u);
            let weight = self.metric.weight[v].max(1e-300);
            weights.push(weight);
            metric.push(2.0 * weight);
            centre.push(self.metric.centre[v]);
        }
    }

    /// The part of the box's distance that the columns account for.
    fn distance_of_columns(&self, task: &Task, scratch: &Pass) -> Option<f64> {
        let mut sum = 0.0;
        for (j, &v) in self.work.columns.variables.iter().enumerate() {
            if task.variables.binary_search(&v).is_ok() {
                let x = self.domains[v].nearest(scratch.centre[j], scratch.lower[j], scratch.upper[j])?;
                sum += self.metric.term(&self.domains[v], v, x);
            }
        }
        Some(sum)
    }

    /// The free numeric variables of the active comparisons' roots.
    fn choose_columns(&mut self, region: &Region, active: &[Active]) {
        let columns = &mut self.work.columns;
        columns.of_variable.fill(None);
        columns.variables.clear();
        for atom in active {
            for &v in &self.model.roots[atom.root as usize].variables {
                let wide = match region.0[v] {
                    Range::Interval { lower, upper } => {
                        let (l, u) = self.domains[v].bounds();
                        upper - lower > NARROW * (lower.abs().max(upper.abs()) + 1e-3 * (u - l))
                    }
                    Range::Levels(_) => false,
                };
                if wide && columns.of_variable[v].is_none() {
                    columns.of_variable[v] = Some(0);
                    columns.variables.push(v);
                }
            }
        }
        columns.variables.sort_unstable();
        for (j, &v) in columns.variables.iter().enumerate() {
            columns.of_variable[v] = Some(j as u32);
        }
    }

    /// Adds rows of the active comparisons with estimators at `z`: the affine ones when `affine`, the others always; with
    /// `only_violated`, only rows that `z` violates. Returns whether there were any.
    fn add_cuts(&mut self, active: &[Active], scratch: &mut Pass, affine: bool, only_violated: bool) -> bool {
        let model = self.model;
        let mut added = false;
        self.work.estimates.start(model, &self.work.propagator.state, &self.work.columns);
        let mut built = None;
        for (i, atom) in active.iter().enumerate() {
            if atom.affine && !affine {
                continue;
            }
            // Rows that are left out only loosen the relaxation.
            if i % ATOMS_AT_A_TIME == ATOMS_AT_A_TIME - 1 && self.limits.must_stop() {
                break;
            }
            let work = &mut *self.work;
            if built != Some(atom.root) {
                let steps = &model.roots[atom.root as usize].steps;
                work.estimates.run(model, &work.propagator.state, &work.columns, steps, &scratch.z);
                built = Some(atom.root);
            }
            let form = Estimates::single_quotient(model, &work.propagator.state, atom.node);
            let tolerance =
                atom.equality.map(|slack| work.propagator.state.tolerance(model, atom.node, slack));
            let slack = tolerance.unwrap_or(0.0);
            // under <= D <= tolerance, and for equalities over >= D >= -tolerance.
            for below in [true, false] {
                if !below && tolerance.is_none() {
                    continue;
                }
                let sign = if below { 1.0 } else { -1.0 };
                let work = &mut *self.work;
                if let Operation::Variable(v) = *model.operation(atom.node) {
                    scratch.row.clear();
                    scratch.row.resize(scratch.z.len(), 0.0);
                    if let Some(column) = work.columns.of_variable[v] {
                        scratch.row[column as usize] = sign;
                    }
                    added |= self.offer_row(slack, atom.affine, scratch, only_violated);
                } else {
                    let (coefficients, constant, error) = work.estimates.get(atom.node, below);
                    if error.is_finite() {
                        scratch.row.clear();
                        scratch.row.extend(coefficients.iter().map(|c| sign * c));
                        let right = error + slack - sign * constant;
                        added |= self.offer_row(right, atom.affine, scratch, only_violated);
                    }
                }
                let Some(form) = &form else { continue };
                let work = &mut *self.work;
                let state = &work.propagator.state;
                let magnitude = state.number(form.divisor()).magnitude();
                let (coefficients, constant, error) =
                    work.estimates.multiplied_out(model, state, &work.columns, form, below);
                if error.is_finite() {
                    scratch.row.clear();
                    scratch.row.extend(coefficients.iter().map(|c| sign * c));
                    let right = error + slack * magnitude - sign * constant;
                    added |= self.offer_row(right, false, scratch, only_violated);
                }
            }
        }
        added
    }

    /// Adds the row under construction when it says something (and, if asked, when `z` violates it).
    fn offer_row(&mut self, mut right: f64, affine: bool, scratch: &mut Pass, only_violated: bool) -> bool {
        let Pass { row, z, lower, upper, .. } = scratch;
        if !clean(row, &mut right, lower, upper) {
            return false;
        }
        if only_violated {
            let activity: f64 = row.iter().zip(&*z).map(|(a, x)| a * x).sum();
            let scale: f64 = row.iter().zip(&*z).map(|(a, x)| (a * x).abs()).sum();
            if activity <= right + 1e-9 * scale {
                return false;
            }
        }
        self.work.qp.push_le(row, right);
        scratch.affine.push(affine);
        true
    }

    /// Bounds from the rows one by one, and from the multipliers. Returns whether another pass pays. `others` is the distance of the
    /// variables that are no columns, `base` that of all.
    fn tighten(
        &mut self,
        region: &mut Region,
        goal: f64,
        others: f64,
        base: f64,
        relaxed: &mut Option<Relaxed>,
        scratch: &mut Pass,
    ) -> Option<bool> {
        let model = self.model;
        let Pass { lower, upper, weights, centre, ranges, aggregate: a, affine, .. } = scratch;
        let n = lower.len();
        ranges.clear();
        ranges.extend((0..n).map(|j| Interval::new(lower[j], upper[j])));
        // a x <= b, the aggregated row.
        a.clear();
        a.resize(n, 0.0);
        let mut b = 0.0;
        let mut magnitude = 0.0;
        for (r, &lambda) in self.work.qp.row_multipliers().iter().enumerate().take(affine.len()) {
            let lambda = lambda.max(0.0);
            if lambda > 0.0 && lambda.is_finite() {
                let right = self.work.qp.row_sides(r).1;
                for (a, coefficient) in a.iter_mut().zip(self.work.qp.row(r)) {
                    *a += lambda * coefficient;
                }
                b += lambda * right;
                magnitude += (lambda * right).abs();
            }
        }
        // q_j(x) = w_j (x - c_j)^2 + a_j x, and the sum of the minima less b is a lower bound.
        let minimum = |j: usize| {
            let x = (centre[j] - a[j] / (2.0 * weights[j])).clamp(lower[j], upper[j]);
            (weights[j] * (x - centre[j]).powi(2) + a[j] * x, (a[j] * x).abs())
        };
        let mut columns_bound = -b;
        for j in 0..n {
            let (value, size) = minimum(j);
            columns_bound += value;
            magnitude += size;
        }
        columns_bound -= 1e-13 * (n as f64 + 4.0) * magnitude;
        let bound = (columns_bound + others).max(base);
        if goal < f64::INFINITY {
            if bound >= goal * (1.0 + 1e-12) {
                return None;
            }
            // Points nearer than the goal have q_j(x) <= goal - bound + min q_j.
            let room = goal - (columns_bound + others) + 1e-9 * goal.abs() + 1e-13 * magnitude;
            for j in 0..n {
                let (least, _) = minimum(j);
                let t = least + room;
                // w (x - m)^2 <= t - a c + a^2 / (4 w), with m = c - a / (2 w).
                let m = centre[j] - a[j] / (2.0 * weights[j]);
                let square = (t - a[j] * centre[j]) / weights[j] + (a[j] / (2.0 * weights[j])).powi(2);
                if square.is_finite() && square >= 0.0 {
                    let radius = square.sqrt();
                    let slack = 1e-9 * (radius + m.abs() * 1e-3) + 1e-12 * centre[j].abs();
                    ranges[j] = ranges[j].intersect(Interval::new(m - radius - slack, m + radius + slack));
                }
            }
        }
        if let Some(relaxed) = relaxed {
            relaxed.bound = relaxed.bound.max(bound);
        }
        for (r, _) in affine.iter().enumerate().filter(|(_, affine)| !**affine) {
            propagate_row(self.work.qp.row(r), self.work.qp.row_sides(r).1, ranges);
        }
        let mut pays = false;
        for j in 0..n {
            let v = self.work.columns.variables[j];
            let range = ranges[j];
            if range.is_empty() {
                // Certificates are re-checked before anything is pruned: an empty bound here is rounding or a cut-off.
                if range.lo - range.hi > 1e-9 * (upper[j] - lower[j]) {
                    return None;
                }
                continue;
            }
            if self.work.propagator.restrict(model, self.domains, v, range)? {
                for &r in &model.users[v] {
                    self.work.propagator.enqueue(r as usize);
                }
                pays |=
                    range.width() <= (1.0 - PAYS) * (upper[j] - lower[j]) || self.domains[v].is_discrete();
            }
        }
        self.work.propagator.store(model, region);
        Some(pays)
    }
}

/// Folds rounding noise into the right side; false when nothing is left of the row or the box cannot violate it.
fn clean(row: &mut [f64], right: &mut f64, lower: &[f64], upper: &[f64]) -> bool {
    let mut scale = 0.0_f64;
    for (j, a) in row.iter().enumerate() {
        scale = scale.max(a.abs() * (upper[j] - lower[j]));
    }
    if !(scale.is_finite() && right.is_finite()) {
        return false;
    }
    let mut largest = 0.0;
    let mut magnitude = right.abs();
    for (j, a) in row.iter_mut().enumerate() {
        if *a == 0.0 {
            continue;
        }
        let low = if *a > 0.0 { *a * lower[j] } else { *a * upper[j] };
        if a.abs() * (upper[j] - lower[j]) < NOISE * scale {
            *right -= low;
            *right += f64::EPSILON * 4.0 * (right.abs() + low.abs());
            *a = 0.0;
            continue;
        }
        largest += if *a > 0.0 { *a * upper[j] } else { *a * lower[j] };
        magnitude += low.abs();
    }
    if largest <= *right {
        return false;
    }
    // A row that no point satisfies is for the certificate to find; one of noise alone says nothing.
    if row.iter().all(|&a| a == 0.0) {
        return *right < -1e-9 * magnitude.max(1e-300);
    }
    true
}

/// Each variable is what the row leaves to it, rounded outward.
fn propagate_row(row: &[f64], right: f64, ranges: &mut [Interval]) {
    let mut least = Interval::point(0.0);
    for (a, range) in row.iter().zip(ranges.iter()) {
        if *a != 0.0 {
            least = least + *range * *a;
        }
    }
    let scale = right.abs() + least.lo.abs();
    for (j, &a) in row.iter().enumerate() {
        if a == 0.0 || !least.lo.is_finite() {
            continue;
        }
        let own = ranges[j] * a;
        // right - (least - own), with a margin for the difference of two rounded sums.
        let rest = right - (least.lo - own.lo) + 1e-14 * (scale + own.magnitude()) * row.len() as f64;
        let bound = rest / a;
        let bound = if a > 0.0 { bound + bound.abs() * 1e-15 } else { bound - bound.abs() * 1e-15 };
        if a > 0.0 {
            if bound < ranges[j].hi {
                ranges[j].hi = bound;
            }
        } else if bound > ranges[j].lo {
            ranges[j].lo = bound;
        }
        if ranges[j].is_empty() {
            return;
        }
    }
}
