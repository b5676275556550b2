//! Validity masks: a bit a row, 64 to a word, least significant first; no mask means that every row is valid.

/// Rows in one word of a mask.
pub(crate) const WORD: usize = u64::BITS as usize;

/// Whether `row` is valid.
#[must_use]
#[inline]
pub fn is_valid(validity: Option<&[u64]>, row: usize) -> bool {
    validity.is_none_or(|words| words[row / WORD] >> (row % WORD) & 1 == 1)
}

/// Clears in `into` the rows that `validity` does not hold.
#[inline]
pub fn intersect(into: &mut [u64], validity: &[u64]) {
    for (word, other) in into.iter_mut().zip(validity) {
        *word &= other;
    }
}

/// Makes `mask` hold the valid ones of `len` rows; its first words, which have a bit for each.
#[inline]
pub(crate) fn valid_rows<'a>(mask: &'a mut [u64], validity: Option<&[u64]>, len: usize) -> &'a mut [u64] {
    let mask = &mut mask[..len.div_ceil(WORD)];
    match validity {
        Some(validity) => mask.copy_from_slice(&validity[..mask.len()]),
        None => mask.fill(u64::MAX),
    }
    if let (Some(last), rest @ 1..) = (mask.last_mut(), len % WORD) {
        *last &= (1 << rest) - 1;
    }
    mask
}

/// The rows that `mask` holds, in order.
#[inline]
pub(crate) fn rows_of(mask: &[u64]) -> impl Iterator<Item = usize> {
    mask.iter().enumerate().flat_map(|(index, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (bit < WORD).then_some(index * WORD + bit)
        })
    })
}
