/* Continues a text and prints it as it comes: generate BLOB TEXT */
#include "../example.h"

enum { PROMPT = 256, NEW_TOKENS = 48, BYTES = 1024 };

static int generate(example* self, const char* path, const char* text) {
  static int32_t ids[PROMPT];
  static char part[BYTES];
  fovea_model* model;
  fovea_session* session;
  fovea_generator* generator;
  fovea_text_tokens tokens = FOVEA_TEXT_TOKENS_INIT;
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  fovea_generate_options making = FOVEA_GENERATE_OPTIONS_INIT;
  fovea_generated step = FOVEA_GENERATED_INIT;
  fovea_text_stream stream = FOVEA_TEXT_STREAM_INIT;
  uint64_t room = 0, needed = 0, size = 0;
  void* memory;
  uint32_t length;
  if (example_open(self, path, &model) != 0) return 1;

  EXAMPLE_TRY(self, fovea_text_scratch_size(model, strlen(text), &room, &self->error));
  tokens.capacity = PROMPT;
  tokens.ids = ids;
  EXAMPLE_TRY(self, fovea_text_encode(model, text, strlen(text), NULL, 0, NULL,
                                      example_memory(self, room, FOVEA_BLOCK_SCRATCH), room, &tokens, &self->error));
  length = (uint32_t)tokens.count;

  /* One text; its KV cache has room for the prompt and the new tokens. */
  EXAMPLE_TRY(self, fovea_generate_find_programs(model, &options.program, NULL, &self->error));
  options.rows = tokens.count + NEW_TOKENS;
  options.cached_texts = 1;
  EXAMPLE_TRY(self, fovea_session_make(model, &options, example_memory, self, &session, &self->error));
  making.decode = session;
  making.max_tokens = NEW_TOKENS;
  EXAMPLE_TRY(self, fovea_generate_size(&making, &needed, &self->error));
  memory = example_memory(self, needed, FOVEA_BLOCK_SCRATCH);
  EXAMPLE_TRY(self, fovea_generate_init(&making, memory, needed, &generator, &self->error));

  EXAMPLE_TRY(self, fovea_generate_start(generator, &self->error));
  EXAMPLE_TRY(self, fovea_generate_set_prompts(generator, ids, &length, 1, 0, &self->error));
  do {
    EXAMPLE_TRY(self, fovea_generate_next(generator, NULL, &step, &self->error));
    EXAMPLE_TRY(self, fovea_text_decode_next(model, &stream, step.tokens, 1, part, sizeof(part), &size, &self->error));
    fovea_port_write(part, size);
  } while (step.left != 0);
  EXAMPLE_TRY(self, fovea_text_decode_end(model, &stream, part, sizeof(part), &size, &self->error));
  fovea_port_write(part, size);
  fovea_port_write("\n", 1);
  return 0;
}

int main(int argc, char** argv) {
  static example self;
  int status;
  if (argc != 3) {
    fprintf(stderr, "usage: %s BLOB TEXT\n", argv[0]);
    return 2;
  }
  status = generate(&self, argv[1], argv[2]);
  example_close(&self);
  return status;
}
