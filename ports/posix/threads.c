/* A fovea_runner and fovea_barrier on POSIX threads. Threads sleep before and after a call of the runner; at the
 * barrier they spin for a while, since the other threads usually arrive within microseconds, and then sleep. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ports/port.h"

/* How long a thread spins at the barrier, in ticks of the port's clock. If it waits longer, the thread it waits for
 * is probably not running. */
#define SPIN_NANOSECONDS 50000u
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
  pthread_t thread;
};

struct fovea_port_threads {
  uint32_t count;
  pthread_mutex_t mutex;
  pthread_cond_t begin, end, pass;
  struct job job;
  uint64_t round;   /* Incremented by every job, so that a helper takes each once. */
  uint32_t working; /* Helpers that have not finished this round. */
  bool stop;
  /* The barrier: threads that have arrived, times it was passed, threads that stopped spinning. */
  atomic_uint arrived, passed, sleepers;
  struct helper helpers[]; /* count - 1 */
};

/* Leaves the core to its other hardware thread for a moment. */
static void pause_core(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
  __asm__ volatile("yield");
#endif
}

static void share(const struct job* job, uint32_t thread, uint32_t threads) {
  for (uint32_t worker = thread; worker < job->workers; worker += threads) job->task(job->context, worker);
}

static void* help(void* context) {
  const struct helper* helper = context;
  fovea_port_threads* self = helper->threads;
  uint64_t done = 0;
  pthread_mutex_lock(&self->mutex);
  for (;;) {
    while (!self->stop && self->round == done) pthread_cond_wait(&self->begin, &self->mutex);
    if (self->stop) break;
    done = self->round;
    const struct job job = self->job;
    pthread_mutex_unlock(&self->mutex);
    share(&job, helper->index, self->count);
    pthread_mutex_lock(&self->mutex);
    if (--self->working == 0) pthread_cond_signal(&self->end);
  }
  pthread_mutex_unlock(&self->mutex);
  return NULL;
}

/* Ends the first `helpers` of them. */
static void stop_helpers(fovea_port_threads* self, uint32_t helpers) {
  pthread_mutex_lock(&self->mutex);
  self->stop = true;
  pthread_mutex_unlock(&self->mutex);
  pthread_cond_broadcast(&self->begin);
  for (uint32_t i = 0; i < helpers; ++i) pthread_join(self->helpers[i].thread, NULL);
  pthread_cond_destroy(&self->pass);
  pthread_cond_destroy(&self->end);
  pthread_cond_destroy(&self->begin);
  pthread_mutex_destroy(&self->mutex);
  free(self);
}

fovea_port_threads* fovea_port_start(uint32_t threads) {
  const uint32_t helpers = threads < 1 ? 0 : threads - 1;
  fovea_port_threads* self;
  if (threads > MOST_THREADS) return NULL;
  self = calloc(1, sizeof(*self) + helpers * sizeof(self->helpers[0]));
  if (self == NULL) return NULL;
  self->count = helpers + 1;
  pthread_mutex_init(&self->mutex, NULL);
  pthread_cond_init(&self->begin, NULL);
  pthread_cond_init(&self->end, NULL);
  pthread_cond_init(&self->pass, NULL);
  for (uint32_t i = 0; i < helpers; ++i) {
    struct helper* helper = &self->helpers[i];
    helper->threads = self;
    helper->index = i + 1;
    if (pthread_create(&helper->thread, NULL, help, helper) != 0) {
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
  pthread_mutex_lock(&self->mutex);
  self->job = job;
  self->working = self->count - 1;
  ++self->round;
  pthread_mutex_unlock(&self->mutex);
  pthread_cond_broadcast(&self->begin);
  share(&job, 0, self->count);
  pthread_mutex_lock(&self->mutex);
  while (self->working != 0) pthread_cond_wait(&self->end, &self->mutex);
  pthread_mutex_unlock(&self->mutex);
}

static bool spins_until_passed(fovea_port_threads* self, uint32_t round) {
  const uint64_t end = fovea_port_ticks() + SPIN_NANOSECONDS;
  do {
    for (int i = 0; i < 32; ++i) {
      if (atomic_load_explicit(&self->passed, memory_order_acquire) != round) return true;
      pause_core();
    }
  } while (fovea_port_ticks() < end);
  return false;
}

void fovea_port_barrier(void* threads, uint32_t workers) {
  fovea_port_threads* self = threads;
  const uint32_t round = atomic_load_explicit(&self->passed, memory_order_acquire);
  if (atomic_fetch_add_explicit(&self->arrived, 1, memory_order_acq_rel) + 1 == workers) {
    atomic_store_explicit(&self->arrived, 0, memory_order_relaxed);
    /* A thread that counts itself among the sleepers later will see that the barrier has been passed. */
    atomic_store(&self->passed, round + 1);
    if (atomic_load(&self->sleepers) == 0) return;
    pthread_mutex_lock(&self->mutex);
    pthread_mutex_unlock(&self->mutex);
    pthread_cond_broadcast(&self->pass);
    return;
  }
  if (spins_until_passed(self, round)) return;
  pthread_mutex_lock(&self->mutex);
  atomic_fetch_add(&self->sleepers, 1);
  while (atomic_load(&self->passed) == round) pthread_cond_wait(&self->pass, &self->mutex);
  atomic_fetch_sub_explicit(&self->sleepers, 1, memory_order_relaxed);
  pthread_mutex_unlock(&self->mutex);
}
