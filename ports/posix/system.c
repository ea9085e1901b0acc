/* Memory, files, clock and text of POSIX systems. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ports/port.h"

void* fovea_port_memory(void* context, uint64_t size, uint32_t block) {
  void* memory = NULL;
  (void)context, (void)block;
  if (size > SIZE_MAX / 2) return NULL;
  return posix_memalign(&memory, 64, size == 0 ? 64 : (size_t)size) == 0 ? memory : NULL;
}

void fovea_port_free(void* memory) { free(memory); }

static const char* map(int descriptor, fovea_port_file* file) {
  struct stat info;
  void* memory;
  if (fstat(descriptor, &info) != 0) return strerror(errno);
  if (!S_ISREG(info.st_mode)) return "not a file";
  if ((uint64_t)info.st_size > SIZE_MAX) return strerror(EFBIG);
  if (info.st_size == 0) return NULL;
  memory = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) return strerror(errno);
  file->data = memory;
  file->size = (uint64_t)info.st_size;
  return NULL;
}

const char* fovea_port_open(const char* name, fovea_port_file* file) {
  const char* failure;
  const int descriptor = open(name, O_RDONLY | O_CLOEXEC);
  file->data = NULL;
  file->size = 0;
  if (descriptor < 0) return strerror(errno);
  failure = map(descriptor, file);
  close(descriptor);
  return failure;
}

void fovea_port_close(fovea_port_file* file) {
  if (file->data != NULL) munmap((void*)file->data, (size_t)file->size);
  file->data = NULL;
  file->size = 0;
}

uint64_t fovea_port_ticks(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t fovea_port_ticks_per_second(void) { return 1000000000u; }

void fovea_port_write(const char* text, uint64_t size) {
  while (size > 0) {
    const ssize_t written = write(STDOUT_FILENO, text, (size_t)size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text += written;
    size -= (uint64_t)written;
  }
}
