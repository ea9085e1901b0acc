/* fovea/runner.h - how work reaches the caller's threads.
 *
 * fovea has no threads. For a session with several workers the caller supplies a runner (a thread pool's parallel-for):
 * a function that calls a task once for each worker index, in any order, on any threads, at the same time or one after
 * the other, and returns when all calls have returned. A run calls it wherever workers must wait for each other: about
 * once per layer if there are enough rows to share, about four times per layer if there are few rows and workers share
 * columns instead. Work that one worker does faster alone runs on the caller's thread, without the runner.
 *
 * If tasks run at the same time, the caller may also supply a barrier. A run then calls the runner once, and workers
 * wait for each other at the barrier: with few rows a call of the runner costs more than the work in between.
 *
 * Results have the same bits for any number of workers, in any order, with or without barrier.
 *
 * Each call of a runner is checked. The run ends with FOVEA_E_RUNNER if the runner returns before every index has been
 * called and has returned, calls an index twice or out of range, or if a barrier lets a task pass before all have
 * arrived. Such a run leaves the session's state as it was. A second call of an index does nothing, nor does a call
 * that reaches a session after the runner has returned; fovea_attention_run must not get such calls. A runner that
 * loses a task while a barrier waits for it hangs in that barrier: only the caller can limit that wait.
 *
 * So a runner reports that it failed (its threads are gone, its queue is full) by returning without having called
 * every index: the run ends with FOVEA_E_RUNNER, and the caller knows the reason.
 */
#ifndef FOVEA_RUNNER_H_
#define FOVEA_RUNNER_H_

#include "fovea/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The library's task: the runner calls it with `task_context` unchanged and each index 0 to workers - 1 exactly once.
 * It cannot fail. */
typedef void (*fovea_task)(void* task_context, uint32_t worker);

/* The caller's runner. `context` is the pointer next to it in the options. It must not return before every call of
 * `task` has returned, and must order memory like a function call does: all that was written before it is visible to
 * the tasks, and all that the tasks wrote is visible after it. */
typedef void (*fovea_runner)(void* context, uint32_t workers, fovea_task task, void* task_context);

/* The caller's barrier. `context` is the runner's, `workers` the number that the runner was called with. Every task of
 * that call calls the barrier equally often; the n-th call of each returns when all have made their n-th call. It
 * orders memory: what a task wrote before the call is visible to all tasks after it. How to wait is the caller's
 * choice; a wait of a few microseconds is usual, longer if shares of the work are uneven or one worker does a step
 * alone.
 *
 * Only for runners that run all tasks of a call at the same time, each on a separate thread, for as many workers as the
 * session has. With fewer threads, or tasks one after the other, the first task would wait for ever. */
typedef void (*fovea_barrier)(void* context, uint32_t workers);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_RUNNER_H_ */
