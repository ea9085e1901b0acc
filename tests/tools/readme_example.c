/* Says which class a text is of: ./classify model.fovea "a text" */
#include <fovea/fovea.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOKENS 512

/* fovea never allocates. It asks a function like this one for the few blocks that it needs, each with an alignment of
 * 64 bytes; they are the program's to free. This program lets the end of the process do that. */
static void* get_memory(void* context, uint64_t size) {
  char* memory;
  (void)context;
  if (size > SIZE_MAX - 63) return NULL;
  memory = malloc((size_t)size + 63);
  if (memory == NULL) return NULL;
  return memory + (64 - (uintptr_t)memory % 64) % 64;
}

/* The blob is read in place: a mapped file or flash would do as well. */
static void* read_file(const char* path, uint64_t* size) {
  void* bytes = NULL;
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    *size = (uint64_t)ftell(file);
    bytes = get_memory(NULL, *size);
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

int main(int argc, char** argv) {
  static int32_t ids[MAX_TOKENS], types[MAX_TOKENS];
  fovea_error error;
  fovea_model* model;
  fovea_session* session;
  fovea_text_tokens tokens = {.struct_size = sizeof(tokens), .capacity = MAX_TOKENS, .ids = ids, .types = types};
  fovea_session_options options = {.struct_size = sizeof(options)};
  fovea_view logits;
  uint64_t blob_size = 0, work_size = 0;
  void *blob, *work;
  const float* scores;
  uint32_t best = 0;

  if (argc != 3) {
    fprintf(stderr, "usage: %s BLOB TEXT\n", argv[0]);
    return 2;
  }
  blob = read_file(argv[1], &blob_size);
  if (blob == NULL) {
    perror(argv[1]);
    return 1;
  }

  /* Once: check the blob, make the model. */
  if (fovea_model_make(blob, blob_size, NULL, get_memory, NULL, &model, &error) != FOVEA_OK) {
    return failed("model", &error);
  }
  /* Text to token ids, in memory whose exact size depends on the text's length. */
  if (fovea_text_workspace_size(model, strlen(argv[2]), &work_size, &error) != FOVEA_OK) {
    return failed("text", &error);
  }
  work = get_memory(NULL, work_size);
  if (fovea_text_encode(model, argv[2], strlen(argv[2]), NULL, 0, NULL, work, work_size, &tokens, &error) != FOVEA_OK) {
    return failed("text", &error);
  }
  /* Once: a session for up to so many tokens. Any number of runs may follow. */
  options.rows = tokens.count;
  if (fovea_session_make(model, &options, get_memory, NULL, &session, &error) != FOVEA_OK) {
    return failed("session", &error);
  }
  if (fovea_text_bind(session, &tokens, 1, &error) != FOVEA_OK) return failed("bind", &error);
  if (fovea_session_run(session, &error) != FOVEA_OK) return failed("run", &error);
  if (fovea_session_find_output(session, "logits", &logits, &error) != FOVEA_OK) return failed("logits", &error);

  scores = logits.data;
  for (uint32_t i = 1; i < logits.width; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  puts(fovea_model_label(model, best));
  return 0;
}
