//! Local search: descent over the reals, moves of single discrete variables, scans, random steps.

use leafgp_solver::constraints::Limits;
use rand::{Rng, RngExt};

use super::descent::{Hessian, Surface};
use super::repair::{Metric, Repair};
use super::space::{Choice, Space};

/// Rounds of the local search; a round that gains less than [`ROUND_GAIN`] is the last.
const ROUNDS: usize = 3;
const ROUND_GAIN: f64 = 1e-3;
/// Smaller gains do not count: the first of equals stays.
const LEAST_GAIN: f64 = 1e-9;
const DESCENT_STEPS: usize = 25;
/// Largest move of a coordinate in the first step of a descent, and in any.
const FIRST_STEP: f64 = 0.1;
const LONGEST_STEP: f64 = 0.5;
const SHORTEST_STEP: f64 = 1e-9;
const BACKTRACK: f64 = 0.3;
const BACKTRACKS: usize = 6;
const SWEEPS: usize = 4;
/// Pairs of numbers are moved against each other only while there are at most so many.
const MOST_PAIRED: usize = 12;
const SCAN_ROUNDS: usize = 2;
const SCAN_VALUES: usize = 10;
const RANDOM_STEPS: usize = 24;
const RANDOM_SPREAD: f64 = 0.03;

/// A feasible point, its coordinates and its acquisition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) x: Vec<f64>,
    pub(super) u: Vec<f64>,
    pub(super) value: f64,
}

/// A search in progress: the space, the surface and the work memory of repairs.
pub(super) struct Local<'s, 'a, S> {
    pub(super) space: &'s Space<'a>,
    pub(super) surface: S,
    pub(super) repair: Repair<'s, 'a>,
    /// Weights of the reals in projections: distances count in length scales.
    weights: Vec<f64>,
    limits: &'s Limits,
}

impl<'s, 'a, S: Surface> Local<'s, 'a, S> {
    pub(super) fn new(space: &'s Space<'a>, surface: S, limits: &'s Limits) -> Self {
        let repair = Repair::new(space);
        let scales = surface.scales();
        let weights = repair.reals().iter().map(|&j| scales[j].min(1.0).powi(-2)).collect();
        Self { space, surface, repair, weights, limits }
    }

    /// True when the clock or the user asks to stop.
    pub(super) fn must_stop(&self) -> bool {
        self.limits.must_stop()
    }

    /// The point repaired and valued; `None` when it cannot be repaired or must not be returned.
    pub(super) fn place(&mut self, x: &[f64]) -> Option<Place> {
        let x = self.repair.nearest(x, Metric::Diagonal(&self.weights), &[])?;
        self.value(x)
    }

    /// The same for a feasible point.
    pub(super) fn value(&mut self, x: Vec<f64>) -> Option<Place> {
        let u = self.space.coordinates.of(&x);
        if self.space.is_excluded(&u) {
            return None;
        }
        let value = self.surface.value(&u);
        (!value.is_nan()).then_some(Place { x, u, value })
    }

    /// Improves a point in rounds.
    pub(super) fn improve(&mut self, mut place: Place, rng: &mut impl Rng) -> Place {
        let constrained = !self.space.constraints.is_empty();
        for round in 0..ROUNDS {
            let before = place.value;
            self.descend(&mut place);
            self.move_discrete(&mut place);
            if round < SCAN_ROUNDS {
                self.scan(&mut place, rng);
            }
            if round == 0 || constrained {
                self.step_randomly(&mut place, rng);
            }
            if before - place.value < ROUND_GAIN || self.must_stop() {
                break;
            }
        }
        self.descend(&mut place);
        place
    }

    /// Takes the trial point if it is better.
    fn try_point(&mut self, place: &mut Place, x: &[f64]) -> bool {
        match self.place(x) {
            Some(trial) if trial.value < place.value - LEAST_GAIN => {
                *place = trial;
                true
            }
            _ => false,
        }
    }

    /// Projected quasi-Newton steps over the reals: each goal is the minimum of a quadratic model, and the repair in the model's own metric makes of it the
    /// model's minimum over the linearised constraints.
    pub(super) fn descend(&mut self, place: &mut Place) {
        let n = self.weights.len();
        let is_active = |j: &usize| self.space.constraints.is_active(self.space.variable(*j), &place.x);
        let active: Vec<bool> = self.repair.reals().iter().map(is_active).collect();
        if !active.iter().any(|&a| a) {
            return;
        }
        let mut slopes = vec![0.0; self.space.n_coordinates()];
        self.surface.value_and_slopes(&place.u, &mut slopes);
        let reals = self.repair.reals().to_vec();
        let on_reals = |slopes: &[f64]| -> Vec<f64> {
            reals.iter().zip(&active).map(|(&j, &a)| if a { slopes[j] } else { 0.0 }).collect()
        };
        let mut gradient = on_reals(&slopes);
        let mut hessian = Hessian::new(&self.weights, &gradient, FIRST_STEP);
        let mut restarted = false;
        for _ in 0..DESCENT_STEPS {
            if self.must_stop() {
                return;
            }
            let here = self.repair.values(&place.x);
            let step = hessian.step(&gradient, LONGEST_STEP);
            let trial = self.line(place, &here, &step, &hessian);
            let Some(trial) = trial else {
                if restarted || hessian.is_new() {
                    return;
                }
                // The model misleads here: start it again, carefully.
                hessian = Hessian::new(&self.weights, &gradient, 0.1 * FIRST_STEP);
                restarted = true;
                continue;
            };
            restarted = false;
            self.surface.value_and_slopes(&trial.u, &mut slopes);
            let next = on_reals(&slopes);
            let there = self.repair.values(&trial.x);
            let s: Vec<f64> = (0..n).map(|r| there[r] - here[r]).collect();
            let y: Vec<f64> = (0..n).map(|r| next[r] - gradient[r]).collect();
            hessian.update(&s, &y);
            let gain = place.value - trial.value;
            gradient = next;
            *place = trial;
            if gain < LEAST_GAIN {
                return;
            }
        }
    }

    /// The first improvement on the way from a point towards `here + step`, repaired.
    fn line(&mut self, place: &Place, here: &[f64], step: &[f64], hessian: &Hessian) -> Option<Place> {
        let mut length = 1.0;
        for _ in 0..=BACKTRACKS {
            let longest = step.iter().fold(0.0f64, |m, s| m.max((length * s).abs()));
            if longest < SHORTEST_STEP {
                return None;
            }
            let goal: Vec<f64> = here.iter().zip(step).map(|(u, s)| u + length * s).collect();
            let moved = self.repair.towards(&place.x, &goal, Metric::Dense(hessian.matrix()));
            if let Some(trial) = moved.and_then(|x| self.value(x))
                && trial.value < place.value - 1e-12 * place.value.abs().max(1.0)
            {
                return Some(trial);
            }
            length *= BACKTRACK;
        }
        None
    }

    /// Discrete variables one at a time: all other levels; one and two steps up and down, and a tenth of the range. Under constraints also two numbers against
    /// each other.
    fn move_discrete(&mut self, place: &mut Place) {
        for _ in 0..SWEEPS {
            let mut improved = false;
            for j in 0..self.space.n_coordinates() {
                if self.must_stop() {
                    return;
                }
                let v = self.space.variable(j);
                let values: Vec<f64> = match &self.space.choices[j] {
                    Choice::Real { .. } => continue,
                    Choice::Levels(levels) => levels.iter().map(|&l| l as f64).collect(),
                    Choice::Steps { first, last } => {
                        let k = self.space.step_of(j, &place.x);
                        let tenth = (self.space.step_count(j) / 10).max(2);
                        let mut steps = Vec::with_capacity(6);
                        for by in [1, 2, tenth] {
                            let beyond = [k.checked_add(by), k.checked_sub(by)];
                            steps.extend(beyond.into_iter().flatten().map(|k| k.clamp(*first, *last)));
                        }
                        steps.into_iter().map(|k| self.space.step_value(j, k)).collect()
                    }
                };
                for value in values {
                    if value != place.x[v] {
                        let mut x = place.x.clone();
                        x[v] = value;
                        improved |= self.try_point(place, &x);
                    }
                }
            }
            improved |= self.exchange_steps(place);
            if !improved {
                return;
            }
        }
    }

    /// One step up of one number, one step down of another: single moves would break an equality of whole numbers.
    fn exchange_steps(&mut self, place: &mut Place) -> bool {
        let is_number = |&j: &usize| matches!(self.space.choices[j], Choice::Steps { .. });
        let numbers: Vec<usize> = (0..self.space.n_coordinates()).filter(is_number).collect();
        if self.space.constraints.is_empty() || numbers.len() > MOST_PAIRED {
            return false;
        }
        let mut improved = false;
        for &up in &numbers {
            for &down in numbers.iter().filter(|&&down| down != up) {
                if self.must_stop() {
                    return improved;
                }
                let (a, b) = (self.space.step_of(up, &place.x) + 1, self.space.step_of(down, &place.x));
                let within = |j: usize, k: u64| match self.space.choices[j] {
                    Choice::Steps { first, last } => first <= k && k <= last,
                    _ => false,
                };
                let Some(b) = b.checked_sub(1) else { continue };
                if within(up, a) && within(down, b) {
                    let mut x = place.x.clone();
                    x[self.space.variable(up)] = self.space.step_value(up, a);
                    x[self.space.variable(down)] = self.space.step_value(down, b);
                    improved |= self.try_point(place, &x);
                }
            }
        }
        improved
    }

    /// Each real over its whole range.
    fn scan(&mut self, place: &mut Place, rng: &mut impl Rng) {
        for j in 0..self.space.n_coordinates() {
            let Choice::Real { lower, upper } = self.space.choices[j] else { continue };
            let phase: f64 = rng.random();
            for k in 0..SCAN_VALUES {
                if self.must_stop() {
                    return;
                }
                let u = lower + (k as f64 + phase) / SCAN_VALUES as f64 * (upper - lower);
                let mut x = place.x.clone();
                x[self.space.variable(j)] = self.space.real_value(j, u);
                self.try_point(place, &x);
            }
        }
    }

    fn step_randomly(&mut self, place: &mut Place, rng: &mut impl Rng) {
        let mut spread = RANDOM_SPREAD;
        for _ in 0..RANDOM_STEPS {
            if self.must_stop() {
                return;
            }
            let x = self.space.perturb(&place.x, spread, rng);
            spread *= if self.try_point(place, &x) { 1.5 } else { 0.85 };
        }
    }
}
