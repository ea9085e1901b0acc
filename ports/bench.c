/* Writes the results of a measurement as JSON. */
#include "ports/bench.h"

#include <string.h>

#include "fovea/version.h"

uint64_t fovea_bench_rank(uint64_t count, uint32_t percent) {
  const uint64_t rank = (count * percent + 99) / 100;
  return rank == 0 ? 0 : rank - 1;
}

double fovea_bench_step_flops(const fovea_model* model, const fovea_session* session, uint32_t program, uint32_t step) {
  fovea_step_info info = FOVEA_STEP_INFO_INIT;
  fovea_value_info output = FOVEA_VALUE_INFO_INIT;
  const uint32_t* offsets;
  uint32_t segments;
  uint64_t pairs = 0;
  double flops = 0;
  if (fovea_program_get_step(model, program, step, &info) != FOVEA_OK) return 0;
  if (fovea_program_get_value(model, program, info.output, &output) != FOVEA_OK) return 0;
  if (fovea_session_get_segments(session, output.space, &offsets, &segments, NULL) == FOVEA_OK) {
    flops = info.flops_per_row * (double)(offsets[segments] - offsets[0]);
  }
  if (info.heads != 0 && fovea_session_get_step_pairs(session, step, &pairs) == FOVEA_OK) {
    flops += info.flops_per_row_key / info.heads * (double)pairs;
  }
  return flops;
}

/* Heap sort: equally fast for any order, and without calls. */
static void sort(uint64_t* numbers, uint64_t count) {
  for (uint64_t heap = count / 2, end = count; end > 1;) {
    uint64_t moved;
    if (heap > 0) {
      moved = numbers[--heap];
    } else {
      moved = numbers[--end];
      numbers[end] = numbers[0];
    }
    uint64_t at = heap, child;
    while ((child = 2 * at + 1) < end) {
      if (child + 1 < end && numbers[child + 1] > numbers[child]) ++child;
      if (numbers[child] <= moved) break;
      numbers[at] = numbers[child];
      at = child;
    }
    numbers[at] = moved;
  }
}

/* Text being written. */
typedef struct Json {
  char* text;
  uint64_t size, capacity;
  int first; /* no member of the object is written yet */
} Json;

static void add(Json* json, char c) {
  if (json->size + 1 < json->capacity) json->text[json->size] = c;
  ++json->size;
}

static void add_text(Json* json, const char* text) {
  while (*text != '\0') add(json, *text++);
}

static void add_string(Json* json, const char* text) {
  add(json, '"');
  for (; *text != '\0'; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c < 0x20) {
      add_text(json, "\\u00");
      add(json, (char)('0' + c / 16));
      add(json, "0123456789abcdef"[c % 16]);
      continue;
    }
    if (c == '"' || c == '\\') add(json, '\\');
    add(json, *text);
  }
  add(json, '"');
}

static void add_number(Json* json, uint64_t number) {
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  while (count > 0) add(json, digits[--count]);
}

static void name(Json* json, const char* key) {
  if (!json->first) add_text(json, ", ");
  json->first = 0;
  add_string(json, key);
  add_text(json, ": ");
}

static void begin(Json* json, const char* key) {
  if (key != NULL) name(json, key);
  add(json, '{');
  json->first = 1;
}

static void end(Json* json) {
  add(json, '}');
  json->first = 0;
}

static void string(Json* json, const char* key, const char* text) {
  name(json, key);
  add_string(json, text);
}

static void number(Json* json, const char* key, uint64_t value) {
  name(json, key);
  add_number(json, value);
}

/* Nine digits after the point: nanoseconds of seconds, operations of GOP. Never negative here. */
static void decimal(Json* json, const char* key, double value) {
  const uint64_t whole = value < 1e18 ? (uint64_t)value : (uint64_t)1000000000000000000;
  uint64_t part = (uint64_t)((value - (double)whole) * 1e9 + 0.5);
  name(json, key);
  if (value >= 1e18) part = 0;
  add_number(json, whole + part / 1000000000);
  part %= 1000000000;
  add(json, '.');
  for (uint64_t digit = 100000000; digit > 0; digit /= 10) add(json, (char)('0' + part / digit % 10));
}

static void milliseconds(Json* json, const char* key, uint64_t ticks, const fovea_bench* bench) {
  decimal(json, key, 1e3 * (double)ticks / (double)bench->ticks_per_second);
}

static void machine(Json* json, const fovea_bench* bench) {
  begin(json, "machine");
  string(json, "system", bench->system);
  string(json, "architecture", bench->architecture);
  string(json, "processor", bench->processor);
  number(json, "hardware_threads", bench->hardware_threads);
  end(json);
  begin(json, "clock");
  string(json, "name", bench->clock);
  string(json, "counts", bench->counts);
  number(json, "ticks_per_second", bench->ticks_per_second);
  end(json);
}

static void speed(Json* json, const fovea_bench* bench, double flops) {
  static const struct {
    const char* key;
    uint32_t percent;
  } kLatencies[] = {{"min", 0}, {"p50", 50}, {"p90", 90}, {"p99", 99}};
  const double middle = (double)bench->run_ticks[fovea_bench_rank(bench->run_count, 50)];
  const double per_tick = middle > 0 ? (double)bench->ticks_per_second / middle : 0;
  number(json, "runs", bench->run_count);
  begin(json, "latency_ms");
  for (size_t i = 0; i < sizeof(kLatencies) / sizeof(kLatencies[0]); ++i) {
    const uint64_t rank = fovea_bench_rank(bench->run_count, kLatencies[i].percent);
    milliseconds(json, kLatencies[i].key, bench->run_ticks[rank], bench);
  }
  end(json);
  decimal(json, "rows_per_second", (double)bench->rows * per_tick);
  decimal(json, "gop_per_run", 1e-9 * flops);
  decimal(json, "gops", 1e-9 * flops * per_tick);
  begin(json, "load_ms");
  milliseconds(json, "map", bench->map_ticks, bench);
  milliseconds(json, "model", bench->model_ticks, bench);
  milliseconds(json, "session", bench->session_ticks, bench);
  end(json);
}

static const char* operation_of(const fovea_model* model, uint32_t program, uint32_t step) {
  fovea_step_info info = FOVEA_STEP_INFO_INIT;
  return fovea_program_get_step(model, program, step, &info) == FOVEA_OK ? info.op : "";
}

static uint64_t ticks_of(const fovea_session* session, uint32_t step) {
  uint64_t ticks = 0;
  return fovea_session_get_step_ticks(session, step, &ticks) == FOVEA_OK ? ticks : 0;
}

/* Times of operations by kind, in the order of first occurrence. */
static void operations(Json* json, const fovea_bench* bench, const fovea_model* model, const fovea_session* session,
                       uint32_t count) {
  begin(json, "operations");
  for (uint32_t first = 0; first < count; ++first) {
    const char* op = operation_of(model, bench->program, first);
    uint64_t ticks = 0, steps = 0;
    uint32_t earlier = 0;
    while (strcmp(operation_of(model, bench->program, earlier), op) != 0) ++earlier;
    if (earlier < first) continue;
    for (uint32_t step = first; step < count; ++step) {
      if (strcmp(operation_of(model, bench->program, step), op) != 0) continue;
      ticks += ticks_of(session, step);
      ++steps;
    }
    begin(json, op);
    number(json, "steps", steps);
    decimal(json, "microseconds", 1e6 * (double)(ticks / (bench->run_count + 1)) / (double)bench->ticks_per_second);
    end(json);
  }
  end(json);
}

uint64_t fovea_bench_json(const fovea_bench* bench, const fovea_model* model, const fovea_session* session, char* text,
                          uint64_t capacity) {
  fovea_model_info about = FOVEA_MODEL_INFO_INIT;
  fovea_program_info program = FOVEA_PROGRAM_INFO_INIT;
  fovea_session_info place = FOVEA_SESSION_INFO_INIT;
  Json json = {text, 0, capacity, 1};
  double flops = 0;
  uint64_t ticks = 0;
  fovea_model_get_info(model, &about);
  fovea_model_get_program(model, bench->program, &program);
  fovea_session_get_info(session, &place);
  for (uint32_t step = 0; step < program.step_count; ++step) {
    flops += fovea_bench_step_flops(model, session, bench->program, step);
    ticks += ticks_of(session, step);
  }
  sort(bench->run_ticks, bench->run_count);

  begin(&json, NULL);
  string(&json, "model", bench->model_name);
  string(&json, "program", program.name);
  number(&json, "rows", bench->rows);
  number(&json, "texts", bench->texts);
  number(&json, "workers", place.workers);
  number(&json, "tile_rows", place.tile_rows);
  string(&json, "backend", about.backend);
  string(&json, "target", fovea_simd_target());
  machine(&json, bench);
  speed(&json, bench, flops);
  begin(&json, "bytes");
  number(&json, "blob", about.blob_bytes);
  number(&json, "model", bench->model_bytes);
  number(&json, "fixed", bench->fixed_bytes);
  number(&json, "state", bench->state_bytes);
  number(&json, "scratch", bench->scratch_bytes);
  number(&json, "peak_resident", bench->peak_bytes);
  end(&json);
  if (ticks > 0) operations(&json, bench, model, session, program.step_count);
  end(&json);
  if (capacity > 0) text[json.size < capacity ? json.size : capacity - 1] = '\0';
  return json.size;
}
