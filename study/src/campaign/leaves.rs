//! Why the trees think what they think of a point: the leaves it falls into, the rows that share them.

use leafgp::engine::Surrogate;
use leafgp::problem::{Problem, Variable, format_significant};
use leafgp_solver::{Node, Range, Region, Rule, Tree};

/// A leaf that a point falls into.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Leaf {
    /// The leaf's conditions: "bake <= 95 and solvent water".
    pub(super) rule: String,
    /// By how much the tree moves the prediction here, against its mean over the rows; in the objective's units and direction.
    pub(super) effect: f64,
    /// Rows (indices into the training set's rows) in it.
    pub(super) n_rows: usize,
}

/// A measured or failed row and the share of trees in which it shares a leaf with a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Agreement {
    /// Index in the training set.
    pub(super) row: usize,
    /// In `[0, 1]`; trees without a split do not count.
    pub(super) share: f64,
}

/// The leaves of a point with the largest effects, and the rows that agree with it most.
pub(super) fn reasons(surrogate: &Surrogate, x: &[f64]) -> (Vec<Leaf>, Vec<Agreement>) {
    let training = surrogate.training();
    let forest = &surrogate.trees().forest;
    let trees: Vec<&Tree> = forest.trees().iter().filter(|tree| tree.n_leaves() > 1).collect();
    let n_rows = training.x.n_rows();
    let mut shares = vec![0usize; n_rows];
    let mut leaves: Vec<Leaf> = Vec::new();
    for tree in &trees {
        let (leaf, value) = tree.leaf_of(x);
        let at: Vec<(usize, f64)> = training.x.rows().map(|row| tree.leaf_of(row)).collect();
        let mean = at.iter().map(|(_, value)| value).sum::<f64>() / n_rows.max(1) as f64;
        let mut inside = 0;
        for (share, _) in shares.iter_mut().zip(&at).filter(|(_, (other, _))| *other == leaf) {
            *share += 1;
            inside += 1;
        }
        let scale = surrogate.scale();
        // Both signs of the objective: the difference of two standardised means in its units.
        let effect = scale.mean(value) - scale.mean(mean);
        let rule = rule_text(surrogate.problem(), tree, x);
        // Boosting asks the same question again and again: equal leaves are told once, with their sum.
        match leaves.iter_mut().find(|known| known.rule == rule) {
            Some(known) => known.effect += effect,
            None => leaves.push(Leaf { rule, effect, n_rows: inside }),
        }
    }
    leaves.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()));
    let n_trees = trees.len().max(1) as f64;
    let mut agreements: Vec<Agreement> = shares
        .iter()
        .enumerate()
        .map(|(row, &count)| Agreement { row, share: count as f64 / n_trees })
        .collect();
    agreements.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.row.cmp(&b.row)));
    (leaves, agreements)
}

/// The conditions on the way to the leaf of `x`, one for each variable asked.
fn rule_text(problem: &Problem, tree: &Tree, x: &[f64]) -> String {
    let domains = problem.domains();
    let mut region = Region::full(&domains);
    let mut asked = vec![false; domains.len()];
    let mut at = 0;
    while let Node::Split { feature, rule, left, right } = &tree.nodes[at] {
        let goes_left = rule.goes_left(x[*feature]);
        asked[*feature] = true;
        match (&mut region.0[*feature], rule) {
            (Range::Interval { upper, .. }, Rule::Threshold(t)) if goes_left => *upper = upper.min(*t),
            (Range::Interval { lower, .. }, Rule::Threshold(t)) => *lower = lower.max(*t),
            (Range::Levels(levels), Rule::Levels(set)) => {
                let kept = if goes_left { set.clone() } else { set.complement() };
                levels.intersect_with(&kept);
            }
            _ => {}
        }
        at = if goes_left { *left } else { *right };
    }
    let texts = (0..domains.len()).filter(|&i| asked[i]);
    let texts: Vec<String> = texts.map(|i| condition(&problem.variables()[i], &region.0[i])).collect();
    texts.join(", ")
}

/// A range as a condition: only the sides that are narrower than the variable's own.
fn condition(variable: &Variable, range: &Range) -> String {
    let name = &variable.name;
    match range {
        Range::Interval { lower, upper } => {
            let (least, most) = variable.domain().bounds();
            let digits = |x: f64| format_significant(x, 4);
            match (*lower > least, *upper < most) {
                (true, true) => format!("{} < {name} \u{2264} {}", digits(*lower), digits(*upper)),
                (true, false) => format!("{name} > {}", digits(*lower)),
                (false, _) => format!("{name} \u{2264} {}", digits(*upper)),
            }
        }
        Range::Levels(levels) => {
            let names: Vec<String> = levels.iter().map(|level| variable.format_value(level as f64)).collect();
            format!("{name} {}", names.join(" or "))
        }
    }
}
