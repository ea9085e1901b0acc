// The values in a Python pickle (protocols 2 to 5) as a tree. Nothing is imported or called: a name of Python is kept
// as text, a call as an object that has the name and its arguments.
#ifndef FOVEA_TOOLS_TORCH_PICKLE_H_
#define FOVEA_TOOLS_TORCH_PICKLE_H_

#include <stdint.h>

#include <string>
#include <string_view>
#include <vector>

namespace fovea::tools {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInteger,
  kFloat,
  kText,
  kBytes,  // also an integer of more than 64 bits
  kTuple,
  kList,  // also a set
  kDict,
  kName,       // "module.name"
  kObject,     // a call: the callable, the arguments, then what was added to the result
  kReference,  // a persistent id
};

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  union {
    int64_t integer = 0;  // kBool, kInteger; kName: index in Pickle::names
    double real;          // kFloat
  };
  std::string_view text;        // kText, kBytes: in the file
  std::vector<uint32_t> items;  // indices of values; kDict: key, value, key, value, ...; kReference: the id
};

struct Pickle {
  std::vector<PickleValue> values;
  std::vector<std::string> names;
  uint32_t root = 0;
  uint64_t bytes = 0;  // length of the pickle

  const PickleValue& At(uint32_t index) const { return values[index]; }
  // "" if it is no name.
  const std::string& NameOf(uint32_t index) const;
  // The value of a text key, the last one as in Python; null if `index` is no dictionary or does not have it.
  const PickleValue* Find(uint32_t index, std::string_view key) const;
};

// Reads the pickle at the front of these bytes, which must outlive it. Fails with `where`, the position and the fault.
// Work and memory are limited by numbers of instructions and values.
Pickle ParsePickle(const uint8_t* data, uint64_t size, const std::string& where);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TORCH_PICKLE_H_
