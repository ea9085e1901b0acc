/* port.h without an operating system: memory is one static array, the blob is linked in (model.S), there are no
 * threads, ticks come from the board, and text is written with board_write.
 */
#include "ports/port.h"

#include <string.h>

#include "board.h"

#ifndef PORT_MEMORY_BYTES
#define PORT_MEMORY_BYTES (400u << 10)
#endif

/* Blocks are consecutive, each after 64 bytes that hold its size; only the last one can be freed. */
static unsigned char memory_array[PORT_MEMORY_BYTES] __attribute__((aligned(64)));
static size_t memory_used;

void* fovea_port_memory(void* context, uint64_t size, uint32_t block) {
  (void)context, (void)block;
  if (size > sizeof(memory_array)) return NULL;
  const size_t needed = 64 + ((size_t)size + 63) / 64 * 64;
  if (needed > sizeof(memory_array) - memory_used) return NULL;
  unsigned char* memory = memory_array + memory_used;
  memory_used += needed;
  memcpy(memory, &needed, sizeof(needed));
  return memory + 64;
}

/* A block that is not the last one is not reused. */
void fovea_port_free(void* memory) {
  size_t needed;
  if (memory == NULL) return;
  unsigned char* block = (unsigned char*)memory - 64;
  memcpy(&needed, block, sizeof(needed));
  if (block + needed == memory_array + memory_used) memory_used -= needed;
}

extern const unsigned char model_blob[], model_blob_end[];

/* There is one blob; the name is ignored. */
const char* fovea_port_open(const char* name, fovea_port_file* file) {
  (void)name;
  file->data = model_blob;
  file->size = (uint64_t)(model_blob_end - model_blob);
  return NULL;
}
void fovea_port_close(fovea_port_file* file) { memset(file, 0, sizeof(*file)); }

/* One worker after the other, without waiting. */
struct fovea_port_threads {
  uint32_t count;
};
static fovea_port_threads caller = {1};

fovea_port_threads* fovea_port_start(uint32_t threads) {
  (void)threads;
  return &caller;
}
uint32_t fovea_port_count(const fovea_port_threads* threads) { return threads->count; }
void fovea_port_stop(fovea_port_threads* threads) { (void)threads; }
void fovea_port_run(void* threads, uint32_t workers, fovea_task task, void* task_context) {
  (void)threads;
  for (uint32_t worker = 0; worker < workers; ++worker) task(task_context, worker);
}
void fovea_port_barrier(void* threads, uint32_t workers) {
  (void)threads;
  (void)workers;
}

uint64_t fovea_port_ticks(void) { return board_ticks(); }
uint64_t fovea_port_ticks_per_second(void) { return board_ticks_per_second(); }

/* board_write expects a NUL-terminated string. */
void fovea_port_write(const char* text, uint64_t size) {
  char part[65];
  while (size > 0) {
    const size_t count = size < sizeof(part) - 1 ? (size_t)size : sizeof(part) - 1;
    memcpy(part, text, count);
    part[count] = '\0';
    board_write(part);
    text += count;
    size -= count;
  }
}
