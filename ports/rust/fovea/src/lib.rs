//! Converted attention models from Rust: classify, embed and generate texts, and look at the attention of a run.
//!
//! ```no_run
//! # fn main() -> fovea::Result<()> {
//! let model = fovea::Model::open("model.fovea")?;
//! for classes in model.classify(&["a text editor"], &Default::default())? {
//!     println!("{} {:?}", classes[0].label, classes[0].probability);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! **Ownership.** A [`Model`] owns its memory, and its blob or a borrow of it; a [`Session`] borrows its model and owns
//! its three blocks; rows of outputs borrow the session. Use after free does not compile:
//!
//! ```compile_fail,E0505
//! fn misuse(model: fovea::Model) -> fovea::Result<()> {
//!     let mut session = model.session(&Default::default())?;
//!     drop(model);
//!     session.run()
//! }
//! ```
//! ```compile_fail,E0502
//! fn misuse(session: &mut fovea::Session) -> fovea::Result<f32> {
//!     let logits = session.output::<f32>("logits")?;
//!     session.run()?; // writes the rows that `logits` shows
//!     Ok(logits.row(0)[0])
//! }
//! ```
//! ```compile_fail,E0597
//! fn misuse() -> fovea::Result<fovea::Model<'static>> {
//!     let blob = vec![0u8; 64];
//!     fovea::Model::of(&blob)
//! }
//! ```
//!
//! **Threads.** A [`Model`] may be used by any number of threads. A [`Session`] and a [`Generation`] may move to
//! another thread, but only one at a time can use them, so they are `Send` and not `Sync`:
//!
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<fovea::Session>();
//! ```
//!
//! **Errors** are an [`Error`] with the library's message. Nothing in this crate panics on wrong arguments or data.
#![deny(missing_docs, unsafe_op_in_unsafe_fn)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod attention;
mod cancel;
mod decoder;
mod error;
mod generate;
mod inside;
mod memory;
mod model;
mod predict;
mod session;
mod stream;
mod text;
mod threads;
mod warn;

pub use answers::{Answer, AnswerOptions, Weight};
pub use attention::{AttentionMap, Form, Reduce, Tap, TapRows};
pub use cancel::Canceller;
pub use error::{Error, Kind, Result, Status};
pub use generate::{End, GenerateOptions, Generation, Sampling, Step};
pub use inside::{Operation, Program, Role, Space, Type, Value};
pub use model::{Backend, Model, ModelOptions};
pub use predict::{Class, Look, LookOptions, Rows, RunOptions};
pub use session::{Element, Limit, Matrix, Session, SessionOptions};
pub use text::{Encoding, Tokenizer};
pub use threads::Threads;

/// Codes of the C library, `fovea_sys::FOVEA_E_...`, for comparison with [`Error::status`].
pub use fovea_sys as sys;

/// Returns the version of the linked library.
pub fn version() -> &'static str {
    // SAFETY: a static string.
    error::static_text(unsafe { sys::fovea_version() })
}

/// Returns the SIMD target that kernels use on this machine.
pub fn simd_target() -> &'static str {
    // SAFETY: a static string.
    error::static_text(unsafe { sys::fovea_simd_target() })
}
