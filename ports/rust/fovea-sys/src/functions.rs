//! Functions of the C interface. Written by declarations.py from the headers; do not edit.

use crate::*;
use core::ffi::c_void;
use std::os::raw::c_char;

extern "C" {
    pub fn fovea_attention_scratch_size(
        options: *const fovea_attention_options, bytes: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_attention_pairs(
        options: *const fovea_attention_options, queries: u32, keys: u32, pairs: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_attention_run(
        options: *const fovea_attention_options, q: *const fovea_attention_rows, k: *const fovea_attention_rows,
        v: *const fovea_attention_rows, out: *const fovea_attention_out, scratch: *mut c_void, scratch_size: u64,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_cache_get_info(session: *const fovea_session, info: *mut fovea_cache_info) -> fovea_status;
    pub fn fovea_cache_select(
        session: *mut fovea_session, texts: *const u32, count: u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_cache_get_rows(
        session: *const fovea_session, text: u32, rows: *mut u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_cache_rewind(
        session: *mut fovea_session, text: u32, rows: u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_cache_fork(session: *mut fovea_session, from: u32, to: u32, error: *mut fovea_error) -> fovea_status;
    pub fn fovea_cache_reorder(
        session: *mut fovea_session, from: *const u32, count: u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_cache_saved_size(
        session: *const fovea_session, text: u32, size: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_cache_save(
        session: *const fovea_session, text: u32, memory: *mut c_void, size: u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_cache_restore(
        session: *mut fovea_session, text: u32, memory: *const c_void, size: u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_generate_find_programs(
        model: *const fovea_model, decode: *mut u32, encode: *mut u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_generate_get_linked(
        model: *const fovea_model, decode_program: u32, inputs: *mut u32, capacity: u32, count: *mut u32,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_generate_size(
        options: *const fovea_generate_options, needed: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_generate_init(
        options: *const fovea_generate_options, memory: *mut c_void, size: u64, generator: *mut *mut fovea_generator,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_generate_start(generator: *mut fovea_generator, error: *mut fovea_error) -> fovea_status;
    pub fn fovea_generate_set_sequences(
        generator: *mut fovea_generator, numbers: *const u64, count: u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_generate_set_prompts(
        generator: *mut fovea_generator, tokens: *const i32, lengths: *const u32, count: u32, keep: u32,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_generate_next(
        generator: *mut fovea_generator, forced: *const i32, generated: *mut fovea_generated, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_generate_get_hypothesis(
        generator: *mut fovea_generator, text: u32, rank: u32, hypothesis: *mut fovea_hypothesis,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_generate_get_beam(
        generator: *mut fovea_generator, beam: u32, hypothesis: *mut fovea_hypothesis, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_blob_verify(blob: *const c_void, size: u64, error: *mut fovea_error) -> fovea_status;
    pub fn fovea_model_size(
        blob: *const c_void, size: u64, options: *const fovea_model_options, needed: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_model_init(
        blob: *const c_void, size: u64, options: *const fovea_model_options, memory: *mut c_void, memory_size: u64,
        model: *mut *mut fovea_model, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_model_make(
        blob: *const c_void, size: u64, options: *const fovea_model_options, memory: fovea_memory,
        memory_context: *mut c_void, model: *mut *mut fovea_model, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_model_get_info(model: *const fovea_model, info: *mut fovea_model_info) -> fovea_status;
    pub fn fovea_model_get_section(
        model: *const fovea_model, section: u32, info: *mut fovea_section_info,
    ) -> fovea_status;
    pub fn fovea_model_get_space(model: *const fovea_model, space: u32, info: *mut fovea_space_info) -> fovea_status;
    pub fn fovea_model_get_tensor(model: *const fovea_model, tensor: u32, info: *mut fovea_tensor_info) -> fovea_status;
    pub fn fovea_model_needs(model: *const fovea_model, need: fovea_need, context: *mut c_void) -> fovea_status;
    pub fn fovea_model_find_metadata(model: *const fovea_model, key: *const c_char) -> *const c_char;
    pub fn fovea_model_get_label(model: *const fovea_model, index: u32) -> *const c_char;
    pub fn fovea_model_get_metadata(
        model: *const fovea_model, index: u32, key: *mut *const c_char, value: *mut *const c_char,
    ) -> fovea_status;
    pub fn fovea_model_get_program(
        model: *const fovea_model, program: u32, info: *mut fovea_program_info,
    ) -> fovea_status;
    pub fn fovea_program_get_value(
        model: *const fovea_model, program: u32, value: u32, info: *mut fovea_value_info,
    ) -> fovea_status;
    pub fn fovea_program_find_value(
        model: *const fovea_model, program: u32, name: *const c_char, value: *mut u32,
    ) -> fovea_status;
    pub fn fovea_program_find_step(
        model: *const fovea_model, program: u32, name: *const c_char, step: *mut u32,
    ) -> fovea_status;
    pub fn fovea_model_find_space(model: *const fovea_model, name: *const c_char, space: *mut u32) -> fovea_status;
    pub fn fovea_model_find_program(model: *const fovea_model, name: *const c_char, program: *mut u32) -> fovea_status;
    pub fn fovea_program_get_step(
        model: *const fovea_model, program: u32, step: u32, info: *mut fovea_step_info,
    ) -> fovea_status;
    pub fn fovea_program_get_step_input(
        model: *const fovea_model, program: u32, step: u32, index: u32, value: *mut u32,
    ) -> fovea_status;
    pub fn fovea_program_get_step_tensor(
        model: *const fovea_model, program: u32, step: u32, index: u32, tensor: *mut u32,
    ) -> fovea_status;
    pub fn fovea_pack_get_target(index: u32) -> *const c_char;
    pub fn fovea_pack_get_layout(index: u32) -> u64;
    pub fn fovea_model_packed_size(
        model: *const fovea_model, target: *const c_char, bytes: *mut u64, layout: *mut u64,
    ) -> fovea_status;
    pub fn fovea_model_pack(
        model: *const fovea_model, target: *const c_char, out: *mut c_void, size: u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_pack_replaces(
        model: *const fovea_model, target: *const c_char, tensor: u32, replaces: *mut u32,
    ) -> fovea_status;
    pub fn fovea_pack_get_tensor(model: *const fovea_model, layer: u32, tensor: *mut u32) -> fovea_status;
    pub fn fovea_result_get_info(
        model: *const fovea_model, program: u32, output: *const c_char, info: *mut fovea_result_info,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_result_get_count(
        session: *const fovea_session, info: *const fovea_result_info, count: *mut u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_result_read(
        session: *const fovea_session, info: *const fovea_result_info, first: u32, count: u32, out: *mut f32,
        capacity: u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_result_activate(activation: u32, scores: *mut f32, count: u32) -> fovea_status;
    pub fn fovea_result_pool(
        pooling: u32, activation: u32, rows: *const f32, count: u64, width: u32, out: *mut f32,
    ) -> fovea_status;
    pub fn fovea_result_rank(scores: *const f32, count: u32, top: u32, indices: *mut u32) -> u32;
    pub fn fovea_result_similarity(
        measure: u32, a: *const f32, a_rows: u32, b: *const f32, b_rows: u32, width: u32,
    ) -> f64;
    pub fn fovea_result_get_spans(
        model: *const fovea_model, scores: *const f32, labels: u32, tokens: *const fovea_text_tokens,
        text: *const c_char, size: u64, aggregation: u32, spans: *mut fovea_span, capacity: u64, count: *mut u64,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_result_get_second(
        pair: *const fovea_text_tokens, first: *mut u64, count: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_result_get_window(
        pair: *const fovea_text_tokens, max_length: u32, stride: u32, window: u64, out: *mut fovea_text_tokens,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_result_get_answers(
        model: *const fovea_model, windows: *const fovea_text_tokens, window_count: u32, scores: *const f32,
        context: *const c_char, size: u64, options: *const fovea_answer_options, answers: *mut fovea_answer,
        capacity: u64, count: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_result_get_explaining_tap(
        model: *const fovea_model, program: u32, space: u32, tap: *mut fovea_tap, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_result_read_weights(
        session: *const fovea_session, tap: u32, space: u32, weights: *mut f32, capacity: u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_result_get_words(
        text: *const c_char, size: u64, tokens: *const fovea_text_tokens, first: u64, count: u64, weights: *const f32,
        words: *mut fovea_word, capacity: u64, word_count: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_size(
        model: *const fovea_model, options: *const fovea_session_options, sizes: *mut fovea_session_memory,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_init(
        model: *const fovea_model, options: *const fovea_session_options, memory: *const fovea_session_memory,
        session: *mut *mut fovea_session, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_make(
        model: *const fovea_model, options: *const fovea_session_options, memory: fovea_memory,
        memory_context: *mut c_void, session: *mut *mut fovea_session, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_set_segments(
        session: *mut fovea_session, space: u32, lengths: *const u32, count: u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_get_input(
        session: *mut fovea_session, value: u32, view: *mut fovea_view, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_link(
        session: *mut fovea_session, input: u32, from: *const fovea_session, output: u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_reset(session: *mut fovea_session, error: *mut fovea_error) -> fovea_status;
    pub fn fovea_session_saved_size(
        session: *const fovea_session, size: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_save(
        session: *const fovea_session, memory: *mut c_void, size: u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_restore(
        session: *mut fovea_session, memory: *const c_void, size: u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_run(session: *mut fovea_session, error: *mut fovea_error) -> fovea_status;
    pub fn fovea_session_begin(session: *mut fovea_session, error: *mut fovea_error) -> fovea_status;
    pub fn fovea_session_advance(
        session: *mut fovea_session, phases: u32, left: *mut u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_advance_for(
        session: *mut fovea_session, ticks: u64, left: *mut u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_cancel(session: *mut fovea_session);
    pub fn fovea_session_clear_cancel(session: *mut fovea_session);
    pub fn fovea_session_get_output(
        session: *const fovea_session, value: u32, view: *mut fovea_view, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_find_output(
        session: *const fovea_session, name: *const c_char, view: *mut fovea_view, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_get_segments(
        session: *const fovea_session, space: u32, offsets: *mut *const u32, count: *mut u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_get_step_ticks(session: *const fovea_session, step: u32, ticks: *mut u64) -> fovea_status;
    pub fn fovea_session_get_step_pairs(session: *const fovea_session, step: u32, pairs: *mut u64) -> fovea_status;
    pub fn fovea_session_get_info(session: *const fovea_session, info: *mut fovea_session_info) -> fovea_status;
    pub fn fovea_status_name(status: fovea_status) -> *const c_char;
    pub fn fovea_stop_size(
        strings: *const *const c_char, sizes: *const u32, count: u32, needed: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_stop_init(
        strings: *const *const c_char, sizes: *const u32, count: u32, memory: *mut c_void, size: u64,
        stop: *mut *mut fovea_stop, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_stop_start(stop: *mut fovea_stop) -> fovea_status;
    pub fn fovea_stop_next(
        stop: *mut fovea_stop, bytes: *const c_char, size: u64, stopped: *mut fovea_stopped, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_get_attention_map(
        session: *const fovea_session, tap: u32, map: *mut fovea_attention_map, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_session_get_sparse_map(
        session: *const fovea_session, tap: u32, arrays: *const fovea_sparse_map, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_taps_file_size(session: *const fovea_session, size: *mut u64, error: *mut fovea_error) -> fovea_status;
    pub fn fovea_taps_file_write(
        session: *const fovea_session, memory: *mut c_void, size: u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_get_info(
        model: *const fovea_model, info: *mut fovea_text_info, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_scratch_size(
        model: *const fovea_model, length: u64, needed: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_encode(
        model: *const fovea_model, text: *const c_char, size: u64, second: *const c_char, second_size: u64,
        options: *const fovea_text_encode_options, scratch: *mut c_void, scratch_size: u64,
        tokens: *mut fovea_text_tokens, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_bind(
        session: *mut fovea_session, tokens: *const fovea_text_tokens, count: u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_sentence(text: *const c_char, size: u64, flags: u32, begin: *mut u64, end: *mut u64) -> u32;
    pub fn fovea_text_encode_document(
        model: *const fovea_model, text: *const c_char, size: u64, options: *const fovea_text_encode_options,
        scratch: *mut c_void, scratch_size: u64, tokens: *mut fovea_text_tokens, sentences: *mut fovea_text_sentences,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_bind_documents(
        session: *mut fovea_session, tokens: *const fovea_text_tokens, sentences: *const fovea_text_sentences,
        count: u32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_decode(
        model: *const fovea_model, ids: *const i32, count: u64, flags: u32, output: *mut c_char, capacity: u64,
        written: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_decode_next(
        model: *const fovea_model, stream: *mut fovea_text_stream, ids: *const i32, count: u64, output: *mut c_char,
        capacity: u64, written: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_decode_end(
        model: *const fovea_model, stream: *mut fovea_text_stream, output: *mut c_char, capacity: u64,
        written: *mut u64, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_get_token(
        model: *const fovea_model, id: i32, piece: *mut *const c_char, size: *mut u32, special: *mut u32,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_find_token(
        model: *const fovea_model, piece: *const c_char, size: u32, id: *mut i32, error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_text_get_prompt(
        model: *const fovea_model, name: *const c_char, prompt: *mut *const c_char, chosen: *mut *const c_char,
        error: *mut fovea_error,
    ) -> fovea_status;
    pub fn fovea_version() -> *const c_char;
    pub fn fovea_simd_target() -> *const c_char;
    pub fn fovea_blob_version() -> u32;
}
