//! The C interface of fovea, as bindgen declares it. The comments of `include/fovea/*.h` are the manual; the crate
//! `fovea` is the safe interface.
//!
//! Handles are pointers to types without a size. Structs that begin with `struct_size` get it from `Default`, as from
//! the `FOVEA_..._INIT` macros of C.
#![allow(non_camel_case_types)]

/// `Default` for a struct: all fields zero.
macro_rules! zeroed {
    ($name:ident) => {
        impl core::default::Default for $name {
            fn default() -> Self {
                // SAFETY: zeros are valid for each field: integers, floats, raw pointers and optional functions.
                unsafe { core::mem::MaybeUninit::<Self>::zeroed().assume_init() }
            }
        }
    };
}

/// `Default` for a struct that begins with its size: all further fields zero.
macro_rules! sized {
    ($name:ident) => {
        impl core::default::Default for $name {
            fn default() -> Self {
                // SAFETY: as above.
                let mut made = unsafe { core::mem::MaybeUninit::<Self>::zeroed().assume_init() };
                made.struct_size = core::mem::size_of::<Self>();
                made
            }
        }
    };
}

#[rustfmt::skip]
mod constants;
#[rustfmt::skip]
mod functions;
#[rustfmt::skip]
mod structs;

pub use constants::*;
pub use functions::*;
pub use structs::*;

/// `fovea_attention_pairs_bias.segment_stride`: rows of all segments follow each other.
pub const FOVEA_BY_ROW: usize = usize::MAX;
