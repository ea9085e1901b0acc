//! Answers to questions as spans of a context, and weights of the vocabulary (SPLADE).
use crate::error::{call, count, Error, Result};
use crate::model::Model;
use crate::predict::{ids_of, prompted, result_info, results, run_encodings, run_texts, RunOptions};
use crate::text::{Arrays, EncodeOptions, Encoding};
use fovea_sys as sys;

/// Options of [`Model::answer`].
#[derive(Clone, Default)]
pub struct AnswerOptions<'a> {
    /// Options of the run. `max_length`: tokens of question and context that are read at once; 0: 384, or the model's
    /// limit if that is less.
    pub run: RunOptions<'a>,
    /// The most answers; 0: 1.
    pub top: u32,
    /// The most tokens of an answer; 0: 15.
    pub max_tokens: u32,
    /// Whether "no answer", an empty text, is one of the answers.
    pub allow_none: bool,
    /// Tokens that neighbouring parts of a long context share; `None`: 128, or half of `max_length`.
    pub stride: Option<u32>,
}

/// A span of a context that answers a question. No answer: the text is empty.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// A part of the context.
    pub text: String,
    /// The probability of its start times that of its end; of an answer found in several parts their sum.
    pub score: f64,
    /// Its first byte in the context.
    pub begin: usize,
    /// The byte after it.
    pub end: usize,
}

/// The weight of a token of the vocabulary.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Weight {
    /// The token, as the vocabulary spells it.
    pub token: String,
    /// Its number.
    pub id: i32,
    /// Above 0.
    pub weight: f32,
}

const USUAL_LENGTH: u32 = 384; // as in the original
const USUAL_STRIDE: u32 = 128;
const WINDOWS_OF_RUN: usize = 16;

/// Encodings with all arrays of the C interface.
struct Windows {
    special: Vec<Vec<u8>>,
    tokens: Vec<sys::fovea_text_tokens>,
}

impl Windows {
    /// The structs refer to `encodings`, which must outlive them.
    fn of(encodings: &[Encoding]) -> Windows {
        let special: Vec<Vec<u8>> =
            encodings.iter().map(|one| one.special.iter().map(|&own| u8::from(own)).collect()).collect();
        let raw = |(one, special): (&Encoding, &Vec<u8>)| sys::fovea_text_tokens {
            special: special.as_ptr() as *mut u8, // only read
            ranges: one.ranges.as_ptr() as *mut u32,
            text_tokens: one.text_tokens,
            ..one.raw()
        };
        let tokens = encodings.iter().zip(&special).map(raw).collect();
        Windows { special, tokens }
    }
}

/// The parts of a pair's second text, each with the first.
fn split(pair: Encoding, limit: u32, stride: u32) -> Result<Vec<Encoding>> {
    let pair = [pair];
    let given = Windows::of(&pair);
    let (mut parts, mut number) = (Vec::new(), 1);
    while (parts.len() as u64) < number {
        let arrays = Arrays::filled(pair[0].ids.len() + 1, |tokens, error| {
            // SAFETY: the pair's arrays live, and the new ones have the capacity that is passed with them.
            unsafe {
                let window = parts.len() as u64;
                let status = sys::fovea_result_get_window(&given.tokens[0], limit, stride, window, tokens, error);
                number = (*tokens).windows;
                status
            }
        });
        match arrays {
            Ok(arrays) => parts.push(arrays.encoding()),
            Err(error) if error.status() == sys::FOVEA_E_LENGTH => {
                let text = format!(
                    "it leaves no more than the {stride} tokens that neighbouring parts of the context share of the \
                     {limit} that are read at once; shorten it, or give a smaller stride or a larger max_length"
                );
                return Err(Error::new(sys::FOVEA_E_LENGTH, "question", text));
            }
            Err(error) => return Err(error),
        }
    }
    debug_assert_eq!(given.special.len(), 1);
    Ok(parts)
}

impl Model<'_> {
    /// The best answers to a question in a context of any length, the best first, as transformers' pipeline finds them.
    /// There is none if the context has no token that could be an answer.
    pub fn answer(&self, question: &str, context: &str, options: &AnswerOptions<'_>) -> Result<Vec<Answer>> {
        let program = self.program(options.run.program)?;
        let info = result_info(self, program)?;
        if info.kind != sys::FOVEA_RESULT_ANSWERS {
            let text = "it does not answer questions: a model whose class in config.json ends with \
                        ForQuestionAnswering does";
            return Err(Error::new(sys::FOVEA_E_NAME, self.name(), text));
        }
        let tokenizer = self.tokenizer()?;
        let space = program.values.get(ids_of(self, program)?).map_or(0, |value| value.space);
        let longest = self.spaces().get(space).and_then(|space| space.max_segment_rows);
        let wanted = if options.run.max_length == 0 { USUAL_LENGTH } else { options.run.max_length };
        let limit = [Some(wanted), longest, tokenizer.max_length()].iter().flatten().copied().min().unwrap_or(wanted);
        let stride = options.stride.unwrap_or_else(|| USUAL_STRIDE.min(limit / 2));
        let literal = if options.run.literal { sys::FOVEA_TEXT_LITERAL } else { 0 };
        let whole = EncodeOptions { flags: sys::FOVEA_TEXT_UNLIMITED | literal, max_length: 0 };
        let pair = tokenizer.encode_with(question.as_bytes(), Some(context.as_bytes()), whole)?;
        self.warn_spelled(std::slice::from_ref(&pair));
        let parts = split(pair, limit, stride)?;
        let mut scores = Vec::new();
        for some in parts.chunks(WINDOWS_OF_RUN) {
            let (session, _) = run_encodings(self, some, &options.run, &[], &[])?;
            scores.extend(results(&session, &info)?.iter().flatten());
        }
        self.answers_in(context, &parts, &scores, options)
    }

    fn answers_in(
        &self,
        context: &str,
        parts: &[Encoding],
        scores: &[f32],
        options: &AnswerOptions<'_>,
    ) -> Result<Vec<Answer>> {
        let windows = Windows::of(parts);
        let given = sys::fovea_answer_options {
            top: options.top,
            max_tokens: options.max_tokens,
            allow_none: u32::from(options.allow_none),
            ..Default::default()
        };
        let (number, mut found) = (count(parts.len(), "windows")?, 0);
        let room = parts.len().saturating_mul(options.top.max(1) as usize).saturating_add(1);
        let mut answers = vec![sys::fovea_answer::default(); room];
        // SAFETY: a valid handle; texts and arrays have the sizes that are passed with them.
        call(self.name(), |error| unsafe {
            sys::fovea_result_get_answers(
                self.handle(),
                windows.tokens.as_ptr(),
                number,
                scores.as_ptr(),
                context.as_ptr().cast(),
                context.len() as u64,
                &given,
                answers.as_mut_ptr(),
                room as u64,
                &mut found,
                error,
            )
        })?;
        answers.truncate(usize::try_from(found).unwrap_or(0));
        let answer = |one: &sys::fovea_answer| {
            let (begin, end) = (one.begin as usize, one.end as usize);
            let text = context.as_bytes().get(begin..end).unwrap_or_default();
            Answer { text: String::from_utf8_lossy(text).into_owned(), score: one.score, begin, end }
        };
        Ok(answers.iter().map(answer).collect())
    }

    /// For each text the tokens of the vocabulary whose weights are not 0, the largest first (SPLADE); at most `top` of
    /// them, 0: all. A masked language model that was not published for weights is read as SPLADE reads one.
    pub fn word_weights<T: AsRef<[u8]>>(
        &self,
        texts: &[T],
        top: u32,
        options: &RunOptions<'_>,
    ) -> Result<Vec<Vec<Weight>>> {
        let texts = prompted(self, texts, options.prompt)?;
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let mut info = result_info(self, self.program(options.program)?)?;
        if info.kind == sys::FOVEA_RESULT_WORDS {
            info.pooling = sys::FOVEA_POOLING_MAX;
            info.activation = sys::FOVEA_ACTIVATION_LOG1P;
        } else if info.kind != sys::FOVEA_RESULT_WORD_WEIGHTS {
            let text = "it is not a masked language model, so it has no weights of words";
            return Err(Error::new(sys::FOVEA_E_NAME, self.name(), text));
        }
        let tokenizer = self.tokenizer()?;
        let rows = results(&run_texts(self, &texts, options, &[])?.session, &info)?;
        let weights = |row: &[f32]| {
            let some = row.iter().filter(|&&weight| weight != 0.0).count();
            let wanted = if top == 0 { some } else { some.min(top as usize) };
            let mut order = vec![0u32; wanted];
            // SAFETY: as many scores as the width, and as many indices as wanted.
            unsafe { sys::fovea_result_rank(row.as_ptr(), info.width, count(wanted, "top")?, order.as_mut_ptr()) };
            let weight = |&id: &u32| {
                let number = i32::try_from(id).unwrap_or(i32::MAX);
                let token = String::from_utf8_lossy(tokenizer.piece(number)?).into_owned();
                Ok(Weight { token, id: number, weight: row.get(id as usize).copied().unwrap_or(0.0) })
            };
            order.iter().map(weight).collect()
        };
        rows.iter().map(weights).collect()
    }
}
