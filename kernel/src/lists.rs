//! Lists of windows, one a row, in two passes over the rows: the first sizes them, the second fills them.

use crate::validity::is_valid;
use crate::{Precision, Result};

/// Where a row's list stands among all elements. Its layout is that of `duckdb_list_entry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct List {
    /// The index of its first element.
    pub offset: u64,
    /// How many elements.
    pub length: u64,
}

/// Puts the lists one after the other, and gives the number of all elements. An infinite timestamp has one window, others as
/// many as `count` says; a row that `validity` does not hold has none.
#[inline(always)]
pub(crate) fn size_lists(
    ts: &[i64],
    validity: Option<&[u64]>,
    lists: &mut [List],
    mut count: impl FnMut(usize, i64) -> Result<u64>,
) -> Result<u64> {
    let mut total = 0;
    for (row, (&ts, list)) in ts.iter().zip(&mut lists[..ts.len()]).enumerate() {
        let length = match () {
            () if !is_valid(validity, row) => 0,
            () if Precision::is_infinite(ts) => 1,
            () => count(row, ts)?,
        };
        *list = List { offset: total, length };
        total += length;
    }
    Ok(total)
}

/// Fills the lists that [`size_lists`] made: the window of an infinite timestamp has it for both bounds, `write` writes the starts
/// and ends of the others.
#[inline(always)]
pub(crate) fn fill_lists(
    ts: &[i64],
    lists: &[List],
    starts: &mut [i64],
    ends: &mut [i64],
    mut write: impl FnMut(usize, i64, &mut [i64], &mut [i64]) -> Result<()>,
) -> Result<()> {
    for (row, (&ts, list)) in ts.iter().zip(lists).enumerate().filter(|(_, (_, list))| list.length > 0) {
        let elements = list.offset as usize..(list.offset + list.length) as usize;
        let (starts, ends) = (&mut starts[elements.clone()], &mut ends[elements]);
        if Precision::is_infinite(ts) {
            (starts[0], ends[0]) = (ts, ts);
        } else {
            write(row, ts, starts, ends)?;
        }
    }
    Ok(())
}
