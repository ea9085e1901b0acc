/* fovea/model.h - from a blob to a model: checking, sizing, placing, looking inside.
 *
 * A model is the immutable part: tables made from the blob, and packed weights if the blob has none that fit this
 * machine. It is placed in memory of the caller and refers to the blob, which must stay in place, unchanged, as long as
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

typedef struct fovea_model fovea_model; /* Handle of a model, in memory of the caller. */

/* Backend of matrix products (matmul, GEMM). */
typedef enum fovea_backend {
  FOVEA_BACKEND_DEFAULT = 0, /* XNNPACK where built in and able, else Highway. */
  FOVEA_BACKEND_HIGHWAY = 1, /* Weights are used in place from the blob: no set-up memory for them. */
  FOVEA_BACKEND_XNNPACK = 2  /* FOVEA_E_BUILD if this library was built without it. */
} fovea_backend;

/* Options of a model. Zero fields mean the default. */
typedef struct fovea_model_options {
  size_t struct_size;
  uint32_t backend; /* fovea_backend */
  /* 1: do not read the whole blob to verify its checksum. All structural checks are made anyway. */
  uint32_t skip_checksum;
} fovea_model_options;
#define FOVEA_MODEL_OPTIONS_INIT FOVEA_INIT(fovea_model_options)

/* Checks a whole blob: checksum, every section, record, shape and the tokenizer's data. Uses no memory and keeps
 * nothing; linear in `size`. `blob` needs an alignment of 64 bytes. Any thread. Statuses:
 *   FOVEA_E_NULL
 *   FOVEA_E_MISALIGNED                                      the blob
 *   a detail of class FOVEA_E_BLOB or FOVEA_E_UNSUPPORTED   the fault found */
FOVEA_API fovea_status fovea_blob_verify(const void* blob, uint64_t size, fovea_error* error);

/* Returns in *needed the exact bytes that fovea_model_init needs for this blob and these options (NULL: defaults) with
 * this library build; they do not depend on the machine unless the blob has packed weights that fit it. Checks the
 * blob's structure like fovea_blob_verify, with the same statuses, and FOVEA_E_STRUCT_SIZE, FOVEA_E_OPTION,
 * FOVEA_E_BUILD. Any thread. */
FOVEA_API fovea_status fovea_model_size(const void* blob, uint64_t size, const fovea_model_options* options,
                                        uint64_t* needed, fovea_error* error);

/* Makes a model in `memory` (64-aligned, at least the bytes that fovea_model_size returned for the same arguments).
 * Weights are packed here, if at all, never later. On failure *model is NULL and the memory's content is unspecified.
 * Any thread. Statuses: as fovea_model_size, and
 *   FOVEA_E_TOO_SMALL    `memory_size` is less than `expected`, the exact bytes
 *   FOVEA_E_MISALIGNED   `memory` */
FOVEA_API fovea_status fovea_model_init(const void* blob, uint64_t size, const fovea_model_options* options,
                                        void* memory, uint64_t memory_size, fovea_model** model, fovea_error* error);

/* Does the work of fovea_model_size and fovea_model_init in one call, with the same statuses: `memory` is called once
 * (fovea/memory.h). */
FOVEA_API fovea_status fovea_model_make(const void* blob, uint64_t size, const fovea_model_options* options,
                                        fovea_memory memory, void* memory_context, fovea_model** model,
                                        fovea_error* error);

/* ---- Looking inside. A fovea_*_get_* function fills a struct or returns a member by its index, a fovea_*_find_*
 * function returns an index by its name. Strings belong to the blob. All of it is constant and may be called from any
 * thread. Statuses of these functions:
 *   FOVEA_E_HANDLE, FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE
 *   FOVEA_E_INDEX   an index is not below the number in fovea_model_info or fovea_program_info
 *   FOVEA_E_NAME    nothing has that name ---- */

/* "No such": a space without parent, an absent tensor. */
#define FOVEA_NONE 0xffffffffu

typedef struct fovea_model_info {
  size_t struct_size;
  uint32_t program_count;  /* Programs: entry points. */
  uint32_t space_count;    /* Row spaces. */
  uint32_t tensor_count;   /* Constants of the blob. */
  uint32_t metadata_count; /* Entries of the metadata. */
  uint32_t section_count;  /* Sections of the blob. */
  uint32_t linear_count;   /* Distinct linear layers (pairs of weight and bias). */
  uint32_t has_text;       /* 1: the blob has a tokenizer, and fovea/text.h works on this model. */
  uint32_t uses_packed;    /* 1: a packed section of the blob fits this machine and is used in place. */
  uint64_t blob_bytes;     /* The whole blob. */
  uint64_t weight_bytes;   /* Weights section of the blob. */
  uint64_t packed_bytes;   /* Packed weights in the model's memory. */
  const char* backend;     /* "xnnpack" or "highway" */
} fovea_model_info;        /* Counts and sizes of a model. */
#define FOVEA_MODEL_INFO_INIT FOVEA_INIT(fovea_model_info)

/* Fills `info` with counts and sizes of a model. */
FOVEA_API fovea_status fovea_model_get_info(const fovea_model* model, fovea_model_info* info);

typedef struct fovea_section_info {
  size_t struct_size;
  const char* name;   /* Name of its kind; static. */
  uint32_t kind;      /* Number of its kind in the format. */
  uint64_t offset;    /* Bytes from the beginning of the blob. */
  uint64_t size;      /* Bytes. */
  uint64_t layout;    /* Packed sections: the layout of their weights; else 0. */
} fovea_section_info; /* A section of the blob. */
#define FOVEA_SECTION_INFO_INIT FOVEA_INIT(fovea_section_info)

/* Fills `info` for a section of the blob. */
FOVEA_API fovea_status fovea_model_get_section(const fovea_model* model, uint32_t section, fovea_section_info* info);

/* A row space: a ragged batch dimension, the rows of which are tokens, sentences, documents or image patches. A segment
 * is one sequence of it; segment i of a space is row i of its parent. */
typedef struct fovea_space_info {
  size_t struct_size;
  const char* name; /* In the blob. */
  uint32_t parent;  /* FOVEA_NONE: all rows are one segment. */
  /* 1: the caller sets its segments; 0: they follow from another space, or a run selects its rows. */
  uint32_t is_input;
  /* Longest segment that the model supports (position tables, segments of one length); FOVEA_NONE: any. */
  uint32_t max_segment_rows;
  /* 1: its rows are a KV cache, kept from run to run (fovea/cache.h); a session needs a limit for it. */
  uint32_t is_cached;
  uint32_t window; /* is_cached: the most past rows of a sequence that a query sees (sliding window); 0: all. */
} fovea_space_info;
#define FOVEA_SPACE_INFO_INIT FOVEA_INIT(fovea_space_info)

/* Fills `info` for a row space. */
FOVEA_API fovea_status fovea_model_get_space(const fovea_model* model, uint32_t space, fovea_space_info* info);

/* A constant of the blob: a model parameter. */
typedef struct fovea_tensor_info {
  size_t struct_size;
  const char* name;   /* In the blob. */
  uint32_t type;      /* fovea_type */
  uint32_t rows;      /* Rows of the matrix. */
  uint32_t width;     /* Elements of a row. */
  uint64_t bytes;     /* Rows and scales. */
  const void* data;   /* In the blob. NULL: only its packed sections have this tensor. */
  const void* scales; /* In the blob, or NULL. i8: f32 [rows]; i4: bf16 [rows, width / 32]. */
} fovea_tensor_info;
#define FOVEA_TENSOR_INFO_INIT FOVEA_INIT(fovea_tensor_info)

/* Fills `info` for a tensor. */
FOVEA_API fovea_status fovea_model_get_tensor(const fovea_model* model, uint32_t tensor, fovea_tensor_info* info);

/* Receives a line of fovea_model_needs. `kind` and `name` are static; `count` is the number in a line of kind "limit",
 * else 0. */
typedef void (*fovea_need)(void* context, const char* kind, const char* name, uint32_t count);

/* Lists what a build of the library must include to run the model, by a call of `need` per line: the lines of a profile
 * that leaves out all else, which CMake reads as FOVEA_PROFILE (runtime/base/README.md). Several models together need
 * the union of their lines, and the largest number of each limit. */
FOVEA_API fovea_status fovea_model_needs(const fovea_model* model, fovea_need need, void* context);

/* Returns the metadata value of a key, or NULL. Keys in use: "architecture", "name", "task", "label.N", "fovea.*". */
FOVEA_API const char* fovea_model_find_metadata(const fovea_model* model, const char* key);

/* Returns the name of a class, metadata "label.N"; "" if the blob has none for it. */
FOVEA_API const char* fovea_model_get_label(const fovea_model* model, uint32_t index);

/* Returns key and value of metadata entry `index`, in the order of the blob. */
FOVEA_API fovea_status fovea_model_get_metadata(const fovea_model* model, uint32_t index, const char** key,
                                                const char** value);

/* A program: the operations of one entry point of the model ("encode", "decode"). */
typedef struct fovea_program_info {
  size_t struct_size;
  const char* name;     /* In the blob. */
  uint32_t value_count; /* Values: activations. */
  uint32_t step_count;  /* Steps: operations. */
  uint32_t phase_count; /* Barriers of a run. */
} fovea_program_info;
#define FOVEA_PROGRAM_INFO_INIT FOVEA_INIT(fovea_program_info)

/* Fills `info` for a program. */
FOVEA_API fovea_status fovea_model_get_program(const fovea_model* model, uint32_t program, fovea_program_info* info);

typedef enum fovea_role { FOVEA_ROLE_INTERNAL = 0, FOVEA_ROLE_INPUT = 1, FOVEA_ROLE_OUTPUT = 2 } fovea_role;

/* A value: an activation of a program, a matrix [rows of its space, width]. */
typedef struct fovea_value_info {
  size_t struct_size;
  const char* name; /* In the blob. */
  uint32_t space;   /* Space of its rows. */
  uint32_t width;   /* Elements of a row: of hidden states the hidden size. */
  /* fovea_type: F32; I32 for ids, marks and indices of selected rows; F16, BF16, I8 for keys and values stored as such.
   */
  uint32_t type;
  uint32_t role;     /* fovea_role: used inside the program only, an input, or an output. */
  uint32_t id_limit; /* Ids must be below this; 0 for values that are not ids (marks may be any number). */
  /* Inputs: the output of the program whose rows in one run become this input's in the next; FOVEA_NONE: none. */
  uint32_t carried_by;
} fovea_value_info;
#define FOVEA_VALUE_INFO_INIT FOVEA_INIT(fovea_value_info)

/* Fills `info` for a value of a program. */
FOVEA_API fovea_status fovea_program_get_value(const fovea_model* model, uint32_t program, uint32_t value,
                                               fovea_value_info* info);

/* Return the index of the value, step, space or program with a name. */
FOVEA_API fovea_status fovea_program_find_value(const fovea_model* model, uint32_t program, const char* name,
                                                uint32_t* value);
FOVEA_API fovea_status fovea_program_find_step(const fovea_model* model, uint32_t program, const char* name,
                                               uint32_t* step);
FOVEA_API fovea_status fovea_model_find_space(const fovea_model* model, const char* name, uint32_t* space);
FOVEA_API fovea_status fovea_model_find_program(const fovea_model* model, const char* name, uint32_t* program);

/* A step: one operation of a program, with its place and cost. */
typedef struct fovea_step_info {
  size_t struct_size;
  const char* op;           /* "linear", "attention", ... */
  const char* name;         /* The step's name, or its output's. */
  uint32_t output;          /* Value. */
  uint32_t phase;           /* Steps of one phase run tile by tile without a barrier. */
  uint32_t tile_local;      /* 1: the output exists for one tile at a time only. */
  uint32_t input_count;     /* Values for fovea_program_get_step_input. */
  uint32_t tensor_count;    /* Tensors for fovea_program_get_step_tensor. */
  uint32_t heads;           /* attention; else 0 */
  double flops_per_row;     /* Work that grows with the rows of the output's space. */
  double flops_per_row_key; /* attention: work per query row and visible key; else 0. */
  const char* backend;      /* linear: backend of its matrix product; else NULL. */
} fovea_step_info;
#define FOVEA_STEP_INFO_INIT FOVEA_INIT(fovea_step_info)

/* Fills `info` for a step of a program. */
FOVEA_API fovea_status fovea_program_get_step(const fovea_model* model, uint32_t program, uint32_t step,
                                              fovea_step_info* info);

/* Return the value that is input `index` of a step, and its tensor `index` (FOVEA_NONE where it is absent).
 * FOVEA_E_INDEX from input_count or tensor_count on. */
FOVEA_API fovea_status fovea_program_get_step_input(const fovea_model* model, uint32_t program, uint32_t step,
                                                    uint32_t index, uint32_t* value);
FOVEA_API fovea_status fovea_program_get_step_tensor(const fovea_model* model, uint32_t program, uint32_t step,
                                                     uint32_t index, uint32_t* tensor);

/* ---- Packed weights: model weights in the order that a backend wants. If a blob has a packed section that fits, it is
 * read in place; else the model's memory holds the packed weights, made with the model. A blob may leave out the rows
 * of weights that its packed sections hold: elsewhere it is refused with FOVEA_E_PACKED (expected: the layout that this
 * machine reads; found: the blob's first). Any thread. ---- */

/* Returns the name of a kind of machine that weights can be packed for on any machine ("aarch64-dotprod", ...); NULL
 * from their number on. A library without XNNPACK has none. */
FOVEA_API const char* fovea_pack_get_target(uint32_t index);
/* Returns the layout of a target (fovea_section_info); 0 from their number on. */
FOVEA_API uint64_t fovea_pack_get_layout(uint32_t index);

/* Returns in *bytes the size of the packed section for a target, or (NULL) for this model on this machine, and in
 * *layout the number for its SectionRecord: machines of equal layout may share the section, regardless of the library
 * that wrote it. *bytes is 0 if nothing is packed, as by Highway, which reads weights in place. Statuses:
 *   FOVEA_E_HANDLE, FOVEA_E_NULL
 *   FOVEA_E_NAME    no such target
 *   FOVEA_E_BUILD   a target, in a library without XNNPACK */
FOVEA_API fovea_status fovea_model_packed_size(const fovea_model* model, const char* target, uint64_t* bytes,
                                               uint64_t* layout);

/* Writes that section to `out` (64-aligned). A model for another machine may be one of FOVEA_BACKEND_HIGHWAY, which
 * packs nothing for itself. Statuses: as fovea_model_packed_size, and
 *   FOVEA_E_TOO_SMALL    `size` is less than `expected`, the exact bytes
 *   FOVEA_E_MISALIGNED   `out`
 *   FOVEA_E_PACKED       the blob has weights only as packed for other targets
 *   a detail of class FOVEA_E_BLOB   XNNPACK refuses the weights */
FOVEA_API fovea_status fovea_model_pack(const fovea_model* model, const char* target, void* out, uint64_t size,
                                        fovea_error* error);

/* Returns in *replaces 1 if that section holds all that a model reads of a tensor, so that a blob for these targets
 * alone may leave its rows and scales out: it is the weight of linear layers and nothing else (not also a table of
 * embeddings). Statuses: as fovea_model_packed_size, and FOVEA_E_INDEX. */
FOVEA_API fovea_status fovea_pack_replaces(const fovea_model* model, const char* target, uint32_t tensor,
                                           uint32_t* replaces);

/* Returns in *tensor the weight of a linear layer, below linear_count of fovea_model_info: record `layer` of a packed
 * section is the layer's. A record may be set to 0 bytes, and its bytes left out, where the blob has the weight's rows:
 * the layer then reads these, which keeps a table of embeddings that is also a weight once. Statuses:
 *   FOVEA_E_HANDLE, FOVEA_E_NULL, FOVEA_E_INDEX */
FOVEA_API fovea_status fovea_pack_get_tensor(const fovea_model* model, uint32_t layer, uint32_t* tensor);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_MODEL_H_ */
