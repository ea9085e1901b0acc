//! Blocks of memory for the library.
use crate::error::{Error, Result};
use fovea_sys as sys;
use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::os::raw::c_void;
use std::ptr;

pub(crate) const ALIGNMENT: usize = 64;

/// The address of no bytes, aligned as the library wants it.
#[repr(align(64))]
struct Aligned([u8; ALIGNMENT]);
static EMPTY: Aligned = Aligned([0; ALIGNMENT]);

/// A block with an alignment of 64 whose bytes are initialised: zeros at first, then what the library writes.
pub(crate) struct Block {
    at: *mut u8, // null for no bytes
    size: usize,
    allocated: *mut u8,
    layout: Layout,
}

// SAFETY: a block is plain memory with one owner; who may use it is decided by the handles in it.
unsafe impl Send for Block {}
// SAFETY: as above; a shared reference only reads the block's address and bytes.
unsafe impl Sync for Block {}

impl Block {
    pub(crate) fn new(size: u64) -> Result<Block> {
        if size == 0 {
            return Ok(Block { at: ptr::null_mut(), size: 0, allocated: ptr::null_mut(), layout: Layout::new::<u8>() });
        }
        let refuse = || Error::new(sys::FOVEA_E_TOO_SMALL, "memory", format!("{size} bytes are not available"));
        let bytes = usize::try_from(size).map_err(|_| refuse())?;
        // Aligned by hand: with a larger alignment the system's allocator writes the zeros, and touches every page.
        let larger = bytes.checked_add(ALIGNMENT - 1).ok_or_else(refuse)?;
        let layout = Layout::array::<u8>(larger).map_err(|_| refuse())?;
        // SAFETY: the size is not 0.
        let allocated = unsafe { alloc_zeroed(layout) };
        if allocated.is_null() {
            return Err(refuse());
        }
        let gap = (allocated as usize).wrapping_neg() % ALIGNMENT;
        // SAFETY: the gap is below the alignment, which was added.
        Ok(Block { at: unsafe { allocated.add(gap) }, size: bytes, allocated, layout })
    }

    /// A copy of bytes.
    pub(crate) fn of(bytes: &[u8]) -> Result<Block> {
        let mut block = Block::new(bytes.len() as u64)?;
        block.bytes_mut().copy_from_slice(bytes);
        Ok(block)
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The address; null for an empty block.
    pub(crate) fn address(&self) -> *mut c_void {
        self.at.cast()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        if self.at.is_null() {
            return &EMPTY.0[..0];
        }
        // SAFETY: initialised when it was allocated, and owned.
        unsafe { std::slice::from_raw_parts(self.at, self.size()) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        if self.at.is_null() {
            return &mut [];
        }
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.size()) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if !self.allocated.is_null() {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.allocated, self.layout) }
        }
    }
}

/// Rows of the library as a slice; an empty one if there are none.
///
/// # Safety
/// `at` points to `count` initialised elements that live as long as `'a`, or `count` is 0.
pub(crate) unsafe fn slice<'a, T>(at: *const T, count: usize) -> &'a [T] {
    if at.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: by the caller.
    unsafe { std::slice::from_raw_parts(at, count) }
}
