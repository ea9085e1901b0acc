/* fovea/status.h - how every call reports success or failure.
 *
 * A status has two levels: the class in the low 8 bits decides how the caller should react, the detail in the bits
 * above names the fault. FOVEA_STATUS_CLASS() extracts the class. FOVEA_OK is zero.
 *
 * Nearly every call that can fail takes a `fovea_error*`: storage of the caller (NULL: not wanted) that is filled if
 * the call fails and left alone if it succeeds. Its text is static: it is never freed and needs no translation table.
 * Nothing in fovea prints, aborts, throws or keeps a global error.
 */
#ifndef FOVEA_STATUS_H_
#define FOVEA_STATUS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(FOVEA_SHARED)
#if defined(_WIN32)
#ifdef FOVEA_BUILDING
#define FOVEA_API __declspec(dllexport)
#else
#define FOVEA_API __declspec(dllimport)
#endif
#else
#define FOVEA_API __attribute__((visibility("default")))
#endif
#else
#define FOVEA_API
#endif

/* Result of a call. The type is a signed 32-bit integer under any compiler options (see FOVEA_STATUS_MIN), so a binding
 * may use an enum or an int32. Later versions may add details, so treat an unknown detail by its class. */
typedef enum fovea_status {
  FOVEA_OK = 0,

  /* Classes. */
  FOVEA_E_ARGUMENT = 1,    /* The call is wrong: correct the program. */
  FOVEA_E_ORDER = 2,       /* The call came at the wrong time: see the function's comment for what must come first. */
  FOVEA_E_BLOB = 3,        /* The blob is damaged or was not made by a correct writer: get it again. */
  FOVEA_E_UNSUPPORTED = 4, /* The blob or request needs a newer or differently configured library. */
  FOVEA_E_MEMORY = 5,      /* A memory block is too small or misaligned: `expected` has the exact figure. */
  FOVEA_E_LIMIT = 6,       /* The input is larger than the limits the session was made for. */
  FOVEA_E_INPUT = 7,       /* A value in the input is out of range: `index` is its place. */
  FOVEA_E_CANCELLED = 8,   /* The caller cancelled the run. */
  FOVEA_E_INTERNAL = 9,    /* A backend refused what the library asked of it: please report it. */

  /* Details of FOVEA_E_ARGUMENT. */
  FOVEA_E_NULL = FOVEA_E_ARGUMENT | (1 << 8),        /* A required pointer is NULL. */
  FOVEA_E_STRUCT_SIZE = FOVEA_E_ARGUMENT | (2 << 8), /* struct_size is not set (see fovea/types.h), or an unknown field
                                                        is not zero. */
  FOVEA_E_NAME = FOVEA_E_ARGUMENT | (3 << 8),        /* No program, value, space or layer has that name. */
  FOVEA_E_INDEX = FOVEA_E_ARGUMENT | (4 << 8),       /* An index is out of range. */
  FOVEA_E_HANDLE = FOVEA_E_ARGUMENT | (5 << 8),      /* An invalid handle: NULL, or a handle of another kind. */
  FOVEA_E_OPTION = FOVEA_E_ARGUMENT | (6 << 8),      /* An option's value is out of range. */
  FOVEA_E_RUNNER = FOVEA_E_ARGUMENT | (7 << 8),      /* A runner did not call every task once, or a barrier did not
                                                        wait: see fovea/runner.h. */

  /* Details of FOVEA_E_BLOB. */
  FOVEA_E_MAGIC = FOVEA_E_BLOB | (1 << 8),     /* Not a fovea blob. */
  FOVEA_E_TRUNCATED = FOVEA_E_BLOB | (2 << 8), /* Fewer bytes than the header states. */
  FOVEA_E_CHECKSUM = FOVEA_E_BLOB | (3 << 8),  /* The bytes changed since the blob was written. */
  FOVEA_E_SECTION = FOVEA_E_BLOB | (4 << 8),   /* A section is out of bounds, misaligned, missing or repeated. */
  FOVEA_E_RECORD = FOVEA_E_BLOB | (5 << 8),    /* A record refers to something that does not exist. */
  FOVEA_E_SHAPE = FOVEA_E_BLOB | (6 << 8),     /* Shapes or types of an operation do not fit together. */
  FOVEA_E_TEXT_DATA = FOVEA_E_BLOB | (7 << 8), /* The tokenizer's data is inconsistent. */

  /* Details of FOVEA_E_UNSUPPORTED. */
  FOVEA_E_VERSION = FOVEA_E_UNSUPPORTED | (1 << 8),     /* The blob's format is newer than this library. */
  FOVEA_E_OP = FOVEA_E_UNSUPPORTED | (2 << 8),          /* Unknown operation or attribute. */
  FOVEA_E_BUILD = FOVEA_E_UNSUPPORTED | (3 << 8),       /* The library was built without what this asks for. */
  FOVEA_E_TOO_COMPLEX = FOVEA_E_UNSUPPORTED | (4 << 8), /* Beyond a stated limit of the format. */
  FOVEA_E_PACKED = FOVEA_E_UNSUPPORTED | (5 << 8),      /* The blob's weights are packed for another machine only. */

  /* Details of FOVEA_E_MEMORY. */
  FOVEA_E_TOO_SMALL = FOVEA_E_MEMORY | (1 << 8), /* `expected` bytes are needed, `found` were given. */
  FOVEA_E_MISALIGNED =
      FOVEA_E_MEMORY | (2 << 8), /* The block, pointer or stride needs an alignment of `expected` bytes. */

  /* Details of FOVEA_E_LIMIT. */
  FOVEA_E_ROWS =
      FOVEA_E_LIMIT | (1 << 8), /* More rows than the session's limit for this space, or than a run may select. */
  FOVEA_E_SEGMENTS = FOVEA_E_LIMIT | (2 << 8), /* More segments than the session's limit, or lengths that disagree. */
  FOVEA_E_LENGTH =
      FOVEA_E_LIMIT | (3 << 8), /* A segment is longer than the model's positions or the session's limit. */
  FOVEA_E_CAPACITY = FOVEA_E_LIMIT | (4 << 8), /* The caller's output array is full: `expected` entries are needed. */

  /* Details of FOVEA_E_INPUT. */
  FOVEA_E_ID = FOVEA_E_INPUT | (1 << 8),    /* An id is outside its table. */
  FOVEA_E_UTF8 = FOVEA_E_INPUT | (2 << 8),  /* The text is not valid UTF-8 at byte `index`. */
  FOVEA_E_EMPTY = FOVEA_E_INPUT | (3 << 8), /* A segment has no rows where at least one is needed. */
  FOVEA_E_STATE =
      FOVEA_E_INPUT | (4 << 8), /* A saved state is damaged, or of another program, model or number of rows. */

  /* Never returned: they give the type its range, also under -fshort-enums. */
  FOVEA_STATUS_MIN = -0x7fffffff - 1,
  FOVEA_STATUS_MAX = 0x7fffffff
} fovea_status;

/* Does not compile where fovea_status has another size. */
typedef char fovea_status_has_4_bytes[sizeof(fovea_status) == 4 ? 1 : -1];

#define FOVEA_STATUS_CLASS(status) ((fovea_status)((status)&0xff))
#define FOVEA_STATUS_MAKE(class_, detail) ((fovea_status)((class_) | ((detail) << 8)))

/* Where and why a call failed. Fields that do not apply are zero, or FOVEA_NOWHERE for section, step and tensor. This
 * struct never changes.
 *
 * `index` is a position in one array or byte range, counted from 0. The status decides which one:
 *   FOVEA_E_UTF8                        the text: the first byte that is not UTF-8
 *   FOVEA_E_ID                          the array of ids, tokens or table entries
 *   FOVEA_E_SEGMENTS, _LENGTH, _ROWS    the array of lengths, offsets or strings, or the segment
 *   FOVEA_E_CAPACITY                    fovea_text_bind, fovea_text_bind_documents: the array of sequences;
 *                                       fovea_attention_run: the segment
 *   FOVEA_E_NULL, FOVEA_E_INDEX,
 *   FOVEA_E_OPTION                      the array whose entry is at fault, if the argument is an array
 *   any, of fovea/generate.h, if `section` is set
 *                                       the entry of the metadata
 *   FOVEA_E_BUILD of a tokenizer        the step of the tokenizer that this build lacks
 * A function's comment names the array where there are several. It is 0 where nothing is listed. */
#define FOVEA_NOWHERE 0xffffffffu
typedef struct fovea_error {
  fovea_status status;
  uint32_t section;  /* Section of the blob, by its position in the section table. */
  uint32_t step;     /* Operation of the program, by its position. */
  uint32_t tensor;   /* Tensor or value concerned, by its position. */
  uint64_t index;    /* Position of the fault: of a byte or of an array's entry, see above. */
  uint64_t expected; /* The required number: bytes, count or upper bound, as `text` specifies. */
  uint64_t found;    /* The number given instead. */
  const char* text;  /* Static, one line, English, no full stop. */
} fovea_error;

/* Returns a short static name of a status ("FOVEA_E_TOO_SMALL"), or "unknown status". Any thread. */
FOVEA_API const char* fovea_status_name(fovea_status status);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_STATUS_H_ */
