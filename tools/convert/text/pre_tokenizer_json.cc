// Reads the pre-tokenizer of tokenizer.json. Steps that split at matches of a pattern become a table.
#include <algorithm>
#include <map>

#include "tools/base/fail.h"
#include "tools/convert/text/tokenizer_json.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

using text::StepKind;

constexpr char kByteLevelPattern[] = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

void AddCut(Pattern pattern, uint32_t flags, TextModel* model) {
  TextStep step{StepKind::kCut, flags};
  step.pattern = std::move(pattern);
  model->pre_tokenizer.push_back(std::move(step));
}

uint32_t Behavior(const JsonView& name, const char* absent) {
  static const std::map<std::string, uint32_t> kNames = {{"Isolated", text::kCutAlone},
                                                         {"Removed", text::kCutRemoved},
                                                         {"MergedWithPrevious", text::kCutWithPrevious},
                                                         {"MergedWithNext", text::kCutWithNext},
                                                         {"Contiguous", text::kCutTogether}};
  const auto found = kNames.find(name.Text(absent));
  if (found == kNames.end()) Fail("{} \"{}\" is not supported", name.name(), name.Text());
  return found->second;
}

void ReadSplit(const JsonView& part, uint32_t bytes, TextModel* model) {
  const JsonView pattern = part["pattern"];
  const uint32_t flags =
      Behavior(part["behavior"], "") | (part["invert"].Flag(false) ? text::kCutInverted : 0u) | bytes;
  AddCut(pattern["String"].IsNull() ? ReadPattern(pattern["Regex"].Bytes()) : LiteralPattern(pattern["String"].Bytes()),
         flags, model);
}

void ReadMetaspace(const JsonView& part, TextModel* model) {
  TextStep step{StepKind::kMetaspace};
  step.first = part["replacement"].Bytes("\xe2\x96\x81");
  const std::string scheme = part["prepend_scheme"].Bytes(part["add_prefix_space"].Flag(true) ? "always" : "never");
  if (scheme == "always")
    step.flags |= text::kMetaspacePrependAlways;
  else if (scheme == "first")
    step.flags |= text::kMetaspacePrependFirst;
  else if (scheme != "never")
    Fail("prepend_scheme \"{}\" of Metaspace is not supported", scheme);
  if (part["split"].Flag(true)) step.flags |= text::kMetaspaceSplit;
  model->pre_tokenizer.push_back(std::move(step));
}

}  // namespace

void ReadPreTokenizer(const JsonView& part, TextModel* model) {
  if (part.IsNull()) return;
  const std::string type = TypeOf(part);
  std::vector<TextStep>& steps = model->pre_tokenizer;
  // Steps after ByteLevel read its characters for bytes.
  const bool after_bytes =
      std::any_of(steps.begin(), steps.end(), [](const TextStep& step) { return step.kind == StepKind::kByteLevel; });
  const uint32_t bytes = after_bytes ? text::kCutBytes : 0u;
  if (after_bytes && (type == "BertPreTokenizer" || type == "WhitespaceSplit" || type == "Metaspace")) {
    Fail("pre-tokenizer type \"{}\" after ByteLevel is not supported", type);
  }
  if (type == "Sequence") {
    ForEach(part["pretokenizers"], [&](const JsonView& inner) { ReadPreTokenizer(inner, model); });
  } else if (type == "BertPreTokenizer") {
    steps.push_back({StepKind::kSplitBert});
  } else if (type == "WhitespaceSplit") {
    steps.push_back({StepKind::kSplitWhitespace});
  } else if (type == "Whitespace") {
    AddCut(ReadPattern(R"(\w+|[^\w\s]+)"), text::kCutRemoved | text::kCutInverted | bytes, model);
  } else if (type == "CharDelimiterSplit") {
    AddCut(LiteralPattern(part["delimiter"].Bytes()), text::kCutRemoved | bytes, model);
  } else if (type == "Digits") {
    const uint32_t kind = part["individual_digits"].Flag(false) ? text::kCutAlone : text::kCutTogether;
    AddCut(SetPattern(SetOf(IsNumber)), kind | bytes, model);
  } else if (type == "Punctuation") {
    AddCut(SetPattern(SetOf(IsBertPunctuation)), Behavior(part["behavior"], "Isolated") | bytes, model);
  } else if (type == "Split") {
    ReadSplit(part, bytes, model);
  } else if (type == "Metaspace") {
    ReadMetaspace(part, model);
  } else if (type == "ByteLevel") {
    steps.push_back({StepKind::kByteLevel, part["add_prefix_space"].Flag(true) ? text::kByteLevelPrefixSpace : 0u});
    if (part["use_regex"].Flag(true)) AddCut(ReadPattern(kByteLevelPattern), text::kCutAlone, model);
  } else {
    Fail("pre-tokenizer type \"{}\" is not supported", type);
  }
}

}  // namespace fovea::tools
