//! Rolling windows over the panes of one key: for each pane the moments of those that end with it.
//!
//! The algorithm is that of two stacks: sums from a border backwards, computed once, and one sum from the border on
//! that grows. Every window that is answered from one border holds the pane there, so that its mean is a centre for
//! the squares that no value outside the window has any part in. Each pane is added twice and each window joined
//! once, whatever the lookback; nothing is ever subtracted.

use crate::moments::{Moments, Pane, Value};

/// A pane, when it starts and ends, and when the window starts that ends with it.
#[derive(Debug, Clone, Copy)]
pub struct Timed<V: Value> {
    /// Where the window starts. The later a pane starts, the later its window does.
    pub since: i64,
    /// Where the pane starts.
    pub start: i64,
    /// Where both end.
    pub end: i64,
    /// What is known of the pane's values.
    pub pane: Pane<V>,
}

/// Brings panes into order, and makes one of those that start at the same time.
pub fn order<V: Value>(panes: &mut Vec<Timed<V>>) {
    if panes.is_sorted_by(|a, b| a.start < b.start) {
        return;
    }
    panes.sort_by_key(|timed| timed.start);
    panes.dedup_by(|next, kept| {
        let is_same = next.start == kept.start;
        if is_same {
            let mut both = Moments::default();
            both.merge(&kept.pane);
            both.merge(&next.pane);
            kept.pane = both.finish();
        }
        is_same
    });
}

/// Rolls windows over panes. It holds memory for the sums backwards, to be used again for the next key.
#[derive(Debug)]
pub struct Rolling<V: Value> {
    backwards: Vec<Moments<V>>,
}

impl<V: Value> Default for Rolling<V> {
    fn default() -> Self {
        Self { backwards: Vec::new() }
    }
}

impl<V: Value> Rolling<V> {
    /// Gives `emit` each pane's index, how many panes its window holds, and the window's moments. A window holds the
    /// panes up to the last one that start no earlier than it does, and the last one. The panes are in [`order`].
    pub fn roll(&mut self, panes: &[Timed<V>], mut emit: impl FnMut(usize, usize, Pane<V>)) {
        // The oldest pane of the window that ends with `last`, looked for from that of an earlier window on.
        let oldest = |last: usize, mut from: usize| {
            while from < last && panes[from].start < panes[last].since {
                from += 1;
            }
            from
        };
        // No pane from `from` to here has values.
        let mut empty = 0;
        let (mut last, mut from) = (0, 0);
        while last < panes.len() {
            from = oldest(last, from);
            // The latest pane with values, which is in every window until it is too old.
            let Some(border) = (from.max(empty)..=last).rev().find(|&index| panes[index].pane.n > 0) else {
                emit(last, last - from + 1, Moments::default().finish());
                last += 1;
                empty = last;
                continue;
            };
            let Pane { n, sum, .. } = panes[border].pane;
            let mut sums = Moments::about(V::centre(sum, n));
            self.backwards.clear();
            for timed in panes[from..border].iter().rev() {
                sums.absorb(&timed.pane);
                self.backwards.push(sums);
            }
            let mut onwards = Moments::about(V::centre(sum, n));
            for timed in &panes[border..last] {
                onwards.absorb(&timed.pane);
            }
            while last < panes.len() {
                from = oldest(last, from);
                if from > border {
                    break;
                }
                onwards.absorb(&panes[last].pane);
                let mut window = onwards;
                if from < border {
                    window.join(&self.backwards[border - from - 1]);
                }
                emit(last, last - from + 1, window.finish());
                last += 1;
            }
        }
    }
}
