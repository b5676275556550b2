//! Lists of windows, one a row, in two passes over the rows: the first sizes them, the second fills them.

use crate::validity::is_valid;
use crate::{Precision, Result};
use std::ops::Range;

/// Where a row's list stands among all elements. Its layout is that of `duckdb_list_entry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct List {
    /// The index of its first element.
    pub offset: u64,
    /// How many elements.
    pub length: u64,
}

impl List {
    /// Which elements are its own.
    #[must_use]
    #[inline]
    pub const fn range(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.length) as usize
    }

    /// Puts lists one after the other, each as long as `length` says of its row, and gives the number of all elements.
    ///
    /// # Errors
    ///
    /// The first one of `length`.
    #[inline(always)]
    pub fn lay_out<E>(
        lists: &mut [Self],
        mut length: impl FnMut(usize) -> std::result::Result<u64, E>,
    ) -> std::result::Result<u64, E> {
        let mut total = 0;
        for (row, list) in lists.iter_mut().enumerate() {
            *list = Self { offset: total, length: length(row)? };
            total += list.length;
        }
        Ok(total)
    }
}

/// Lays out lists of windows, as many as `count` says; a row that `validity` does not hold has none. An infinite timestamp has one
/// window, which is for `count` to say: only it knows whether the row's arguments are refused.
#[inline(always)]
pub(crate) fn size_lists(
    ts: &[i64],
    validity: Option<&[u64]>,
    lists: &mut [List],
    mut count: impl FnMut(usize, i64) -> Result<u64>,
) -> Result<u64> {
    List::lay_out(&mut lists[..ts.len()], |row| match is_valid(validity, row) {
        true => count(row, ts[row]),
        false => Ok(0),
    })
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
        let (starts, ends) = (&mut starts[list.range()], &mut ends[list.range()]);
        if Precision::is_infinite(ts) {
            (starts[0], ends[0]) = (ts, ts);
        } else {
            write(row, ts, starts, ends)?;
        }
    }
    Ok(())
}
