// Describes the rows of a model's spaces for the record (tokens, sentences, texts; parts of images; times in sounds):
// set for the inputs, and followed through the program to every value.
#ifndef FOVEA_TOOLS_ATTEND_ROWS_H_
#define FOVEA_TOOLS_ATTEND_ROWS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/attend/picture_rows.h"
#include "tools/attend/record.h"
#include "tools/media/sound_inputs.h"
#include "tools/model/session.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

class Rows {
 public:
  Rows(const Model& model, uint32_t program);

  // Texts with their tokens, for the space of an input of ids; documents by sentences. `first_text`: index of the first
  // text in the record.
  void SetTexts(uint32_t space, const std::vector<std::string>& texts, const std::vector<Tokens>& tokens,
                uint32_t first_text = 0);
  // Sets the descriptions of a space directly.
  void Set(uint32_t space, RowMeaning meaning) { given_[space] = std::move(meaning); }
  bool Knows(uint32_t space) const { return given_.count(space) != 0; }
  void SetSounds(const SoundInput& input, const std::vector<Sound>& sounds);
  // Declares `count` images in an input, from image 0 of the record on.
  void SetPictures(const PictureInput& input, uint32_t count);

  // Values that a session must keep, to describe rows that a run selects.
  const std::vector<uint32_t>& keep() const { return keep_; }

  // Adds the record's space for the rows of a value after a run, and its parents. Equal rows are added once.
  uint32_t Add(const Session& session, uint32_t value, AttentionRecord* record);

 private:
  const RowMeaning& MeaningOf(const Session& session, uint32_t space);
  RowMeaning Derive(const Session& session, uint32_t space);
  RowMeaning FixedFrames(const Session& session, uint32_t space) const;
  RowMeaning Parts(const Session& session, uint32_t space, int variant, AttentionRecord* record) const;
  std::vector<uint32_t> OffsetsOf(const Session& session, uint32_t space) const;
  uint32_t AddSpace(const Session& session, uint32_t space, int variant, AttentionRecord* record);
  void MarkChosen(const Session& session, uint32_t space, uint32_t source, AttentionRecord* record) const;

  struct SoundRows {
    SoundInput input;
    std::vector<double> seconds;
  };

  const Model& model_;
  uint32_t program_;
  std::map<uint32_t, RowMeaning> given_, derived_;
  std::map<uint32_t, uint32_t> indices_;  // for selected spaces: the value with the indices of their rows
  std::set<uint32_t> dropping_;           // selected spaces whose remaining rows the model drops
  std::vector<uint32_t> keep_;
  std::vector<SoundRows> sounds_;
  std::optional<PictureRows> pictures_;
  uint32_t picture_count_ = 0;
  std::map<std::pair<uint32_t, int>, uint32_t> added_;  // (space, variant) to the record's space
};

// Converts byte offsets of a text to UTF-16 code units, in any order; inside a character, to its beginning.
class Utf16Places {
 public:
  explicit Utf16Places(const std::string& text);
  uint32_t Unit(uint32_t byte) const { return units_[byte]; }
  // The characters that overlap bytes [begin, end).
  std::pair<uint32_t, uint32_t> Whole(uint32_t begin, uint32_t end) const;

 private:
  const std::string& text_;
  std::vector<uint32_t> units_;
};

// Truncates to `characters` characters and an ellipsis.
std::string Abridged(const std::string& text, size_t characters = 60);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_ROWS_H_
