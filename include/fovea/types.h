/* fovea/types.h - numbers that several headers share, and how structs of this interface grow.
 *
 * Structs of this interface come in two sorts. A struct that begins with `struct_size` may get more fields at its end
 * in a later version. Set struct_size to sizeof of the struct, which its FOVEA_.._INIT macro does: fields that the
 * caller's version lacks count as zero (options) or are left out (results), and a field that this library does not know
 * must be zero (FOVEA_E_STRUCT_SIZE). A struct without struct_size never changes.
 *
 *   fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
 *
 * A struct on the stack that is not initialised has an arbitrary struct_size. Before anything else is read or written,
 * a struct_size is refused (FOVEA_E_STRUCT_SIZE) that is smaller than a size_t, not a multiple of one, or above
 * FOVEA_STRUCT_SIZE_MAX.
 *
 * Enumerations have names (fovea_type). Struct fields that hold one are uint32_t, so that no compiler option changes
 * their size; the field's comment names the enumeration.
 */
#ifndef FOVEA_TYPES_H_
#define FOVEA_TYPES_H_

/* No struct with a struct_size will ever have more bytes. */
#define FOVEA_STRUCT_SIZE_MAX 1024

/* Initial value of a struct that begins with struct_size: that field is set and all fields after it are zero. Each
 * struct has a macro made with it; as an initialiser it is C99 and C++. */
#ifdef __cplusplus
#if __cplusplus >= 201402L
#define FOVEA_INIT_CONSTEXPR constexpr
#else
#define FOVEA_INIT_CONSTEXPR inline
#endif
template <typename T>
FOVEA_INIT_CONSTEXPR T fovea_initial() {
  T made = T();
  made.struct_size = sizeof(T);
  return made;
}
#undef FOVEA_INIT_CONSTEXPR
#define FOVEA_INIT(type) fovea_initial<type>()
#else
#define FOVEA_INIT(type) \
  { .struct_size = sizeof(type) }
#endif

/* Element type; blobs use the same numbers. */
typedef enum fovea_type {
  FOVEA_TYPE_F32 = 0,
  FOVEA_TYPE_F16 = 1,  /* IEEE half precision. */
  FOVEA_TYPE_I8 = 2,   /* An element is integer * scale; each use of the type specifies what shares a scale. */
  FOVEA_TYPE_I4 = 3,   /* Model weights only: unsigned nibbles, (nibble - 8) * scale, low nibble first. */
  FOVEA_TYPE_I32 = 4,  /* Ids, marks, indices. */
  FOVEA_TYPE_BF16 = 5, /* The upper half of an f32. */
  FOVEA_TYPE_U8 = 6    /* Attention masks only: 0 hides. */
} fovea_type;

/* Contents of an attention map. */
typedef enum fovea_keep {
  FOVEA_KEEP_ATTENTION = 0, /* Attention weights: the factors that values are multiplied with. */
  FOVEA_KEEP_SCORES = 1 /* Scores before the softmax; a key that counts several times has one. Rounded twice more. */
} fovea_keep;

#endif /* FOVEA_TYPES_H_ */
