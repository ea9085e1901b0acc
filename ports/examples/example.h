/* Shared by the examples: the model of a blob, memory that is freed at the end, and one line for a failure. */
#ifndef FOVEA_PORTS_EXAMPLES_EXAMPLE_H_
#define FOVEA_PORTS_EXAMPLES_EXAMPLE_H_

#include <fovea/fovea.h>
#include <fovea/port.h>
#include <stdio.h>
#include <string.h>

enum { EXAMPLE_BLOCKS = 32 };

/* Zeros at first. The blocks and the blob belong to the program; model and sessions refer to them. */
typedef struct example {
  fovea_port_file blob;
  void* blocks[EXAMPLE_BLOCKS];
  int block_count;
  fovea_error error;
} example;

/* A fovea_memory, whose context is an example. */
static void* example_memory(void* context, uint64_t size, uint32_t block) {
  example* self = (example*)context;
  void* memory = self->block_count < EXAMPLE_BLOCKS ? fovea_port_memory(NULL, size, block) : NULL;
  if (memory != NULL) self->blocks[self->block_count++] = memory;
  return memory;
}

/* 0, or 1 after a message. */
static int example_open(example* self, const char* path, fovea_model** model) {
  const char* failure = fovea_port_open(path, &self->blob);
  if (failure != NULL) {
    fprintf(stderr, "%s: %s\n", path, failure);
    return 1;
  }
  if (fovea_model_make(self->blob.data, self->blob.size, NULL, example_memory, self, model, &self->error) == FOVEA_OK) {
    return 0;
  }
  fprintf(stderr, "%s: %s\n", path, self->error.text);
  return 1;
}

/* Frees everything; call it when the model and its sessions are used no more. */
static void example_close(example* self) {
  while (self->block_count > 0) fovea_port_free(self->blocks[--self->block_count]);
  fovea_port_close(&self->blob);
}

/* Returns 1 from the calling function if a call of the library fails. */
#define EXAMPLE_TRY(self, call)                               \
  do {                                                        \
    if ((call) != FOVEA_OK) {                                 \
      fprintf(stderr, "%s: %s\n", #call, (self)->error.text); \
      return 1;                                               \
    }                                                         \
  } while (0)

#endif /* FOVEA_PORTS_EXAMPLES_EXAMPLE_H_ */
