#include "tools/generate/clean_up.h"

#include <string.h>

#include <utility>

namespace fovea::tools {
namespace {

// Bytes of the text to which a replacement can look back: the longest pattern, which another may have shortened before.
constexpr size_t kReach = 12;

// Whether no pattern can match on both sides of `at`, which is a space. A pattern begins with a space, so one from the
// left has matched a space there and what follows it.
bool Separates(const std::string& text, size_t at) {
  if (text[at] != ' ') return false;
  if (at == 0) return true;
  const char before = text[at - 1];
  return before != ' ' && before != '\'' && !(before == 'n' && at > 1 && text[at - 2] == ' ');
}

// The length of the part that what follows the text cannot change.
size_t Finished(const std::string& text) {
  const size_t from = text.size() - (text.size() < kReach ? text.size() : kReach);
  if (text.find(' ', from) == std::string::npos) return text.size();
  for (size_t at = text.size(); at-- > 0;) {
    if (Separates(text, at)) return at;
  }
  return 0;
}

}  // namespace

std::string CleanedUp(std::string text) {
  const std::pair<const char*, const char*> replacements[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : replacements) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += strlen(to)) {
      text.replace(at, strlen(from), to);
    }
  }
  return text;
}

std::string CleanUp::Add(const std::string& part) {
  held_ += part;
  const size_t finished = Finished(held_);
  std::string shown = CleanedUp(held_.substr(0, finished));
  held_.erase(0, finished);
  return shown;
}

std::string CleanUp::End() { return CleanedUp(std::exchange(held_, {})); }

}  // namespace fovea::tools
