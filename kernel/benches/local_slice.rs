//! Buckets by a zone's wall clock beside those of a plain grid, in one run: the ratio is what a zone costs.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kernel::{
    Anchors, Clocks, Edge, Grid, Interval, LocalBuckets, LocalRows, Precision, RowGrids, Zone,
    bucket_local_rows, bucket_slice,
};
use kernel_benches::{Order, timestamps};
use std::hint::black_box;
use std::sync::Arc;

const SECOND: i64 = 1_000_000;
const YEAR: i64 = 31_556_952;
const ROWS: usize = 122_880;

/// A clock that is set twice a year for ever, from 1900 on.
fn zone() -> Arc<Zone> {
    let changes: Vec<(i64, i32)> = (0..900)
        .map(|half| {
            let cycle = 400 * YEAR;
            let within = half % 800;
            (
                -70 * YEAR + half / 800 * cycle + within * YEAR / 2,
                if half % 2 == 0 { -14_400 } else { -18_000 },
            )
        })
        .collect();
    Arc::new(Zone::new(-18_000, &changes, true).expect("a clock"))
}

fn slices(c: &mut Criterion) {
    let precision = Precision::Microsecond;
    let mut group = c.benchmark_group(format!("local_slice/{ROWS}"));
    group.throughput(Throughput::Elements(ROWS as u64));
    let mut out = vec![0; ROWS];
    for (order_name, order) in [("random", Order::Random), ("sorted", Order::Sorted)] {
        for years in [1, 50] {
            let decade = timestamps(ROWS, SECOND, order);
            let from = decade.iter().min().expect("rows");
            let ts: Vec<i64> = decade.iter().map(|ts| from + (ts - from) / 10 * years).collect();
            for (width_name, seconds) in [("1 day", 86_400), ("15 minutes", 900)] {
                let grid = Grid::new(i128::from(seconds * SECOND), 0).expect("a positive width");
                let local = LocalBuckets::new(zone(), grid, precision);
                for (edge_name, edge) in [("start", Edge::Start), ("end", Edge::End)] {
                    let name = format!("{order_name}, {years} years, {width_name}, {edge_name}");
                    group.bench_function(BenchmarkId::new("plain", &name), |b| {
                        b.iter(|| bucket_slice(&grid, precision, edge, black_box(&ts), None, &mut out));
                    });
                    group.bench_function(BenchmarkId::new("local", &name), |b| {
                        b.iter(|| local.slice(edge, black_box(&ts), None, &mut out));
                    });
                }
            }
        }
    }
    group.finish();
}

/// A zone a row: a thousand of them, in any order.
fn rows(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("local_rows/{ROWS}"));
    group.throughput(Throughput::Elements(ROWS as u64));
    let mut clocks = Clocks::default();
    for _ in 0..1_000 {
        clocks.place(&zone());
    }
    let ts = timestamps(ROWS, SECOND, Order::Random);
    let zones: Vec<u16> = ts.iter().map(|ts| (ts % 997) as u16).collect();
    let mut out = vec![0; ROWS];
    for (name, micros) in [("1 day", 86_400 * SECOND), ("15 minutes", 900 * SECOND)] {
        let widths = vec![Interval { months: 0, days: 0, micros }; ROWS];
        let rows = LocalRows { grids: RowGrids { widths: &widths, anchors: Anchors::Epoch }, zones: &zones };
        group.bench_function(name, |b| {
            b.iter(|| {
                bucket_local_rows(
                    &rows,
                    &mut clocks,
                    Precision::Microsecond,
                    Edge::Start,
                    black_box(&ts),
                    None,
                    &mut out,
                )
            });
        });
    }
    group.finish();
}

/// What is done once, while a query is bound.
fn bind(c: &mut Criterion) {
    let zone = zone();
    for (name, seconds) in [("1 day", 86_400), ("1 second", 1)] {
        let grid = Grid::new(i128::from(seconds * SECOND), 0).expect("a positive width");
        c.bench_function(&format!("local_bind/{name}"), |b| {
            b.iter(|| LocalBuckets::new(black_box(Arc::clone(&zone)), grid, Precision::Microsecond));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(std::time::Duration::from_millis(600)).warm_up_time(std::time::Duration::from_millis(150)).sample_size(20);
    targets = slices, rows, bind
}
criterion_main!(benches);
