//! The jobs of the ports: classify, embed, generate, look, answer and weigh words. Writes their results as JSON, which
//! tests/ports/jobs.py compares with those of the command.
//!
//!   jobs FOLDER TEXT...
//! FOLDER has the blobs that the tests convert.
use fovea::{AnswerOptions, GenerateOptions, Generation, LookOptions, Model, RunOptions, Threads};
use std::fmt::Write as _;
use std::ops::ControlFlow;

type Failure = Box<dyn std::error::Error>;

fn json(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\0'..='\x1f' => write!(quoted, "\\u{:04x}", character as u32).unwrap_or_default(),
            _ => quoted.push(character),
        }
    }
    quoted + "\""
}

fn list<T>(items: impl IntoIterator<Item = T>, show: impl Fn(T) -> String) -> String {
    format!("[{}]", items.into_iter().map(show).collect::<Vec<_>>().join(","))
}

fn numbers<T: std::fmt::Debug>(items: impl IntoIterator<Item = T>) -> String {
    list(items, |number| format!("{number:?}"))
}

fn classes(model: &Model<'_>, texts: &[String], options: &RunOptions<'_>) -> Result<String, Failure> {
    let show = |class: fovea::Class| {
        let probability = class.probability.map_or("null".into(), |share| format!("{share:?}"));
        format!(r#"{{"label":{},"probability":{probability},"logit":{:?}}}"#, json(&class.label), class.logit)
    };
    Ok(list(model.classify(texts, options)?, |classes| list(classes, show)))
}

fn written(mut generation: Generation<'_>) -> Result<String, Failure> {
    let mut parts = String::new();
    generation.stream(|_, part| {
        parts.push_str(part);
        ControlFlow::Continue(())
    })?;
    let text = generation.texts().next().unwrap_or_default();
    if text != parts {
        return Err(format!("parts '{parts}' are not the text '{text}'").into());
    }
    Ok(json(&parts))
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: jobs FOLDER TEXT...")?;
    let texts: Vec<String> = arguments.collect();
    let open = |name: &str| Model::open(format!("{folder}/{name}.fovea"));
    let threads = Threads::new(2)?;
    let run = RunOptions { threads: Some(&threads), ..Default::default() };
    let mut results = Vec::new();

    // Classify, at once and sentence by sentence.
    let (section, documents) = (open("package-section")?, open("package-section-hierarchical")?);
    results.push(("classify", classes(&section, &texts, &run)?));
    results.push(("documents", classes(&documents, &texts, &run)?));
    let tokenizer = section.tokenizer()?;
    let ids = texts.iter().map(|text| Ok(tokenizer.encode(text)?.ids)).collect::<fovea::Result<Vec<_>>>()?;
    results.push(("tokens", list(&ids, numbers)));

    // Embed: the model's pooled output, and the mean of a decoder's hidden states.
    for (job, name) in [("pooled", "package-section-encoder"), ("means", "package-writer-encoder")] {
        results.push((job, list(open(name)?.embed(&texts, &run)?.iter(), numbers)));
    }

    // Generate: a decoder continues a text, greedily, by sampling and up to a stop string; another model translates.
    let writer = open("package-writer")?;
    let greedy = GenerateOptions { max_tokens: 24, threads: Some(&threads), ..Default::default() };
    let sampling = fovea::Sampling { temperature: 0.8, top_k: 20, seed: 7, ..Default::default() };
    let stop = GenerateOptions { stop: &["is a lib", "nowhere"], ..greedy.clone() };
    let cases = [("greedy", greedy.clone()), ("sampled", GenerateOptions { sampling, ..greedy }), ("stopped", stop)];
    for (job, options) in &cases {
        results.push((job, written(writer.generate(&["libs / libpng-tools\n"], options)?)?));
    }
    let dates = open("date-normaliser")?;
    let wanted = ["3rd of March 2014", "Tuesday, 5 May 1998", "1/2/2003"];
    results.push(("dates", list(dates.generate(&wanted, &Default::default())?.finish()?, |text| json(&text))));

    // Look: all attention of a batch of texts, dense and sparse.
    for (job, form) in [("look", fovea::Form::Dense), ("look_sparse", fovea::Form::Sparse)] {
        let look = section.look(&texts, &LookOptions { form, run: run.clone(), ..Default::default() })?;
        let segment = |map: &fovea::AttentionMap, text| {
            list(0..map.heads(), |head| list(map.segment(text, head).unwrap_or_default(), numbers))
        };
        let maps = list(&look.maps, |map| {
            let segments = list(0..map.segments(), |text| segment(map, text));
            format!(r#"{{"operation":{},"segments":{segments}}}"#, json(map.operation()))
        });
        results.push((job, maps));
        std::fs::write(format!("{folder}/{job}.safetensors"), &look.file)?;
    }

    // Answer a question in a context, at once and in parts; weigh the vocabulary, with the default prompt and another.
    let context = "A library to read compressed audio files. \u{c4}ltere und neuere Formate: it supports FLAC, Ogg Vorbis \
                   and \u{4e2d}\u{6587} tags; a text editor for programmers is not part of it, nor are games, fonts or a \
                   web server.";
    let short = AnswerOptions { run: run.clone(), top: 4, allow_none: true, ..Default::default() };
    let parts = RunOptions { max_length: 30, ..run.clone() };
    let long = AnswerOptions { run: parts, stride: Some(8), max_tokens: 5, ..short.clone() };
    let question = open("question")?;
    for (job, options) in [("answers", short), ("long_answers", long)] {
        let show = |one: fovea::Answer| {
            let (text, score, begin, end) = (json(&one.text), one.score, one.begin, one.end);
            format!(r#"{{"text":{text},"score":{score:?},"begin":{begin},"end":{end}}}"#)
        };
        results.push((job, list(question.answer("Which formats?", context, &options)?, show)));
    }
    let words = open("weights")?;
    for (job, prompt) in [("weights", None), ("document_weights", Some("document"))] {
        let show = |one: fovea::Weight| {
            format!(r#"{{"token":{},"id":{},"weight":{:?}}}"#, json(&one.token), one.id, one.weight)
        };
        let found = words.word_weights(&texts, 6, &RunOptions { prompt, ..run.clone() })?;
        results.push((job, list(found, |weights| list(weights, show))));
    }
    let lines: Vec<_> = results.iter().map(|(job, result)| format!("{}:{result}", json(job))).collect();
    println!("{{{}}}", lines.join(",\n"));
    Ok(())
}
