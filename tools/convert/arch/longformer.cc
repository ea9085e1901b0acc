// Longformer: RoBERTa whose rows see a window and the global rows; these have projections of their own and see all.
#include "tools/base/fail.h"
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {
namespace {

const char kGlobalRows[] = "global_rows";  // the value that holds which rows are global

// Keys to each side, for each layer.
std::vector<uint32_t> Sides(const Config& config, uint32_t layers) {
  const Json& windows = config.Get("attention_window");
  if (windows.is_array() && windows.size() != layers) {
    Fail("config.json: attention_window must be a number or one for each of {} layers", layers);
  }
  std::vector<uint32_t> sides;
  for (uint32_t i = 0; i < layers; ++i) {
    const Json window = windows.is_null() ? Json(512u) : windows.is_array() ? windows[i] : windows;
    const uint64_t keys = window.is_number_unsigned() ? window.get<uint64_t>() : 0;
    if (keys == 0 || keys % 2 != 0 || keys > INT32_MAX) {
      Fail("config.json: attention_window must be even and positive, not {}", window.dump());
    }
    sides.push_back(static_cast<uint32_t>(keys / 2));
  }
  return sides;
}

}  // namespace

void DescribeLongformer(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  PostNormEncoder encoder = RobertaFromConfig(config);
  encoder.prefix = "longformer";
  const std::vector<uint32_t> sides = Sides(config, encoder.layers);
  const Json& dilation = config.Get("attention_dilation");
  for (const Json& rate : dilation.is_array() ? dilation : Json::array({dilation})) {
    if (!rate.is_null() && rate != 1) Fail("config.json: attention_dilation {} is not supported", dilation.dump());
  }
  config.Only("autoregressive", false);
  for (const char* key : {"attention_mode", "ignore_attention_mask", "onnx_export"}) config.Get(key);

  // The classifier reads the first row, and the published code makes that one global.
  const bool first = checkpoint.task == Task::kSequenceClassification;
  encoder.begin = [=, &description](ProgramBuilder& b) {
    Space globals;
    globals.name = "globals";
    globals.selects = "tokens";
    globals.at_most = first ? 1 : 0;
    description.spaces.push_back(globals);
    if (!first) b.InputOfIds("global_attention_mask", 0);
    b.Op("select", {first ? "input_ids" : "global_attention_mask"}, {}, kGlobalRows,
         {{"kind", first ? "first" : "nonzero"}});
  };
  encoder.attention = [=, heads = encoder.heads, &description](ProgramBuilder& b, const AttentionSite& site) {
    const std::string& at = site.at;
    const std::string name = fmt::format("attentions.{}", site.layer);
    const uint32_t side = sides[site.layer];
    b.Attention(name, {at + "query", at + "key", at + "value", kGlobalRows}, {}, at + "local",
                {{"heads", heads}, {"pattern", "window"}, {"left", side}, {"right", side}, {"global_keys", true}});
    b.Op("gather", {site.x, kGlobalRows}, {}, at + "global_input");
    b.Linear(at + "global_input", site.names.query + "_global", at + "global_query");
    b.Linear(site.x, site.names.key + "_global", at + "global_key");
    b.Linear(site.x, site.names.value + "_global", at + "global_value");
    b.Attention("global_" + name, {at + "global_query", at + "global_key", at + "global_value"}, {}, at + "global",
                {{"heads", heads}});
    description.SetMetadata("layout." + name, fmt::format("band {} {}", side, kGlobalRows));
    description.SetMetadata("layout.global_" + name, "keys_first");
    return b.Op("merge", {at + "local", at + "global", kGlobalRows}, {}, at + "attended");
  };
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
