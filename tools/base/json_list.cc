#include "tools/base/json_list.h"

#include <nlohmann/json.hpp>
#include <string>

namespace fovea::tools {

void JsonList::Add(const OrderedJson& entry) {
  if (form_ == ListForm::kText) return;
  if (form_ == ListForm::kLines) {
    out_ << JsonText(entry, -1) << std::endl;
    return;
  }
  out_ << (any_ ? ",\n  " : "[\n  ");
  any_ = true;
  for (const char c : JsonText(entry, 2)) {
    out_ << c;
    if (c == '\n') out_ << "  ";  // a line end within a string is escaped
  }
}

void JsonList::End() {
  if (form_ == ListForm::kArray) out_ << (any_ ? "\n]\n" : "[]\n");
}

void PrintList(std::ostream& out, ListForm form, const OrderedJson& entries) {
  JsonList list(out, form);
  for (const OrderedJson& entry : entries) list.Add(entry);
  list.End();
}

}  // namespace fovea::tools
