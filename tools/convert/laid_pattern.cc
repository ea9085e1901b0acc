// Applies sparse attention to models that were trained without it.
#include "tools/convert/laid_pattern.h"

#include <algorithm>

#include "runtime/blob/attribute_names.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/names.h"
#include "runtime/blob/op_codes.h"
#include "runtime/blob/operands.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/lines.h"
#include "tools/convert/blob_attributes.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kUnbounded = UINT32_MAX;  // no limit, for `left` and `right`

bool IsAttention(const BlobOperation& operation) { return operation.code == static_cast<uint32_t>(OpCode::kAttention); }

bool Chosen(const LaidPattern& pattern, uint32_t layer) {
  if (pattern.layers.empty()) return true;
  return std::any_of(pattern.layers.begin(), pattern.layers.end(),
                     [&](const auto& range) { return layer >= range.first && layer <= range.second; });
}

void NarrowTo(BlobOperation& attention, Attribute side, uint32_t rows) {
  SetNumber(attention, side, std::min(rows, NumberOr(attention, side, kUnbounded)));
}

// Refuses patterns that determine the keys in another way.
void CheckPattern(const BlobOperation& attention, uint32_t layer) {
  const auto kind = static_cast<PatternKind>(NumberOr(attention, Attribute::kPattern, 0));
  if (kind != PatternKind::kFull && kind != PatternKind::kWindow) Fail("layer {} already has another pattern", layer);
  const auto refuse = [&](bool has, const char* what) {
    if (has) Fail("layer {} has {}, which cannot be combined with another pattern", layer, what);
  };
  refuse(HasInput(attention, AttentionInput::kSummaryKeys), "summaries");
  for (const Attribute key : {Attribute::kRounds, Attribute::kChunk, Attribute::kCenters}) {
    refuse(NumberOr(attention, key, 0) != 0, NameOf(key));
  }
}

void LayOver(const LaidPattern& pattern, BlobOperation& attention) {
  if (pattern.window != 0) {
    SetNumber(attention, Attribute::kPattern, static_cast<uint32_t>(PatternKind::kWindow));
    const bool causal = IsCausal(attention);
    if (!causal && pattern.window % 2 != 0)
      Fail("a window of {} rows cannot be split into equal sides; give an even number", pattern.window);
    NarrowTo(attention, Attribute::kLeft, causal ? pattern.window - 1 : pattern.window / 2);
    NarrowTo(attention, Attribute::kRight, causal ? 0 : pattern.window / 2);
  }
  if (pattern.global_first > NumberOr(attention, Attribute::kGlobalFirst, 0)) {
    SetNumber(attention, Attribute::kGlobalFirst, pattern.global_first);
  }
  const uint32_t best = NumberOr(attention, Attribute::kTopK, 0);
  if (pattern.top_k != 0 && (best == 0 || best > pattern.top_k)) {
    SetNumber(attention, Attribute::kTopK, pattern.top_k);
  }
}

// The number of cached rows of a text that the program's operations need; 0: all.
uint32_t NeededRows(const BlobProgram& program, uint32_t space) {
  uint32_t needed = 0;
  for (const BlobOperation& operation : program.operations) {
    const auto is_kept = [&](uint32_t value) { return value != kBlobNone && program.values[value].space == space; };
    if (std::none_of(operation.inputs.begin(), operation.inputs.end(), is_kept)) continue;
    const uint32_t left = NumberOr(operation, Attribute::kLeft, kUnbounded);
    const bool global = NumberOr(operation, Attribute::kGlobalFirst, 0) != 0;
    if (!IsAttention(operation) || left == kUnbounded || global) return 0;
    needed = std::max(needed, left);
  }
  return needed;
}

std::string LayersText(const LaidPattern& pattern) {
  std::string text;
  for (const auto& [first, last] : pattern.layers) {
    text += text.empty() ? "" : ",";
    text += first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

std::string TextOf(const LaidPattern& pattern) {
  std::string text;
  const auto add = [&](const char* name, uint32_t count) {
    if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  };
  add("window", pattern.window);
  add("global_first", pattern.global_first);
  add("top_k", pattern.top_k);
  if (!pattern.layers.empty()) text += ", layers " + LayersText(pattern);
  for (const RowSelection& selection : pattern.selections) {
    text += fmt::format("{}select {}", text.empty() ? "" : ", ", TextOf(selection));
  }
  return text;
}

// Applies windows, global rows and top-k.
void Narrow(const LaidPattern& pattern, BlobContent& content) {
  uint32_t most = 0;
  for (BlobProgram& program : content.programs) {
    uint32_t layer = 0;
    for (BlobOperation& operation : program.operations) {
      if (!IsLayer(content, program, operation)) continue;
      if (Chosen(pattern, layer)) {
        CheckPattern(operation, layer);
        LayOver(pattern, operation);
      }
      ++layer;
    }
    most = std::max(most, layer);
    for (uint32_t i = 0; i < content.spaces.size(); ++i) {
      BlobSpace& space = content.spaces[i];
      const uint32_t needed = space.kind == SpaceKind::kCached ? NeededRows(program, i) : 0;
      if (needed != 0) space.extra = space.extra == 0 ? needed : std::min(space.extra, needed);
    }
  }
  if (most == 0) Fail("the model has no self-attention to which a pattern could be applied");
  for (const auto& [first, last] : pattern.layers) {
    if (last >= most)
      Fail("layers {}: out of range; the model has {} layers, counted from 0", LayersText(pattern), most);
  }
}

}  // namespace

bool IsLayer(const BlobContent& content, const BlobProgram& program, const BlobOperation& operation) {
  if (!IsAttention(operation)) return false;
  const uint32_t queries = program.values[operation.inputs[0]].space, keys = program.values[operation.inputs[1]].space;
  const BlobSpace& kept = content.spaces[keys];
  return keys == queries || (kept.kind == SpaceKind::kCached && kept.source == queries);
}

std::vector<std::pair<uint32_t, uint32_t>> ReadLayers(const std::string& text) {
  std::vector<std::pair<uint32_t, uint32_t>> layers;
  for (const std::string& part : FieldsOf(text, ',')) {
    const size_t dash = part.find('-');
    const auto number = [&](const std::string& digits) {
      return static_cast<uint32_t>(WholeNumberIn(digits, "layer", {0, 65535}));
    };
    const uint32_t first = number(part.substr(0, dash));
    const uint32_t last = dash == std::string::npos ? first : number(part.substr(dash + 1));
    if (last < first) Fail("layers {}: the range is not ascending", part);
    layers.emplace_back(first, last);
  }
  return layers;
}

void LayPattern(const LaidPattern& pattern, BlobContent& content) {
  if (pattern.narrows()) Narrow(pattern, content);
  for (const RowSelection& selection : pattern.selections) SelectRows(selection, content);
  content.metadata.emplace_back("attention.laid", TextOf(pattern));
}

}  // namespace fovea::tools
