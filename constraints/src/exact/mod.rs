//! The linear constraints of a set in exact fractions: sets without an interior, and strict comparisons that contradict each other, are decided by them alone,
//! where every rounding is too much.
//!
//! Numbers are the decimals that they are written as. The point of an answer still has to pass the check of points.

mod simplex;

use std::collections::BTreeMap;

use crate::domain::Domain;
use crate::expr::{Comparison, Condition, Number, NumberId, Program, negation};
use crate::model::Piece;
use crate::rational::Rational;
use crate::region::{Range, Region};
use simplex::{Answer, Row, decide};

/// Cells of the dictionary beyond which nothing is tried.
const MOST_CELLS: usize = 5_000;

/// What the linear constraints say about a box.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// They have no common point in it.
    Infeasible,
    /// The values of the variables that they read, at a vertex.
    Point(Vec<(usize, f64)>),
}

/// A linear form in some variables, and its constant.
type Form = (BTreeMap<usize, Rational>, Rational);

/// Whether one of the pieces is a strict comparison.
pub(crate) fn any_strict(program: &Program, pieces: impl IntoIterator<Item = Piece>) -> bool {
    pieces.into_iter().any(|piece| {
        matches!(comparison(program, piece), Some((Comparison::Less, a, b)) if form(program, a, b).is_some())
    })
}

/// Decides the linear comparisons among the pieces, all of which must hold. `None` when that is too much, or cannot be done in fractions this size, and when
/// equalities fail, which have a tolerance.
pub(crate) fn verdict(
    program: &Program,
    domains: &[Domain],
    pieces: impl IntoIterator<Item = Piece>,
    region: &Region,
) -> Option<Verdict> {
    let mut forms = Vec::new();
    for piece in pieces {
        let Some((op, a, b)) = comparison(program, piece) else { continue };
        let Some(form) = form(program, a, b) else { continue };
        if form.0.keys().all(|&v| !domains[v].is_categorical()) {
            forms.push((op, form));
        }
    }
    let mut columns: Vec<(usize, Rational, Rational)> = Vec::new();
    let mut place = BTreeMap::new();
    for &v in forms.iter().flat_map(|(_, (terms, _))| terms.keys()) {
        if let Range::Interval { lower, upper } = region.0[v]
            && !place.contains_key(&v)
        {
            place.insert(v, columns.len());
            columns.push((v, Rational::decimal(lower)?, Rational::decimal(upper)?));
        }
    }
    let n = columns.len();
    if forms.is_empty() || (2 * forms.len() + n) * (n + 3) > MOST_CELLS {
        return None;
    }
    let mut rows = Vec::with_capacity(2 * forms.len() + n);
    for (k, &(_, lower, upper)) in columns.iter().enumerate() {
        rows.push(Row { terms: vec![(k, Rational::ONE)], right: upper.minus(lower)?, strict: false });
    }
    let mut has_equality = false;
    for (op, (terms, constant)) in forms {
        // Counted from the lower bounds.
        let mut right = constant.negate();
        let mut shifted = Vec::with_capacity(terms.len());
        for (v, a) in terms {
            let k = *place.get(&v)?;
            right = right.minus(a.times(columns[k].1)?)?;
            shifted.push((k, a));
        }
        if op == Comparison::Equal {
            has_equality = true;
            let opposite = shifted.iter().map(|&(k, a)| (k, a.negate())).collect();
            rows.push(Row { terms: opposite, right: right.negate(), strict: false });
        }
        rows.push(Row { terms: shifted, right, strict: op == Comparison::Less });
    }
    match decide(n, &rows)? {
        Answer::Infeasible => (!has_equality).then_some(Verdict::Infeasible),
        Answer::OnlyAtTheEdge => Some(Verdict::Infeasible),
        Answer::Point(y) => {
            let value = |(&(v, lower, _), y): (&(usize, Rational, Rational), &Rational)| {
                Some((v, lower.plus(*y)?.value()))
            };
            columns.iter().zip(&y).map(value).collect::<Option<_>>().map(Verdict::Point)
        }
    }
}

/// The comparison that a piece states, other than `!=`.
fn comparison(program: &Program, piece: Piece) -> Option<(Comparison, NumberId, NumberId)> {
    let Condition::Compare(op, a, b) = *program.get_condition(piece.condition) else { return None };
    let (op, swapped) = if piece.negated { negation(op) } else { (op, false) };
    (op != Comparison::NotEqual).then_some(if swapped { (op, b, a) } else { (op, a, b) })
}

/// `a - b`; `None` when another operation than those of linear forms is in it.
fn form(program: &Program, a: NumberId, b: NumberId) -> Option<Form> {
    let (mut terms, mut constant) = (BTreeMap::new(), Rational::ZERO);
    // Operands come before their users: from the last to the first, each is complete when it is reached.
    let mut pending = BTreeMap::from([(a, Rational::ONE)]);
    add(&mut pending, b, Rational::ONE.negate())?;
    while let Some((id, factor)) = pending.pop_last() {
        match *program.get(id) {
            Number::Constant(value) => constant = constant.plus(factor.times(Rational::decimal(value)?)?)?,
            Number::Variable(v) => {
                terms.insert(v, factor);
            }
            Number::Negate(a) => add(&mut pending, a, factor.negate())?,
            Number::Add(a, b) => {
                add(&mut pending, a, factor)?;
                add(&mut pending, b, factor)?;
            }
            Number::Subtract(a, b) => {
                add(&mut pending, a, factor)?;
                add(&mut pending, b, factor.negate())?;
            }
            Number::Multiply(a, b) => {
                let (value, other) = match (program.constant(a), program.constant(b)) {
                    (Some(value), _) => (value, b),
                    (_, Some(value)) => (value, a),
                    _ => return None,
                };
                add(&mut pending, other, factor.times(Rational::decimal(value)?)?)?;
            }
            Number::Divide(a, b) => {
                let divisor = Rational::decimal(program.constant(b)?)?;
                add(&mut pending, a, factor.over(divisor)?)?;
            }
            _ => return None,
        }
    }
    terms.retain(|_, a: &mut Rational| !a.is_zero());
    Some((terms, constant))
}

fn add(sum: &mut BTreeMap<NumberId, Rational>, id: NumberId, factor: Rational) -> Option<()> {
    let coefficient = sum.entry(id).or_insert(Rational::ZERO);
    *coefficient = coefficient.plus(factor)?;
    Some(())
}
