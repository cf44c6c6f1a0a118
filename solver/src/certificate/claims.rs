//! Evidence that parts of a box hold no feasible point: a tree of splits whose ends fail by forward evaluation.

use leafgp_constraints::{Domain, LevelSet, Range, Region};

use super::forward::Forward;
use super::work::{Objection, Work};

/// A node of the tree, in depth-first order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Claim {
    /// Nothing is claimed: feasible points may be here.
    Open,
    /// The constraint fails everywhere.
    Fails(u16),
    /// The rows, added up with multipliers, fail everywhere.
    Combined(Vec<(u16, f32)>),
    /// Two parts: a number's values up to `at` and above, or the level `at` and the others. The first to follow is the upper part (the others) when
    /// `upper_first`.
    Split { variable: u16, at: f64, upper_first: bool },
}

/// Whether parts without an allowed value have claims. Where the verifier's boxes may be smaller than those the claims were made of, they do, since it cannot be
/// foreseen which parts will be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptyParts {
    HaveNone,
    HaveClaims,
}

/// Parts that may wait for their claims at a time: memory does not grow with the file.
const MAX_WAITING: usize = 4096;

/// Both parts of a box; `None` where a part holds no allowed value.
pub(crate) fn halves(
    domains: &[Domain],
    region: &Region,
    variable: usize,
    at: f64,
) -> Option<[Option<Region>; 2]> {
    let domain = domains.get(variable)?;
    let ranges = match &region.0[variable] {
        Range::Interval { lower, upper } => {
            let part = |lower, upper| {
                domain.within(lower, upper).map(|(lower, upper)| Range::Interval { lower, upper })
            };
            if at.is_nan() {
                return None;
            }
            [part(*lower, at.min(*upper)), part(at.next_up().max(*lower), *upper)]
        }
        Range::Levels(kept) => {
            let n = kept.capacity();
            let part = |one: bool| {
                let levels = (0..n).filter(|&level| kept.contains(level) && (level as f64 == at) == one);
                Some(LevelSet::from_indices(n, levels)).filter(|set| !set.is_empty()).map(Range::Levels)
            };
            [part(true), part(false)]
        }
    };
    Some(ranges.map(|range| {
        range.map(|range| {
            let mut part = region.clone();
            part.0[variable] = range;
            part
        })
    }))
}

/// Checks the claims about a box. Returns the smallest box around its open parts; `None` when there are none.
pub(super) fn settle(
    forward: &Forward<'_>,
    empty_parts: EmptyParts,
    claims: &[Claim],
    region: Region,
    work: &mut Work,
) -> Result<Option<Region>, Objection> {
    let mut open: Option<Region> = None;
    // `None` is an empty part: its claims are passed over.
    let mut waiting = vec![Some(region)];
    let mut claims = claims.iter();
    while let Some(part) = waiting.pop() {
        let claim = claims.next().ok_or(Objection::Flaw("a part of the box has no claim"))?;
        let Some(part) = part else {
            work.charge(1)?;
            if let Claim::Split { .. } = claim {
                wait(&mut waiting, [None, None])?;
            }
            continue;
        };
        match claim {
            Claim::Open => {
                work.charge(part.0.len())?;
                open = Some(match open {
                    None => part,
                    Some(open) => around(open, &part),
                });
            }
            Claim::Fails(root) => {
                let root = usize::from(*root);
                if root >= forward.n_roots() {
                    return Err(Objection::Flaw("a claim names no constraint"));
                }
                work.charge(forward.work_of_root(root))?;
                if !forward.fails(root, &part) {
                    return Err(Objection::Flaw("a constraint is not shown to fail"));
                }
            }
            Claim::Combined(multipliers) => {
                work.charge(forward.work_of_rows() + multipliers.len() * (part.0.len() + 1))?;
                if !forward.contradicts(&forward.row_forms(&part), multipliers) {
                    return Err(Objection::Flaw("a sum of constraints is not shown to fail"));
                }
            }
            Claim::Split { variable, at, upper_first } => {
                work.charge(2 * part.0.len())?;
                let halves = halves(forward.domains(), &part, usize::from(*variable), *at)
                    .ok_or(Objection::Flaw("a split does not fit the variables"))?;
                let [lower, upper] = halves;
                // The first is popped first.
                let mut parts = if *upper_first { vec![lower, upper] } else { vec![upper, lower] };
                if empty_parts == EmptyParts::HaveNone {
                    parts.retain(Option::is_some);
                }
                wait(&mut waiting, parts)?;
            }
        }
    }
    if claims.next().is_some() {
        return Err(Objection::Flaw("claims are left over"));
    }
    Ok(open)
}

fn wait(
    waiting: &mut Vec<Option<Region>>,
    parts: impl IntoIterator<Item = Option<Region>>,
) -> Result<(), Objection> {
    if waiting.len() + 2 > MAX_WAITING {
        return Err(Objection::Flaw("splits are nested too deeply"));
    }
    waiting.extend(parts);
    Ok(())
}

/// The smallest box around two.
fn around(mut a: Region, b: &Region) -> Region {
    for (a, b) in a.0.iter_mut().zip(&b.0) {
        match (a, b) {
            (Range::Interval { lower, upper }, Range::Interval { lower: l, upper: u }) => {
                (*lower, *upper) = (lower.min(*l), upper.max(*u));
            }
            (Range::Levels(a), Range::Levels(b)) => a.union_with(b),
            _ => {}
        }
    }
    a
}
