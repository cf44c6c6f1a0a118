//! What a node hands its children of its messages, so that theirs start where its own ended.
//!
//! Any values are a valid start: each exchange of a variable makes that variable's messages sum to 0 again, so after one sweep the bound is proved.

use super::blocks::Blocks;
use super::index::{ClassId, FeatureId, IdVec, ItemId, Position, TreeId};
use super::links::Links;
use super::model::Model;

/// Message values of a node by item and variable; the first sweep of a node with fewer items and cells starts from them.
#[derive(Debug, Default)]
pub(crate) struct Multipliers {
    /// Items, ascending.
    items: IdVec<Position, ItemId>,
    /// The values of each item's restrictions, one after another.
    values: Vec<f32>,
    /// Those of the items that the variable leaves free, by variable and tree, in this order; where rows are kept by piece they pay nothing.
    free: Vec<(FeatureId, TreeId, f32)>,
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

impl Multipliers {
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.values.clear();
        self.free.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// False when single precision could not hold a value.
    pub(crate) fn is_finite(&self) -> bool {
        self.values.iter().chain(self.free.iter().map(|(.., value)| value)).all(|value| value.is_finite())
    }

    /// Memory taken from the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.items.bytes()
            + self.values.capacity() * size_of::<f32>()
            + self.free.capacity() * size_of::<(FeatureId, TreeId, f32)>()
    }

    /// Keeps the values of the links' classes. `starts` is a buffer.
    pub(crate) fn keep(
        &mut self,
        model: &Model<'_>,
        links: &Links,
        blocks: &Blocks,
        values: &IdVec<ClassId, f64>,
        starts: &mut IdVec<Position, usize>,
    ) {
        self.items.clone_from(&blocks.items);
        self.free.clear();
        starts.clear();
        let mut end = 0;
        for &item in &blocks.items {
            starts.push(end);
            end += model.restrictions(item).len();
        }
        self.values.clear();
        self.values.resize(end, 0.0);
        for linked in &links.features {
            for link in &links.links[linked.links] {
                for k in link.classes {
                    let members = links.classes[k].members;
                    let value = values[k] as f32;
                    let restrictions = &links.member_restriction[members];
                    for (&position, &restriction) in links.members[members].iter().zip(restrictions) {
                        self.values[starts[position] + usize::from(restriction)] = value;
                    }
                }
                if let Some(free) = link.free().filter(|_| !linked.by_piece()) {
                    let tree = blocks.tree(model, link.block);
                    self.free.push((linked.feature, tree, values[free] as f32));
                }
            }
        }
    }

    /// Fills in the values of the classes of a node below the one that was kept. `starts` is a buffer.
    pub(crate) fn load(
        &self,
        model: &Model<'_>,
        links: &Links,
        blocks: &Blocks,
        values: &mut IdVec<ClassId, f64>,
        starts: &mut IdVec<Position, usize>,
    ) {
        starts.clear();
        let mut end = 0;
        let mut kept = blocks.items.iter().peekable();
        for &item in &self.items {
            if kept.peek() == Some(&&item) {
                kept.next();
                starts.push(end);
            }
            end += model.restrictions(item).len();
        }
        debug_assert_eq!(starts.len(), blocks.n_items());
        let mut free = self.free.iter().peekable();
        for linked in links.features.iter().filter(|f| f.ties()) {
            for link in &links.links[linked.links] {
                for k in link.classes {
                    let member = links.classes[k].members.first;
                    let restriction = usize::from(links.member_restriction[member]);
                    values[k] = f64::from(self.values[starts[links.members[member]] + restriction]);
                }
                if let Some(class) = link.free().filter(|_| !linked.by_piece()) {
                    let key = (linked.feature, blocks.tree(model, link.block));
                    while free.next_if(|f| (f.0, f.1) < key).is_some() {}
                    if let Some(f) = free.peek().filter(|f| (f.0, f.1) == key) {
                        values[class] = f64::from(f.2);
                    }
                }
            }
        }
    }
}
