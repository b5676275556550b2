//! `bucket_rows`: widths from a column.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kernel::{Anchors, Edge, Grid, Interval, Precision, RowGrids, bucket_rows, bucket_slice};
use kernel_benches::{Order, timestamps, validity};
use std::hint::black_box;

fn minutes(count: i64) -> Interval {
    Interval { months: 0, days: 0, micros: count * 60_000_000 }
}

fn rows(c: &mut Criterion) {
    let rows = 2_048;
    let mut group = c.benchmark_group("bucket_rows/2048");
    group.throughput(Throughput::Elements(rows as u64));
    let mut out = vec![0; rows];
    let precision = Precision::Microsecond;
    for (order_name, order) in Order::ALL {
        let ts = timestamps(rows, 1_000_000, order);
        let grid = Grid::new(900_000_000, 0).expect("a positive width");
        group.bench_function(BenchmarkId::new(order_name, "constant"), |b| {
            b.iter(|| bucket_slice(&grid, precision, Edge::Start, black_box(&ts), None, &mut out));
        });
        let choices = [minutes(1), minutes(15), minutes(60), minutes(1_440)];
        for (name, run) in
            [("one width", usize::MAX), ("runs of 100", 100), ("runs of 5", 5), ("alternating", 1)]
        {
            let widths: Vec<Interval> = (0..rows).map(|row| choices[row / run % 4]).collect();
            let grids = RowGrids { widths: &widths, anchors: Anchors::Epoch };
            group.bench_function(BenchmarkId::new(order_name, name), |b| {
                b.iter(|| {
                    bucket_rows(black_box(&grids), precision, Edge::Start, black_box(&ts), None, &mut out)
                });
            });
        }
        // The golden ratio's multiples scatter the widths as randomly as need be.
        for count in [2, 4, 8, 16] {
            let choices: Vec<Interval> = (1..=count).map(|choice| minutes(5 * choice)).collect();
            let choice = |row: usize| (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let widths: Vec<Interval> =
                (0..rows).map(|row| choices[choice(row) as usize % choices.len()]).collect();
            let grids = RowGrids { widths: &widths, anchors: Anchors::Epoch };
            group.bench_function(BenchmarkId::new(order_name, format!("{count} scattered widths")), |b| {
                b.iter(|| {
                    bucket_rows(black_box(&grids), precision, Edge::Start, black_box(&ts), None, &mut out)
                });
            });
        }
        let widths = vec![minutes(15); rows];
        let grids = RowGrids { widths: &widths, anchors: Anchors::Epoch };
        let words = validity(rows, 10);
        group.bench_function(BenchmarkId::new(order_name, "one width, 10% NULL"), |b| {
            b.iter(|| {
                bucket_rows(black_box(&grids), precision, Edge::Start, black_box(&ts), Some(&words), &mut out)
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(std::time::Duration::from_millis(800)).warm_up_time(std::time::Duration::from_millis(200)).sample_size(30);
    targets = rows
}
criterion_main!(benches);
