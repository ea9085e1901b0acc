/* The smallest port: memory from an array, the blob read by the C library, no threads. Copy this folder and replace the
 * functions that differ on your platform; ports/port.h specifies each of them. Build it with -DFOVEA_PORT=<the copy>
 * and run port_check.
 */
#include "ports/port.h"

#include <stdio.h>
#include <time.h>

/* All the memory: blocks are taken from it one after the other. `fovea inspect B --header` prints the exact sizes of
 * a model and its session; firmware passes such arrays to fovea_model_init and needs no fovea_port_memory. */
static unsigned char arena[64 << 20] __attribute__((aligned(64)));
static uint64_t used;

static uint64_t rounded(uint64_t size) { return (size + 63) / 64 * 64; }

void* fovea_port_memory(void* context, uint64_t size, uint32_t block) {
  void* memory = arena + used;
  (void)context, (void)block;
  if (size > sizeof(arena) || rounded(size) > sizeof(arena) - used) return NULL;
  used += rounded(size);
  return memory;
}

/* A port that remembers where the last block began can reuse it; this one does not. */
void fovea_port_free(void* memory) { (void)memory; }

/* A blob in flash or linked into the program is simpler: set data and size, and return NULL. */
const char* fovea_port_open(const char* name, fovea_port_file* file) {
  unsigned char* bytes = arena + used;
  FILE* stream = fopen(name, "rb");
  file->data = NULL;
  file->size = 0;
  if (stream == NULL) return "cannot open the file";
  const uint64_t left = sizeof(arena) - used;
  const uint64_t size = fread(bytes, 1, (size_t)left, stream);
  const int failed = ferror(stream) != 0 || fgetc(stream) != EOF;
  fclose(stream);
  if (failed) return "cannot read the file, or it is larger than the memory";
  used += rounded(size);
  if (size > 0) file->data = bytes;
  file->size = size;
  return NULL;
}

void fovea_port_close(fovea_port_file* file) {
  file->data = NULL;
  file->size = 0;
}

/* No threads: one worker after the other. With threads, fovea_port_run returns when all workers have returned, and
 * fovea_port_barrier lets no worker through before all have arrived (ports/posix/threads.c). */
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

/* With one thread there is no other worker to wait for. */
void fovea_port_barrier(void* threads, uint32_t workers) {
  (void)threads;
  (void)workers;
}

/* A cycle counter also works. */
uint64_t fovea_port_ticks(void) { return (uint64_t)clock(); }
uint64_t fovea_port_ticks_per_second(void) { return (uint64_t)CLOCKS_PER_SEC; }

void fovea_port_write(const char* text, uint64_t size) { fwrite(text, 1, (size_t)size, stdout); }
