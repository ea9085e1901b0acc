// Attention of Longformer and its descendants.
#include "tools/convert/arch/longformer_attention.h"

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

const char kGlobalRows[] = "global_rows";  // the value that holds which rows are global

Space GlobalRowsSpace(bool first) {
  Space globals;
  globals.name = "globals";
  globals.selects = "tokens";
  globals.at_most = first ? 1 : 0;
  return globals;
}

void AddGlobalRows(ProgramBuilder& builder, bool first) {
  if (!first) builder.InputOfIds("global_attention_mask", 0);
  builder.Op("select", {first ? "input_ids" : "global_attention_mask"}, {}, kGlobalRows,
             {{"kind", first ? "first" : "nonzero"}});
}

// Returns the attended rows.
std::string Attend(uint32_t side, const StackSite& site, ProgramBuilder& b, Description& description) {
  const LayerStack& stack = site.stack;
  const AttentionNames& names = stack.layers[site.layer].attention;
  const std::string &at = site.at, name = fmt::format("{}attentions.{}", stack.prefix, site.layer),
                    of_global_rows = fmt::format("{}global_attentions.{}", stack.prefix, site.layer);
  b.Attention(name, {at + "query", at + "key", at + "value", kGlobalRows}, {}, at + "local",
              {{"heads", stack.heads}, {"pattern", "window"}, {"left", side}, {"right", side}, {"global_keys", true}});
  b.Op("gather", {site.in, kGlobalRows}, {}, at + "global_input");
  b.Linear(at + "global_input", names.query + "_global", at + "global_query");
  b.Linear(site.in, names.key + "_global", at + "global_key");
  b.Linear(site.in, names.value + "_global", at + "global_value");
  b.Attention(of_global_rows, {at + "global_query", at + "global_key", at + "global_value"}, {}, at + "global",
              {{"heads", stack.heads}});
  description.SetMetadata("layout." + name, fmt::format("band {} {}", side, kGlobalRows));
  description.SetMetadata("layout." + of_global_rows, "keys_first");
  return b.Op("merge", {at + "local", at + "global", kGlobalRows}, {}, at + "attended");
}

}  // namespace

std::vector<uint32_t> LongformerSides(const Config& config, uint32_t layers) {
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

void SeeWindows(const std::vector<uint32_t>& sides, bool first_is_global, Description& description, LayerStack& stack) {
  stack.spaces = {GlobalRowsSpace(first_is_global)};
  stack.begin = [=](ProgramBuilder& b) { AddGlobalRows(b, first_is_global); };
  stack.attend = [=, &description](ProgramBuilder& b, const StackSite& site) {
    return Attend(sides[site.layer], site, b, description);
  };
}

}  // namespace fovea::tools
