//! Items: leaves that some cell reaches and pieces around excluded regions, each restricted to some cells of some variables.

use std::collections::BTreeMap;

use super::cell_set::Window;
use super::index::{
    FeatureId, Id, IdVec, ItemId, LeafId, MaskId, MaskWordId, Partition, RestrictionId, Span,
};

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
    /// Number of the first word that a mask keeps.
    first_words: IdVec<MaskId, usize>,
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

    /// Cells of a mask.
    #[inline(always)]
    pub(crate) fn mask(&self, mask: MaskId) -> Window<'_> {
        Window::trimmed(self.masks.first_words[mask], &self.masks.words[self.masks.spans.part(mask)])
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
fn hash(window: &Window<'_>) -> u64 {
    let first = window.first_word() as u64;
    [first].iter().chain(window.words()).fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
    })
}

impl ItemsBuilder {
    /// The number of a variable's mask, new or known.
    pub(crate) fn mask(&mut self, feature: FeatureId, window: &Window<'_>) -> MaskId {
        let known = self.known.entry((feature, hash(window))).or_default();
        let items = &mut self.items;
        if let Some(&mask) = known.iter().find(|&&mask| items.mask(mask) == *window) {
            return mask;
        }
        let mask = items.masks.first_words.push(window.first_word());
        items.masks.words.extend(window.words().iter().copied());
        items.masks.spans.push_end(items.masks.words.next_id());
        known.push(mask);
        mask
    }

    /// Restricts the item that is pushed next to some cells of a variable, which must come in ascending order.
    pub(crate) fn restrict(&mut self, feature: FeatureId, window: &Window<'_>) {
        let mask = self.mask(feature, window);
        self.items.restrictions.push(Restriction { feature, mask });
    }

    /// Adds an item that lives on the cells of the last calls of [`ItemsBuilder::restrict`], one a variable that it does not leave free.
    pub(crate) fn push(&mut self, leaf: Option<LeafId>) -> ItemId {
        let new = Span::new(self.items.spans.end(), self.items.restrictions.next_id());
        let bits = self.items.restrictions[new].iter().map(|r| feature_bit(r.feature));
        let feature_bits = bits.fold(0, |all, bit| all | bit);
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
