/* Says which class a text is of: ./classify model.fovea "a text" */
#include <fovea/fovea.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) if ((call) != FOVEA_OK) return fprintf(stderr, "%s: %s\n", #call, error.text ? error.text : "no such name"), 1

static void* get(uint64_t size) { /* Memory on a multiple of 64 bytes; fovea itself never allocates. */
  char* memory = malloc((size_t)size + 63);
  return memory == NULL ? exit(1), NULL : memory + (64 - (uintptr_t)memory % 64) % 64;
}

int main(int argc, char** argv) {
  fovea_error error = {0};
  FILE* file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return fprintf(stderr, "usage: classify BLOB TEXT\n"), 2;
  uint64_t size = (uint64_t)ftell(file), needed, length = strlen(argv[2]);
  void* blob = get(size);
  rewind(file);
  if (fread(blob, 1, size, file) != size) return 1;

  fovea_model* model; /* Ask for the bytes, hand them over. */
  TRY(fovea_model_size(blob, size, NULL, &needed, &error));
  TRY(fovea_model_init(blob, size, NULL, get(needed), needed, &model, &error));

  int32_t ids[512]; /* The text as token ids. */
  fovea_text_tokens tokens = {.struct_size = sizeof(tokens), .capacity = 512, .ids = ids};
  TRY(fovea_text_workspace_size(model, length, &needed, &error));
  TRY(fovea_text_encode(model, argv[2], length, NULL, 0, NULL, get(needed), needed, &tokens, &error));

  uint32_t space, input, logits, rows = (uint32_t)tokens.count, best = 0; /* A session for that many tokens. */
  TRY(fovea_model_find_space(model, "tokens", &space));
  TRY(fovea_program_find_value(model, 0, "input_ids", &input));
  TRY(fovea_program_find_value(model, 0, "logits", &logits));
  fovea_limit limit = {space, rows, 0};
  fovea_session_options options = {.struct_size = sizeof(options), .limit_count = 1, .limits = &limit};
  fovea_session_memory memory = {.struct_size = sizeof(memory)};
  TRY(fovea_session_size(model, &options, &memory, &error));
  memory.fixed = get(memory.fixed_size), memory.state = get(memory.state_size), memory.scratch = get(memory.scratch_size);
  fovea_session* session;
  TRY(fovea_session_init(model, &options, &memory, &session, &error));

  fovea_view view; /* One segment of `rows` rows: its ids in, its scores out. */
  TRY(fovea_session_set_segments(session, space, &rows, 1, &error));
  TRY(fovea_session_input(session, input, &view, &error));
  memcpy(view.data, ids, rows * sizeof(ids[0]));
  if (fovea_program_find_value(model, 0, "token_type_ids", &input) == FOVEA_OK) {
    TRY(fovea_session_input(session, input, &view, &error));
    memset(view.data, 0, rows * sizeof(ids[0]));
  }
  TRY(fovea_session_run(session, &error));
  TRY(fovea_session_output(session, logits, &view, &error));
  for (uint32_t i = 1; i < view.width; ++i) {
    if (((float*)view.data)[i] > ((float*)view.data)[best]) best = i;
  }
  char key[32];
  snprintf(key, sizeof(key), "label.%u", (unsigned)best);
  const char* label = fovea_model_metadata(model, key);
  return puts(label ? label : key) < 0;
}
