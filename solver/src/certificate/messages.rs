//! Messages between the trees that share a variable, as the verifier computes them.

use super::cells::CellLeaf;
use super::state::State;

/// A variable that tells leaves apart.
pub(super) struct Variable {
    pub(super) feature: usize,
    pub(super) n_cells: usize,
    pub(super) links: Vec<TreeLink>,
}

/// A tree whose leaves the variable tells apart: the kept cells of each leaf still possible.
pub(super) struct TreeLink {
    pub(super) tree: usize,
    pub(super) items: Vec<Vec<usize>>,
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
                links.push(TreeLink { tree: t, items });
            }
        }
        if !links.is_empty() {
            variables.push(Variable { feature: f, n_cells: kept.len(), links });
        }
    }
    variables
}

/// Steps of one sweep.
pub(super) fn sweep_work(links: &[Variable]) -> usize {
    let cells = |link: &TreeLink| link.items.iter().map(|cells| 2 * cells.len() + 1).sum::<usize>();
    links.iter().map(|v| v.links.iter().map(|link| cells(link) + 2 * v.n_cells).sum::<usize>()).sum()
}

/// Messages `[variable][link][cell]` by min-marginal averaging, in plain arithmetic: any values are valid, since their sum is accounted for.
pub(super) fn send(links: &[Variable], costs: &[Vec<f64>], sweeps: u8) -> Vec<Vec<Vec<f64>>> {
    let mut messages: Vec<Vec<Vec<f64>>> =
        links.iter().map(|v| v.links.iter().map(|_| vec![0.0; v.n_cells]).collect()).collect();
    let mut reduced = costs.to_vec();
    let mut values: Vec<Vec<Vec<f64>>> =
        links.iter().map(|v| v.links.iter().map(|link| vec![0.0; link.items.len()]).collect()).collect();
    for _ in 0..sweeps {
        for ((variable, phi), values) in links.iter().zip(&mut messages).zip(&mut values) {
            if variable.links.len() < 2 {
                continue;
            }
            let mut mean = vec![0.0; variable.n_cells];
            for ((link, phi), values) in variable.links.iter().zip(&mut *phi).zip(&*values) {
                phi.fill(f64::INFINITY);
                for ((cells, value), cost) in link.items.iter().zip(values).zip(&reduced[link.tree]) {
                    cells.iter().for_each(|&j| phi[j] = phi[j].min(cost + value));
                }
                mean.iter_mut().zip(&*phi).for_each(|(mean, phi)| *mean += phi);
            }
            for ((link, phi), values) in variable.links.iter().zip(&mut *phi).zip(values) {
                phi.iter_mut().zip(&mean).for_each(|(phi, mean)| *phi -= mean / variable.links.len() as f64);
                for ((cells, value), cost) in link.items.iter().zip(values).zip(&mut reduced[link.tree]) {
                    let new = cells.iter().map(|&j| phi[j]).fold(f64::NEG_INFINITY, f64::max);
                    *cost -= new - *value;
                    *value = new;
                }
            }
        }
    }
    messages
}
