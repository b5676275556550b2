//! Columns of timestamps in blocks that stay in the first-level cache.

use crate::validity::WORD;
use std::ops::Range;

/// Rows handled at once: DuckDB's vector size, whose input and output fit the first-level cache together.
pub(crate) const BLOCK: usize = 2_048;

/// Some neighbouring rows of a column.
pub(crate) struct Rows<'a> {
    /// Where they stand in the column.
    pub(crate) range: Range<usize>,
    /// Their timestamps.
    pub(crate) ts: &'a [i64],
    /// Which of them are valid.
    pub(crate) validity: Option<&'a [u64]>,
    /// What is written for them.
    pub(crate) out: &'a mut [i64],
}

/// A column, [`BLOCK`] by [`BLOCK`]; `out` may be longer than `ts`.
#[inline]
pub(crate) fn blocks<'a>(
    ts: &'a [i64],
    validity: Option<&'a [u64]>,
    out: &'a mut [i64],
) -> impl Iterator<Item = Rows<'a>> {
    let out = &mut out[..ts.len()];
    ts.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).enumerate().map(move |(index, (ts, out))| {
        let from = index * BLOCK;
        let validity = validity.map(|words| &words[from / WORD..]);
        Rows { range: from..from + ts.len(), ts, validity, out }
    })
}
