/* How many instructions it takes to classify a text, by a counter that QEMU's plugin keeps in a file (plugin.c):
 *   count BLOB "a text" COUNTER
 * One line for each part: `model`, `session`, `text`, the operations of the program together, and `run`, all of them.
 * */
#include <fcntl.h>
#include <fovea/fovea.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ports/port.h"

enum { TOKENS = 512, SENTENCES = 32, KINDS = 32 };
#define TRY(call) \
  if ((call) != FOVEA_OK) return fprintf(stderr, "%s: %s\n", #call, error.text), 1

static const volatile uint64_t* counter;
static uint64_t executed(void) { return *counter; }

static void tell(const char* part, uint64_t instructions) {
  printf("%s %llu\n", part, (unsigned long long)instructions);
}

static int tell_operations(const fovea_model* model, const fovea_session* session) {
  fovea_program_info program = FOVEA_PROGRAM_INFO_INIT;
  struct {
    const char* name;
    uint64_t ticks;
  } kinds[KINDS];
  uint32_t count = 0, kind;
  if (fovea_model_get_program(model, 0, &program) != FOVEA_OK) return 1;
  for (uint32_t step = 0; step < program.step_count; ++step) {
    fovea_step_info info = FOVEA_STEP_INFO_INIT;
    uint64_t ticks;
    if (fovea_program_get_step(model, 0, step, &info) != FOVEA_OK) return 1;
    if (fovea_session_get_step_ticks(session, step, &ticks) != FOVEA_OK) return 1;
    for (kind = 0; kind < count && strcmp(kinds[kind].name, info.op) != 0;) ++kind;
    if (kind == KINDS) return 1;
    if (kind == count) kinds[count].name = info.op, kinds[count++].ticks = 0;
    kinds[kind].ticks += ticks;
  }
  for (kind = 0; kind < count; ++kind) tell(kinds[kind].name, kinds[kind].ticks);
  return 0;
}

int main(int argc, char** argv) {
  static int32_t ids[TOKENS];
  static uint32_t lengths[SENTENCES];
  fovea_error error = {0};
  fovea_model* model;
  fovea_session* session;
  fovea_port_file blob;
  fovea_session_options options = {.struct_size = sizeof(options), .clock = executed, .rows = TOKENS};
  fovea_text_tokens tokens = {.struct_size = sizeof(tokens), .capacity = TOKENS, .ids = ids};
  fovea_text_sentences sentences = {.struct_size = sizeof(sentences), .capacity = SENTENCES, .lengths = lengths};
  fovea_view logits;
  uint64_t size, from;
  if (argc != 4) return fprintf(stderr, "usage: count BLOB TEXT COUNTER\n"), 2;
  if (fovea_port_open(argv[1], &blob) != NULL) return perror(argv[1]), 1;
  const int file = open(argv[3], O_RDONLY);
  const void* shared = file < 0 ? MAP_FAILED : mmap(NULL, sizeof(*counter), PROT_READ, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) return perror(argv[3]), 1;
  counter = shared;
  if (executed() == 0) return fprintf(stderr, "%s: the counter stays 0: run in QEMU with plugin.so\n", argv[3]), 1;

  from = executed();
  TRY(fovea_model_make(blob.data, blob.size, NULL, fovea_port_memory, NULL, &model, &error));
  tell("model", executed() - from);
  from = executed();
  TRY(fovea_session_make(model, &options, fovea_port_memory, NULL, &session, &error));
  tell("session", executed() - from);

  TRY(fovea_text_scratch_size(model, strlen(argv[2]), &size, &error));
  void* work = fovea_port_memory(NULL, size, FOVEA_BLOCK_SCRATCH);
  for (int turn = 0; turn < 2; ++turn) { /* The first turn also maps pages, which is not the library's work. */
    from = executed();
    TRY(fovea_text_encode_document(model, argv[2], strlen(argv[2]), NULL, work, size, &tokens, &sentences, &error));
    if (turn == 1) tell("text", executed() - from);
  }
  TRY(fovea_text_bind_documents(session, &tokens, &sentences, 1, &error));
  from = executed();
  TRY(fovea_session_run(session, &error));
  tell("run", executed() - from);
  if (tell_operations(model, session) != 0) return fprintf(stderr, "operations cannot be read\n"), 1;
  TRY(fovea_session_find_output(session, "logits", &logits, &error));
  uint32_t best = 0;
  for (uint32_t i = 1; i < logits.width; ++i) {
    if (((const float*)logits.data)[i] > ((const float*)logits.data)[best]) best = i;
  }
  fprintf(stderr, "%llu tokens, %s\n", (unsigned long long)tokens.count, fovea_model_get_label(model, best));
  return 0;
}
