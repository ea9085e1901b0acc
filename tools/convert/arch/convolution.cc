// Convolutions along the rows of a clip.
#include "tools/convert/arch/convolution.h"

#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

uint32_t Kernel(const Convolution& convolution, const Constant& weight) {
  if (convolution.in == 0 || weight.width % convolution.in != 0) {
    Fail("tensor {}.weight has filters of {} numbers, not of {} channels", convolution.name, weight.width,
         convolution.in);
  }
  return weight.width / convolution.in;
}

// Rows that a clip loses: the filters see no more than the padding beyond its ends.
uint32_t Lost(const Convolution& convolution, const Weights& weights) {
  const uint32_t kernel = Kernel(convolution, weights.Get(convolution.name + ".weight"));
  if (kernel > UINT16_MAX || kernel < uint64_t{2} * convolution.padding + 1) {
    Fail("tensor {}.weight: filters over {} rows with {} of padding are not supported", convolution.name, kernel,
         convolution.padding);
  }
  return kernel - 1 - 2 * convolution.padding;
}

// Filters by row, then channel, as unfolded rows are.
std::string Unfolded(const Convolution& convolution, Weights& weights) {
  const std::string name = convolution.name + ".unfolded";
  if (weights.Has(name)) return name;
  const Constant stored = weights.Get(convolution.name + ".weight");
  weights.Add(name, Permute(stored, {stored.rows, convolution.in, Kernel(convolution, stored)}, {0, 2, 1}));
  return name;
}

}  // namespace

Space ConvolvedSpace(const Convolution& convolution, const Weights& weights, const std::string& name,
                     const std::string& of) {
  Space space = {name};
  space.strides = of;
  space.by = convolution.stride;
  space.last = Lost(convolution, weights);
  return space;
}

std::string AddConvolution(const Convolution& convolution, Weights& weights, ProgramBuilder& builder,
                           const std::string& in, const std::string& out, const std::string& space) {
  const uint32_t lost = Lost(convolution, weights);
  if (space.empty() && (lost != 0 || convolution.stride != 1)) Fail("{} changes the length of clips", convolution.name);
  Json neighbours = {{"before", convolution.padding}, {"after", lost + convolution.padding}};
  builder.Op("unfold", {in}, {}, out + ".unfolded", neighbours, space);
  std::vector<std::string> tensors = {Unfolded(convolution, weights)};
  if (weights.Has(convolution.name + ".bias")) tensors.push_back(convolution.name + ".bias");
  Json attributes = Json::object();
  if (convolution.activation != "none") attributes["activation"] = convolution.activation;
  return builder.Op("linear", {out + ".unfolded"}, tensors, out, attributes);
}

}  // namespace fovea::tools
