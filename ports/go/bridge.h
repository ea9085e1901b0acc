/* bridge.h - the C interface for cgo: functions of plain arguments, so that no struct that C reads has a Go pointer. */
#ifndef FOVEA_PORTS_GO_BRIDGE_H_
#define FOVEA_PORTS_GO_BRIDGE_H_

#include <fovea/fovea.h>

/* Zero bytes with an alignment of 64, or NULL; *block is what bridge_free gets. */
void* bridge_allocate(uint64_t size, void** block);
void bridge_free(void* block);

/* Calls a task of the library for one worker. */
void bridge_task(void* task, void* context, uint32_t worker);

/* counts: tokens, tokens of the texts before truncation, and of each text. `second` counts if has_second is 1. */
fovea_status bridge_encode(const fovea_model* model, const char* text, uint64_t size, const char* second,
                           uint64_t second_size, int has_second, uint32_t flags, uint32_t max_length, void* scratch,
                           uint64_t scratch_size, uint64_t capacity, int32_t* ids, int32_t* types, uint8_t* special,
                           uint32_t* ranges, uint64_t* counts, fovea_error* error);
/* counts: also sentences, and sentences that are left out. */
fovea_status bridge_encode_document(const fovea_model* model, const char* text, uint64_t size, uint32_t flags,
                                    uint32_t max_length, void* scratch, uint64_t scratch_size, uint64_t capacity,
                                    int32_t* ids, int32_t* types, uint8_t* special, uint32_t* ranges,
                                    uint64_t sentence_capacity, uint32_t* sentence_lengths, uint32_t* sentence_ranges,
                                    uint64_t* counts, fovea_error* error);

/* Binds texts whose tokens follow each other; sentences NULL, or their number in each text. */
fovea_status bridge_bind(fovea_session* session, uint32_t count, const uint64_t* tokens, int32_t* ids, int32_t* types,
                         const uint64_t* sentences, uint32_t* sentence_lengths, fovea_error* error);

/* A limit is three numbers (space, rows, segment_rows), a tap eight: step, form, rows, stride, offset, reduce, heads,
 * what. */
typedef struct bridge_options {
  uint32_t program, workers, tile_rows, cached_texts;
  uint64_t rows;
} bridge_options;
/* The sizes if `session` is NULL; else a session in the blocks of `memory`. */
fovea_status bridge_session(const fovea_model* model, const bridge_options* given, const uint32_t* limits,
                            uint32_t limit_count, const uint32_t* keep, uint32_t keep_count, const uint64_t* taps,
                            uint32_t tap_count, const uint32_t* linked, uint32_t linked_count,
                            fovea_session_memory* memory, fovea_session** session, fovea_error* error);
fovea_status bridge_sparse_map(const fovea_session* session, uint32_t tap, uint64_t offset_capacity, uint64_t* offsets,
                               uint64_t entry_capacity, uint32_t* keys, float* values, fovea_error* error);

/* Window `window` of a pair; counts: its tokens, the windows. The arrays of the pair have `count` tokens. */
fovea_status bridge_window(uint64_t count, const uint64_t* text_tokens, int32_t* ids, int32_t* types, uint8_t* special,
                           uint32_t* ranges, uint32_t max_length, uint32_t stride, uint64_t window, uint64_t capacity,
                           int32_t* window_ids, int32_t* window_types, uint8_t* window_special, uint32_t* window_ranges,
                           uint64_t* counts, fovea_error* error);
/* Answers in windows whose tokens follow each other, tokens[i] of them; text_tokens: the same of all. */
fovea_status bridge_answers(const fovea_model* model, uint32_t count, const uint64_t* tokens,
                            const uint64_t* text_tokens, int32_t* ids, uint8_t* special, uint32_t* ranges,
                            const float* scores, const char* context, uint64_t size, uint32_t top, uint32_t max_tokens,
                            uint32_t allow_none, uint64_t capacity, fovea_answer* answers, uint64_t* found,
                            fovea_error* error);

/* The size if `generator` is NULL. stop_ids NULL: the metadata's. `allow`: a cgo.Handle for bridgeAllow, or 0. */
fovea_status bridge_generator(fovea_session* decode, const fovea_session* encode, uint32_t max_tokens,
                              const int32_t* stop_ids, uint32_t stop_id_count, const fovea_sampling* sampling,
                              uintptr_t allow, void* memory, uint64_t* size, fovea_generator** generator,
                              fovea_error* error);

/* The size if `stop` is NULL; strings follow each other. */
fovea_status bridge_stop(const char* strings, const uint32_t* sizes, uint32_t count, void* memory, uint64_t* size,
                         fovea_stop** stop, fovea_error* error);

#endif /* FOVEA_PORTS_GO_BRIDGE_H_ */
