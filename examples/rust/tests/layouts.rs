//! Every layout that Rust may ask for, and that it is mallow who serves it.

use std::alloc::{alloc, alloc_zeroed, dealloc, realloc, Layout};
use std::ffi::c_void;
use std::thread;

#[global_allocator]
static GLOBAL: mallow::Mallow = mallow::Mallow;

extern "C" {
    fn MallocExtension_GetOwnership(block: *const c_void) -> i32;
}

fn is_of_mallow<T>(block: *const T) -> bool {
    const OWNED: i32 = 1;
    unsafe { MallocExtension_GetOwnership(block.cast()) == OWNED }
}

fn layouts() -> impl Iterator<Item = Layout> {
    let sizes = (0..20).flat_map(|shift| [(1_usize << shift) - 1, 1 << shift, (1 << shift) + 1]);
    sizes.filter(|&size| size > 0).flat_map(|size| {
        (0..17).map(move |shift| Layout::from_size_align(size, 1 << shift).unwrap())
    })
}

fn fill(block: *mut u8, bytes: usize) {
    for i in 0..bytes {
        unsafe { block.add(i).write(i as u8) };
    }
}

fn is_filled(block: *const u8, bytes: usize) -> bool {
    (0..bytes).all(|i| unsafe { block.add(i).read() } == i as u8)
}

fn is_aligned(block: *const u8, layout: Layout) -> bool {
    !block.is_null() && block as usize % layout.align() == 0
}

#[test]
fn blocks_have_the_layout_asked_for() {
    for layout in layouts() {
        unsafe {
            let block = alloc(layout);
            assert!(
                is_aligned(block, layout) && is_of_mallow(block),
                "{layout:?}"
            );
            fill(block, layout.size());
            dealloc(block, layout);
            // Where blocks were filled before.
            let block = alloc_zeroed(layout);
            assert!(is_aligned(block, layout), "{layout:?}");
            assert!(
                (0..layout.size()).all(|i| block.add(i).read() == 0),
                "{layout:?}"
            );
            dealloc(block, layout);
        }
    }
}

#[test]
fn realloc_keeps_content_and_alignment() {
    for layout in layouts().filter(|layout| layout.size() <= 1 << 16) {
        for new_size in [
            1,
            layout.size() / 2 + 1,
            layout.size(),
            layout.size() + 1,
            3 * layout.size(),
        ] {
            unsafe {
                let block = alloc(layout);
                fill(block, layout.size());
                let block = realloc(block, layout, new_size);
                assert!(is_aligned(block, layout), "{layout:?} to {new_size}");
                assert!(
                    is_filled(block, layout.size().min(new_size)),
                    "{layout:?} to {new_size}"
                );
                dealloc(
                    block,
                    Layout::from_size_align(new_size, layout.align()).unwrap(),
                );
            }
        }
    }
}

#[test]
fn the_standard_library_is_served() {
    let words: Vec<String> = (0..1000).map(|i| format!("the {i}th word")).collect();
    assert!(is_of_mallow(words.as_ptr()) && words.iter().all(|word| is_of_mallow(word.as_ptr())));
    let boxed: Box<[u64]> = vec![1; 1 << 20].into_boxed_slice();
    assert!(is_of_mallow(boxed.as_ptr()));
}

#[test]
fn blocks_cross_threads() {
    let makers: Vec<_> = (0..8)
        .map(|n| {
            thread::spawn(move || {
                (0..10_000)
                    .map(|i| vec![n as u8; i % 500])
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    for (n, maker) in makers.into_iter().enumerate() {
        let made = maker.join().unwrap();
        assert!(made
            .iter()
            .enumerate()
            .all(|(i, block)| block.len() == i % 500 && block.iter().all(|&b| b == n as u8)));
    }
}

#[test]
fn no_memory_is_an_error() {
    let mut bytes = Vec::<u8>::new();
    assert!(bytes
        .try_reserve_exact(isize::MAX as usize - 100_000)
        .is_err());
    assert!(bytes.try_reserve_exact(1 << 20).is_ok());
}
