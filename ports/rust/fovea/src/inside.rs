//! What a model consists of: row spaces, programs, values and operations.
use crate::error::{look, static_text, Error, Result};
use fovea_sys as sys;
use std::ffi::CStr;
use std::os::raw::c_char;
use std::ptr;

/// Element type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Type {
    F32,
    F16,
    Bf16,
    I8,
    I4,
    I32,
    U8,
    /// A type that this version of the crate does not know.
    Other,
}

impl Type {
    pub(crate) fn of(number: u32) -> Type {
        match number {
            sys::FOVEA_TYPE_F32 => Type::F32,
            sys::FOVEA_TYPE_F16 => Type::F16,
            sys::FOVEA_TYPE_BF16 => Type::Bf16,
            sys::FOVEA_TYPE_I8 => Type::I8,
            sys::FOVEA_TYPE_I4 => Type::I4,
            sys::FOVEA_TYPE_I32 => Type::I32,
            sys::FOVEA_TYPE_U8 => Type::U8,
            _ => Type::Other,
        }
    }
}

/// Whether a value is an input or an output of its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Role {
    Internal,
    Input,
    Output,
}

/// A row space: a ragged batch dimension. Segment i of a space is row i of its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Space {
    /// Its name: `"tokens"`.
    pub name: String,
    /// The parent, by its position; `None`: all rows are one segment.
    pub parent: Option<usize>,
    /// The caller sets its segments.
    pub is_input: bool,
    /// Its rows are a KV cache.
    pub is_cached: bool,
    /// The longest segment that the model supports; `None`: any.
    pub max_segment_rows: Option<u32>,
}

/// A matrix that a program reads, computes or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Value {
    /// Its name: `"logits"`.
    pub name: String,
    /// Its space, by its position.
    pub space: usize,
    /// Elements of a row.
    pub width: u32,
    /// Element type.
    pub kind: Type,
    /// Input, output or neither.
    pub role: Role,
    /// Ids must be below this; 0: the values are not ids.
    pub id_limit: u32,
    /// An output carries this input's rows to the next run.
    pub is_carried: bool,
}

/// One operation of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// Its name: `"attentions.0"`.
    pub name: String,
    /// What it does: `"linear"`, `"attention"`, ...
    pub op: String,
    /// Heads of an attention; else 0.
    pub heads: u32,
}

/// An entry point of a model. Values and operations are in the order of the blob.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// Its name: `"encode"`.
    pub name: String,
    /// All values.
    pub values: Vec<Value>,
    /// All operations.
    pub operations: Vec<Operation>,
    pub(crate) index: u32,
}

impl Program {
    /// The inputs.
    pub fn inputs(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().filter(|value| value.role == Role::Input)
    }

    /// The outputs.
    pub fn outputs(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().filter(|value| value.role == Role::Output)
    }

    /// Names of the operations whose attention can be kept.
    pub fn attentions(&self) -> impl Iterator<Item = &str> {
        self.operations.iter().filter(|one| one.op == "attention").map(|one| one.name.as_str())
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.values.iter().position(|value| value.name == name)
    }
}

/// Spaces, programs and metadata of a model, read once.
pub(crate) struct Inside {
    pub(crate) spaces: Vec<Space>,
    pub(crate) programs: Vec<Program>,
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) info: sys::fovea_model_info,
}

fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the blob's strings end with a zero, which fovea_model_init has checked.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

impl Inside {
    /// # Safety
    /// `model` is a valid handle.
    pub(crate) unsafe fn of(model: *const sys::fovea_model) -> Result<Inside> {
        let mut info = sys::fovea_model_info::default();
        // SAFETY: here and below: a valid handle, by the caller, and structs with their size.
        look("model", unsafe { sys::fovea_model_get_info(model, &mut info) })?;
        let mut spaces = Vec::new();
        for i in 0..info.space_count {
            let mut space = sys::fovea_space_info::default();
            look("space", unsafe { sys::fovea_model_get_space(model, i, &mut space) })?;
            let longest = space.max_segment_rows;
            spaces.push(Space {
                name: text_of(space.name),
                parent: if space.parent == sys::FOVEA_NONE { None } else { Some(space.parent as usize) },
                is_input: space.is_input != 0,
                is_cached: space.is_cached != 0,
                max_segment_rows: if longest == sys::FOVEA_NONE { None } else { Some(longest) },
            });
        }
        let mut programs = Vec::new();
        for i in 0..info.program_count {
            programs.push(unsafe { program(model, i) }?);
        }
        let mut metadata = Vec::new();
        for i in 0..info.metadata_count {
            let (mut key, mut value) = (ptr::null(), ptr::null());
            look("metadata", unsafe { sys::fovea_model_get_metadata(model, i, &mut key, &mut value) })?;
            metadata.push((text_of(key), text_of(value)));
        }
        Ok(Inside { spaces, programs, metadata, info })
    }

    pub(crate) fn backend(&self) -> &'static str {
        static_text(self.info.backend)
    }
}

unsafe fn program(model: *const sys::fovea_model, index: u32) -> Result<Program> {
    let mut info = sys::fovea_program_info::default();
    // SAFETY: as above, here and below.
    look("program", unsafe { sys::fovea_model_get_program(model, index, &mut info) })?;
    let mut values = Vec::new();
    for i in 0..info.value_count {
        let mut value = sys::fovea_value_info::default();
        look("value", unsafe { sys::fovea_program_get_value(model, index, i, &mut value) })?;
        values.push(Value {
            name: text_of(value.name),
            space: value.space as usize,
            width: value.width,
            kind: Type::of(value.type_),
            role: match value.role {
                sys::FOVEA_ROLE_INPUT => Role::Input,
                sys::FOVEA_ROLE_OUTPUT => Role::Output,
                _ => Role::Internal,
            },
            id_limit: value.id_limit,
            is_carried: value.carried_by != sys::FOVEA_NONE,
        });
    }
    let mut operations = Vec::new();
    for i in 0..info.step_count {
        let mut step = sys::fovea_step_info::default();
        look("operation", unsafe { sys::fovea_program_get_step(model, index, i, &mut step) })?;
        operations.push(Operation { name: text_of(step.name), op: text_of(step.op), heads: step.heads });
    }
    Ok(Program { name: text_of(info.name), values, operations, index })
}

pub(crate) fn no_such(what: &str, name: &str, known: impl Iterator<Item = String>) -> Error {
    let known: Vec<String> = known.collect();
    let listed = if known.is_empty() { "none".into() } else { known.join(", ") };
    Error::new(sys::FOVEA_E_NAME, what, format!("no '{name}'; there are: {listed}"))
}
