//! Random constraint sets over the whole grammar, with an evaluator written from the definition: the slow twin of the engine.

#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(unreachable_pub, reason = "shared by test binaries")]

pub mod sets;

use leafgp_constraints::{Constraints, ConstraintsBuilder, Variable};
use leafgp_constraints::{Domain, Grid, LevelSet, Range, Region};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

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
/// in f64 within the tolerance of what is printed.
fn compare(op: &str, a: &Num, b: &Num, x: X<'_>, exact: bool) -> bool {
    if let (Some(a), Some(b)) = (a.decimal(x), b.decimal(x)) {
        return close(op, a as f64, b as f64, 0.0) && (op != "==" || a == b);
    }
    let (left, right) = (a.eval(x), b.eval(x));
    let is_whole = a.is_whole(x) && b.is_whole(x) && left.abs().max(right.abs()) < 9e15;
    close(op, left, right, if exact || is_whole { 0.0 } else { a.size(x).max(b.size(x)) })
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

/// Generates problems.
pub struct Generator {
    rng: ChaCha8Rng,
    variables: Vec<Variable>,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), variables: Vec::new() }
    }

    fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.rng.random_range(0..options.len())]
    }

    pub fn problem(&mut self) -> Problem {
        let n = self.rng.random_range(2..=5);
        self.variables = (0..n).map(|i| self.variable(i)).collect();
        if self.numeric().is_none() {
            self.variables[0] = self.number(0, 0);
        }
        let count = self.rng.random_range(1..=4);
        let conditions = (0..count).map(|_| self.condition(2)).collect();
        let mut hierarchy = Vec::new();
        if self.rng.random_bool(0.25) {
            let v = self.rng.random_range(0..n);
            // Whether a variable is active may not depend on itself.
            let own = format!("`{}`", self.variables[v].name);
            let candidates: Vec<Cond> = (0..20).map(|_| self.condition(1)).collect();
            let condition = candidates.into_iter().find(|c| !c.text(&self.variables).contains(&own));
            let all = values(&self.variables[v].domain);
            let rest = self.pick(&all);
            if let Some(condition) = condition {
                hierarchy.push((v, condition, rest));
            }
        }
        let whole = self.rng.random_bool(0.2).then(|| self.num(2));
        Problem { variables: self.variables.clone(), conditions, hierarchy, whole }
    }

    fn variable(&mut self, i: usize) -> Variable {
        if self.rng.random_bool(0.3) {
            let levels = self.rng.random_range(2..=4);
            let level_names =
                ["red", "green", "blue", "3.0"][..levels].iter().map(ToString::to_string).collect();
            return Variable {
                name: format!("kind {i}"),
                domain: Domain::Categorical { levels },
                level_names,
            };
        }
        let shape = self.rng.random_range(0..5);
        self.number(i, shape)
    }

    fn number(&mut self, i: usize, shape: usize) -> Variable {
        let domain = match shape {
            0 | 1 => {
                let lower = self.rng.random_range(-4..=2);
                Domain::Integer {
                    lower: f64::from(lower),
                    upper: f64::from(lower + self.rng.random_range(0..=6)),
                }
            }
            2 => Domain::Integer { lower: 0.0, upper: 1.0 },
            3 => {
                let first = self.rng.random_range(-10..=5);
                let step = self.pick(&[1, 2, 5]);
                Domain::Grid(Grid::new(first, step, 1, self.rng.random_range(2..=7)).unwrap())
            }
            _ => Domain::Discrete(
                self.pick(&[[0.0, 12.0, 24.0, 48.0], [-1.5, 0.0, 0.1, 2.0], [0.3, 1.0, 3.0, 5.0]]).to_vec(),
            ),
        };
        Variable { name: format!("x{i}"), domain, level_names: Vec::new() }
    }

    fn numeric(&mut self) -> Option<usize> {
        let all: Vec<usize> =
            (0..self.variables.len()).filter(|&i| !self.variables[i].domain.is_categorical()).collect();
        (!all.is_empty()).then(|| self.pick(&all))
    }

    fn num(&mut self, depth: usize) -> Num {
        let variable = Num::Variable(self.numeric().unwrap());
        if depth == 0 || self.rng.random_bool(0.2) {
            return if self.rng.random_bool(0.75) {
                variable
            } else {
                Num::Constant(self.pick(&[0.0, 1.0, 2.0, 3.0, 0.5, 0.1, -1.0, 7.0, 0.3]))
            };
        }
        match self.rng.random_range(0..12) {
            0..=4 => {
                let op = self.pick(&['+', '+', '-', '-', '*', '*', '/']);
                let (a, mut b) = (self.num(depth - 1), self.num(depth - 1));
                if op == '/' {
                    // With a variable at least: division by a constant zero is refused.
                    b = Num::Binary('+', Box::new(Num::Variable(self.numeric().unwrap())), Box::new(b));
                }
                Num::Binary(op, Box::new(a), Box::new(b))
            }
            5 => {
                let n = self.pick(&[2, 2, 3, -1, -2, 4]);
                Num::Power(Box::new(variable), n)
            }
            6 => Num::Exponential(self.pick(&[2.0, 0.5, 10.0]), Box::new(variable)),
            7 => {
                let name = self.pick(&["min", "max", "sum"]);
                let n = self.rng.random_range(1..=3);
                Num::Function(name, (0..n).map(|_| self.num(depth - 1)).collect())
            }
            8 | 9 => {
                let (name, _) = self.pick(FUNCTIONS);
                // Of a variable at least: constants may be undefined, which the checker refuses.
                let shift = Num::Constant(self.pick(&[0.0, 1.0, 0.5]));
                Num::Function(name, vec![Num::Binary('+', Box::new(variable), Box::new(shift))])
            }
            10 => {
                let condition = self.condition(depth - 1);
                Num::If(Box::new(condition), Box::new(self.num(depth - 1)), Box::new(self.num(depth - 1)))
            }
            _ => {
                let n = self.rng.random_range(1..=3);
                Num::Count((0..n).map(|_| self.condition(depth - 1)).collect())
            }
        }
    }

    fn condition(&mut self, depth: usize) -> Cond {
        let categories: Vec<usize> =
            (0..self.variables.len()).filter(|&i| self.variables[i].domain.is_categorical()).collect();
        if depth > 0 && self.rng.random_bool(0.4) {
            let op = self.pick(&["and", "or", "implies", "iff"]);
            return match self.rng.random_range(0..5) {
                0 => Cond::Not(Box::new(self.condition(depth - 1))),
                _ => {
                    Cond::Binary(op, Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1)))
                }
            };
        }
        if !categories.is_empty() && self.rng.random_bool(0.3) {
            let i = self.pick(&categories);
            let count = self.variables[i].level_names.len();
            let mut levels: Vec<usize> = (0..count).filter(|_| self.rng.random_bool(0.4)).collect();
            if levels.is_empty() {
                levels.push(self.rng.random_range(0..count));
            }
            return match self.rng.random_range(0..4) {
                0 => Cond::SameLevel(i, self.pick(&categories)),
                1 => {
                    let j = self.numeric().unwrap();
                    let all = values(&self.variables[j].domain);
                    let n = self.rng.random_range(1..=3);
                    let rows = (0..n).map(|_| (self.rng.random_range(0..count), self.pick(&all))).collect();
                    Cond::Tuples(i, j, rows)
                }
                k => Cond::Level(i, k == 2, levels),
            };
        }
        let ops = ["<=", "<=", ">=", ">=", "==", "==", "!=", "<", ">"];
        match self.rng.random_range(0..8) {
            0 => {
                let (f, g) = (self.pick(&ops), self.pick(&ops));
                Cond::Chain(self.num(1), f, self.num(1), g, self.num(1))
            }
            1 => {
                let lower = self.pick(&[0.1, 1.0, -1.0]);
                Cond::Set(
                    self.num(1),
                    vec![self.pick(&[0.0, 5.0])],
                    (lower, lower + self.pick(&[0.0, 0.6, 2.0])),
                )
            }
            _ => {
                let op = self.pick(&ops);
                let depth = self.rng.random_range(1..=3);
                Cond::Compare(op, self.num(depth), self.num(depth - 1))
            }
        }
    }

    /// A random box of a space.
    pub fn region(&mut self, domains: &[Domain]) -> Region {
        Region(
            domains
                .iter()
                .map(|domain| match domain {
                    Domain::Categorical { levels } => {
                        let mut set = LevelSet::empty(*levels);
                        (0..*levels).for_each(|l| {
                            if self.rng.random_bool(0.7) {
                                set.insert(l);
                            }
                        });
                        if set.is_empty() {
                            set.insert(self.rng.random_range(0..*levels));
                        }
                        Range::Levels(set)
                    }
                    _ => {
                        let all = values(domain);
                        let (a, b) = (self.pick(&all), self.pick(&all));
                        // Sometimes a half-open cell: its lower end just above a value.
                        let lower =
                            if a < b && self.rng.random_bool(0.3) { a.min(b).next_up() } else { a.min(b) };
                        Range::Interval { lower, upper: a.max(b) }
                    }
                })
                .collect(),
        )
    }

    pub fn point(&mut self, domains: &[Domain]) -> Vec<f64> {
        domains.iter().map(|d| self.pick(&values(d))).collect()
    }
}
