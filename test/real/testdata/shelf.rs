// Known work on strings, vectors and trees, in four threads; prints a checksum and exits with 9.
use std::collections::BTreeMap;
use std::thread;

#[inline(never)]
fn titles(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("title {}", n * 7919 % 1009)).collect()
}

#[inline(never)]
fn shelve(titles: Vec<String>) -> BTreeMap<String, Vec<usize>> {
    let mut shelf = BTreeMap::new();
    for (place, title) in titles.into_iter().enumerate() {
        shelf.entry(title).or_insert_with(Vec::new).push(place);
    }
    shelf
}

#[inline(never)]
fn boxes(count: usize) -> usize {
    (0..count).map(|n| Box::new([n; 16])).map(|b| b[15]).sum()
}

fn main() {
    let threads: Vec<_> = (1..=4)
        .map(|n| {
            thread::spawn(move || {
                let shelf = shelve(titles(n * 5000));
                shelf.values().map(|places| places.len() * places[0]).sum::<usize>() + boxes(1000)
            })
        })
        .collect();
    let sums: Vec<usize> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    println!("{:?}", sums);
    std::process::exit(9);
}
