#include "tests/fuzz/transcript.h"

#include <string.h>

#include <algorithm>
#include <cmath>

#include "tests/fuzz/check.h"

namespace fovea::fuzz {

void Transcript::Bytes(const std::string& what, const void* data, uint64_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  entries_.push_back({what, std::vector<uint8_t>(bytes, bytes + size)});
}

void Transcript::Floats(const std::string& what, const float* data, uint64_t count) {
  Bytes(what, data, count * sizeof(float));
  std::vector<uint8_t>& bytes = entries_.back().bytes;
  for (uint64_t i = 0; i < count; ++i) {
    if (std::isnan(data[i])) memset(bytes.data() + i * sizeof(float), 0xff, sizeof(float));
  }
}

void Transcript::Text(const std::string& what, const char* text) {
  Check(text != nullptr, "a text is missing");
  Bytes(what, text, strlen(text));
}

void Transcript::Status(const std::string& what, fovea_status status, const fovea_error& error) {
  Number(what, static_cast<uint32_t>(status));
  if (status == FOVEA_OK) return;
  if (error.status != status) Broken(what + ": the record of the error has another status");
  if (strcmp(fovea_status_name(status), "unknown status") == 0) Broken(what + ": a status without name");
  Text(what + ": error", error.text);
  for (uint64_t number : {uint64_t{error.section}, uint64_t{error.step}, uint64_t{error.tensor}, error.index}) {
    Number(what + ": place of the error", number);
  }
}

void Transcript::Compare(const Transcript& a, const Transcript& b) {
  for (size_t i = 0; i < std::min(a.entries_.size(), b.entries_.size()); ++i) {
    const Entry &x = a.entries_[i], &y = b.entries_[i];
    if (x.what != y.what) Broken("'" + x.what + "' in one run, '" + y.what + "' in the other");
    if (x.bytes.size() != y.bytes.size()) Broken("'" + x.what + "' is longer in one run");
    const auto at = std::mismatch(x.bytes.begin(), x.bytes.end(), y.bytes.begin()).first;
    if (at != x.bytes.end()) {
      Broken("'" + x.what + "' differs between runs from byte " + std::to_string(at - x.bytes.begin()) + " of " +
             std::to_string(x.bytes.size()));
    }
  }
  if (a.entries_.size() != b.entries_.size()) Broken("one run did more than the other");
}

}  // namespace fovea::fuzz
