// WordPiece: greedy longest match.
#include "runtime/text/models.h"

namespace fovea::text {

void WordPiece(const Tokenizer& tokenizer, const View& word, Sink* sink) {
  const uint32_t unknown = tokenizer.header.unknown_id;
  uint32_t chars = 0;
  for (uint32_t i = 0; i < word.size; i += word.At(i).size) {
    if (++chars > tokenizer.header.max_word_chars) return sink->Add(unknown, word, 0, word.size);
  }
  const Sink::Mark before = sink->mark();
  for (uint32_t at = 0; at < word.size;) {
    const uint32_t longest =
        word.size - at < tokenizer.header.max_piece_bytes ? word.size - at : tokenizer.header.max_piece_bytes;
    uint32_t id = 0, size = 0;
    if (at == 0 || tokenizer.prefix_found) {
      size = tokenizer.vocabulary.Longest(at == 0 ? 0 : tokenizer.prefix_node, word.bytes + at, longest, &id);
    }
    if (size == 0 || id >= tokenizer.size()) {
      sink->Rewind(before);
      return sink->Add(unknown, word, 0, word.size);
    }
    sink->Add(id, word, at, at + size);
    at += size;
  }
}

}  // namespace fovea::text
