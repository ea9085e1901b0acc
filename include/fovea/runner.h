/* fovea/runner.h - how work reaches the caller's threads.
 *
 * fovea has no threads. Where a session is made for several workers, the caller supplies a runner: a function that
 * calls a task once for each worker index, in any order, on any threads, at the same time or one after the other, and
 * returns when all have returned. A run calls it wherever workers have to wait for each other: about once per layer
 * where there are rows enough to share, about four times per layer where there are few and workers share columns
 * instead. What one worker does faster alone is done by the caller's thread, without the runner.
 *
 * Where tasks run at the same time the caller may supply a barrier, too. Then a run calls the runner once, and workers
 * wait for each other at the barrier: with few rows a call of the runner costs more than the work in between.
 *
 * Results have the same bits for any number of workers, in any order, with or without barrier.
 *
 * Each call of a runner is checked: if it returns before every index has been called and has returned, or calls an
 * index twice or one out of range, the run ends with FOVEA_E_RUNNER, and likewise where a barrier lets a task pass
 * before all have come. Such a run leaves the session's state as it was. A second call of an index does nothing, nor
 * does one that comes to a session after the runner has returned; fovea_attention_run must not get such calls. A runner
 * that loses a task beside a barrier that waits for it hangs in that barrier: only the caller can limit that wait.
 */
#ifndef FOVEA_RUNNER_H_
#define FOVEA_RUNNER_H_

#include "fovea/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called by the runner with `task_context` as given and each index 0 to workers - 1 exactly once. Does not fail. */
typedef void (*fovea_task)(void* task_context, uint32_t worker);

/* The caller's function. `context` is the one beside it in the options. Must not return before every call of `task` has
 * returned; must order memory like a function call does (all that was written before it is visible to the tasks, and
 * the reverse). */
typedef void (*fovea_runner)(void* context, uint32_t workers, fovea_task task, void* task_context);

/* The caller's barrier. `context` is that of the runner, `workers` what the runner was called with. Every task of that
 * call calls the barrier equally often; the n-th call of each returns when all have made their n-th call. It orders
 * memory: what a task wrote before the call is visible to all after it. How to wait is the caller's choice; a few
 * microseconds are usual, more where shares of the work are uneven or a step is one worker's.
 *
 * Only for runners that run all tasks of a call at the same time, each on a thread of its own, for as many workers as
 * the session has. With fewer threads, or tasks one after the other, the first task would wait for ever. */
typedef void (*fovea_barrier)(void* context, uint32_t workers);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_RUNNER_H_ */
