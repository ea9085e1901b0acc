/* Checks that a port does what programs need: that the runner calls every worker once and the barrier holds until all
 * workers have arrived. Then it runs the first program of a blob with one worker, and on the port's threads with and
 * without barrier, and compares outputs bit by bit.
 *
 *   port_check BLOB [THREADS: 1 to 9]
 */
#include <string.h>

#include "fovea/fovea.h"
#include "ports/inputs.h"
#include "ports/port.h"

#define TEXT_ROWS 64u
#define TILE_ROWS 8u /* Small, so that there are tiles to share. */
#define MOST_SPACES 64u
#define MOST_WORKERS 64u
#define ROUNDS 50u

static void say(const char* text) { fovea_port_write(text, strlen(text)); }

static void say_number(uint64_t number) {
  char digits[20];
  size_t first = sizeof(digits);
  do digits[--first] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  fovea_port_write(digits + first, sizeof(digits) - first);
}

static int fail(const char* what, const char* why) {
  say(what);
  say(": ");
  say(why);
  say("\n");
  return 1;
}

/* Memory of the port, with a check of its alignment. */
static void* get_memory(void* context, uint64_t size, uint32_t block) {
  void* memory = fovea_port_memory(context, size, block);
  if ((uintptr_t)memory % 64 == 0) return memory;
  fail("memory", "not aligned to 64 bytes");
  return NULL;
}

/* Limits for the spaces of the first program's inputs; spaces of cached texts get `rows` of the options. */
static uint32_t make_limits(const fovea_model* model, fovea_limit* limits) {
  fovea_model_info about = FOVEA_MODEL_INFO_INIT;
  uint32_t count = 0;
  fovea_model_get_info(model, &about);
  for (uint32_t space = 0; space < about.space_count && count < MOST_SPACES; ++space) {
    const uint32_t rows = fovea_inputs_rows(model, 0, space, TEXT_ROWS);
    if (rows > 0) limits[count++] = (fovea_limit){.space = space, .rows = rows};
  }
  return count;
}

/* A hash of the bits of all outputs (FNV-1a). */
static uint64_t sum_outputs(const fovea_model* model, uint32_t values, const fovea_session* session) {
  uint64_t sum = 14695981039346656037u;
  for (uint32_t value = 0; value < values; ++value) {
    fovea_value_info info = FOVEA_VALUE_INFO_INIT;
    fovea_view view;
    fovea_program_get_value(model, 0, value, &info);
    if (info.role != FOVEA_ROLE_OUTPUT || fovea_session_get_output(session, value, &view, NULL) != FOVEA_OK) continue;
    const size_t used = view.type == FOVEA_TYPE_F32 || view.type == FOVEA_TYPE_I32 ? 4 * (size_t)view.width : 0;
    for (uint32_t row = 0; row < view.rows; ++row) {
      const unsigned char* bytes = (const unsigned char*)view.data + (size_t)row * view.row_bytes;
      for (size_t i = 0; i < used; ++i) sum = (sum ^ bytes[i]) * 1099511628211u;
    }
  }
  return sum;
}

/* Runs a session once on `workers` of the port's threads (NULL: on the caller's), and hashes its outputs. */
static fovea_status run(const fovea_model* model, fovea_port_threads* threads, uint32_t workers, int barrier,
                        uint64_t* sum, fovea_error* error) {
  fovea_limit limits[MOST_SPACES];
  fovea_session_options options = {.struct_size = sizeof(options),
                                   .limits = limits,
                                   .limit_count = make_limits(model, limits),
                                   .rows = TEXT_ROWS,
                                   .tile_rows = TILE_ROWS,
                                   .workers = workers};
  fovea_session_memory memory = FOVEA_SESSION_MEMORY_INIT;
  fovea_program_info program = FOVEA_PROGRAM_INFO_INIT;
  fovea_session* session;
  uint64_t rows;
  fovea_model_get_program(model, 0, &program);
  options.clock = fovea_port_ticks;
  if (threads != NULL) {
    options.runner = fovea_port_run;
    options.runner_context = threads;
    if (barrier) options.barrier = fovea_port_barrier;
  }
  fovea_status status = fovea_session_size(model, &options, &memory, error);
  if (status != FOVEA_OK) return status;
  if (memory.fixed_size > 0) memory.fixed = get_memory(NULL, memory.fixed_size, FOVEA_BLOCK_FIXED);
  if (memory.state_size > 0) memory.state = get_memory(NULL, memory.state_size, FOVEA_BLOCK_STATE);
  if (memory.scratch_size > 0) memory.scratch = get_memory(NULL, memory.scratch_size, FOVEA_BLOCK_SCRATCH);
  status = fovea_session_init(model, &options, &memory, &session, error);
  if (status == FOVEA_OK) status = fovea_inputs_write(session, model, 0, TEXT_ROWS, &rows, error);
  if (status == FOVEA_OK) status = fovea_session_run(session, error);
  if (status == FOVEA_OK) *sum = sum_outputs(model, program.value_count, session);
  fovea_port_free(memory.scratch);
  fovea_port_free(memory.state);
  fovea_port_free(memory.fixed);
  return status;
}

/* State of the tasks: each counts its calls, and waits for the other tasks at the barrier. */
struct meeting {
  void* threads; /* NULL: no barrier. */
  uint32_t workers;
  uint32_t calls[MOST_WORKERS];
  uint32_t at[MOST_WORKERS]; /* The round of each; plain memory, which the barrier orders. */
  uint32_t early[MOST_WORKERS];
};

static void meet(void* context, uint32_t worker) {
  struct meeting* meeting = context;
  if (worker >= MOST_WORKERS) return;
  ++meeting->calls[worker];
  for (uint32_t round = 1; meeting->threads != NULL && round <= ROUNDS; ++round) {
    meeting->at[worker] = round;
    fovea_port_barrier(meeting->threads, meeting->workers);
    for (uint32_t other = 0; other < meeting->workers; ++other) meeting->early[worker] += meeting->at[other] != round;
    fovea_port_barrier(meeting->threads, meeting->workers);
  }
}

static int check_runner(fovea_port_threads* threads, uint32_t workers, int barrier) {
  struct meeting meeting = {barrier ? threads : NULL, workers, {0}, {0}, {0}};
  fovea_port_run(threads, workers, meet, &meeting);
  for (uint32_t worker = 0; worker < MOST_WORKERS; ++worker) {
    if (meeting.calls[worker] != (worker < workers)) return fail("runner", "not every worker was called once");
    if (meeting.early[worker] != 0) return fail("barrier", "it let a worker through before all had arrived");
  }
  return 0;
}

/* Checks that runs on threads give the same outputs as the run without. */
static int check_threads(const fovea_model* model, uint32_t wanted, uint64_t expected) {
  fovea_error error;
  uint64_t sum = 0;
  fovea_port_threads* threads = fovea_port_start(wanted);
  if (threads == NULL) return fail("threads", "none could be started");
  const uint32_t count = fovea_port_count(threads);
  if (count < 1 || count > wanted) return fail("threads", "their number is not the requested one");
  say_number(count);
  say(" threads\n");
  for (int barrier = 0; barrier < 2; ++barrier) {
    const uint32_t workers = barrier ? count : count + 1; /* Without barrier, more workers than threads. */
    if (check_runner(threads, workers, barrier) != 0) return 1;
    if (run(model, threads, workers, barrier, &sum, &error) != FOVEA_OK) return fail("run", error.text);
    if (sum != expected) return fail("run", "on threads the outputs differ");
  }
  fovea_port_stop(threads);
  return 0;
}

int main(int argc, char** argv) {
  fovea_error error = {0};
  fovea_port_file blob;
  fovea_model* model;
  uint64_t needed = 0, sum = 0;
  const uint32_t threads = argc > 2 && argv[2][0] >= '1' && argv[2][0] <= '9' ? (uint32_t)(argv[2][0] - '0') : 2;
  const uint64_t start = fovea_port_ticks();
  const char* failure = fovea_port_open(argc > 1 ? argv[1] : "", &blob);
  if (failure != NULL) return fail("blob", failure);
  if (fovea_model_size(blob.data, blob.size, NULL, &needed, &error) != FOVEA_OK) return fail("blob", error.text);
  void* memory = get_memory(NULL, needed, FOVEA_BLOCK_SCRATCH);
  if (fovea_model_init(blob.data, blob.size, NULL, memory, needed, &model, &error) != FOVEA_OK) {
    return fail("model", error.text);
  }
  if (run(model, NULL, 1, 0, &sum, &error) != FOVEA_OK) return fail("run", error.text);
  if (check_threads(model, threads, sum) != 0) return 1;
  const uint64_t took = fovea_port_ticks() - start;
  if (took == 0 || took > UINT64_MAX / 2) return fail("clock", "does not advance");
  fovea_port_free(memory);
  fovea_port_close(&blob);
  say("the port works; ");
  say_number(took);
  say(" ticks\n");
  return 0;
}
