/* Says which class a text is of: ./classify model.fovea "a text" */
#include <fovea/fovea.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOKENS 512
#define MAX_BLOCKS 16

/* fovea never allocates. It asks a function like get_memory for the few blocks that it needs, each with an alignment of
 * 64 bytes; they belong to the program, which frees them when model and session are used no more. */
struct blocks {
  void* starts[MAX_BLOCKS];
  size_t count;
};

static void* get_memory(void* context, uint64_t size, uint32_t block) {
  struct blocks* blocks = (struct blocks*)context;
  char* memory;
  (void)block; /* which of them it is: FOVEA_BLOCK_SCRATCH gains most from fast memory */
  if (size > SIZE_MAX - 63 || blocks->count == MAX_BLOCKS) return NULL;
  memory = (char*)malloc((size_t)size + 63);
  if (memory == NULL) return NULL;
  blocks->starts[blocks->count++] = memory;
  return memory + (64 - (uintptr_t)memory % 64) % 64;
}

/* The blob is read in place: a mapped file or flash would do as well. */
static void* read_file(const char* path, struct blocks* blocks, uint64_t* size) {
  void* bytes = NULL;
  long end = -1;
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) end = ftell(file);
  if (end >= 0) {
    *size = (uint64_t)end;
    bytes = get_memory(blocks, *size, FOVEA_BLOCK_MODEL);
  }
  rewind(file);
  if (bytes != NULL && fread(bytes, 1, (size_t)*size, file) != *size) bytes = NULL;
  fclose(file);
  return bytes;
}

static int failed(const char* what, const fovea_error* error) {
  fprintf(stderr, "%s: %s\n", what, error->text);
  return 1;
}

static int classify(const void* blob, uint64_t blob_size, const char* text, struct blocks* blocks) {
  static int32_t ids[MAX_TOKENS], types[MAX_TOKENS];
  fovea_error error;
  fovea_model* model;
  fovea_session* session;
  fovea_text_tokens tokens = FOVEA_TEXT_TOKENS_INIT;
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  fovea_view logits;
  uint64_t scratch_size = 0;
  void* scratch;
  const float* scores;
  uint32_t i, best = 0;

  /* Once: check the blob, make the model. */
  if (fovea_model_make(blob, blob_size, NULL, get_memory, blocks, &model, &error) != FOVEA_OK) {
    return failed("model", &error);
  }
  /* Text to token ids, in memory whose exact size depends on the text's length. */
  if (fovea_text_scratch_size(model, strlen(text), &scratch_size, &error) != FOVEA_OK) return failed("text", &error);
  scratch = get_memory(blocks, scratch_size, FOVEA_BLOCK_SCRATCH);
  tokens.capacity = MAX_TOKENS;
  tokens.ids = ids;
  tokens.types = types;
  if (fovea_text_encode(model, text, strlen(text), NULL, 0, NULL, scratch, scratch_size, &tokens, &error) != FOVEA_OK) {
    return failed("text", &error);
  }
  /* Once: a session for up to this many tokens. Any number of runs may follow. */
  options.rows = tokens.count;
  if (fovea_session_make(model, &options, get_memory, blocks, &session, &error) != FOVEA_OK) {
    return failed("session", &error);
  }
  if (fovea_text_bind(session, &tokens, 1, &error) != FOVEA_OK) return failed("bind", &error);
  if (fovea_session_run(session, &error) != FOVEA_OK) return failed("run", &error);
  if (fovea_session_find_output(session, "logits", &logits, &error) != FOVEA_OK) return failed("logits", &error);

  scores = (const float*)logits.data;
  for (i = 1; i < logits.width; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  puts(fovea_model_get_label(model, best));
  return 0;
}

int main(int argc, char** argv) {
  struct blocks blocks;
  uint64_t size = 0;
  void* blob;
  int status = 1;

  if (argc != 3) {
    fprintf(stderr, "usage: %s BLOB TEXT\n", argv[0]);
    return 2;
  }
  blocks.count = 0;
  blob = read_file(argv[1], &blocks, &size);
  if (blob == NULL) {
    perror(argv[1]);
  } else {
    status = classify(blob, size, argv[2], &blocks);
  }
  while (blocks.count > 0) free(blocks.starts[--blocks.count]);
  return status;
}
