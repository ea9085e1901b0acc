// Reads the post-processor of tokenizer.json: special tokens around texts, and ranges without spaces.
#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/text/tokenizer_json.h"

namespace fovea::tools {
namespace {

using text::StepKind;

// The valid token ids.
WholeRange Known(const TextModel& model) { return {0, static_cast<int64_t>(model.tokens.size()) - 1}; }

// Post-processors of byte-level tokenizers trim ranges; a step stores the flags.
void ReadTrim(const JsonView& part, TextModel* model) {
  if (!part["trim_offsets"].Flag(true)) return;
  std::vector<TextStep>& steps = model->pre_tokenizer;
  const auto is_level = [](const TextStep& step) { return step.kind == StepKind::kByteLevel; };
  if (std::none_of(steps.begin(), steps.end(), is_level)) steps.push_back({StepKind::kByteLevel});
  const uint32_t flags = text::kByteLevelTrim | (part["add_prefix_space"].Flag(true) ? text::kByteLevelTrimPrefix : 0u);
  for (TextStep& step : steps) step.flags |= is_level(step) ? flags : 0u;
}

std::vector<text::TemplateItem> ReadTemplate(const JsonView& items, const JsonView& specials, const TextModel& model) {
  std::vector<text::TemplateItem> result;
  const auto add = [&](const text::TemplateItem& item) {
    if (result.size() == text::kMaxTemplate) Fail("{} has more than {} parts", items.name(), text::kMaxTemplate);
    result.push_back(item);
  };
  ForEach(items, [&](const JsonView& item) {
    const JsonView sequence = item["Sequence"], special = item["SpecialToken"];
    if (!sequence.IsNull()) {
      return add({sequence["id"].Text() == "A" ? 1u : 2u, 0, sequence["type_id"].Number({}, 0)});
    }
    const uint32_t type = special["type_id"].Number({}, 0);
    ForEach(specials[special["id"].Text().c_str()]["ids"], [&](const JsonView& id) {
      add({0, id.Number(Known(model)), type});
    });
  });
  return result;
}

}  // namespace

void ReadPostProcessor(const JsonView& part, TextModel* model) {
  if (part.IsNull()) return;
  const std::string type = TypeOf(part);
  const bool wraps = type == "TemplateProcessing" || type == "BertProcessing" || type == "RobertaProcessing";
  if (wraps && !model->single.empty()) Fail("{}: two templates, one around the other, are not supported", part.name());
  if (type == "TemplateProcessing") {
    model->single = ReadTemplate(part["single"], part["special_tokens"], *model);
    model->pair = ReadTemplate(part["pair"], part["special_tokens"], *model);
  } else if (wraps) {
    const bool roberta = type == "RobertaProcessing";
    const uint32_t open = part["cls"].At(1).Number(Known(*model)), close = part["sep"].At(1).Number(Known(*model));
    model->Wrap(open, close, roberta, roberta ? 0 : 1);
    if (roberta) ReadTrim(part, model);
  } else if (type == "ByteLevel") {
    ReadTrim(part, model);
  } else if (type == "Sequence") {
    ForEach(part["processors"], [&](const JsonView& inner) { ReadPostProcessor(inner, model); });
  } else {
    Fail("post-processor type \"{}\" is not supported", type);
  }
}

}  // namespace fovea::tools
