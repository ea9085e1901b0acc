//! Attention maps: which to keep, and what a run kept.
use crate::error::{Error, Result};
use fovea_sys as sys;

/// Form of an attention map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// A number for each key of a row's segment.
    #[default]
    Dense,
    /// Only the keys that a row sees: with a sliding window a few for each row.
    Sparse,
}

/// Whether heads are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reduce {
    /// Each head by itself.
    #[default]
    None,
    /// The mean of the heads.
    Mean,
    /// The largest weight of the heads.
    Max,
}

/// Which query rows of each segment are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TapRows {
    /// All rows.
    #[default]
    All,
    /// The last row.
    Last,
    /// Every `stride`th row from row `offset` on.
    Every {
        /// At least 1.
        stride: u32,
        /// The first row.
        offset: u32,
    },
}

/// A request, made with a session, to keep the attention map of an operation.
#[derive(Debug, Clone, Default)]
pub struct Tap<'a> {
    /// The attention operation, by its name: `"attentions.0"`.
    pub operation: &'a str,
    /// Form of the map.
    pub form: Form,
    /// Whether heads are kept apart.
    pub reduce: Reduce,
    /// Which heads, below 64; empty: all.
    pub heads: &'a [u32],
    /// Which query rows.
    pub rows: TapRows,
    /// Keeps the scores before the softmax instead of attention weights.
    pub scores: bool,
}

impl<'a> Tap<'a> {
    /// All rows and heads of an operation, dense.
    pub fn of(operation: &'a str) -> Tap<'a> {
        Tap { operation, ..Tap::default() }
    }

    /// The struct of the C interface, for the operation at this position.
    pub(crate) fn raw(&self, step: u32, heads: u32) -> Result<sys::fovea_tap> {
        let (mut wanted, most) = (0u64, heads.min(64));
        for &head in self.heads {
            if head >= most {
                let text = format!("head {head} is not below {most}");
                return Err(Error::new(sys::FOVEA_E_OPTION, format!("tap of '{}'", self.operation), text));
            }
            wanted |= 1 << head;
        }
        let (rows, stride, offset) = match self.rows {
            TapRows::All => (sys::FOVEA_TAP_ROWS_ALL, 0, 0),
            TapRows::Last => (sys::FOVEA_TAP_ROWS_LAST, 0, 0),
            TapRows::Every { stride, offset } => (sys::FOVEA_TAP_ROWS_STRIDE, stride, offset),
        };
        Ok(sys::fovea_tap {
            step,
            form: if self.form == Form::Sparse { sys::FOVEA_TAP_SPARSE } else { sys::FOVEA_TAP_DENSE },
            rows,
            stride,
            offset,
            reduce: match self.reduce {
                Reduce::None => sys::FOVEA_REDUCE_NONE,
                Reduce::Mean => sys::FOVEA_REDUCE_MEAN,
                Reduce::Max => sys::FOVEA_REDUCE_MAX,
            },
            heads: wanted,
            what: if self.scores { sys::FOVEA_KEEP_SCORES } else { sys::FOVEA_KEEP_ATTENTION },
            ..Default::default()
        })
    }
}

/// A copy of the attention map that a run kept: lines of weights, one for each tapped row and head.
#[derive(Debug, Clone, PartialEq)]
pub struct AttentionMap {
    pub(crate) operation: String,
    pub(crate) heads: usize,
    pub(crate) query_rows: Vec<u32>,
    pub(crate) query_offsets: Vec<u32>,
    pub(crate) key_offsets: Vec<u32>,
    /// First entry of each line, and their number.
    pub(crate) lines: Vec<usize>,
    /// The row of each entry in the key space, through all segments.
    pub(crate) keys: Vec<u32>,
    pub(crate) weights: Vec<f32>,
}

impl AttentionMap {
    /// The operation's name.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Heads of the map; 1 if they are reduced.
    pub fn heads(&self) -> usize {
        self.heads
    }

    /// Tapped rows of the query space, ascending, through all segments.
    pub fn query_rows(&self) -> &[u32] {
        &self.query_rows
    }

    /// Number of segments: texts, or sentences.
    pub fn segments(&self) -> usize {
        self.key_offsets.len().saturating_sub(1)
    }

    /// Segments of the key space: segment i is rows `[offsets[i], offsets[i + 1])`.
    pub fn key_offsets(&self) -> &[u32] {
        &self.key_offsets
    }

    /// The keys that tapped row `row` (a position in [`query_rows`](Self::query_rows)) sees by a head, with their
    /// weights. A key is a row of the key space. Nothing if there is no such row or head.
    pub fn entries(&self, row: usize, head: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = self.line(row, head).unwrap_or(0..0);
        let keys = self.keys.get(range.clone()).unwrap_or(&[]);
        keys.iter().copied().zip(self.weights.get(range).unwrap_or(&[]).iter().copied())
    }

    fn line(&self, row: usize, head: usize) -> Option<std::ops::Range<usize>> {
        let line = row.checked_mul(self.heads)?.checked_add(head).filter(|_| head < self.heads)?;
        Some(*self.lines.get(line)?..*self.lines.get(line.checked_add(1)?)?)
    }

    /// The tapped rows of a segment, as positions in [`query_rows`](Self::query_rows).
    fn rows_of(&self, segment: usize) -> Option<std::ops::Range<usize>> {
        let (first, end) = if self.query_offsets.len() == self.key_offsets.len() {
            (*self.query_offsets.get(segment)?, *self.query_offsets.get(segment + 1)?)
        } else {
            let row = u32::try_from(segment).ok()?; // each query row has a segment of keys
            (row, row + 1)
        };
        let before = |end: u32| self.query_rows.partition_point(|&row| row < end);
        Some(before(first)..before(end))
    }

    /// The weights of one segment and head: for each tapped row a number for each key of the segment, 0 where it does
    /// not see the key. `None` if there is no such segment or head.
    pub fn segment(&self, segment: usize, head: usize) -> Option<Vec<Vec<f32>>> {
        let first = *self.key_offsets.get(segment)?;
        let keys = self.key_offsets.get(segment.checked_add(1)?)?.checked_sub(first)? as usize;
        let rows = self.rows_of(segment).filter(|_| head < self.heads)?;
        Some(rows.map(|row| self.dense_line(row, head, first, keys)).collect())
    }

    fn dense_line(&self, row: usize, head: usize, first: u32, keys: usize) -> Vec<f32> {
        let mut line = vec![0.0; keys];
        for (key, weight) in self.entries(row, head) {
            if let Some(place) = key.checked_sub(first).and_then(|key| line.get_mut(key as usize)) {
                *place = weight;
            }
        }
        line
    }
}
