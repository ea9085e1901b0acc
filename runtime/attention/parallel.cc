#include "runtime/attention/parallel.h"

#include "runtime/parallel/workers.h"

namespace fovea {
namespace {

// Memory of a worker: scratch of the engine, and staged rows of attention maps.
struct WorkerScratch {
  void* engine;
  float* values;
  uint32_t* keys;
};

WorkerScratch PlaceWorker(uint64_t engine_bytes, const WeightSink* kept, Arena* arena) {
  WorkerScratch worker{};
  worker.engine = arena->TakeBytes(engine_bytes);
  if (kept == nullptr) return worker;
  const CheckedSize staged = CheckedSize(kept->staged_rows) * kept->staged_entries * sizeof(float);
  worker.values = static_cast<float*>(arena->TakeBytes(staged));
  if (kept->sparse()) worker.keys = static_cast<uint32_t*>(arena->TakeBytes(staged));
  return worker;
}

// Shared by all workers of a run.
struct Job {
  const Kernels& kernels;
  const AttentionCall& whole;
  AttentionLayout layout;
  uint8_t* scratch;
  size_t worker_bytes;
  Tiles tiles;  // of rows; if the pattern is clustered, indices of `heads` below
  HeadTiles heads;
  uint32_t queries;
};

void RunTiles(void* context, uint32_t worker) {
  Job& job = *static_cast<Job*>(context);
  const AttentionCall& whole = job.whole;
  Arena arena(job.scratch + worker * job.worker_bytes, job.worker_bytes);
  const WorkerScratch scratch = PlaceWorker(job.layout.bytes, whole.weights, &arena);
  AttentionCall call = whole;
  call.layout = &job.layout;
  call.scratch = scratch.engine;
  WeightSink weights;
  if (whole.weights != nullptr) {
    weights = *whole.weights;
    weights.staged_values = scratch.values;
    weights.staged_keys = scratch.keys;
    call.weights = &weights;
  }
  uint32_t begin, end;
  while (job.tiles.Take(&begin, &end)) {
    call.row_begin = begin, call.row_end = end;
    if (whole.spec->pattern.rounds > 0) {
      call.row_begin = job.heads.RowBegin(begin, job.queries), call.row_end = job.heads.RowEnd(begin, job.queries);
      call.head_begin = job.heads.Head(begin), call.head_end = call.head_begin + 1;
    }
    if (call.q.segment_stride == 0) {
      call.q.data = static_cast<const uint8_t*>(whole.q.data) + call.row_begin * call.q.row_stride;
    }
    if (call.out.segment_stride == 0) {
      call.out.data = static_cast<uint8_t*>(whole.out.data) + call.row_begin * call.out.row_stride;
    }
    RunAttention(job.kernels, call);
  }
}

}  // namespace

uint64_t AttentionWorkerBytes(const AttentionSpec& spec, const WeightSink* kept, const AttentionWorkers& workers) {
  Arena arena;
  PlaceWorker(AttentionScratchBytes(spec, workers.tile_rows), kept, &arena);
  return arena.needed();
}

bool RunAttentionOnWorkers(const Kernels& kernels, const AttentionCall& call, uint32_t queries,
                           const AttentionWorkers& workers, void* scratch) {
  const AttentionSpec& spec = *call.spec;
  Job job = {kernels,
             call,
             LayOutAttention(spec, workers.tile_rows),
             static_cast<uint8_t*>(scratch),
             static_cast<size_t>(AttentionWorkerBytes(spec, call.weights, workers)),
             {},
             HeadTiles(spec.heads, workers.count),
             queries};
  if (spec.pattern.rounds > 0) {
    job.tiles.Reset(job.heads.count(), workers.count, 1, 1);
  } else {
    job.tiles.Reset(queries, workers.count, workers.tile_rows);
  }
  WorkerCalls calls;
  return calls.Run(workers.runner, workers.context, workers.count, RunTiles, &job);
}

}  // namespace fovea
