//! Finds claims for certificates: parts of a box where constraints fail by forward evaluation.

use crate::certificate::{Claim, Forward, RowForm, halves};
use leafgp_constraints::qp::{Qp, Status};
use leafgp_constraints::{Domain, Range, Region};

/// A slab is worth a claim when it has this share of a variable's range.
const WORTHWHILE: f64 = 1.0 / 16.0;
/// Halvings of what is not known about a slab's end.
const REFINEMENTS: usize = 6;
/// Times every constraint is gone through.
const PASSES: usize = 8;
/// What a whole domain's width counts beside gains, which are shares of rows.
const WIDTH_COUNTS: f64 = 1e-3;
/// Multipliers below this share of the largest are left out.
const NEGLIGIBLE: f64 = 1e-6;

/// Work memory.
#[derive(Debug)]
pub(crate) struct Refuter {
    qp: Qp,
}

impl Default for Refuter {
    fn default() -> Self {
        Self { qp: Qp::new(0) }
    }
}

impl Refuter {
    /// Cuts slabs off a box where a constraint fails. Returns the claims, and whether a part stays open; the box becomes that part.
    pub(crate) fn contract(&mut self, forward: &Forward<'_>, region: &mut Region) -> (Vec<Claim>, bool) {
        let mut claims = Vec::new();
        for _ in 0..PASSES {
            let before = claims.len();
            for root in 0..forward.n_roots() {
                if forward.fails(root, region) {
                    claims.push(Claim::Fails(root as u16));
                    return (claims, false);
                }
                for &variable in forward.variables(root) {
                    match region.0[variable] {
                        Range::Interval { .. } => {
                            shave(forward, root, variable, false, region, &mut claims);
                            shave(forward, root, variable, true, region, &mut claims);
                        }
                        Range::Levels(_) => strike(forward, root, variable, region, &mut claims),
                    }
                }
            }
            if claims.len() == before {
                break;
            }
        }
        if let Some(claim) = self.combination(forward, &forward.row_forms(region)) {
            claims.push(claim);
            return (claims, false);
        }
        claims.push(Claim::Open);
        (claims, true)
    }

    /// Claims that no point of the box is feasible, with at most `nodes` boxes looked at; `None` when that does not do.
    pub(crate) fn refute(
        &mut self,
        forward: &Forward<'_>,
        mut region: Region,
        nodes: &mut usize,
        stop: &dyn Fn() -> bool,
    ) -> Option<Vec<Claim>> {
        *nodes = nodes.checked_sub(1)?;
        if stop() {
            return None;
        }
        let (mut claims, open) = self.contract(forward, &mut region);
        if !open {
            return Some(claims);
        }
        // What the split says stands in place of the open end.
        claims.pop();
        let (variable, at) = choose(forward, &region)?;
        let [Some(lower), Some(upper)] = halves(forward.domains(), &region, variable, at)? else {
            return None;
        };
        claims.push(Claim::Split { variable: variable as u16, at, upper_first: false });
        for part in [lower, upper] {
            claims.extend(self.refute(forward, part, nodes, stop)?);
        }
        Some(claims)
    }

    /// Multipliers whose sum of rows fails everywhere.
    fn combination(&mut self, forward: &Forward<'_>, forms: &[Option<RowForm>]) -> Option<Claim> {
        let n = forward.statement().domains.len();
        self.qp.reset(n);
        self.qp.set_box(&vec![-1.0; n], &vec![1.0; n]);
        let mut scales = Vec::new();
        for (row, form) in forms.iter().enumerate() {
            let Some(RowForm { difference, slack, equality }) = form else { continue };
            let reach = difference.reach();
            let upper = slack + difference.error - difference.centre;
            let lower =
                if *equality { -slack - difference.error - difference.centre } else { f64::NEG_INFINITY };
            // Rows that the whole box satisfies say nothing.
            if upper >= reach && lower <= -reach {
                continue;
            }
            let scale = difference.slopes.iter().map(|s| s * s).sum::<f64>().sqrt().max(1e-300);
            let coefficients: Vec<f64> = difference.slopes.iter().map(|s| s / scale).collect();
            self.qp.push_row(&coefficients, lower / scale, upper / scale);
            scales.push((row, scale));
        }
        if scales.is_empty() || !matches!(self.qp.solve(), Ok(Status::Infeasible { .. })) {
            return None;
        }
        let multipliers =
            self.qp.row_multipliers().iter().zip(&scales).map(|(m, &(row, scale))| (row, m / scale));
        let weight = |&(row, m): &(usize, f64)| {
            forms[row].as_ref().map_or(0.0, |form| m.abs() * form.difference.reach())
        };
        let largest = multipliers.clone().map(|m| weight(&m)).fold(0.0, f64::max);
        let multipliers: Vec<_> = multipliers.filter(|m| weight(m) > NEGLIGIBLE * largest).collect();
        // Sizes that single precision holds.
        let size = multipliers.iter().map(|(_, m)| m.abs()).fold(0.0, f64::max);
        let stored: Vec<(u16, f32)> =
            multipliers.iter().map(|&(row, m)| (row as u16, (m / size) as f32)).collect();
        forward.contradicts(forms, &stored).then_some(Claim::Combined(stored))
    }
}

/// Cuts off the lower or upper end of a number's range where the constraint fails.
fn shave(
    forward: &Forward<'_>,
    root: usize,
    variable: usize,
    upper_end: bool,
    region: &mut Region,
    claims: &mut Vec<Claim>,
) {
    let Range::Interval { lower, upper } = region.0[variable] else { return };
    if lower >= upper {
        return;
    }
    let at = |share: f64| {
        let at = if upper_end { upper - share * (upper - lower) } else { lower + share * (upper - lower) };
        at.clamp(lower, upper)
    };
    // The part that goes, and what stays.
    let parts = |share: f64| -> Option<[Region; 2]> {
        let [below, above] = halves(forward.domains(), region, variable, at(share))?;
        let (gone, kept) = if upper_end { (above?, below?) } else { (below?, above?) };
        Some([gone, kept])
    };
    let fails = |share: f64| parts(share).is_some_and(|[gone, _]| forward.fails(root, &gone));
    if !fails(WORTHWHILE) {
        return;
    }
    let (mut good, mut bad) = (WORTHWHILE, 1.0);
    for _ in 0..REFINEMENTS {
        let share = 0.5 * (good + bad);
        if fails(share) { good = share } else { bad = share }
    }
    if let Some([_, kept]) = parts(good) {
        claims.push(Claim::Split { variable: variable as u16, at: at(good), upper_first: upper_end });
        claims.push(Claim::Fails(root as u16));
        *region = kept;
    }
}

/// Strikes out levels with which the constraint fails.
fn strike(forward: &Forward<'_>, root: usize, variable: usize, region: &mut Region, claims: &mut Vec<Claim>) {
    let Range::Levels(kept) = region.0[variable].clone() else { return };
    for level in kept.iter() {
        let at = level as f64;
        if let Some([Some(one), Some(others)]) = halves(forward.domains(), region, variable, at)
            && forward.fails(root, &one)
        {
            claims.push(Claim::Split { variable: variable as u16, at, upper_first: false });
            claims.push(Claim::Fails(root as u16));
            *region = others;
        }
    }
}

/// Where to split a box: the variable whose halving takes most off the errors of the rows' linear forms; where none does, the widest that a constraint reads.
fn choose(forward: &Forward<'_>, region: &Region) -> Option<(usize, f64)> {
    let domains = forward.domains();
    let mut read = vec![false; domains.len()];
    (0..forward.n_roots()).flat_map(|root| forward.variables(root)).for_each(|&v| read[v] = true);
    let whole = forward.row_forms(region);
    let mut best = None;
    for variable in (0..domains.len()).filter(|&v| read[v]) {
        let width = width(&domains[variable], &region.0[variable]);
        if width <= 0.0 {
            continue;
        }
        let at = match &region.0[variable] {
            Range::Interval { lower, upper } => {
                let middle = 0.5 * lower + 0.5 * upper;
                // Not the last value, which would leave nothing above it.
                if middle >= *upper { *lower } else { middle.max(*lower) }
            }
            Range::Levels(kept) => kept.first()? as f64,
        };
        let [Some(lower), Some(upper)] = halves(forward.domains(), region, variable, at)? else {
            return None;
        };
        let parts = [forward.row_forms(&lower), forward.row_forms(&upper)];
        let gain = |(row, form): (usize, &Option<RowForm>)| {
            let error = |form: &Option<RowForm>| form.as_ref().map_or(0.0, |form| form.difference.error);
            let left = error(&parts[0][row]).max(error(&parts[1][row]));
            let size = form.as_ref().map_or(1.0, |form| form.difference.reach() + form.difference.error);
            if size > 0.0 { (error(form) - left) / size } else { 0.0 }
        };
        let score = whole.iter().enumerate().map(gain).sum::<f64>() + WIDTH_COUNTS * width;
        if best.is_none_or(|(most, _, _)| score > most) {
            best = Some((score, variable, at));
        }
    }
    best.map(|(_, variable, at)| (variable, at))
}

/// Share of the domain that a range has; 0 for a single value.
fn width(domain: &Domain, range: &Range) -> f64 {
    match range {
        Range::Interval { lower, upper } if lower < upper => {
            let (first, last) = domain.bounds();
            ((upper - lower) / (last - first)).max(f64::MIN_POSITIVE)
        }
        Range::Levels(kept) if kept.len() > 1 => kept.len() as f64 / kept.capacity() as f64,
        _ => 0.0,
    }
}
