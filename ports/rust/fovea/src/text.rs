//! Text to token ids and back.
use crate::error::{call, count, Error, Result};
use crate::memory::Block;
use crate::model::Model;
use fovea_sys as sys;
use std::ptr;

/// The tokens of a text or a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoding {
    /// Token ids.
    pub ids: Vec<i32>,
    /// Type ids, for models that read pairs of texts.
    pub types: Vec<i32>,
    /// Which tokens the tokenizer added.
    pub special: Vec<bool>,
    /// Begin and end of each token in the text's bytes.
    pub ranges: Vec<[u32; 2]>,
    /// Tokens that truncation removed: compare with 0 to detect that a text was too long.
    pub dropped: usize,
    /// Of a document: the tokens of each sentence.
    pub sentences: Option<Vec<u32>>,
    /// Of a document: begin and end of each sentence in its bytes.
    pub sentence_ranges: Vec<[u32; 2]>,
    /// Of a document: sentences at its end that are left out.
    pub dropped_sentences: usize,
    /// Special tokens that the texts spell, except mask and unknown tokens.
    pub spelled: usize,
    /// Of a pair: tokens of both texts before truncation, without special ones.
    pub(crate) text_tokens: [u64; 2],
}

impl Encoding {
    /// Token ids that were made elsewhere.
    pub fn of_ids(ids: &[i32]) -> Encoding {
        Encoding { ids: ids.to_vec(), types: vec![0; ids.len()], ..Encoding::default() }
    }

    /// The struct of the C interface, which refers to this encoding.
    pub(crate) fn raw(&self) -> sys::fovea_text_tokens {
        sys::fovea_text_tokens {
            capacity: self.ids.len() as u64,
            ids: self.ids.as_ptr() as *mut i32, // only read
            types: if self.types.len() == self.ids.len() { self.types.as_ptr() as *mut i32 } else { ptr::null_mut() },
            count: self.ids.len() as u64,
            windows: 1,
            ..Default::default()
        }
    }
}

/// How a text is encoded.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EncodeOptions {
    pub(crate) flags: u32,
    pub(crate) max_length: u32,
}

/// A model's tokenizer.
#[derive(Clone, Copy)]
pub struct Tokenizer<'m> {
    model: &'m Model<'m>,
    info: sys::fovea_text_info,
}

impl<'m> Tokenizer<'m> {
    pub(crate) fn new(model: &'m Model<'_>) -> Result<Tokenizer<'m>> {
        let mut info = sys::fovea_text_info::default();
        // SAFETY: a valid handle.
        call(model.name(), |error| unsafe { sys::fovea_text_get_info(model.handle(), &mut info, error) })?;
        Ok(Tokenizer { model, info })
    }

    /// Ids are below this.
    pub fn vocabulary(&self) -> u32 {
        self.info.vocabulary
    }

    /// The most tokens that the model reads, special ones included; `None`: the blob states no limit.
    pub fn max_length(&self) -> Option<u32> {
        Some(self.info.max_length).filter(|&length| length != 0)
    }

    /// The padding token.
    pub fn pad_id(&self) -> Option<i32> {
        Some(self.info.pad_id).filter(|&id| id >= 0)
    }

    /// The token for a masked word.
    pub fn mask_id(&self) -> Option<i32> {
        Some(self.info.mask_id).filter(|&id| id >= 0)
    }

    /// The tokens of a text, truncated at the model's limit ([`Encoding::dropped`]).
    pub fn encode(&self, text: impl AsRef<[u8]>) -> Result<Encoding> {
        self.encode_with(text.as_ref(), None, EncodeOptions::default())
    }

    /// The tokens of a text without truncation.
    pub fn encode_whole(&self, text: impl AsRef<[u8]>) -> Result<Encoding> {
        self.encode_prompt(text.as_ref(), false)
    }

    /// The same; `literal`: special tokens that the text spells are text.
    pub(crate) fn encode_prompt(&self, text: &[u8], literal: bool) -> Result<Encoding> {
        let literal = if literal { sys::FOVEA_TEXT_LITERAL } else { 0 };
        let options = EncodeOptions { flags: sys::FOVEA_TEXT_UNLIMITED | literal, max_length: 0 };
        self.encode_with(text, None, options)
    }

    /// The tokens of a text, truncated at the model's limit; special tokens that it spells, such as `</s>`, are text.
    pub fn encode_literal(&self, text: impl AsRef<[u8]>) -> Result<Encoding> {
        self.encode_with(text.as_ref(), None, EncodeOptions { flags: sys::FOVEA_TEXT_LITERAL, max_length: 0 })
    }

    /// The tokens of a text, truncated to `length` tokens.
    pub fn encode_up_to(&self, text: impl AsRef<[u8]>, length: u32) -> Result<Encoding> {
        self.encode_with(text.as_ref(), None, EncodeOptions { flags: 0, max_length: length })
    }

    /// The tokens of two texts that are read together.
    pub fn encode_pair(&self, text: impl AsRef<[u8]>, second: impl AsRef<[u8]>) -> Result<Encoding> {
        self.encode_with(text.as_ref(), Some(second.as_ref()), EncodeOptions::default())
    }

    /// The tokens of a document, sentence by sentence.
    pub fn encode_document(&self, text: impl AsRef<[u8]>) -> Result<Encoding> {
        self.encode_sentences(text.as_ref(), EncodeOptions::default())
    }

    fn scratch(&self, length: usize) -> Result<Block> {
        let mut needed = 0;
        // SAFETY: a valid handle.
        call("text", |error| unsafe {
            sys::fovea_text_scratch_size(self.model.handle(), length as u64, &mut needed, error)
        })?;
        Block::new(needed)
    }

    pub(crate) fn encode_with(&self, text: &[u8], second: Option<&[u8]>, given: EncodeOptions) -> Result<Encoding> {
        let other = second.unwrap_or(&[]);
        let scratch = self.scratch(text.len().max(other.len()))?;
        let options = options_of(given);
        let second = second.map_or(ptr::null(), address_of);
        let guess = text.len() + other.len() + self.info.pair_special as usize + 8;
        let arrays = Arrays::filled(guess, |tokens, error| {
            // SAFETY: texts, options, scratch and arrays have the sizes that are passed with them.
            unsafe {
                sys::fovea_text_encode(
                    self.model.handle(),
                    address_of(text),
                    text.len() as u64,
                    second,
                    other.len() as u64,
                    &options,
                    scratch.address(),
                    scratch.size() as u64,
                    tokens,
                    error,
                )
            }
        })?;
        Ok(arrays.encoding())
    }

    pub(crate) fn encode_sentences(&self, text: &[u8], given: EncodeOptions) -> Result<Encoding> {
        let scratch = self.scratch(text.len())?;
        let options = options_of(given);
        let room = text.len() + 1; // no sentence is shorter than a byte
        let (mut lengths, mut ranges) = (vec![0u32; room], vec![[0u32; 2]; room]);
        let mut sentences = sys::fovea_text_sentences {
            capacity: room as u64,
            lengths: lengths.as_mut_ptr(),
            ranges: ranges.as_mut_ptr().cast(),
            ..Default::default()
        };
        let arrays = Arrays::filled(text.len() + self.info.pair_special as usize + 8, |tokens, error| {
            // SAFETY: as above.
            unsafe {
                sys::fovea_text_encode_document(
                    self.model.handle(),
                    address_of(text),
                    text.len() as u64,
                    &options,
                    scratch.address(),
                    scratch.size() as u64,
                    tokens,
                    &mut sentences,
                    error,
                )
            }
        })?;
        let found = usize::try_from(sentences.count).unwrap_or(0).min(room);
        lengths.truncate(found);
        ranges.truncate(found);
        Ok(Encoding {
            sentences: Some(lengths),
            sentence_ranges: ranges,
            dropped_sentences: usize::try_from(sentences.dropped).unwrap_or(usize::MAX),
            ..arrays.encoding()
        })
    }

    /// The text of ids, without special tokens; incomplete characters become U+FFFD.
    pub fn decode(&self, ids: &[i32]) -> Result<String> {
        written(16 * ids.len() + 16, |output, capacity, size, error| {
            // SAFETY: ids and output have the sizes that are passed with them.
            unsafe {
                let (at, count) = (ids.as_ptr(), ids.len() as u64);
                sys::fovea_text_decode(self.model.handle(), at, count, 0, output, capacity, size, error)
            }
        })
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The piece of an id as the vocabulary spells it; of byte-level vocabularies perhaps a part of a character.
    pub fn piece(&self, id: i32) -> Result<&'m [u8]> {
        let (mut at, mut size) = (ptr::null(), 0);
        // SAFETY: a valid handle; the piece is in the blob, which lives as long as the model.
        unsafe {
            call(&format!("token {id}"), |error| {
                sys::fovea_text_get_token(self.model.handle(), id, &mut at, &mut size, ptr::null_mut(), error)
            })?;
            Ok(crate::memory::slice(at.cast(), size as usize))
        }
    }

    /// The id of a piece.
    pub fn find(&self, piece: impl AsRef<[u8]>) -> Result<i32> {
        let piece = piece.as_ref();
        let size = count(piece.len(), "piece")?;
        let mut id = 0;
        // SAFETY: a valid handle, and the piece with its size.
        call(&String::from_utf8_lossy(piece), |error| unsafe {
            sys::fovea_text_find_token(self.model.handle(), address_of(piece), size, &mut id, error)
        })?;
        Ok(id)
    }
}

fn options_of(given: EncodeOptions) -> sys::fovea_text_encode_options {
    sys::fovea_text_encode_options { flags: given.flags, max_length: given.max_length, ..Default::default() }
}

fn address_of(bytes: &[u8]) -> *const std::os::raw::c_char {
    bytes.as_ptr().cast()
}

/// The arrays of a fovea_text_tokens.
pub(crate) struct Arrays {
    ids: Vec<i32>,
    types: Vec<i32>,
    special: Vec<u8>,
    ranges: Vec<[u32; 2]>,
    text_tokens: [u64; 2],
    spelled: u64,
}

impl Arrays {
    /// Calls `fill`, again if the arrays are too small.
    pub(crate) fn filled(
        capacity: usize,
        mut fill: impl FnMut(*mut sys::fovea_text_tokens, *mut sys::fovea_error) -> sys::fovea_status,
    ) -> Result<Arrays> {
        let mut capacity = capacity;
        loop {
            let mut arrays = Arrays {
                ids: vec![0; capacity],
                types: vec![0; capacity],
                special: vec![0; capacity],
                ranges: vec![[0; 2]; capacity],
                text_tokens: [0; 2],
                spelled: 0,
            };
            let mut tokens = sys::fovea_text_tokens {
                capacity: capacity as u64,
                ids: arrays.ids.as_mut_ptr(),
                types: arrays.types.as_mut_ptr(),
                special: arrays.special.as_mut_ptr(),
                ranges: arrays.ranges.as_mut_ptr().cast(),
                ..Default::default()
            };
            let result = call("text", |error| fill(&mut tokens, error));
            let needed = usize::try_from(tokens.count).unwrap_or(usize::MAX);
            match result {
                Err(error) if error.status() == sys::FOVEA_E_CAPACITY && needed > capacity => capacity = needed,
                Err(error) => return Err(error),
                Ok(()) => {
                    arrays.ids.truncate(needed);
                    arrays.types.truncate(needed);
                    arrays.special.truncate(needed);
                    arrays.ranges.truncate(needed);
                    arrays.text_tokens = tokens.text_tokens;
                    arrays.spelled = tokens.spelled;
                    return Ok(arrays);
                }
            }
        }
    }

    pub(crate) fn encoding(self) -> Encoding {
        let kept = self.special.iter().filter(|&&special| special == 0).count() as u64;
        Encoding {
            ids: self.ids,
            types: self.types,
            special: self.special.iter().map(|&special| special != 0).collect(),
            ranges: self.ranges,
            dropped: usize::try_from(self.text_tokens.iter().sum::<u64>().saturating_sub(kept)).unwrap_or(usize::MAX),
            text_tokens: self.text_tokens,
            spelled: usize::try_from(self.spelled).unwrap_or(usize::MAX),
            ..Encoding::default()
        }
    }
}

/// The output of a function that writes text, called again if it is longer than `capacity` bytes.
pub(crate) fn written(
    capacity: usize,
    mut write: impl FnMut(*mut std::os::raw::c_char, u64, *mut u64, *mut sys::fovea_error) -> sys::fovea_status,
) -> Result<Vec<u8>> {
    let mut output = vec![0u8; capacity];
    for turn in 0..2 {
        let mut size = 0;
        match call("text", |error| write(output.as_mut_ptr().cast(), output.len() as u64, &mut size, error)) {
            Ok(()) => {
                output.truncate(usize::try_from(size).unwrap_or(0));
                return Ok(output);
            }
            Err(error) if error.status() == sys::FOVEA_E_CAPACITY && turn == 0 => {
                output.resize(usize::try_from(error.expected()).unwrap_or(0), 0);
            }
            Err(error) => return Err(error),
        }
    }
    Err(Error::new(sys::FOVEA_E_CAPACITY, "text", "the text needs more bytes than the library reports"))
}
