/* fovea/model.h - from a blob to a model: checking, sizing, placing, looking inside.
 *
 * A model is the immutable part: tables made from the blob, and packed weights where the blob has none that fit this
 * machine. It lives in memory of the caller and refers to the blob, which must stay where it is, unchanged, as long as
 * the model is used. There is nothing to free: forget the handle, then reuse the memory. Any number of sessions and
 * threads may use one model at the same time once fovea_model_init has returned.
 */
#ifndef FOVEA_MODEL_H_
#define FOVEA_MODEL_H_

#include "fovea/memory.h"
#include "fovea/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fovea_model fovea_model;

/* Which code multiplies matrices. */
enum {
  FOVEA_BACKEND_DEFAULT = 0, /* XNNPACK where built in and able, else Highway. */
  FOVEA_BACKEND_HIGHWAY = 1, /* Weights are used in place from the blob: no set-up memory for them. */
  FOVEA_BACKEND_XNNPACK = 2  /* FOVEA_E_BUILD if this library was built without it. */
};

/* Options of a model. Zero fields mean the default; set struct_size to sizeof(fovea_model_options). */
typedef struct fovea_model_options {
  size_t struct_size;
  uint32_t backend; /* FOVEA_BACKEND_* */
  /* 1: do not read the whole blob to verify its checksum. All structural checks are made anyway. */
  uint32_t skip_checksum;
} fovea_model_options;

/* Checks a whole blob: checksum, every section, record, shape and the tokenizer's data. Uses no memory and keeps
 * nothing. `blob` needs an alignment of 64 bytes (FOVEA_E_MISALIGNED). Linear in `size`. Any thread. Returns
 * FOVEA_OK, FOVEA_E_NULL, FOVEA_E_MISALIGNED, a FOVEA_E_BLOB or FOVEA_E_UNSUPPORTED status. */
FOVEA_API fovea_status fovea_blob_verify(const void* blob, uint64_t size, fovea_error* error);

/* The exact bytes that fovea_model_init needs for this blob and these options (NULL: defaults) with this library build;
 * they do not depend on the machine unless the blob has packed weights that fit it. Checks the blob's structure like
 * verify. Any thread. */
FOVEA_API fovea_status fovea_model_size(const void* blob, uint64_t size, const fovea_model_options* options,
                                        uint64_t* needed, fovea_error* error);

/* Makes a model in `memory` (64-aligned, at least the bytes that fovea_model_size gave for the same arguments).
 * On failure *model is NULL and the memory's content is unspecified. Weights are packed here, if at all, never later.
 * Besides the statuses of fovea_model_size: FOVEA_E_TOO_SMALL (expected = needed bytes), FOVEA_E_MISALIGNED. Any
 * thread. */
FOVEA_API fovea_status fovea_model_init(const void* blob, uint64_t size, const fovea_model_options* options,
                                        void* memory, uint64_t memory_size, fovea_model** model, fovea_error* error);

/* fovea_model_size and fovea_model_init in one call: `memory` is called once. The same statuses. */
FOVEA_API fovea_status fovea_model_make(const void* blob, uint64_t size, const fovea_model_options* options,
                                        fovea_memory memory, void* memory_context, fovea_model** model,
                                        fovea_error* error);

/* ---- Looking inside. Strings belong to the blob. All of it is constant and may be called from any thread. The caller
 * sets struct_size of the struct to be filled. Statuses: FOVEA_E_HANDLE, FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE,
 * FOVEA_E_INDEX. ---- */

/* "No such": a space without parent, an absent tensor. */
#define FOVEA_NONE 0xffffffffu

typedef struct fovea_model_info {
  size_t struct_size; /* Set by the caller. */
  uint32_t program_count;
  uint32_t space_count;
  uint32_t tensor_count;
  uint32_t metadata_count;
  uint32_t section_count;
  uint32_t linear_count; /* Distinct linear layers (pairs of weight and bias). */
  uint32_t has_text;     /* 1: fovea/text.h works on this model. */
  uint32_t uses_packed;  /* 1: a packed section of the blob fits this machine and is used in place. */
  uint64_t blob_bytes;
  uint64_t weight_bytes; /* Of the weights section. */
  uint64_t packed_bytes; /* Packed weights in the model's own memory. */
  const char* backend;   /* "xnnpack" or "highway" */
} fovea_model_info;
FOVEA_API fovea_status fovea_model_get_info(const fovea_model* model, fovea_model_info* info);

typedef struct fovea_section_info {
  size_t struct_size;
  const char* name;
  uint32_t kind;
  uint64_t offset;
  uint64_t size;
  uint64_t layout;
} fovea_section_info;
FOVEA_API fovea_status fovea_model_get_section(const fovea_model* model, uint32_t section, fovea_section_info* info);

/* A row space: what the rows of a value are. Segment i of a space is row i of its parent. */
typedef struct fovea_space_info {
  size_t struct_size;
  const char* name;
  uint32_t parent; /* FOVEA_NONE: all rows are one segment. */
  /* 1: the caller sets its segments; 0: they follow from another space, or a run selects its rows. */
  uint32_t is_input;
  /* Longest segment that the model has (position tables, segments of one length); FOVEA_NONE: any. */
  uint32_t max_segment_rows;
  /* 1: its rows are those of texts, kept from run to run (fovea/cache.h); a session needs a limit for it. */
  uint32_t is_cached;
  uint32_t window; /* is_cached: so many past rows of a text are seen at most; 0: all. */
} fovea_space_info;
FOVEA_API fovea_status fovea_model_get_space(const fovea_model* model, uint32_t space, fovea_space_info* info);

typedef struct fovea_tensor_info {
  size_t struct_size;
  const char* name;
  uint32_t type; /* FOVEA_TYPE_* */
  uint32_t rows;
  uint32_t width;
  uint64_t bytes;     /* Rows and scales. */
  const void* data;   /* In the blob. */
  const void* scales; /* In the blob, or NULL. i8: f32 [rows]; i4: bf16 [rows, width / 32]. */
} fovea_tensor_info;
FOVEA_API fovea_status fovea_model_get_tensor(const fovea_model* model, uint32_t tensor, fovea_tensor_info* info);

/* What a build of the library must include to run the model, line by line: of a profile that leaves out the rest, which
 * CMake takes as FOVEA_PROFILE (runtime/base/README.md). `kind` and `name` are static; `count` is that of lines of kind
 * "limit", else 0. Several models need what any of them needs, and of each limit the largest. */
typedef void (*fovea_need)(void* context, const char* kind, const char* name, uint32_t count);
FOVEA_API fovea_status fovea_model_needs(const fovea_model* model, fovea_need need, void* context);

/* The metadata value of a key, or NULL. Keys in use: "architecture", "name", "task", "label.N", "fovea.*". */
FOVEA_API const char* fovea_model_find_metadata(const fovea_model* model, const char* key);
/* The name of a class, metadata "label.N"; "" if the blob has none for it. */
FOVEA_API const char* fovea_model_get_label(const fovea_model* model, uint32_t index);
/* Entry `index` in the order of the blob. FOVEA_E_INDEX past the end. */
FOVEA_API fovea_status fovea_model_get_metadata(const fovea_model* model, uint32_t index, const char** key,
                                                const char** value);

typedef struct fovea_program_info {
  size_t struct_size;
  const char* name;
  uint32_t value_count;
  uint32_t step_count;
  uint32_t phase_count; /* Barriers of a run. */
} fovea_program_info;
FOVEA_API fovea_status fovea_model_get_program(const fovea_model* model, uint32_t program, fovea_program_info* info);

enum { FOVEA_ROLE_INTERNAL = 0, FOVEA_ROLE_INPUT = 1, FOVEA_ROLE_OUTPUT = 2 };

typedef struct fovea_value_info {
  size_t struct_size;
  const char* name;
  uint32_t space;
  uint32_t width;
  /* FOVEA_TYPE_F32; FOVEA_TYPE_I32 for ids, marks and indices of selected rows; F16, BF16, I8: keys and values stored
   * so. */
  uint32_t type;
  uint32_t role;     /* FOVEA_ROLE_* */
  uint32_t id_limit; /* Ids must be below this; 0 for values that are not ids (marks may be any number). */
  /* Inputs: the output of the program whose rows of one run are this input's of the next; FOVEA_NONE: none. */
  uint32_t carried_by;
} fovea_value_info;
FOVEA_API fovea_status fovea_program_get_value(const fovea_model* model, uint32_t program, uint32_t value,
                                               fovea_value_info* info);

/* Index of the value, step or space with that name; FOVEA_E_NAME if there is none. */
FOVEA_API fovea_status fovea_program_find_value(const fovea_model* model, uint32_t program, const char* name,
                                                uint32_t* value);
FOVEA_API fovea_status fovea_program_find_step(const fovea_model* model, uint32_t program, const char* name,
                                               uint32_t* step);
FOVEA_API fovea_status fovea_model_find_space(const fovea_model* model, const char* name, uint32_t* space);
FOVEA_API fovea_status fovea_model_find_program(const fovea_model* model, const char* name, uint32_t* program);

/* One operation of a program: what runs, where and at what cost. */
typedef struct fovea_step_info {
  size_t struct_size;
  const char* op;           /* "linear", "attention", .. */
  const char* name;         /* The step's own name, or its output's. */
  uint32_t output;          /* Value. */
  uint32_t phase;           /* Steps of one phase run tile by tile without a barrier. */
  uint32_t tile_local;      /* 1: the output exists for one tile at a time only. */
  uint32_t input_count;     /* fovea_program_get_step_input says which values they are, */
  uint32_t tensor_count;    /* .. fovea_program_get_step_tensor which tensors. */
  uint32_t heads;           /* attention; else 0 */
  double flops_per_row;     /* Work that grows with the rows of the output's space. */
  double flops_per_row_key; /* attention: work per query row and visible key; else 0. */
  const char* backend;      /* linear: who multiplies; else NULL. */
} fovea_step_info;
FOVEA_API fovea_status fovea_program_get_step(const fovea_model* model, uint32_t program, uint32_t step,
                                              fovea_step_info* info);
/* The value that is input `index` of a step, and the tensor `index` (FOVEA_NONE where it is absent). FOVEA_E_INDEX from
 * input_count or tensor_count on. */
FOVEA_API fovea_status fovea_program_get_step_input(const fovea_model* model, uint32_t program, uint32_t step,
                                                    uint32_t index, uint32_t* value);
FOVEA_API fovea_status fovea_program_get_step_tensor(const fovea_model* model, uint32_t program, uint32_t step,
                                                     uint32_t index, uint32_t* tensor);

/* ---- Packed weights. A backend may want weights in an order of its own. Where a blob has a packed section that fits,
 * it is read in place; else the model's memory holds the packed weights, made when the model is. ---- */

/* Names of the kinds of machines that any machine packs for: "aarch64-dotprod" and others; NULL from their count on. A
 * library without XNNPACK has none. Any thread. */
FOVEA_API const char* fovea_pack_get_target(uint32_t index);

/* The bytes of the packed section for such a machine, or (NULL) for this model on this one, and what stands in its
 * SectionRecord: machines of equal layout may share it, whatever library wrote it. *bytes is 0 if nothing is packed, as
 * by Highway, which reads weights where they are. FOVEA_E_HANDLE, FOVEA_E_NULL, FOVEA_E_NAME (no such target),
 * FOVEA_E_BUILD (a target, without XNNPACK). Any thread. */
FOVEA_API fovea_status fovea_model_packed_size(const fovea_model* model, const char* target, uint64_t* bytes,
                                               uint64_t* layout);

/* Writes that section to `out` (64-aligned). A model for another machine may be one of FOVEA_BACKEND_HIGHWAY, which
 * packs nothing for its own use. Besides the statuses above: FOVEA_E_TOO_SMALL (expected = needed bytes),
 * FOVEA_E_MISALIGNED, a FOVEA_E_BLOB status (weights that XNNPACK refuses). Any thread. */
FOVEA_API fovea_status fovea_model_pack(const fovea_model* model, const char* target, void* out, uint64_t size,
                                        fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_MODEL_H_ */
