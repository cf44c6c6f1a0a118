//! Constraints as linear forms over a box, and sums of them that fail.

use leafgp_constraints::statement::{Condition, GridRow, Number, NumberId};
use leafgp_constraints::{Range, Region};

use super::form::{Curve, Form};
use super::forward::Forward;
use super::known::Known;
use super::row::Row;
use super::values::{Values, power};

/// The left side of a row less its right side, and how far above zero (and, for an equality, below) it may be.
#[derive(Clone, Debug)]
pub(crate) struct RowForm {
    pub(crate) difference: Form,
    pub(crate) slack: f64,
    pub(crate) equality: bool,
}

impl Forward<'_> {
    /// What is known of some operations (ascending, with their operands) over a box, by intervals and linear forms together, and the forms.
    pub(super) fn known_and_forms(&self, numbers: &[u32], region: &Region) -> (Known, Vec<Option<Form>>) {
        let mut forms = vec![None; self.statement.numbers.len()];
        let mut known = self.known(&[], region);
        for &k in numbers {
            let natural = self.values(k, region, &known);
            let form = if natural.is_none() { None } else { self.form(k, region, natural, &known, &forms) };
            let mut values = natural;
            if let Some(form) = form {
                // Both hold, and so does what they have in common.
                let linear: Values = form.values();
                let both = Values { low: natural.low.max(linear.low), high: natural.high.min(linear.high) };
                if !both.is_none() {
                    values = both;
                }
                forms[k as usize] = Some(form);
            }
            self.learn(k, values, region, &mut known);
        }
        (known, forms)
    }

    /// The rows as linear forms over the box; `None` where that fails.
    pub(crate) fn row_forms(&self, region: &Region) -> Vec<Option<RowForm>> {
        let (known, forms) = self.known_and_forms(&self.row_numbers, region);
        let row_form = |row: &Row| {
            if self.statement.whole_rows.contains(&row.condition) && !row.exact {
                return None;
            }
            let (a, b) = (row.a.0 as usize, row.b.0 as usize);
            let difference = match self.statement.grid_rows.get(&row.condition) {
                Some(grid) => {
                    let form = grid_form(grid, region)?;
                    // The steps are those of the comparison as it stands; a negation turns its sides.
                    let swapped = match &self.statement.conditions[row.condition.0 as usize] {
                        Condition::Compare(_, first, _) => *first != row.a,
                        _ => false,
                    };
                    if swapped { form.negate() } else { form }
                }
                None => forms[a].as_ref()?.subtract(forms[b].as_ref()?)?,
            };
            let slack = self.slack(row, &known);
            slack.is_finite().then(|| RowForm { difference, slack, equality: row.equality.is_some() })
        };
        self.rows.iter().map(row_form).collect()
    }

    /// How far the sides of a row may lie apart.
    pub(super) fn slack(&self, row: &Row, known: &Known) -> f64 {
        match row.equality {
            Some(equality) if equality > 0.0 && !row.exact => {
                1.01 * equality * known.size(row.a).max(known.size(row.b))
            }
            _ => 0.0,
        }
    }

    fn form(
        &self,
        k: u32,
        region: &Region,
        natural: Values,
        known: &Known,
        forms: &[Option<Form>],
    ) -> Option<Form> {
        let n = region.0.len();
        let of = |id: NumberId| forms[id.0 as usize].as_ref();
        let range = |id: NumberId| known.values(id);
        let constant = || Form::constant(n, natural);
        let power_form = |a: NumberId, exponent: f64| {
            let range = range(a);
            let second = exponent * (exponent - 1.0);
            let even = exponent > 0.0 && exponent % 2.0 == 0.0;
            let smooth = even || range.low > 0.0 || range.high < 0.0 || (exponent > 1.0 && range.low >= 0.0);
            let odd_below = range.low < 0.0 && exponent % 2.0 != 0.0;
            if !smooth || (range.low < 0.0 && exponent.fract() != 0.0) {
                return None;
            }
            let curve = Curve {
                value: &|x| power(x, exponent),
                slope: &|x| exponent * power(x, exponent - 1.0),
                convex: (second >= 0.0) != odd_below,
            };
            of(a)?.bent(range, &curve)
        };
        let form = match self.statement.numbers[k as usize] {
            Number::Constant(_) | Number::Whole(_) | Number::If(..) => None,
            Number::Variable(v) => match region.0[v] {
                Range::Interval { .. } => Form::variable(n, v, natural),
                Range::Levels(_) => None,
            },
            Number::Add(a, b) => of(a).zip(of(b)).and_then(|(a, b)| a.add(b)),
            Number::Subtract(a, b) => of(a).zip(of(b)).and_then(|(a, b)| a.subtract(b)),
            Number::Multiply(a, b) if a == b => of(a).and_then(Form::square),
            Number::Power(a, 2.0) => of(a).and_then(Form::square),
            Number::Multiply(a, b) => of(a).zip(of(b)).and_then(|(a, b)| a.multiply(b)),
            Number::Divide(a, b) => {
                of(a).and_then(|a| a.multiply(&reciprocal(range(b), forms[b.0 as usize].as_ref()?)?))
            }
            Number::Negate(a) => of(a).map(Form::negate),
            Number::Power(a, exponent) => power_form(a, exponent),
            Number::Exponential(base, a) => of(a).and_then(|form| {
                let slope = |x| base.ln() * base.powf(x);
                form.bent(range(a), &Curve { value: &|x| base.powf(x), slope: &slope, convex: true })
            }),
            Number::Exp(a) => of(a).and_then(|form| {
                form.bent(range(a), &Curve { value: &f64::exp, slope: &f64::exp, convex: true })
            }),
            Number::Log(a) if range(a).low > 0.0 => of(a).and_then(|form| {
                form.bent(range(a), &Curve { value: &f64::ln, slope: &f64::recip, convex: false })
            }),
            Number::Log10(a) if range(a).low > 0.0 => of(a).and_then(|form| {
                let slope = |x: f64| 1.0 / (std::f64::consts::LN_10 * x);
                form.bent(range(a), &Curve { value: &f64::log10, slope: &slope, convex: false })
            }),
            Number::Sqrt(a) if range(a).low >= 0.0 && range(a).high > 0.0 => of(a).and_then(|form| {
                form.bent(range(a), &Curve { value: &f64::sqrt, slope: &|x| 0.5 / x.sqrt(), convex: false })
            }),
            Number::Log(_) | Number::Log10(_) | Number::Sqrt(_) => None,
            Number::Min(a, b) | Number::Max(a, b) => {
                let is_max = matches!(self.statement.numbers[k as usize], Number::Max(..));
                let (low, high) = if range(a).high <= range(b).low {
                    (a, b)
                } else if range(b).high <= range(a).low {
                    (b, a)
                } else {
                    return constant();
                };
                of(if is_max { high } else { low }).cloned()
            }
            Number::Abs(a) if range(a).low >= 0.0 => of(a).cloned(),
            Number::Abs(a) if range(a).high <= 0.0 => of(a).map(Form::negate),
            Number::Abs(_) => None,
            Number::Floor(a) => of(a).and_then(|form| form.shifted(-1.0, 0.0)),
            Number::Ceil(a) => of(a).and_then(|form| form.shifted(0.0, 1.0)),
        };
        form.or_else(constant)
    }

    /// True when the rows, added up with these multipliers, fail at every point of the box. A multiplier below zero asks an equality from below; an inequality has none.
    pub(crate) fn contradicts(&self, forms: &[Option<RowForm>], multipliers: &[(u16, f32)]) -> bool {
        let n = self.statement.domains.len();
        let (mut sum, mut slopes) = (0.0, vec![0.0; n]);
        let (mut allowed, mut magnitude) = (0.0, 0.0);
        for &(row, multiplier) in multipliers {
            let Some(Some(form)) = forms.get(row as usize) else { return false };
            let factor = f64::from(multiplier);
            if !factor.is_finite() || (factor < 0.0 && !form.equality) {
                return false;
            }
            sum += factor * form.difference.centre;
            slopes.iter_mut().zip(&form.difference.slopes).for_each(|(sum, s)| *sum += factor * s);
            allowed += factor.abs() * (form.difference.error + form.slack);
            magnitude += factor.abs() * (form.difference.centre.abs() + form.difference.reach());
        }
        let reach: f64 = slopes.iter().map(|s| s.abs()).sum();
        let terms = (multipliers.len() + n) as f64 + 8.0;
        // Each of the sums above is off by at most `terms` roundings of its terms' sizes.
        let margin = 2.0 * terms * f64::EPSILON * (magnitude + allowed) + f64::MIN_POSITIVE;
        sum - reach - allowed - margin > 0.0
    }
}

/// The reciprocal of a form whose values lie in `range`.
fn reciprocal(range: Values, form: &Form) -> Option<Form> {
    if range.low <= 0.0 && range.high >= 0.0 {
        return None;
    }
    let curve = Curve { value: &f64::recip, slope: &|x| -1.0 / (x * x), convex: range.low > 0.0 };
    form.bent(range, &curve)
}

/// The same as a linear form: a coordinate times its scale is its whole number of steps but for two roundings.
fn grid_form(row: &GridRow, region: &Region) -> Option<Form> {
    let n = region.0.len();
    let mut form = Form::constant(n, Values::point(-(row.bound as f64)))?;
    for &(variable, scale, coefficient) in &row.terms {
        let Range::Interval { lower, upper } = region.0[variable] else { return None };
        let factor = scale * coefficient as f64;
        let term = Form::variable(n, variable, Values { low: lower, high: upper })?;
        form = term.multiply(&Form::constant(n, Values::point(factor))?)?.add(&form)?;
    }
    Some(form)
}
