//! A proposal out of a list: the acquisition is evaluated at every candidate.

use rand::RngExt;

use super::Optimizer;
use super::error::EngineError;
use super::random::{Purpose, stream};
use super::surrogate::{Prediction, Surrogate};
use super::training::TrainingSet;
use crate::problem::ValueError;

/// The best of a list of candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its index in the list.
    pub index: usize,
    /// What the model says of it; `None` when there is too little data for a model, and the choice was random.
    pub prediction: Option<Prediction>,
    /// `mean - kappa * std` in standardised minimisation units; no candidate has a smaller one.
    pub acquisition: Option<f64>,
}

impl Optimizer {
    /// The candidate with the smallest lower confidence bound, equals at random: the acquisition's exact optimum over a finite set, where [`Optimizer::ask`] would
    /// search the whole space. Whether candidates are feasible, pending or measured already is the caller's business. `max_agreement` of the settings holds as it does
    /// there.
    ///
    /// # Errors
    /// [`EngineError::SpaceExhausted`] for an empty list, or when the agreement limit forbids all of it; [`EngineError::BadCandidate`]; what the trainer or the process refuse.
    pub fn ask_among(&self, candidates: &[Vec<f64>]) -> Result<Choice, EngineError> {
        if candidates.is_empty() {
            return Err(EngineError::SpaceExhausted);
        }
        for (index, candidate) in candidates.iter().enumerate() {
            let refused = |e: ValueError| EngineError::BadCandidate { index, message: e.to_string() };
            self.problem.check_point(candidate).map_err(refused)?;
        }
        let rows = self.observations();
        let mut rng = stream(self.problem.settings().seed, Purpose::Centre, rows.len());
        let training = TrainingSet::new(&self.problem, rows)?;
        if training.y.len() < 2 || !training.has_spread {
            let index = rng.random_range(0..candidates.len());
            return Ok(Choice { index, prediction: None, acquisition: None });
        }
        let surrogate = Surrogate::fit(&self.problem, training)?;
        let mut best = (f64::INFINITY, 0);
        let mut equals = 0;
        let limit = surrogate.agreement_limit();
        for (index, candidate) in candidates.iter().enumerate() {
            if limit.as_ref().is_some_and(|limit| !limit.allows(&surrogate.trees().forest, candidate)) {
                continue;
            }
            let acquisition = surrogate.evaluate(candidate)?.value;
            if acquisition < best.0 {
                best = (acquisition, index);
                equals = 1;
            } else if acquisition == best.0 {
                // The k-th of equals replaces the pick with probability 1/k: all are equally likely in the end.
                equals += 1;
                if rng.random_range(0..equals) == 0 {
                    best.1 = index;
                }
            }
        }
        if equals == 0 {
            return Err(EngineError::SpaceExhausted);
        }
        let (acquisition, index) = best;
        let prediction = surrogate.predict(&candidates[index])?;
        Ok(Choice { index, prediction: Some(prediction), acquisition: Some(acquisition) })
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{EngineError, Optimizer};
    use crate::problem::{Problem, Settings, Variable};

    fn parabola(settings: impl FnOnce(&mut Settings)) -> Optimizer {
        let problem = Problem::builder("p").variable(Variable::continuous("x", 0.0, 10.0)).build().unwrap();
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
