//! A proposal out of a list: the acquisition is evaluated at every candidate.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use super::Optimizer;
use super::choose::Turn;
use super::error::EngineError;
use super::models::Models;
use super::random::{Purpose, stream};
use super::suggestion::Score;
use super::surrogate::Prediction;
use super::training::TrainingSet;
use crate::problem::{Preset, ValueError};

/// The best of a list of candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its index in the list.
    pub index: usize,
    /// What the model that chose it says of it; `None` when there is too little data for a model, and the choice was random.
    pub prediction: Option<Prediction>,
    /// What was minimised, of standardised targets; no candidate has a smaller one. In the paper's preset and in steps that are to be proven `mean - kappa * std` of the
    /// trees, in others the smooth process's acquisition.
    pub acquisition: Option<f64>,
}

impl Optimizer {
    /// The candidate with the smallest acquisition, equals at random: the exact optimum over a finite set, where [`Optimizer::ask`] would search the whole space. The
    /// preset says whose acquisition it is; where [`Optimizer::ask`] would let the smooth process choose in a proven cell, it chooses among the trees' equals here. Whether
    /// candidates are feasible, pending or measured already is the caller's business. `max_agreement` of the settings holds as it does there.
    ///
    /// # Errors
    /// [`EngineError::SpaceExhausted`] for an empty list, or when the agreement limit forbids all of it; [`EngineError::BadCandidate`]; what the trainer or the processes refuse.
    pub fn ask_among(&self, candidates: &[Vec<f64>]) -> Result<Choice, EngineError> {
        if candidates.is_empty() {
            return Err(EngineError::SpaceExhausted);
        }
        for (index, candidate) in candidates.iter().enumerate() {
            let refused = |e: ValueError| EngineError::BadCandidate { index, message: e.to_string() };
            self.problem.check_point(candidate).map_err(refused)?;
        }
        let rows = self.observations();
        let settings = self.problem.settings();
        let mut rng = stream(settings.seed, Purpose::Centre, rows.len());
        let training = TrainingSet::new(&self.problem, rows)?;
        if training.y.len() < 2 || !training.has_spread {
            let index = rng.random_range(0..candidates.len());
            return Ok(Choice { index, prediction: None, acquisition: None });
        }
        let all: Vec<usize> = (0..candidates.len()).collect();
        let mut models = Models::new(&self.problem, self.memory.clone());
        let (index, score) = best_of(&mut models, &training, rows.len(), candidates, &all, &mut rng)?
            .ok_or(EngineError::SpaceExhausted)?;
        Ok(Choice { index, prediction: Some(score.prediction), acquisition: Some(score.acquisition) })
    }
}

/// The best of the candidates with an index in `of` by the preset's acquisition, after `n_rows` rows; `None` for an empty list, or when the agreement limit forbids all of it.
pub(super) fn best_of(
    models: &mut Models<'_>,
    training: &TrainingSet,
    n_rows: usize,
    candidates: &[Vec<f64>],
    of: &[usize],
    rng: &mut ChaCha8Rng,
) -> Result<Option<(usize, Score)>, EngineError> {
    let Models { problem, limits, trees, smooth, memory } = models;
    let settings = problem.settings();
    let turn = Turn::new(settings, n_rows);
    let mut by_smooth = |of: &[usize], rng: &mut ChaCha8Rng| {
        let smooth = smooth.fitted(problem, training, limits)?;
        let value = |&index: &usize| (index, smooth.value(&candidates[index], turn.acquisition));
        let Some((index, acquisition)) = smallest(of.iter().map(value), rng) else { return Ok(None) };
        let prediction = smooth.predict(&candidates[index])?;
        Ok::<_, EngineError>(Some((index, Score { prediction, acquisition, by: turn.acquisition.name() })))
    };
    let is_paper = settings.preset == Preset::Paper;
    if !is_paper && !turn.in_cell {
        return by_smooth(of, rng);
    }
    let surrogate = trees.fitted(problem, training.clone(), limits, memory)?;
    let limit = surrogate.agreement_limit();
    let forest = &surrogate.trees().forest;
    let mut values = Vec::new();
    for &index in of {
        let candidate = &candidates[index];
        if limit.as_ref().is_none_or(|limit| limit.allows(forest, candidate)) {
            values.push((index, surrogate.evaluate(candidate)?.value));
        }
    }
    let Some((index, acquisition)) = smallest(values.iter().copied(), rng) else { return Ok(None) };
    let (index, prediction) = if is_paper {
        (index, surrogate.predict(&candidates[index])?)
    } else {
        let equals = values.iter().filter(|(_, value)| *value == acquisition);
        let equals: Vec<usize> = equals.map(|(index, _)| *index).collect();
        match by_smooth(&equals, rng)? {
            Some((index, score)) => (index, score.prediction),
            None => return Ok(None),
        }
    };
    Ok(Some((index, Score { prediction, acquisition, by: "the trees' lower bound" })))
}

/// The candidate with the smallest value, equals at random; `None` without any below infinity.
fn smallest(values: impl Iterator<Item = (usize, f64)>, rng: &mut ChaCha8Rng) -> Option<(usize, f64)> {
    let mut best = None;
    let mut equals = 0;
    for (index, value) in values {
        let smallest = best.map_or(f64::INFINITY, |(_, smallest)| smallest);
        if value < smallest {
            best = Some((index, value));
            equals = 1;
        } else if value == smallest && best.is_some() {
            // The k-th of equals replaces the pick with probability 1/k: all are equally likely in the end.
            equals += 1;
            if rng.random_range(0..equals) == 0 {
                best = Some((index, value));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use crate::engine::{EngineError, Optimizer};
    use crate::problem::{Preset, Problem, Settings, Variable};

    fn parabola(settings: impl FnOnce(&mut Settings)) -> Optimizer {
        parabola_of(Preset::Paper, settings)
    }

    fn parabola_of(preset: Preset, settings: impl FnOnce(&mut Settings)) -> Optimizer {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 10.0))
            .settings(Settings::with_preset(preset))
            .build()
            .unwrap();
        let mut optimizer = Optimizer::new(problem.adjusted(settings).unwrap());
        for k in 0..=20 {
            let x = f64::from(k) / 2.0;
            optimizer.tell(&[x], (x - 3.0).powi(2)).unwrap();
        }
        optimizer
    }

    #[test]
    fn the_best_of_a_fine_grid_is_the_searchs_optimum() {
        let optimizer = parabola(|_| {});
        let candidates: Vec<Vec<f64>> = (0..=1000).map(|k| vec![f64::from(k) / 100.0]).collect();
        let choice = optimizer.ask_among(&candidates).unwrap();
        let proof = optimizer.ask().unwrap().proof.unwrap();
        assert!((choice.acquisition.unwrap() - proof.acquisition).abs() <= 1e-4 * proof.acquisition.abs());
        let prediction = choice.prediction.unwrap();
        assert!((prediction.mean - proof.mean).abs() < 1e-6, "{prediction:?} {proof:?}");
    }

    #[test]
    fn the_smooth_process_chooses_the_best_of_all_or_the_best_of_the_trees_equals() {
        let candidates: Vec<Vec<f64>> = (0..=1000).map(|k| vec![f64::from(k) / 100.0]).collect();
        for preset in [Preset::Smooth, Preset::Mixed, Preset::Proven] {
            let mut optimizer = parabola_of(preset, |_| {});
            // 21 rows: the bound's turn; 23: the turn of a proof in the mix; 22 and 24: expected improvement's.
            for n_rows in 21..=24 {
                let choice = optimizer.ask_among(&candidates).unwrap();
                let x = &candidates[choice.index];
                assert_eq!(optimizer.smooth().unwrap().predict(x).unwrap(), choice.prediction.unwrap());
                let surrogate = optimizer.surrogate().unwrap();
                if preset == Preset::Proven || (preset == Preset::Mixed && n_rows == 23) {
                    let value = |x: &Vec<f64>| surrogate.evaluate(x).unwrap().value;
                    assert_eq!(value(x), choice.acquisition.unwrap());
                    assert!(candidates.iter().all(|other| value(other) >= value(x)));
                } else if n_rows == 21 {
                    // The bound, written out.
                    let smooth = optimizer.smooth().unwrap();
                    let value = |x: &Vec<f64>| {
                        let posterior = smooth.process().posterior(x);
                        posterior.mean - 2.0 * posterior.deviation()
                    };
                    assert_eq!(value(x), choice.acquisition.unwrap());
                    assert!(candidates.iter().all(|other| value(other) >= value(x)));
                    assert!((x[0] - 3.0).abs() < 0.3, "{x:?}");
                }
                optimizer.tell(&[0.25 + 0.5 * n_rows as f64 / 3.0], 5.0).unwrap();
            }
        }
    }

    #[test]
    fn equals_are_chosen_at_random_and_reproducibly() {
        let candidates = vec![vec![3.0]; 8];
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..40 {
            let optimizer = parabola(|settings| settings.seed = seed);
            let index = optimizer.ask_among(&candidates).unwrap().index;
            assert_eq!(optimizer.ask_among(&candidates).unwrap().index, index);
            seen.insert(index);
        }
        assert!(seen.len() >= 6, "{seen:?}");
    }

    #[test]
    fn candidates_that_are_no_points_are_refused_by_their_place() {
        let optimizer = parabola(|_| {});
        for (bad, expected) in [(vec![], "0 coordinates"), (vec![f64::NAN], "x is NaN")] {
            let error = optimizer.ask_among(&[vec![1.0], bad]).unwrap_err();
            assert!(matches!(error, EngineError::BadCandidate { index: 1, .. }), "{error:?}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn the_agreement_limit_holds() {
        let optimizer = parabola(|settings| settings.max_agreement = Some(0.6));
        let candidates: Vec<Vec<f64>> = (0..=1000).map(|k| vec![f64::from(k) / 100.0]).collect();
        // A measured point agrees with itself in every tree.
        assert!(matches!(optimizer.ask_among(&[vec![3.0]]), Err(EngineError::SpaceExhausted)));
        let proof = optimizer.ask().unwrap().proof;
        let choice = optimizer.ask_among(&candidates);
        match (proof, choice) {
            (Some(proof), Ok(choice)) => {
                assert!(choice.acquisition.unwrap() >= proof.acquisition - 1e-4 * proof.acquisition.abs());
            }
            // Neither finds a point far enough from the data.
            (None, Err(EngineError::SpaceExhausted)) => {}
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_data_the_choice_is_random_and_without_candidates_there_is_none() {
        let problem = Problem::builder("p").variable(Variable::continuous("x", 0.0, 1.0)).build().unwrap();
        let optimizer = Optimizer::new(problem);
        assert_eq!(optimizer.ask_among(&[vec![0.5]]).unwrap().prediction, None);
        assert!(matches!(optimizer.ask_among(&[]), Err(EngineError::SpaceExhausted)));
    }
}
