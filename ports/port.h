/* port.h - what a platform supplies to programs that run fovea on it: memory, a way to the blob, threads, a clock and a
 * place for text. The library itself calls none of it; a program hands these functions over where a session or model
 * takes one, so that the same program runs wherever there is a port.
 *
 * A port is a folder with the functions below in C or C++, and port.cmake beside them if it needs libraries or options
 * of the linker. ports/template is the smallest one, to be copied.
 */
#ifndef FOVEA_PORTS_PORT_H_
#define FOVEA_PORTS_PORT_H_

#include "fovea/memory.h"
#include "fovea/runner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Memory ---- */

/* A fovea_memory: `size` bytes, alignment 64, or NULL. `context` is not looked at. */
void* fovea_port_memory(void* context, uint64_t size);
/* Gives a block of fovea_port_memory back; NULL is allowed. Does nothing where memory is static. */
void fovea_port_free(void* memory);

/* ---- The blob: mapped, in flash, linked in, or read into memory; any other file, too ---- */

typedef struct fovea_port_file {
  const void* data; /* Alignment 64, unchanged until it is closed. NULL if there are no bytes. */
  uint64_t size;
} fovea_port_file;
/* NULL, or why it cannot be had: one line, valid until the next call in this thread. Where there are no files `name` is
 * what the port makes of it. */
const char* fovea_port_open(const char* name, fovea_port_file* file);
/* Of an opened file, once. */
void fovea_port_close(fovea_port_file* file);

/* ---- Threads ---- */

typedef struct fovea_port_threads fovea_port_threads;
/* Up to `threads` of them, the caller's included, so that 1 starts none. NULL if they cannot be had. */
fovea_port_threads* fovea_port_start(uint32_t threads);
/* How many there are: 1 on ports without threads. */
uint32_t fovea_port_count(const fovea_port_threads* threads);
/* Ends them; NULL is allowed. */
void fovea_port_stop(fovea_port_threads* threads);
/* A fovea_runner, whose context is a fovea_port_threads. Any number of workers: they take turns. Sessions may share
 * threads if they do not run at the same time. */
void fovea_port_run(void* threads, uint32_t workers, fovea_task task, void* task_context);
/* A fovea_barrier beside it, for up to fovea_port_count workers. */
void fovea_port_barrier(void* threads, uint32_t workers);

/* ---- Clock ---- */

/* Grows steadily; the `clock` of session options. */
uint64_t fovea_port_ticks(void);
/* 0: unknown, ticks are to be compared only. */
uint64_t fovea_port_ticks_per_second(void);

/* ---- Text ---- */

/* Shows `size` bytes of text to whoever looks: standard output, a serial line, semihosting. */
void fovea_port_write(const char* text, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_PORTS_PORT_H_ */
