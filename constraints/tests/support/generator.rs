//! Random problems over the whole grammar.

use leafgp_constraints::{Domain, Grid, LevelSet, Range, Region, Variable};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{Cond, FUNCTIONS, Num, Problem, values};

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
