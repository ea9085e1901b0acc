// Decodes token ids into the caller's bytes, one after the other.
#include "runtime/text/decoder.h"

#include <string.h>

#include <algorithm>

#include "runtime/text/decode_writer.h"

namespace fovea::text {
namespace {

// Removes spaces that tokenization inserted. A WordPiece decoder applies the rules token by token, in this order.
constexpr DecodeRule kTokenRules[] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
// The same rules for whole texts, without the one that changes words.
constexpr DecodeRule kTextRules[] = {{" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
                                     {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};

constexpr Bytes Literal(const uint8_t (&bytes)[3]) { return {bytes, 3}; }
constexpr uint8_t kMark[3] = {0xe2, 0x96, 0x81}, kLost[3] = {0xef, 0xbf, 0xbd};
constexpr uint8_t kUnknown[5] = {' ', 0xe2, 0x81, 0x87, ' '};
constexpr uint8_t kSpace = ' ';

bool StartsWith(Bytes text, Bytes prefix) {
  return text.size >= prefix.size && (prefix.size == 0 || memcmp(text.data, prefix.data, prefix.size) == 0);
}
Bytes From(Bytes text, uint32_t at) { return {text.data + at, text.size - at}; }

// The value of a hexadecimal digit; undefined for other characters.
uint8_t Digit(uint8_t c) { return static_cast<uint8_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10); }

class Decoder {
 public:
  Decoder(const Tokenizer& tokenizer, bool skip_special, DecodeState* state, DecodeWriter* writer)
      : t_(tokenizer), skip_special_(skip_special), state_(*state), writer_(*writer) {
    for (uint32_t i = 0; i < t_.decoder.size; ++i) {
      if (static_cast<StepKind>(t_.decoder[i].kind) == StepKind::kDecodeSuffix) holds_ = true;
      if (static_cast<StepKind>(t_.decoder[i].kind) == StepKind::kDecodeBytes) bytes_ = true;
    }
  }

  void Put(uint32_t id) {
    if (skip_special_ && (t_.token_flags[id] & kTokenSpecial) != 0) return;
    if (!holds_) return PutPiece(id, false);
    if (state_.held != 0) PutPiece(state_.held - 1, false);
    state_.held = id + 1;
  }
  void End() {
    if (state_.held != 0) PutPiece(state_.held - 1, true);
    state_.held = 0;
    EndBytes(BytesAreLostTogether());
  }

 private:
  void PutPiece(uint32_t id, bool last) {
    const Bytes piece = t_.Piece(id);
    switch (static_cast<DecoderKind>(t_.header.decoder)) {
      case DecoderKind::kWordPiece:
        PutWordPiece(piece);
        break;
      case DecoderKind::kMetaspace:
        PutReplaced(piece, Literal(kMark), {&kSpace, Drops() && state_.begun == 0 ? 0u : 1u});
        break;
      case DecoderKind::kSentencePiece:
        PutSentencePiece(piece, t_.token_flags[id]);
        break;
      case DecoderKind::kByteLevel:
        for (uint32_t i = 0; i < piece.size; ++i) PutByte(piece.data[i], true);
        break;
      case DecoderKind::kSteps:
        PutSteps(piece, t_.token_flags[id], last);
        break;
      default:
        Write(piece);
        break;
    }
    state_.begun = 1;
  }

  void PutWordPiece(Bytes piece) {
    const uint64_t begin = writer_.size();
    if (state_.begun != 0 && StartsWith(piece, t_.prefix)) {
      piece = From(piece, t_.prefix.size);
    } else if (state_.begun != 0) {
      Write({&kSpace, 1});
    }
    Write(piece);
    if ((t_.header.decoder_flags & kDecodeCleanup) == 0) return;
    for (const DecodeRule& rule : kTokenRules) writer_.Apply(rule, begin);
  }

  void PutSentencePiece(Bytes piece, uint8_t flags) {
    if ((flags & kTokenByte) != 0 && piece.size == 6) return PutByte(ByteOf(piece), false);
    EndBytes(false);
    if ((flags & kTokenControl) != 0) return;
    if ((flags & kTokenUnknown) != 0) return Write({kUnknown, sizeof(kUnknown)});
    // Drops the mark before the text.
    const bool drop = state_.written == 0 && state_.dropped == 0 && Drops() && StartsWith(piece, Literal(kMark));
    state_.dropped = drop && (t_.header.decoder_flags & kDecodeDropOnce) != 0 ? 1 : 0;
    PutReplaced(drop ? From(piece, 3) : piece, Literal(kMark), {&kSpace, 1});
  }

  void PutSteps(Bytes piece, uint8_t flags, bool last) {
    Bytes pattern, content;
    for (uint32_t i = 0; i < t_.decoder.size; ++i) {
      const Step& step = t_.decoder[i];
      const Bytes string = Slice(t_.pool, step.a, step.b);
      const StepKind kind = static_cast<StepKind>(step.kind);
      if (kind == StepKind::kDecodeJoin && state_.begun != 0) Write(string);
      if (kind == StepKind::kDecodeReplace || kind == StepKind::kDecodeSuffix) pattern = string;
      if (kind == StepKind::kDecodeReplace) content = Slice(t_.pool, step.c, step.d);
      if (kind == StepKind::kDecodeSuffix) content = {&kSpace, last ? 0u : 1u};
    }
    if (bytes_ && (flags & kTokenByte) != 0 && piece.size == 6) return PutByte(ByteOf(piece), false);
    EndBytes(false);
    PutReplaced(piece, pattern, content);
  }

  // Whether the mark before the text is dropped.
  bool Drops() const { return (t_.header.decoder_flags & kDecodeKeepPrefix) == 0; }
  // "<0xE4>"
  static uint8_t ByteOf(Bytes piece) {
    return static_cast<uint8_t>(Digit(piece.data[3]) << 4 | (Digit(piece.data[4]) & 15));
  }

  void PutReplaced(Bytes piece, Bytes pattern, Bytes content) {
    uint32_t begin = 0;
    for (uint32_t i = 0; i < piece.size && pattern.size != 0;) {
      if (!StartsWith(From(piece, i), pattern)) {
        ++i;
        continue;
      }
      Write({piece.data + begin, i - begin});
      Write(content);
      begin = i += pattern.size;
    }
    Write(From(piece, begin));
  }

  // Appends a byte that may not be UTF-8: invalid bytes become U+FFFD, one per longest valid beginning of a character
  // (`together`), or one per byte.
  void PutByte(uint8_t byte, bool together) {
    if (state_.pending_size != 0) {
      const uint8_t lead = state_.pending[0];
      uint8_t low = 0x80, high = 0xbf;
      if (state_.pending_size == 1 && lead == 0xe0) low = 0xa0;
      if (state_.pending_size == 1 && lead == 0xed) high = 0x9f;
      if (state_.pending_size == 1 && lead == 0xf0) low = 0x90;
      if (state_.pending_size == 1 && lead == 0xf4) high = 0x8f;
      if (byte >= low && byte <= high) {
        state_.pending[state_.pending_size++] = byte;
        if (state_.pending_size < (lead >= 0xf0 ? 4u : lead >= 0xe0 ? 3u : 2u)) return;
        Write({state_.pending, state_.pending_size});
        state_.pending_size = 0;
        return;
      }
      EndBytes(together);
    }
    if (byte < 0x80) {
      Write({&byte, 1});
    } else if (byte >= 0xc2 && byte <= 0xf4) {
      state_.pending[state_.pending_size++] = byte;
    } else {
      Write(Literal(kLost));
    }
  }
  void EndBytes(bool together) {
    for (uint32_t i = 0; i < (together ? std::min<uint32_t>(state_.pending_size, 1) : state_.pending_size); ++i) {
      Write(Literal(kLost));
    }
    state_.pending_size = 0;
  }
  bool BytesAreLostTogether() const { return static_cast<DecoderKind>(t_.header.decoder) == DecoderKind::kByteLevel; }

  void Write(Bytes bytes) {
    if (state_.written == 0 && bytes.size != 0) {
      for (uint32_t i = 0; i < t_.decoder.size; ++i) {
        const Step& step = t_.decoder[i];
        if (static_cast<StepKind>(step.kind) != StepKind::kDecodeStrip) continue;
        for (const Bytes strip = Slice(t_.pool, step.a, step.b); state_.stripped < step.c && StartsWith(bytes, strip);
             ++state_.stripped) {
          bytes = From(bytes, strip.size);
        }
      }
    }
    writer_.Put(bytes);
    if (bytes.size != 0) state_.written = 1;
  }

  const Tokenizer& t_;
  const bool skip_special_;
  DecodeState& state_;
  DecodeWriter& writer_;
  bool holds_ = false, bytes_ = false;
};

Status PutAll(const Tokenizer& tokenizer, const int32_t* ids, uint64_t count, Decoder* decoder, Reporter& reporter) {
  for (uint64_t i = 0; i < count; ++i) {
    if (ids[i] < 0 || static_cast<uint32_t>(ids[i]) >= tokenizer.size()) {
      return reporter.Fail(FOVEA_E_ID, "an id is not in the vocabulary", tokenizer.size(),
                           static_cast<uint64_t>(static_cast<int64_t>(ids[i])), i);
    }
    decoder->Put(static_cast<uint32_t>(ids[i]));
  }
  return kOk;
}

Status Finish(const DecodeWriter& writer, uint64_t capacity, Reporter& reporter, uint64_t* size) {
  *size = writer.size();
  if (writer.fits()) return kOk;
  return reporter.Fail(FOVEA_E_CAPACITY, "the decoded text does not fit", writer.size(), capacity);
}

}  // namespace

Status Decode(const Tokenizer& tokenizer, const int32_t* ids, uint64_t count, const DecodeOptions& options,
              Reporter& reporter, uint8_t* out, uint64_t capacity, uint64_t* size) {
  DecodeWriter writer(out, capacity);
  DecodeState state = {};
  Decoder decoder(tokenizer, options.skip_special, &state, &writer);
  FOVEA_TRY(PutAll(tokenizer, ids, count, &decoder, reporter));
  decoder.End();
  if (options.clean_up && writer.fits()) {
    for (const DecodeRule& rule : kTextRules) writer.Apply(rule, 0);
  }
  return Finish(writer, capacity, reporter, size);
}

Status DecodeNext(const Tokenizer& tokenizer, const int32_t* ids, uint64_t count, bool skip_special, bool last,
                  DecodeState* state, Reporter& reporter, uint8_t* out, uint64_t capacity, uint64_t* size) {
  DecodeState next = *state;
  if (next.pending_size > 3 || next.held > tokenizer.size()) {
    return reporter.Fail(FOVEA_E_OPTION, "the state does not come from decoding with this tokenizer");
  }
  DecodeWriter writer(out, capacity);
  Decoder decoder(tokenizer, skip_special, &next, &writer);
  FOVEA_TRY(PutAll(tokenizer, ids, count, &decoder, reporter));
  if (last) decoder.End();
  FOVEA_TRY(Finish(writer, capacity, reporter, size));
  *state = last ? DecodeState() : next;
  return kOk;
}

}  // namespace fovea::text
