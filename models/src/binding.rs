//! Which variable is which feature.

use leafgp_constraints::{Domain, Variable};

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::feature::{Feature, FeatureKind};

/// For each feature of a model, the variable that carries it, and for a category the code of each of the variable's levels.
///
/// Points of the problem are in the variables' order with categories as level indices; points of the model are in the features' order with
/// categories as codes. [`features_of`](Self::features_of) goes from one to the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    columns: Vec<Bound>,
    n_variables: usize,
}

/// The variable of one feature.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) variable: usize,
    /// Code of each level; empty for a number.
    pub(crate) codes: Vec<usize>,
}

impl Binding {
    /// Matches features and variables by name, categories by label. Variables that the model does not ask are allowed.
    ///
    /// # Errors
    /// A feature without a variable of its name, with both lists; a level without a category of its label, with both lists; a number that is
    /// bound to a category or the other way round.
    pub fn by_name(ensemble: &Ensemble, variables: &[Variable]) -> Result<Self, ModelError> {
        let names = |problem: String| ModelError::Names {
            problem,
            features: ensemble.features().iter().map(|feature| feature.name.clone()).collect(),
            variables: variables.iter().map(|variable| variable.name.clone()).collect(),
        };
        let mut columns = Vec::with_capacity(ensemble.features().len());
        for (i, feature) in ensemble.features().iter().enumerate() {
            if ensemble.features()[..i].iter().any(|other| other.name == feature.name) {
                return Err(names(format!("two features are called {:?}", feature.name)));
            }
            let variable = variables.iter().position(|variable| variable.name == feature.name);
            let variable =
                variable.ok_or_else(|| names(format!("no variable is called {:?}", feature.name)))?;
            let codes = codes_by_label(feature, &variables[variable])?;
            columns.push(Bound { variable, codes });
        }
        Ok(Self { columns, n_variables: variables.len() })
    }

    /// Deliberately takes feature `i` to be variable `i`, whatever the names, and a category without labels in the file to have level indices as
    /// codes; labels still count where both sides have them.
    ///
    /// # Errors
    /// Other numbers of features and variables; labels and kinds as in [`by_name`](Self::by_name).
    pub fn by_position(ensemble: &Ensemble, variables: &[Variable]) -> Result<Self, ModelError> {
        let features = ensemble.features();
        if features.len() != variables.len() {
            return Err(ModelError::Names {
                problem: format!("{} features and {} variables", features.len(), variables.len()),
                features: features.iter().map(|feature| feature.name.clone()).collect(),
                variables: variables.iter().map(|variable| variable.name.clone()).collect(),
            });
        }
        let bound = |(i, (feature, variable)): (usize, (&Feature, &Variable))| {
            let codes = match (&feature.kind, variable.domain.levels()) {
                (FeatureKind::Categorical { labels: None }, Some(levels)) => (0..levels).collect(),
                _ => codes_by_label(feature, variable)?,
            };
            Ok(Bound { variable: i, codes })
        };
        let columns =
            features.iter().zip(variables).enumerate().map(bound).collect::<Result<_, ModelError>>()?;
        Ok(Self { columns, n_variables: variables.len() })
    }

    /// The variable of each feature, by index, in the features' order.
    pub fn variables(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().map(|bound| bound.variable)
    }

    pub(crate) fn columns(&self) -> &[Bound] {
        &self.columns
    }

    pub(crate) fn n_variables(&self) -> usize {
        self.n_variables
    }

    /// The model's point of a point of the variables; NaN stays missing.
    ///
    /// # Panics
    /// When `x` is shorter than the list of variables.
    pub fn features_of(&self, x: &[f64]) -> Vec<f64> {
        let value = |bound: &Bound| {
            let x = x[bound.variable];
            match bound.codes.get(x.max(0.0) as usize) {
                Some(&code) if !x.is_nan() => code as f64,
                _ if bound.codes.is_empty() => x,
                _ => f64::NAN,
            }
        };
        self.columns.iter().map(value).collect()
    }
}

/// The code of each level of the variable; checks the kinds.
fn codes_by_label(feature: &Feature, variable: &Variable) -> Result<Vec<usize>, ModelError> {
    let wrong = |problem: String| ModelError::Feature { feature: feature.name.clone(), problem };
    match (&feature.kind, &variable.domain) {
        (FeatureKind::Numeric, Domain::Categorical { .. }) => {
            Err(wrong(format!("is a number in the model; the variable {:?} has levels", variable.name)))
        }
        (FeatureKind::Numeric, _) => Ok(Vec::new()),
        (FeatureKind::Categorical { labels }, Domain::Categorical { .. }) => {
            let code = |level: &String| {
                feature.code(level).ok_or_else(|| ModelError::Labels {
                    feature: feature.name.clone(),
                    problem: match labels {
                        Some(_) => format!("the model has no category {level:?}"),
                        None => format!("the model knows its categories as codes; {level:?} is none"),
                    },
                    categories: labels.clone().unwrap_or_default(),
                    levels: variable.level_names.clone(),
                })
            };
            let codes = variable.level_names.iter().map(code).collect::<Result<Vec<usize>, _>>()?;
            match codes.len() == variable.domain.levels().unwrap_or(0) {
                true => Ok(codes),
                false => Err(wrong(format!("the variable {:?} does not name all its levels", variable.name))),
            }
        }
        (FeatureKind::Categorical { .. }, _) => {
            Err(wrong(format!("is a category in the model; the variable {:?} is a number", variable.name)))
        }
    }
}
