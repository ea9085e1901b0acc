//! Sessions of generating programs: what they read, and their limits.
use crate::error::{call, Error, Result};
use crate::generate::GenerateOptions;
use crate::inside::Program;
use crate::model::Model;
use crate::predict::{encode_for, named, rows_of, run_encodings, Limits, RunOptions};
use crate::session::{Session, SessionOptions};
use fovea_sys as sys;

const USUAL_NEW_TOKENS: usize = 512; // if neither the caller nor the model limits them
const PROMPT_ROWS: usize = 512; // prefill: most rows of a prompt per run
const MOST_LINKS: usize = 256; // of the format

/// The sessions of a generation, and its prompts.
pub(crate) struct Sessions<'m> {
    pub(crate) decode: Session<'m>,
    pub(crate) encode: Option<Session<'m>>,
    /// Empty with an encoder.
    pub(crate) prompts: Vec<Vec<i32>>,
}

/// The program that generates text, and the one whose outputs it reads.
fn generate_programs<'m>(model: &'m Model<'_>) -> Result<(&'m Program, Option<&'m Program>)> {
    let (mut decode, mut encode) = (sys::FOVEA_NONE, sys::FOVEA_NONE);
    // SAFETY: a valid handle, and two numbers.
    call(model.name(), |error| unsafe {
        sys::fovea_generate_find_programs(model.handle(), &mut decode, &mut encode, error)
    })?;
    let program = |index: u32| model.programs().get(index as usize);
    let decoder = program(decode).ok_or_else(|| Error::new(sys::FOVEA_E_INTERNAL, model.name(), "no such program"))?;
    Ok((decoder, program(encode)))
}

/// The most tokens of a text, as the model states it.
fn listed_most(model: &Model<'_>) -> usize {
    let listed = model.metadata("generate.max_tokens").or_else(|| model.metadata("generate.most"));
    listed.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

fn most_new(model: &Model<'_>, max_tokens: u32) -> usize {
    [max_tokens as usize, listed_most(model)].into_iter().find(|&most| most != 0).unwrap_or(USUAL_NEW_TOKENS)
}

/// Limits of a decoder with a KV cache.
fn kept_limits(model: &Model<'_>, space: usize, texts: usize, new_tokens: usize, context: usize) -> Result<Limits> {
    let info = model.spaces().get(space);
    let context = info.and_then(|info| info.max_segment_rows).map_or(context, |most| context.min(most as usize));
    let mut limits = Limits::new();
    limits.insert(space, (rows_of(texts.max(new_tokens.min(PROMPT_ROWS.max(texts))))?, 0));
    if let Some(parent) = info.and_then(|info| info.parent) {
        limits.insert(parent, (rows_of(texts)?, 0));
    }
    for (index, other) in model.spaces().iter().enumerate() {
        if other.is_cached {
            limits.insert(index, (rows_of(texts.saturating_mul(context))?, rows_of(context)?));
        }
    }
    Ok(limits)
}

/// The space of the decoder's new tokens.
fn token_space(model: &Model<'_>, program: &Program) -> Result<usize> {
    let token = model.value(program, model.metadata("generate.token").unwrap_or("input_ids"))?;
    Ok(program.values.get(token).map_or(0, |value| value.space))
}

/// Inputs of the decoder that are linked to the encoder.
fn linked(model: &Model<'_>, program: &Program) -> Result<Vec<u32>> {
    let (mut inputs, mut number) = (vec![0u32; MOST_LINKS], 0);
    // SAFETY: a valid handle, and an array of this capacity.
    call("generate", |error| unsafe {
        let (at, capacity) = (inputs.as_mut_ptr(), MOST_LINKS as u32);
        sys::fovea_generate_get_linked(model.handle(), program.index, at, capacity, &mut number, error)
    })?;
    inputs.truncate(number as usize);
    Ok(inputs)
}

/// Limits of a decoder that reads what the encoder has written.
fn linked_limits(
    model: &Model<'_>,
    program: &Program,
    encode: &Session<'_>,
    read: &Limits,
    links: &[u32],
    kept: impl FnOnce(usize) -> Result<Limits>,
) -> Result<Limits> {
    let is_cached = |space: usize| model.spaces().get(space).map_or(false, |space| space.is_cached);
    let mut limits: Limits =
        read.iter().filter(|(&space, _)| !is_cached(space)).map(|(&space, &limit)| (space, limit)).collect();
    for value in links.iter().filter_map(|&input| program.values.get(input as usize)) {
        let is_input = model.spaces().get(value.space).map_or(false, |space| space.is_input);
        let output = model.metadata(&format!("generate.link.{}", value.name));
        if let (true, false, Some(output)) = (is_input, limits.contains_key(&value.space), output) {
            // Outputs of the encoder in derived spaces are read in separate spaces.
            let from = model.value(encode.program(), output)?;
            let from = encode.program().values.get(from).map_or(0, |value| value.space);
            let lengths = encode.offsets(from)?.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
            let (sum, longest) = lengths.fold((0, 0), |(sum, most), length| (sum + length, most.max(length)));
            limits.insert(value.space, (rows_of(sum)?, rows_of(longest)?));
        }
    }
    let token = token_space(model, program)?;
    if limits.contains_key(&token) {
        return Ok(limits); // the decoder has no KV cache
    }
    let mut all = kept(token)?;
    all.extend(limits);
    Ok(all)
}

/// The prompts' tokens.
fn prompts_of<T: AsRef<[u8]>>(
    model: &Model<'_>,
    space: usize,
    texts: &[T],
    literal: bool,
) -> Result<(Vec<Vec<i32>>, usize)> {
    let tokenizer = model.tokenizer()?;
    let bounds = [model.spaces().get(space).and_then(|space| space.max_segment_rows), tokenizer.max_length()];
    let trained = bounds.iter().flatten().min().map_or(i32::MAX as usize, |&most| most as usize);
    let mut prompts = Vec::new();
    for text in texts {
        let ids = tokenizer.encode_prompt(text.as_ref(), literal)?.ids;
        if ids.is_empty() {
            let text = "a prompt is empty, and the tokenizer adds no token before a text";
            return Err(Error::new(sys::FOVEA_E_LENGTH, model.name(), text));
        }
        if ids.len() > trained {
            let text = "a prompt has more tokens than the model reads: give a shorter one";
            let error = Error::new(sys::FOVEA_E_LENGTH, model.name(), text);
            return Err(error.with_numbers(trained as u64, ids.len() as u64));
        }
        prompts.push(ids);
    }
    Ok((prompts, trained))
}

/// Sessions for texts: an encoder that has read them and a decoder, or a decoder that continues them.
pub(crate) fn sessions_for<'m, T: AsRef<[u8]>>(
    model: &'m Model<'_>,
    texts: &[T],
    given: &GenerateOptions<'_>,
) -> Result<Sessions<'m>> {
    if texts.is_empty() {
        return Err(Error::new(sys::FOVEA_E_OPTION, "generate", "no text is given"));
    }
    let (program, encoder) = generate_programs(model)?;
    let threads = given.threads;
    let session = |limits: &Limits, linked: &[u32]| {
        let options = SessionOptions {
            program: Some(&program.name),
            limits: named(model, limits),
            threads: threads.cloned(),
            ..Default::default()
        };
        Session::new(model, &options, linked)
    };
    let most = most_new(model, given.max_tokens);
    if let Some(encoder) = encoder {
        let options =
            RunOptions { program: Some(&encoder.name), threads, literal: given.literal, ..Default::default() };
        let encodings = encode_for(model, encoder, texts, &options)?;
        let (encode, read) = run_encodings(model, &encodings, &options, &[], &[])?;
        let links = linked(model, program)?;
        let kept = |token| kept_limits(model, token, texts.len(), texts.len(), most.saturating_add(1));
        let limits = linked_limits(model, program, &encode, &read, &links, kept)?;
        return Ok(Sessions { decode: session(&limits, &links)?, encode: Some(encode), prompts: Vec::new() });
    }
    let space = token_space(model, program)?;
    let (prompts, trained) = prompts_of(model, space, texts, given.literal)?;
    let longest = prompts.iter().map(Vec::len).max().unwrap_or(1);
    let all = prompts.iter().map(Vec::len).sum();
    let limits = kept_limits(model, space, prompts.len(), all, trained.min(longest.saturating_add(most)))?;
    Ok(Sessions { decode: session(&limits, &[])?, encode: None, prompts })
}
