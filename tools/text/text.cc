// Encodes texts as tokens with the model's tokenizer, and as inputs of a program.
#include "tools/text/text.h"

#include <string.h>

#include <algorithm>

#include "fovea/text.h"
#include "tools/base/json.h"
#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

// The first part of a text for messages.
std::string Quoted(const std::string& text) { return text.size() <= 40 ? text : text.substr(0, 40) + ".."; }

fovea_text_info InfoOf(const Model& model) {
  fovea_error error = {};
  fovea_text_info info = {};
  info.struct_size = sizeof(info);
  Check(fovea_text_get_info(model.get(), &info, &error), error, model.name());
  return info;
}

// The padding id of the tokenizer, or of the model's configuration; -1: none.
int32_t PaddingId(const Model& model) {
  const int32_t own = model.Info().has_text == 0 ? -1 : InfoOf(model).pad_id;
  const char* configured = model.Metadata("pad_token_id");
  if (own >= 0 || configured == nullptr) return own;
  return static_cast<int32_t>(WholeNumberIn(configured, "metadata pad_token_id", {0, INT32_MAX}));
}

}  // namespace

Tokenizer::Tokenizer(const Model& model) : model_(model) {
  if (model.Info().has_text == 0) Fail("{}: the blob has no tokenizer; give ids with --input", model.name());
}

// Calls `call` with arrays, scratch and options, and again with larger arrays if they were too small.
template <typename Call>
Tokens Tokenizer::Collect(const std::string& text, const Call& call) const {
  fovea_error error = {};
  uint64_t scratch_size = 0;
  const std::string doing = fmt::format("text '{}'", Quoted(text));
  Check(fovea_text_scratch_size(model_.get(), text.size(), &scratch_size, &error), error, doing);
  const Memory scratch = Allocate(scratch_size);

  Tokens tokens;
  std::vector<uint32_t> ranges;
  fovea_text_tokens arrays = {};
  arrays.struct_size = sizeof(arrays);
  uint64_t capacity = text.size() + InfoOf(model_).single_special + 8;  // enough for almost every text
  for (int turn = 0; turn < 2; ++turn) {
    tokens.ids.resize(capacity);
    tokens.types.resize(capacity);
    tokens.special.resize(capacity);
    ranges.resize(2 * capacity);
    arrays.capacity = capacity;
    arrays.ids = tokens.ids.data();
    arrays.types = tokens.types.data();
    arrays.special = tokens.special.data();
    arrays.ranges = ranges.data();
    const fovea_status status = call(scratch.get(), scratch_size, &arrays, &error);
    if (status == FOVEA_OK) break;
    if (status != FOVEA_E_CAPACITY || turn == 1) Check(status, error, doing);
    capacity = arrays.count;
  }
  tokens.ids.resize(arrays.count);
  tokens.types.resize(arrays.count);
  tokens.special.resize(arrays.count);
  uint64_t kept = 0;
  for (uint64_t i = 0; i < arrays.count; ++i) {
    tokens.begin.push_back(ranges[2 * i]);
    tokens.end.push_back(ranges[2 * i + 1]);
    kept += tokens.special[i] == 0;
  }
  const uint64_t uncut = arrays.text_tokens[0] + arrays.text_tokens[1];
  tokens.dropped = uncut - std::min(kept, uncut);
  return tokens;
}

Tokens Tokenizer::Encode(const std::string& text, uint32_t max_length) const { return EncodeWith(text, 0, max_length); }

Tokens Tokenizer::EncodeWhole(const std::string& text) const { return EncodeWith(text, FOVEA_TEXT_UNLIMITED, 0); }

Tokens Tokenizer::EncodeWith(const std::string& text, uint32_t flags, uint32_t max_length) const {
  fovea_text_encode_options options = Sized<fovea_text_encode_options>();
  options.flags = flags;
  options.max_length = max_length;
  return Collect(text, [&](void* scratch, uint64_t bytes, fovea_text_tokens* tokens, fovea_error* error) {
    return fovea_text_encode(model_.get(), text.data(), text.size(), nullptr, 0, &options, scratch, bytes, tokens,
                             error);
  });
}

Tokens Tokenizer::EncodePair(const std::string& first, const std::string& second, uint32_t max_length) const {
  const fovea_text_info info = InfoOf(model_);
  if (info.pair_special == 0) Fail("{}: the tokenizer has no template for text pairs", model_.name());
  fovea_text_encode_options options = {};
  options.struct_size = sizeof(options);
  options.max_length = max_length;
  uint64_t of_first = 0;
  const std::string& longer = first.size() < second.size() ? second : first;
  Tokens tokens = Collect(longer, [&](void* scratch, uint64_t bytes, fovea_text_tokens* arrays, fovea_error* error) {
    const fovea_status status = fovea_text_encode(model_.get(), first.data(), first.size(), second.data(),
                                                  second.size(), &options, scratch, bytes, arrays, error);
    of_first = arrays->text_tokens[0];
    return status;
  });
  // The second text begins after the first one's tokens and the special tokens between them.
  bool in_second = of_first == 0, seen = false, between = false;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.special[i] != 0) {
      between = seen;
    } else {
      in_second = in_second || between;
      seen = true;
    }
    tokens.second.push_back(in_second ? 1 : 0);
  }
  return tokens;
}

Tokens Tokenizer::EncodeDocument(const std::string& text, uint32_t max_length, bool wrapped) const {
  fovea_text_encode_options options = {};
  options.struct_size = sizeof(options);
  options.max_length = max_length;
  options.flags = wrapped ? FOVEA_TEXT_WRAPPED : 0;
  std::vector<uint32_t> lengths(text.size()), ranges(2 * text.size());  // a sentence has at least one byte
  fovea_text_sentences sentences = {};
  sentences.struct_size = sizeof(sentences);
  sentences.capacity = text.size();
  sentences.lengths = lengths.data();
  sentences.ranges = ranges.data();
  Tokens tokens = Collect(text, [&](void* scratch, uint64_t bytes, fovea_text_tokens* arrays, fovea_error* error) {
    return fovea_text_encode_document(model_.get(), text.data(), text.size(), &options, scratch, bytes, arrays,
                                      &sentences, error);
  });
  for (uint64_t i = 0; i < sentences.count; ++i)
    tokens.sentences.push_back({lengths[i], ranges[2 * i], ranges[2 * i + 1]});
  tokens.dropped_sentences = sentences.dropped;
  return tokens;
}

std::string Tokenizer::Piece(int32_t id) const {
  fovea_error error = {};
  const char* piece = nullptr;
  uint32_t size = 0;
  Check(fovea_text_get_token(model_.get(), id, &piece, &size, nullptr, &error), error, fmt::format("token {}", id));
  return std::string(piece, size);
}

std::string Tokenizer::Decode(const std::vector<int32_t>& ids) const {
  fovea_error error = {};
  std::string text;
  uint64_t size = 0;
  for (int turn = 0; turn < 2; ++turn) {
    text.resize(size);
    const fovea_status status =
        fovea_text_decode(model_.get(), ids.data(), ids.size(), 0, text.data(), text.size(), &size, &error);
    if (status == FOVEA_OK) break;
    if (status != FOVEA_E_CAPACITY || turn == 1) Check(status, error, "tokens");
  }
  text.resize(size);
  return text;
}

std::optional<int32_t> Tokenizer::MaskId() const {
  const fovea_text_info info = InfoOf(model_);
  return info.mask_id < 0 ? std::nullopt : std::optional<int32_t>(info.mask_id);
}

std::optional<int32_t> Tokenizer::PadId() const {
  const int32_t id = PaddingId(model_);
  return id < 0 ? std::nullopt : std::optional<int32_t>(id);
}

bool Tokenizer::ContinuesWord(const std::string& text, const Tokens& tokens, size_t token) const {
  const fovea_text_info info = InfoOf(model_);
  const int32_t id = tokens.ids[token];
  const uint32_t begin = tokens.begin[token];
  if (id == info.unknown_id) return false;
  if (info.kind == FOVEA_TEXT_WORD_PIECE) {
    const std::string piece = Piece(id);
    return piece.size() > 2 && piece.rfind("##", 0) == 0;
  }
  const auto space = [&](size_t at) { return at < text.size() && strchr(" \t\n\r", text[at]) != nullptr; };
  return begin > 0 && !space(begin - 1) && !space(begin);
}

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
                     const std::string& second, uint32_t max_length) {
  if (ReadsDocuments(model, program)) Fail("{}: reads documents, not pairs of texts", model.name());
  Tokens tokens = tokenizer.EncodePair(first, second, LimitOf(model, program, max_length));
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
  const int32_t pad = PaddingId(model);
  if (pad < 0) Fail("the model reads exactly {} tokens and has no padding token to fill up {}", length, count);
  const bool left = PadsLeft(model, program);
  const uint32_t place = left || tokens->end.empty() ? 0 : tokens->end.back();
  Fill(left, length, pad, &tokens->ids);
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
