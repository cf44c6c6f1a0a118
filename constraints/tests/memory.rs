//! What a search holds in memory, and what a propagator allocates.

#![allow(unsafe_code, reason = "a global allocator that counts is only possible so")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use leafgp_constraints::{Constraints, Limits, Propagator};
use leafgp_constraints::{Range, Region};
use support::sets;

struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes of the highest level above the present one while `f` runs.
fn peak_of<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = f();
    (result, PEAK.load(Ordering::Relaxed) - before)
}

/// Contracts the set's boxes; true when the propagator allocated nothing.
fn allocates_nothing(set: &Constraints, propagator: &mut Propagator) -> bool {
    let full = Region::full(set.domains());
    let mut cut = full.clone();
    if let Some(Range::Interval { lower, upper }) = cut.0.first_mut() {
        *upper = 0.5 * *lower + 0.5 * *upper;
    }
    let mut regions = [full, cut];
    let before = CALLS.load(Ordering::Relaxed);
    for region in &mut regions {
        let _ = propagator.contract(set, region, None);
        let _ = propagator.contract(set, region, Some(&[0, 1]));
    }
    CALLS.load(Ordering::Relaxed) == before
}

/// One test: the counters are the whole program's.
#[test]
fn open_boxes_hold_their_ranges_only_and_propagation_allocates_nothing() {
    for (name, set) in sets::all() {
        let mut propagator = Propagator::new(&set);
        let _ = allocates_nothing(&set, &mut propagator);
        assert!(allocates_nothing(&set, &mut propagator), "{name}");
    }
    // A propagation state has an interval for each operation, kilobytes for a large set; an open box is its ranges and little more.
    let set = sets::alkylation();
    let full = Region::full(set.domains());
    let centre: Vec<f64> = set.domains().iter().map(|d| 0.37 * d.bounds().0 + 0.63 * d.bounds().1).collect();
    let limits = |nodes| Limits { nodes, ..Limits::default() };
    // The workspace is made, and grown to its size.
    set.project(&full, &centre, 0.0, limits(50));
    let (short, first) = peak_of(|| set.project(&full, &centre, 0.0, limits(50)));
    let (long, last) = peak_of(|| set.project(&full, &centre, 0.0, limits(2_000)));
    let more = long.nodes.saturating_sub(short.nodes);
    let range = size_of::<Range>() * set.domains().len();
    println!("{more} nodes more, {} bytes more; {range} bytes of ranges", last.saturating_sub(first));
    assert!(
        last.saturating_sub(first) <= more * (range + 256) + 100_000,
        "{more} nodes: {first} then {last}"
    );
}
