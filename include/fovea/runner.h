/* fovea/runner.h - how work reaches the caller's threads.
 *
 * fovea has no threads. Where a session is made for several workers, the caller supplies a runner: a function that
 * calls a task once for each worker index, in any order, on any threads, at the same time or one after the other, and
 * returns when all have returned. A run calls it once per phase (about once per layer). Results have the same bits for
 * any number of workers and any order.
 */
#ifndef FOVEA_RUNNER_H_
#define FOVEA_RUNNER_H_

#include "fovea/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called by the runner with `task_context` as given and each index 0 .. workers-1 exactly once. Does not fail. */
typedef void (*fovea_task)(void* task_context, uint32_t worker);

/* The caller's function. `context` is the one beside it in the options. Must not return before every call of `task` has
 * returned; must order memory like a function call does (all that was written before it is visible to the tasks, and
 * the reverse). */
typedef void (*fovea_runner)(void* context, uint32_t workers, fovea_task task, void* task_context);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_RUNNER_H_ */
