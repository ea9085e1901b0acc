// Group norm with one group, of operations that pool rows and give them back what belongs to their clip.
#include "tools/convert/arch/clip_norm.h"

#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

class Writer {
 public:
  Writer(const ClipNorm& norm, uint32_t width, ProgramBuilder& builder, const std::string& out)
      : norm_(norm), width_(width), b_(builder), out_(out) {}

  std::string Norm(const std::string& in) {
    const Json all = {{"rows", "all"}, {"combine", "add"}}, as_is = {{"activation", "none"}};
    Fill("ones", Tensor("ones"));
    b_.Op("gate", {Average(in, "mean", "", -1), At("ones")}, {}, At("shift"), as_is);
    const std::string x = b_.Op("broadcast", {At("shift"), in}, {}, At("centered"), all);
    b_.Op("gate", {x, x}, {}, At("squares"), as_is);
    // The weight over the deviation, for all rows.
    const std::string variance = Average(At("squares"), "variance", Tensor("epsilon"), 1);
    Fill("weight", norm_.name + ".weight");
    b_.Op("normalize", {At("weight"), variance}, {}, At("factor"), {{"epsilon", 0.0}});
    b_.Op("broadcast", {At("factor")}, {}, At("factors"), Json::object(), norm_.rows);
    b_.Op("gate", {At("factors"), x}, {}, At("scaled"), as_is);
    Fill("bias", norm_.name + ".bias");
    return b_.Op("broadcast", {At("bias"), At("scaled")}, {}, out_, all);
  }

 private:
  std::string At(const std::string& name) const { return out_ + "." + name; }
  std::string Tensor(const char* name) const { return norm_.name + "." + name; }
  void Fill(const char* name, const std::string& row) {
    b_.Op("fill", {}, {row}, At(name), Json::object(), norm_.clips);
  }
  // The mean of all numbers of a clip, times `sign`. `bias`: a tensor that is added to their sum over the columns.
  std::string Average(const std::string& in, const std::string& name, const std::string& bias, double sign) {
    b_.Op("pool", {in}, {}, At(name + ".columns"), {{"kind", "mean"}}, norm_.clips);
    std::vector<std::string> tensors = {Tensor("ones")};
    if (!bias.empty()) tensors.push_back(bias);
    b_.Op("linear", {At(name + ".columns")}, tensors, At(name + ".sum"));
    return b_.Op("scale", {At(name + ".sum")}, {}, At(name), {{"scale", sign / width_}});
  }

  const ClipNorm& norm_;
  const uint32_t width_;
  ProgramBuilder& b_;
  const std::string out_;
};

}  // namespace

std::string AddClipNorm(const ClipNorm& norm, Weights& weights, ProgramBuilder& builder, const std::string& in,
                        const std::string& out) {
  const uint32_t width = weights.Get(norm.name + ".weight").width;
  if (!weights.Has(norm.name + ".ones")) {
    weights.Add(norm.name + ".ones", Literal(1, width, std::vector<float>(width, 1.0f)));
    weights.Add(norm.name + ".epsilon", Literal(1, 1, {static_cast<float>(norm.epsilon * width)}));
  }
  return Writer(norm, width, builder, out).Norm(in);
}

}  // namespace fovea::tools
