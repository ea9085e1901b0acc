// The tensors of a pickled object: which of its entries are the weights, and where their values are.
#ifndef FOVEA_TOOLS_TORCH_STATE_DICT_H_
#define FOVEA_TOOLS_TORCH_STATE_DICT_H_

#include <stdint.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/torch/pickle.h"
#include "tools/torch/torch_file.h"

namespace fovea::tools {

struct TorchStorage {
  const uint8_t* data = nullptr;
  uint64_t bytes = 0;
};

// A persistent id: which storage, and of what.
struct TorchReference {
  std::string_view key;
  std::optional<ElementType> type;  // none: not one that is supported
  uint32_t element_bytes = 1;
  std::string type_name;
  uint64_t first = 0;  // the legacy form's views of a storage begin at this element
};
TorchReference ReferenceOf(const Pickle& pickle, const PickleValue& reference, const std::string& where);

class StateDict {
 public:
  // `storage` returns the bytes of a storage or fails.
  StateDict(Pickle pickle, std::function<TorchStorage(const std::string& key)> storage, bool swapped,
            const std::string& where)
      : pickle_(std::move(pickle)), storage_(std::move(storage)), swapped_(swapped), where_(where) {}

  TorchEntries Read();

 private:
  std::optional<uint32_t> TensorCall(uint32_t value) const;
  bool HoldsTensors(uint32_t dict) const;
  uint32_t FindWeights();
  void Skip(uint32_t key, uint32_t value, bool outside);
  void RefuseOtherNames() const;
  std::vector<uint64_t> Whole(uint32_t value, const std::string& name) const;
  TorchTensor MakeTensor(const std::string& name, uint32_t call) const;
  std::string Described(uint32_t value) const;
  std::string KeyText(uint32_t key) const;

  const Pickle pickle_;
  const std::function<TorchStorage(const std::string& key)> storage_;
  const bool swapped_;
  const std::string& where_;
  TorchEntries entries_;
  std::vector<uint32_t> skipped_;  // values whose names of Python do not matter
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TORCH_STATE_DICT_H_
