/* fovea/status.h - how every call reports success or failure.
 *
 * A status has two levels: the class in the low 8 bits says what the caller should do about it, the detail in the
 * bits above says what happened. FOVEA_STATUS_CLASS() takes the class out. FOVEA_OK is zero.
 *
 * Every call that can fail also takes a `fovea_error*`: storage of the caller (NULL: not wanted) that is filled when
 * the call fails and left alone when it succeeds. Its text is static: it is never freed and needs no translation table.
 * Nothing in fovea prints, aborts, throws or keeps an error of its own.
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

/* A fixed-width type, so that compiler options for enum sizes cannot change the interface. */
typedef int32_t fovea_status;

#define FOVEA_STATUS_CLASS(status) ((fovea_status)((status)&0xff))
#define FOVEA_STATUS_MAKE(class_, detail) ((fovea_status)((class_) | ((detail) << 8)))

enum {
  FOVEA_OK = 0,

  /* Classes. */
  FOVEA_E_ARGUMENT = 1,    /* The call is wrong: correct the program. */
  FOVEA_E_ORDER = 2,       /* The call came at the wrong time: see the function's comment for what must come first. */
  FOVEA_E_BLOB = 3,        /* The blob is damaged or was not made by a correct writer: get it again. */
  FOVEA_E_UNSUPPORTED = 4, /* The blob or request needs a newer or differently configured library. */
  FOVEA_E_MEMORY = 5,      /* A memory block is too small or misaligned: `expected` has the exact figure. */
  FOVEA_E_LIMIT = 6,       /* The input is larger than the limits the session was made for. */
  FOVEA_E_INPUT = 7,       /* A value in the input is out of range: `index` has its index. */
  FOVEA_E_CANCELLED = 8,   /* The run was cancelled by the caller. */
  FOVEA_E_INTERNAL = 9,    /* A backend refused what the library asked of it: please report it. */

  /* Details of FOVEA_E_ARGUMENT. */
  FOVEA_E_NULL = FOVEA_E_ARGUMENT | (1 << 8),        /* A required pointer is NULL. */
  FOVEA_E_STRUCT_SIZE = FOVEA_E_ARGUMENT | (2 << 8), /* struct_size is not set (see fovea/types.h), or an unknown field
                                                        is not zero. */
  FOVEA_E_NAME = FOVEA_E_ARGUMENT | (3 << 8),        /* No program, value, space or layer of that name. */
  FOVEA_E_INDEX = FOVEA_E_ARGUMENT | (4 << 8),       /* An index is out of range. */
  FOVEA_E_HANDLE = FOVEA_E_ARGUMENT | (5 << 8),      /* An invalid handle: NULL, or not one of this kind. */
  FOVEA_E_OPTION = FOVEA_E_ARGUMENT | (6 << 8),      /* An option's value is out of range. */
  FOVEA_E_RUNNER = FOVEA_E_ARGUMENT | (7 << 8),      /* A runner did not call every task once, or a barrier did not
                                                        wait: see fovea/runner.h. */

  /* Details of FOVEA_E_BLOB. */
  FOVEA_E_MAGIC = FOVEA_E_BLOB | (1 << 8),     /* Not a fovea blob. */
  FOVEA_E_TRUNCATED = FOVEA_E_BLOB | (2 << 8), /* Fewer bytes than the header says. */
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
  FOVEA_E_UTF8 = FOVEA_E_INPUT | (2 << 8),  /* The text is not valid UTF-8 at `index`. */
  FOVEA_E_EMPTY = FOVEA_E_INPUT | (3 << 8), /* A segment has no rows where at least one is needed. */
  FOVEA_E_STATE =
      FOVEA_E_INPUT | (4 << 8) /* A saved state is damaged, or of another program, model or number of rows. */
};

/* Where and why a call failed. Fields that do not apply are zero, or FOVEA_NOWHERE for section, step and tensor. This
 * struct never changes. */
#define FOVEA_NOWHERE 0xffffffffu
typedef struct fovea_error {
  fovea_status status;
  uint32_t section;  /* Section of the blob, by its position in the section table. */
  uint32_t step;     /* Operation of the program, by its position. */
  uint32_t tensor;   /* Tensor or value concerned, by its position. */
  uint64_t index;    /* Byte offset in the blob or text, or index of the offending entry in an input. */
  uint64_t expected; /* What was needed: bytes, count, upper bound; the text says which. */
  uint64_t found;    /* What was there. */
  const char* text;  /* Static, one line, English, no full stop. */
} fovea_error;

/* A short static name of a status ("FOVEA_E_TOO_SMALL"); "unknown status" for numbers that are none. Any thread. */
FOVEA_API const char* fovea_status_name(fovea_status status);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_STATUS_H_ */
