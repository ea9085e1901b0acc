#include "tools/generate/compression.h"

#include <zlib.h>

#include <vector>

#include "tools/base/fail.h"

namespace fovea::tools {

double CompressionRatio(const std::string& text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<Bytef> compressed(size);
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  if (compress(compressed.data(), &size, bytes, static_cast<uLong>(text.size())) != Z_OK) Fail("out of memory");
  return static_cast<double>(text.size()) / static_cast<double>(size);
}

}  // namespace fovea::tools
