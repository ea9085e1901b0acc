//! Lines about what a call leaves out, ignores or chooses for its caller.
use crate::generate::Sampling;
use crate::model::Model;
use crate::text::Encoding;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Mutex;

type Receiver = Box<dyn Fn(&str) + Send + Sync>;

/// Where the warnings of a model go.
#[derive(Default)]
pub(crate) struct Warnings {
    receiver: Option<Receiver>,
    announced: Mutex<BTreeSet<String>>,
}

impl Model<'_> {
    /// Passes warnings to this function instead of the standard error: texts that are truncated, spell special
    /// tokens or end for lack of room, options without effect, and choices made for the caller.
    pub fn on_warning(&mut self, receiver: impl Fn(&str) + Send + Sync + 'static) {
        self.warnings.receiver = Some(Box::new(receiver));
    }

    pub(crate) fn warn(&self, text: &str) {
        let line = format!("{}: {text}", self.name());
        match &self.warnings.receiver {
            Some(receiver) => receiver(&line),
            // A standard error that cannot be written to is no reason to fail.
            None => drop(writeln!(std::io::stderr(), "fovea: {line}")),
        }
    }

    /// Warns of a default, once for each model.
    pub(crate) fn announce(&self, text: &str) {
        let is_new = self.warnings.announced.lock().map_or(true, |mut known| known.insert(text.to_string()));
        if is_new {
            self.warn(text);
        }
    }

    pub(crate) fn warn_truncated(&self, encodings: &[Encoding]) {
        let is_cut = |one: &Encoding| one.dropped > 0 || one.dropped_sentences > 0;
        let mut cut = encodings.iter().enumerate().filter(|(_, one)| is_cut(one));
        let (index, first) = match cut.next() {
            Some(found) => found,
            None => return,
        };
        let sentences = match first.dropped_sentences {
            0 => String::new(),
            count => format!("{count} sentences and "),
        };
        let more = match cut.count() {
            0 => String::new(),
            count => format!("; so are {count} more of {} texts", encodings.len()),
        };
        let tokens = first.dropped;
        self.warn(&format!(
            "texts[{index}] is longer than the model reads: left out are {sentences}{tokens} tokens{more}"
        ));
    }

    /// Warns of texts that spell special tokens.
    pub(crate) fn warn_spelled(&self, encodings: &[Encoding]) {
        let mut found = encodings.iter().enumerate().filter(|(_, one)| one.spelled > 0);
        if let Some((index, _)) = found.next() {
            let more = match found.count() {
                0 => String::new(),
                count => format!("; so do {count} more of {} texts", encodings.len()),
            };
            self.warn(&format!(
                "texts[{index}] spells special tokens, which are read as such{more}; `literal` reads them as text"
            ));
        }
    }

    /// Warns of options about tokens that are drawn, where none is.
    pub(crate) fn warn_idle(&self, sampling: &Sampling) {
        let given = [
            ("top_k", sampling.top_k != 0),
            ("top_p", sampling.top_p != 0.0),
            ("min_p", sampling.min_p != 0.0),
            ("seed", sampling.seed != 0),
        ];
        let idle: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
        if sampling.temperature == 0.0 && !idle.is_empty() {
            let names = idle.join(", ");
            self.warn(&format!("without a temperature above 0 the best token is taken; ignored: {names}"));
        }
    }
}
