//! Sessions: a program of a model with its memory.
use crate::attention::{AttentionMap, Tap};
use crate::cancel::Canceller;
use crate::error::{call, count, Error, Result};
use crate::inside::{Program, Role, Type};
use crate::memory::{slice, Block};
use crate::model::Model;
use crate::text::Encoding;
use crate::threads::{self, Threads};
use fovea_sys as sys;
use std::marker::PhantomData;
use std::ptr;

/// The most rows of a space in any run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit<'a> {
    /// The space, by its name.
    pub space: &'a str,
    /// Rows in all segments together, at least 1.
    pub rows: u32,
    /// Rows in one segment; 0: as many as `rows` and the model allow.
    pub segment_rows: u32,
}

/// Options of a session. Defaults: the model's first program, one row of each space without a parent, no taps.
#[derive(Clone, Default)]
pub struct SessionOptions<'a> {
    /// The program, by its name; `None`: the first.
    pub program: Option<&'a str>,
    /// The limit of every space with a parent that is not in `limits`; 0: none.
    pub rows: u64,
    /// Limits by space.
    pub limits: Vec<Limit<'a>>,
    /// Threads that share the work; `None`: the caller's alone.
    pub threads: Option<Threads>,
    /// Values to keep readable besides the outputs, by name.
    pub keep: &'a [&'a str],
    /// Attention maps to keep.
    pub taps: &'a [Tap<'a>],
    /// Cached sequences; 0: as many as a run can have segments.
    pub cached_texts: u32,
    /// Rows carried through a phase at a time; 0: the library's choice.
    pub tile_rows: u32,
}

mod private {
    pub trait Sealed {}
}

/// Element types of rows: `f32` and `i32`.
pub trait Element: Copy + private::Sealed {
    /// The type's name in a model.
    const TYPE: Type;
}
impl private::Sealed for f32 {}
impl private::Sealed for i32 {}
impl Element for f32 {
    const TYPE: Type = Type::F32;
}
impl Element for i32 {
    const TYPE: Type = Type::I32;
}

/// Rows of an output, in the session's memory.
#[derive(Clone, Copy)]
pub struct Matrix<'s, T> {
    at: *const u8,
    rows: usize,
    width: usize,
    row_bytes: usize,
    lives: PhantomData<&'s [T]>,
}

// SAFETY: a shared view of numbers.
unsafe impl<T: Sync> Send for Matrix<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Matrix<'_, T> {}

impl<'s, T: Element> Matrix<'s, T> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Elements of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A row; empty if there is no such row.
    pub fn row(&self, row: usize) -> &'s [T] {
        if row >= self.rows {
            return &[];
        }
        // SAFETY: the library's view has `rows` rows of `width` elements, `row_bytes` apart.
        unsafe { slice(self.at.add(row * self.row_bytes).cast(), self.width) }
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = &'s [T]> + '_ {
        (0..self.rows).map(|row| self.row(row))
    }

    /// A copy without gaps.
    pub fn to_vec(&self) -> Vec<T> {
        self.iter().flatten().copied().collect()
    }
}

/// A program with memory for a limited number of rows. One thread at a time; nothing is allocated after it is made, but
/// for copies that are returned.
pub struct Session<'m> {
    handle: *mut sys::fovea_session,
    blocks: [Block; 3],
    model: &'m Model<'m>,
    program: &'m Program,
    taps: Vec<String>,
    canceller: Canceller,
    _threads: Option<Threads>,
}

// SAFETY: a session may move between threads; `&mut self` and the lack of Sync keep them one at a time.
unsafe impl Send for Session<'_> {}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.canceller.forget();
    }
}

impl<'m> Session<'m> {
    pub(crate) fn new(model: &'m Model<'_>, given: &SessionOptions<'_>, linked: &[u32]) -> Result<Session<'m>> {
        let program = model.program(given.program)?;
        let limits = given.limits.iter().map(|limit| {
            let space = model.space(limit.space)? as u32;
            Ok(sys::fovea_limit { space, rows: limit.rows, segment_rows: limit.segment_rows })
        });
        let limits = limits.collect::<Result<Vec<_>>>()?;
        let keep = given.keep.iter().map(|name| Ok(model.value(program, name)? as u32)).collect::<Result<Vec<_>>>()?;
        let mut taps = Vec::new();
        for tap in given.taps {
            let step = model.attention(program, tap.operation)?;
            let heads = program.operations.get(step).map_or(0, |operation| operation.heads);
            taps.push(tap.raw(step as u32, heads)?);
        }
        let mut options = sys::fovea_session_options {
            program: program.index,
            tile_rows: given.tile_rows,
            limit_count: count(limits.len(), "limits")?,
            limits: limits.as_ptr(),
            keep_count: count(keep.len(), "keep")?,
            keep: keep.as_ptr(),
            tap_count: count(taps.len(), "taps")?,
            taps: taps.as_ptr(),
            rows: given.rows,
            linked: linked.as_ptr(),
            linked_count: count(linked.len(), "linked")?,
            cached_texts: given.cached_texts,
            ..Default::default()
        };
        if let Some(threads) = given.threads.as_ref().filter(|threads| threads.count() > 1) {
            options.workers = threads.count();
            options.runner = Some(threads::run);
            options.runner_context = threads.context();
            options.barrier = Some(threads::barrier);
        }
        let mut memory = sys::fovea_session_memory::default();
        // SAFETY: a valid handle; options and their arrays are valid during the calls, and not read after them.
        call("session", |error| unsafe { sys::fovea_session_size(model.handle(), &options, &mut memory, error) })?;
        let blocks = [Block::new(memory.fixed_size)?, Block::new(memory.state_size)?, Block::new(memory.scratch_size)?];
        memory.fixed = blocks[0].address();
        memory.state = blocks[1].address();
        memory.scratch = blocks[2].address();
        let mut handle = ptr::null_mut();
        // SAFETY: as above; the blocks have these sizes, and are kept with the handle, as are the threads.
        call("session", |error| unsafe {
            sys::fovea_session_init(model.handle(), &options, &memory, &mut handle, error)
        })?;
        Ok(Session {
            handle,
            blocks,
            model,
            program,
            taps: given.taps.iter().map(|tap| tap.operation.to_string()).collect(),
            canceller: Canceller::new(handle),
            _threads: given.threads.clone(),
        })
    }

    pub(crate) fn handle(&self) -> *mut sys::fovea_session {
        self.handle
    }

    /// The model.
    pub fn model(&self) -> &'m Model<'m> {
        self.model
    }

    /// The program.
    pub fn program(&self) -> &'m Program {
        self.program
    }

    /// Bytes of the session's memory: fixed, state and scratch.
    pub fn memory_bytes(&self) -> [usize; 3] {
        [self.blocks[0].size(), self.blocks[1].size(), self.blocks[2].size()]
    }

    /// Sets the segments of an input space: their lengths.
    pub fn set_segments(&mut self, space: &str, lengths: &[u32]) -> Result<()> {
        let index = self.model.space(space)? as u32;
        let number = count(lengths.len(), "segments")?;
        // SAFETY: a valid handle, and the lengths with their number.
        call(&format!("segments of '{space}'"), |error| unsafe {
            sys::fovea_session_set_segments(self.handle, index, lengths.as_ptr(), number, error)
        })
    }

    /// Makes encoded texts, or documents, the input of the next run: one segment for each.
    pub fn bind(&mut self, encodings: &[Encoding]) -> Result<()> {
        let tokens: Vec<_> = encodings.iter().map(Encoding::raw).collect();
        let number = count(tokens.len(), "texts")?;
        if !encodings.iter().any(|encoding| encoding.sentences.is_some()) {
            // SAFETY: a valid handle; the arrays are valid during the call.
            return call("texts", |error| unsafe { sys::fovea_text_bind(self.handle, tokens.as_ptr(), number, error) });
        }
        let sentences: Vec<_> = encodings.iter().map(sentences_of).collect();
        // SAFETY: as above.
        call("documents", |error| unsafe {
            sys::fovea_text_bind_documents(self.handle, tokens.as_ptr(), sentences.as_ptr(), number, error)
        })
    }

    /// An input of the next run, to be written: its rows without gaps. Segments must be set before.
    pub fn input<T: Element>(&mut self, name: &str) -> Result<&mut [T]> {
        let value = self.model.value(self.program, name)? as u32;
        let mut view = sys::fovea_view::default();
        // SAFETY: a valid handle.
        call(&format!("input '{name}'"), |error| unsafe {
            sys::fovea_session_get_input(self.handle, value, &mut view, error)
        })?;
        checked_type::<T>(name, &view)?;
        let length = view.rows as usize * view.width as usize;
        if length == 0 {
            return Ok(&mut []);
        }
        // SAFETY: an input is dense, in the session's memory, which `&mut self` lends.
        Ok(unsafe { std::slice::from_raw_parts_mut(view.data.cast(), length) })
    }

    /// Runs the program.
    pub fn run(&mut self) -> Result<()> {
        // SAFETY: a valid handle; model, threads and linked sessions live as long as it.
        call(&format!("program '{}'", self.program.name), |error| unsafe { sys::fovea_session_run(self.handle, error) })
    }

    /// A handle that cancels runs of this session from other threads.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Clears a request to cancel that no run has obeyed.
    pub fn clear_cancel(&mut self) {
        // SAFETY: a valid handle.
        unsafe { sys::fovea_session_clear_cancel(self.handle) }
    }

    /// Makes carried inputs zeros and empties the KV cache.
    pub fn reset(&mut self) -> Result<()> {
        // SAFETY: a valid handle.
        call("reset", |error| unsafe { sys::fovea_session_reset(self.handle, error) })
    }

    fn view(&self, name: &str) -> Result<sys::fovea_view> {
        let value = self.model.value(self.program, name)? as u32;
        let mut view = sys::fovea_view::default();
        // SAFETY: a valid handle.
        call(&format!("output '{name}'"), |error| unsafe {
            sys::fovea_session_get_output(self.handle, value, &mut view, error)
        })?;
        Ok(view)
    }

    /// An output or kept value of the last run.
    pub fn output<T: Element>(&self, name: &str) -> Result<Matrix<'_, T>> {
        let view = self.view(name)?;
        checked_type::<T>(name, &view)?;
        Ok(Matrix {
            at: view.data.cast(),
            rows: view.rows as usize,
            width: view.width as usize,
            row_bytes: view.row_bytes as usize,
            lives: PhantomData,
        })
    }

    pub(crate) fn offsets(&self, space: usize) -> Result<&[u32]> {
        let (mut at, mut number) = (ptr::null(), 0);
        let name = self.model.spaces().get(space).map_or("", |space| &space.name);
        // SAFETY: a valid handle; the offsets are the session's memory, which changes with `&mut self` only.
        unsafe {
            call(&format!("segments of '{name}'"), |error| {
                sys::fovea_session_get_segments(self.handle, space as u32, &mut at, &mut number, error)
            })?;
            Ok(slice(at, number as usize + 1))
        }
    }

    /// The segments of a space: segment i is rows `[offsets[i], offsets[i + 1])`.
    pub fn segments(&self, space: &str) -> Result<&[u32]> {
        self.offsets(self.model.space(space)?)
    }

    /// A copy of the attention map that the tap of an operation kept in the last run.
    pub fn attention_map(&self, operation: &str) -> Result<AttentionMap> {
        let tap = self
            .taps
            .iter()
            .position(|known| known == operation)
            .ok_or_else(|| crate::inside::no_such("tap", operation, self.taps.iter().cloned()))?;
        let mut map = sys::fovea_attention_map::default();
        // SAFETY: a valid handle.
        call(&format!("tap of '{operation}'"), |error| unsafe {
            sys::fovea_session_get_attention_map(self.handle, tap as u32, &mut map, error)
        })?;
        let (rows, heads) = (map.rows as usize, map.heads as usize);
        let mut copy = AttentionMap {
            operation: operation.to_string(),
            heads,
            // SAFETY: the library's array of this many rows.
            query_rows: unsafe { slice(map.query_rows, rows) }.to_vec(),
            query_offsets: self.offsets(map.query_space as usize)?.to_vec(),
            key_offsets: self.offsets(map.key_space as usize)?.to_vec(),
            lines: Vec::new(),
            keys: Vec::new(),
            weights: Vec::new(),
        };
        if map.form == sys::FOVEA_TAP_DENSE {
            // SAFETY: the library's array of rows * heads lines.
            let data = unsafe { slice(map.data, rows * heads * map.stride as usize) };
            copy_dense(&mut copy, data, map.stride as usize);
        } else {
            self.copy_sparse(&mut copy, tap as u32, map.entries as usize, rows * heads)?;
        }
        Ok(copy)
    }

    fn copy_sparse(&self, copy: &mut AttentionMap, tap: u32, entries: usize, lines: usize) -> Result<()> {
        let mut offsets = vec![0u64; lines + 1];
        copy.keys = vec![0; entries];
        copy.weights = vec![0.0; entries];
        let arrays = sys::fovea_sparse_map {
            offset_capacity: offsets.len() as u64,
            entry_capacity: entries as u64,
            offsets: offsets.as_mut_ptr(),
            keys: copy.keys.as_mut_ptr(),
            values: copy.weights.as_mut_ptr(),
            layout: sys::FOVEA_SPARSE_CSR,
            ..Default::default()
        };
        // SAFETY: a valid handle, and arrays of these sizes.
        call("tap", |error| unsafe { sys::fovea_session_get_sparse_map(self.handle, tap, &arrays, error) })?;
        copy.lines = offsets.iter().map(|&offset| offset as usize).collect();
        Ok(())
    }

    /// All attention maps of the last run as the bytes of a safetensors file, which `fovea attend --from` shows.
    pub fn taps_file(&self) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: a valid handle.
        call("taps", |error| unsafe { sys::fovea_taps_file_size(self.handle, &mut size, error) })?;
        let mut block = Block::new(size)?;
        // SAFETY: a block of this size.
        call("taps", |error| unsafe { sys::fovea_taps_file_write(self.handle, block.address(), size, error) })?;
        Ok(block.bytes_mut().to_vec())
    }
}

fn sentences_of(encoding: &Encoding) -> sys::fovea_text_sentences {
    let lengths = encoding.sentences.as_deref().unwrap_or(&[]);
    sys::fovea_text_sentences {
        capacity: lengths.len() as u64,
        lengths: lengths.as_ptr() as *mut u32, // only read
        count: lengths.len() as u64,
        ..Default::default()
    }
}

fn checked_type<T: Element>(name: &str, view: &sys::fovea_view) -> Result<()> {
    let found = Type::of(view.type_);
    if found == T::TYPE {
        return Ok(());
    }
    Err(Error::new(sys::FOVEA_E_OPTION, format!("'{name}'"), format!("its type is {found:?}, not {:?}", T::TYPE)))
}

/// Copies the lines of a dense map, without what is past the keys of a row's segment.
fn copy_dense(copy: &mut AttentionMap, data: &[f32], stride: usize) {
    let segments_of_rows = copy.query_offsets.len() == copy.key_offsets.len();
    copy.lines.push(0);
    for (index, &row) in copy.query_rows.iter().enumerate() {
        let segment = if segments_of_rows {
            copy.query_offsets.partition_point(|&first| first <= row).saturating_sub(1)
        } else {
            row as usize // each query row has a segment of keys
        };
        let first = copy.key_offsets.get(segment).copied().unwrap_or(0);
        let end = copy.key_offsets.get(segment + 1).copied().unwrap_or(first);
        for head in 0..copy.heads {
            let line = data.get((index * copy.heads + head) * stride..).unwrap_or(&[]);
            copy.keys.extend(first..end);
            copy.weights.extend(line.iter().take((end - first) as usize));
            copy.lines.push(copy.keys.len());
        }
    }
}

/// Whether a value is an output of its program.
pub(crate) fn is_output(program: &Program, value: usize) -> bool {
    program.values.get(value).map_or(false, |value| value.role == Role::Output)
}
