//! Structs of the C interface. Written by declarations.py from the headers; do not edit.

use crate::fovea_status;
use core::ffi::c_void;
use std::os::raw::c_char;

pub type fovea_allow_tokens = Option<unsafe extern "C" fn(
    context: *mut c_void, text: u32, step: u32, tokens: u32, words: *mut u32,
)>;
pub type fovea_allow_scored = Option<unsafe extern "C" fn(
    context: *mut c_void, text: u32, step: u32, tokens: u32, scores: *const f32, words: *mut u32,
)>;
pub type fovea_memory = Option<unsafe extern "C" fn(context: *mut c_void, size: u64, block: u32) -> *mut c_void>;
pub type fovea_need = Option<unsafe extern "C" fn(
    context: *mut c_void, kind: *const c_char, name: *const c_char, count: u32,
)>;
pub type fovea_task = Option<unsafe extern "C" fn(task_context: *mut c_void, worker: u32)>;
pub type fovea_runner = Option<unsafe extern "C" fn(
    context: *mut c_void, workers: u32, task: fovea_task, task_context: *mut c_void,
)>;
pub type fovea_barrier = Option<unsafe extern "C" fn(context: *mut c_void, workers: u32)>;

#[repr(C)]
#[derive(Debug)]
pub struct fovea_generator { _unused: [u8; 0] }

#[repr(C)]
#[derive(Debug)]
pub struct fovea_model { _unused: [u8; 0] }

#[repr(C)]
#[derive(Debug)]
pub struct fovea_session { _unused: [u8; 0] }

#[repr(C)]
#[derive(Debug)]
pub struct fovea_stop { _unused: [u8; 0] }

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_rows {
    pub data: *const c_void, pub rows: u32, pub type_: u32, pub row_stride: usize, pub head_stride: usize,
    pub segment_stride: usize, pub scales: *const f32, pub scale_row_stride: usize, pub scale_head_stride: usize,
    pub scale_segment_stride: usize,
}
zeroed!(fovea_attention_rows);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_out {
    pub data: *mut f32, pub rows: u32, pub row_stride: usize, pub head_stride: usize, pub segment_stride: usize,
}
zeroed!(fovea_attention_out);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_pattern {
    pub struct_size: usize, pub causal: u32, pub window: u32, pub left: u32, pub right: u32, pub dilation: u32,
    pub block: u32, pub head_windows: *const i32, pub full_up_to: u32, pub top_k: u32, pub global_first: u32,
    pub global_last: u32, pub global_key_count: u32, pub global_keys: *const u32, pub global_key_offsets: *const u32,
    pub layout: *const i32, pub layout_heads: u32, pub layout_rows: u32, pub layout_columns: u32, pub rounds: u32,
    pub chunk: u32, pub chunks_before: u32, pub chunks_after: u32, pub chunk_multiple: u32, pub order: *const i32,
    pub rank: *const i32, pub cluster_stride: usize, pub centers: u32, pub center_values: *const f32,
    pub center_stride: usize,
}
sized!(fovea_attention_pattern);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_pairs_bias {
    pub data: *const c_void, pub type_: u32, pub keys: u32, pub row_stride: usize, pub head_stride: usize,
    pub segment_stride: usize,
}
zeroed!(fovea_attention_pairs_bias);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_score {
    pub struct_size: usize, pub kind: u32, pub scale: f32, pub cap: f32, pub products: u32, pub additive: *const f32,
    pub key_bias: *const f32, pub key_bias_row_stride: usize, pub key_bias_head_stride: usize,
    pub key_bias_segment_stride: usize, pub key_bias_heads: u32, pub max_distance: u32, pub distance_bias: *const f32,
    pub relative_keys: *const f32, pub relative_queries: *const f32, pub buckets: *const i32, pub bucket_count: u32,
    pub has_self_score: u32, pub self_score: f32, pub pair_bias: fovea_attention_pairs_bias, pub slopes: *const f32,
}
sized!(fovea_attention_score);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_weighting { pub struct_size: usize, pub kind: u32, pub gaussian: u32, pub sinks: *const f32 }
sized!(fovea_attention_weighting);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_positions {
    pub struct_size: usize, pub origin: u32, pub starts: *const u32, pub query_stride: u32, pub apart: u32,
    pub coordinates: *const i32, pub coordinate_sets: u32, pub coordinate_positions: u32, pub axes: u32,
    pub row_coordinates: *const f32,
}
sized!(fovea_attention_positions);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_summaries {
    pub struct_size: usize, pub group: u32, pub k: *const fovea_attention_rows, pub v: *const fovea_attention_rows,
    pub offsets: *const u32, pub bias: *const f32, pub max_distance: u32,
}
sized!(fovea_attention_summaries);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_kept {
    pub struct_size: usize, pub what: u32, pub stride: u32, pub values: *mut f32, pub keys: *mut u32,
    pub counts: *mut u32,
}
sized!(fovea_attention_kept);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_options {
    pub struct_size: usize, pub heads: u32, pub kv_heads: u32, pub d_k: u32, pub d_v: u32, pub pairing: u32,
    pub segment_count: u32, pub query_offsets: *const u32, pub key_offsets: *const u32,
    pub pattern: *const fovea_attention_pattern, pub score: *const fovea_attention_score,
    pub weighting: *const fovea_attention_weighting, pub positions: *const fovea_attention_positions,
    pub kept: *const fovea_attention_kept, pub workers: u32, pub tile_rows: u32, pub runner: fovea_runner,
    pub runner_context: *mut c_void, pub summaries: *const fovea_attention_summaries,
}
sized!(fovea_attention_options);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_cache_info {
    pub struct_size: usize, pub texts: u32, pub max_rows: u32, pub page_rows: u32, pub unused_rows: u32, pub bytes: u64,
    pub row_bytes: u64,
}
sized!(fovea_cache_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_sampling {
    pub struct_size: usize, pub temperature: f32, pub top_k: u32, pub top_p: f32, pub min_p: f32,
    pub repetition_penalty: f32, pub presence_penalty: f32, pub logprobs: u32, pub top_logprobs: u32, pub seed: u64,
    pub allow: fovea_allow_tokens, pub allow_context: *mut c_void, pub allow_scored: fovea_allow_scored,
}
sized!(fovea_sampling);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_beams { pub struct_size: usize, pub width: u32, pub stop: u32, pub length_penalty: f32 }
sized!(fovea_beams);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_generate_options {
    pub struct_size: usize, pub decode: *mut fovea_session, pub encode: *const fovea_session, pub token: *const c_char,
    pub scores: *const c_char, pub start: *const i32, pub stop_ids: *const i32, pub stop_id_count: u32,
    pub max_tokens: u32, pub sampling: *const fovea_sampling, pub beams: *const fovea_beams,
    pub draft: *mut fovea_session, pub draft_tokens: u32,
}
sized!(fovea_generate_options);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_generated {
    pub struct_size: usize, pub texts: u32, pub left: u32, pub step: u32, pub tokens: *const i32,
    pub scores: *const f32, pub ended: *const u8, pub logprobs: *const f32, pub top_tokens: *const i32,
    pub top_logprobs: *const f32, pub top_count: u32, pub ends: *const u8,
}
sized!(fovea_generated);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_hypothesis {
    pub struct_size: usize, pub count: u32, pub tokens: *const i32, pub score: f32, pub sum: f32,
}
sized!(fovea_hypothesis);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_model_options { pub struct_size: usize, pub backend: u32, pub skip_checksum: u32 }
sized!(fovea_model_options);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_model_info {
    pub struct_size: usize, pub program_count: u32, pub space_count: u32, pub tensor_count: u32,
    pub metadata_count: u32, pub section_count: u32, pub linear_count: u32, pub has_text: u32, pub uses_packed: u32,
    pub blob_bytes: u64, pub weight_bytes: u64, pub packed_bytes: u64, pub backend: *const c_char,
}
sized!(fovea_model_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_section_info {
    pub struct_size: usize, pub name: *const c_char, pub kind: u32, pub offset: u64, pub size: u64, pub layout: u64,
}
sized!(fovea_section_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_space_info {
    pub struct_size: usize, pub name: *const c_char, pub parent: u32, pub is_input: u32, pub max_segment_rows: u32,
    pub is_cached: u32, pub window: u32,
}
sized!(fovea_space_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_tensor_info {
    pub struct_size: usize, pub name: *const c_char, pub type_: u32, pub rows: u32, pub width: u32, pub bytes: u64,
    pub data: *const c_void, pub scales: *const c_void,
}
sized!(fovea_tensor_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_program_info {
    pub struct_size: usize, pub name: *const c_char, pub value_count: u32, pub step_count: u32, pub phase_count: u32,
}
sized!(fovea_program_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_value_info {
    pub struct_size: usize, pub name: *const c_char, pub space: u32, pub width: u32, pub type_: u32, pub role: u32,
    pub id_limit: u32, pub carried_by: u32,
}
sized!(fovea_value_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_step_info {
    pub struct_size: usize, pub op: *const c_char, pub name: *const c_char, pub output: u32, pub phase: u32,
    pub tile_local: u32, pub input_count: u32, pub tensor_count: u32, pub heads: u32, pub flops_per_row: f64,
    pub flops_per_row_key: f64, pub backend: *const c_char,
}
sized!(fovea_step_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_result_info {
    pub struct_size: usize, pub program: u32, pub kind: u32, pub value: u32, pub width: u32, pub pooling: u32,
    pub activation: u32, pub measure: u32, pub normalize: u32,
}
sized!(fovea_result_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_span { pub begin: u32, pub end: u32, pub label: u32, pub score: f32, pub name: *const c_char }
zeroed!(fovea_span);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_answer_options { pub struct_size: usize, pub top: u32, pub max_tokens: u32, pub allow_none: u32 }
sized!(fovea_answer_options);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_answer { pub score: f64, pub begin: u32, pub end: u32 }
zeroed!(fovea_answer);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_word { pub begin: u32, pub end: u32, pub weight: f32 }
zeroed!(fovea_word);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_limit { pub space: u32, pub rows: u32, pub segment_rows: u32 }
zeroed!(fovea_limit);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_session_options {
    pub struct_size: usize, pub program: u32, pub workers: u32, pub tile_rows: u32, pub limit_count: u32,
    pub limits: *const fovea_limit, pub keep_count: u32, pub tap_count: u32, pub keep: *const u32,
    pub taps: *const fovea_tap, pub runner: fovea_runner, pub runner_context: *mut c_void, pub barrier: fovea_barrier,
    pub clock: Option<unsafe extern "C" fn() -> u64>, pub rows: u64, pub linked: *const u32, pub linked_count: u32,
    pub cached_texts: u32, pub rewind_rows: u32, pub cache_type: *const u32, pub texts: u64,
}
sized!(fovea_session_options);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_session_memory {
    pub struct_size: usize, pub fixed_size: u64, pub state_size: u64, pub scratch_size: u64, pub fixed: *mut c_void,
    pub state: *mut c_void, pub scratch: *mut c_void,
}
sized!(fovea_session_memory);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_view { pub data: *mut c_void, pub type_: u32, pub rows: u32, pub width: u32, pub row_bytes: u32 }
zeroed!(fovea_view);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_session_info {
    pub struct_size: usize, pub tile_rows: u32, pub workers: u32, pub plan_bytes: u64, pub operator_bytes: u64,
    pub input_bytes: u64, pub value_bytes: u64, pub keep_bytes: u64, pub tap_bytes: u64, pub worker_bytes: u64,
    pub state_bytes: u64, pub cache_bytes: u64, pub cached_texts: u32,
}
sized!(fovea_session_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_error {
    pub status: fovea_status, pub section: u32, pub step: u32, pub tensor: u32, pub index: u64, pub expected: u64,
    pub found: u64, pub text: *const c_char,
}
zeroed!(fovea_error);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_stopped { pub struct_size: usize, pub safe: u64, pub end: u64, pub stopped: u32, pub string: u32 }
sized!(fovea_stopped);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_tap {
    pub struct_size: usize, pub step: u32, pub form: u32, pub rows: u32, pub stride: u32, pub offset: u32,
    pub reduce: u32, pub heads: u64, pub what: u32,
}
sized!(fovea_tap);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_attention_map {
    pub struct_size: usize, pub query_rows: *const u32, pub data: *const f32, pub entries: u64, pub form: u32,
    pub rows: u32, pub heads: u32, pub stride: u32, pub query_space: u32, pub key_space: u32, pub key_rows: u32,
}
sized!(fovea_attention_map);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_sparse_map {
    pub struct_size: usize, pub offset_capacity: u64, pub entry_capacity: u64, pub offsets: *mut u64,
    pub lines: *mut u32, pub keys: *mut u32, pub values: *mut f32, pub layout: u32,
}
sized!(fovea_sparse_map);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_text_info {
    pub struct_size: usize, pub kind: u32, pub vocabulary: u32, pub max_length: u32, pub single_special: u32,
    pub pair_special: u32, pub unknown_id: i32, pub pad_id: i32, pub mask_id: i32,
}
sized!(fovea_text_info);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_text_encode_options {
    pub struct_size: usize, pub flags: u32, pub max_length: u32, pub truncation: u32, pub stride: u32, pub window: u32,
    pub max_sentences: u32,
}
sized!(fovea_text_encode_options);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_text_tokens {
    pub struct_size: usize, pub capacity: u64, pub ids: *mut i32, pub types: *mut i32, pub special: *mut u8,
    pub ranges: *mut u32, pub count: u64, pub windows: u64, pub text_tokens: [u64; 2], pub spelled: u64,
}
sized!(fovea_text_tokens);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_text_sentences {
    pub struct_size: usize, pub capacity: u64, pub lengths: *mut u32, pub ranges: *mut u32, pub count: u64,
    pub dropped: u64,
}
sized!(fovea_text_sentences);

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fovea_text_stream { pub struct_size: usize, pub flags: u32, pub state: [u32; 8] }
sized!(fovea_text_stream);
