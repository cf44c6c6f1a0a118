//! Linear inequalities in exact fractions: the simplex method in dictionaries, by Bland's rule.
//!
//! Chvatal (1983), Linear Programming, chapters 2, 3 and 8.

use crate::rational::Rational;

/// `sum of terms <= right`, or `<`.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) terms: Vec<(usize, Rational)>,
    pub(super) right: Rational,
    pub(super) strict: bool,
}

/// What some rows have in common over `x >= 0`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// No point.
    Infeasible,
    /// Points, none of which keeps every strict row strictly.
    OnlyAtTheEdge,
    /// A vertex, or a point that keeps the strict rows.
    Point(Vec<Rational>),
}

/// Changes of a cell after which the question is left open.
const MOST_WORK: usize = 400_000;

/// `basic = right + sum a x_nonbasic` for each basic variable.
struct Dictionary {
    /// By row: right side first, then a coefficient for each nonbasic variable.
    rows: Vec<Vec<Rational>>,
    /// What is maximised, in the same form.
    objective: Vec<Rational>,
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
    work: usize,
}

impl Dictionary {
    /// The basic variable of `row` changes places with the nonbasic one of `column`.
    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        let pivot = self.rows[row][column + 1];
        let mut entering = self.rows[row].clone();
        for (j, a) in entering.iter_mut().enumerate() {
            *a = if j == column + 1 { Rational::ONE.over(pivot)? } else { a.negate().over(pivot)? };
        }
        for target in self.rows.iter_mut().enumerate().filter(|(i, _)| *i != row).map(|(_, r)| r) {
            self.work += substitute(target, column, &entering)?;
        }
        self.work += substitute(&mut self.objective, column, &entering)?;
        self.rows[row] = entering;
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        (self.work < MOST_WORK).then_some(())
    }

    /// Maximises the objective from a feasible dictionary; the objective must be bounded. Ends early once it is above `enough`.
    fn maximise(&mut self, enough: Rational) -> Option<()> {
        loop {
            if enough.is_less(self.objective[0])? {
                return Some(());
            }
            let rising = (0..self.nonbasic.len()).filter(|&j| self.objective[j + 1].is_positive());
            let Some(column) = rising.min_by_key(|&j| self.nonbasic[j]) else { return Some(()) };
            let mut leaving: Option<(Rational, usize)> = None;
            for (i, row) in self.rows.iter().enumerate().filter(|(_, row)| row[column + 1].is_negative()) {
                let ratio = row[0].over(row[column + 1].negate())?;
                let better = match leaving {
                    None => true,
                    Some((least, at)) => {
                        ratio.is_less(least)? || (ratio == least && self.basic[i] < self.basic[at])
                    }
                };
                if better {
                    leaving = Some((ratio, i));
                }
            }
            self.pivot(leaving?.1, column)?;
        }
    }
}

/// Puts the entering variable's form into a row; returns the number of cells that changed.
fn substitute(target: &mut [Rational], column: usize, entering: &[Rational]) -> Option<usize> {
    let factor = target[column + 1];
    if factor.is_zero() {
        return Some(1);
    }
    target[column + 1] = Rational::ZERO;
    for (cell, e) in target.iter_mut().zip(entering).filter(|(_, e)| !e.is_zero()) {
        *cell = cell.plus(factor.times(*e)?)?;
    }
    Some(entering.len())
}

/// Decides rows over `n` variables `x >= 0`, each bounded by them; `None` when that is too much work, or overflows.
pub(super) fn decide(n: usize, rows: &[Row]) -> Option<Answer> {
    // Columns: the variables, the room `t` that strict rows leave, the artificial variable of the first phase.
    let (room, artificial) = (n, n + 1);
    let any_strict = rows.iter().any(|row| row.strict);
    let mut dictionary = Dictionary {
        rows: Vec::with_capacity(rows.len() + 1),
        objective: vec![Rational::ZERO; n + 3],
        basic: (n + 2..n + 3 + rows.len()).collect(),
        nonbasic: (0..n + 2).collect(),
        work: 0,
    };
    for row in rows {
        let mut cells = vec![Rational::ZERO; n + 3];
        cells[0] = row.right;
        for &(v, a) in &row.terms {
            cells[v + 1] = cells[v + 1].minus(a)?;
        }
        cells[room + 1] = if row.strict { Rational::ONE.negate() } else { Rational::ZERO };
        cells[artificial + 1] = Rational::ONE;
        dictionary.rows.push(cells);
    }
    let mut bound = vec![Rational::ZERO; n + 3];
    bound[0] = Rational::ONE;
    bound[room + 1] = Rational::ONE.negate();
    dictionary.rows.push(bound);

    // 1. A feasible dictionary: as little of the artificial variable as possible.
    let mut worst: Option<usize> = None;
    for i in 0..rows.len() {
        let below = dictionary.rows[i][0];
        let is_worst = match worst {
            None => below.is_negative(),
            Some(w) => below.is_less(dictionary.rows[w][0])?,
        };
        if is_worst {
            worst = Some(i);
        }
    }
    if let Some(worst) = worst {
        dictionary.objective[artificial + 1] = Rational::ONE.negate();
        dictionary.pivot(worst, artificial)?;
        dictionary.maximise(Rational::ZERO)?;
        if dictionary.objective[0].is_negative() {
            return Some(Answer::Infeasible);
        }
        if let Some(row) = dictionary.basic.iter().position(|&b| b == artificial) {
            // It is zero there: any column with a coefficient takes its place.
            let column = (0..dictionary.nonbasic.len()).find(|&j| !dictionary.rows[row][j + 1].is_zero())?;
            dictionary.pivot(row, column)?;
        }
    }
    let column = dictionary.nonbasic.iter().position(|&v| v == artificial)?;
    for row in &mut dictionary.rows {
        row[column + 1] = Rational::ZERO;
    }

    // 2. As much room as possible for the strict rows.
    if any_strict {
        dictionary.objective.fill(Rational::ZERO);
        match dictionary.basic.iter().position(|&b| b == room) {
            Some(row) => dictionary.objective = dictionary.rows[row].clone(),
            None => {
                let column = dictionary.nonbasic.iter().position(|&v| v == room)?;
                dictionary.objective[column + 1] = Rational::ONE;
            }
        }
        dictionary.maximise(Rational::ONE)?;
        if !dictionary.objective[0].is_positive() {
            return Some(Answer::OnlyAtTheEdge);
        }
    }
    let mut x = vec![Rational::ZERO; n];
    for (&b, row) in dictionary.basic.iter().zip(&dictionary.rows).filter(|(b, _)| **b < n) {
        x[b] = row[0];
    }
    Some(Answer::Point(x))
}

#[cfg(test)]
mod tests {
    use super::{Answer, Rational, Row, decide};

    fn row(terms: &[(usize, f64)], right: f64, strict: bool) -> Row {
        let terms = terms.iter().map(|&(v, a)| (v, Rational::decimal(a).unwrap())).collect();
        Row { terms, right: Rational::decimal(right).unwrap(), strict }
    }

    #[test]
    fn slots_that_just_fit_have_one_place_each() {
        // 0 <= a <= 0.3 and so on, each 0.1 after the one before.
        let mut rows: Vec<Row> = (0..4).map(|v| row(&[(v, 1.0)], 0.3, false)).collect();
        rows.extend((0..3).map(|v| row(&[(v, 1.0), (v + 1, -1.0)], -0.1, false)));
        let expected = [0.0, 0.1, 0.2, 0.3].map(|x| Rational::decimal(x).unwrap());
        assert_eq!(decide(4, &rows), Some(Answer::Point(expected.to_vec())));
        rows[6].strict = true;
        assert_eq!(decide(4, &rows), Some(Answer::OnlyAtTheEdge));
        rows[6].right = Rational::decimal(-0.1f64.next_up()).unwrap();
        assert_eq!(decide(4, &rows), Some(Answer::Infeasible));
    }

    #[test]
    fn strict_rows_are_kept_strictly_when_there_is_room() {
        // x < y, y < x + 0.001, x + y < 1, over [0, 1].
        let rows = [
            row(&[(0, 1.0)], 1.0, false),
            row(&[(1, 1.0)], 1.0, false),
            row(&[(0, 1.0), (1, -1.0)], 0.0, true),
            row(&[(0, -1.0), (1, 1.0)], 0.001, true),
            row(&[(0, 1.0), (1, 1.0)], 1.0, true),
        ];
        let Some(Answer::Point(x)) = decide(2, &rows) else { panic!("{:?}", decide(2, &rows)) };
        let (x, y) = (x[0].value(), x[1].value());
        assert!(x < y && y < x + 0.001 && x + y < 1.0, "{x} {y}");
    }
}
