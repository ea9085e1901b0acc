"""The C interface for ctypes. Written by declarations.py; do not edit."""

from ctypes import (Structure, c_char_p, c_double, c_float, c_int32, c_size_t, c_uint32, c_uint64, c_void_p)

from ._constants import *


class fovea_attention_rows(Structure):
    _fields_ = [
        ("data", c_void_p), ("rows", c_uint32), ("type", c_uint32), ("row_stride", c_size_t), ("head_stride", c_size_t),
        ("segment_stride", c_size_t), ("scales", c_void_p), ("scale_row_stride", c_size_t),
        ("scale_head_stride", c_size_t), ("scale_segment_stride", c_size_t),
    ]


class fovea_attention_out(Structure):
    _fields_ = [
        ("data", c_void_p), ("rows", c_uint32), ("row_stride", c_size_t), ("head_stride", c_size_t),
        ("segment_stride", c_size_t),
    ]


class fovea_attention_pattern(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("causal", c_uint32), ("window", c_uint32), ("left", c_uint32), ("right", c_uint32),
        ("dilation", c_uint32), ("block", c_uint32), ("head_windows", c_void_p), ("full_up_to", c_uint32),
        ("top_k", c_uint32), ("global_first", c_uint32), ("global_last", c_uint32), ("global_key_count", c_uint32),
        ("global_keys", c_void_p), ("global_key_offsets", c_void_p), ("layout", c_void_p), ("layout_heads", c_uint32),
        ("layout_rows", c_uint32), ("layout_columns", c_uint32), ("rounds", c_uint32), ("chunk", c_uint32),
        ("chunks_before", c_uint32), ("chunks_after", c_uint32), ("chunk_multiple", c_uint32), ("order", c_void_p),
        ("rank", c_void_p), ("cluster_stride", c_size_t), ("centers", c_uint32), ("center_values", c_void_p),
        ("center_stride", c_size_t),
    ]


class fovea_attention_pairs_bias(Structure):
    _fields_ = [
        ("data", c_void_p), ("type", c_uint32), ("keys", c_uint32), ("row_stride", c_size_t), ("head_stride", c_size_t),
        ("segment_stride", c_size_t),
    ]


class fovea_attention_score(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("kind", c_uint32), ("scale", c_float), ("cap", c_float), ("products", c_uint32),
        ("additive", c_void_p), ("key_bias", c_void_p), ("key_bias_row_stride", c_size_t),
        ("key_bias_head_stride", c_size_t), ("key_bias_segment_stride", c_size_t), ("key_bias_heads", c_uint32),
        ("max_distance", c_uint32), ("distance_bias", c_void_p), ("relative_keys", c_void_p),
        ("relative_queries", c_void_p), ("buckets", c_void_p), ("bucket_count", c_uint32), ("has_self_score", c_uint32),
        ("self_score", c_float), ("pair_bias", fovea_attention_pairs_bias), ("slopes", c_void_p),
    ]


class fovea_attention_weighting(Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_uint32), ("gaussian", c_uint32), ("sinks", c_void_p)]


class fovea_attention_positions(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("origin", c_uint32), ("starts", c_void_p), ("query_stride", c_uint32),
        ("apart", c_uint32), ("coordinates", c_void_p), ("coordinate_sets", c_uint32),
        ("coordinate_positions", c_uint32), ("axes", c_uint32), ("row_coordinates", c_void_p),
    ]


class fovea_attention_summaries(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("group", c_uint32), ("k", c_void_p), ("v", c_void_p), ("offsets", c_void_p),
        ("bias", c_void_p), ("max_distance", c_uint32),
    ]


class fovea_attention_kept(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("what", c_uint32), ("stride", c_uint32), ("values", c_void_p), ("keys", c_void_p),
        ("counts", c_void_p),
    ]


class fovea_attention_options(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("heads", c_uint32), ("kv_heads", c_uint32), ("d_k", c_uint32), ("d_v", c_uint32),
        ("pairing", c_uint32), ("segment_count", c_uint32), ("query_offsets", c_void_p), ("key_offsets", c_void_p),
        ("pattern", c_void_p), ("score", c_void_p), ("weighting", c_void_p), ("positions", c_void_p),
        ("kept", c_void_p), ("workers", c_uint32), ("tile_rows", c_uint32), ("runner", c_void_p),
        ("runner_context", c_void_p), ("summaries", c_void_p),
    ]


class fovea_cache_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("texts", c_uint32), ("max_rows", c_uint32), ("page_rows", c_uint32),
        ("unused_rows", c_uint32), ("bytes", c_uint64), ("row_bytes", c_uint64),
    ]


class fovea_sampling(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("temperature", c_float), ("top_k", c_uint32), ("top_p", c_float),
        ("min_p", c_float), ("repetition_penalty", c_float), ("presence_penalty", c_float), ("logprobs", c_uint32),
        ("top_logprobs", c_uint32), ("seed", c_uint64), ("allow", c_void_p), ("allow_context", c_void_p),
        ("allow_scored", c_void_p),
    ]


class fovea_beams(Structure):
    _fields_ = [("struct_size", c_size_t), ("width", c_uint32), ("stop", c_uint32), ("length_penalty", c_float)]


class fovea_generate_options(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("decode", c_void_p), ("encode", c_void_p), ("token", c_char_p),
        ("scores", c_char_p), ("start", c_void_p), ("stop_ids", c_void_p), ("stop_id_count", c_uint32),
        ("max_tokens", c_uint32), ("sampling", c_void_p), ("beams", c_void_p), ("draft", c_void_p),
        ("draft_tokens", c_uint32),
    ]


class fovea_generated(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("texts", c_uint32), ("left", c_uint32), ("step", c_uint32), ("tokens", c_void_p),
        ("scores", c_void_p), ("ended", c_void_p), ("logprobs", c_void_p), ("top_tokens", c_void_p),
        ("top_logprobs", c_void_p), ("top_count", c_uint32), ("ends", c_void_p),
    ]


class fovea_hypothesis(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("count", c_uint32), ("tokens", c_void_p), ("score", c_float), ("sum", c_float),
    ]


class fovea_model_options(Structure):
    _fields_ = [("struct_size", c_size_t), ("backend", c_uint32), ("skip_checksum", c_uint32)]


class fovea_model_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("program_count", c_uint32), ("space_count", c_uint32), ("tensor_count", c_uint32),
        ("metadata_count", c_uint32), ("section_count", c_uint32), ("linear_count", c_uint32), ("has_text", c_uint32),
        ("uses_packed", c_uint32), ("blob_bytes", c_uint64), ("weight_bytes", c_uint64), ("packed_bytes", c_uint64),
        ("backend", c_char_p),
    ]


class fovea_section_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("kind", c_uint32), ("offset", c_uint64), ("size", c_uint64),
        ("layout", c_uint64),
    ]


class fovea_space_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("parent", c_uint32), ("is_input", c_uint32),
        ("max_segment_rows", c_uint32), ("is_cached", c_uint32), ("window", c_uint32),
    ]


class fovea_tensor_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("type", c_uint32), ("rows", c_uint32), ("width", c_uint32),
        ("bytes", c_uint64), ("data", c_void_p), ("scales", c_void_p),
    ]


class fovea_program_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("value_count", c_uint32), ("step_count", c_uint32),
        ("phase_count", c_uint32),
    ]


class fovea_value_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("space", c_uint32), ("width", c_uint32), ("type", c_uint32),
        ("role", c_uint32), ("id_limit", c_uint32), ("carried_by", c_uint32),
    ]


class fovea_step_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("op", c_char_p), ("name", c_char_p), ("output", c_uint32), ("phase", c_uint32),
        ("tile_local", c_uint32), ("input_count", c_uint32), ("tensor_count", c_uint32), ("heads", c_uint32),
        ("flops_per_row", c_double), ("flops_per_row_key", c_double), ("backend", c_char_p),
    ]


class fovea_result_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("program", c_uint32), ("kind", c_uint32), ("value", c_uint32), ("width", c_uint32),
        ("pooling", c_uint32), ("activation", c_uint32), ("measure", c_uint32), ("normalize", c_uint32),
    ]


class fovea_span(Structure):
    _fields_ = [("begin", c_uint32), ("end", c_uint32), ("label", c_uint32), ("score", c_float), ("name", c_char_p)]


class fovea_answer_options(Structure):
    _fields_ = [("struct_size", c_size_t), ("top", c_uint32), ("max_tokens", c_uint32), ("allow_none", c_uint32)]


class fovea_answer(Structure):
    _fields_ = [("score", c_double), ("begin", c_uint32), ("end", c_uint32)]


class fovea_word(Structure):
    _fields_ = [("begin", c_uint32), ("end", c_uint32), ("weight", c_float)]


class fovea_limit(Structure):
    _fields_ = [("space", c_uint32), ("rows", c_uint32), ("segment_rows", c_uint32)]


class fovea_session_options(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("program", c_uint32), ("workers", c_uint32), ("tile_rows", c_uint32),
        ("limit_count", c_uint32), ("limits", c_void_p), ("keep_count", c_uint32), ("tap_count", c_uint32),
        ("keep", c_void_p), ("taps", c_void_p), ("runner", c_void_p), ("runner_context", c_void_p),
        ("barrier", c_void_p), ("clock", c_void_p), ("rows", c_uint64), ("linked", c_void_p),
        ("linked_count", c_uint32), ("cached_texts", c_uint32), ("rewind_rows", c_uint32), ("cache_type", c_void_p),
        ("texts", c_uint64),
    ]


class fovea_session_memory(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("fixed_size", c_uint64), ("state_size", c_uint64), ("scratch_size", c_uint64),
        ("fixed", c_void_p), ("state", c_void_p), ("scratch", c_void_p),
    ]


class fovea_view(Structure):
    _fields_ = [
        ("data", c_void_p), ("type", c_uint32), ("rows", c_uint32), ("width", c_uint32), ("row_bytes", c_uint32),
    ]


class fovea_session_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("tile_rows", c_uint32), ("workers", c_uint32), ("plan_bytes", c_uint64),
        ("operator_bytes", c_uint64), ("input_bytes", c_uint64), ("value_bytes", c_uint64), ("keep_bytes", c_uint64),
        ("tap_bytes", c_uint64), ("worker_bytes", c_uint64), ("state_bytes", c_uint64), ("cache_bytes", c_uint64),
        ("cached_texts", c_uint32),
    ]


class fovea_error(Structure):
    _fields_ = [
        ("status", c_int32), ("section", c_uint32), ("step", c_uint32), ("tensor", c_uint32), ("index", c_uint64),
        ("expected", c_uint64), ("found", c_uint64), ("text", c_char_p),
    ]


class fovea_stopped(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("safe", c_uint64), ("end", c_uint64), ("stopped", c_uint32), ("string", c_uint32),
    ]


class fovea_tap(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("step", c_uint32), ("form", c_uint32), ("rows", c_uint32), ("stride", c_uint32),
        ("offset", c_uint32), ("reduce", c_uint32), ("heads", c_uint64), ("what", c_uint32),
    ]


class fovea_attention_map(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("query_rows", c_void_p), ("data", c_void_p), ("entries", c_uint64),
        ("form", c_uint32), ("rows", c_uint32), ("heads", c_uint32), ("stride", c_uint32), ("query_space", c_uint32),
        ("key_space", c_uint32), ("key_rows", c_uint32),
    ]


class fovea_sparse_map(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("offset_capacity", c_uint64), ("entry_capacity", c_uint64), ("offsets", c_void_p),
        ("lines", c_void_p), ("keys", c_void_p), ("values", c_void_p), ("layout", c_uint32),
    ]


class fovea_text_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("kind", c_uint32), ("vocabulary", c_uint32), ("max_length", c_uint32),
        ("single_special", c_uint32), ("pair_special", c_uint32), ("unknown_id", c_int32), ("pad_id", c_int32),
        ("mask_id", c_int32),
    ]


class fovea_text_encode_options(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("flags", c_uint32), ("max_length", c_uint32), ("truncation", c_uint32),
        ("stride", c_uint32), ("window", c_uint32), ("max_sentences", c_uint32),
    ]


class fovea_text_tokens(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("capacity", c_uint64), ("ids", c_void_p), ("types", c_void_p),
        ("special", c_void_p), ("ranges", c_void_p), ("count", c_uint64), ("windows", c_uint64),
        ("text_tokens", c_uint64 * 2), ("spelled", c_uint64),
    ]


class fovea_text_sentences(Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("capacity", c_uint64), ("lengths", c_void_p), ("ranges", c_void_p),
        ("count", c_uint64), ("dropped", c_uint64),
    ]


class fovea_text_stream(Structure):
    _fields_ = [("struct_size", c_size_t), ("flags", c_uint32), ("state", c_uint32 * 8)]


class fovea_port_file(Structure):
    _fields_ = [("data", c_void_p), ("size", c_uint64)]


# The result and the parameters of each function.
FUNCTIONS = {
    "fovea_attention_scratch_size": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "fovea_attention_pairs": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "fovea_attention_run": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_uint64, c_void_p]),
    "fovea_cache_get_info": (c_int32, [c_void_p, c_void_p]),
    "fovea_cache_select": (c_int32, [c_void_p, c_void_p, c_uint32, c_void_p]),
    "fovea_cache_get_rows": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_cache_rewind": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p]),
    "fovea_cache_fork": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p]),
    "fovea_cache_reorder": (c_int32, [c_void_p, c_void_p, c_uint32, c_void_p]),
    "fovea_cache_saved_size": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_cache_save": (c_int32, [c_void_p, c_uint32, c_void_p, c_uint64, c_void_p]),
    "fovea_cache_restore": (c_int32, [c_void_p, c_uint32, c_void_p, c_uint64, c_void_p]),
    "fovea_generate_find_programs": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "fovea_generate_get_linked": (c_int32, [c_void_p, c_uint32, c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_generate_size": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "fovea_generate_init": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "fovea_generate_start": (c_int32, [c_void_p, c_void_p]),
    "fovea_generate_set_sequences": (c_int32, [c_void_p, c_void_p, c_uint32, c_void_p]),
    "fovea_generate_set_prompts": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint32, c_uint32, c_void_p]),
    "fovea_generate_next": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "fovea_generate_get_hypothesis": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "fovea_generate_get_beam": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_blob_verify": (c_int32, [c_void_p, c_uint64, c_void_p]),
    "fovea_model_size": (c_int32, [c_void_p, c_uint64, c_void_p, c_void_p, c_void_p]),
    "fovea_model_init": (c_int32, [c_void_p, c_uint64, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "fovea_model_make": (c_int32, [c_void_p, c_uint64, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "fovea_model_get_info": (c_int32, [c_void_p, c_void_p]),
    "fovea_model_get_section": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "fovea_model_get_space": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "fovea_model_get_tensor": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "fovea_model_needs": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "fovea_model_find_metadata": (c_char_p, [c_void_p, c_char_p]),
    "fovea_model_get_label": (c_char_p, [c_void_p, c_uint32]),
    "fovea_model_get_metadata": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_model_get_program": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "fovea_program_get_value": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p]),
    "fovea_program_find_value": (c_int32, [c_void_p, c_uint32, c_char_p, c_void_p]),
    "fovea_program_find_step": (c_int32, [c_void_p, c_uint32, c_char_p, c_void_p]),
    "fovea_model_find_space": (c_int32, [c_void_p, c_char_p, c_void_p]),
    "fovea_model_find_program": (c_int32, [c_void_p, c_char_p, c_void_p]),
    "fovea_program_get_step": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p]),
    "fovea_program_get_step_input": (c_int32, [c_void_p, c_uint32, c_uint32, c_uint32, c_void_p]),
    "fovea_program_get_step_tensor": (c_int32, [c_void_p, c_uint32, c_uint32, c_uint32, c_void_p]),
    "fovea_pack_get_target": (c_char_p, [c_uint32]),
    "fovea_pack_get_layout": (c_uint64, [c_uint32]),
    "fovea_model_packed_size": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "fovea_model_pack": (c_int32, [c_void_p, c_char_p, c_void_p, c_uint64, c_void_p]),
    "fovea_pack_replaces": (c_int32, [c_void_p, c_char_p, c_uint32, c_void_p]),
    "fovea_pack_get_tensor": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "fovea_result_get_info": (c_int32, [c_void_p, c_uint32, c_char_p, c_void_p, c_void_p]),
    "fovea_result_get_count": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "fovea_result_read": (c_int32, [c_void_p, c_void_p, c_uint32, c_uint32, c_void_p, c_uint64, c_void_p]),
    "fovea_result_activate": (c_int32, [c_uint32, c_void_p, c_uint32]),
    "fovea_result_pool": (c_int32, [c_uint32, c_uint32, c_void_p, c_uint64, c_uint32, c_void_p]),
    "fovea_result_rank": (c_uint32, [c_void_p, c_uint32, c_uint32, c_void_p]),
    "fovea_result_similarity": (c_double, [c_uint32, c_void_p, c_uint32, c_void_p, c_uint32, c_uint32]),
    "fovea_result_get_spans": (c_int32, [
        c_void_p, c_void_p, c_uint32, c_void_p, c_char_p, c_uint64, c_uint32, c_void_p, c_uint64, c_void_p, c_void_p,
    ]),
    "fovea_result_get_second": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "fovea_result_get_window": (c_int32, [c_void_p, c_uint32, c_uint32, c_uint64, c_void_p, c_void_p]),
    "fovea_result_get_answers": (c_int32, [
        c_void_p, c_void_p, c_uint32, c_void_p, c_char_p, c_uint64, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p,
    ]),
    "fovea_result_get_explaining_tap": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_void_p]),
    "fovea_result_read_weights": (c_int32, [c_void_p, c_uint32, c_uint32, c_void_p, c_uint64, c_void_p]),
    "fovea_result_get_words": (c_int32, [
        c_char_p, c_uint64, c_void_p, c_uint64, c_uint64, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p,
    ]),
    "fovea_session_size": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "fovea_session_init": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "fovea_session_make": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "fovea_session_set_segments": (c_int32, [c_void_p, c_uint32, c_void_p, c_uint32, c_void_p]),
    "fovea_session_get_input": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_session_link": (c_int32, [c_void_p, c_uint32, c_void_p, c_uint32, c_void_p]),
    "fovea_session_reset": (c_int32, [c_void_p, c_void_p]),
    "fovea_session_saved_size": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "fovea_session_save": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p]),
    "fovea_session_restore": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p]),
    "fovea_session_run": (c_int32, [c_void_p, c_void_p]),
    "fovea_session_begin": (c_int32, [c_void_p, c_void_p]),
    "fovea_session_advance": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_session_advance_for": (c_int32, [c_void_p, c_uint64, c_void_p, c_void_p]),
    "fovea_session_cancel": (None, [c_void_p]),
    "fovea_session_clear_cancel": (None, [c_void_p]),
    "fovea_session_get_output": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_session_find_output": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "fovea_session_get_segments": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p, c_void_p]),
    "fovea_session_get_step_ticks": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "fovea_session_get_step_pairs": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "fovea_session_get_info": (c_int32, [c_void_p, c_void_p]),
    "fovea_status_name": (c_char_p, [c_int32]),
    "fovea_stop_size": (c_int32, [c_void_p, c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_stop_init": (c_int32, [c_void_p, c_void_p, c_uint32, c_void_p, c_uint64, c_void_p, c_void_p]),
    "fovea_stop_start": (c_int32, [c_void_p]),
    "fovea_stop_next": (c_int32, [c_void_p, c_char_p, c_uint64, c_void_p, c_void_p]),
    "fovea_session_get_attention_map": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_session_get_sparse_map": (c_int32, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_taps_file_size": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "fovea_taps_file_write": (c_int32, [c_void_p, c_void_p, c_uint64, c_void_p]),
    "fovea_text_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "fovea_text_scratch_size": (c_int32, [c_void_p, c_uint64, c_void_p, c_void_p]),
    "fovea_text_encode": (c_int32, [
        c_void_p, c_char_p, c_uint64, c_char_p, c_uint64, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p,
    ]),
    "fovea_text_bind": (c_int32, [c_void_p, c_void_p, c_uint32, c_void_p]),
    "fovea_text_sentence": (c_uint32, [c_char_p, c_uint64, c_uint32, c_void_p, c_void_p]),
    "fovea_text_encode_document": (c_int32, [
        c_void_p, c_char_p, c_uint64, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p,
    ]),
    "fovea_text_bind_documents": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint32, c_void_p]),
    "fovea_text_decode": (c_int32, [c_void_p, c_void_p, c_uint64, c_uint32, c_void_p, c_uint64, c_void_p, c_void_p]),
    "fovea_text_decode_next": (c_int32, [
        c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_uint64, c_void_p, c_void_p,
    ]),
    "fovea_text_decode_end": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p]),
    "fovea_text_get_token": (c_int32, [c_void_p, c_int32, c_void_p, c_void_p, c_void_p, c_void_p]),
    "fovea_text_find_token": (c_int32, [c_void_p, c_char_p, c_uint32, c_void_p, c_void_p]),
    "fovea_text_get_prompt": (c_int32, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
    "fovea_version": (c_char_p, []),
    "fovea_simd_target": (c_char_p, []),
    "fovea_blob_version": (c_uint32, []),
    "fovea_port_memory": (c_void_p, [c_void_p, c_uint64, c_uint32]),
    "fovea_port_free": (None, [c_void_p]),
    "fovea_port_open": (c_char_p, [c_char_p, c_void_p]),
    "fovea_port_close": (None, [c_void_p]),
    "fovea_port_start": (c_void_p, [c_uint32]),
    "fovea_port_count": (c_uint32, [c_void_p]),
    "fovea_port_stop": (None, [c_void_p]),
    "fovea_port_run": (None, [c_void_p, c_uint32, c_void_p, c_void_p]),
    "fovea_port_barrier": (None, [c_void_p, c_uint32]),
    "fovea_port_ticks": (c_uint64, []),
    "fovea_port_ticks_per_second": (c_uint64, []),
    "fovea_port_write": (None, [c_char_p, c_uint64]),
}
