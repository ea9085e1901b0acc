//! Errors of the library and of this crate.
use fovea_sys as sys;
use std::borrow::Cow;
use std::ffi::CStr;
use std::fmt;
use std::os::raw::c_char;

/// A code of the C library: `fovea_sys::FOVEA_E_...`.
pub type Status = sys::fovea_status;

/// The result of calls that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The class of an error: how to react to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The call is wrong: correct the program.
    Argument,
    /// The call came at the wrong time.
    Order,
    /// The blob is damaged.
    Blob,
    /// The blob or request needs a newer or differently configured library.
    Unsupported,
    /// There is not enough memory.
    Memory,
    /// The input is larger than the limits of the session or the model.
    Limit,
    /// A value in the input is out of range.
    Input,
    /// The run was cancelled.
    Cancelled,
    /// A fault of the library: please report it.
    Internal,
    /// A file cannot be read.
    File,
}

/// What failed, where and why.
pub struct Error {
    status: Status,
    doing: String,
    text: Cow<'static, str>,
    /// `expected`, `found` and `index` of `fovea_error`.
    numbers: [u64; 3],
    value: u32,
    file: Option<std::io::Error>,
}

impl Error {
    pub(crate) fn new(status: Status, doing: impl Into<String>, text: impl Into<Cow<'static, str>>) -> Self {
        Error { status, doing: doing.into(), text: text.into(), numbers: [0; 3], value: sys::FOVEA_NOWHERE, file: None }
    }

    pub(crate) fn of_file(name: String, error: std::io::Error) -> Self {
        Error { file: Some(error), ..Error::new(sys::FOVEA_E_BLOB, name, "the file cannot be read") }
    }

    pub(crate) fn with_numbers(mut self, expected: u64, found: u64) -> Self {
        self.numbers = [expected, found, 0];
        self
    }

    /// The library's code, with its detail.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The name of the code: `"FOVEA_E_ID"`.
    pub fn name(&self) -> &'static str {
        // SAFETY: a static string for any number.
        static_text(unsafe { sys::fovea_status_name(self.status) })
    }

    /// The class of the error.
    pub fn kind(&self) -> Kind {
        if self.file.is_some() {
            return Kind::File;
        }
        match self.status & 0xff {
            sys::FOVEA_E_ARGUMENT => Kind::Argument,
            sys::FOVEA_E_ORDER => Kind::Order,
            sys::FOVEA_E_BLOB => Kind::Blob,
            sys::FOVEA_E_UNSUPPORTED => Kind::Unsupported,
            sys::FOVEA_E_MEMORY => Kind::Memory,
            sys::FOVEA_E_LIMIT => Kind::Limit,
            sys::FOVEA_E_INPUT => Kind::Input,
            sys::FOVEA_E_CANCELLED => Kind::Cancelled,
            _ => Kind::Internal,
        }
    }

    /// The required number: bytes, count or upper bound.
    pub fn expected(&self) -> u64 {
        self.numbers[0]
    }

    /// The number given instead.
    pub fn found(&self) -> u64 {
        self.numbers[1]
    }

    /// Position of the fault in an array or text, as `fovea/status.h` specifies.
    pub fn index(&self) -> u64 {
        self.numbers[2]
    }

    /// The tensor or value concerned, by its position.
    pub fn value(&self) -> Option<usize> {
        usize::try_from(self.value).ok().filter(|_| self.value != sys::FOVEA_NOWHERE)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.doing.is_empty() {
            write!(to, "{}: ", self.doing)?;
        }
        if let Some(file) = &self.file {
            return write!(to, "{file}");
        }
        write!(to, "{}", self.text)?;
        if self.numbers[0] != 0 || self.numbers[1] != 0 {
            write!(to, ", expected {}, found {}", self.numbers[0], self.numbers[1])?;
        }
        write!(to, " ({})", self.name())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{self}")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.file.as_ref().map(|error| error as _)
    }
}

/// A static string of the library.
pub(crate) fn static_text(text: *const c_char) -> &'static str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the library's texts are static and end with a zero.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
}

/// Calls a function that gets an error record.
pub(crate) fn call(doing: &str, function: impl FnOnce(*mut sys::fovea_error) -> Status) -> Result<()> {
    let mut error = sys::fovea_error::default();
    let status = function(&mut error);
    if status == sys::FOVEA_OK {
        return Ok(());
    }
    let text = static_text(error.text);
    Err(Error {
        status,
        doing: doing.into(),
        text: if text.is_empty() { "failed".into() } else { text.into() },
        numbers: [error.expected, error.found, error.index],
        value: error.tensor,
        file: None,
    })
}

/// Calls a function without an error record.
pub(crate) fn look(doing: &str, status: Status) -> Result<()> {
    if status == sys::FOVEA_OK {
        return Ok(());
    }
    Err(Error::new(status, doing, "failed"))
}

/// A length as the library's u32.
pub(crate) fn count(length: usize, what: &str) -> Result<u32> {
    u32::try_from(length).map_err(|_| Error::new(sys::FOVEA_E_LENGTH, what, "there are too many"))
}
