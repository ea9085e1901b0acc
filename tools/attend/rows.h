// What the rows of a model's spaces stand for: tokens, sentences, texts; parts of pictures; moments of sounds. Told of
// the inputs, it follows the program to every value.
#ifndef FOVEA_TOOLS_ATTEND_ROWS_H_
#define FOVEA_TOOLS_ATTEND_ROWS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/attend/picture_rows.h"
#include "tools/attend/record.h"
#include "tools/common/session.h"
#include "tools/common/sound.h"
#include "tools/common/text.h"

namespace fovea::tools {

class Rows {
 public:
  Rows(const Model& model, uint32_t program);

  // Texts as they were encoded, in the space of an input of ids; documents by sentences. `first_text`: the number of
  // the first one in the record.
  void SetTexts(uint32_t space, const std::vector<std::string>& texts, const std::vector<Tokens>& tokens,
                uint32_t first_text = 0);
  // Rows of a space as they are.
  void Set(uint32_t space, RowMeaning meaning) { given_[space] = std::move(meaning); }
  bool Knows(uint32_t space) const { return given_.count(space) != 0; }
  void SetSounds(const SoundInput& input, const std::vector<Sound>& sounds);
  // So many pictures in an input, from picture 0 on.
  void SetPictures(const PictureInput& input, uint32_t count);

  // Values that a session must keep, for rows that a run selects.
  const std::vector<uint32_t>& keep() const { return keep_; }

  // The record's space for the rows of a value after a run; its parents come, too. The same rows are there once.
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
  std::map<uint32_t, uint32_t> indices_;  // of selected spaces: the value that says which rows they have
  std::set<uint32_t> dropping_;           // selected spaces without whose rows' others the model continues
  std::vector<uint32_t> keep_;
  std::vector<SoundRows> sounds_;
  std::optional<PictureRows> pictures_;
  uint32_t picture_count_ = 0;
  std::map<std::pair<uint32_t, int>, uint32_t> added_;  // space and variant, to the record's
};

// Bytes of a text to UTF-16 code units, for ascending or any positions. Inside a character: where it begins.
class Utf16Places {
 public:
  explicit Utf16Places(const std::string& text);
  uint32_t Unit(uint32_t byte) const { return units_[byte]; }
  // The characters that bytes [begin, end) touch.
  std::pair<uint32_t, uint32_t> Whole(uint32_t begin, uint32_t end) const;

 private:
  const std::string& text_;
  std::vector<uint32_t> units_;
};

// At most so many characters, then an ellipsis.
std::string Abridged(const std::string& text, size_t characters = 60);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_ROWS_H_
