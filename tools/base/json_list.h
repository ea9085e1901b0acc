// A list of results, printed entry by entry: as one JSON array, as JSON Lines, or left to the caller.
#ifndef FOVEA_TOOLS_BASE_JSON_LIST_H_
#define FOVEA_TOOLS_BASE_JSON_LIST_H_

#include <ostream>

#include "tools/base/print.h"

namespace fovea::tools {

enum class ListForm { kText, kArray, kLines };

class JsonList {
 public:
  JsonList(std::ostream& out, ListForm form) : out_(out), form_(form) {}

  // Prints the entry at once; nothing for ListForm::kText.
  void Add(const OrderedJson& entry);
  // After the last entry.
  void End();

 private:
  std::ostream& out_;
  const ListForm form_;
  bool any_ = false;
};

// All entries of an array.
void PrintList(std::ostream& out, ListForm form, const OrderedJson& entries);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_JSON_LIST_H_
