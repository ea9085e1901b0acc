//! Generates texts with a decoder, step by step.
use crate::cancel::Canceller;
use crate::decoder::{sessions_for, Sessions};
use crate::error::{call, count, Error, Result};
use crate::memory::{slice, Block};
use crate::model::Model;
use crate::session::Session;
use crate::stream::{Stop, Stream};
use crate::threads::Threads;
use fovea_sys as sys;
use std::ops::ControlFlow;
use std::ptr;

/// How tokens are chosen; the default is the token with the highest score. See `include/fovea/generate.h`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[allow(missing_docs)]
pub struct Sampling {
    /// 0: the best token.
    pub temperature: f32,
    pub top_k: u32,
    pub top_p: f32,
    pub min_p: f32,
    pub repetition_penalty: f32,
    pub presence_penalty: f32,
    pub seed: u64,
    /// Returns log-probabilities of the tokens.
    pub logprobs: bool,
}

/// Options of a generation.
#[derive(Clone, Default)]
pub struct GenerateOptions<'a> {
    /// The most tokens of a text; 0: the model's number, else 512.
    pub max_tokens: u32,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// Tokens that end a text; `None`: the model's.
    pub stop_ids: Option<&'a [i32]>,
    /// Strings that end a text, which are not part of it.
    pub stop: &'a [&'a str],
    /// Special tokens that texts spell, such as `</s>`, are text: for texts of strangers.
    pub literal: bool,
    /// Threads that share the work.
    pub threads: Option<&'a Threads>,
}

/// Why a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum End {
    /// A stop token, which is not part of the text.
    StopToken,
    /// A stop string.
    StopString,
    /// It has the most tokens that were asked for.
    MaxTokens,
    /// The model reads no longer texts.
    Room,
}

impl End {
    fn of(end: u8) -> Option<End> {
        match u32::from(end) {
            sys::FOVEA_END_STOP => Some(End::StopToken),
            sys::FOVEA_END_LIMIT => Some(End::MaxTokens),
            sys::FOVEA_END_FULL => Some(End::Room),
            _ => None,
        }
    }
}

/// One step: an entry for each text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// Number of the step, from 0.
    pub index: u32,
    /// The token of each text; `None` for texts that ended in an earlier step.
    pub tokens: Vec<Option<i32>>,
    /// What the step adds to each text, in whole characters. Bytes that may begin a stop string are held back.
    pub parts: Vec<String>,
    /// Why texts have ended.
    pub ends: Vec<Option<End>>,
    /// Log-probabilities, if asked for.
    pub logprobs: Option<Vec<f32>>,
}

/// One text of a generation.
struct Text<'m> {
    stream: Option<Stream<'m>>,
    stop: Option<Stop>,
    tokens: Vec<i32>,
    text: String,
    end: Option<End>,
}

/// Texts in the making: an iterator of steps. A step that fails or is cancelled changes nothing and may be repeated.
pub struct Generation<'m> {
    handle: *mut sys::fovea_generator,
    _memory: Block,
    sessions: Sessions<'m>,
    _prompt: Vec<i32>, // read by the first step
    _lengths: Vec<u32>,
    texts: Vec<Text<'m>>,
    left: bool,
}

// SAFETY: it owns its sessions, which may move between threads; `&mut self` keeps them one at a time.
unsafe impl Send for Generation<'_> {}

fn sampling_of(given: &Sampling) -> sys::fovea_sampling {
    sys::fovea_sampling {
        temperature: given.temperature,
        top_k: given.top_k,
        top_p: given.top_p,
        min_p: given.min_p,
        repetition_penalty: given.repetition_penalty,
        presence_penalty: given.presence_penalty,
        logprobs: given.logprobs.into(),
        seed: given.seed,
        ..Default::default()
    }
}

impl Model<'_> {
    /// Generates texts: a decoder's text for what the encoder reads or, without an encoder, continuations of the texts.
    pub fn generate<T: AsRef<[u8]>>(&self, texts: &[T], options: &GenerateOptions<'_>) -> Result<Generation<'_>> {
        self.warn_idle(&options.sampling);
        let sessions = sessions_for(self, texts, options)?;
        Generation::new(self, sessions, texts.len(), options)
    }
}

impl<'m> Generation<'m> {
    fn new(
        model: &'m Model<'m>,
        sessions: Sessions<'m>,
        texts: usize,
        given: &GenerateOptions<'_>,
    ) -> Result<Generation<'m>> {
        let sampling = sampling_of(&given.sampling);
        let mut options = sys::fovea_generate_options {
            decode: sessions.decode.handle(),
            encode: sessions.encode.as_ref().map_or(ptr::null(), |session| session.handle()),
            max_tokens: given.max_tokens,
            sampling: &sampling,
            ..Default::default()
        };
        if let Some(ids) = given.stop_ids {
            options.stop_ids = ids.as_ptr(); // not null, so an empty list means none
            options.stop_id_count = count(ids.len(), "stop_ids")?;
        }
        let (mut needed, mut handle) = (0, ptr::null_mut());
        // SAFETY: options and what they refer to are valid during the calls; the sessions are kept with the handle.
        call("generate", |error| unsafe { sys::fovea_generate_size(&options, &mut needed, error) })?;
        let memory = Block::new(needed)?;
        call("generate", |error| unsafe {
            sys::fovea_generate_init(&options, memory.address(), needed, &mut handle, error)
        })?;
        call("generate", |error| unsafe { sys::fovea_generate_start(handle, error) })?;
        let prompt: Vec<i32> = sessions.prompts.concat();
        let lengths = sessions.prompts.iter().map(|one| count(one.len(), "prompt")).collect::<Result<Vec<u32>>>()?;
        if sessions.encode.is_none() {
            // SAFETY: as above; both arrays are kept, unchanged.
            call("prompts", |error| unsafe {
                let number = lengths.len() as u32;
                sys::fovea_generate_set_prompts(handle, prompt.as_ptr(), lengths.as_ptr(), number, 0, error)
            })?;
        }
        let has_text = model.inside.info.has_text != 0;
        let text = |i: usize| {
            let after = sessions.prompts.get(i).map_or(&[][..], Vec::as_slice);
            Ok(Text {
                stream: if has_text { Some(Stream::new(model, after)?) } else { None },
                stop: if given.stop.is_empty() { None } else { Some(Stop::new(given.stop)?) },
                tokens: Vec::new(),
                text: String::new(),
                end: None,
            })
        };
        Ok(Generation {
            texts: (0..texts).map(text).collect::<Result<_>>()?,
            handle,
            _memory: memory,
            sessions,
            _prompt: prompt,
            _lengths: lengths,
            left: true,
        })
    }

    /// A handle that cancels a step from other threads; the next step continues where it stopped.
    pub fn canceller(&self) -> Canceller {
        self.sessions.decode.canceller()
    }

    /// The decoder's session, whose outputs show the last step.
    pub fn session(&self) -> &Session<'m> {
        &self.sessions.decode
    }

    /// The texts so far.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| text.text.as_str())
    }

    /// The tokens of each text so far, without its prompt.
    pub fn tokens(&self) -> impl Iterator<Item = &[i32]> {
        self.texts.iter().map(|text| text.tokens.as_slice())
    }

    /// Why each text has ended; `None`: it has not.
    pub fn ends(&self) -> impl Iterator<Item = Option<End>> + '_ {
        self.texts.iter().map(|text| text.end)
    }

    /// Runs all remaining steps, and passes what each adds to a text to `show`, which can break off.
    pub fn stream(&mut self, mut show: impl FnMut(usize, &str) -> ControlFlow<()>) -> Result<()> {
        for step in self.by_ref() {
            for (text, part) in step?.parts.iter().enumerate() {
                if !part.is_empty() && show(text, part).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Runs all remaining steps. Returns the texts.
    pub fn finish(mut self) -> Result<Vec<String>> {
        for step in self.by_ref() {
            step?;
        }
        Ok(self.texts.into_iter().map(|text| text.text).collect())
    }

    fn step(&mut self) -> Result<Step> {
        let mut made = sys::fovea_generated::default();
        // SAFETY: a valid handle; sessions, prompts and memory live as long as it.
        call("generate", |error| unsafe { sys::fovea_generate_next(self.handle, ptr::null(), &mut made, error) })?;
        let number = made.texts as usize;
        // SAFETY: arrays with an entry for each text, valid until the next call.
        let (tokens, ends, logprobs) =
            unsafe { (slice(made.tokens, number), slice(made.ends, number), slice(made.logprobs, number)) };
        if number != self.texts.len() {
            let error = Error::new(sys::FOVEA_E_SEGMENTS, "generate", "the decoder has another number of texts");
            return Err(error.with_numbers(self.texts.len() as u64, number as u64));
        }
        self.left = made.left != 0;
        let mut step = Step {
            index: made.step,
            tokens: Vec::new(),
            parts: Vec::new(),
            ends: Vec::new(),
            logprobs: if made.logprobs.is_null() { None } else { Some(logprobs.to_vec()) },
        };
        let model = self.sessions.decode.model();
        for (number, ((text, &token), &end)) in self.texts.iter_mut().zip(tokens).zip(ends).enumerate() {
            let live = token >= 0 && text.end.is_none();
            step.tokens.push(if live { Some(token) } else { None });
            let part = if live { text.add(token, End::of(end))? } else { Vec::new() };
            let part = String::from_utf8_lossy(&part).into_owned();
            if live && text.end == Some(End::Room) {
                let tokens = text.tokens.len();
                model.warn(&format!(
                    "texts[{number}] ends for lack of room after {tokens} tokens: with its prompt it has all rows that \
                     its session has; max_tokens changes their number, up to what the model was trained for"
                ));
            }
            text.text.push_str(&part);
            step.parts.push(part);
            step.ends.push(text.end);
        }
        self.left &= self.texts.iter().any(|text| text.end.is_none());
        Ok(step)
    }
}

impl Text<'_> {
    /// The bytes that a token adds to the text.
    fn add(&mut self, token: i32, end: Option<End>) -> Result<Vec<u8>> {
        self.tokens.push(token);
        let mut bytes = Vec::new();
        if let Some(stream) = &mut self.stream {
            if end != Some(End::StopToken) {
                bytes = stream.add(token)?;
            }
            if end.is_some() {
                bytes.extend(stream.end()?);
            }
        }
        self.end = end;
        if let Some(stop) = &mut self.stop {
            let (safe, found) = stop.next(&bytes)?;
            bytes = safe;
            if found {
                self.end = Some(End::StopString);
            } else if end.is_some() {
                bytes.extend(stop.end());
            }
        }
        Ok(bytes)
    }
}

impl Iterator for Generation<'_> {
    type Item = Result<Step>;

    fn next(&mut self) -> Option<Result<Step>> {
        if self.left {
            Some(self.step())
        } else {
            None
        }
    }
}
