// What before.cc is in Rust.
// With capacities, and without copies.
use std::collections::HashMap;
// Some lines more.

struct Row {
    name: String,
    cells: Vec<u64>,
}

#[inline(never)]
fn squares(n: usize) -> Vec<u64> {
    let mut all = Vec::with_capacity(n);
    for i in 0..n {
        all.push((i * i) as u64);
    }
    all
}

#[inline(never)]
fn label(i: usize) -> String {
    format!("row {i}")
}

// Keeps the compiler from doing without the box.
fn seen(b: Box<u64>) -> u64 {
    unsafe { std::ptr::read_volatile(&*b) }
}

#[inline(never)]
fn boxed(n: usize) -> u64 {
    let twice = |i: usize| -> u64 { 2 * seen(Box::new(i as u64)) };
    let each = |i: usize| -> u64 { seen(Box::new(i as u64)) };
    (0..n).map(each).sum::<u64>() + twice(3)
}

#[inline(never)]
fn rows(n: usize) -> Vec<Row> {
    let mut all = Vec::with_capacity(n);
    for i in 0..n {
        all.push(Row { name: label(i), cells: squares(33) });
    }
    all
}

fn main() {
    let rows = rows(20);
    let mut by_name = HashMap::with_capacity(64);
    for row in &rows {
        by_name.insert(row.name.as_str(), row.cells.len());
    }
    println!("{} {} {}", by_name.len(), boxed(7), rows[3].cells[2]);
}
