//! The arithmetic of time buckets, over slices of ticks.
//!
//! A bucket is the half-open stretch `[start, start + width)` between two neighbouring points of a grid; the grid
//! holds `anchor + k * width` for every whole `k`, of either sign. [`Grid`] says which grid, [`Precision`] how long a
//! tick is and which ticks are finite, and [`bucket_slice`] and [`bucket_rows`] apply them to columns.
//!
//! Windows are made of the same points: [`Hop`] has those of overlapping windows, [`Panes`] cuts a lookback into
//! disjoint panes, [`Series`] counts buckets out, and [`Cover`] picks stored windows that lie side by side.
//!
//! Nothing here knows DuckDB: slices go in and out, no allocation, no panic for any input, and no `unsafe` but for the
//! few lines of [`simd`] that choose an instruction set. Loops run
//! over NULL lanes too, because that is what lets them vectorise, so the loops themselves can't fail: whatever can
//! be refused is refused before them, from the smallest and largest valid value.

mod arguments;
mod civil;
mod error;
mod grid;
mod hop;
mod interval;
mod pane;
mod precision;
mod rows;
mod series;
pub mod simd;
mod slice;
mod steps;
#[cfg(test)]
mod tests;
mod validity;
#[cfg(test)]
mod window_tests;

pub use civil::Civil;
pub use error::{Argument, Error, Result};
pub use grid::{Edge, Grid};
pub use hop::{Hop, Hops, List, count_windows, write_windows};
pub use interval::Interval;
pub use pane::{Panes, cadence_nanos, cadence_of, lookback_nanos, pane_width};
pub use precision::Precision;
pub use rows::{Anchors, RowGrids, bucket_rows};
pub use series::{Cover, Series};
pub use slice::{OutOfRange, bucket_slice};
pub use steps::Steps;
pub use validity::{intersect, is_valid};
