// Sets of code points as ranges, which few steps make and compare.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_CODE_RANGES_H_
#define FOVEA_TOOLS_CONVERT_TEXT_CODE_RANGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/convert/text/pattern.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {

// Consecutive code points from `first` to `end` - 1 that have the same properties: category, combining class and
// grapheme break. If the run does not map, case changes and decomposition leave each of them as it is.
struct CodeRun {
  uint32_t first, end;
  bool maps;
};
// The runs that all code points consist of, in ascending order. Hangul syllables count as such that do not map.
const std::vector<CodeRun>& CodeRuns();

// The highest member, kCodePoints, is the end of a text.
class CodeRanges {
 public:
  CodeRanges() = default;
  // The code points from `first` to `end` - 1.
  CodeRanges(uint32_t first, uint32_t end) : edges_({first, end}) {}
  static CodeRanges Single(uint32_t code) { return {code, code + 1}; }
  explicit CodeRanges(const CodeSet& set);
  CodeSet ToSet() const;
  // All code points that have a property.
  static CodeRanges Of(bool (*has)(uint32_t code));
  // A general category such as "Lu", or a group of categories by its first letter; empty for other names.
  static CodeRanges Category(const std::string& name);

  bool operator[](uint32_t code) const;
  bool operator==(const CodeRanges& other) const { return edges_ == other.edges_; }
  bool empty() const { return edges_.empty(); }
  bool IsSingle() const { return edges_.size() == 2 && edges_[0] + 1 == edges_[1]; }
  uint32_t first() const { return edges_.front(); }
  bool Meets(const CodeRanges& other) const;

  // Adds a range behind all members, or one that continues the last.
  void Append(uint32_t first, uint32_t end);
  void Include(const CodeRanges& other);
  // The complement. The end of a text changes as well.
  void Flip();
  // The other code points, without the end of a text.
  CodeRanges Inverted() const;

  // Ascending: members are from each even one to the next odd one, which is the first that is none.
  const std::vector<uint32_t>& edges() const { return edges_; }

 private:
  std::vector<uint32_t> edges_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_CODE_RANGES_H_
