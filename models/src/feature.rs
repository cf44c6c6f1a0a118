//! What a model asks: named numbers and categories.

/// Largest number of features that is read, in every format: a file of a few bytes must not ask for much memory.
pub(crate) const MAX_FEATURES: usize = 2_000_000;

/// A feature of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Its name in the file, or the library's own (`Column_0`, `f0`) when the model was trained without names.
    pub name: String,
    /// Number or category.
    pub kind: FeatureKind,
    /// Smallest and largest value in the training data, where the file says so.
    pub range: Option<(f64, f64)>,
}

/// How a feature's values are read.
#[derive(Clone, Debug, PartialEq)]
pub enum FeatureKind {
    /// A number.
    Numeric,
    /// A category, given as its code.
    Categorical {
        /// The label of each code, from 0; `None` when the model was trained on codes alone.
        labels: Option<Vec<String>>,
    },
}

impl Feature {
    /// A number of which nothing more is known.
    pub fn numeric(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: FeatureKind::Numeric, range: None }
    }

    /// True for a category.
    pub fn is_categorical(&self) -> bool {
        matches!(self.kind, FeatureKind::Categorical { .. })
    }

    /// The code of a label: exactly that text, else the same number (`3` is `3.0`); without labels the number itself (`3` or `3.0`).
    pub fn code(&self, label: &str) -> Option<usize> {
        let FeatureKind::Categorical { labels } = &self.kind else { return None };
        let Some(labels) = labels else {
            let code: f64 = label.trim().parse().ok()?;
            return (code >= 0.0 && code.fract() == 0.0).then_some(code as usize);
        };
        labels.iter().position(|known| known == label).or_else(|| {
            let value: f64 = label.trim().parse().ok()?;
            labels.iter().position(|known| known.trim().parse() == Ok(value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Feature, FeatureKind};

    #[test]
    fn labels_match_by_text_and_else_by_number() {
        let labels = |labels: Option<&[&str]>| Feature {
            name: "grade".into(),
            kind: FeatureKind::Categorical { labels: labels.map(|l| l.iter().map(|&t| t.into()).collect()) },
            range: None,
        };
        let grade = labels(Some(&["3", "5.0", "alu", "nan"]));
        assert_eq!(grade.code("5"), Some(1));
        assert_eq!(grade.code("3.0"), Some(0));
        assert_eq!((grade.code("alu"), grade.code("Alu"), grade.code("NaN")), (Some(2), None, None));
        let codes = labels(None);
        assert_eq!((codes.code("7"), codes.code("7.0"), codes.code("7.5")), (Some(7), Some(7), None));
        assert_eq!((codes.code("alu"), codes.code("-1"), codes.code("nan")), (None, None, None));
        assert_eq!(Feature::numeric("a").code("7"), None);
    }
}
