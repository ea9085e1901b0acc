// The named constants of a model: matrices in files, and matrices computed from them or from a formula.
// Values are made when asked for, so that a large model is never in memory as a whole.
#ifndef FOVEA_TOOLS_CONVERT_WEIGHTS_H_
#define FOVEA_TOOLS_CONVERT_WEIGHTS_H_

#include <stdint.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

// How short the elements of a tensor may be stored.
enum class Shortest {
  kF32,  // not at all
  kF16,  // also where weights are integers
  kInt8,
  kAny,
};

struct Constant {
  uint32_t rows = 0;  // a vector has one row
  uint32_t width = 0;
  std::function<std::vector<float>()> load;
  bool indices = false;  // whole numbers, stored as i32
  bool hides = false;    // may hold -infinity: what is added to scores
  Shortest shortest = Shortest::kAny;
};

// A tensor of a file with its elements as stored, row by row; holds the file open.
struct RawTensor {
  std::shared_ptr<const StoredTensor> tensor;
  std::function<void()> forget = nullptr;  // lets the kernel drop its bytes from memory
};

class Weights {
 public:
  // The names in the file, with `prefix` in front.
  void AddFile(const std::string& path, const std::string& prefix = "");
  // Adds a constant read from a file of another kind; like a tensor of a file it raises the limit of what is computed.
  void AddStored(const std::string& name, const Constant& constant);
  // A stored tensor, regardless of its shape; none if its file has its elements in another order, and none after
  // DropPrefix has renamed it.
  RawTensor Raw(const std::string& name) const;
  // Adds a tensor of any file by its shape there, as AddFile does. `load` reads its values, row by row.
  void AddTensor(const std::string& name, const std::vector<uint64_t>& shape, std::function<std::vector<float>()> load,
                 RawTensor raw = {});
  // Removes a stored tensor, to be added in another form with AddMade, which leaves the limit of what is computed as it
  // is; fails if there is none. `Add` below is for what is computed from several.
  std::function<Constant()> Take(const std::string& name);
  void AddMade(const std::string& name, std::function<Constant()> make);
  // Removes a stored tensor if there is one: of parts that other tensors were computed from.
  void Drop(const std::string& name);
  // Marks stored tensors whose names match as known to change no result: a buffer of the original, or one that the user
  // names.
  // A * in the pattern matches any characters. They are neither used nor reported as unused.
  void Ignore(const std::string& pattern);
  // Removes the prefix from names, unless the rest is already a name.
  void DropPrefix(const std::string& prefix);
  // Adds a computed constant under a new name. `work`: elements that are computed before its own.
  // Their total is limited to a multiple of what is stored, so that a small file cannot make a large blob.
  void Add(const std::string& name, Constant constant, uint64_t work = 0);
  // Elements computed for a constant, including its own; 0 for a stored one.
  uint64_t Work(const std::string& name) const;

  bool Has(const std::string& name) const;
  // Shape and values; fails with the name. Records that it is used.
  Constant Get(const std::string& name) const;
  // Names in files, and names that were added.
  std::vector<std::string> Stored() const;
  std::vector<std::string> Computed() const;
  // Names that were never requested; ignored ones are left out.
  std::vector<std::string> Unused() const;

 private:
  static constexpr uint64_t kComputed = uint64_t{1} << 24;  // always allowed
  static constexpr uint64_t kComputedPerStored = 8;

  std::map<std::string, std::function<Constant()>> stored_;  // fails if a tensor is not a matrix
  std::map<std::string, RawTensor> raw_;                     // for names in stored_
  std::map<std::string, Constant> computed_;
  std::vector<std::string> ignored_;  // patterns
  mutable std::set<std::string> used_;
  std::map<std::string, uint64_t> work_;  // by name
  uint64_t computed_elements_ = 0, most_computed_ = kComputed;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_WEIGHTS_H_
