#include "tests/fuzz/text_use.h"

#include <string.h>

#include <algorithm>

#include "fovea/fovea.h"
#include "tests/fuzz/blob_use.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/random.h"

namespace fovea::fuzz {
namespace {

constexpr uint64_t kMaxScratch = uint64_t{256} << 20;
constexpr uint64_t kCleanUp = 8192;

// Arrays of exactly `capacity` tokens.
struct Tokens {
  explicit Tokens(uint64_t capacity)
      : ids(capacity * 4, Filling::kOnes, 4),
        types(capacity * 4, Filling::kOnes, 4),
        special(capacity, Filling::kOnes, 1),
        ranges(capacity * 8, Filling::kOnes, 4) {
    record.capacity = capacity;
    record.ids = ids.as<int32_t>();
    record.types = types.as<int32_t>();
    record.special = special.data();
    record.ranges = ranges.as<uint32_t>();
  }
  Guarded ids, types, special, ranges;
  fovea_text_tokens record = Sized<fovea_text_tokens>();
};

class TextUser {
 public:
  TextUser(const fovea_model* model, const std::string& text, uint64_t seed, Filling filling, Transcript& transcript)
      : model_(model),
        random_(seed),
        filling_(filling),
        transcript_(transcript),
        text_(text.data(), text.size(), 1),
        cut_(random_.Below(text.size() + 1)) {
    text_.Seal();
  }

  void Run() {
    auto info = Sized<fovea_text_info>();
    fovea_error error = {};
    const fovea_status status = fovea_text_get_info(model_, &info, &error);
    transcript_.Status("text info", status, error);
    if (status != FOVEA_OK) return;
    vocabulary_ = info.vocabulary;
    Find();
    Pieces();
    for (int attempt = 0; attempt < 3; ++attempt) Encode();
    Document();
    Decode();
  }

 private:
  const char* text() const { return reinterpret_cast<const char*>(text_.data()); }

  fovea_text_encode_options Options() {
    auto options = Sized<fovea_text_encode_options>();
    options.flags = random_.Below(8);
    options.truncation = random_.Below(3);
    if ((options.flags & FOVEA_TEXT_UNLIMITED) == 0 && random_.OneIn(2)) options.max_length = random_.Below(40);
    if (random_.OneIn(3)) options.stride = random_.Below(8);
    if (random_.OneIn(3)) options.window = random_.Below(5);
    return options;
  }
  bool Scratch(uint64_t length) {
    uint64_t needed = 0;
    fovea_error error = {};
    const fovea_status status = fovea_text_scratch_size(model_, length, &needed, &error);
    transcript_.Status("scratch", status, error);
    if (status != FOVEA_OK || needed > kMaxScratch) return false;
    scratch_ = Guarded(needed, filling_);
    return true;
  }

  // Notes what a call gave, and returns whether it must be made again with more capacity.
  bool Note(const char* what, fovea_status status, const fovea_error& error, const Tokens& tokens, uint64_t length) {
    transcript_.Status(what, status, error);
    if (status != FOVEA_OK && status != FOVEA_E_CAPACITY) return false;
    const fovea_text_tokens& record = tokens.record;
    transcript_.Number("tokens", record.count);
    transcript_.Number("windows", record.windows);
    transcript_.Number("uncut", record.text_tokens[0] + 31 * record.text_tokens[1]);
    const uint64_t count = std::min(record.count, record.capacity);
    transcript_.Bytes("ids", record.ids, count * 4);
    transcript_.Bytes("types", record.types, count * 4);
    transcript_.Bytes("special", record.special, count);
    transcript_.Bytes("ranges", record.ranges, count * 8);
    for (uint64_t i = 0; i < count; ++i) {
      Check(static_cast<uint32_t>(record.ids[i]) < vocabulary_, "an id is not below the vocabulary");
      Check(record.ranges[2 * i] <= record.ranges[2 * i + 1] && record.ranges[2 * i + 1] <= length,
            "a range is not of the text");
    }
    if (status == FOVEA_OK) ids_.assign(record.ids, record.ids + count);
    return status == FOVEA_E_CAPACITY;
  }

  void Encode() {
    const bool pair = random_.OneIn(2);
    const uint64_t first = pair ? cut_ : text_.size(), second = text_.size() - first;
    const fovea_text_encode_options options = Options();
    if (!Scratch(std::max(first, second))) return;
    uint64_t capacity = random_.Below(12);
    for (int attempt = 0; attempt < 2; ++attempt) {
      Tokens tokens(capacity);
      fovea_error error = {};
      const fovea_status status =
          fovea_text_encode(model_, text(), first, pair ? text() + first : nullptr, pair ? second : 0, &options,
                            scratch_.data(), scratch_.size(), &tokens.record, &error);
      if (!Note("encode", status, error, tokens, std::max(first, second))) return;
      capacity = tokens.record.count;
      Check(attempt == 0, "as many tokens as were asked for are too few");
    }
  }

  void Document() {
    fovea_text_encode_options options = Options();
    options.stride = options.window = 0;
    if (random_.OneIn(2)) options.flags |= FOVEA_TEXT_WRAPPED;
    options.max_sentences = random_.Below(6);
    if (!Scratch(text_.size())) return;
    uint64_t capacity = random_.Below(20), sentence_capacity = random_.Below(4);
    for (int attempt = 0; attempt < 2; ++attempt) {
      Tokens tokens(capacity);
      const Guarded lengths(sentence_capacity * 4, Filling::kOnes, 4), ranges(sentence_capacity * 8, Filling::kOnes, 4);
      auto sentences = Sized<fovea_text_sentences>();
      sentences.capacity = sentence_capacity;
      sentences.lengths = lengths.as<uint32_t>();
      sentences.ranges = ranges.as<uint32_t>();
      fovea_error error = {};
      const fovea_status status = fovea_text_encode_document(model_, text(), text_.size(), &options, scratch_.data(),
                                                             scratch_.size(), &tokens.record, &sentences, &error);
      const bool again = Note("document", status, error, tokens, text_.size());
      if (status != FOVEA_OK && !again) return;
      transcript_.Number("sentences", sentences.count + 31 * sentences.dropped);
      transcript_.Bytes("lengths", sentences.lengths, std::min(sentences.count, sentence_capacity) * 4);
      if (!again) {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < sentences.count; ++i) sum += sentences.lengths[i];
        Check(sum == tokens.record.count, "sentences do not make up the document");
        return;
      }
      Check(attempt == 0, "the capacity that was asked for is too little");
      capacity = tokens.record.count;
      sentence_capacity = sentences.count;
    }
  }

  void Decode() {
    uint64_t needed = 0;
    Check(fovea_text_decode(model_, nullptr, 1 + random_.Below(9), 0, nullptr, 0, &needed, nullptr) == FOVEA_E_NULL,
          "ids that are not there are not refused");
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (random_.OneIn(2)) ids_.push_back(static_cast<int32_t>(random_.Number()));
      if (random_.OneIn(2) && vocabulary_ > 0) ids_.push_back(static_cast<int32_t>(random_.Below(vocabulary_)));
      const Guarded ids(ids_.data(), ids_.size() * 4, 4);
      const uint32_t flags = random_.Below(4);
      uint64_t capacity = random_.Below(64), written = 0;
      fovea_error error = {};
      for (int call = 0; call < 2; ++call) {
        const Guarded out(capacity, filling_, 1);
        const fovea_status status = fovea_text_decode(model_, ids.as<int32_t>(), ids_.size(), flags,
                                                      reinterpret_cast<char*>(out.data()), capacity, &written, &error);
        transcript_.Status("decode", status, error);
        if (status == FOVEA_OK) {
          Check(written <= capacity, "more is written than the capacity");
          transcript_.Bytes("decoded", out.data(), written);
          if ((flags & FOVEA_TEXT_CLEAN_UP) == 0) DecodeInParts(flags, out, written);
        }
        if (status != FOVEA_E_CAPACITY || written > kMaxScratch) break;
        Check(call == 0, "the capacity that certainly suffices does not");
        capacity = written;
      }
    }
  }

  // The same text as at once. Clean-up of word pieces needs a little more than it leaves.
  void DecodeInParts(uint32_t flags, const Guarded& whole, uint64_t size) {
    auto stream = Sized<fovea_text_stream>();
    stream.flags = flags;
    uint64_t done = 0;
    for (uint64_t at = 0; at <= ids_.size();) {
      const uint64_t count = std::min<uint64_t>(random_.Below(4), ids_.size() - at);
      const Guarded ids(ids_.data() + at, count * 4, 4), out(size - done + kCleanUp, filling_, 1);
      char* const bytes = reinterpret_cast<char*>(out.data());
      uint64_t written = 0;
      const fovea_status status =
          at == ids_.size()
              ? fovea_text_decode_end(model_, &stream, bytes, out.size(), &written, nullptr)
              : fovea_text_decode_next(model_, &stream, ids.as<int32_t>(), count, bytes, out.size(), &written, nullptr);
      Check(status == FOVEA_OK && written <= size - done && memcmp(whole.data() + done, bytes, written) == 0,
            "a text decoded in parts is another one");
      done += written;
      at += at == ids_.size() ? 1 : count;
    }
    Check(done == size, "a text decoded in parts has another size");
    for (uint32_t& word : stream.state) word = random_.Number();
    uint64_t written = 0;
    const Guarded out(16, filling_, 1);
    (void)fovea_text_decode_end(model_, &stream, reinterpret_cast<char*>(out.data()), 16, &written, nullptr);
  }

  void Pieces() {
    for (int attempt = 0; attempt < 6; ++attempt) {
      const auto id = static_cast<int32_t>(attempt == 0 ? random_.Number() : random_.Below(vocabulary_));
      const char* piece = nullptr;
      uint32_t size = 0, special = 0;
      fovea_error error = {};
      const fovea_status status = fovea_text_get_token(model_, id, &piece, &size, &special, &error);
      transcript_.Status("token", status, error);
      if (status != FOVEA_OK) continue;
      transcript_.Bytes("piece", piece, size);
      int32_t found = -1;
      Check(fovea_text_find_token(model_, piece, size, &found, &error) == FOVEA_OK && found <= id,
            "a piece is not found");
    }
  }
  void Find() {
    int32_t id = 0;
    fovea_error error = {};
    transcript_.Status("find", fovea_text_find_token(model_, text(), static_cast<uint32_t>(cut_ % 9), &id, &error),
                       error);
  }

  const fovea_model* model_;
  Random random_;
  const Filling filling_;
  Transcript& transcript_;
  const Guarded text_;
  const uint64_t cut_;
  uint32_t vocabulary_ = 0;
  Guarded scratch_;
  std::vector<int32_t> ids_;
};

}  // namespace

void UseSentences(const std::string& text, uint32_t flags) {
  const Guarded copy(text.data(), text.size(), 1);
  const char* const bytes = reinterpret_cast<const char*>(copy.data());
  const auto space = [&](uint64_t at) { return bytes[at] == ' ' || (bytes[at] >= '\t' && bytes[at] <= '\r'); };
  uint64_t begin = 0, end = 0;
  for (bool more = true; more;) {
    const uint64_t from = end;
    more = fovea_text_sentence(bytes, text.size(), flags, &begin, &end) != 0;
    if (!more) begin = text.size();
    Check(begin >= from, "sentences are not in order");
    for (uint64_t i = from; i < begin; ++i) {  // white space outside ASCII need only be outside it
      Check(space(i) || (bytes[i] & 0x80) != 0, "a byte is in no sentence");
    }
    if (!more) return;
    Check(begin < end && end <= text.size(), "a sentence is empty or not of the text");
    Check(!space(begin) && !space(end - 1), "a sentence begins or ends with white space");
  }
}

Transcript UseText(const std::vector<uint8_t>& blob, const std::string& text, uint64_t seed, Filling filling) {
  Transcript transcript;
  const UsedModel model(blob.data(), blob.size(), filling, transcript);
  if (model.get() != nullptr) TextUser(model.get(), text, seed, filling, transcript).Run();
  return transcript;
}

}  // namespace fovea::fuzz
