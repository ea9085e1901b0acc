#include "tools/generate/text_stream.h"

#include "tools/model/library_error.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {
namespace {

bool HasLabels(const Model& model) { return model.Metadata("label.0") != nullptr; }

uint32_t Vocabulary(const Model& model) {
  fovea_text_info info = Sized<fovea_text_info>();
  fovea_error error = {};
  Check(fovea_text_get_info(model.get(), &info, &error), error, model.name());
  return info.vocabulary;
}

// Calls a function that writes to a buffer, and again if the buffer was too small.
template <typename Call>
std::string Written(const Call& call) {
  std::string text(64, '\0');
  uint64_t size = 0;
  fovea_error error = {};
  fovea_status status = call(text.data(), text.size(), &size, &error);
  if (status == FOVEA_E_CAPACITY) {
    text.resize(size);
    status = call(text.data(), text.size(), &size, &error);
  }
  Check(status, error, "tokens to text");
  text.resize(size);
  return text;
}

}  // namespace

std::string GeneratedPiece(const Model& model, int32_t token) {
  if (HasLabels(model)) return fovea_model_get_label(model.get(), static_cast<uint32_t>(token));
  if (model.Info().has_text == 0) return std::to_string(token);
  return Tokenizer(model).Piece(token);
}

bool ShowsPieces(const Model& model) { return HasLabels(model) || model.Info().has_text == 0; }

std::string Separator(const Model& model) {
  const char* separator = model.Metadata("generate.separator");
  return separator != nullptr ? separator : HasLabels(model) ? "" : " ";
}

TextStream::TextStream(const Model& model, const std::vector<std::string>& stops, std::optional<std::string> separator)
    : model_(model),
      pieces_(ShowsPieces(model)),
      cleans_(!pieces_ && model.Metadata("text.clean_up") != nullptr),
      separator_(separator ? *separator : Separator(model)) {
  if (!pieces_) vocabulary_ = Vocabulary(model);
  if (stops.empty()) return;
  std::vector<const char*> strings;
  std::vector<uint32_t> sizes;
  for (const std::string& stop : stops) {
    strings.push_back(stop.data());
    sizes.push_back(static_cast<uint32_t>(stop.size()));
  }
  const auto count = static_cast<uint32_t>(stops.size());
  fovea_error error = {};
  uint64_t size = 0;
  Check(fovea_stop_size(strings.data(), sizes.data(), count, &size, &error), error, "stop strings");
  memory_ = Allocate(size);
  Check(fovea_stop_init(strings.data(), sizes.data(), count, memory_.get(), size, &stop_, &error), error,
        "stop strings");
  Check(fovea_stop_start(stop_), "stop strings");
}

std::string TextStream::BytesOf(int32_t token) {
  if (pieces_) {
    const std::string piece = GeneratedPiece(model_, token);
    const std::string before = begun_ && !piece.empty() ? separator_ : "";
    begun_ = begun_ || !piece.empty();
    return before + piece;
  }
  if (static_cast<uint32_t>(token) >= vocabulary_) return "";
  return Written([&](char* output, uint64_t capacity, uint64_t* written, fovea_error* error) {
    return fovea_text_decode_next(model_.get(), &stream_, &token, 1, output, capacity, written, error);
  });
}

std::string TextStream::Show(const std::string& bytes) {
  if (stop_ == nullptr) return bytes;
  if (stopped_) return "";
  fovea_stopped known = Sized<fovea_stopped>();
  fovea_error error = {};
  Check(fovea_stop_next(stop_, bytes.data(), bytes.size(), &known, &error), error, "stop strings");
  held_ += bytes;
  stopped_ = known.stopped != 0;
  const std::string part = held_.substr(0, known.safe - shown_);
  held_.erase(0, part.size());
  shown_ += part.size();
  return part;
}

void TextStream::Follow(const std::vector<int32_t>& tokens) {
  if (pieces_) return;
  for (const int32_t token : tokens) BytesOf(token);
  fovea_text_stream ended = stream_;
  rest_ = Written([&](char* output, uint64_t capacity, uint64_t* written, fovea_error* error) {
    return fovea_text_decode_end(model_.get(), &ended, output, capacity, written, error);
  });
}

// Removes the part that the decoder held back of the tokens that the text continues.
std::string TextStream::WithoutRest(std::string bytes) {
  if (rest_.empty() || bytes.empty()) return bytes;
  if (bytes.compare(0, rest_.size(), rest_) == 0) bytes.erase(0, rest_.size());
  rest_.clear();
  return bytes;
}

std::string TextStream::Add(int32_t token) { return Cleaned(Show(WithoutRest(BytesOf(token)))); }

std::string TextStream::End() {
  std::string last;
  if (!pieces_) {
    last = Written([&](char* output, uint64_t capacity, uint64_t* written, fovea_error* error) {
      return fovea_text_decode_end(model_.get(), &stream_, output, capacity, written, error);
    });
  }
  last = Show(WithoutRest(last));
  if (!stopped_) last += held_;
  return cleans_ ? clean_up_.Add(last) + clean_up_.End() : last;
}

std::string TextOf(const Model& model, const std::vector<int32_t>& tokens) {
  TextStream stream(model, {});
  std::string text;
  for (const int32_t token : tokens) text += stream.Add(token);
  return text + stream.End();
}

}  // namespace fovea::tools
