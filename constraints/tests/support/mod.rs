//! Random constraint sets over the whole grammar, with an evaluator written from the definition: the slow twin of the engine.

#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(unreachable_pub, reason = "shared by test binaries")]

mod fraction;
pub mod generator;
pub mod sets;

use leafgp_constraints::{Constraints, ConstraintsBuilder, Variable};
use leafgp_constraints::{Domain, Region};

use fraction::Fraction;

/// A function of one argument: its name, and its value from the definition.
type Function = (&'static str, fn(f64) -> f64);

const FUNCTIONS: &[Function] = &[
    ("abs", |x| if x < 0.0 { -x } else { x }),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("sqrt", f64::sqrt),
    ("exp", f64::exp),
    ("log", |x| if x > 0.0 { x.ln() } else { f64::NAN }),
    ("log10", |x| if x > 0.0 { x.log10() } else { f64::NAN }),
];

/// A numeric expression.
#[derive(Clone, Debug)]
pub enum Num {
    Constant(f64),
    Variable(usize),
    Binary(char, Box<Num>, Box<Num>),
    Power(Box<Num>, i32),
    Exponential(f64, Box<Num>),
    Function(&'static str, Vec<Num>),
    If(Box<Cond>, Box<Num>, Box<Num>),
    Count(Vec<Cond>),
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Cond {
    Compare(&'static str, Num, Num),
    Chain(Num, &'static str, Num, &'static str, Num),
    Level(usize, bool, Vec<usize>),
    SameLevel(usize, usize),
    Set(Num, Vec<f64>, (f64, f64)),
    Not(Box<Cond>),
    Binary(&'static str, Box<Cond>, Box<Cond>),
    Tuples(usize, usize, Vec<(usize, f64)>),
}

/// A random problem on a small discrete space.
#[derive(Clone, Debug)]
pub struct Problem {
    pub variables: Vec<Variable>,
    pub conditions: Vec<Cond>,
    /// Variable, condition, inactive value.
    pub hierarchy: Vec<(usize, Cond, f64)>,
    /// A define that must be whole.
    pub whole: Option<Num>,
}

pub fn values(domain: &Domain) -> Vec<f64> {
    match domain {
        Domain::Integer { lower, upper } => (*lower as i64..=*upper as i64).map(|v| v as f64).collect(),
        Domain::Grid(grid) => (0..grid.count()).map(|k| grid.value(k)).collect(),
        Domain::Discrete(values) => values.clone(),
        Domain::Categorical { levels } => (0..*levels).map(|v| v as f64).collect(),
        Domain::Continuous { .. } => panic!("enumeration needs a discrete domain"),
    }
}

/// All points of a discrete space inside a box.
pub fn points(domains: &[Domain], region: &Region) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::new()];
    for (domain, range) in domains.iter().zip(&region.0) {
        let allowed: Vec<f64> = values(domain).into_iter().filter(|&v| range.contains(v)).collect();
        all = all
            .into_iter()
            .flat_map(|p| {
                allowed.iter().map(move |&v| {
                    let mut q = p.clone();
                    q.push(v);
                    q
                })
            })
            .collect();
    }
    all
}

/// `size` is what the tolerance of `==` is relative to.
fn close(op: &str, a: f64, b: f64, size: f64) -> bool {
    if a.is_nan() || b.is_nan() {
        return false;
    }
    match op {
        "<=" => a <= b,
        ">=" => a >= b,
        "<" => a < b,
        ">" => a > b,
        "==" => a == b || (size.is_finite() && (a - b).abs() <= 1e-9 * size),
        "!=" => a != b,
        _ => unreachable!(),
    }
}

fn opposite(op: &str) -> &'static str {
    match op {
        "<=" => ">",
        ">=" => "<",
        "<" => ">=",
        ">" => "<=",
        "==" => "!=",
        _ => "==",
    }
}

/// A point and the variables it belongs to.
type X<'a> = (&'a [f64], &'a [Variable]);

/// Comparison of two expressions: sums of steps, whole numbers and lists with short decimals as coefficients in exact decimals, whole numbers exactly, all else
/// in f64 within the tolerance of what is printed; inequalities of fractions hold when they hold in f64 or on paper, strict ones when in both.
fn compare(op: &str, a: &Num, b: &Num, x: X<'_>, exact: bool) -> bool {
    if let (Some(a), Some(b)) = (a.decimal(x), b.decimal(x)) {
        return close(op, a as f64, b as f64, 0.0) && (op != "==" || a == b);
    }
    let (left, right) = (a.eval(x), b.eval(x));
    let is_whole = a.is_whole(x) && b.is_whole(x) && left.abs().max(right.abs()) < 9e15;
    let said = close(op, left, right, if exact || is_whole { 0.0 } else { a.size(x).max(b.size(x)) });
    let on_paper = || {
        let difference = a.fraction(x)?.minus(b.fraction(x)?)?;
        Some(close(op, difference.sign() as f64, 0.0, 0.0))
    };
    match op {
        "<=" | ">=" => said || on_paper() == Some(true),
        "<" | ">" => said && on_paper() != Some(false),
        _ => said,
    }
}

/// Decimals are whole numbers of these.
const STEP: f64 = 1e-9;

impl Num {
    /// Nothing of it depends on a point or a condition.
    fn is_constant(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Variable(_) | Self::If(..) | Self::Count(_) => false,
            Self::Binary(_, a, b) => a.is_constant() && b.is_constant(),
            Self::Power(a, _) | Self::Exponential(_, a) => a.is_constant(),
            Self::Function(_, parts) => parts.iter().all(Self::is_constant),
        }
    }

    /// The value in steps, when it is a sum of decimals with decimal coefficients.
    fn decimal(&self, x: X<'_>) -> Option<i128> {
        let steps = |value: f64| {
            let steps = (value / STEP).round();
            let is_short = (0..=9).any(|d| {
                let scale = 10f64.powi(d);
                (value * scale).round() / scale == value
            });
            (is_short && steps.abs() < 1e18).then_some(steps as i128)
        };
        match self {
            _ if self.is_constant() => steps(self.eval(x)),
            Self::Variable(v) => match &x.1[*v].domain {
                Domain::Grid(_) | Domain::Integer { .. } | Domain::Discrete(_) => steps(x.0[*v]),
                _ => None,
            },
            Self::Binary('+', a, b) => Some(a.decimal(x)? + b.decimal(x)?),
            Self::Binary('-', a, b) => Some(a.decimal(x)? - b.decimal(x)?),
            Self::Binary('*', a, b) if a.is_constant() || b.is_constant() => {
                let product = a.decimal(x)?.checked_mul(b.decimal(x)?)?;
                let one = 1_000_000_000;
                (product % one == 0).then_some(product / one)
            }
            Self::Function("sum", parts) => parts.iter().map(|p| p.decimal(x)).sum(),
            Self::Function("min" | "max", parts) if parts.len() == 1 => parts[0].decimal(x),
            _ => None,
        }
    }

    /// The value on paper, when it is one of sums, products, quotients by numbers and powers up to the eighth.
    fn fraction(&self, x: X<'_>) -> Option<Fraction> {
        match self {
            _ if self.is_constant() => Fraction::written(self.eval(x)),
            Self::Constant(_) => None,
            Self::Variable(v) => Fraction::written(x.0[*v]),
            Self::Binary('+', a, b) => a.fraction(x)?.plus(b.fraction(x)?),
            Self::Binary('-', a, b) => a.fraction(x)?.minus(b.fraction(x)?),
            Self::Binary('*', a, b) => a.fraction(x)?.times(b.fraction(x)?),
            Self::Binary(_, a, b) if b.is_constant() => a.fraction(x)?.over(b.fraction(x)?),
            Self::Power(a, n) if (1..=8).contains(n) => {
                let base = a.fraction(x)?;
                (1..*n).try_fold(base, |product, _| product.times(base))
            }
            Self::Function("sum", parts) => {
                let first = parts[0].fraction(x)?;
                parts[1..].iter().try_fold(first, |sum, part| sum.plus(part.fraction(x)?))
            }
            Self::Function(name @ ("min" | "max"), parts) => {
                let side = if *name == "min" { -1 } else { 1 };
                let first = parts[0].fraction(x)?;
                parts[1..].iter().try_fold(first, |best, part| {
                    let value = part.fraction(x)?;
                    Some(if value.minus(best)?.sign() == side { value } else { best })
                })
            }
            _ => None,
        }
    }

    /// Whole for all whole numbers that it reads, and it reads no others.
    fn is_whole(&self, x: X<'_>) -> bool {
        match self {
            _ if self.is_constant() => self.eval(x).fract() == 0.0,
            Self::Constant(c) => c.fract() == 0.0,
            Self::Variable(v) => match &x.1[*v].domain {
                Domain::Integer { .. } => true,
                Domain::Discrete(values) => values.iter().all(|v| v.fract() == 0.0),
                _ => false,
            },
            Self::Binary('/', ..) | Self::Exponential(..) => false,
            Self::Binary(_, a, b) | Self::If(_, a, b) => a.is_whole(x) && b.is_whole(x),
            Self::Power(a, n) => *n >= 0 && a.is_whole(x),
            Self::Function("sqrt" | "exp" | "log" | "log10", _) => false,
            Self::Function(_, parts) => parts.iter().all(|p| p.is_whole(x)),
            Self::Count(_) => true,
        }
    }

    /// The size of the terms, from the table in `docs/holds.md`.
    fn size(&self, x: X<'_>) -> f64 {
        let value = || self.eval(x).abs();
        let largest = |parts: &[Self]| parts.iter().map(|p| p.size(x)).fold(0.0, f64::max);
        match self {
            _ if self.is_constant() => value(),
            Self::Constant(c) => c.abs(),
            Self::Variable(v) => {
                let (lower, upper) = x.1[*v].domain.bounds();
                let least = if lower <= 0.0 && upper >= 0.0 { 1e-9 * upper.max(-lower) } else { 0.0 };
                value().max(least)
            }
            Self::Binary('+' | '-', a, b) => a.size(x).max(b.size(x)),
            Self::Binary('*', a, b) => a.size(x) * b.size(x),
            Self::Binary(_, a, b) if b.is_constant() => a.size(x) / b.eval(x).abs(),
            Self::Power(a, n) if *n > 0 => a.size(x).powi(*n),
            Self::Function("sum" | "min" | "max" | "abs", parts) => largest(parts),
            Self::Function("sqrt", parts) => parts[0].size(x).sqrt(),
            Self::Function("log" | "log10", _) => value().max(1.0),
            Self::If(c, a, b) => if c.eval(x, false, true) { a } else { b }.size(x),
            Self::Count(_) => value().min(1.0),
            Self::Binary(..) | Self::Power(..) | Self::Exponential(..) | Self::Function(..) => value(),
        }
    }
}

impl Num {
    pub fn eval(&self, x: X<'_>) -> f64 {
        match self {
            Self::Constant(v) => *v,
            Self::Variable(i) => x.0[*i],
            Self::Binary(op, a, b) => {
                let (a, b) = (a.eval(x), b.eval(x));
                match op {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ if b == 0.0 => f64::NAN,
                    _ => a / b,
                }
            }
            Self::Power(a, n) => {
                let a = a.eval(x);
                if a == 0.0 && *n < 0 { f64::NAN } else { a.powf(f64::from(*n)) }
            }
            Self::Exponential(base, a) => base.powf(a.eval(x)),
            Self::Function(name, parts) => {
                let v: Vec<f64> = parts.iter().map(|p| p.eval(x)).collect();
                if v.iter().any(|v| v.is_nan()) {
                    return f64::NAN;
                }
                match *name {
                    "min" => v.iter().copied().fold(f64::INFINITY, f64::min),
                    "max" => v.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                    "sum" => v[1..].iter().fold(v[0], |s, v| s + v),
                    _ => FUNCTIONS.iter().find(|(known, _)| known == name).unwrap().1(v[0]),
                }
            }
            Self::If(c, a, b) => {
                if c.eval(x, false, true) {
                    a.eval(x)
                } else if c.eval(x, true, true) {
                    b.eval(x)
                } else {
                    f64::NAN
                }
            }
            Self::Count(parts) => {
                let mut n = 0.0;
                for part in parts {
                    if part.eval(x, false, true) {
                        n += 1.0;
                    } else if !part.eval(x, true, true) {
                        return f64::NAN;
                    }
                }
                n
            }
        }
    }

    pub fn text(&self, v: &[Variable]) -> String {
        let list = |parts: &[Self]| parts.iter().map(|p| p.text(v)).collect::<Vec<_>>().join(", ");
        match self {
            Self::Constant(c) => format!("({c})"),
            Self::Variable(i) => format!("`{}`", v[*i].name),
            Self::Binary(op, a, b) => format!("({} {op} {})", a.text(v), b.text(v)),
            Self::Power(a, n) => format!("({})^{n}", a.text(v)),
            Self::Exponential(base, a) => format!("{base}^({})", a.text(v)),
            Self::Function(name, parts) => format!("{name}({})", list(parts)),
            Self::If(c, a, b) => format!("if({}, {}, {})", c.text(v), a.text(v), b.text(v)),
            Self::Count(parts) => {
                format!("count({})", parts.iter().map(|p| p.text(v)).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Cond {
    /// Truth of the condition or of its negation, negations pushed down first.
    pub fn eval(&self, x: X<'_>, negated: bool, exact: bool) -> bool {
        match self {
            Self::Compare(op, a, b) => compare(if negated { opposite(op) } else { op }, a, b, x, exact),
            Self::Chain(a, f, b, g, c) => {
                if negated {
                    compare(opposite(f), a, b, x, exact) || compare(opposite(g), b, c, x, exact)
                } else {
                    compare(f, a, b, x, exact) && compare(g, b, c, x, exact)
                }
            }
            Self::Level(i, inside, levels) => (levels.contains(&(x.0[*i] as usize)) == *inside) != negated,
            Self::SameLevel(i, j) => (x.0[*i] == x.0[*j]) != negated,
            Self::Set(a, values, (l, u)) => {
                let is = |op, c: f64| compare(op, a, &Num::Constant(c), x, exact);
                if negated {
                    values.iter().all(|v| is("!=", *v)) && (is("<", *l) || is(">", *u))
                } else {
                    values.iter().any(|v| is("==", *v)) || (is(">=", *l) && is("<=", *u))
                }
            }
            Self::Not(c) => c.eval(x, !negated, exact),
            Self::Binary(op, a, b) => {
                let (t, f) = (|c: &Self| c.eval(x, false, exact), |c: &Self| c.eval(x, true, exact));
                match (*op, negated) {
                    ("and", false) => t(a) && t(b),
                    ("and", true) => f(a) || f(b),
                    ("or", false) => t(a) || t(b),
                    ("or", true) => f(a) && f(b),
                    ("implies", false) => f(a) || t(b),
                    ("implies", true) => t(a) && f(b),
                    ("iff", false) => (f(a) || t(b)) && (t(a) || f(b)),
                    _ => (t(a) && f(b)) || (f(a) && t(b)),
                }
            }
            Self::Tuples(i, j, rows) => {
                let is = |op, value: f64| compare(op, &Num::Variable(*j), &Num::Constant(value), x, exact);
                let hit = |&(level, value): &(usize, f64)| {
                    (x.0[*i] as usize == level, is("==", value), is("!=", value))
                };
                if negated {
                    rows.iter().map(hit).all(|(level, _, differs)| !level || differs)
                } else {
                    rows.iter().map(hit).any(|(level, equal, _)| level && equal)
                }
            }
        }
    }

    pub fn text(&self, v: &[Variable]) -> String {
        match self {
            Self::Compare(op, a, b) => format!("{} {op} {}", a.text(v), b.text(v)),
            Self::Chain(a, f, b, g, c) => format!("{} {f} {} {g} {}", a.text(v), b.text(v), c.text(v)),
            Self::Level(i, inside, levels) => {
                let names: Vec<String> =
                    levels.iter().map(|l| format!("'{}'", v[*i].level_names[*l])).collect();
                match (names.len(), inside) {
                    (1, true) => format!("`{}` == {}", v[*i].name, names[0]),
                    (1, false) => format!("`{}` != {}", v[*i].name, names[0]),
                    (_, true) => format!("`{}` in [{}]", v[*i].name, names.join(", ")),
                    (_, false) => format!("`{}` not in [{}]", v[*i].name, names.join(", ")),
                }
            }
            Self::SameLevel(i, j) => format!("`{}` == `{}`", v[*i].name, v[*j].name),
            Self::Set(a, values, (l, u)) => {
                let values: Vec<String> = values.iter().map(|v| format!("{v}, ")).collect();
                format!("{} in {{{}{l}..{u}}}", a.text(v), values.concat())
            }
            Self::Not(c) => format!("not ({})", c.text(v)),
            Self::Binary(op, a, b) => format!("(({}) {op} ({}))", a.text(v), b.text(v)),
            Self::Tuples(i, j, rows) => {
                let rows: Vec<String> =
                    rows.iter().map(|(l, n)| format!("('{}', {n})", v[*i].level_names[*l])).collect();
                format!("(`{}`, `{}`) in [{}]", v[*i].name, v[*j].name, rows.join(", "))
            }
        }
    }
}

impl Problem {
    /// The twin's verdict.
    pub fn feasible(&self, x: &[f64]) -> bool {
        let x = (x, self.variables.as_slice());
        self.conditions.iter().all(|c| c.eval(x, false, false))
            && self.hierarchy.iter().all(|(v, c, rest)| c.eval(x, false, true) || x.0[*v] == *rest)
            && self.whole.as_ref().is_none_or(|w| {
                let w = w.eval(x);
                (w - w.round()).abs() <= (1e-9 * w.abs().max(1.0)).min(1e-3)
            })
    }

    pub fn build(&self) -> Constraints {
        let mut builder = ConstraintsBuilder::new(self.variables.clone()).unwrap();
        let show = |text: &str, e: &dyn std::fmt::Display| format!("{text}: {e}");
        if let Some(whole) = &self.whole {
            let text = whole.text(&self.variables);
            builder.define("whole", &text, true).unwrap_or_else(|e| panic!("{}", show(&text, &e)));
        }
        for condition in &self.conditions {
            let text = condition.text(&self.variables);
            builder.constrain(&text, &text).unwrap_or_else(|e| panic!("{}", show(&text, &e)));
        }
        for (v, condition, rest) in &self.hierarchy {
            let text = condition.text(&self.variables);
            builder.active_if(*v, &text, *rest).unwrap_or_else(|e| panic!("{}", show(&text, &e)));
        }
        builder.build()
    }

    pub fn domains(&self) -> Vec<Domain> {
        self.variables.iter().map(|v| v.domain.clone()).collect()
    }

    pub fn text(&self) -> String {
        let mut lines: Vec<String> =
            self.variables.iter().map(|v| format!("{}: {:?}", v.name, v.domain)).collect();
        lines.extend(self.conditions.iter().map(|c| c.text(&self.variables)));
        let rest = self.hierarchy.iter();
        lines.extend(rest.map(|(v, c, r)| {
            format!("{} = {r} unless {}", self.variables[*v].name, c.text(&self.variables))
        }));
        lines.extend(self.whole.iter().map(|w| format!("whole: {}", w.text(&self.variables))));
        lines.join("\n")
    }
}
