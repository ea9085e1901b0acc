//! A blob's model.
use crate::error::{call, static_text, Error, Result};
use crate::inside::{no_such, Inside, Program, Space};
use crate::memory::{Block, ALIGNMENT};
use crate::session::{Session, SessionOptions};
use crate::text::Tokenizer;
use crate::warn::Warnings;
use fovea_sys as sys;
use std::path::Path;
use std::ptr;

/// Backend of matrix products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Backend {
    /// XNNPACK where it is built in and able, else Highway.
    #[default]
    Default,
    /// Weights are used in place from the blob.
    Highway,
    Xnnpack,
}

/// How a model is opened.
#[derive(Debug, Clone, Default)]
pub struct ModelOptions {
    /// Backend of matrix products.
    pub backend: Backend,
    /// Does not read the whole blob to verify its checksum; its structure is always checked.
    pub skip_checksum: bool,
}

enum Blob<'b> {
    Owned(Block),
    Borrowed(&'b [u8]),
}

impl Blob<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Blob::Owned(block) => block.bytes(),
            Blob::Borrowed(bytes) => bytes,
        }
    }
}

/// A model, ready to run. `'b` is the lifetime of a borrowed blob; a model that was opened by its path owns it.
pub struct Model<'b> {
    handle: *const sys::fovea_model,
    _memory: Block,
    _blob: Blob<'b>,
    pub(crate) inside: Inside,
    pub(crate) warnings: Warnings,
    name: String,
}

// SAFETY: a model is immutable once it is made, and any number of threads may use it (fovea/model.h).
unsafe impl Send for Model<'_> {}
// SAFETY: as above.
unsafe impl Sync for Model<'_> {}

impl ModelOptions {
    /// Reads a file into memory and checks it.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Model<'static>> {
        let path = path.as_ref();
        let name = path.display().to_string();
        Model::make(Blob::Owned(file(path, &name)?), name, self)
    }

    /// Uses the bytes of a blob: in place if their alignment is 64 (a mapped file, flash), else a copy of them.
    pub fn of<'b>(&self, blob: &'b [u8]) -> Result<Model<'b>> {
        let in_place = blob.as_ptr() as usize % ALIGNMENT == 0;
        let blob = if in_place { Blob::Borrowed(blob) } else { Blob::Owned(Block::of(blob)?) };
        Model::make(blob, "the blob".into(), self)
    }
}

/// The bytes of a file, aligned.
fn file(path: &Path, name: &str) -> Result<Block> {
    use std::io::Read;
    let failed = |error| Error::of_file(name.to_string(), error);
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut block = Block::new(size)?;
    file.read_exact(block.bytes_mut()).map_err(failed)?;
    Ok(block)
}

impl Model<'static> {
    /// Reads a file into memory and checks it.
    pub fn open(path: impl AsRef<Path>) -> Result<Model<'static>> {
        ModelOptions::default().open(path)
    }
}

impl<'b> Model<'b> {
    /// Uses the bytes of a blob: in place if their alignment is 64, else a copy of them.
    pub fn of(blob: &'b [u8]) -> Result<Model<'b>> {
        ModelOptions::default().of(blob)
    }

    fn make(blob: Blob<'b>, name: String, options: &ModelOptions) -> Result<Model<'b>> {
        checked_version()?;
        let given = sys::fovea_model_options {
            backend: match options.backend {
                Backend::Default => sys::FOVEA_BACKEND_DEFAULT,
                Backend::Highway => sys::FOVEA_BACKEND_HIGHWAY,
                Backend::Xnnpack => sys::FOVEA_BACKEND_XNNPACK,
            },
            skip_checksum: options.skip_checksum.into(),
            ..Default::default()
        };
        let bytes = blob.bytes();
        let (at, size) = (bytes.as_ptr().cast(), bytes.len() as u64);
        let mut needed = 0;
        // SAFETY: the blob's bytes, the options and the result are valid during the call.
        call(&name, |error| unsafe { sys::fovea_model_size(at, size, &given, &mut needed, error) })?;
        let memory = Block::new(needed)?;
        let mut handle = ptr::null_mut();
        // SAFETY: as above; the model's memory and the blob are kept with the handle, and neither moves nor changes.
        call(&name, |error| unsafe {
            sys::fovea_model_init(at, size, &given, memory.address(), needed, &mut handle, error)
        })?;
        // SAFETY: a valid handle.
        let inside = unsafe { Inside::of(handle) }?;
        Ok(Model { handle, _memory: memory, _blob: blob, inside, warnings: Warnings::default(), name })
    }

    pub(crate) fn handle(&self) -> *const sys::fovea_model {
        self.handle
    }

    /// The file's path, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Backend of matrix products: `"xnnpack"` or `"highway"`.
    pub fn backend(&self) -> &'static str {
        self.inside.backend()
    }

    /// Metadata by its key.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.inside.metadata.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// All metadata, in the order of the blob.
    pub fn all_metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        self.inside.metadata.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The name of a class; `"class N"` if the blob has none.
    pub fn label(&self, index: usize) -> String {
        self.metadata(&format!("label.{index}")).map_or_else(|| format!("class {index}"), String::from)
    }

    /// Row spaces, in the order of the blob.
    pub fn spaces(&self) -> &[Space] {
        &self.inside.spaces
    }

    /// Programs, in the order of the blob.
    pub fn programs(&self) -> &[Program] {
        &self.inside.programs
    }

    /// A program by its name; `None`: the first.
    pub fn program(&self, name: Option<&str>) -> Result<&Program> {
        let found = match name {
            None => self.programs().first(),
            Some(name) => self.programs().iter().find(|program| program.name == name),
        };
        let known = || self.programs().iter().map(|program| program.name.clone());
        found.ok_or_else(|| no_such(&format!("{}: program", self.name), name.unwrap_or("first"), known()))
    }

    /// The position of a value, by its name or the name in metadata `alias.NAME`.
    pub(crate) fn value(&self, program: &Program, name: &str) -> Result<usize> {
        let alias = || self.metadata(&format!("alias.{name}")).and_then(|known| program.position(known));
        program.position(name).or_else(alias).ok_or_else(|| {
            let known = program.inputs().chain(program.outputs()).map(|value| value.name.clone());
            no_such(&format!("{}: value of program '{}'", self.name, program.name), name, known)
        })
    }

    /// The position of an attention operation, found in the same way.
    pub(crate) fn attention(&self, program: &Program, name: &str) -> Result<usize> {
        let find = |name: &str| program.operations.iter().position(|one| one.op == "attention" && one.name == name);
        let alias = || self.metadata(&format!("alias.{name}")).and_then(find);
        find(name).or_else(alias).ok_or_else(|| {
            let known = program.attentions().map(String::from);
            no_such(&format!("{}: attention of program '{}'", self.name, program.name), name, known)
        })
    }

    pub(crate) fn space(&self, name: &str) -> Result<usize> {
        self.spaces().iter().position(|space| space.name == name).ok_or_else(|| {
            no_such(&format!("{}: space", self.name), name, self.spaces().iter().map(|space| space.name.clone()))
        })
    }

    /// The blob's tokenizer; an error if it has none.
    pub fn tokenizer(&self) -> Result<Tokenizer<'_>> {
        Tokenizer::new(self)
    }

    /// A session: a program with memory for a limited number of rows.
    pub fn session<'m>(&'m self, options: &SessionOptions<'_>) -> Result<Session<'m>> {
        Session::new(self, options, &[])
    }
}

/// Refuses a library whose structs differ from the declarations.
fn checked_version() -> Result<()> {
    // SAFETY: a static string.
    let version = static_text(unsafe { sys::fovea_version() });
    let declared = format!("{}.{}.", sys::FOVEA_VERSION_MAJOR, sys::FOVEA_VERSION_MINOR);
    if version.starts_with(&declared) {
        return Ok(());
    }
    let text = format!("the library found is {version}, this crate is for {declared}x");
    Err(Error::new(sys::FOVEA_E_BUILD, "fovea", text))
}
