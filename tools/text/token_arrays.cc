#include "tools/text/token_arrays.h"

#include "tools/base/sized.h"

namespace fovea::tools {

TokenArrays::TokenArrays(const Tokens& tokens) : arrays_(Sized<fovea_text_tokens>()) {
  for (size_t i = 0; i < tokens.ids.size(); ++i) ranges_.insert(ranges_.end(), {tokens.begin[i], tokens.end[i]});
  arrays_.capacity = arrays_.count = tokens.ids.size();
  // The library only reads them.
  arrays_.ids = const_cast<int32_t*>(tokens.ids.data());
  arrays_.types = const_cast<int32_t*>(tokens.types.data());
  arrays_.special = const_cast<uint8_t*>(tokens.special.data());
  arrays_.ranges = ranges_.data();
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const bool second = !tokens.second.empty() && tokens.second[i] != 0;
    arrays_.text_tokens[second ? 1 : 0] += tokens.special[i] != 0 ? 0 : 1;
  }
}

}  // namespace fovea::tools
