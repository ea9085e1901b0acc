/* port.h - the functions that a platform supplies to programs that run fovea on it: memory, access to the blob,
 * threads, a clock and text output. The library itself calls none of them; a program passes them to sessions and
 * models, so that the same program runs on every port.
 *
 * A port is a folder with the functions below in C or C++, and port.cmake if it needs libraries or linker options.
 * ports/template is the smallest one, to be copied.
 */
#ifndef FOVEA_PORTS_PORT_H_
#define FOVEA_PORTS_PORT_H_

#include "fovea/memory.h"
#include "fovea/runner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Memory ---- */

/* A fovea_memory: `size` bytes, alignment 64, or NULL. `context` and `block` are ignored. */
void* fovea_port_memory(void* context, uint64_t size, uint32_t block);
/* Frees a block of fovea_port_memory; NULL is allowed. Does nothing where memory is static. */
void fovea_port_free(void* memory);

/* ---- The blob: mapped, in flash, linked in, or read into memory; also any other file ---- */

typedef struct fovea_port_file {
  const void* data; /* Alignment 64, unchanged until it is closed. NULL if there are no bytes. */
  uint64_t size;
} fovea_port_file;
/* NULL, or a message why it cannot be opened: one line, valid until the next call in this thread. Without a file
 * system the port decides what `name` means. */
const char* fovea_port_open(const char* name, fovea_port_file* file);
/* Closes an opened file, once. */
void fovea_port_close(fovea_port_file* file);

/* ---- Threads ---- */

typedef struct fovea_port_threads fovea_port_threads;
/* Starts up to `threads` threads, the caller's included, so 1 starts none. NULL on failure. */
fovea_port_threads* fovea_port_start(uint32_t threads);
/* Their number: 1 on ports without threads. */
uint32_t fovea_port_count(const fovea_port_threads* threads);
/* Ends them; NULL is allowed. */
void fovea_port_stop(fovea_port_threads* threads);
/* A fovea_runner, whose context is a fovea_port_threads. Accepts any number of workers; a thread may run several.
 * Sessions may share threads if they do not run at the same time. */
void fovea_port_run(void* threads, uint32_t workers, fovea_task task, void* task_context);
/* The fovea_barrier for this runner, for up to fovea_port_count workers. */
void fovea_port_barrier(void* threads, uint32_t workers);

/* ---- Clock ---- */

/* Monotonic; the `clock` of session options. */
uint64_t fovea_port_ticks(void);
/* 0: unknown, ticks can only be compared. */
uint64_t fovea_port_ticks_per_second(void);

/* ---- Text ---- */

/* Shows `size` bytes of text: on standard output, a serial line or by semihosting. */
void fovea_port_write(const char* text, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_PORTS_PORT_H_ */
