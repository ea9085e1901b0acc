/* A fovea_runner and fovea_barrier on threads of Windows. Threads sleep before and after a call of the runner; at the
 * barrier they spin for a while, since the other threads usually arrive within microseconds, and then sleep.
 * Interlocked functions instead of C11's atomics, so that every compiler for Windows has them. */
#include <process.h>
#include <stdlib.h>
#include <windows.h>

#include "ports/port.h"

/* Fractions of a second that a thread spins at the barrier: 50 microseconds. If it waits longer, the thread it waits
 * for is probably not running. */
#define SPINS_PER_SECOND 20000u
/* Sessions have at most 64 workers. */
#define MOST_THREADS 1024u

struct job {
  uint32_t workers;
  fovea_task task;
  void* context;
};

struct helper {
  struct fovea_port_threads* threads;
  uint32_t index;
  HANDLE thread;
};

struct fovea_port_threads {
  uint32_t count;
  uint64_t spin_ticks;
  SRWLOCK lock;
  CONDITION_VARIABLE begin, end, pass;
  struct job job;
  uint64_t round;   /* Incremented by every job, so that a helper takes each once. */
  uint32_t working; /* Helpers that have not finished this round. */
  int stop;
  /* The barrier: threads that have arrived, times it was passed, threads that stopped spinning. */
  volatile LONG arrived, passed, sleepers;
  struct helper* helpers; /* count - 1 */
};

static void wait_for(fovea_port_threads* self, CONDITION_VARIABLE* condition) {
  SleepConditionVariableSRW(condition, &self->lock, INFINITE, 0);
}

static void share(const struct job* job, uint32_t thread, uint32_t threads) {
  for (uint32_t worker = thread; worker < job->workers; worker += threads) job->task(job->context, worker);
}

static unsigned __stdcall help(void* context) {
  const struct helper* helper = context;
  fovea_port_threads* self = helper->threads;
  uint64_t done = 0;
  AcquireSRWLockExclusive(&self->lock);
  for (;;) {
    struct job job;
    while (!self->stop && self->round == done) wait_for(self, &self->begin);
    if (self->stop) break;
    done = self->round;
    job = self->job;
    ReleaseSRWLockExclusive(&self->lock);
    share(&job, helper->index, self->count);
    AcquireSRWLockExclusive(&self->lock);
    if (--self->working == 0) WakeConditionVariable(&self->end);
  }
  ReleaseSRWLockExclusive(&self->lock);
  return 0;
}

/* Ends the first `helpers` of them. */
static void stop_helpers(fovea_port_threads* self, uint32_t helpers) {
  AcquireSRWLockExclusive(&self->lock);
  self->stop = 1;
  ReleaseSRWLockExclusive(&self->lock);
  WakeAllConditionVariable(&self->begin);
  for (uint32_t i = 0; i < helpers; ++i) {
    WaitForSingleObject(self->helpers[i].thread, INFINITE);
    CloseHandle(self->helpers[i].thread);
  }
  free(self->helpers);
  free(self);
}

fovea_port_threads* fovea_port_start(uint32_t threads) {
  const uint32_t helpers = threads < 1 ? 0 : threads - 1;
  fovea_port_threads* self;
  if (threads > MOST_THREADS) return NULL;
  self = calloc(1, sizeof(*self));
  if (self == NULL) return NULL;
  self->helpers = calloc(helpers + 1, sizeof(*self->helpers));
  if (self->helpers == NULL) {
    free(self);
    return NULL;
  }
  self->count = helpers + 1;
  self->spin_ticks = fovea_port_ticks_per_second() / SPINS_PER_SECOND;
  InitializeSRWLock(&self->lock);
  InitializeConditionVariable(&self->begin);
  InitializeConditionVariable(&self->end);
  InitializeConditionVariable(&self->pass);
  for (uint32_t i = 0; i < helpers; ++i) {
    struct helper* helper = &self->helpers[i];
    helper->threads = self;
    helper->index = i + 1;
    helper->thread = (HANDLE)_beginthreadex(NULL, 0, help, helper, 0, NULL);
    if (helper->thread == NULL) {
      stop_helpers(self, i);
      return NULL;
    }
  }
  return self;
}

uint32_t fovea_port_count(const fovea_port_threads* threads) { return threads->count; }

void fovea_port_stop(fovea_port_threads* threads) {
  if (threads != NULL) stop_helpers(threads, threads->count - 1);
}

void fovea_port_run(void* threads, uint32_t workers, fovea_task task, void* task_context) {
  fovea_port_threads* self = threads;
  const struct job job = {workers, task, task_context};
  if (workers < 2 || self->count < 2) {
    share(&job, 0, 1);
    return;
  }
  AcquireSRWLockExclusive(&self->lock);
  self->job = job;
  self->working = self->count - 1;
  ++self->round;
  ReleaseSRWLockExclusive(&self->lock);
  WakeAllConditionVariable(&self->begin);
  share(&job, 0, self->count);
  AcquireSRWLockExclusive(&self->lock);
  while (self->working != 0) wait_for(self, &self->end);
  ReleaseSRWLockExclusive(&self->lock);
}

/* A read that later reads and writes of this thread stay behind. */
static LONG load(volatile LONG* number) { return InterlockedCompareExchange(number, 0, 0); }

static int spins_until_passed(fovea_port_threads* self, LONG round) {
  const uint64_t end = fovea_port_ticks() + self->spin_ticks;
  do {
    for (int i = 0; i < 32; ++i) {
      if (self->passed != round && load(&self->passed) != round) return 1;
      YieldProcessor();
    }
  } while (fovea_port_ticks() < end);
  return 0;
}

void fovea_port_barrier(void* threads, uint32_t workers) {
  fovea_port_threads* self = threads;
  const LONG round = load(&self->passed);
  if ((uint32_t)InterlockedIncrement(&self->arrived) == workers) {
    InterlockedExchange(&self->arrived, 0);
    /* A thread that counts itself among the sleepers later will see that the barrier has been passed. */
    InterlockedIncrement(&self->passed);
    if (load(&self->sleepers) == 0) return;
    AcquireSRWLockExclusive(&self->lock);
    ReleaseSRWLockExclusive(&self->lock);
    WakeAllConditionVariable(&self->pass);
    return;
  }
  if (spins_until_passed(self, round)) return;
  AcquireSRWLockExclusive(&self->lock);
  InterlockedIncrement(&self->sleepers);
  while (load(&self->passed) == round) wait_for(self, &self->pass);
  InterlockedDecrement(&self->sleepers);
  ReleaseSRWLockExclusive(&self->lock);
}
