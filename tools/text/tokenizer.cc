// Tokenizer of a model.
#include "tools/text/tokenizer.h"

#include <algorithm>

#include "fovea/result.h"
#include "fovea/text.h"
#include "tools/base/json.h"
#include "tools/base/sized.h"
#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

uint32_t FlagIf(bool given, fovea_text_flags flag) { return given ? flag : 0; }

// The first part of a text for messages.
std::string Quoted(const std::string& text) { return text.size() <= 40 ? text : text.substr(0, 40) + ".."; }

fovea_text_info InfoOf(const Model& model) {
  fovea_error error = {};
  fovea_text_info info = {};
  info.struct_size = sizeof(info);
  Check(fovea_text_get_info(model.get(), &info, &error), error, model.name());
  return info;
}

}  // namespace

Tokenizer::Tokenizer(const Model& model, bool literal) : model_(model), literal_(literal) {
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
  const fovea_text_info info = InfoOf(model_);
  uint64_t capacity = text.size() + info.single_special + 8;  // enough for almost every text
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
  // Windows of texts hold many tokens.
  tokens.ids.shrink_to_fit();
  tokens.types.shrink_to_fit();
  tokens.special.shrink_to_fit();
  tokens.begin.reserve(arrays.count);
  tokens.end.reserve(arrays.count);
  uint64_t kept = 0;
  for (uint64_t i = 0; i < arrays.count; ++i) {
    tokens.begin.push_back(ranges[2 * i]);
    tokens.end.push_back(ranges[2 * i + 1]);
    kept += tokens.special[i] == 0 ? 1 : 0;
  }
  tokens.spelled = arrays.spelled;
  const uint64_t uncut = arrays.text_tokens[0] + arrays.text_tokens[1];
  tokens.dropped = uncut - std::min(kept, uncut);
  return tokens;
}

Tokens Tokenizer::Encode(const std::string& text, uint32_t max_length) const { return EncodeWith(text, 0, max_length); }

Tokens Tokenizer::EncodeWhole(const std::string& text) const { return EncodeWith(text, FOVEA_TEXT_UNLIMITED, 0); }

Tokens Tokenizer::EncodeWith(const std::string& text, uint32_t flags, uint32_t max_length) const {
  fovea_text_encode_options options = Sized<fovea_text_encode_options>();
  options.flags = flags | FlagIf(literal_, FOVEA_TEXT_LITERAL);
  options.max_length = max_length;
  return Collect(text, [&](void* scratch, uint64_t bytes, fovea_text_tokens* tokens, fovea_error* error) {
    return fovea_text_encode(model_.get(), text.data(), text.size(), nullptr, 0, &options, scratch, bytes, tokens,
                             error);
  });
}

Tokens Tokenizer::EncodePair(const std::string& first, const std::string& second, uint32_t max_length,
                             PairCut cut) const {
  const fovea_text_info info = InfoOf(model_);
  if (info.pair_special == 0) Fail("{}: the tokenizer has no template for text pairs", model_.name());
  fovea_text_encode_options options = {};
  options.struct_size = sizeof(options);
  options.max_length = cut == PairCut::kNone ? 0 : max_length;
  options.flags = FlagIf(cut == PairCut::kNone, FOVEA_TEXT_UNLIMITED) | FlagIf(literal_, FOVEA_TEXT_LITERAL);
  if (cut == PairCut::kFirst) options.truncation = FOVEA_TEXT_ONLY_FIRST;
  uint64_t second_begin = 0, second_count = 0;
  const std::string& longer = first.size() < second.size() ? second : first;
  Tokens tokens = Collect(longer, [&](void* scratch, uint64_t bytes, fovea_text_tokens* arrays, fovea_error* error) {
    const fovea_status status = fovea_text_encode(model_.get(), first.data(), first.size(), second.data(),
                                                  second.size(), &options, scratch, bytes, arrays, error);
    if (status != FOVEA_OK) return status;
    return fovea_result_get_second(arrays, &second_begin, &second_count, error);
  });
  tokens.second.resize(tokens.ids.size());
  std::fill(tokens.second.begin() + static_cast<ptrdiff_t>(second_begin), tokens.second.end(), uint8_t{1});
  return tokens;
}

Tokens Tokenizer::EncodeDocument(const std::string& text, uint32_t max_length, bool wrapped) const {
  fovea_text_encode_options options = {};
  options.struct_size = sizeof(options);
  options.max_length = max_length;
  options.flags = FlagIf(wrapped, FOVEA_TEXT_WRAPPED) | FlagIf(literal_, FOVEA_TEXT_LITERAL);
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
  const fovea_status status = fovea_text_get_token(model_.get(), id, &piece, &size, nullptr, &error);
  // Models have more rows of embeddings than their tokenizer has tokens, and can generate them.
  if (status == FOVEA_E_ID) return fmt::format("<{}>", id);
  Check(status, error, fmt::format("token {}", id));
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

std::optional<int32_t> Tokenizer::PadId() const { return PaddingId(model_); }

std::optional<int32_t> PaddingId(const Model& model) {
  const int32_t own = model.Info().has_text == 0 ? -1 : InfoOf(model).pad_id;
  if (own >= 0) return own;
  const char* configured = model.Metadata("pad_token_id");
  if (configured == nullptr) return std::nullopt;
  return static_cast<int32_t>(WholeNumberIn(configured, "metadata pad_token_id", {0, INT32_MAX}));
}

}  // namespace fovea::tools
