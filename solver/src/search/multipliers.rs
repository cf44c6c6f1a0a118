//! What a node hands its children of its messages, so that theirs start where its own ended.
//!
//! Any values are a valid start: each exchange of a variable makes that variable's messages sum to 0 again, so after one sweep the bound is proved.

use super::links::{Link, Links};
use super::model::Model;
use super::node::Node;

/// Message values of a node by item and variable; the first sweep of a node with fewer items and cells starts from them.
#[derive(Debug, Default)]
pub(crate) struct Multipliers {
    /// Items, ascending.
    items: Vec<u32>,
    /// The values of each item's restrictions, one after another.
    values: Vec<f32>,
    /// `(variable, tree, value)` of the items that the variable leaves free, in this order.
    free: Vec<(u32, u32, f32)>,
}

impl Clone for Multipliers {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), values: self.values.clone(), free: self.free.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.items.clone_from(&source.items);
        self.values.clone_from(&source.values);
        self.free.clone_from(&source.free);
    }
}

/// The tree of a link's block: blocks are numbered anew in every node.
fn tree_of(model: &Model<'_>, node: &Node, link: &Link) -> u32 {
    model.tree_of(node.items[node.block(link.block as usize).start])
}

impl Multipliers {
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.values.clear();
        self.free.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Memory in use.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.items) + size_of_val(&*self.values) + size_of_val(&*self.free)
    }

    /// Keeps the values of the links' classes. `starts` is a buffer.
    pub(crate) fn keep(
        &mut self,
        model: &Model<'_>,
        links: &Links,
        node: &Node,
        values: &[f64],
        starts: &mut Vec<u32>,
    ) {
        self.items.clone_from(&node.items);
        self.free.clear();
        starts.clear();
        let mut end = 0;
        for &item in &node.items {
            starts.push(end);
            end += model.restrictions(item).len() as u32;
        }
        self.values.clear();
        self.values.resize(end as usize, 0.0);
        for feature in &links.features {
            for link in links.links_of(feature) {
                for k in link.first_class as usize..link.end_class as usize {
                    let class = &links.classes[k];
                    let range = class.first_member as usize..class.end_member as usize;
                    let value = values[k] as f32;
                    for (&position, &restriction) in
                        links.members[range.clone()].iter().zip(&links.member_restriction[range])
                    {
                        self.values[(starts[position as usize] + u32::from(restriction)) as usize] = value;
                    }
                }
                if link.has_free {
                    let value = values[link.end_class as usize] as f32;
                    self.free.push((feature.feature, tree_of(model, node, link), value));
                }
            }
        }
    }

    /// Fills in the values of the classes of a node below the one that was kept. `starts` is a buffer.
    pub(crate) fn load(
        &self,
        model: &Model<'_>,
        links: &Links,
        node: &Node,
        values: &mut [f64],
        starts: &mut Vec<u32>,
    ) {
        starts.clear();
        let mut end = 0;
        let mut kept = node.items.iter().peekable();
        for &item in &self.items {
            if kept.peek() == Some(&&item) {
                kept.next();
                starts.push(end);
            }
            end += model.restrictions(item).len() as u32;
        }
        debug_assert_eq!(starts.len(), node.items.len());
        let mut free = self.free.iter().peekable();
        for feature in links.features.iter().filter(|f| f.ties()) {
            for link in links.links_of(feature) {
                for k in link.first_class as usize..link.end_class as usize {
                    let member = links.classes[k].first_member as usize;
                    let start = starts[links.members[member] as usize];
                    values[k] = f64::from(
                        self.values[(start + u32::from(links.member_restriction[member])) as usize],
                    );
                }
                if link.has_free {
                    let key = (feature.feature, tree_of(model, node, link));
                    while free.next_if(|f| (f.0, f.1) < key).is_some() {}
                    if let Some(f) = free.peek().filter(|f| (f.0, f.1) == key) {
                        values[link.end_class as usize] = f64::from(f.2);
                    }
                }
            }
        }
    }
}
