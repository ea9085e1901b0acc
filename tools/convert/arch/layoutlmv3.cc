// LayoutLMv3: a text with boxes, and the picture of its page, in one sequence. Scores have biases by the distances of
// positions, of left edges and of lower edges. Program `encode` reads both, `encode_text` the text alone. Rows of the
// picture come first here: their order changes nothing, as coordinates are in the rows. The original has them last.
#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/image_input.h"
#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kPage = 1000;  // boxes count from 0 to this

// A table by distance with more distances at both ends, which count as the last ones.
Constant Widened(const Constant& table, uint32_t reach) {
  const uint32_t own = table.width / 2, width = 2 * reach + 1;
  return {table.rows, width, [table, own, reach] {
            const std::vector<float> from = table.load();
            std::vector<float> to;
            for (uint64_t row = 0; row < table.rows; ++row) {
              for (int64_t d = -int64_t{reach}; d <= reach; ++d) {
                const int64_t at = std::clamp<int64_t>(d, -int64_t{own}, own) + own;
                to.push_back(from[row * table.width + static_cast<uint64_t>(at)]);
              }
            }
            return to;
          }};
}

// Row i has the number i in this column.
Constant Counting(uint32_t rows, uint32_t width, uint32_t column) {
  std::vector<float> values(uint64_t{rows} * width);
  for (uint32_t i = 0; i < rows; ++i) values[uint64_t{i} * width + column] = static_cast<float>(i);
  Constant counting = Literal(rows, width, values);
  counting.shortest = Shortest::kF32;
  return counting;
}

class Layoutlmv3 {
 public:
  Layoutlmv3(const Checkpoint& checkpoint, Description& description)
      : checkpoint_(checkpoint),
        config_(checkpoint.config),
        description_(description),
        weights_(description.weights),
        heads_(config_.Number("num_attention_heads", 12)),
        layers_(config_.Number("num_hidden_layers", 12)),
        epsilon_(config_.Real("layer_norm_eps", 1e-5)),
        activation_(config_.Activation("hidden_act", "gelu")),
        first_position_(config_.Number("pad_token_id", 1) + 1) {
    const bool by_position = config_.Flag("has_relative_attention_bias", true);
    // The published code adds the one of boxes only together with the other.
    const bool by_box = config_.Flag("has_spatial_attention_bias", true) && by_position;
    axes_ = by_box ? 3 : by_position ? 1 : 0;
    prefix_ = weights_.Has("embeddings.word_embeddings.weight") ? "" : "layoutlmv3.";
  }

  void Describe() {
    config_.Only("text_embed", true);
    const bool seen = config_.Flag("visual_embed", true);
    AddTables();
    std::vector<Space> spaces = {{"texts"}, {"tokens", "texts"}};
    if (!seen) {
      Write(spaces, "encode", nullptr);
    } else {
      const ImageInput image(checkpoint_, PartialPatches::kDropped, {0, 0, "input_size"});
      if (!checkpoint_.image_size.empty()) Fail("layoutlmv3 supports only images of the configured size");
      image.SetMetadata(description_);
      AddPicture(image, &spaces);
      Write(spaces, "encode", &image);
      Write(spaces, "encode_text", nullptr);
    }
    description_.must_use = {prefix_ + "embeddings.", prefix_ + "encoder."};
    if (seen) {
      for (const char* name : {"patch_embed.", "cls_token", "pos_embed", "LayerNorm.", "norm."}) {
        description_.must_use.push_back(prefix_ + name);
      }
    }
    // Sizes follow from the tensors.
    config_.Ignore({"coordinate_size", "hidden_size", "intermediate_size", "max_2d_position_embeddings",
                    "max_position_embeddings", "shape_size", "type_vocab_size"});
  }

 private:
  std::string Stored(const std::string& name) const { return prefix_ + name; }

  // Biases of all layers, and coordinates of tokens.
  void AddTables() {
    const std::string positions = Stored("embeddings.position_embeddings.weight");
    const uint32_t rows = weights_.Get(positions).rows;
    if (rows <= first_position_)
      Fail("tensor {} has {} rows, but the first {} belong to no token", positions, rows, first_position_);
    description_.SetMetadata("max_positions", std::to_string(rows - first_position_));
    if (axes_ == 0) return;
    const double size =
        static_cast<double>(weights_.Get(Stored("encoder.layer.0.attention.self.query.weight")).rows) / heads_;
    const auto bias = [&](const char* name, const char* bins, const char* farthest) {
      const Constant stored = weights_.Get(Stored("encoder.") + name + ".weight");
      if (stored.width != config_.Number(bins) || stored.rows != heads_) {
        Fail("tensor {}encoder.{}.weight is [{}, {}], not [{}, {}]", prefix_, name, stored.rows, stored.width, heads_,
             config_.Number(bins));
      }
      return Scale(RelativeBuckets(Transpose(stored), config_.Number(farthest)), static_cast<float>(1 / sqrt(size)));
    };
    std::vector<Constant> tables = {bias("rel_pos_bias", "rel_pos_bins", "max_rel_pos")};
    weights_.Add("places.positions", Counting(rows - first_position_, axes_, 0));
    if (axes_ > 1) {
      tables.push_back(bias("rel_pos_x_bias", "rel_2d_pos_bins", "max_rel_2d_pos"));
      tables.push_back(bias("rel_pos_y_bias", "rel_2d_pos_bins", "max_rel_2d_pos"));
      weights_.Add("places.left", Counting(weights_.Get(Stored("embeddings.x_position_embeddings.weight")).rows, 3, 1));
      weights_.Add("places.bottom",
                   Counting(weights_.Get(Stored("embeddings.y_position_embeddings.weight")).rows, 3, 2));
    } else {
      Constant none = Literal(1, 1, {0});
      none.shortest = Shortest::kF32;
      weights_.Add("places.none", none);
    }
    uint32_t reach = 0;
    for (const Constant& table : tables) reach = std::max(reach, table.width / 2);
    for (Constant& table : tables) table = Widened(table, reach);
    weights_.Add("biases", Concatenate(tables));
  }

  // The rows of the class token and of patches, with bias and positions, and their coordinates on the page.
  void AddPicture(const ImageInput& image, std::vector<Space>* spaces) {
    const Grid grid = image.patches();
    picture_rows_ = 1 + grid.count();
    const Constant positions = weights_.Get(Stored("pos_embed")), bias = weights_.Get(Stored("patch_embed.proj.bias"));
    if (positions.rows != picture_rows_) {
      Fail("tensor {}pos_embed has {} rows, but {} x {} patches and a class token need {}", prefix_, positions.rows,
           grid.rows, grid.columns, picture_rows_);
    }
    weights_.Add("picture.patches", image.PatchTable(1));
    weights_.Add("picture.rows", Concatenate({Sum({Slice(positions, {0, 1}), weights_.Get(Stored("cls_token"))}),
                                              Sum({Slice(positions, {1, 0}), bias})}));
    for (Space space : image.Spaces()) {
      if (space.name == "images") continue;
      space.parent = "texts";
      spaces->push_back(space);
    }
    spaces->push_back({"picture", "texts"});
    spaces->back().each = picture_rows_;
    spaces->push_back({"sequence"});
    spaces->back().extends = "tokens";
    spaces->back().by = picture_rows_;
    spaces->push_back({"text_rows"});
    spaces->back().selects = "sequence";
    description_.SetMetadata("layout.sequence", fmt::format("front_last {}", picture_rows_));
    weights_.Add("sequence.of_picture", Literal(picture_rows_, 1, std::vector<float>(picture_rows_)));
    weights_.Add("sequence.of_text", Literal(1, 1, {1}));
    if (axes_ == 0) return;
    std::vector<float> places;
    for (uint32_t i = 0; i < picture_rows_; ++i) {
      const uint32_t x = (i - 1) % grid.columns, y = (i - 1) / grid.columns;
      const float all[] = {static_cast<float>(i), static_cast<float>(i == 0 ? 1 : kPage * x / grid.columns),
                           static_cast<float>(i == 0 ? kPage - 1 : kPage * (y + 1) / grid.rows)};
      places.insert(places.end(), all, all + axes_);
    }
    weights_.Add("picture.places", Literal(picture_rows_, axes_, places));
  }

  void Write(const std::vector<Space>& spaces, const std::string& program, const ImageInput* image) {
    ProgramBuilder builder(checkpoint_, description_, {"layer", epsilon_}, spaces, {"input_ids", "tokens"}, program);
    b_ = &builder;
    for (const char* input : {"token_type_ids", "left", "top", "right", "bottom", "height", "width"}) {
      builder.InputOfIds(input, 0);
    }
    std::string x = Text(image == nullptr ? State(0) : "text");
    std::string places = axes_ == 0 ? "" : Places();
    if (image != nullptr) {
      builder.AddInput(image->Pixels());
      x = Picture(x);
      if (!places.empty()) {
        places = builder.Op("prepend", {places}, {"picture.places"}, "places", Json::object(), "sequence");
      }
    }
    for (uint32_t i = 0; i < layers_; ++i) x = Layer(i, x, places);
    const bool of_text = checkpoint_.task != Task::kEmbedding && checkpoint_.task != Task::kEncoder;
    if (image != nullptr && of_text) x = TextRows(x);
    const Head head = {.dense = "classifier.dense", .activation = "tanh", .out = "classifier.out_proj"};
    Heads task_heads;
    task_heads.sequence = head;
    task_heads.span = weights_.Has("qa_outputs.weight")
                          ? Head{.out = "qa_outputs"}
                          : Head{.dense = "qa_outputs.dense", .activation = "tanh", .out = "qa_outputs.out_proj"};
    task_heads.token = weights_.Has("classifier.weight") ? Head{.out = "classifier"} : head;
    builder.Finish(x, task_heads);
  }

  std::string State(uint32_t i) const { return i == layers_ ? b_->LastHiddenState(i) : b_->HiddenState(i); }

  std::string Text(const std::string& out) {
    const std::string embeddings = Stored("embeddings.");
    b_->Op("embed", {"input_ids", "token_type_ids"},
           {embeddings + "word_embeddings.weight", embeddings + "token_type_embeddings.weight"}, "embeddings.words");
    b_->Op("position", {"embeddings.words"}, {embeddings + "position_embeddings.weight"}, "embeddings.positioned",
           {{"offset", first_position_}});
    const std::pair<const char*, const char*> sides[] = {{"left", "x"},   {"top", "y"},    {"right", "x"},
                                                         {"bottom", "y"}, {"height", "h"}, {"width", "w"}};
    std::vector<std::string> parts;
    for (const auto& [input, table] : sides) {
      parts.push_back(b_->Op("embed", {input}, {fmt::format("{}{}_position_embeddings.weight", embeddings, table)},
                             fmt::format("embeddings.{}", input)));
    }
    b_->Op("concat", parts, {}, "embeddings.box");
    b_->Op("add", {"embeddings.positioned", "embeddings.box"}, {}, "embeddings.sum");
    return b_->Norm("embeddings.sum", embeddings + "LayerNorm", out);
  }

  // A number for each axis and token.
  std::string Places() {
    if (axes_ > 1) {
      b_->Op("embed", {"left", "bottom"}, {"places.left", "places.bottom"}, "places.boxes");
    } else {
      b_->Op("fill", {}, {"places.none"}, "places.boxes", Json::object(), "tokens");
    }
    return b_->Op("position", {"places.boxes"}, {"places.positions"}, "places.text");
  }

  std::string Picture(const std::string& text) {
    b_->Arrange("pixel_values", "picture.patches", "picture", "pixels");
    b_->Op("linear", {"pixels"}, {Stored("patch_embed.proj.weight")}, "picture.projected");
    b_->Op("position", {"picture.projected"}, {"picture.rows"}, "picture.positioned");
    b_->Op("norm", {"picture.positioned"}, {Stored("norm.weight"), Stored("norm.bias")}, "picture.normed",
           {{"kind", "layer"}, {"epsilon", 1e-6}});
    b_->Op("prepend", {text, "picture.normed"}, {}, "sequence.rows", Json::object(), "sequence");
    return b_->Norm("sequence.rows", Stored("LayerNorm"), State(0));
  }

  // The rows of the sequence that are no picture's.
  std::string TextRows(const std::string& x) {
    b_->Op("fill", {}, {"sequence.of_text"}, "sequence.tokens", Json::object(), "tokens");
    b_->Op("prepend", {"sequence.tokens"}, {"sequence.of_picture"}, "sequence.marks", Json::object(), "sequence");
    b_->Op("select", {"sequence.marks"}, {}, "sequence.chosen", {{"kind", "threshold"}, {"threshold", 0.5}},
           "text_rows");
    return b_->Op("gather", {x, "sequence.chosen"}, {}, "text_states");
  }

  std::string Layer(uint32_t i, const std::string& x, const std::string& places) {
    const std::string at = fmt::format("{}encoder.layer.{}.", prefix_, i), own = fmt::format("layers.{}.", i);
    std::vector<std::string> in;
    for (const char* part : {"query", "key", "value"}) {
      in.push_back(b_->Linear(x, fmt::format("{}attention.self.{}", at, part), own + part));
    }
    AttentionTensors tensors;
    Json attributes = {{"heads", heads_}};
    if (!places.empty()) {
      in.push_back(places);
      tensors.distance_bias = "biases";
      attributes["axes"] = axes_;
      attributes["row_coordinates"] = true;
    }
    b_->Attention(fmt::format("attentions.{}", i), in, tensors, own + "attended", attributes);
    b_->Linear(own + "attended", at + "attention.output.dense", own + "attention_output");
    b_->Op("add", {x, own + "attention_output"}, {}, own + "attention_sum");
    b_->Norm(own + "attention_sum", at + "attention.output.LayerNorm", own + "attention_normed");
    b_->Linear(own + "attention_normed", at + "intermediate.dense", own + "up", activation_);
    b_->Linear(own + "up", at + "output.dense", own + "down");
    b_->Op("add", {own + "attention_normed", own + "down"}, {}, own + "sum");
    return b_->Norm(own + "sum", at + "output.LayerNorm", State(i + 1));
  }

  const Checkpoint& checkpoint_;
  const Config& config_;
  Description& description_;
  Weights& weights_;
  uint32_t heads_, layers_;
  double epsilon_;
  std::string activation_;
  uint32_t first_position_, axes_ = 0, picture_rows_ = 0;
  std::string prefix_;
  ProgramBuilder* b_ = nullptr;
};

}  // namespace

// The original: transformers/models/layoutlmv3/modeling_layoutlmv3.py: LayoutLMv3Model.
void DescribeLayoutlmv3(const Checkpoint& checkpoint, Description& description) {
  Layoutlmv3(checkpoint, description).Describe();
}

}  // namespace fovea::tools
