// A checked text section: pointers into the blob, ready for encoding and decoding. Immutable; any number of threads.
#ifndef FOVEA_RUNTIME_TEXT_TOKENIZER_H_
#define FOVEA_RUNTIME_TEXT_TOKENIZER_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "runtime/text/format.h"
#include "runtime/text/table.h"

namespace fovea {

struct Tokenizer {
  text::Header header;  // a copy
  text::Table<uint8_t> pool;
  text::Table<text::Step> normalizer, pre_tokenizer;
  text::Table<text::MapRange> ranges;
  text::Table<uint32_t> classes, combining;
  text::Table<text::Composition> compositions;
  text::Trie charsmap;
  text::Table<uint8_t> charsmap_strings;
  text::Table<uint32_t> piece_offsets;
  text::Table<uint8_t> piece_text;
  text::Table<float> scores;
  text::Table<double> scores64;
  text::Table<uint8_t> token_flags;
  text::Trie vocabulary;
  text::Table<text::Added> added;
  text::Trie added_raw, added_normalized;
  text::Table<text::TemplateItem> single, pair;
  text::Table<text::Merge> merges;
  text::Table<uint32_t> byte_ids, merge_offsets;
  text::Table<uint8_t> suffix;
  text::Table<text::Step> decoder;
  text::Table<uint32_t> cut_classes;
  text::Table<uint16_t> cut_transitions;

  text::Bytes prefix;        // kWordPiece: prefix of a continuing piece
  uint32_t prefix_node = 0;  // its node in `vocabulary`
  bool prefix_found = false;
  uint32_t mask_id = text::kNoId;  // the first token with kTokenMask

  // Reads and checks a section. `bytes` starts on a multiple of 8 and must outlive `out`. `vocabulary_limit`: rows of
  // the model's embedding table; 0 if unknown. Time is linear in `size`.
  static Status Open(const uint8_t* bytes, uint64_t size, uint32_t vocabulary_limit, Reporter& reporter,
                     Tokenizer* out);

  uint32_t size() const { return header.vocabulary; }
  // The piece of an id below size().
  text::Bytes Piece(uint32_t id) const {
    return {piece_text.data + piece_offsets[id], piece_offsets[id + 1] - piece_offsets[id]};
  }
  double Score(uint32_t id) const { return scores64.data != nullptr ? scores64[id] : static_cast<double>(scores[id]); }
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_TEXT_TOKENIZER_H_
