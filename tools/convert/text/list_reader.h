// Reads the long lists of tokenizer files from their text: tens of times as fast as a parser that makes JSON values.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_LIST_READER_H_
#define FOVEA_TOOLS_CONVERT_TEXT_LIST_READER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/convert/text/model_lists.h"

namespace fovea::tools {

// A reader of JSON as files usually have it. Each function returns false for everything that is not, valid or not:
// only a parser of all of JSON then reports the fault. After that, the reader and its lists are of no use.
class ListReader {
 public:
  ListReader(std::string_view text, ModelLists* lists);

  // A whole tokenizer.json. `*rest`: its text with null for each list that was read.
  bool TokenizerFile(std::string* rest);
  // A whole file that is an object with ids.
  bool IdsFile();

 private:
  bool Object(std::string* rest, bool model);
  bool Ids();
  bool Scores();
  bool Merges();
  bool Merge();
  // Passes a value of any kind.
  bool Skip();
  bool SkipString();

  void Space();
  bool Take(char c);
  bool More(char close, bool* first);
  bool String(std::string_view* value);
  bool Escaped(const char* begin, std::string_view* value);
  bool Hexadecimal(uint32_t* code);
  bool Id(uint32_t* id);
  bool Score(double* score);
  bool IsUtf8(const char* begin) const;

  const char* const end_;
  const char* at_;
  ModelLists* const lists_;
  const char* copied_;   // up to here the text is in `rest`
  bool closed_ = false;  // the list that has ended last ended with its bracket
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_LIST_READER_H_
