//! Texts in, classes, rows or attention maps out: one run in a session of exactly the batch's size.
use crate::attention::{AttentionMap, Form, Reduce, Tap, TapRows};
use crate::error::{call, Error, Result};
use crate::inside::{Program, Type};
use crate::model::Model;
use crate::session::{is_output, Limit, Session, SessionOptions};
use crate::text::{EncodeOptions, Encoding};
use crate::threads::Threads;
use fovea_sys as sys;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};

/// Options of a run over texts.
#[derive(Clone, Default)]
pub struct RunOptions<'a> {
    /// The program, by its name; `None`: the first.
    pub program: Option<&'a str>,
    /// Threads that share the work.
    pub threads: Option<&'a Threads>,
    /// Texts are truncated to this many tokens; 0: to the model's limit.
    pub max_length: u32,
    /// [`Model::embed`]: the name of the model's prompt to put in front of each text; `None`: its default prompt, if it
    /// has one; `Some("")`: none.
    pub prompt: Option<&'a str>,
    /// Documents: line ends are line wraps. Without it each line ends a sentence.
    pub wrapped: bool,
    /// Special tokens that texts spell, such as `</s>`, are text: for texts of strangers.
    pub literal: bool,
}

/// A class of a text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Class {
    /// Its name.
    pub label: String,
    /// `None` for models of numbers (regression).
    pub probability: Option<f64>,
    /// The model's output.
    pub logit: f32,
    /// Its number.
    pub index: usize,
}

/// A matrix with a row for each text.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    width: usize,
    data: Vec<f32>,
}

impl Rows {
    /// Elements of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The rows.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, f32> {
        self.data.chunks_exact(self.width.max(1))
    }

    /// The same rows scaled to length 1; zeros stay zeros.
    pub fn normalised(mut self) -> Rows {
        for row in self.data.chunks_exact_mut(self.width.max(1)) {
            let length = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            if length > 0.0 {
                row.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
            }
        }
        self
    }
}

/// What to keep of the attention of a run.
#[derive(Clone, Default)]
pub struct LookOptions<'a> {
    /// Options of the run.
    pub run: RunOptions<'a>,
    /// Attention operations, by name; empty: all of the program.
    pub operations: &'a [&'a str],
    /// Form of the maps.
    pub form: Form,
    /// Whether heads are kept apart.
    pub reduce: Reduce,
    /// Which query rows.
    pub rows: TapRows,
}

/// Where a model looked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Look {
    /// The tokens of each text.
    pub encodings: Vec<Encoding>,
    /// A map for each operation.
    pub maps: Vec<AttentionMap>,
    /// The maps as a safetensors file, which `fovea attend --from` shows as a page.
    pub file: Vec<u8>,
}

/// A run over texts.
pub(crate) struct Ran<'m> {
    pub(crate) session: Session<'m>,
    pub(crate) encodings: Vec<Encoding>,
}

/// Rows and rows of the longest segment, by space.
pub(crate) type Limits = BTreeMap<usize, (u32, u32)>;

pub(crate) fn rows_of(number: usize) -> Result<u32> {
    u32::try_from(number.max(1)).map_err(|_| Error::new(sys::FOVEA_E_ROWS, "texts", "there are too many rows"))
}

pub(crate) fn ids_of(model: &Model<'_>, program: &Program) -> Result<usize> {
    let found = program.inputs().any(|value| value.name == "input_ids");
    program.position("input_ids").filter(|_| found).ok_or_else(|| {
        let text = format!("program '{}' has no input 'input_ids', so it reads no texts", program.name);
        Error::new(sys::FOVEA_E_NAME, model.name(), text)
    })
}

/// The space whose rows are the sentences of documents, if tokens nest in one.
fn sentence_space(model: &Model<'_>, space: usize) -> Option<usize> {
    let parent = model.spaces().get(space)?.parent?;
    model.spaces().get(parent).filter(|above| above.is_input && above.parent.is_some()).map(|_| parent)
}

/// Encodings of texts in the form that a program reads: at once, or sentence by sentence.
pub(crate) fn encode_for<T: AsRef<[u8]>>(
    model: &Model<'_>,
    program: &Program,
    texts: &[T],
    options: &RunOptions<'_>,
) -> Result<Vec<Encoding>> {
    let tokenizer = model.tokenizer()?;
    let ids = ids_of(model, program)?;
    let space = program.values.get(ids).map_or(0, |value| value.space);
    let longest = model.spaces().get(space).and_then(|space| space.max_segment_rows);
    let bounds = [Some(options.max_length).filter(|&length| length != 0), longest, tokenizer.max_length()];
    let max_length = bounds.iter().flatten().copied().min().unwrap_or(0);
    let literal = if options.literal { sys::FOVEA_TEXT_LITERAL } else { 0 };
    let wrapped = if options.wrapped { sys::FOVEA_TEXT_WRAPPED } else { 0 };
    let sentences = sentence_space(model, space).is_some();
    let encode = |text: &T| match sentences {
        true => tokenizer.encode_sentences(text.as_ref(), EncodeOptions { flags: literal | wrapped, max_length }),
        false => tokenizer.encode_with(text.as_ref(), None, EncodeOptions { flags: literal, max_length }),
    };
    let encodings: Vec<Encoding> = texts.iter().map(encode).collect::<Result<_>>()?;
    model.warn_truncated(&encodings);
    model.warn_spelled(&encodings);
    Ok(encodings)
}

/// Limits that fit exactly these encodings.
fn limits_of(model: &Model<'_>, space: usize, encodings: &[Encoding]) -> Result<Limits> {
    let lengths: Vec<usize> = match sentence_space(model, space) {
        None => encodings.iter().map(|encoding| encoding.ids.len()).collect(),
        Some(_) => encodings.iter().flat_map(|one| one.sentences.iter().flatten()).map(|&n| n as usize).collect(),
    };
    let mut limits = Limits::new();
    let longest = lengths.iter().copied().max().unwrap_or(1);
    limits.insert(space, (rows_of(lengths.iter().sum())?, rows_of(longest)?));
    let parent = model.spaces().get(space).and_then(|space| space.parent);
    if let Some(parent) = parent {
        let most = encodings.iter().map(|one| one.sentences.as_ref().map_or(0, Vec::len)).max().unwrap_or(0);
        let nested = sentence_space(model, space).is_some();
        limits.insert(parent, (rows_of(lengths.len())?, if nested { rows_of(most)? } else { 0 }));
        if let Some(above) = model.spaces().get(parent).and_then(|space| space.parent) {
            limits.insert(above, (rows_of(encodings.len())?, 0));
        }
    }
    let all = limits.values().fold((1, 1), |most, limit| (most.0.max(limit.0), most.1.max(limit.1)));
    for (index, space) in model.spaces().iter().enumerate() {
        if space.is_cached {
            limits.insert(index, all); // one run has all rows of a cached text
        }
    }
    Ok(limits)
}

pub(crate) fn named<'a>(model: &'a Model<'_>, limits: &Limits) -> Vec<Limit<'a>> {
    let named = limits.iter().filter_map(|(&space, &(rows, segment_rows))| {
        Some(Limit { space: &model.spaces().get(space)?.name, rows, segment_rows })
    });
    named.collect()
}

/// Inputs that texts do not set: what metadata `default.NAME` specifies.
fn fill_inputs(session: &mut Session<'_>) -> Result<()> {
    let program = session.program();
    for value in program.inputs() {
        if value.is_carried || value.name == "input_ids" || value.name == "token_type_ids" {
            continue;
        }
        let default = session.model().metadata(&format!("default.{}", value.name));
        match default.and_then(|number| number.parse::<i32>().ok()).filter(|_| value.kind == Type::I32) {
            Some(number) => session.input::<i32>(&value.name)?.fill(number),
            None => {
                let text = format!("input '{}' is not made of texts", value.name);
                return Err(Error::new(sys::FOVEA_E_NAME, format!("program '{}'", program.name), text));
            }
        }
    }
    Ok(())
}

/// The session of a batch, after its run, and its limits.
pub(crate) fn run_encodings<'m>(
    model: &'m Model<'_>,
    encodings: &[Encoding],
    options: &RunOptions<'_>,
    keep: &[&str],
    taps: &[Tap<'_>],
) -> Result<(Session<'m>, Limits)> {
    let program = model.program(options.program)?;
    let space = program.values.get(ids_of(model, program)?).map_or(0, |value| value.space);
    let limits = limits_of(model, space, encodings)?;
    let mut session = model.session(&SessionOptions {
        program: options.program,
        limits: named(model, &limits),
        threads: options.threads.cloned(),
        keep,
        taps,
        ..Default::default()
    })?;
    session.bind(encodings)?;
    fill_inputs(&mut session)?;
    session.run()?;
    Ok((session, limits))
}

pub(crate) fn run_texts<'m, T: AsRef<[u8]>>(
    model: &'m Model<'_>,
    texts: &[T],
    options: &RunOptions<'_>,
    taps: &[Tap<'_>],
) -> Result<Ran<'m>> {
    let encodings = encode_for(model, model.program(options.program)?, texts, options)?;
    let (session, _) = run_encodings(model, &encodings, options, &[], taps)?;
    Ok(Ran { session, encodings })
}

/// How the results of the program are read.
pub(crate) fn result_info(model: &Model<'_>, program: &Program) -> Result<sys::fovea_result_info> {
    let mut info = sys::fovea_result_info::default();
    // SAFETY: a valid handle; without a name of an output.
    call(model.name(), |error| unsafe {
        sys::fovea_result_get_info(model.handle(), program.index, std::ptr::null(), &mut info, error)
    })?;
    Ok(info)
}

/// All results of the session's last run.
pub(crate) fn results(session: &Session<'_>, info: &sys::fovea_result_info) -> Result<Rows> {
    let (name, mut number) = (session.model().name(), 0);
    // SAFETY: a valid handle.
    call(name, |error| unsafe { sys::fovea_result_get_count(session.handle(), info, &mut number, error) })?;
    let width = info.width as usize;
    let mut data = vec![0f32; number as usize * width];
    // SAFETY: a valid handle, and an array of this capacity.
    call(name, |error| unsafe {
        let capacity = data.len() as u64;
        sys::fovea_result_read(session.handle(), info, 0, number, data.as_mut_ptr(), capacity, error)
    })?;
    Ok(Rows { width, data })
}

fn classes_of(model: &Model<'_>, info: &sys::fovea_result_info, logits: &[f32], scores: &[f32]) -> Vec<Class> {
    let numbers = info.width == 1 || info.activation == sys::FOVEA_ACTIVATION_NONE;
    let mut order: Vec<u32> = (0..info.width).collect();
    if !numbers {
        // SAFETY: as many scores and indices as the width.
        unsafe { sys::fovea_result_rank(scores.as_ptr(), info.width, info.width, order.as_mut_ptr()) };
    }
    let class = |index: usize| Class {
        label: model.label(index),
        probability: if numbers { None } else { scores.get(index).map(|&share| f64::from(share)) },
        logit: logits.get(index).copied().unwrap_or(0.0),
        index,
    };
    order.into_iter().map(|index| class(index as usize)).collect()
}

/// Texts with the model's prompt of this name, or its default prompt, in front.
pub(crate) fn prompted<'t, T: AsRef<[u8]>>(
    model: &Model<'_>,
    texts: &'t [T],
    name: Option<&str>,
) -> Result<Vec<Cow<'t, [u8]>>> {
    let (is_default, owned) = (name.is_none(), name.map(CString::new).transpose());
    let owned =
        owned.map_err(|_| Error::new(sys::FOVEA_E_NAME, model.name(), "the name of the prompt has a zero byte"))?;
    let mut prompt = "";
    if name != Some("") {
        let (given, mut found) = (owned.as_ref().map_or(std::ptr::null(), |name| name.as_ptr()), std::ptr::null());
        // SAFETY: a valid handle, and a string with its end.
        let result = call(model.name(), |error| unsafe {
            sys::fovea_text_get_prompt(model.handle(), given, &mut found, std::ptr::null_mut(), error)
        });
        match result {
            // SAFETY: a string of the blob, which lives as long as the model.
            Ok(()) => prompt = unsafe { CStr::from_ptr(found) }.to_str().unwrap_or_default(),
            Err(error) if error.status() == sys::FOVEA_E_NAME => {
                let wanted = name.or_else(|| model.metadata("default_prompt")).unwrap_or("");
                let known = model.all_metadata().filter_map(|(key, _)| key.strip_prefix("prompt.").map(String::from));
                return Err(crate::inside::no_such(&format!("{}: prompt", model.name()), wanted, known));
            }
            Err(error) => return Err(error),
        }
    }
    if prompt.is_empty() {
        return Ok(texts.iter().map(|text| Cow::Borrowed(text.as_ref())).collect());
    }
    if is_default {
        model.announce(&format!(
            "the model's default prompt is in front of each text: '{prompt}'; prompt: Some(\"\") leaves it out"
        ));
    }
    Ok(texts.iter().map(|text| Cow::Owned([prompt.as_bytes(), text.as_ref()].concat())).collect())
}

impl Model<'_> {
    /// For each text its classes, the most probable first.
    pub fn classify<T: AsRef<[u8]>>(&self, texts: &[T], options: &RunOptions<'_>) -> Result<Vec<Vec<Class>>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let ran = run_texts(self, texts, options, &[])?;
        let info = result_info(self, self.program(options.program)?)?;
        if info.kind != sys::FOVEA_RESULT_CLASSES {
            return Err(Error::new(sys::FOVEA_E_NAME, self.name(), "the program has no scores of classes of a text"));
        }
        let (logits, scores) = (ran.session.output::<f32>("logits")?, results(&ran.session, &info)?);
        Ok(logits.iter().zip(scores.iter()).map(|(row, shares)| classes_of(self, &info, row, shares)).collect())
    }

    /// A row for each text: the sentence embedding or pooled output of the model, or else the mean of its last hidden
    /// states; or the weights of the vocabulary, if it was published for them (SPLADE).
    pub fn embed<T: AsRef<[u8]>>(&self, texts: &[T], options: &RunOptions<'_>) -> Result<Rows> {
        let texts = prompted(self, texts, options.prompt)?;
        if texts.is_empty() {
            return Ok(Rows { width: 0, data: Vec::new() });
        }
        let program = self.program(options.program)?;
        let info = result_info(self, program)?;
        if info.kind == sys::FOVEA_RESULT_WORD_WEIGHTS {
            return results(&run_texts(self, &texts, options, &[])?.session, &info);
        }
        if info.kind == sys::FOVEA_RESULT_ANSWERS {
            let text = "it answers questions, and has no embeddings: use answer";
            return Err(Error::new(sys::FOVEA_E_NAME, self.name(), text));
        }
        if info.kind != sys::FOVEA_RESULT_EMBEDDING {
            let text = "its outputs are scores of classes or words, not an embedding; fovea convert --task embedding \
                        converts the model without them";
            return Err(Error::new(sys::FOVEA_E_NAME, self.name(), text));
        }
        if info.pooling != sys::FOVEA_POOLING_NONE {
            let name = program.values.get(info.value as usize).map_or("", |value| &value.name);
            let text = format!("the model has no embedding of a text: the mean of the rows of '{name}' is used");
            self.announce(&text);
        }
        results(&run_texts(self, &texts, options, &[])?.session, &info)
    }

    /// Runs a program over texts and keeps the attention of its operations.
    pub fn look<T: AsRef<[u8]>>(&self, texts: &[T], options: &LookOptions<'_>) -> Result<Look> {
        let program = self.program(options.run.program)?;
        let all: Vec<&str> = program.attentions().collect();
        let names = if options.operations.is_empty() { &all } else { options.operations };
        let (form, reduce, rows) = (options.form, options.reduce, options.rows);
        let taps: Vec<Tap<'_>> =
            names.iter().map(|operation| Tap { operation, form, reduce, rows, ..Tap::default() }).collect();
        if taps.is_empty() || texts.is_empty() {
            let text = if texts.is_empty() { "no text is given" } else { "the program has no attention" };
            return Err(Error::new(sys::FOVEA_E_OPTION, self.name(), text));
        }
        let ran = run_texts(self, texts, &options.run, &taps)?;
        let maps = names.iter().map(|name| ran.session.attention_map(name)).collect::<Result<_>>()?;
        Ok(Look { file: ran.session.taps_file()?, maps, encodings: ran.encodings })
    }

    /// Runs a program over encoded texts; the session has its outputs, and the values that `keep` names.
    pub fn run_encodings(
        &self,
        encodings: &[Encoding],
        options: &RunOptions<'_>,
        keep: &[&str],
    ) -> Result<Session<'_>> {
        let program = self.program(options.program)?;
        let mut kept = Vec::new();
        for &name in keep {
            if !is_output(program, self.value(program, name)?) {
                kept.push(name);
            }
        }
        Ok(run_encodings(self, encodings, options, &kept, &[])?.0)
    }
}
