// The parts that a build includes. A profile is a list of lines "KIND NAME" and "limit NAME COUNT", as `fovea inspect
// --needs` prints it for the blobs of a device; the compiler leaves out everything else. A build that finds a header
// fovea_profile.h, which defines FOVEA_PROFILE as these lines, uses that profile; any other includes everything.
//
// Code asks at the place that would refer to a part: `if constexpr (Includes("pattern", "window"))`, or in a table.
// README.md lists the kinds and their names.
#ifndef FOVEA_RUNTIME_BASE_PROFILE_H_
#define FOVEA_RUNTIME_BASE_PROFILE_H_

#include <stdint.h>

#if defined(__has_include)
#if __has_include("fovea_profile.h")
#include "fovea_profile.h"
#endif
#endif

namespace fovea {

#ifdef FOVEA_PROFILE
inline constexpr bool kHasProfile = true;
inline constexpr const char* kProfile = FOVEA_PROFILE;
#else
inline constexpr bool kHasProfile = false;
inline constexpr const char* kProfile = "";
#endif

// If `text` begins with `word` and a space: the rest of it. Else null.
constexpr const char* AfterWord(const char* text, const char* word) {
  for (; *word != 0; ++word, ++text) {
    if (*text != *word) return nullptr;
  }
  return *text == ' ' ? text + 1 : *text == '\n' || *text == 0 ? text : nullptr;
}

// If the line begins with "kind name": the rest of it. Else null.
constexpr const char* AfterLine(const char* line, const char* kind, const char* name) {
  const char* rest = AfterWord(line, kind);
  return rest == nullptr ? nullptr : AfterWord(rest, name);
}

constexpr const char* NextLine(const char* line) {
  while (*line != 0 && *line != '\n') ++line;
  return *line == 0 ? line : line + 1;
}

// The rest of the first such line of the profile, see AfterLine; null if there is none.
constexpr const char* FindInProfile(const char* kind, const char* name) {
  for (const char* line = kProfile; *line != 0; line = NextLine(line)) {
    if (const char* rest = AfterLine(line, kind, name)) return rest;
  }
  return nullptr;
}

// A line "KIND *" lists all names of its kind.
constexpr bool Includes(const char* kind, const char* name) {
  return !kHasProfile || FindInProfile(kind, name) != nullptr || FindInProfile(kind, "*") != nullptr;
}

// Whether the profile has a line of this kind.
constexpr bool IncludesAny(const char* kind) {
  for (const char* line = kProfile; *line != 0; line = NextLine(line)) {
    if (AfterWord(line, kind) != nullptr) return true;
  }
  return !kHasProfile;
}

// The limit that the profile sets, else `otherwise`, the format's.
constexpr uint32_t LimitOf(const char* name, uint32_t otherwise) {
  const char* digit = FindInProfile("limit", name);
  if (digit == nullptr) return otherwise;
  uint32_t limit = 0;
  for (; *digit >= '0' && *digit <= '9' && limit < otherwise; ++digit) {
    limit = limit * 10 + static_cast<uint32_t>(*digit - '0');
  }
  return limit < otherwise ? limit : otherwise;
}

// A profile without operations is for programs that call attention as a function or the tokenizer alone. Models are
// then opened for their tokenizer and metadata, and have no programs.
inline constexpr bool kHasOperations = IncludesAny("operation");

// Parts that no blob needs and a program chooses.
inline constexpr bool kHasErrors = Includes("part", "errors");  // messages and numbers; without: status and place only
inline constexpr bool kHasTaps = Includes("part", "taps");      // attention maps of a session
inline constexpr bool kKeepsWeights = kHasTaps || Includes("operation", "received");
inline constexpr bool kHasGeneration = Includes("part", "generation");  // the generator, greedy search
inline constexpr bool kHasSampling = Includes("generate", "sampling");  // the rest of fovea_sampling
inline constexpr bool kHasBeams = Includes("generate", "beams");
inline constexpr bool kHasDrafts = Includes("generate", "drafts");

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BASE_PROFILE_H_
