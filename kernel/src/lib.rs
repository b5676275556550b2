//! The arithmetic of time buckets, over slices of ticks.
//!
//! A bucket is the half-open stretch `[start, start + width)` between two neighbouring points of a grid; the grid
//! holds `anchor + k * width` for every whole `k`, of either sign. [`Grid`] says which grid, [`Precision`] how long a
//! tick is and which ticks are finite, and [`bucket_slice`] and [`bucket_rows`] apply them to columns.
//!
//! A column goes through in blocks of 2,048 rows, the engine's vector, that stay in the first-level cache:
//!
//! ```text
//!  bucket_rows: a grid a row                       bucket_slice: one grid
//!  all rows on the same grid ────────────────▶     block ──copy──▶ out
//!  on a few: four at a time, by a pass in f64       │
//!  rows that few others are like: one by one        ├─ no NULL: divide in f64 at once, keeping the extremes ──▶ done,
//!                                                   │   if they say that the guess of where the rows lie was right
//!                                                   └─ else scan for the extremes of the valid rows, and choose:
//!                                                       one bucket            fill
//!                                                       two neighbours        compare with the boundary
//!                                                       2^52 units at most    divide in f64, exactly
//!                                                       anything wider        multiply by a 64-bit reciprocal
//! ```
//!
//! The smallest and the largest answer tell whether any is out of range, since floor is monotone; so no loop has to.
//!
//! [`LocalBuckets`] and [`bucket_local_rows`] do the same by the wall clock of a time zone, a [`Zone`]: their grid is one of
//! readings, and [`LocalGrid`] says where a bucket starts and ends when the clock is set.
//!
//! Windows are made of the same points: [`Hop`] has those of overlapping windows, [`Panes`] cuts a lookback into
//! disjoint panes, [`Series`] counts buckets out, [`Ordered`] finds what lies between the rows of a key, and [`Cover`] picks stored windows that lie side by side.
//!
//! What windows say of their values are [`Moments`], which merge, and which [`Rolling`] has for every window over panes.
//!
//! Nothing here knows DuckDB: slices go in and out, no allocation, no panic for any input, and no `unsafe` but for the
//! few lines of [`simd`] that choose an instruction set. Loops run over NULL lanes too, because that is what lets them
//! vectorise, so the loops themselves can't fail: whatever can be refused is refused before them, from the smallest and
//! largest valid value.

mod arguments;
mod blocks;
mod civil;
mod clocks;
mod error;
mod gaps;
#[cfg(test)]
mod gaps_tests;
mod grid;
mod hop;
mod interval;
mod lists;
mod local;
mod local_rows;
mod local_slice;
#[cfg(test)]
mod local_tests;
mod local_windows;
mod mixed;
mod moments;
#[cfg(test)]
mod moments_tests;
mod pane;
mod precision;
mod rolling;
mod rows;
mod series;
pub mod simd;
mod slice;
mod steps;
#[cfg(test)]
mod tests;
mod twofold;
mod validity;
#[cfg(test)]
mod window_tests;
mod zone;

pub use arguments::Anchor;
pub use civil::Civil;
pub use clocks::Clocks;
pub use error::{Argument, Error, Result};
pub use gaps::{Fraction, Ordered, Piece, next_known, order_rows, previous_known, sessions, starts_between};
pub use grid::{Edge, Grid};
pub use hop::{Hop, Hops, Shape, count_windows, write_windows};
pub use interval::Interval;
pub use lists::List;
pub use local::LocalGrid;
pub use local_rows::{LocalRows, bucket_local_rows};
pub use local_slice::LocalBuckets;
pub use local_windows::{LocalHops, LocalSeries, count_local_windows, local_hop, write_local_windows};
pub use moments::{Moments, Pane, Value, Whole};
pub use pane::{Panes, cadence_nanos, cadence_of, lookback_nanos, pane_width};
pub use precision::Precision;
pub use rolling::{Rolling, Timed, order};
pub use rows::{Anchors, RowGrids, bucket_rows};
pub use series::{Cover, Series};
pub use slice::{OutOfRange, bucket_slice};
pub use steps::Steps;
pub use twofold::Twofold;
pub use validity::{intersect, is_valid};
pub use zone::Zone;
