// Blobs: eight bytes that choose what is done with it, then the blob.
#include <string.h>

#include <algorithm>

#include "ports/thread_runner.h"
#include "runtime/blob/attributes.h"
#include "tests/fuzz/blob_mutate.h"
#include "tests/fuzz/blob_use.h"
#include "tests/fuzz/harness.h"
#include "tests/support/by_name.h"
#include "tests/support/cached_decoder.h"
#include "tests/support/every_operation.h"
#include "tests/support/tiny_decoder.h"
#include "tests/support/two_levels.h"

namespace fovea::fuzz {
namespace {

// The last worker first.
void Backwards(void*, uint32_t workers, fovea_task task, void* context) {
  while (workers > 0) task(context, --workers);
}

void Use(const uint8_t* data, size_t size) {
  uint64_t seed = 0;
  if (size < sizeof(seed)) return;
  memcpy(&seed, data, sizeof(seed));
  data += sizeof(seed);
  size -= sizeof(seed);
  Random random(~seed);
  const Conditions plain;
  Conditions other;
  other.filling = random.OneIn(2) ? Filling::kOnes : Filling::kRandom;
  other.workers = 2 + random.Below(4);
  other.tile_rows = 1 + random.Below(9);
  other.runner = &Backwards;
  static ports::ThreadRunner threads(3);
  if (random.OneIn(4)) {
    other.runner = &ports::ThreadRunner::Run;
    other.runner_context = &threads;
    if (other.workers <= threads.threads()) other.barrier = &ports::ThreadRunner::Barrier;
  }
  Transcript::Compare(UseBlob(data, size, seed, plain, other), UseBlob(data, size, seed, other, plain));
}

Input With(uint64_t seed, const std::vector<uint8_t>& blob) {
  Input input(sizeof(seed) + blob.size());
  memcpy(input.data(), &seed, sizeof(seed));
  std::copy(blob.begin(), blob.end(), input.begin() + sizeof(seed));
  return input;
}

Input Mutate(const Input& input, Random& random) {
  uint64_t seed = 0;
  memcpy(&seed, input.data(), sizeof(seed));
  if (random.OneIn(3)) seed = random.Next();
  if (random.OneIn(8)) return With(seed, {input.begin() + sizeof(seed), input.end()});
  return With(seed, MutateBlob({input.begin() + sizeof(seed), input.end()}, random));
}

tools::BlobContent Decoder() {
  tools::BlobContent content = test::TinyDecoder(5).b.content();
  test::ByName(content.programs, "main").name = "encode";
  content.metadata = {{"generate.token", "token"},        {"generate.scores", "logits"}, {"generate.link.rows", "rows"},
                      {"generate.link.keys", "keys"},     {"generate.start", "1"},       {"generate.stop_ids", "1 6"},
                      {"generate.link.state", "summary"}, {"generate.max_tokens", "12"}};
  return content;
}

// As many links as there are inputs, none of them by the name of an output.
tools::BlobContent ManyLinks() {
  tools::BlobContent content = Decoder();
  tools::BlobProgram& decode = test::ByName(content.programs, "decode");
  constexpr uint32_t kInputs = 40000;
  const uint32_t rows = test::IndexOf(decode.values, "rows");  // the first input that is not a token or state
  const tools::BlobValue like = decode.values[rows];
  std::vector<tools::BlobValue> more(kInputs, like);
  for (uint32_t i = 0; i < kInputs; ++i) {
    more[i].name = "input" + std::to_string(i);
    content.metadata.push_back({"generate.link.input" + std::to_string(i), "nothing"});
  }
  const auto moved = [rows](uint32_t value) { return value < rows ? value : value + kInputs; };
  for (tools::BlobValue& value : decode.values) {
    if (value.role == ValueRole::kCarried) value.carried_by = moved(value.carried_by);
  }
  for (tools::BlobOperation& o : decode.operations) {
    o.output = moved(o.output);
    for (uint32_t& input : o.inputs) input = moved(input);
  }
  decode.values.insert(decode.values.begin() + rows, more.begin(), more.end());
  return content;
}

// Thousands of layers, whose weights are packed.
tools::BlobContent ManyLayers() {
  test::ModelBuilder b;
  const uint32_t texts = b.Space("texts");
  uint32_t x = b.Input("x", texts, 4);
  for (int i = 0; i < 3000; ++i) {
    x = b.Op("linear", {x}, {b.RandomTensor(4, 4)}, texts, 4);
    x = b.Op("scale", {x}, {}, texts, 4);
  }
  b.SetOutput(x);
  b.content().packed = test::PackedOf(test::TestModel(b.Blob()));
  return b.content();
}

// Packed weights that are shorter than their table requires.
tools::BlobContent PackedBeyond() {
  test::ModelBuilder b;
  test::BuildTinyEncoder(b, DType::kI8, 1);
  b.content().packed = test::PackedOf(test::TestModel(b.Blob()));
  if (b.content().packed.empty()) return b.content();
  std::vector<uint8_t>& bytes = b.content().packed[0].bytes;
  PackedRecord first;
  memcpy(&first, bytes.data(), sizeof(first));
  first.offset = bytes.size() / kBlobAlignment * kBlobAlignment;
  memcpy(bytes.data(), &first, sizeof(first));
  return b.content();
}

// A weight so large that its products are infinite: rows that do not see it must not change.
tools::BlobContent HugeWeight() {
  test::ModelBuilder b(9);
  const test::TinyEncoder encoder = test::BuildTinyEncoder(
      b, DType::kF32, 2, 32, 4, 64, 50, 64, {{Attribute::kPattern, 1}, {Attribute::kLeft, 2}, {Attribute::kRight, 1}});
  (void)encoder;
  const float huge = 3.4e38f;
  const uint32_t table = b.content().programs.back().operations.front().tensors.front();  // embeddings of tokens
  memcpy(&b.content().tensors[table].data[64], &huge, sizeof(huge));
  return b.content();
}

std::vector<Input> Seeds() {
  std::vector<Input> seeds;
  tools::BlobContent everything = test::EveryOperation();
  seeds.push_back(With(1, tools::WriteBlob(everything)));
  everything.text.clear();
  everything.packed.clear();
  seeds.push_back(With(2, tools::WriteBlob(everything)));
  seeds.push_back(With(3, tools::WriteBlob(Decoder())));
  for (const test::CachedDecoder::Shape& shape :
       {test::CachedDecoder::Shape{}, {DType::kI8, 5}, {DType::kF16, 3, true, 0}}) {
    const test::CachedDecoder kept(shape, {{"generate.token", "ids"},
                                           {"generate.scores", "scores"},
                                           {"generate.decode", "decode"},
                                           {"generate.start", "1"},
                                           {"generate.max_tokens", "9"}});
    seeds.push_back(With(3, tools::WriteBlob(kept.builder.content())));
  }
  test::ModelBuilder levels, encoder;
  test::BuildTwoLevels(levels, DType::kI8, {16, 2, 24}, 30);
  seeds.push_back(With(4, tools::WriteBlob(levels.content())));
  test::BuildTinyEncoder(encoder, DType::kI4, 1);
  encoder.content().packed = test::PackedOf(test::TestModel(encoder.Blob()));
  seeds.push_back(With(5, tools::WriteBlob(encoder.content())));
  for (tools::BlobContent (*hard)() : {&ManyLinks, &ManyLayers, &PackedBeyond, &HugeWeight}) {
    seeds.push_back(With(seeds.size(), tools::WriteBlob(hard())));
  }
  return seeds;
}

}  // namespace

const Harness kBlobHarness = {"blob", &Use, &Mutate, &Seeds};

}  // namespace fovea::fuzz
