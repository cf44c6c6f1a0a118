//! Messages between the trees that share a variable, as the verifier computes them.

use std::collections::BTreeMap;

use super::cells::CellLeaf;
use super::state::State;

/// A variable that tells leaves apart. Neighbouring cells that no tree tells apart count once, as a *column*.
pub(super) struct Variable {
    pub(super) feature: usize,
    pub(super) n_columns: usize,
    /// The column of each kept cell.
    pub(super) columns: Vec<usize>,
    pub(super) links: Vec<TreeLink>,
}

/// A tree whose leaves the variable tells apart. Columns on which it has the same leaves count together, as a *piece*: most trees split a variable a few times only.
pub(super) struct TreeLink {
    pub(super) tree: usize,
    /// The pieces of each leaf still possible.
    pub(super) items: Vec<Vec<usize>>,
    /// The piece of each column.
    pub(super) pieces: Vec<usize>,
    n_pieces: usize,
}

impl Variable {
    /// A variable whose `n` kept cells are columns of its links so far.
    fn new(feature: usize, n: usize, mut links: Vec<TreeLink>) -> Self {
        let starts = |j: usize| j == 0 || links.iter().any(|link| link.pieces[j] != link.pieces[j - 1]);
        let firsts: Vec<usize> = (0..n).filter(|&j| starts(j)).collect();
        let columns = (0..n).map(|j| firsts.partition_point(|&first| first <= j) - 1).collect();
        for link in &mut links {
            link.pieces = firsts.iter().map(|&j| link.pieces[j]).collect();
        }
        Self { feature, n_columns: firsts.len(), columns, links }
    }
}

impl TreeLink {
    /// A tree whose leaves lie on the given of `n` cells, each of which is a column.
    fn new(tree: usize, items: &[Vec<usize>], n: usize) -> Self {
        let mut leaves = vec![Vec::new(); n];
        for (i, cells) in items.iter().enumerate() {
            cells.iter().for_each(|&j| leaves[j].push(i));
        }
        let mut numbers = BTreeMap::new();
        let mut at_pieces = vec![Vec::new(); items.len()];
        let pieces = leaves.into_iter().map(|leaves| {
            let next = numbers.len();
            *numbers.entry(leaves).or_insert_with_key(|leaves| {
                leaves.iter().for_each(|&i| at_pieces[i].push(next));
                next
            })
        });
        let pieces = pieces.collect();
        Self { tree, items: at_pieces, pieces, n_pieces: numbers.len() }
    }

    /// Fills in the smallest cost on each piece.
    pub(super) fn fill_cheapest(&self, costs: impl Iterator<Item = f64>, cheapest: &mut Vec<f64>) {
        cheapest.clear();
        cheapest.resize(self.n_pieces, f64::INFINITY);
        for (pieces, cost) in self.items.iter().zip(costs) {
            pieces.iter().for_each(|&p| cheapest[p] = cheapest[p].min(cost));
        }
    }

    /// What each leaf pays at most: the largest message on its cells. `largest` is a buffer.
    pub(super) fn pays<'s>(
        &'s self,
        phi: &[f64],
        largest: &'s mut Vec<f64>,
    ) -> impl Iterator<Item = f64> + use<'s> {
        largest.clear();
        largest.resize(self.n_pieces, f64::NEG_INFINITY);
        for (&p, &phi) in self.pieces.iter().zip(phi) {
            largest[p] = largest[p].max(phi);
        }
        let largest = &*largest;
        self.items.iter().map(|pieces| pieces.iter().map(|&p| largest[p]).fold(f64::NEG_INFINITY, f64::max))
    }
}

/// Which trees each variable tells leaves of apart; cells are numbered among those kept.
pub(super) fn links(trees: &[Vec<CellLeaf>], state: &State) -> Vec<Variable> {
    let mut variables = Vec::new();
    for f in 0..state.on.len() {
        let kept: Vec<usize> = (0..state.on[f].len()).filter(|&j| state.on[f][j]).collect();
        let mut links = Vec::new();
        for (t, alive) in state.alive.iter().enumerate() {
            let items: Vec<Vec<usize>> = alive
                .iter()
                .map(|&i| match trees[t][i].on.iter().find(|(g, _)| *g == f) {
                    None => (0..kept.len()).collect(),
                    Some((_, cells)) => (0..kept.len()).filter(|&j| cells[kept[j]]).collect(),
                })
                .collect();
            if items.iter().any(|cells| cells.len() < kept.len()) {
                links.push(TreeLink::new(t, &items, kept.len()));
            }
        }
        if !links.is_empty() {
            variables.push(Variable::new(f, kept.len(), links));
        }
    }
    variables
}

/// Steps of one sweep.
pub(super) fn sweep_work(links: &[Variable]) -> usize {
    let pieces = |link: &TreeLink| link.items.iter().map(|pieces| 2 * pieces.len() + 1).sum::<usize>();
    links.iter().map(|v| v.links.iter().map(|link| pieces(link) + 4 * v.n_columns).sum::<usize>()).sum()
}

/// Messages `[variable][link][column]` by min-marginal averaging, in plain arithmetic: any values are valid, since their sum is accounted for.
pub(super) fn send(links: &[Variable], costs: &[Vec<f64>], sweeps: u8) -> Vec<Vec<Vec<f64>>> {
    let mut messages: Vec<Vec<Vec<f64>>> =
        links.iter().map(|v| v.links.iter().map(|_| vec![0.0; v.n_columns]).collect()).collect();
    let mut reduced = costs.to_vec();
    let mut values: Vec<Vec<Vec<f64>>> =
        links.iter().map(|v| v.links.iter().map(|link| vec![0.0; link.items.len()]).collect()).collect();
    let mut by_piece = Vec::new();
    for _ in 0..sweeps {
        for ((variable, phi), values) in links.iter().zip(&mut messages).zip(&mut values) {
            if variable.links.len() < 2 {
                continue;
            }
            let mut mean = vec![0.0; variable.n_columns];
            for ((link, phi), values) in variable.links.iter().zip(&mut *phi).zip(&*values) {
                let costs = reduced[link.tree].iter().zip(values).map(|(cost, value)| cost + value);
                link.fill_cheapest(costs, &mut by_piece);
                phi.iter_mut().zip(&link.pieces).for_each(|(phi, &p)| *phi = by_piece[p]);
                mean.iter_mut().zip(&*phi).for_each(|(mean, phi)| *mean += phi);
            }
            for ((link, phi), values) in variable.links.iter().zip(&mut *phi).zip(values) {
                phi.iter_mut().zip(&mean).for_each(|(phi, mean)| *phi -= mean / variable.links.len() as f64);
                for ((new, value), cost) in
                    link.pays(phi, &mut by_piece).zip(values).zip(&mut reduced[link.tree])
                {
                    *cost -= new - *value;
                    *value = new;
                }
            }
        }
    }
    messages
}
