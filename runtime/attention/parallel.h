// A whole attention on several workers, each of which takes tiles of query rows, or of heads, until none is left.
#ifndef FOVEA_RUNTIME_ATTENTION_PARALLEL_H_
#define FOVEA_RUNTIME_ATTENTION_PARALLEL_H_

#include "fovea/runner.h"
#include "runtime/attention/attention.h"
#include "runtime/attention/tap.h"
#include "runtime/base/arena.h"

namespace fovea {

struct AttentionWorkers {
  uint32_t count;
  uint32_t tile_rows;  // rows that a worker takes at a time
  fovea_runner runner;
  void* context;
};

// Bytes of scratch of one worker, a multiple of 64; UINT64_MAX: more than the address space. `kept` may be null.
uint64_t AttentionWorkerBytes(const AttentionSpec&, const WeightSink* kept, const AttentionWorkers&);

// Runs all `queries` rows of a call, in which rows, heads, layout and scratch need not be set. The staged rows of
// call.weights are replaced for each worker. `scratch` has AttentionWorkerBytes for every worker. Returns false if the
// runner did not call each worker once.
bool RunAttentionOnWorkers(const Kernels&, const AttentionCall&, uint32_t queries, const AttentionWorkers&,
                           void* scratch);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_PARALLEL_H_
