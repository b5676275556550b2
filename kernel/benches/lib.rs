//! Columns to measure with: a linear congruential generator, so that every run sees the same rows.

/// How rows follow each other.
#[derive(Debug, Clone, Copy)]
pub enum Order {
    /// Any instant of the span next to any other.
    Random,
    /// Ascending.
    Sorted,
    /// Ascending in runs of 50 rows that lie within a second, as a sensor's bursts do.
    Clustered,
}

impl Order {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 3] =
        [("random", Self::Random), ("sorted", Self::Sorted), ("clustered", Self::Clustered)];
}

/// `rows` timestamps of ten years from 2015 on, in ticks of `per_second` to the second.
pub fn timestamps(rows: usize, per_second: i64, order: Order) -> Vec<i64> {
    let (from, span) = (1_420_070_400 * per_second, 315_360_000 * per_second);
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move |below: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * below as u128) >> 64) as i64
    };
    let mut ts: Vec<i64> = match order {
        Order::Random | Order::Sorted => (0..rows).map(|_| from + random(span)).collect(),
        Order::Clustered => {
            let bursts: Vec<i64> = (0..rows.div_ceil(50)).map(|_| from + random(span)).collect();
            (0..rows).map(|row| bursts[row / 50] + random(per_second)).collect()
        }
    };
    if !matches!(order, Order::Random) {
        ts.sort_unstable();
    }
    ts
}

/// A mask in which about `percent` of the rows are NULL.
pub fn validity(rows: usize, percent: u64) -> Vec<u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut valid = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 100 >= percent
    };
    (0..rows.div_ceil(64)).map(|_| (0..64).fold(0, |word, bit| word | u64::from(valid()) << bit)).collect()
}
