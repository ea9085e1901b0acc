/* Reads one document, then another like it, and encodes anew only the sentences that the first one does not have:
 * ./reuse documents.fovea "first text" "second text" */
#include <fovea/fovea.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                     \
  do {                                                \
    if ((call) != FOVEA_OK) {                         \
      fprintf(stderr, "%s: %s\n", #call, error.text); \
      return 1;                                       \
    }                                                 \
  } while (0)
enum { TOKENS = 4096, SENTENCES = 256, BLOCKS = 32 };

/* A document and the finished row of each of its sentences. */
typedef struct {
  int32_t ids[TOKENS];
  uint32_t lengths[SENTENCES];
  float* rows;
  fovea_text_tokens tokens;
  fovea_text_sentences sentences;
} document;

static void* blocks[BLOCKS]; /* To be freed at the end. */
static int block_count;

static void* get(void* context, uint64_t size, uint32_t block) { /* Memory on a multiple of 64 bytes. */
  char* memory = NULL;
  (void)context, (void)block;
  if (size < SIZE_MAX - 63 && block_count < BLOCKS) memory = (char*)malloc((size_t)size + 63);
  if (memory == NULL) return NULL;
  blocks[block_count++] = memory;
  return memory + (64 - (uintptr_t)memory % 64) % 64;
}

/* The row of an equal sentence, or NULL. */
static const float* find(const document* d, const int32_t* ids, uint32_t length, uint32_t width) {
  const int32_t* known = d->ids;
  for (uint64_t k = 0; k < d->sentences.count; known += d->lengths[k++]) {
    if (d->lengths[k] == length && memcmp(known, ids, length * sizeof(*ids)) == 0) return d->rows + k * width;
  }
  return NULL;
}

/* The bytes of a file, or NULL. */
static void* read_file(const char* path, uint64_t* size) {
  FILE* file = fopen(path, "rb");
  void* bytes = NULL;
  long end = -1;
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) end = ftell(file);
  if (end >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = get(NULL, *size = (uint64_t)end, FOVEA_BLOCK_MODEL);
  if (bytes != NULL && fread(bytes, 1, (size_t)*size, file) != *size) bytes = NULL;
  fclose(file);
  return bytes;
}

static int classify_both(const void* blob, uint64_t size, char** texts) {
  fovea_error error;
  fovea_model* model;
  TRY(fovea_model_make(blob, size, NULL, get, NULL, &model, &error));

  /* Two parts of one model: tokens to rows of sentences, rows of sentences to a class. Their weights are the same
   * memory. */
  fovea_session *lower, *upper;
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  options.rows = TOKENS;
  TRY(fovea_model_find_program(model, "encode_sentences", &options.program));
  TRY(fovea_session_make(model, &options, get, NULL, &lower, &error));
  options.rows = SENTENCES;
  TRY(fovea_model_find_program(model, "encode_document", &options.program));
  TRY(fovea_session_make(model, &options, get, NULL, &upper, &error));
  uint32_t rows, space;
  fovea_value_info info = FOVEA_VALUE_INFO_INIT;
  TRY(fovea_program_find_value(model, options.program, "sentence_rows", &rows));
  TRY(fovea_program_get_value(model, options.program, rows, &info));
  space = info.space;

  static document documents[2];
  for (int i = 0; i < 2; ++i) {
    document* d = &documents[i];
    uint64_t length = strlen(texts[i]), room;
    d->tokens.struct_size = sizeof(d->tokens);
    d->tokens.capacity = TOKENS;
    d->tokens.ids = d->ids;
    d->sentences.struct_size = sizeof(d->sentences);
    d->sentences.capacity = SENTENCES;
    d->sentences.lengths = d->lengths;
    TRY(fovea_text_scratch_size(model, length, &room, &error));
    TRY(fovea_text_encode_document(model, texts[i], length, NULL, get(NULL, room, FOVEA_BLOCK_SCRATCH), room,
                                   &d->tokens, &d->sentences, &error));
    d->rows = (float*)get(NULL, (d->sentences.count + 1) * info.width * sizeof(float), FOVEA_BLOCK_SCRATCH);
    if (d->rows == NULL) return 1;

    fovea_view view;
    uint32_t encoded = 0;
    fovea_text_tokens tokens = d->tokens; /* one sentence at a time */
    fovea_text_sentences sentence = d->sentences;
    sentence.capacity = sentence.count = 1;
    for (uint64_t k = 0; k < d->sentences.count; ++k, tokens.ids += tokens.count) {
      tokens.count = d->lengths[k];
      sentence.lengths = &d->lengths[k];
      const float* known = i == 0 ? NULL : find(&documents[0], tokens.ids, d->lengths[k], info.width);
      if (known == NULL) {
        TRY(fovea_text_bind_documents(lower, &tokens, &sentence, 1, &error));
        TRY(fovea_session_run(lower, &error));
        TRY(fovea_session_find_output(lower, "sentence_rows", &view, &error));
        known = (const float*)view.data;
        ++encoded;
      }
      memcpy(d->rows + k * info.width, known, info.width * sizeof(float));
    }

    uint32_t count = (uint32_t)d->sentences.count, best = 0;
    TRY(fovea_session_set_segments(upper, space, &count, 1, &error));
    TRY(fovea_session_get_input(upper, rows, &view, &error));
    memcpy(view.data, d->rows, (size_t)count * info.width * sizeof(float));
    TRY(fovea_session_run(upper, &error));
    TRY(fovea_session_find_output(upper, "logits", &view, &error));
    const float* scores = (const float*)view.data;
    for (uint32_t c = 1; c < view.width; ++c) best = scores[c] > scores[best] ? c : best;
    printf("%s, %u of %u sentences encoded\n", fovea_model_get_label(model, best), encoded, count);
  }
  return 0;
}

int main(int argc, char** argv) {
  uint64_t size = 0;
  const void* blob;
  int status = 1;
  if (argc != 4) {
    fprintf(stderr, "usage: %s BLOB TEXT TEXT\n", argv[0]);
    return 2;
  }
  blob = read_file(argv[1], &size);
  if (blob == NULL) {
    perror(argv[1]);
  } else {
    status = classify_both(blob, size, argv + 2);
  }
  while (block_count > 0) free(blocks[--block_count]);
  return status;
}
