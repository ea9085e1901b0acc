/* Threads of a module with shared memory. They are JavaScript workers (worker.mjs), each with an instance of the
 * module and a separate stack; threads.mjs starts them. */
#ifndef FOVEA_PORTS_WASM_THREADS_H_
#define FOVEA_PORTS_WASM_THREADS_H_

#include "fovea/session.h"

struct threads;
/* Makes the state for `count` threads, the caller's included, or NULL. `caller_sleeps`: whether the calling thread
 * may sleep while it waits, which the main thread of a page must not. */
struct threads* threads_make(uint32_t count, uint32_t caller_sleeps);
/* Runs thread `index` (1 to count-1) until threads_stop. It may begin before or after the first run. */
void threads_help(struct threads* threads, uint32_t index);
/* Ends threads_help in all threads, from any thread. Threads that wait for other threads in a run trap: this is how
 * a trap in one thread ends all. */
void threads_stop(struct threads* threads);
/* Makes a session run on all of them. */
void threads_use(struct threads* threads, fovea_session_options* options);

#endif /* FOVEA_PORTS_WASM_THREADS_H_ */
