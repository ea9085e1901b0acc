// Decoding: one token after the other into the caller's bytes.
#include "runtime/text/decoder.h"

#include <string.h>

#include <algorithm>

namespace fovea::text {
namespace {

struct Rule {
  const char* from;
  const char* to;
};
// Spaces that tokenization put in. A word-piece decoder applies them token by token, in this order.
constexpr Rule kTokenRules[] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
// The same without the rule that changes words, for whole texts.
constexpr Rule kTextRules[] = {{" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
                               {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};

class Writer {
 public:
  Writer(uint8_t* out, uint64_t capacity) : out_(out), capacity_(capacity) {}

  void Put(const uint8_t* bytes, uint64_t size) {
    const uint64_t fits = written_ == size_ ? std::min(size, capacity_ - written_) : 0;
    if (fits != 0) memcpy(out_ + written_, bytes, static_cast<size_t>(fits));
    written_ += fits;
    size_ += size;
  }
  void Put(const char* text) { Put(reinterpret_cast<const uint8_t*>(text), strlen(text)); }

  // Bytes that need not be UTF-8: what is not becomes U+FFFD, one for each longest beginning of a character.
  void PutLossy(uint8_t byte) {
    if (pending_size_ != 0) {
      const uint8_t lead = pending_[0];
      uint8_t low = 0x80, high = 0xbf;
      if (pending_size_ == 1 && lead == 0xe0) low = 0xa0;
      if (pending_size_ == 1 && lead == 0xed) high = 0x9f;
      if (pending_size_ == 1 && lead == 0xf0) low = 0x90;
      if (pending_size_ == 1 && lead == 0xf4) high = 0x8f;
      if (byte >= low && byte <= high) {
        pending_[pending_size_++] = byte;
        if (pending_size_ < (lead >= 0xf0 ? 4u : lead >= 0xe0 ? 3u : 2u)) return;
        Put(pending_, pending_size_);
        pending_size_ = 0;
        return;
      }
      EndLossy();
    }
    if (byte < 0x80) {
      Put(&byte, 1);
    } else if (byte >= 0xc2 && byte <= 0xf4) {
      pending_[pending_size_++] = byte;
    } else {
      Put("\xef\xbf\xbd");
    }
  }
  void EndLossy() {
    if (pending_size_ != 0) Put("\xef\xbf\xbd");
    pending_size_ = 0;
  }

  // Applies `rule` to what was written from `begin` on. No rule makes text longer. Only what fits is looked at: a text
  // that does not fit is an error anyway.
  void Apply(const Rule& rule, uint64_t begin) {
    const uint64_t from = strlen(rule.from), to = strlen(rule.to);
    uint64_t put = begin;
    if (begin > written_) return;
    for (uint64_t at = begin; at < written_;) {
      if (written_ - at >= from && memcmp(out_ + at, rule.from, from) == 0) {
        memcpy(out_ + put, rule.to, to);
        put += to;
        at += from;
      } else {
        out_[put++] = out_[at++];
      }
    }
    size_ -= written_ - put;
    written_ = put;
  }

  uint64_t size() const { return size_; }
  bool fits() const { return written_ == size_; }

 private:
  uint8_t* const out_;
  const uint64_t capacity_;
  uint64_t size_ = 0;        // of the whole text
  uint64_t written_ = 0;     // of it, in out_
  uint8_t pending_[4] = {};  // the beginning of a character
  uint32_t pending_size_ = 0;
};

bool StartsWith(Bytes text, Bytes prefix) {
  return text.size >= prefix.size && (prefix.size == 0 || memcmp(text.data, prefix.data, prefix.size) == 0);
}

constexpr uint8_t kMark[3] = {0xe2, 0x96, 0x81};
constexpr Bytes kMarkBytes{kMark, 3};

// Writes a piece with its marks turned into spaces, or dropped.
void PutMarked(Bytes piece, bool drop, Writer* writer) {
  for (uint32_t i = 0; i < piece.size;) {
    if (StartsWith({piece.data + i, piece.size - i}, kMarkBytes)) {
      if (!drop) writer->Put(" ");
      i += 3;
    } else {
      writer->Put(piece.data + i, 1);
      ++i;
    }
  }
}

void PutWordPiece(const Tokenizer& tokenizer, Bytes piece, bool first, Writer* writer) {
  const uint64_t begin = writer->size();
  if (!first && StartsWith(piece, tokenizer.prefix)) {
    piece.data += tokenizer.prefix.size;
    piece.size -= tokenizer.prefix.size;
  } else if (!first) {
    writer->Put(" ");
  }
  writer->Put(piece.data, piece.size);
  if ((tokenizer.header.decoder_flags & kDecodeCleanup) == 0) return;
  for (const Rule& rule : kTokenRules) writer->Apply(rule, begin);
}

}  // namespace

Status Decode(const Tokenizer& tokenizer, const int32_t* ids, uint64_t count, const DecodeOptions& options,
              Reporter& reporter, uint8_t* out, uint64_t capacity, uint64_t* size) {
  Writer writer(out, capacity);
  bool first = true, dropped = false;
  for (uint64_t i = 0; i < count; ++i) {
    if (ids[i] < 0 || static_cast<uint32_t>(ids[i]) >= tokenizer.size()) {
      return reporter.Fail(FOVEA_E_ID, "an id is not in the vocabulary", tokenizer.size(),
                           static_cast<uint64_t>(static_cast<int64_t>(ids[i])), i);
    }
    const uint32_t id = static_cast<uint32_t>(ids[i]);
    const uint8_t flags = tokenizer.token_flags[id];
    if (options.skip_special && (flags & kTokenSpecial) != 0) continue;
    const Bytes piece = tokenizer.Piece(id);
    switch (static_cast<DecoderKind>(tokenizer.header.decoder)) {
      case DecoderKind::kWordPiece:
        PutWordPiece(tokenizer, piece, first, &writer);
        break;
      case DecoderKind::kMetaspace:
        PutMarked(piece, first && (tokenizer.header.decoder_flags & kDecodeKeepPrefix) == 0, &writer);
        break;
      case DecoderKind::kSentencePiece: {
        if ((flags & kTokenControl) != 0) break;
        if ((flags & kTokenUnknown) != 0) {
          writer.Put(" \xe2\x81\x87 ");
          break;
        }
        // The mark in front of the text goes.
        const bool drop = writer.size() == 0 && !dropped && (tokenizer.header.decoder_flags & kDecodeKeepPrefix) == 0 &&
                          StartsWith(piece, kMarkBytes);
        dropped = drop && (tokenizer.header.decoder_flags & kDecodeDropOnce) != 0;
        PutMarked(drop ? Bytes{piece.data + 3, piece.size - 3} : piece, false, &writer);
        break;
      }
      case DecoderKind::kByteLevel:
        for (uint32_t j = 0; j < piece.size; ++j) writer.PutLossy(piece.data[j]);
        break;
      default:
        writer.Put(piece.data, piece.size);
        break;
    }
    first = false;
  }
  writer.EndLossy();
  if (options.clean_up && writer.fits()) {
    for (const Rule& rule : kTextRules) writer.Apply(rule, 0);
  }
  *size = writer.size();
  if (!writer.fits()) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the decoded text does not fit", writer.size(), capacity);
  }
  return kOk;
}

}  // namespace fovea::text
