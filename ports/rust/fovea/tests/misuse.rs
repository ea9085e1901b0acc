//! What a caller can do wrong: every case is an error of the library or of this crate, or a result, and never a crash.
//! FOVEA_BLOBS is the folder with the blobs that tests/ports/rust.sh converts.
use fovea::{
    sys, AnswerOptions, End, Error, GenerateOptions, Kind, Limit, Model, ModelOptions, RunOptions, SessionOptions, Tap,
    Threads,
};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const TEXTS: [&str; 3] = ["a text editor for programmers", "library for reading png files", "x"];

fn path(name: &str) -> String {
    let folder = std::env::var("FOVEA_BLOBS").expect("FOVEA_BLOBS is not set: run tests/ports/rust.sh");
    format!("{folder}/{name}.fovea")
}

fn open(name: &str) -> Model<'static> {
    Model::open(path(name)).unwrap()
}

fn section() -> Model<'static> {
    open("package-section")
}

fn writer() -> Model<'static> {
    Model::open(path("package-writer")).unwrap()
}

#[track_caller]
fn refused<T>(result: fovea::Result<T>, status: sys::fovea_status, words: &str) -> Error {
    let error = result.err().expect("not refused");
    assert_eq!(error.status(), status, "{error}");
    assert!(error.to_string().contains(words), "{error}");
    assert!(error.to_string().contains(error.name()), "{error}");
    error
}

#[test]
fn blobs_that_are_none() {
    let error = Model::open("/none.fovea").err().unwrap();
    assert_eq!(error.kind(), Kind::File);
    assert!(error.to_string().starts_with("/none.fovea: "), "{error}");
    assert_eq!(Model::open("/a\0b").err().unwrap().kind(), Kind::File);
    assert!([Kind::Blob, Kind::Argument].contains(&Model::of(&[]).err().unwrap().kind()));
    assert_eq!(Model::of(&[7; 4096]).err().unwrap().kind(), Kind::Blob);
    let mut raw = std::fs::read(path("package-section")).unwrap();
    for size in [1, 63, 64, 1000, raw.len() - 1] {
        assert_eq!(Model::of(&raw[..size]).err().unwrap().kind(), Kind::Blob, "{size} bytes");
    }
    let half = raw.len() / 2;
    raw[half] ^= 1;
    refused(Model::of(&raw), sys::FOVEA_E_CHECKSUM, "");
    // A weight that changed is no fault of the structure.
    assert!(ModelOptions { skip_checksum: true, ..Default::default() }.of(&raw).is_ok());
}

#[test]
fn a_borrowed_blob_gives_the_same() {
    let raw = std::fs::read(path("package-section")).unwrap();
    let expected = section().classify(&TEXTS, &Default::default()).unwrap();
    let mut shifted = vec![0; raw.len() + 128];
    let first = shifted.as_ptr().align_offset(64);
    for offset in [0, 1] {
        shifted[first + offset..first + offset + raw.len()].copy_from_slice(&raw);
        let model = Model::of(&shifted[first + offset..first + offset + raw.len()]).unwrap();
        assert_eq!(model.classify(&TEXTS, &Default::default()).unwrap(), expected);
    }
}

#[test]
fn texts_that_are_none() {
    let model = section();
    assert_eq!(model.classify::<&str>(&[], &Default::default()).unwrap(), Vec::<Vec<_>>::new());
    assert!(model.embed::<&str>(&[], &Default::default()).unwrap().is_empty());
    assert!(model.look::<&str>(&[], &Default::default()).is_err());
    refused(writer().generate::<&str>(&[], &Default::default()), sys::FOVEA_E_OPTION, "no text");
    let error = refused(model.classify(&[&b"ab\xffc"[..]], &Default::default()), sys::FOVEA_E_UTF8, "");
    assert_eq!(error.index(), 2);
    // A zero is a character, and an empty text has its special tokens.
    assert_eq!(model.classify(&["", "a\0b"], &Default::default()).unwrap().len(), 2);
    let tokenizer = model.tokenizer().unwrap();
    assert_eq!(tokenizer.encode("\0").unwrap().special.iter().filter(|&&special| special).count(), 2);
    refused(tokenizer.find("no\0piece"), sys::FOVEA_E_NAME, "");
    refused(tokenizer.decode(&[-1]), sys::FOVEA_E_ID, "");
    refused(tokenizer.piece(i32::MAX), sys::FOVEA_E_ID, "");
    let long = tokenizer.encode("word ".repeat(5000)).unwrap();
    let whole = tokenizer.encode_whole("word ".repeat(5000)).unwrap();
    assert_eq!(
        (long.dropped, long.ids.len()),
        (whole.ids.len() - long.ids.len(), tokenizer.max_length().unwrap() as usize)
    );
    assert_eq!(tokenizer.decode(&tokenizer.encode(TEXTS[0]).unwrap().ids).unwrap(), TEXTS[0]);
    assert_eq!(tokenizer.encode("a [SEP] b").unwrap().ids.len(), 5);
    assert!(tokenizer.encode_literal("a [SEP] b").unwrap().ids.len() > 5);
    let model = section();
    let logit = |literal| {
        let options = RunOptions { literal, ..Default::default() };
        model.classify(&["a [SEP] b"], &options).unwrap()[0][0].logit
    };
    assert_ne!(logit(true), logit(false));
    let warned = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (mut model, lines) = (section(), warned.clone());
    model.on_warning(move |line| lines.lock().unwrap().push(line.to_string()));
    model.classify(&["a [MASK] b", "a [SEP] b", "[CLS]"], &Default::default()).unwrap();
    model.classify(&["a [SEP] b"], &RunOptions { literal: true, ..Default::default() }).unwrap();
    let lines = warned.lock().unwrap();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("texts[1] spells special tokens, which are read as such; so do 1 more of 3 texts"));
}

#[test]
fn results_that_a_model_has_not() {
    let (section, question, weights) = (section(), open("question"), open("weights"));
    let plain = RunOptions::default();
    refused(section.answer("a", "b", &Default::default()), sys::FOVEA_E_NAME, "does not answer questions");
    refused(section.word_weights(&["a"], 0, &plain), sys::FOVEA_E_NAME, "not a masked language model");
    refused(question.embed(&["a"], &plain), sys::FOVEA_E_NAME, "use answer");
    let short = RunOptions { max_length: 6, ..Default::default() };
    let options = AnswerOptions { run: short, stride: Some(3), ..Default::default() };
    refused(question.answer("which one", "a b c d e", &options), sys::FOVEA_E_LENGTH, "shorten it");
    let mut seven = AnswerOptions {
        run: RunOptions { max_length: 7, ..Default::default() },
        stride: Some(1),
        ..Default::default()
    };
    question.answer("[SEP] [SEP]", "a b c", &seven).unwrap();
    seven.run.literal = true; // "[", "SEP", "]": no room is left
    refused(question.answer("[SEP] [SEP]", "a b c", &seven), sys::FOVEA_E_LENGTH, "shorten it");
    assert!(question.answer("a", "", &Default::default()).unwrap().is_empty());
    let none = AnswerOptions { allow_none: true, ..Default::default() };
    assert_eq!(question.answer("", "", &none).unwrap()[0].text, "");

    let other = RunOptions { prompt: Some("other"), ..Default::default() };
    refused(weights.embed(&["a"], &other), sys::FOVEA_E_NAME, "document, query");
    let rows = weights.embed(&["a text"], &plain).unwrap();
    let listed = weights.word_weights(&["a text"], 0, &RunOptions { prompt: Some("query"), ..plain.clone() }).unwrap();
    let row = rows.iter().next().unwrap();
    assert_eq!(listed[0].len(), row.iter().filter(|&&weight| weight != 0.0).count());
    assert!(listed[0].iter().all(|one| row[one.id as usize] == one.weight));
    let written = weights.embed(&["find: a text"], &RunOptions { prompt: Some(""), ..plain }).unwrap();
    assert_eq!(written, rows);
}

#[test]
fn names_that_are_none() {
    let model = section();
    let options = |program| RunOptions { program: Some(program), ..Default::default() };
    refused(model.classify(&TEXTS, &options("none\0")), sys::FOVEA_E_NAME, "there are: ");
    refused(
        model.embed(&TEXTS, &RunOptions { prompt: Some("query"), ..Default::default() }),
        sys::FOVEA_E_NAME,
        "prompt",
    );
    let mut session = model.session(&SessionOptions { rows: 32, ..Default::default() }).unwrap();
    refused(session.output::<f32>("nothing"), sys::FOVEA_E_NAME, "logits");
    refused(session.output::<f32>("logits"), sys::FOVEA_E_ORDER, "logits");
    refused(session.run(), sys::FOVEA_E_ORDER, "");
    refused(session.set_segments("none", &[1]), sys::FOVEA_E_NAME, "tokens");
    refused(session.attention_map("attentions.0"), sys::FOVEA_E_NAME, "none");
    refused(session.taps_file().map(drop).and(session.input::<i32>("input_ids").map(drop)), sys::FOVEA_E_ORDER, "");
    let taps = [Tap { heads: &[64], ..Tap::of("attentions.0") }];
    refused(model.session(&SessionOptions { taps: &taps, ..Default::default() }), sys::FOVEA_E_OPTION, "head 64");
    let taps = [Tap::of("attentions.99")];
    refused(model.session(&SessionOptions { taps: &taps, ..Default::default() }), sys::FOVEA_E_NAME, "attentions.0");
}

#[test]
fn limits() {
    let model = section();
    // More than any machine has: refused, and nothing is allocated.
    let huge = |rows, segment_rows| {
        let limits =
            vec![Limit { space: "tokens", rows, segment_rows }, Limit { space: "texts", rows, segment_rows: 0 }];
        model.session(&SessionOptions { limits, ..Default::default() })
    };
    for rows in [u32::MAX, 1 << 31, (1 << 31) - 1] {
        let error = huge(rows, 0).err().expect("not refused");
        assert!([Kind::Memory, Kind::Argument, Kind::Limit].contains(&error.kind()), "{error}");
    }
    assert!(huge(0, 0).is_err());
    assert!(model.session(&SessionOptions { rows: u64::MAX, ..Default::default() }).is_err());
    let mut session = huge(8, 4).unwrap();
    refused(session.set_segments("tokens", &[3, 3, 3]), sys::FOVEA_E_ROWS, "expected 8, found 9");
    refused(session.set_segments("tokens", &[5]), sys::FOVEA_E_LENGTH, "");
    refused(session.set_segments("tokens", &[1; 9]), sys::FOVEA_E_SEGMENTS, "expected 8, found 9");
    session.set_segments("tokens", &[2, 0, 1]).unwrap();
    assert_eq!(session.segments("tokens").unwrap(), [0, 2, 2, 3]);
    refused(session.input::<f32>("input_ids"), sys::FOVEA_E_OPTION, "I32");
    session.input::<i32>("input_ids").unwrap().copy_from_slice(&[1, i32::MAX, 2]);
    let error = refused(session.run(), sys::FOVEA_E_ID, "");
    assert_eq!((error.index(), error.value()), (1, Some(0)));
    session.input::<i32>("input_ids").unwrap().fill(1);
    session.run().unwrap();
    let logits = session.output::<f32>("logits").unwrap();
    assert_eq!((logits.rows(), logits.row(3).len()), (3, 0));
    assert!(logits.iter().flatten().all(|logit| logit.is_finite()));
    for count in [0, 65, u32::MAX] {
        refused(Threads::new(count).map(drop), sys::FOVEA_E_OPTION, "64");
    }
    let most = RunOptions { max_length: u32::MAX, ..Default::default() };
    assert_eq!(model.classify(&TEXTS, &most).unwrap(), model.classify(&TEXTS, &Default::default()).unwrap());
    assert!(model.classify(&TEXTS, &RunOptions { max_length: 1, ..Default::default() }).is_err());
}

#[test]
fn many_threads_use_one_model() {
    let (model, threads) = (section(), Threads::new(3).unwrap());
    let expected = model.classify(&TEXTS, &Default::default()).unwrap();
    thread::scope(|scope| {
        for i in 0..4 {
            let shared = RunOptions { threads: Some(&threads).filter(|_| i % 2 == 0), ..Default::default() };
            let (model, expected) = (&model, &expected);
            scope.spawn(move || (0..8).for_each(|_| assert_eq!(&model.classify(&TEXTS, &shared).unwrap(), expected)));
        }
    });
    // A session moves between threads, and outlives every other owner of its threads.
    let mut session =
        model.session(&SessionOptions { rows: 64, threads: Some(threads.clone()), ..Default::default() }).unwrap();
    drop(threads);
    thread::scope(|scope| {
        let moved = scope.spawn(move || {
            session.set_segments("tokens", &[40]).unwrap();
            session.run().map(|()| session)
        });
        moved.join().unwrap().unwrap().run().unwrap();
    });
}

#[test]
fn cancelled() {
    let model = section();
    let limits = vec![Limit { space: "texts", rows: 8, segment_rows: 0 }];
    let mut session = model.session(&SessionOptions { rows: 1024, limits, ..Default::default() }).unwrap();
    session.set_segments("tokens", &[128; 8]).unwrap();
    let canceller = session.canceller();
    canceller.cancel();
    assert_eq!(refused(session.run(), sys::FOVEA_E_CANCELLED, "").kind(), Kind::Cancelled);
    session.run().unwrap();
    canceller.cancel();
    session.clear_cancel();
    session.run().unwrap();
    let other = thread::spawn({
        let canceller = canceller.clone();
        move || {
            thread::sleep(Duration::from_millis(20));
            canceller.cancel();
        }
    });
    let error = loop {
        if let Err(error) = session.run() {
            break error;
        }
    };
    assert_eq!(error.kind(), Kind::Cancelled);
    other.join().unwrap();
    drop(session);
    canceller.cancel(); // of a session that is gone: nothing
}

#[test]
fn generations() {
    let model = writer();
    let options = GenerateOptions { max_tokens: 12, ..Default::default() };
    let prompts = ["libs / libpng-tools\n", "editors / vim\n"];
    let alone: Vec<_> =
        prompts.iter().map(|prompt| model.generate(&[prompt], &options).unwrap().finish().unwrap().remove(0)).collect();
    assert_eq!(model.generate(&prompts, &options).unwrap().finish().unwrap(), alone);

    // A cancelled step is repeated, with the same result.
    let mut generation = model.generate(&prompts, &options).unwrap();
    let canceller = generation.canceller();
    let mut cancelled = 0;
    for i in 0.. {
        if i % 3 == 0 {
            canceller.cancel();
        }
        match generation.next() {
            None => break,
            Some(Err(error)) => {
                assert_eq!(error.kind(), Kind::Cancelled);
                cancelled += 1;
            }
            Some(Ok(step)) => assert_eq!(step.tokens.len(), 2),
        }
    }
    assert!(cancelled > 3);
    assert_eq!(generation.texts().collect::<Vec<_>>(), alone);
    assert!(generation.ends().all(|end| matches!(end, Some(End::MaxTokens | End::StopToken))));
    assert!(generation.next().is_none());

    // The closure breaks off, and the generation can continue.
    let mut generation = model.generate(&prompts[..1], &options).unwrap();
    generation.stream(|_, _| ControlFlow::Break(())).unwrap();
    assert!(generation.texts().next().unwrap().len() < alone[0].len());
    generation.stream(|_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!(generation.texts().next().unwrap(), alone[0]);

    // Stop strings: across tokens, of one text of two, empty.
    let stop = GenerateOptions { stop: &[&alone[0][3..9]], ..options.clone() };
    let mut generation = model.generate(&prompts, &stop).unwrap();
    generation.stream(|_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!(generation.texts().collect::<Vec<_>>(), [&alone[0][..3], &alone[1]]);
    assert_eq!(generation.ends().next(), Some(Some(End::StopString)));
    refused(model.generate(&prompts, &GenerateOptions { stop: &[""], ..options.clone() }), sys::FOVEA_E_LENGTH, "");
    refused(
        model.generate(&prompts, &GenerateOptions { stop: &["x"; 257], ..options.clone() }),
        sys::FOVEA_E_OPTION,
        "",
    );

    refused(
        model.generate(&prompts, &GenerateOptions { stop_ids: Some(&[-5]), ..options.clone() }),
        sys::FOVEA_E_ID,
        "",
    );
    let sampling = fovea::Sampling { temperature: f32::NAN, ..Default::default() };
    refused(model.generate(&prompts, &GenerateOptions { sampling, ..options.clone() }), sys::FOVEA_E_OPTION, "");
    refused(model.generate(&["word ".repeat(5000)], &options), sys::FOVEA_E_LENGTH, "give a shorter one");
    refused(section().generate(&prompts, &options), sys::FOVEA_E_NAME, "generates no text");
    // The room of the model ends a text, and that can be seen.
    let most = GenerateOptions { max_tokens: u32::MAX, stop_ids: Some(&[]), ..Default::default() };
    let (warned, mut model) = (Arc::new(Mutex::new(Vec::new())), writer());
    let to = warned.clone();
    model.on_warning(move |text| to.lock().unwrap().push(text.to_string()));
    let mut generation = model.generate(&prompts[..1], &most).unwrap();
    generation.stream(|_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!(generation.ends().next(), Some(Some(End::Room)));
    assert!(warned.lock().unwrap()[0].contains("texts[0] ends for lack of room after"));
    let sampling = fovea::Sampling { top_k: 3, seed: 7, ..Default::default() };
    model.generate(&prompts[..1], &GenerateOptions { sampling, ..options.clone() }).unwrap();
    assert!(warned.lock().unwrap()[1].ends_with("the best token is taken; ignored: top_k, seed"));
    let (warned, mut model) = (Arc::new(Mutex::new(Vec::new())), section());
    let to = warned.clone();
    model.on_warning(move |text| to.lock().unwrap().push(text.to_string()));
    let long = "word ".repeat(5000);
    model.classify(&["a", &long, &long], &RunOptions::default()).unwrap();
    let lines = warned.lock().unwrap();
    assert!(lines.len() == 1 && lines[0].contains("texts[1] is longer than the model reads"), "{lines:?}");
    assert!(lines[0].ends_with("tokens; so are 1 more of 3 texts"), "{lines:?}");
}
