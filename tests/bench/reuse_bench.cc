// A document of 512 sentences of 32 words: all of it, against one changed sentence with the remaining sentences' rows
// reused. Both take turns within one run; the class has the same bits.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <functional>

#include "tests/support/document_model.h"
#include "tests/support/model_builder.h"
#include "tools/convert/loaded_blob.h"
#include "tools/model/session.h"

namespace fovea::test {
namespace {

constexpr uint32_t kSentences = 512, kWords = 32;

// Processor time of this thread: other load on the machine does not count.
double Milliseconds(const std::function<void()>& f) {
  const auto now = [] {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  f();
  return now() - start;
}

tools::Session Open(const tools::Model& model, const char* program, uint32_t sentences) {
  tools::SessionRequest request;
  request.program = model.FindProgram(program);
  request.limits = {{0, 1, 0}, {1, sentences, 0}, {2, sentences * kWords, 0}};
  return tools::Session(model, request);
}

// An output of a run over that many sentences; `input` is ids or rows.
template <typename T>
tools::Matrix Run(const tools::Model& model, tools::Session& session, uint32_t sentences, const char* name,
                  const std::vector<T>& input, const char* output) {
  const uint32_t program = session.request().program;
  session.SetSegments(1, {sentences});
  if (model.FindValue(program, "input_ids")) session.SetSegments(2, std::vector<uint32_t>(sentences, kWords));
  session.SetInput(*model.FindValue(program, name), input);
  session.Run();
  return session.Output(*model.FindValue(program, output));
}

void OneSentenceChanged(benchmark::State& state) {
  DocumentShape shape;
  shape.width = 128;
  shape.heads = 4;
  shape.vocabulary = 1000;
  shape.token_layers = 2;
  shape.max_tokens = kWords;
  shape.max_sentences = kSentences;
  const tools::LoadedBlob blob(DocumentModel(shape).Blob(state.range(0) == 0 ? DType::kF32 : DType::kI8), "documents");
  const tools::Model& model = blob.model;
  tools::Session whole = Open(model, "encode", kSentences), every = Open(model, "encode_sentences", kSentences),
                 lower = Open(model, "encode_sentences", 1), upper = Open(model, "encode_document", kSentences);
  std::vector<int32_t> ids = RandomIds(kSentences * kWords, 1000, 1);
  tools::Matrix rows = Run(model, every, kSentences, "input_ids", ids, "sentence_rows");
  std::vector<double> full, part;
  uint32_t changed = 0;
  for (auto _ : state) {
    changed = (changed + 101) % kSentences;
    const std::vector<int32_t> sentence = RandomIds(kWords, 1000, changed + 2);
    std::copy(sentence.begin(), sentence.end(), ids.begin() + changed * kWords);
    tools::Matrix wanted, found;
    full.push_back(Milliseconds([&] { wanted = Run(model, whole, kSentences, "input_ids", ids, "logits"); }));
    part.push_back(Milliseconds([&] {
      const tools::Matrix row = Run(model, lower, 1, "input_ids", sentence, "sentence_rows");
      std::copy(row.values.begin(), row.values.end(), rows.values.begin() + size_t{changed} * rows.width);
      found = Run(model, upper, kSentences, "sentence_rows", rows.values, "logits");
    }));
    if (found.values != wanted.values) state.SkipWithError("the class has other bits");
  }
  std::sort(full.begin(), full.end());
  std::sort(part.begin(), part.end());
  state.counters["full_ms"] = full[full.size() / 2];
  state.counters["one_ms"] = part[part.size() / 2];
  state.counters["percent"] = 100 * part[part.size() / 2] / full[full.size() / 2];
  state.counters["least_percent"] = 100 * part[0] / full[0];
}
BENCHMARK(OneSentenceChanged)->ArgName("int8")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->MinTime(5);

}  // namespace
}  // namespace fovea::test
