//! The restrictions of a node's items that matter within its box, by variable.

use super::blocks::Blocks;
use super::cell_set::Window;
use super::cells::FeatureCells;
use super::index::{BlockId, CellRank, FeatureId, Id, IdVec, MaskId, Position, Span};
use super::model::Model;

/// What decides an item's class, in a form that is quick to compare: for a number the ranks of its cells, for a category its mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u32, u32);

impl Key {
    /// The variable does not restrict the item within the box.
    pub(crate) const FREE: Self = Self(u32::MAX, u32::MAX);

    /// A number: the item's cells among those of the box.
    fn of_ranks(ranks: Span<CellRank>) -> Self {
        Self(ranks.first.raw(), ranks.end.raw())
    }

    /// A category: the item's mask.
    fn of_mask(mask: MaskId) -> Self {
        Self(mask.raw(), u32::MAX)
    }

    /// The ranks of a number's key.
    pub(crate) fn ranks(self) -> Span<CellRank> {
        Span::new(CellRank::from_raw(self.0), CellRank::from_raw(self.1))
    }

    /// The mask of a category's key.
    pub(crate) fn mask(self) -> MaskId {
        MaskId::from_raw(self.0)
    }
}

/// A restriction of an item that matters within the box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) position: Position,
    /// Which of the item's restrictions it is.
    pub(crate) restriction: u16,
    pub(crate) key: Key,
}

/// The entries of a node.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    /// Of each variable, in the order of items.
    pub(crate) of: IdVec<FeatureId, Vec<Entry>>,
    pub(crate) block_of: IdVec<Position, BlockId>,
    /// All ranks of each variable's cells.
    pub(crate) ranks: IdVec<FeatureId, Span<CellRank>>,
    // Buffers: the keys of masks that were met since the stamp changed.
    mask_keys: IdVec<MaskId, (u32, Key)>,
    stamp: u32,
    /// Rank of the first cell of each word of the box.
    word_rank: Vec<CellRank>,
}

impl Entries {
    /// Every restriction of an item that matters within the box.
    pub(crate) fn collect(&mut self, model: &Model<'_>, cells: &[u64], blocks: &Blocks) {
        self.mask_keys.resize(model.items.n_masks(), (0, Key::FREE));
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.mask_keys.as_mut_slice().fill((0, Key::FREE));
            self.stamp = 1;
        }
        self.word_rank.clear();
        self.ranks.clear();
        for f in model.cells.features() {
            let mut rank = CellRank::default();
            for &word in &cells[model.cells.words(f)] {
                self.word_rank.push(rank);
                rank = rank.plus(word.count_ones());
            }
            self.ranks.push(Span::new(CellRank::default(), rank));
        }
        self.of.resize(model.n_features(), Vec::new());
        self.of.iter_mut().for_each(Vec::clear);
        self.block_of.clear();
        for block in blocks.ids() {
            let positions = blocks.block(block);
            self.block_of.resize(positions.end.index(), block);
            for position in positions {
                for (number, r) in model.restrictions(blocks.items[position]).iter().enumerate() {
                    if self.ranks[r.feature].len() < 2 {
                        continue;
                    }
                    let key = self.key(model, cells, r.feature, r.mask);
                    if key != Key::FREE {
                        self.of[r.feature].push(Entry { position, restriction: number as u16, key });
                    }
                }
            }
        }
    }

    /// The ranks of the levels of a box that a mask holds, ascending; `cells` are the words of the box for the variable.
    pub(crate) fn ranks_in<'s>(
        &'s self,
        model: &Model<'_>,
        cells: &'s [u64],
        f: FeatureId,
        mask: Window<'s>,
    ) -> impl Iterator<Item = CellRank> + use<'s> {
        let first = mask.first_word();
        let word_rank = &self.word_rank[model.cells.words(f)][first..];
        mask.of(cells).iter().zip(mask.words()).zip(word_rank).flat_map(|((&cells, &mask), &rank)| {
            let mut both = cells & mask;
            std::iter::from_fn(move || {
                let bit = both.checked_ilog2().map(|_| both.trailing_zeros())?;
                both &= both - 1;
                Some(rank.plus((cells & ((1 << bit) - 1)).count_ones()))
            })
        })
    }

    fn key(&mut self, model: &Model<'_>, cells: &[u64], f: FeatureId, mask: MaskId) -> Key {
        let (stamp, known) = self.mask_keys[mask];
        if stamp == self.stamp {
            return known;
        }
        let words = model.cells.words(f);
        let cells = &cells[words.clone()];
        let window = model.mask(mask);
        let key = match model.cells.feature(f) {
            FeatureCells::Numeric(_) => {
                let mut low = None;
                let mut high = CellRank::default();
                for (w, (c, m)) in window.of(cells).iter().zip(window.words()).enumerate() {
                    let both = c & m;
                    if both != 0 {
                        let rank = self.word_rank[words.start + window.first_word() + w];
                        low = low.or_else(|| {
                            Some(rank.plus((c & ((1 << both.trailing_zeros()) - 1)).count_ones()))
                        });
                        high = rank.plus((c & (u64::MAX >> both.leading_zeros())).count_ones());
                    }
                }
                let ranks = Span::new(low.expect("a filtered item meets the box"), high);
                if ranks == self.ranks[f] { Key::FREE } else { Key::of_ranks(ranks) }
            }
            FeatureCells::Levels(_) => {
                if window.covers(cells) {
                    Key::FREE
                } else {
                    Key::of_mask(mask)
                }
            }
        };
        self.mask_keys[mask] = (self.stamp, key);
        key
    }
}
