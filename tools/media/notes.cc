#include "tools/media/notes.h"

#include <fmt/format.h>

#include "tools/base/printable.h"

namespace fovea::tools {

void PrintNotes(std::ostream& err, const std::string& of, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) err << fmt::format("fovea: {}: {}\n", Printable(of), Printable(note));
}

}  // namespace fovea::tools
