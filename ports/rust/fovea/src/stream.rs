//! Text that arrives token by token, and strings that end it.
use crate::error::{call, count, Result};
use crate::memory::Block;
use crate::model::Model;
use crate::text::written;
use fovea_sys as sys;
use std::ptr;

/// Decodes a text incrementally.
pub(crate) struct Stream<'m> {
    model: &'m Model<'m>,
    vocabulary: u32,
    state: sys::fovea_text_stream,
    /// Bytes that the decoder held back at the end of the prompt: they belong to the prompt.
    rest: Vec<u8>,
}

impl<'m> Stream<'m> {
    /// `after`: the tokens that the text continues, which are not shown.
    pub(crate) fn new(model: &'m Model<'m>, after: &[i32]) -> Result<Stream<'m>> {
        let vocabulary = model.tokenizer()?.vocabulary();
        let mut stream = Stream { model, vocabulary, state: Default::default(), rest: Vec::new() };
        for &token in after {
            stream.add(token)?;
        }
        if !after.is_empty() {
            let mut copy = stream.state;
            stream.rest = written(256, |output, capacity, size, error| {
                // SAFETY: a valid handle, and an output of this capacity.
                unsafe { sys::fovea_text_decode_end(model.handle(), &mut copy, output, capacity, size, error) }
            })?;
        }
        Ok(stream)
    }

    fn shown(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        if self.rest.is_empty() || bytes.is_empty() {
            return bytes;
        }
        let rest = std::mem::take(&mut self.rest);
        bytes.strip_prefix(rest.as_slice()).map(<[u8]>::to_vec).unwrap_or(bytes)
    }

    /// The bytes that a token makes certain, in whole characters.
    pub(crate) fn add(&mut self, token: i32) -> Result<Vec<u8>> {
        if !u32::try_from(token).map_or(false, |token| token < self.vocabulary) {
            return Ok(Vec::new()); // tables are often larger than vocabularies
        }
        let (model, state) = (self.model.handle(), &mut self.state);
        let bytes = written(256, |output, capacity, size, error| {
            // SAFETY: a valid handle, one id, and an output of this capacity.
            unsafe { sys::fovea_text_decode_next(model, state, &token, 1, output, capacity, size, error) }
        })?;
        Ok(self.shown(bytes))
    }

    /// The bytes that were held back.
    pub(crate) fn end(&mut self) -> Result<Vec<u8>> {
        let (model, state) = (self.model.handle(), &mut self.state);
        let bytes = written(256, |output, capacity, size, error| {
            // SAFETY: as above.
            unsafe { sys::fovea_text_decode_end(model, state, output, capacity, size, error) }
        })?;
        Ok(self.shown(bytes))
    }
}

/// Looks for stop strings in a text that grows.
pub(crate) struct Stop {
    handle: *mut sys::fovea_stop,
    _memory: Block,
    /// Bytes of the text that are not shown yet, and the place of the first.
    held: Vec<u8>,
    shown: u64,
}

impl Stop {
    /// `strings` is not empty.
    pub(crate) fn new(strings: &[&str]) -> Result<Stop> {
        let starts: Vec<_> = strings.iter().map(|string| string.as_ptr().cast()).collect();
        let sizes = strings.iter().map(|string| count(string.len(), "stop")).collect::<Result<Vec<u32>>>()?;
        let (number, mut needed, mut handle) = (count(strings.len(), "stop")?, 0, ptr::null_mut());
        // SAFETY: strings with their sizes, which the library copies.
        call("stop", |error| unsafe {
            sys::fovea_stop_size(starts.as_ptr(), sizes.as_ptr(), number, &mut needed, error)
        })?;
        let memory = Block::new(needed)?;
        // SAFETY: as above; the memory is kept with the handle.
        call("stop", |error| unsafe {
            let (starts, sizes) = (starts.as_ptr(), sizes.as_ptr());
            sys::fovea_stop_init(starts, sizes, number, memory.address(), needed, &mut handle, error)
        })?;
        Ok(Stop { handle, _memory: memory, held: Vec::new(), shown: 0 })
    }

    /// The bytes that may be shown after these, and whether a string was found: then the text ends.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
        self.held.extend_from_slice(bytes);
        let mut stopped = sys::fovea_stopped::default();
        // SAFETY: a valid handle, and bytes with their size.
        call("stop", |error| unsafe {
            sys::fovea_stop_next(self.handle, bytes.as_ptr().cast(), bytes.len() as u64, &mut stopped, error)
        })?;
        let safe = usize::try_from(stopped.safe.saturating_sub(self.shown)).unwrap_or(0).min(self.held.len());
        let rest = self.held.split_off(safe);
        self.shown = self.shown.max(stopped.safe);
        Ok((std::mem::replace(&mut self.held, rest), stopped.stopped != 0))
    }

    /// The bytes that were held back, when the text ends otherwise.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}
