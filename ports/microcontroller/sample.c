#include "sample.h"

#include <fovea/attention.h>
#include <string.h>

/* fovea never allocates: the exact number of bytes is known beforehand, here with room to spare. */
#if defined(_MSC_VER)
static __declspec(align(64)) unsigned char scratch[40960];
#else
static unsigned char scratch[40960] __attribute__((aligned(64)));
#endif

const char* fovea_sample(float outputs[6]) {
  static const float queries[6][4] = {{0}}, keys[6][4] = {{0}}, values[6][1] = {{1}, {2}, {3}, {4}, {5}, {6}};
  static fovea_error error;
  fovea_attention_pattern pattern = FOVEA_ATTENTION_PATTERN_INIT;
  fovea_attention_options options = FOVEA_ATTENTION_OPTIONS_INIT;
  fovea_attention_rows q, k, v;
  fovea_attention_out out;
  uint64_t size = 0;

  pattern.window = FOVEA_WINDOW_SIDES;
  pattern.left = 2;
  options.d_k = 4;
  options.d_v = 1;
  options.tile_rows = 6;
  options.pattern = &pattern;
  memset(&q, 0, sizeof(q));
  q.data = queries;
  q.rows = 6;
  k = v = q;
  k.data = keys;
  v.data = values;
  memset(&out, 0, sizeof(out));
  out.data = outputs;
  out.rows = 6;

  if (fovea_attention_scratch_size(&options, &size, &error) != FOVEA_OK) return error.text;
  if (size > sizeof(scratch)) return "the sample's scratch is too small";
  if (fovea_attention_run(&options, &q, &k, &v, &out, scratch, size, &error) != FOVEA_OK) return error.text;
  return NULL;
}
