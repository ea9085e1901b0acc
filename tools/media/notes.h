// Notes to the user about an input: parts that were left out, filled in or guessed.
#ifndef FOVEA_TOOLS_MEDIA_NOTES_H_
#define FOVEA_TOOLS_MEDIA_NOTES_H_

#include <ostream>
#include <string>
#include <vector>

namespace fovea::tools {

// Prints a line for each: "fovea: <of>: <note>"; one line for equal notes in a row.
void PrintNotes(std::ostream& err, const std::string& of, const std::vector<std::string>& notes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MEDIA_NOTES_H_
