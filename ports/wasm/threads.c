/* Between runs threads sleep. When they wait for each other within a run they spin for a while, since the other
 * threads usually arrive within microseconds, and then sleep; a page's main thread must not sleep and continues to
 * spin. */
#include "ports/wasm/threads.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* How often memory is checked before a thread sleeps: some tens of microseconds. */
#define SPINS 10000u

struct threads {
  uint32_t count;
  bool caller_sleeps;
  /* The job: written before `round` grows, read after it. */
  uint32_t workers;
  fovea_task task;
  void* context;
  atomic_uint round;
  atomic_uint working;         /* Helpers that have not finished this round. */
  atomic_uint arrived, passed; /* At the barrier: threads that have arrived, times it was passed. */
  atomic_uint sleepers;        /* Threads that sleep until one of these words changes. */
  atomic_uint stopped;
};

static _Thread_local bool is_helper;

static void wake(struct threads* self, atomic_uint* word) {
  if (atomic_load(&self->sleepers) != 0) __builtin_wasm_memory_atomic_notify((int*)word, ~0u);
}

/* Waits until `word` is no longer `value`. False: stopped, so waiting is pointless. */
static bool wait_while(struct threads* self, atomic_uint* word, uint32_t value, uint32_t spins) {
  const bool sleeps = is_helper || self->caller_sleeps;
  for (uint32_t i = 0; atomic_load(word) == value; ++i) {
    if (atomic_load(&self->stopped) != 0) return false;
    if (!sleeps || i < spins) continue;
    /* A thread that changes the word after this sees a sleeper; the wait sees a change made before. */
    atomic_fetch_add(&self->sleepers, 1);
    __builtin_wasm_memory_atomic_wait32((int*)word, (int)value, -1);
    atomic_fetch_sub(&self->sleepers, 1);
  }
  return atomic_load(&self->stopped) == 0;
}

static void share(const struct threads* self, uint32_t thread) {
  for (uint32_t worker = thread; worker < self->workers; worker += self->count) self->task(self->context, worker);
}

struct threads* threads_make(uint32_t count, uint32_t caller_sleeps) {
  struct threads* self = calloc(1, sizeof(*self));
  if (self == NULL) return NULL;
  self->count = count;
  self->caller_sleeps = caller_sleeps != 0;
  return self;
}

void threads_help(struct threads* self, uint32_t index) {
  is_helper = true;
  for (uint32_t done = 0; wait_while(self, &self->round, done, 0); ++done) {
    share(self, index);
    if (atomic_fetch_sub(&self->working, 1) == 1) wake(self, &self->working);
  }
}

void threads_stop(struct threads* self) {
  atomic_uint* const words[] = {&self->round, &self->working, &self->passed};
  atomic_store(&self->stopped, 1);
  for (uint32_t i = 0; i < 3; ++i) {
    atomic_fetch_add(words[i], 1u << 16);
    __builtin_wasm_memory_atomic_notify((int*)words[i], ~0u);
  }
}

static void run(void* context, uint32_t workers, fovea_task task, void* task_context) {
  struct threads* self = context;
  self->workers = workers;
  self->task = task;
  self->context = task_context;
  atomic_store(&self->working, self->count - 1);
  atomic_fetch_add(&self->round, 1);
  wake(self, &self->round);
  share(self, 0);
  for (uint32_t left; (left = atomic_load(&self->working)) != 0;) {
    if (!wait_while(self, &self->working, left, SPINS)) __builtin_trap();
  }
}

static void barrier(void* context, uint32_t workers) {
  struct threads* self = context;
  const uint32_t round = atomic_load(&self->passed);
  if (atomic_fetch_add(&self->arrived, 1) + 1 == workers) {
    atomic_store(&self->arrived, 0);
    atomic_fetch_add(&self->passed, 1);
    wake(self, &self->passed);
  } else if (!wait_while(self, &self->passed, round, SPINS)) {
    __builtin_trap();
  }
}

void threads_use(struct threads* self, fovea_session_options* options) {
  options->workers = self->count;
  options->runner = run;
  options->runner_context = self;
  options->barrier = barrier;
}
