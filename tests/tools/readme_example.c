/* Says which class a text is of: ./classify model.fovea "a text" */
#include <fovea/fovea.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) if ((call) != FOVEA_OK) return fprintf(stderr, "%s: %s\n", #call, error.text), 1

static void* get(void* context, uint64_t size) { /* Memory on a multiple of 64 bytes; fovea itself never allocates. */
  char* memory = size < SIZE_MAX - 63 ? malloc((size_t)size + 63) : NULL;
  (void)context;
  return memory == NULL ? NULL : memory + (64 - (uintptr_t)memory % 64) % 64;
}

int main(int argc, char** argv) {
  fovea_error error;
  FILE* file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return fprintf(stderr, "usage: classify BLOB TEXT\n"), 2;
  uint64_t size = (uint64_t)ftell(file), length = strlen(argv[2]), room;
  void* blob = get(NULL, size);
  if (blob == NULL || fseek(file, 0, SEEK_SET) != 0 || fread(blob, 1, size, file) != size) return perror(argv[1]), 1;

  fovea_model* model; /* Made in memory of the exact size, which `get` is asked for; so is the session. */
  TRY(fovea_model_make(blob, size, NULL, get, NULL, &model, &error));
  int32_t ids[512], types[512];
  fovea_text_tokens tokens = {.struct_size = sizeof(tokens), .capacity = 512, .ids = ids, .types = types};
  TRY(fovea_text_workspace_size(model, length, &room, &error));
  TRY(fovea_text_encode(model, argv[2], length, NULL, 0, NULL, get(NULL, room), room, &tokens, &error));
  fovea_session* session;
  fovea_session_options options = {.struct_size = sizeof(options), .rows = tokens.count};
  TRY(fovea_session_make(model, &options, get, NULL, &session, &error));

  fovea_view view;
  TRY(fovea_text_bind(session, &tokens, 1, &error));
  TRY(fovea_session_run(session, &error));
  TRY(fovea_session_find_output(session, "logits", &view, &error));
  const float *scores = view.data, *best = scores;
  for (uint32_t i = 1; i < view.width; ++i) best = scores[i] > *best ? scores + i : best;
  return puts(fovea_model_label(model, (uint32_t)(best - scores))) < 0;
}
