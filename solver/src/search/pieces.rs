//! Rows of a link by piece: a tree of 17 leaves tells three stretches of a variable apart, however many segments the other trees make of it.
//!
//! Costs and messages of a link are constant on its *pieces*, the segments between neighbouring ends of its classes. The sum of all rows of a variable is a
//! step function with a step at each piece, and the smallest entry of a stretch of it is one of two precomputed minima. The values are those of rows by segment
//! up to rounding (each entry of the sum carries the roundings of all steps before it), at a cost that does not grow with the product of links and segments.

use super::index::{BlockId, ClassId, Id, IdVec, LocalPiece, LocalSegment, PieceId, Span, bits_below};
use super::kernels::{largest, smallest};
use super::links::{Link, LinkedFeature, Links};
use super::messages::{LANES, Messages, Whole, class_minima, largest_by_bits, lower_by_bits, pay};

/// The pieces of all links.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// First segment of each piece.
    pub(crate) starts: IdVec<PieceId, LocalSegment>,
    /// Where the two minima stand whose smaller one is that of the piece, see [`RunMinima`].
    minima_at: IdVec<PieceId, [u32; 2]>,
    /// Pieces of the classes of the links with pieces, by link, the free class included.
    class_pieces: Vec<Span<LocalPiece>>,
    /// Where the pieces of the classes of a link start, by the link's first piece.
    class_pieces_at: IdVec<PieceId, u32>,
    // Buffers: the starts as bits, and how many there are before each word.
    bits: Vec<u64>,
    before: Vec<u32>,
}

impl Pieces {
    pub(crate) fn clear(&mut self) {
        self.starts.clear();
        self.minima_at.clear();
        self.class_pieces.clear();
        self.class_pieces_at.clear();
    }

    pub(crate) fn next_id(&self) -> PieceId {
        self.starts.next_id()
    }

    /// Adds a link whose classes lie on the given runs of segments, and fills in the bits of the classes.
    pub(crate) fn push_link(
        &mut self,
        runs: impl Iterator<Item = Span<LocalSegment>> + Clone,
        n_segments: usize,
        class_bits: &mut [u64],
    ) -> Span<PieceId> {
        let Self { bits, before, .. } = self;
        bits.clear();
        bits.resize(n_segments / 64 + 1, 0);
        bits[0] = 1;
        for run in runs.clone() {
            for end in [run.first.index(), run.end.index()] {
                bits[end / 64] |= 1 << (end % 64);
            }
        }
        // The end of all segments starts nothing.
        bits[n_segments / 64] &= !(1 << (n_segments % 64));
        let first = self.starts.next_id();
        before.clear();
        for (w, &word) in bits.iter().enumerate() {
            before.push((self.starts.len() - first.index()) as u32);
            let mut rest = word;
            while rest != 0 {
                self.starts.push(LocalSegment::new(64 * w + rest.trailing_zeros() as usize));
                rest &= rest - 1;
            }
        }
        let pieces = Span::new(first, self.starts.next_id());
        let n_pieces = pieces.len() as u32;
        let piece_of = |segment: LocalSegment| {
            let s = segment.index();
            let below = bits[s / 64] & ((1 << (s % 64)) - 1);
            LocalPiece::from_raw(before[s / 64] + below.count_ones())
        };
        self.class_pieces_at.resize(pieces.end.index(), self.class_pieces.len() as u32);
        for (run, class_bits) in runs.zip(class_bits) {
            let span = Span::new(piece_of(run.first), piece_of(run.end));
            *class_bits = bits_below(span.end) & !bits_below(span.first);
            self.class_pieces.push(span);
        }
        for piece in pieces {
            let start = self.starts[piece].index();
            let end = if piece == pieces.last() { n_segments } else { self.starts[piece.next()].index() };
            let level = (end - start).ilog2() as usize;
            let at = level * n_segments;
            self.minima_at.push([(at + start) as u32, (at + end - (1 << level)) as u32]);
        }
        debug_assert!(n_pieces > 0);
        pieces
    }

    /// Where the two minima of each piece of a link stand in the levels of [`RunMinima`].
    #[inline(always)]
    pub(crate) fn minima_of(&self, link: &Link) -> &[[u32; 2]] {
        &self.minima_at[link.pieces]
    }

    /// Pieces of the classes of a link, the free class included.
    #[inline(always)]
    pub(crate) fn of_classes(&self, link: &Link) -> &[Span<LocalPiece>] {
        &self.class_pieces[self.class_pieces_at[link.pieces.first] as usize..][..link.all_classes().len()]
    }
}

/// Smallest entries of a row over runs of 1, 2, 4, ... segments: level `k` starts at `k` times the number of segments.
#[derive(Debug, Default)]
pub(crate) struct RunMinima {
    pub(crate) levels: Vec<f64>,
}

impl RunMinima {
    /// `smaller` says what stands for two entries.
    #[inline(always)]
    pub(crate) fn fill(&mut self, row: &[f64], smaller: impl Fn(f64, f64) -> f64) {
        let n = row.len();
        let n_levels = n.ilog2() as usize + 1;
        self.levels.resize(n_levels * n, 0.0);
        self.levels[..n].copy_from_slice(row);
        for k in 1..n_levels {
            let (lower, upper) = self.levels.split_at_mut(k * n);
            let half = 1 << (k - 1);
            let lower = &lower[(k - 1) * n..];
            for ((min, &a), &b) in upper[..=n - 2 * half].iter_mut().zip(lower).zip(&lower[half..]) {
                *min = smaller(a, b);
            }
        }
    }
}

/// Appends a link's row by piece to the table, padded: the smallest cost of the classes on each piece, infinite where no class is.
#[inline(always)]
pub(crate) fn push_row(
    links: &Links,
    link: &Link,
    table: &mut Vec<f64>,
    cost: impl Fn(ClassId) -> f64,
) -> usize {
    let first = table.len();
    let n = link.pieces.len();
    table.resize(first + n.next_multiple_of(LANES), f64::INFINITY);
    let row = &mut table[first..];
    let classes = link.all_classes();
    if n <= 64 {
        for (k, &bits) in classes.into_iter().zip(&links.class_bits[classes]) {
            lower_by_bits(bits, row, cost(k));
        }
    } else {
        for (k, pieces) in classes.into_iter().zip(links.pieces.of_classes(link)) {
            let cost = cost(k);
            for entry in &mut row[pieces.range()] {
                *entry = if cost < *entry { cost } else { *entry };
            }
        }
    }
    first
}

/// Adds the steps of a row less a constant to the variable's sum of steps. Where no item of the block is, the row counts as the constant: any
/// message is valid there, and a sum of finite steps stays finite.
#[inline(always)]
fn add_steps(starts: &[LocalSegment], row: &mut [f64], less: f64, steps: &mut [f64]) {
    let mut last = 0.0;
    for (entry, start) in row.iter_mut().zip(starts) {
        if *entry == f64::INFINITY {
            *entry = less;
        }
        let next = *entry - less;
        steps[start.index()] += next - last;
        last = next;
    }
}

/// Renews the messages of one variable. Returns what whole blocks pay for them.
#[inline(always)]
pub(crate) fn exchange(links: &Links, linked: &LinkedFeature, scratch: &mut Messages) -> Whole {
    let tied = &links.links[linked.links];
    let Messages { reduced, values, minima, table, mean, run_minima, .. } = scratch;
    minima[links.classes_of(linked)].fill(f64::INFINITY);
    class_minima(links, linked, reduced, minima);
    table.clear();
    mean.clear();
    mean.resize(linked.n_segments(), 0.0);
    for link in tied {
        let first = push_row(links, link, table, |k| minima[k] + values[k]);
        add_steps(&links.pieces.starts[link.pieces], &mut table[first..], 0.0, mean);
    }
    let share = 1.0 / tied.len() as f64;
    let mut sum = 0.0;
    for entry in mean.iter_mut() {
        sum += *entry;
        *entry = sum * share;
    }
    run_minima.fill(mean, |a, b| if b < a { b } else { a });
    let levels = run_minima.levels.as_slice();
    let mut whole = Whole::default();
    let mut rest = table.as_mut_slice();
    for link in tied {
        let n = link.pieces.len();
        let (row, others) = rest.split_at_mut(n.next_multiple_of(LANES));
        rest = others;
        for (entry, &[a, b]) in row.iter_mut().zip(links.pieces.minima_of(link)) {
            let (a, b) = (levels[a as usize], levels[b as usize]);
            *entry -= if b < a { b } else { a };
        }
        // Free items lie on all pieces.
        let of_block = link.free().map_or(0.0, |_| largest(&row[..n]));
        whole.add(of_block);
        let mut renew = |k: ClassId, value: f64| {
            minima[k] = value - values[k];
            values[k] = value;
        };
        if n <= 64 {
            for (k, &bits) in link.classes.into_iter().zip(&links.class_bits[link.classes]) {
                renew(k, largest_by_bits(bits, row) - of_block);
            }
        } else {
            for (k, pieces) in link.classes.into_iter().zip(links.pieces.of_classes(link)) {
                renew(k, largest(&row[pieces.range()]) - of_block);
            }
        }
    }
    // What the minima held is used up: they now hold the changes.
    pay(links, linked, minima, reduced);
    whole
}

/// Raises the bounds of a variable's segments by what each link's cheapest item there costs above its block's.
#[inline(always)]
pub(crate) fn raise_segments(
    links: &Links,
    linked: &LinkedFeature,
    (minima, block_min): (&IdVec<ClassId, f64>, &IdVec<BlockId, f64>),
    (table, bounds): (&mut Vec<f64>, &mut [f64]),
) {
    table.clear();
    table.resize(linked.n_segments(), 0.0);
    for link in &links.links[linked.links] {
        let first = push_row(links, link, table, |k| minima[k]);
        let (steps, row) = table.split_at_mut(first);
        add_steps(&links.pieces.starts[link.pieces], row, block_min[link.block], steps);
        table.truncate(first);
    }
    let mut sum = 0.0;
    for (bound, step) in bounds.iter_mut().zip(&*table) {
        sum += step;
        *bound += sum;
    }
}

/// First-order gains of the splits before each segment, `[left, right]`, summed over the links: what the cheapest item of each side costs above the link's
/// cheapest. `dead` says which segments are gone; `gains` holds zeros.
#[derive(Debug, Default)]
pub(crate) struct SplitGains {
    row: Vec<f64>,
    /// First living segment from each on, and one after the last one before each.
    alive_from: Vec<u32>,
    alive_before: Vec<u32>,
}

impl SplitGains {
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        links: &Links,
        linked: &LinkedFeature,
        costs: &IdVec<ClassId, f64>,
        dead: &[bool],
        [left, right]: [&mut [f64]; 2],
    ) {
        let n = linked.n_segments();
        self.alive_before.clear();
        self.alive_before.push(0);
        self.alive_from.clear();
        self.alive_from.resize(n + 1, n as u32);
        for (s, &dead) in dead.iter().enumerate() {
            self.alive_before.push(if dead { self.alive_before[s] } else { s as u32 + 1 });
        }
        for s in (0..n).rev() {
            self.alive_from[s] = if dead[s] { self.alive_from[s + 1] } else { s as u32 };
        }
        for link in &links.links[linked.links] {
            self.row.clear();
            push_row(links, link, &mut self.row, |k| costs[k]);
            let starts = &links.pieces.starts[link.pieces];
            let row = &mut self.row[..starts.len()];
            // The living segments of each piece; what has none is out of reach.
            let ends = |j: usize| {
                let end = starts.get(j + 1).map_or(n, |start| start.index());
                (self.alive_from[starts[j].index()] as usize, self.alive_before[end] as usize)
            };
            for (j, entry) in row.iter_mut().enumerate() {
                let (first, end) = ends(j);
                *entry = if first < end { *entry } else { f64::INFINITY };
            }
            let min = smallest(row);
            let mut low = f64::INFINITY;
            for (j, &entry) in row.iter().enumerate() {
                if entry < low {
                    let before = if low < f64::INFINITY { low - min } else { 0.0 };
                    // A piece counts on the left from the split after its first living segment on.
                    if let Some(gain) = left.get_mut(ends(j).0 + 1) {
                        *gain += (entry - min) - before;
                    }
                    low = entry;
                }
            }
            low = f64::INFINITY;
            for (j, &entry) in row.iter().enumerate().rev() {
                if entry < low {
                    if low < f64::INFINITY
                        && let Some(gain) = right.get_mut(ends(j).1)
                    {
                        *gain += (low - min) - (entry - min);
                    }
                    low = entry;
                }
            }
        }
        for gains in [left, right] {
            let mut sum = 0.0;
            for gain in gains {
                sum += *gain;
                *gain = sum;
            }
        }
    }
}
