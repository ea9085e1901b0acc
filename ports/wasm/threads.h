/* Threads of a module whose memory is shared. They are workers of JavaScript (worker.mjs), each with an instance of the
 * module and a stack of its own; threads.mjs starts them. */
#ifndef FOVEA_PORTS_WASM_THREADS_H_
#define FOVEA_PORTS_WASM_THREADS_H_

#include "fovea/session.h"

struct threads;
/* For so many threads, the caller's included, or NULL. `caller_sleeps`: whether the caller's may wait asleep, which the
 * thread of a page must not. */
struct threads* threads_make(uint32_t count, uint32_t caller_sleeps);
/* What thread `index` (1 .. count-1) does until threads_stop. It may begin before or after the first run. */
void threads_help(struct threads* threads, uint32_t index);
/* Ends threads_help in all threads, from any thread. Whoever waits for others in a run traps: that is how a trap in one
 * thread ends all. */
void threads_stop(struct threads* threads);
/* Has a session run on all of them. */
void threads_use(struct threads* threads, fovea_session_options* options);

#endif /* FOVEA_PORTS_WASM_THREADS_H_ */
