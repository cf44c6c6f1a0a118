//! Levels in the order of their labels, so that the order in which a file lists them decides nothing.

use std::cmp::Ordering;

use leafgp_solver::{LevelSet, Range, Region};

use super::{Kind, Problem, ProblemBuilder, ProblemError};

/// A problem with its levels sorted by label, and the way there and back.
#[derive(Clone, Debug)]
pub(crate) struct Canonical {
    problem: Problem,
    /// The original index of each level in its place here, by variable; empty for those in order.
    originals: Vec<Vec<usize>>,
}

impl Canonical {
    /// `None` for a problem whose levels are in order already.
    ///
    /// # Errors
    /// None that the problem itself did not have.
    pub(crate) fn new(problem: &Problem) -> Result<Option<Self>, ProblemError> {
        let originals: Vec<Vec<usize>> = problem
            .variables()
            .iter()
            .map(|variable| {
                let levels = variable.levels();
                let n_offered = variable.offered_levels().len();
                let mut order: Vec<usize> = (0..levels.len()).collect();
                // Removed levels stay behind the others.
                order.sort_by(|&a, &b| {
                    (a >= n_offered).cmp(&(b >= n_offered)).then_with(|| by_label(&levels[a], &levels[b]))
                });
                if order.is_sorted() { Vec::new() } else { order }
            })
            .collect();
        if originals.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        let mut builder = ProblemBuilder::of(problem);
        for (variable, order) in builder.variables.iter_mut().zip(&originals) {
            if order.is_empty() {
                continue;
            }
            if let Kind::Categorical(levels) = &mut variable.kind {
                *levels = order.iter().map(|&i| levels[i].clone()).collect();
            }
            variable.inactive_value = place(order, variable.inactive_value);
            variable.default = variable.default.map(|level| place(order, level));
        }
        Ok(Some(Self { problem: builder.build()?, originals }))
    }

    /// The problem with its levels in order.
    pub(crate) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// A point of the original problem here.
    pub(crate) fn point(&self, x: &[f64]) -> Vec<f64> {
        x.iter().enumerate().map(|(variable, &x)| self.value(variable, x)).collect()
    }

    /// A value of one variable of the original problem here.
    pub(crate) fn value(&self, variable: usize, x: f64) -> f64 {
        place(&self.originals[variable], x)
    }

    /// A point from here in the original problem.
    pub(crate) fn original(&self, x: &[f64]) -> Vec<f64> {
        let original =
            |(&level, order): (&f64, &Vec<usize>)| order.get(level as usize).map_or(level, |&i| i as f64);
        x.iter().zip(&self.originals).map(original).collect()
    }

    /// A box from here in the original problem.
    pub(crate) fn original_region(&self, region: &Region) -> Region {
        let original = |(range, order): (&Range, &Vec<usize>)| match range {
            Range::Levels(levels) if !order.is_empty() => {
                Range::Levels(LevelSet::from_indices(order.len(), levels.iter().map(|k| order[k])))
            }
            _ => range.clone(),
        };
        Region(region.0.iter().zip(&self.originals).map(original).collect())
    }
}

/// Where a level went; what is no level of the order stays.
fn place(order: &[usize], level: f64) -> f64 {
    order.iter().position(|&i| i as f64 == level).map_or(level, |k| k as f64)
}

/// Labels as people sort them: runs of digits by their value, the rest letter by letter.
fn by_label(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    while let (Some(x), Some(y)) = (left.chars().next(), right.chars().next()) {
        let ordering = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (m, n) = (take_digits(&mut left), take_digits(&mut right));
            // Without leading zeros the longer run is the larger number.
            m.len().cmp(&n.len()).then_with(|| m.cmp(n))
        } else {
            left = &left[x.len_utf8()..];
            right = &right[y.len_utf8()..];
            x.cmp(&y)
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// The digits that a text begins with, without leading zeros; the text goes on behind them.
fn take_digits<'t>(text: &mut &'t str) -> &'t str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    digits.trim_start_matches('0')
}

#[cfg(test)]
mod tests {
    use super::{Canonical, by_label};
    use crate::problem::{Problem, Variable};
    use leafgp_solver::{LevelSet, Range, Region};

    #[test]
    fn labels_sort_like_people_sort_them() {
        let mut labels = ["c10", "c9", "b", "c09", "c", "10", "9", "a1b2", "a1b10", "ä"];
        labels.sort_by(|a, b| by_label(a, b));
        assert_eq!(labels, ["9", "10", "a1b2", "a1b10", "b", "c", "c09", "c9", "c10", "ä"]);
    }

    #[test]
    fn points_and_boxes_go_there_and_back() {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::categorical("c", ["v", "a", "m"]).removed(["b", "a0"]).default_value(0.0))
            .constraint("k", "c == 'v' implies x <= 0.5")
            .build()
            .unwrap();
        let canonical = Canonical::new(&problem).unwrap().unwrap();
        assert_eq!(canonical.problem().variables()[1].levels(), ["a", "m", "v", "a0", "b"]);
        assert_eq!(canonical.problem().variables()[1].default, Some(2.0));
        for level in 0..5 {
            let point = [0.25, f64::from(level)];
            assert_eq!(canonical.original(&canonical.point(&point)), point);
        }
        assert_eq!(canonical.point(&[0.25, 0.0]), [0.25, 2.0]);
        let levels = |of: &[usize]| Range::Levels(LevelSet::from_indices(5, of.iter().copied()));
        let x = Range::Interval { lower: 0.0, upper: 1.0 };
        let region = canonical.original_region(&Region(vec![x.clone(), levels(&[0, 2])]));
        assert_eq!(region, Region(vec![x, levels(&[0, 1])]));
        assert!(Canonical::new(canonical.problem()).unwrap().is_none());
    }
}
