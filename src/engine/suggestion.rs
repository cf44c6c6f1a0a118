//! A suggested experiment and what is known about it.

use leafgp_solver::search::{Status, StopReason};
use leafgp_solver::{Range, Region};
use serde_json::{Map, Value, json};

use super::surrogate::Prediction;
use crate::history::Forecast;
use crate::problem::{Preset, Problem};
use crate::smooth::Acquisition;

/// The note of an experiment that was planned before.
const PLANNED: &str = "pending in the history, taken up";

/// The next experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The point, in variable order; a category stands as its level index.
    pub point: Vec<f64>,
    /// What the trees and their search say of its cell; `None` where no cell was searched for: the space-filling first design, and the smooth process's optimum over
    /// the whole feasible set.
    pub proof: Option<Proof>,
    /// What the smooth process says of it; `None` where it did not choose the point.
    pub chosen: Option<Chosen>,
    /// Where it stands in the list that it was chosen from, and why; `None` where there was no list.
    pub listed: Option<Listed>,
    /// Why this kind of suggestion was made, when it is not the plain case.
    pub note: Option<String>,
}

/// The smooth process at the point it chose. The choice was made by local searches: no proof that there is no better one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// Predicted objective and its deviation.
    pub prediction: Prediction,
    /// Standard deviation of a measurement's noise by the process, in the objective's units.
    pub noise: f64,
    /// What was minimised.
    pub acquisition: Acquisition,
    /// Its value at the point, of standardised targets.
    pub value: f64,
    /// The trees' lower confidence bound at the point less what is proved to be no larger than its minimum over all feasible points, in standard deviations of the
    /// targets: by the trees' judgement no point is better than this one by more. Only where [`Context::tree_excess`](super::Context) asks for it, no cell was
    /// searched for, and trees have splits.
    pub tree_excess: Option<f64>,
}

/// The choice out of a list of candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listed {
    /// Its index in the list, from 0.
    pub index: usize,
    /// How many candidates it was chosen from: those that were feasible and not taken.
    pub n_open: usize,
    /// What was minimised, and its value at the candidate; none of the others has a smaller one, for each was evaluated. `None` in the first design, where the candidate
    /// farthest from all experiments is taken.
    pub score: Option<Score>,
}

/// The score of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// What the model that chose it predicts there.
    pub prediction: Prediction,
    /// The acquisition, of standardised targets.
    pub acquisition: f64,
    /// Whose acquisition it is.
    pub by: &'static str,
}

/// How a suggestion was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A space-filling point; no model decided.
    Design,
    /// A point of a cell that the search of the trees' lower confidence bound found; how far optimality is proved, [`Proof`] says.
    Cell,
    /// The smooth process's choice out of the whole feasible set, by local searches.
    SmoothSearch,
    /// The best of a list, whose candidates were evaluated one by one.
    Listed,
}

impl Method {
    /// The words of the output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Design => "design",
            Self::Cell => "cell",
            Self::SmoothSearch => "smooth search",
            Self::Listed => "candidate",
        }
    }
}

/// The trees' prediction and the search's proof at a suggested point.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// The cell in which every tree keeps its leaf: all its points are equal to the model.
    pub region: Region,
    /// Predicted objective, in the objective's units and direction.
    pub mean: f64,
    /// Standard deviation of the prediction, in the objective's units.
    pub std: f64,
    /// Standard deviation of a measurement's noise by the trees' process, in the objective's units.
    pub noise: f64,
    /// `acquisition` in the objective's units and direction: the mean and `kappa` deviations to the better side of it.
    pub promised: f64,
    /// `bound` in the objective's units and direction, rounded to the side on which it stays a bound.
    pub promised_bound: f64,
    /// `mean - kappa * std` in standardised minimisation units.
    pub acquisition: f64,
    /// No feasible point has a smaller acquisition than this: proved.
    pub bound: f64,
    /// `(acquisition - bound) / max(|acquisition|, 1e-9)`.
    pub gap: f64,
    /// How the search ended.
    pub status: Status,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Nodes of the search.
    pub nodes: u64,
}

impl Suggestion {
    /// An experiment that was planned before: only its point is known.
    pub fn planned(point: Vec<f64>) -> Self {
        Self { point, proof: None, chosen: None, listed: None, note: Some(PLANNED.to_owned()) }
    }

    /// True for [`Suggestion::planned`].
    pub fn is_planned(&self) -> bool {
        self.note.as_deref() == Some(PLANNED)
    }

    /// How it was found.
    pub fn method(&self) -> Method {
        match (&self.proof, &self.chosen) {
            _ if self.listed.is_some() => Method::Listed,
            (Some(_), _) => Method::Cell,
            (None, Some(_)) => Method::SmoothSearch,
            (None, None) => Method::Design,
        }
    }

    /// The prediction of the model that chose the point; `None` where no model did.
    pub fn prediction(&self) -> Option<Prediction> {
        let trees = || self.proof.as_ref().map(|proof| Prediction { mean: proof.mean, std: proof.std });
        let of_list = self.listed.and_then(|listed| listed.score).map(|score| score.prediction);
        of_list.or(self.chosen.map(|chosen| chosen.prediction)).or_else(trees)
    }

    /// Standard deviation of a measurement's noise by the model that chose the point, in the objective's units; `None` where no model did.
    pub fn noise(&self) -> Option<f64> {
        self.chosen.map(|chosen| chosen.noise).or_else(|| self.proof.as_ref().map(|proof| proof.noise))
    }

    /// What the history's table of predictions keeps of it; `None` where no model chose it. `bound` is what no feasible setting promises more of ([`Optimizer::promise`](super::Optimizer::promise));
    /// without it the proved bound of the suggestion's own search stands there.
    pub fn forecast(&self, problem: &Problem, bound: Option<f64>) -> Option<Forecast> {
        let Prediction { mean, std } = self.prediction()?;
        Some(Forecast {
            point: self.point.clone(),
            mean,
            std,
            noise: self.noise().unwrap_or(0.0),
            bound: bound.or_else(|| self.proof.as_ref().map(|proof| proof.promised_bound)),
            method: self.method().as_str().to_owned(),
            seed: problem.settings().seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }

    /// The suggestion as the contract's JSON object. `mean` and `std` are of the model that chose the point; `region`, `bound`, `gap`, `status` and `stop_reason` are
    /// what the trees' search proved, and `acquisition` is the trees' where there is a region, otherwise the smooth process's. All but the paper's preset say the
    /// method, and what the smooth process minimised, too. A choice out of a list has `candidate`, its place from 1, and `candidates`, how many there were to choose from.
    pub fn to_json(&self, problem: &Problem) -> Value {
        let mut object = Map::new();
        object.insert("point".into(), Value::Object(problem.point_to_json(&self.point)));
        let (proof, prediction) = (self.proof.as_ref(), self.prediction());
        let score = self.listed.and_then(|listed| listed.score);
        let acquisition = proof.map(|proof| proof.acquisition).or(self.chosen.map(|chosen| chosen.value));
        let acquisition = acquisition.or(score.map(|score| score.acquisition));
        let status = match self.method() {
            Method::Design => Status::Feasible.as_str(),
            Method::Cell => proof.map_or(Status::Feasible, |proof| proof.status).as_str(),
            Method::SmoothSearch => "local",
            Method::Listed => "exhaustive",
        };
        object.insert("region".into(), json!(proof.map(|proof| region_to_json(problem, &proof.region))));
        object.insert("mean".into(), json!(prediction.map(|prediction| prediction.mean)));
        object.insert("std".into(), json!(prediction.map(|prediction| prediction.std)));
        object.insert("acquisition".into(), json!(acquisition));
        object.insert("bound".into(), json!(proof.map(|proof| proof.bound)));
        object.insert("gap".into(), json!(proof.map(|proof| proof.gap)));
        object.insert("status".into(), json!(status));
        object.insert("stop_reason".into(), json!(proof.map(|proof| proof.stop_reason.as_str())));
        if problem.settings().preset != Preset::Paper {
            object.insert("method".into(), json!(self.method().as_str()));
            object.insert("smooth".into(), json!(self.chosen.map(Chosen::to_json)));
        }
        if let Some(listed) = self.listed {
            object.insert("candidate".into(), json!(listed.index + 1));
            object.insert("candidates".into(), json!(listed.n_open));
        }
        Value::Object(object)
    }
}

impl Chosen {
    /// What was minimised, in the words of the output.
    pub fn acquisition_name(&self) -> &'static str {
        self.acquisition.name()
    }

    fn to_json(self) -> Value {
        json!({ "acquisition": self.acquisition_name(), "value": self.value, "tree_excess": self.tree_excess })
    }
}

/// A region by variable name: `[lower, upper]`, or the names of the levels.
fn region_to_json(problem: &Problem, region: &Region) -> Value {
    let entries = problem.variables().iter().zip(&region.0).map(|(variable, range)| {
        let value = match range {
            Range::Interval { lower, upper } => json!([variable.to_json(*lower), variable.to_json(*upper)]),
            Range::Levels(levels) => levels.iter().map(|level| variable.to_json(level as f64)).collect(),
        };
        (variable.name.clone(), value)
    });
    Value::Object(entries.collect())
}
