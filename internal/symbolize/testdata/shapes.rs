// Generic functions, closures, trait objects and panics.
use std::collections::BTreeMap;

trait Shape {
    fn area(&self) -> f64;
}

struct Square(f64);
struct Circle(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        3.14 * self.0 * self.0
    }
}

fn count<T: Ord + Clone>(items: &[T]) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item.clone()).or_insert(0) += 1;
    }
    counts
}

fn main() {
    let n = std::env::args().count();
    let shapes: Vec<Box<dyn Shape>> = (0..n * 10)
        .map(|i| -> Box<dyn Shape> {
            if i % 2 == 0 { Box::new(Square(i as f64)) } else { Box::new(Circle(i as f64)) }
        })
        .collect();
    let areas: Vec<String> = shapes.iter().map(|s| format!("{:.1}", s.area())).collect();
    for (area, times) in count(&areas) {
        println!("{area} {times}");
    }
}
