//! Counts the different words of its input on mallow.

use std::collections::BTreeMap;
use std::io::{self, Read};

#[global_allocator]
static GLOBAL: mallow::Mallow = mallow::Mallow;

fn main() -> io::Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let mut words = BTreeMap::new();
    for word in text.split_whitespace() {
        *words.entry(word.to_lowercase()).or_insert(0) += 1;
    }
    println!("{} different words", words.len());
    Ok(())
}
