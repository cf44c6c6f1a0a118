//! Constraints that share no free variable can be solved one by one.

use crate::model::Model;
use crate::region::Region;

/// Groups of roots with their free variables, and the roots that have none.
#[derive(Debug, Default)]
pub(super) struct Components {
    pub(super) groups: Vec<(Vec<u32>, Vec<usize>)>,
    pub(super) fixed: Vec<u32>,
}

/// The connected components of some roots over the free variables of a box, in the order of their first root.
pub(super) fn components(model: &Model, roots: &[u32], region: &Region) -> Components {
    let mut owner: Vec<Option<usize>> = vec![None; region.0.len()];
    let mut parent: Vec<usize> = (0..roots.len()).collect();
    let mut has_free = vec![false; roots.len()];
    for (i, &root) in roots.iter().enumerate() {
        for &v in &model.roots[root as usize].variables {
            if region.0[v].is_fixed() {
                continue;
            }
            has_free[i] = true;
            match owner[v] {
                None => owner[v] = Some(i),
                Some(j) => {
                    let (a, b) = (find(&mut parent, i), find(&mut parent, j));
                    parent[a.max(b)] = a.min(b);
                }
            }
        }
    }
    let mut result = Components::default();
    let mut group_of: Vec<Option<usize>> = vec![None; roots.len()];
    for (i, &root) in roots.iter().enumerate() {
        if !has_free[i] {
            result.fixed.push(root);
            continue;
        }
        let top = find(&mut parent, i);
        let group = *group_of[top].get_or_insert_with(|| {
            result.groups.push((Vec::new(), Vec::new()));
            result.groups.len() - 1
        });
        result.groups[group].0.push(root);
    }
    for (v, owner) in owner.iter().enumerate() {
        if let Some(i) = owner {
            let top = find(&mut parent, *i);
            if let Some(group) = group_of[top] {
                result.groups[group].1.push(v);
            }
        }
    }
    result
}

fn find(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}
