// The original: transformers/tokenization_utils_base.py, and tokenization_utils_tokenizers.py for what becomes of
// decoded texts.
#include "tools/convert/text/tokenizer_settings.h"

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr char kCleanUp[] = "clean_up_tokenization_spaces";

bool IsTrue(const JsonView& config, const char* key) { return config[key].json() == true; }

// Byte-pair encodings keep the spaces of a text in their tokens, so the original leaves them alone since version 5.7.
void FollowCleanUp(const JsonView& config, const TextOptions& options, const TextModel& model) {
  if (!options.generates || options.metadata == nullptr || !IsTrue(config, kCleanUp)) return;
  const bool forced = IsTrue(config, "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output");
  const bool follows = forced || model.kind != text::ModelKind::kBpe;
  if (follows) options.metadata->emplace_back("text.clean_up", "true");
  if (options.findings == nullptr) return;
  if (follows) {
    options.findings->push_back(
        {Topic::kGeneration, fmt::format("{}: spaces before English punctuation and contractions are removed from "
                                         "texts that fovea generates",
                                         kCleanUp)});
  } else {
    options.findings->push_back(
        {Topic::kNoEffect, fmt::format("tokenizer_config.json: {}, which the original ignores for byte-pair encoding "
                                       "since version 5.7; before, it removed spaces before punctuation",
                                       kCleanUp)});
  }
}

void ReportWithoutEffect(const JsonView& config, const TextOptions& options) {
  if (options.findings == nullptr) return;
  std::string names;
  const auto add = [&](const char* name, const char* why) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", name, why);
  };
  if (config["padding_side"].json() == "left") add("padding_side", "texts of a batch are not padded");
  if (config["pad_to_multiple_of"].json().is_number()) add("pad_to_multiple_of", "texts of a batch are not padded");
  if (config["spaces_between_special_tokens"].json() == false) {
    add("spaces_between_special_tokens", "for tokenizers without tokenizer.json");
  }
  if (!names.empty()) options.findings->push_back({Topic::kNoEffect, "tokenizer_config.json: " + names});
}

}  // namespace

uint32_t ConfiguredLength(const JsonView& config) {
  constexpr double kNoLimit = 1e9;
  // Older versions of the original library wrote max_len.
  const JsonView length = config["model_max_length"].IsNull() ? config["max_len"] : config["model_max_length"];
  if (length.IsNull() || (length.json().is_number() && length.json().get<double>() >= kNoLimit)) return 0;
  return length.Number({1, static_cast<int64_t>(kNoLimit)});
}

void ApplySettings(const JsonView& config, const TextOptions& options, TextModel* model) {
  const std::string side = config["truncation_side"].Text("");
  if (side == "left") model->flags |= text::kCutLeft;
  if (side == "right") model->flags &= ~uint32_t{text::kCutLeft};
  if (options.warnings != nullptr) {
    if (!side.empty() && side != "left" && side != "right") {
      options.warnings->push_back(fmt::format("{} {} is neither left nor right and was ignored",
                                              config["truncation_side"].name(), Shown(Json(side))));
    }
    if (IsTrue(config, "split_special_tokens")) {
      options.warnings->push_back(
          fmt::format("{} is not followed: the name of a special token in a text is read as that token",
                      config["split_special_tokens"].name()));
    }
  }
  FollowCleanUp(config, options, *model);
  ReportWithoutEffect(config, options);
  const uint32_t length = ConfiguredLength(config);
  if (options.reports_limit) ReportLimit(length, model->max_length, options);
  if (length != 0) model->max_length = length;
}

void ReportLimit(uint32_t configured, uint32_t stored, const TextOptions& options) {
  const uint32_t limit = configured != 0 ? configured : stored, positions = options.max_length;
  if (limit == 0 || options.findings == nullptr) return;
  const char* const file = configured != 0 ? "tokenizer_config.json" : "the truncation of tokenizer.json";
  std::string text;
  if (positions != 0 && positions < limit) {
    text = fmt::format("{} tokens, by the positions of the model, not {} by {}", positions, limit, file);
  } else if (configured != 0 && stored != 0 && stored != configured) {
    text = fmt::format("{} tokens, by {}, not {} by the truncation of tokenizer.json", limit, file, stored);
  } else {
    text = fmt::format("{} tokens, by {}", limit, file);
  }
  options.findings->push_back({Topic::kLimits, text});
}

}  // namespace fovea::tools
