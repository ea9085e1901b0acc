#include "tools/media/notes.h"

#include <fmt/format.h>

#include "tools/base/printable.h"

namespace fovea::tools {

void PrintNotes(std::ostream& err, const std::string& of, const std::vector<std::string>& notes) {
  for (size_t i = 0, same; i < notes.size(); i += same) {
    for (same = 1; i + same < notes.size() && notes[i + same] == notes[i];) ++same;
    const std::string times = same == 1 ? "" : fmt::format(" ({} times)", same);
    err << fmt::format("fovea: {}: {}{}\n", Printable(of), Printable(notes[i]), times);
  }
}

}  // namespace fovea::tools
