// CLIP: a causal tower of texts, whose embedding is the row of the token that ends a text, and a tower of pictures with
// a class token.
#include "tools/base/fail.h"
#include "tools/convert/arch/towers.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kOldEnd = 2;  // as configurations had it that were wrong about it: the largest id ends a text

// A row for each text, of the token that ends it: the first such one, or the first of all tokens.
std::string EndRow(const Config& config, const LayerStack& stack, const std::string& last, Description& description,
                   ProgramBuilder& builder) {
  const uint32_t end = config.View("eos_token_id").Number({0, INT32_MAX}, 49407);
  std::string marks = stack.ids;
  if (end != kOldEnd) {
    const uint32_t words = description.weights.Get(stack.table).rows;
    std::vector<float> is_end(words);
    if (end < words) is_end[end] = 1;
    Constant table = Literal(words, 1, is_end);
    table.shortest = Shortest::kF32;
    description.weights.Add("ends", table);
    marks = builder.Op("embed", {stack.ids}, {"ends"}, "end_marks");
  }
  builder.Op("select", {marks}, {}, "ends", {{"kind", "best"}}, "ends");
  builder.Op("gather", {last, "ends"}, {}, "end_rows");
  return builder.Op("pool", {"end_rows"}, {}, "pooler_output", {{"kind", "first"}});
}

void AddEmbedding(const std::string& last, const std::string& projection, const char* out, Description& description,
                  ProgramBuilder& builder) {
  const bool projected = description.weights.Has(projection + ".weight");
  if (projected) builder.Linear("pooler_output", projection, out);
  description.SetMetadata("task", "embedding");
  builder.Outputs({last, projected ? out : "pooler_output"});
}

void DescribeText(const Checkpoint& checkpoint, const std::string& program, Description& description) {
  const Config& config = checkpoint.config;
  LayerStack stack = TextTower(config, {"quick_gelu", 1e-5, 8}, description);
  stack.causal = true;
  std::vector<Space> spaces = SpacesOf(stack);
  Space ends = {"ends"};
  ends.selects = stack.space;
  ends.at_most = 1;
  spaces.push_back(ends);
  ProgramBuilder builder(checkpoint, description, stack.norms, spaces, InputOf(stack), program);
  const std::string last = AddStack(stack, builder);
  EndRow(config, stack, last, description, builder);
  AddEmbedding(last, "text_projection", "text_embeds", description, builder);
  builder.End();
}

void DescribePicture(const Checkpoint& checkpoint, const std::string& program, Description& description) {
  const Config& config = checkpoint.config;
  const ImageInput image(checkpoint, PartialPatches::kDropped, {224, 32});
  LayerStack stack = PictureTower(config, {"quick_gelu", 1e-5, 12}, image, true, description);
  stack.embedding_norm = "vision_model.pre_layrnorm";
  ProgramBuilder builder(checkpoint, description, stack.norms, SpacesOf(stack), InputOf(stack), program);
  const std::string last = AddStack(stack, builder);
  if (checkpoint.task == Task::kImageClassification) {
    AddClasses(AddMeanOfPatches(last, 1, image, description, builder), builder, description);
    return builder.End();
  }
  description.must_use.push_back("vision_model.");
  builder.Op("pool", {last}, {}, "class_row", {{"kind", "first"}});
  builder.Norm("class_row", "vision_model.post_layernorm", "pooler_output");
  AddEmbedding(last, "visual_projection", "image_embeds", description, builder);
  builder.End();
}

}  // namespace

// The original: transformers/models/clip/modeling_clip.py: CLIPModel.
void DescribeClip(const Checkpoint& checkpoint, Description& description) {
  DescribeTowers({DescribeText, DescribePicture, "softmax"}, checkpoint, description);
}

// The original: transformers/models/clip/modeling_clip.py: CLIPTextModelWithProjection.
void DescribeClipText(const Checkpoint& checkpoint, Description& description) {
  DescribeText(checkpoint, "encode", description);
}

// The original: transformers/models/clip/modeling_clip.py: CLIPVisionModelWithProjection.
void DescribeClipVision(const Checkpoint& checkpoint, Description& description) {
  DescribePicture(checkpoint, "encode", description);
}

}  // namespace fovea::tools
