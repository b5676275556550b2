//! `bucket_slice` against native division and against a copy.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kernel::{Edge, Grid, Precision, bucket_slice};
use kernel_benches::{Order, timestamps, validity};
use std::hint::black_box;

/// Each precision: its name, ticks to the second.
const PRECISIONS: [(Precision, &str, i64); 4] = [
    (Precision::Second, "s", 1),
    (Precision::Millisecond, "ms", 1_000),
    (Precision::Microsecond, "us", 1_000_000),
    (Precision::Nanosecond, "ns", 1_000_000_000),
];
/// DuckDB's vector, and its row group.
const SIZES: [usize; 2] = [2_048, 122_880];
const WIDTH_SECONDS: i64 = 900;

fn floor_by_division(width: i64, ts: &[i64], out: &mut [i64]) {
    let width = black_box(width);
    for (out, &ts) in out.iter_mut().zip(ts) {
        *out = ts - ts.rem_euclid(width);
    }
}

fn slices(c: &mut Criterion) {
    for rows in SIZES {
        let mut group = c.benchmark_group(format!("bucket_slice/{rows}"));
        group.throughput(Throughput::Elements(rows as u64));
        let mut out = vec![0; rows];
        for (order_name, order) in Order::ALL {
            for (precision, name, per_second) in PRECISIONS {
                let ts = timestamps(rows, per_second, order);
                let width = WIDTH_SECONDS * per_second;
                let grid = Grid::new(i128::from(width), 0).expect("a positive width");
                for (edge_name, edge) in [("start", Edge::Start), ("end", Edge::End)] {
                    group.bench_function(BenchmarkId::new(format!("{order_name}/{name}"), edge_name), |b| {
                        b.iter(|| bucket_slice(&grid, precision, edge, black_box(&ts), None, &mut out));
                    });
                }
                if precision == Precision::Microsecond {
                    for percent in [10, 90] {
                        let words = validity(rows, percent);
                        let id = BenchmarkId::new(format!("{order_name}/{name}"), format!("{percent}% NULL"));
                        group.bench_function(id, |b| {
                            b.iter(|| {
                                bucket_slice(
                                    &grid,
                                    precision,
                                    Edge::Start,
                                    black_box(&ts),
                                    Some(&words),
                                    &mut out,
                                )
                            });
                        });
                    }
                    group.bench_function(BenchmarkId::new(format!("{order_name}/{name}"), "division"), |b| {
                        b.iter(|| floor_by_division(width, black_box(&ts), &mut out));
                    });
                    group.bench_function(BenchmarkId::new(format!("{order_name}/{name}"), "copy"), |b| {
                        b.iter(|| black_box(&mut out).copy_from_slice(black_box(&ts)));
                    });
                }
            }
        }
        group.finish();
    }
}

/// Each of the loops that a block can go through.
fn loops(c: &mut Criterion) {
    let rows = 2_048;
    let mut group = c.benchmark_group("loops/2048");
    group.throughput(Throughput::Elements(rows as u64));
    let mut out = vec![0; rows];
    let ts = timestamps(rows, 1_000_000, Order::Random);
    let decade = 86_400_i128 * 365 * 20 * 1_000_000;
    for (name, width, anchor) in [
        ("one bucket", decade * 10, 0),
        ("two buckets", decade / 2, i128::from(ts[0])),
        ("f64", 900_000_000, 0),
        ("f64, odd width", 999_983, 0),
    ] {
        let grid = Grid::new(width, anchor).expect("a positive width");
        group.bench_function(name, |b| {
            b.iter(|| {
                bucket_slice(&grid, Precision::Microsecond, Edge::Start, black_box(&ts), None, &mut out)
            });
        });
    }
    // A span of more than 2^52 units: odd nanoseconds over ten years.
    let wide = timestamps(rows, 1_000_000_000, Order::Random);
    let grid = Grid::new(1_001, 0).expect("a positive width");
    group.bench_function("multiply high", |b| {
        b.iter(|| bucket_slice(&grid, Precision::Nanosecond, Edge::Start, black_box(&wide), None, &mut out));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(std::time::Duration::from_millis(800)).warm_up_time(std::time::Duration::from_millis(200)).sample_size(30);
    targets = loops, slices
}
criterion_main!(benches);
