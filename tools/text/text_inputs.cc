// Texts as inputs of a program.
#include "tools/text/text_inputs.h"

#include <algorithm>
#include <optional>

#include "fovea/text.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"

namespace fovea::tools {
namespace {

std::optional<uint32_t> FindIds(const Model& model, uint32_t program) {
  if (const auto value = model.FindValue(program, "input_ids")) {
    if (model.Value(program, *value).role == FOVEA_ROLE_INPUT) return value;
  }
  for (const uint32_t value : InputsOf(model, program)) {
    if (model.Value(program, value).type == FOVEA_TYPE_I32) return value;
  }
  return std::nullopt;
}

uint32_t IdInput(const Model& model, uint32_t program) {
  const auto ids = FindIds(model, program);
  if (!ids) Fail("{}: the program does not take token ids", model.name());
  return *ids;
}

// The space whose rows are sentences of documents, or FOVEA_NONE.
uint32_t SentenceSpace(const Model& model, uint32_t program) {
  const auto ids = FindIds(model, program);
  const uint32_t parent = ids ? model.Space(model.Value(program, *ids).space).parent : FOVEA_NONE;
  const bool nested =
      parent != FOVEA_NONE && model.Space(parent).is_input != 0 && model.Space(parent).parent != FOVEA_NONE;
  return nested ? parent : FOVEA_NONE;
}

}  // namespace

bool TakesTokens(const Model& model, uint32_t program) { return FindIds(model, program).has_value(); }

uint32_t FindTextProgram(const Model& model, const std::string& name) {
  for (uint32_t program = 0; name.empty() && program < model.Info().program_count; ++program) {
    if (TakesTokens(model, program)) return program;
  }
  return model.FindProgram(name);
}

bool ReadsDocuments(const Model& model, uint32_t program) { return SentenceSpace(model, program) != FOVEA_NONE; }

uint32_t TokenSpace(const Model& model, uint32_t program) {
  return model.Value(program, IdInput(model, program)).space;
}

namespace {

// The limit for the library's options: the program's maximum number of tokens, and `max_length` if less.
uint32_t LimitOf(const Model& model, uint32_t program, uint32_t max_length) {
  const uint32_t most = MaxTokens(model, program);
  const uint32_t limit = max_length == 0 ? most : std::min(most, max_length);
  return limit == UINT32_MAX ? 0 : limit;
}

}  // namespace

Tokens EncodeFor(const Model& model, const Tokenizer& tokenizer, uint32_t program, const std::string& text,
                 uint32_t max_length, bool wrapped) {
  const uint32_t limit = LimitOf(model, program, max_length);
  if (ReadsDocuments(model, program)) return tokenizer.EncodeDocument(text, limit, wrapped);
  Tokens tokens = tokenizer.Encode(text, limit);
  PadTokens(model, program, &tokens);
  return tokens;
}

Tokens EncodePairFor(const Model& model, const Tokenizer& tokenizer, uint32_t program, const std::string& first,
                     const std::string& second, uint32_t max_length, PairCut cut) {
  if (ReadsDocuments(model, program)) Fail("{}: reads documents, not pairs of texts", model.name());
  Tokens tokens = tokenizer.EncodePair(first, second, LimitOf(model, program, max_length), cut);
  PadTokens(model, program, &tokens);
  return tokens;
}

namespace {

// Prepends or appends padding up to the given length.
template <typename T>
void Fill(bool left, size_t length, const T& value, std::vector<T>* entries) {
  if (entries->size() < length)
    entries->insert(left ? entries->begin() : entries->end(), length - entries->size(), value);
}

bool PadsLeft(const Model& model, uint32_t program) {
  const char* side = model.ProgramMetadata(program, "pad_side");
  const std::string name = side == nullptr ? "right" : side;
  if (name != "left" && name != "right")
    Fail("{}: metadata pad_side must be left or right, not {}", model.name(), name);
  return name == "left";
}

}  // namespace

void PadTokens(const Model& model, uint32_t program, Tokens* tokens) {
  const fovea_space_info space = model.Space(TokenSpace(model, program));
  const char* pad_to = model.ProgramMetadata(program, "pad_to");
  const size_t count = tokens->ids.size();
  uint32_t length = space.max_segment_rows;
  if (space.is_input != 0) {
    if (pad_to == nullptr) return;
    length = static_cast<uint32_t>(WholeNumberIn(pad_to, "metadata pad_to", {1, UINT32_MAX}));
    if (length > space.max_segment_rows || count > length) return;
  }
  if (count == length) return;
  if (count > length) Fail("{} tokens exceed the model's limit of {}", count, length);
  const std::optional<int32_t> pad = PaddingId(model);
  if (!pad) Fail("the model reads exactly {} tokens and has no padding token to fill up {}", length, count);
  const bool left = PadsLeft(model, program);
  const uint32_t place = left || tokens->end.empty() ? 0 : tokens->end.back();
  Fill(left, length, *pad, &tokens->ids);
  Fill(left, length, 0, &tokens->types);
  Fill<uint8_t>(left, length, 1, &tokens->special);
  Fill(left, length, place, &tokens->begin);
  Fill(left, length, place, &tokens->end);
  if (!tokens->second.empty()) Fill<uint8_t>(left, length, 0, &tokens->second);
}

uint32_t MaxTokens(const Model& model, uint32_t program) {
  const uint32_t rows = model.Space(TokenSpace(model, program)).max_segment_rows;
  fovea_text_info info = {};
  info.struct_size = sizeof(info);
  if (fovea_text_get_info(model.get(), &info, nullptr) != FOVEA_OK || info.max_length == 0) return rows;
  return std::min(rows, info.max_length);
}

Batch BatchFromTokens(const Model& model, uint32_t program, const std::vector<Tokens>& texts) {
  const uint32_t ids = IdInput(model, program);
  const uint32_t space = TokenSpace(model, program);
  const bool root = model.Space(space).parent == FOVEA_NONE;
  if (root && texts.size() != 1) Fail("{}: the program takes one text at a time", model.name());
  const std::optional<uint32_t> types = model.FindValue(program, "token_type_ids");
  Batch batch;
  std::vector<uint32_t> lengths, sentences;
  const uint32_t parent = SentenceSpace(model, program);
  for (const Tokens& text : texts) {
    sentences.push_back(static_cast<uint32_t>(text.sentences.size()));
    if (parent == FOVEA_NONE) lengths.push_back(static_cast<uint32_t>(text.ids.size()));
    for (const Tokens::Sentence& sentence : text.sentences) lengths.push_back(sentence.tokens);
  }
  AddSegments(model, space, MakeSegments(lengths), &batch);
  if (parent != FOVEA_NONE) batch.spaces[parent] = MakeSegments(sentences);
  for (const uint32_t value : InputsOf(model, program)) {
    const bool made = value == ids || value == types;
    const std::optional<int32_t> id = DefaultId(model, model.Value(program, value));
    if (!made && (!id || model.Value(program, value).space != space)) {
      Fail("{}: input '{}' cannot be made from text", model.name(), model.Value(program, value).name);
    }
    std::vector<int32_t>& entries = batch.ids[value];
    for (const Tokens& text : texts) {
      if (!made) {
        entries.insert(entries.end(), text.ids.size(), *id);
        continue;
      }
      const std::vector<int32_t>& from = value == ids ? text.ids : text.types;
      entries.insert(entries.end(), from.begin(), from.end());
    }
  }
  return batch;
}

}  // namespace fovea::tools
