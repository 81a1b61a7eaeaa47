//! mallow as the global allocator of a Rust program:
//!
//! ```
//! #[global_allocator]
//! static GLOBAL: mallow::Mallow = mallow::Mallow;
//!
//! assert_eq!(vec![7; 1000].len(), 1000);
//! ```
//!
//! Linked statically the program carries its malloc with it, and the C libraries in it use the same one.

#![no_std]

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

// By tcmalloc's names: without libmallow the program does not link, instead of running on another malloc.
extern "C" {
    fn tc_malloc(bytes: usize) -> *mut c_void;
    fn tc_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn tc_realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    fn tc_memalign(alignment: usize, bytes: usize) -> *mut c_void;
    fn tc_free(block: *mut c_void);
}

/// What every block of libmallow is aligned to at least.
const MIN_ALIGNMENT: usize = 16;

/// The allocator. All values are one: there is one heap in a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mallow;

// SAFETY: libmallow may be called from any thread, never unwinds, returns null when there is no memory, and gives each
// block the size and alignment that were asked for. Blocks of every alignment are freed in the same way.
unsafe impl GlobalAlloc for Mallow {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= MIN_ALIGNMENT {
            tc_malloc(layout.size()).cast()
        } else {
            tc_memalign(layout.align(), layout.size()).cast()
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        tc_free(block.cast());
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= MIN_ALIGNMENT {
            return tc_calloc(1, layout.size()).cast();
        }
        let block = self.alloc(layout);
        if !block.is_null() {
            block.write_bytes(0, layout.size());
        }
        block
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if layout.align() <= MIN_ALIGNMENT {
            return tc_realloc(block.cast(), new_size).cast();
        }
        // realloc keeps no more than the alignment of malloc.
        let moved = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
        if !moved.is_null() {
            moved.copy_from_nonoverlapping(block, layout.size().min(new_size));
            self.dealloc(block, layout);
        }
        moved
    }
}
