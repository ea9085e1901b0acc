// The rows of a picture that attention sees. The tokens are rows of zeros among the patches: one table holds them, the
// bias of the patches and all positions.
#include "tools/convert/arch/patch_rows.h"

#include <numeric>

#include "tools/base/fail.h"

namespace fovea::tools {

uint32_t PatchRows::leading() const {
  const auto sum = [](uint32_t rows, const Constant& token) { return rows + token.rows; };
  return std::accumulate(tokens.begin(), tokens.end(), 0u, sum);
}

PatchPositions::PatchPositions(const Weights& weights, const std::string& name, uint32_t leading,
                               const ImageInput& image, Interpolation kind) {
  const Constant stored = weights.Get(name);
  const Grid trained = image.trained_patches();
  if (stored.rows != leading + trained.count()) {
    Fail("tensor {} has {} rows, but {} tokens and {} x {} patches need {}", name, stored.rows, leading, trained.rows,
         trained.columns, leading + trained.count());
  }
  for (uint32_t i = 0; i < leading; ++i) tokens.push_back(Slice(stored, {i, i + 1}));
  patches = Resample(Slice(stored, {leading, stored.rows}), trained, image.patches(), kind);
}

void SetPatchRows(const PatchRows& rows, const ImageInput& image, Description& description, LayerStack& stack) {
  Weights& weights = description.weights;
  const uint32_t leading = rows.leading(), patches = image.patches().count();
  const std::string weight = rows.projection + ".weight", bias = rows.projection + ".bias";
  const uint32_t width = weights.Get(weight).rows;
  const Constant added = weights.Has(bias) ? weights.Get(bias) : Literal(1, width, std::vector<float>(width));
  std::vector<Constant> table = rows.tokens;
  if (rows.positions.rows != 0) {
    table.push_back(Sum({rows.positions, added}));
  } else {
    table.insert(table.end(), patches, added);
  }
  weights.Add("patches", image.PatchTable(leading));
  weights.Add("rows", Concatenate(table));
  image.SetMetadata(description);

  stack.front =
      Front{image.Spaces(), image.Pixels(),
            [weight, space = stack.space](ProgramBuilder& builder, const std::string& in, const std::string& out) {
              builder.Arrange(in, "patches", space, "pixels");
              return builder.Op("linear", {"pixels"}, {weight}, out);
            }};
  stack.front->spaces.push_back({stack.space, "images"});
  stack.front->spaces.back().each = leading + patches;
  stack.positions = "rows";
}

std::string AddMeanOfPatches(const std::string& last, uint32_t leading, const ImageInput& image,
                             Description& description, ProgramBuilder& builder) {
  std::string rows = last;
  if (leading != 0) {
    const uint32_t count = image.patches().count();
    std::vector<int32_t> table(count);
    std::iota(table.begin(), table.end(), static_cast<int32_t>(leading));
    description.weights.Add("patches_alone", Indices(count, 1, table));
    description.spaces.push_back({"patch_rows", "images"});
    description.spaces.back().each = count;
    rows = builder.Arrange(last, "patches_alone", "patch_rows", "patches_alone");
  }
  return builder.Op("pool", {rows}, {}, "mean_of_patches", {{"kind", "mean"}});
}

}  // namespace fovea::tools
