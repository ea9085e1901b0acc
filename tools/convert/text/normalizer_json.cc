// Reads the normalizer of tokenizer.json.
#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/tokenizer_json.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

using text::StepKind;

std::string DecodeBase64(const std::string& text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    if (c == '=') break;
    uint32_t value = 0;
    if (c >= 'A' && c <= 'Z')
      value = c - 'A';
    else if (c >= 'a' && c <= 'z')
      value = c - 'a' + 26;
    else if (c >= '0' && c <= '9')
      value = c - '0' + 52;
    else if (c == '+')
      value = 62;
    else if (c == '/')
      value = 63;
    else
      Fail("precompiled_charsmap is not base64");
    bits = bits << 6 | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  return bytes;
}

TextStep MapStep(std::function<std::string(uint32_t)> map, uint32_t flags = 0) {
  TextStep step{StepKind::kMap, flags};
  step.map = std::move(map);
  return step;
}

// The cleaning of translation models (normalizers::Nmt): control characters go, separators become spaces.
std::string NmtCleaned(uint32_t code) {
  const bool control = (code >= 1 && code <= 8) || code == 0xb || (code >= 0xe && code <= 0x1f) || code == 0x7f ||
                       code == 0x8f || code == 0x9f;
  const bool space = code == '\t' || code == '\n' || code == 0xc || code == '\r' || code == 0x1680 ||
                     (code >= 0x200b && code <= 0x200f) || code == 0x2028 || code == 0x2029 || code == 0x2581 ||
                     code == 0xfeff || code == 0xfffd;
  return control ? "" : space ? " " : Utf8(code);
}

// Patterns: literal strings, runs of spaces such as " {2,}", and regular expressions.
void ReadReplace(const JsonView& part, TextModel* model) {
  const JsonView pattern = part["pattern"];
  TextStep step{StepKind::kReplace};
  step.second = part["content"].Bytes();
  if (!pattern["String"].IsNull()) {
    step.first = pattern["String"].Bytes();
  } else {
    const std::string regex = pattern["Regex"].Bytes("");
    if (regex.size() == 5 && regex.substr(1, 1) == "{" && regex.substr(3) == ",}" && regex[0] == ' ' &&
        regex[2] >= '1' && regex[2] <= '9') {
      step.first = " ";
      step.flags = static_cast<uint32_t>(regex[2] - '0');
    } else {
      step.kind = StepKind::kReplaceMatches;
      step.pattern = ReadPattern(regex);
    }
  }
  if (step.pattern == nullptr && step.first.empty()) Fail("a Replace normalizer has an empty pattern");
  model->normalizer.push_back(std::move(step));
}

}  // namespace

void ReadNormalizer(const JsonView& part, TextModel* model) {
  if (part.IsNull()) return;
  std::vector<TextStep>& steps = model->normalizer;
  const std::string type = TypeOf(part);
  if (type == "Sequence") {
    ForEach(part["normalizers"], [&](const JsonView& inner) { ReadNormalizer(inner, model); });
  } else if (type == "BertNormalizer") {
    const bool lower = part["lowercase"].Flag(true);
    steps.push_back(BertNormalizerStep(part["clean_text"].Flag(true), part["handle_chinese_chars"].Flag(true),
                                       part["strip_accents"].Flag(lower), lower));
  } else if (type == "Lowercase") {
    steps.push_back(LowerCaseStep());
  } else if (type == "StripAccents") {
    steps.push_back(MapStep([](uint32_t code) { return IsMark(code) ? std::string() : Utf8(code); }));
  } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    const bool compatibility = type[2] == 'K';
    steps.push_back(MapStep([=](uint32_t code) { return Decompose(code, compatibility); }, text::kMapHangul));
    steps.push_back({StepKind::kOrder, type.back() == 'C' ? text::kOrderCompose : 0u});
  } else if (type == "Nmt") {
    steps.push_back(MapStep(NmtCleaned));
  } else if (type == "Precompiled") {
    if (!model->charsmap.empty()) Fail("more than one Precompiled normalizer is not supported");
    model->charsmap = DecodeBase64(part["precompiled_charsmap"].Bytes());
    if (!model->charsmap.empty()) steps.push_back({StepKind::kCharsmapGraphemes});
  } else if (type == "Strip") {
    const uint32_t flags = (part["strip_left"].Flag(true) ? text::kStripLeft : 0u) |
                           (part["strip_right"].Flag(true) ? text::kStripRight : 0u);
    steps.push_back({StepKind::kStrip, flags});
  } else if (type == "Replace") {
    ReadReplace(part, model);
  } else if (type == "Prepend") {
    steps.push_back({StepKind::kPrepend, 0, part["prepend"].Bytes()});
  } else {
    Fail("normalizer type \"{}\" is not supported", type);
  }
}

TextStep LowerCaseStep() { return MapStep(LowerCase); }

TextStep BertNormalizerStep(bool clean_text, bool space_cjk, bool strip_accents, bool lower_case) {
  const auto map = [=](uint32_t code) {
    if (clean_text) {
      if (code == 0 || code == 0xfffd || IsBertControl(code)) return std::string();
      if (IsWhitespace(code)) code = ' ';
    }
    std::string result;
    for (uint32_t part : CodePoints(strip_accents ? Decompose(code, false) : Utf8(code))) {
      if (strip_accents && IsBertNonspacingMark(part)) continue;
      result += lower_case ? LowerCase(part) : Utf8(part);
    }
    return result;
  };
  return MapStep(map, (space_cjk ? text::kMapSpaceCjk : 0u) | (strip_accents ? text::kMapHangul : 0u));
}

}  // namespace fovea::tools
