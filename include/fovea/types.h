/* fovea/types.h - what several headers number alike: element types (as blobs do) and what is kept of attention.
 *
 * Structs of this interface come in two sorts. Those that begin with `struct_size` may get more fields at their end in
 * a later version: set it to sizeof of the struct, whatever version the program was compiled with; fields that the
 * caller's version lacks count as zero (options) or are left out (results), and a field that this library does not know
 * must be zero (FOVEA_E_STRUCT_SIZE). Those that do not begin so never change.
 *
 * A struct on the stack that is not set to zero has any number as its struct_size. Before anything else is read or
 * written, a struct_size is refused (FOVEA_E_STRUCT_SIZE) that is smaller than a size_t, not a multiple of one, or
 * above FOVEA_STRUCT_SIZE_MAX.
 */
#ifndef FOVEA_TYPES_H_
#define FOVEA_TYPES_H_

/* No struct with a struct_size will ever have more bytes. */
#define FOVEA_STRUCT_SIZE_MAX 1024

enum {
  FOVEA_TYPE_F32 = 0,
  FOVEA_TYPE_F16 = 1,  /* IEEE half precision. */
  FOVEA_TYPE_I8 = 2,   /* An element is integer * scale; what a scale belongs to is said where the type is used. */
  FOVEA_TYPE_I4 = 3,   /* Weights only: unsigned nibbles, (nibble - 8) * scale, low nibble first. */
  FOVEA_TYPE_I32 = 4,  /* Ids, marks, indices. */
  FOVEA_TYPE_BF16 = 5, /* The upper half of an f32. */
  FOVEA_TYPE_U8 = 6    /* Masks of attention only: 0 hides. */
};

/* What is kept of attention. */
enum {
  FOVEA_KEEP_ATTENTION = 0, /* What values are multiplied with. */
  FOVEA_KEEP_SCORES = 1     /* What is weighed. Of a key that counts several times, once. Rounded twice more. */
};

#endif /* FOVEA_TYPES_H_ */
