//! Items: leaves that some cell reaches and pieces around excluded regions, each restricted to some cells of some variables.

use std::collections::BTreeMap;

use super::cells::Cells;
use super::index::{FeatureId, Id, IdVec, ItemId, LeafId, MaskId, MaskWordId, Partition, RestrictionId};

/// An item's restriction to some cells of one variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Restriction {
    pub(crate) feature: FeatureId,
    pub(crate) mask: MaskId,
}

/// The distinct sets of cells that restrictions and splits name.
#[derive(Debug, Default)]
struct Masks {
    words: IdVec<MaskWordId, u64>,
    spans: Partition<MaskId, MaskWordId>,
}

/// The items, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Items {
    masks: Masks,
    restrictions: IdVec<RestrictionId, Restriction>,
    spans: Partition<ItemId, RestrictionId>,
    /// Forest leaf of each item; none for pieces around exclusions.
    pub(crate) leaf: IdVec<ItemId, Option<LeafId>>,
    /// Bit `f % 64` is set when the item is restricted on variable `f`.
    pub(crate) feature_bits: IdVec<ItemId, u64>,
}

/// The bit of a variable in [`Items::feature_bits`].
#[inline(always)]
pub(crate) fn feature_bit(feature: FeatureId) -> u64 {
    1 << (feature.raw() % 64)
}

impl Items {
    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.leaf.len()
    }

    /// Restrictions of an item, ascending by variable.
    #[inline(always)]
    pub(crate) fn restrictions(&self, item: ItemId) -> &[Restriction] {
        &self.restrictions[self.spans.part(item)]
    }

    /// Words of a mask.
    #[inline(always)]
    pub(crate) fn mask(&self, mask: MaskId) -> &[u64] {
        &self.masks.words[self.masks.spans.part(mask)]
    }

    /// Number of masks.
    pub(crate) fn n_masks(&self) -> usize {
        self.masks.spans.len()
    }
}

/// Items under construction.
#[derive(Debug, Default)]
pub(crate) struct ItemsBuilder {
    items: Items,
    /// Masks by variable and hash: a map of the words themselves would hold all of them twice.
    known: BTreeMap<(FeatureId, u64), Vec<MaskId>>,
}

/// A number that equal words share (FNV-1a, a word at a time).
fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
    })
}

impl ItemsBuilder {
    /// The number of a variable's mask, new or known.
    pub(crate) fn mask(&mut self, feature: FeatureId, words: &[u64]) -> MaskId {
        let known = self.known.entry((feature, hash(words))).or_default();
        let items = &mut self.items;
        if let Some(&mask) = known.iter().find(|&&mask| items.mask(mask) == words) {
            return mask;
        }
        let mask = MaskId::new(items.masks.spans.len());
        items.masks.words.extend(words.iter().copied());
        items.masks.spans.push_end(items.masks.words.next_id());
        known.push(mask);
        mask
    }

    /// Adds an item that lives on the box (a subset of `full`).
    pub(crate) fn push(&mut self, cells: &Cells, full: &[u64], at: &[u64], leaf: Option<LeafId>) -> ItemId {
        let mut feature_bits = 0;
        for feature in cells.features() {
            let words = cells.words(feature);
            if at[words.clone()] != full[words.clone()] {
                let mask = self.mask(feature, &at[words]);
                self.items.restrictions.push(Restriction { feature, mask });
                feature_bits |= feature_bit(feature);
            }
        }
        self.items.spans.push_end(self.items.restrictions.next_id());
        self.items.feature_bits.push(feature_bits);
        self.items.leaf.push(leaf)
    }

    /// The id that the next item gets.
    pub(crate) fn next_id(&self) -> ItemId {
        self.items.leaf.next_id()
    }

    /// All of them.
    pub(crate) fn finish(self) -> Items {
        self.items
    }
}
