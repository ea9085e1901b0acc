/* Two models in four threads: the program's two threads each run one model, and each session has two workers on threads
 * of its port. Prints the classes of a text by both models: threads BLOB BLOB TEXT */
#include "../example.h"

enum { TOKENS = 512, MODELS = 2, WORKERS = 2 };

/* A model and its session, used by one thread at a time. */
typedef struct job {
  example self;
  const char *path, *text;
  int32_t ids[TOKENS], types[TOKENS];
  fovea_port_threads* threads;
  const char* label;
  int failed;
} job;

static int classify(job* work) {
  example* self = &work->self;
  fovea_model* model;
  fovea_session* session;
  fovea_text_tokens tokens = FOVEA_TEXT_TOKENS_INIT;
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  fovea_view logits;
  const float* scores;
  uint64_t room = 0;
  uint32_t i, best = 0;
  if (example_open(self, work->path, &model) != 0) return 1;

  EXAMPLE_TRY(self, fovea_text_scratch_size(model, strlen(work->text), &room, &self->error));
  tokens.capacity = TOKENS;
  tokens.ids = work->ids;
  tokens.types = work->types;
  EXAMPLE_TRY(self, fovea_text_encode(model, work->text, strlen(work->text), NULL, 0, NULL,
                                      example_memory(self, room, FOVEA_BLOCK_SCRATCH), room, &tokens, &self->error));

  /* The session's workers: its threads sleep while it does not run. */
  work->threads = fovea_port_start(WORKERS);
  if (work->threads == NULL) return 1;
  options.rows = tokens.count;
  options.workers = fovea_port_count(work->threads);
  options.runner = fovea_port_run;
  options.runner_context = work->threads;
  options.barrier = fovea_port_barrier;
  EXAMPLE_TRY(self, fovea_session_make(model, &options, example_memory, self, &session, &self->error));
  EXAMPLE_TRY(self, fovea_text_bind(session, &tokens, 1, &self->error));
  EXAMPLE_TRY(self, fovea_session_run(session, &self->error));
  EXAMPLE_TRY(self, fovea_session_find_output(session, "logits", &logits, &self->error));
  scores = (const float*)logits.data;
  for (i = 1; i < logits.width; ++i) best = scores[i] > scores[best] ? i : best;
  work->label = fovea_model_get_label(model, best); /* in the blob */
  return 0;
}

/* A fovea_task: the port's threads are good for any work of a program. */
static void run_job(void* context, uint32_t worker) {
  job* jobs = (job*)context;
  jobs[worker].failed = classify(&jobs[worker]);
}

int main(int argc, char** argv) {
  static job jobs[MODELS];
  fovea_port_threads* threads;
  int status = 0, i;
  if (argc != 4) {
    fprintf(stderr, "usage: %s BLOB BLOB TEXT\n", argv[0]);
    return 2;
  }
  for (i = 0; i < MODELS; ++i) {
    jobs[i].path = argv[1 + i];
    jobs[i].text = argv[3];
  }
  threads = fovea_port_start(MODELS);
  if (threads == NULL) {
    fprintf(stderr, "cannot start threads\n");
    return 1;
  }
  fovea_port_run(threads, MODELS, run_job, jobs);
  fovea_port_stop(threads);
  for (i = 0; i < MODELS; ++i) {
    if (jobs[i].failed != 0) status = 1;
    if (jobs[i].label != NULL) printf("%s: %s\n", jobs[i].path, jobs[i].label);
    fovea_port_stop(jobs[i].threads);
    example_close(&jobs[i].self);
  }
  return status;
}
