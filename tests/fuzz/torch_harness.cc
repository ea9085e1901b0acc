// Files of torch.save: tensors whose values can all be read, or one line that names the fault.
#include <string.h>

#include <algorithm>

#include "tests/fuzz/check.h"
#include "tests/fuzz/guarded.h"
#include "tests/fuzz/harness.h"
#include "tests/support/torch_writer.h"
#include "tools/base/fail.h"
#include "tools/torch/torch_file.h"

namespace fovea::fuzz {
namespace {

// The first eight bytes are the seed, as in all inputs.
void Use(const uint8_t* data, size_t size) {
  if (size <= 8) return;
  const Guarded file(data + 8, size - 8);
  try {
    const tools::TorchEntries entries = tools::ParseTorch(file.data(), size - 8, "x.bin");
    for (const auto& [name, tensor] : entries.tensors) {
      Check(tensor.shape.size() == tensor.strides.size(), "a tensor has more sizes than strides");
      Check(tools::ToFloats(tensor).size() == tensor.count(), "a tensor has another number of values");
    }
  } catch (const tools::Failure& failure) {
    const std::string text = failure.what();
    Check(!text.empty() && text.find('\n') == std::string::npos, "an error is not one line");
  }
}

Input Mutate(const Input& input, Random& random) {
  Input mutant = input;
  for (uint32_t left = 1 + random.Below(4); left > 0 && mutant.size() > 16; --left) {
    const size_t at = 8 + random.Below(mutant.size() - 8);
    const size_t count = std::min<size_t>(mutant.size() - at, 1 + random.Below(24));
    const uint64_t number = random.OneIn(4) ? random.Next() >> random.Below(64) : random.Number();
    const auto from = mutant.begin() + static_cast<ptrdiff_t>(at), to = from + static_cast<ptrdiff_t>(count);
    switch (random.Below(5)) {
      case 0:
        mutant.erase(from, to);
        break;
      case 1: {
        const Input copy(from, to);
        mutant.insert(mutant.begin() + static_cast<ptrdiff_t>(8 + random.Below(mutant.size() - 8)), copy.begin(),
                      copy.end());
        break;
      }
      case 2:
        mutant[at] = static_cast<uint8_t>(random.Next());
        break;
      default:
        memcpy(&mutant[at], &number, std::min<size_t>(mutant.size() - at, random.OneIn(3) ? 8 : 4));
    }
  }
  return mutant;
}

std::vector<Input> Seeds() {
  using namespace test::torch;
  const std::string storage = Storage("FloatStorage", "0", 6);
  const Entries entries = {{"plain", Tensor(storage, 0, {2, 3}, {3, 1})},
                           {"transposed", Tensor(storage, 0, {3, 2}, {1, 3})},
                           {"scalar", Tensor(storage, 5, {}, {})},
                           {"step", Int(1)}};
  const std::string bytes = BytesOf<float>({0, 1, 2, 3, 4, 5}), object = Dict({{"state_dict", Dict(entries)}});
  std::vector<Input> seeds;
  for (const std::string& file : {ZipForm(object, {{"0", bytes}}), ZipForm(object, {{"0", bytes}}, "big", 0, true),
                                  LegacyForm(object, {{"0", 6, bytes}})}) {
    const std::string input = std::string(8, '\0') + file;
    seeds.emplace_back(input.begin(), input.end());
  }
  return seeds;
}

}  // namespace

const Harness kTorchHarness = {"torch", &Use, &Mutate, &Seeds};

}  // namespace fovea::fuzz
