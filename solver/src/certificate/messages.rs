//! Messages between the trees that share a variable, as the verifier computes them.

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

/// A tree whose leaves the variable tells apart. Neighbouring columns on which it has the same leaves count together, as a *piece*: most trees split a variable a few times only.
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
    /// A tree whose leaves lie on the given cells, all where there are none, of which the numbers in `kept` are kept, each a column. `None` when every leaf
    /// lies on all of these.
    fn new(tree: usize, leaves: &[Option<&Vec<bool>>], kept: &[usize]) -> Option<Self> {
        let restricted = || leaves.iter().flatten();
        if restricted().all(|cells| kept.iter().all(|&j| cells[j])) {
            return None;
        }
        // A piece starts where a leaf does, or ends.
        let mut starts = vec![false; kept.len()];
        for cells in restricted() {
            for (start, pair) in starts.iter_mut().skip(1).zip(kept.windows(2)) {
                *start |= cells[pair[0]] != cells[pair[1]];
            }
        }
        let mut firsts = vec![0];
        firsts.extend((1..kept.len()).filter(|&j| starts[j]));
        let mut piece = 0;
        let pieces = starts.iter().map(|&start| {
            piece += usize::from(start);
            piece
        });
        let pieces = pieces.collect();
        let on = |cells: &Option<&Vec<bool>>| -> Vec<usize> {
            (0..firsts.len()).filter(|&p| cells.is_none_or(|cells| cells[kept[firsts[p]]])).collect()
        };
        Some(Self { tree, items: leaves.iter().map(on).collect(), pieces, n_pieces: firsts.len() })
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
            let on = |&i: &usize| trees[t][i].on.iter().find(|(g, _)| *g == f).map(|(_, cells)| cells);
            let leaves: Vec<Option<&Vec<bool>>> = alive.iter().map(on).collect();
            links.extend(TreeLink::new(t, &leaves, &kept));
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
