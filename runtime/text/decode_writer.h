// Writes decoded text to the caller's bytes.
#ifndef FOVEA_RUNTIME_TEXT_DECODE_WRITER_H_
#define FOVEA_RUNTIME_TEXT_DECODE_WRITER_H_

#include <stdint.h>
#include <string.h>

#include <algorithm>

#include "runtime/text/table.h"

namespace fovea::text {

struct DecodeRule {
  const char* from;
  const char* to;
};

class DecodeWriter {
 public:
  DecodeWriter(uint8_t* out, uint64_t capacity) : out_(out), capacity_(capacity) {}

  void Put(Bytes bytes) {
    const uint64_t fits = written_ == size_ ? std::min<uint64_t>(bytes.size, capacity_ - written_) : 0;
    if (fits != 0) memcpy(out_ + written_, bytes.data, static_cast<size_t>(fits));
    written_ += fits;
    size_ += bytes.size;
  }

  // Applies `rule` to the text written from `begin` on. No rule makes text longer. Only the part that fits is
  // processed: a text that does not fit is an error anyway.
  void Apply(const DecodeRule& rule, uint64_t begin) {
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
  uint64_t size_ = 0;     // bytes of the whole text
  uint64_t written_ = 0;  // bytes of it in out_
};

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_DECODE_WRITER_H_
