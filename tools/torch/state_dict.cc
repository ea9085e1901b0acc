// The form of torch.nn.Module.state_dict() in a pickle: a dictionary of calls of
// torch._utils._rebuild_tensor_v2(storage, first element, size, strides, ...), whose storages are persistent ids
// ("storage", type, key, device, elements).
#include "tools/torch/state_dict.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr size_t kMostRank = 16;
constexpr size_t kMostName = 1000;
constexpr int kMostNested = 8;
// All tensors together may have this many elements for a byte of their storages: several share a storage where an
// embedding is also a head.
constexpr uint64_t kMostElementsPerByte = 8;

struct TypeName {
  const char* storage;  // torch.<storage>Storage
  const char* dtype;    // torch.<dtype>
  ElementType type;
};
constexpr TypeName kTypeNames[] = {
    {"Double", "float64", ElementType::kF64},  {"Float", "float32", ElementType::kF32},
    {"Half", "float16", ElementType::kF16},    {"BFloat16", "bfloat16", ElementType::kBF16},
    {"Long", "int64", ElementType::kI64},      {"Int", "int32", ElementType::kI32},
    {"Short", "int16", ElementType::kI16},     {"Byte", "uint8", ElementType::kU8},
    {"Char", "int8", ElementType::kI8},        {"Bool", "bool", ElementType::kBool},
    {"Untyped", "uint8", ElementType::kU8},    {"", "uint16", ElementType::kU16},
    {"", "uint32", ElementType::kU32},         {"", "uint64", ElementType::kU64},
    {"", "float8_e5m2", ElementType::kF8E5M2}, {"", "float8_e4m3fn", ElementType::kF8E4M3},
};

std::optional<ElementType> StorageType(const std::string& name) {
  for (const char* module : {"torch.", "torch.cuda.", "torch.storage."}) {
    for (const TypeName& type : kTypeNames) {
      if (type.storage[0] != 0 && name == fmt::format("{}{}Storage", module, type.storage)) return type.type;
    }
  }
  return std::nullopt;
}

std::optional<ElementType> TypeOf(const std::string& dtype) {
  for (const TypeName& type : kTypeNames) {
    if (dtype == fmt::format("torch.{}", type.dtype)) return type.type;
  }
  return std::nullopt;
}

constexpr const char* kTensorV2 = "torch._utils._rebuild_tensor_v2";
constexpr const char* kTensorV3 = "torch._utils._rebuild_tensor_v3";
constexpr const char* kTensor = "torch._utils._rebuild_tensor";
constexpr const char* kParameter = "torch._utils._rebuild_parameter";
constexpr const char* kParameterWithState = "torch._utils._rebuild_parameter_with_state";

constexpr const char* kKnownNames[] = {kTensorV2,
                                       kTensorV3,
                                       kTensor,
                                       kParameter,
                                       kParameterWithState,
                                       "collections.OrderedDict",
                                       "builtins.dict",
                                       "__builtin__.dict",
                                       "builtins.set",
                                       "__builtin__.set",
                                       "torch.Size",
                                       "torch.device",
                                       "torch.Tensor",
                                       "torch.nn.parameter.Parameter",
                                       "torch.nn.parameter.Buffer"};

// Types of elements and storages that are not read are refused with the tensor that has them.
bool IsTypeName(const std::string& name) {
  static constexpr const char* kOthers[] = {"complex32",       "complex64",      "complex128", "quint8",
                                            "qint8",           "qint32",         "quint4x2",   "quint2x4",
                                            "float8_e4m3fnuz", "float8_e5m2fnuz"};
  if (TypeOf(name)) return true;
  if (StartsWith(name, "torch.") && EndsWith(name, "Storage")) return true;
  return std::any_of(std::begin(kOthers), std::end(kOthers),
                     [&](const char* other) { return name == fmt::format("torch.{}", other); });
}

bool IsKnown(const std::string& name) {
  return IsTypeName(name) ||
         std::any_of(std::begin(kKnownNames), std::end(kKnownNames), [&](const char* known) { return name == known; });
}

}  // namespace

TorchReference ReferenceOf(const Pickle& pickle, const PickleValue& reference, const std::string& where) {
  const std::vector<uint32_t>& id = pickle.At(reference.items[0]).items;
  const auto kind = [&](size_t i) { return i < id.size() ? pickle.At(id[i]).kind : PickleKind::kNone; };
  if (kind(0) != PickleKind::kText || pickle.At(id[0]).text != "storage" || kind(1) != PickleKind::kName ||
      kind(2) != PickleKind::kText || kind(4) != PickleKind::kInteger) {
    Fail("{}: a persistent id is no storage", where);
  }
  TorchReference found;
  found.key = pickle.At(id[2]).text;
  if (found.key.size() > kMostName) Fail("{}: the key of a storage is too long", where);
  found.type_name = pickle.NameOf(id[1]);
  found.type = StorageType(found.type_name);
  if (found.type) found.element_bytes = ElementBytes(*found.type);
  if (!found.type && EndsWith(found.type_name, "ComplexFloatStorage")) found.element_bytes = 8;
  if (!found.type && EndsWith(found.type_name, "ComplexDoubleStorage")) found.element_bytes = 16;
  if (kind(5) == PickleKind::kTuple && pickle.At(id[5]).items.size() == 3) {
    const PickleValue& first = pickle.At(pickle.At(id[5]).items[1]);
    if (first.kind != PickleKind::kInteger || first.integer < 0) Fail("{}: a view of a storage has no offset", where);
    found.first = static_cast<uint64_t>(first.integer);
  }
  return found;
}

// The call that makes a tensor's values, within the calls that make it a parameter.
std::optional<uint32_t> StateDict::TensorCall(uint32_t value) const {
  for (int depth = 0; depth < kMostNested; ++depth) {
    const PickleValue& object = pickle_.At(value);
    if (object.kind != PickleKind::kObject) return std::nullopt;
    const std::string& name = pickle_.NameOf(object.items[0]);
    const std::vector<uint32_t>& arguments = pickle_.At(object.items[1]).items;
    if (name == kTensor || name == kTensorV2 || name == kTensorV3) return value;
    if ((name == kParameter || name == kParameterWithState || name == "torch.nn.parameter.Parameter") &&
        !arguments.empty()) {
      value = arguments[0];
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

bool StateDict::HoldsTensors(uint32_t dict) const {
  const PickleValue& value = pickle_.At(dict);
  if (value.kind != PickleKind::kDict) return false;
  for (size_t i = 1; i < value.items.size(); i += 2) {
    if (TensorCall(value.items[i])) return true;
  }
  return false;
}

std::string StateDict::KeyText(uint32_t key) const {
  const PickleValue& value = pickle_.At(key);
  if (value.kind == PickleKind::kInteger) return std::to_string(value.integer);
  if (value.kind != PickleKind::kText) return "(a key that is no text)";
  if (value.text.size() > kMostName)
    Fail("{}: a name has {} bytes, more than {}", where_, value.text.size(), kMostName);
  return std::string(value.text);
}

std::string StateDict::Described(uint32_t index) const {
  const PickleValue& value = pickle_.At(index);
  switch (value.kind) {
    case PickleKind::kNone:
      return "None";
    case PickleKind::kBool:
    case PickleKind::kInteger:
    case PickleKind::kFloat:
      return "a number";
    case PickleKind::kText:
    case PickleKind::kBytes:
      return "text";
    case PickleKind::kDict:
      return "a dictionary";
    case PickleKind::kObject:
      return TensorCall(index) ? "a tensor" : pickle_.NameOf(value.items[0]);
    case PickleKind::kName:
      return pickle_.NameOf(index);
    default:
      return "a list";
  }
}

void StateDict::Skip(uint32_t key, uint32_t value, bool outside) {
  entries_.skipped.push_back(fmt::format("{} ({})", KeyText(key), Described(value)));
  if (outside) skipped_.push_back(value);
}

// The dictionary that has the tensors: the outermost, or the one in a usual entry, or in the only entry that has any.
uint32_t StateDict::FindWeights() {
  static constexpr const char* kUsual[] = {"state_dict", "model_state_dict", "model", "module",
                                           "net",        "weights",          "params"};
  uint32_t at = pickle_.root;
  for (int depth = 0; depth < kMostNested; ++depth) {
    if (HoldsTensors(at)) return at;
    const PickleValue& dict = pickle_.At(at);
    if (dict.kind != PickleKind::kDict) break;
    std::optional<uint32_t> chosen;
    std::string all;
    for (const char* usual : kUsual) {
      const PickleValue* found = chosen ? nullptr : pickle_.Find(at, usual);
      if (found != nullptr && found->kind == PickleKind::kDict) {
        chosen = static_cast<uint32_t>(found - pickle_.values.data());
      }
    }
    size_t count = 0;
    for (size_t i = 0; !chosen && i < dict.items.size(); i += 2) {
      if (!HoldsTensors(dict.items[i + 1])) continue;
      if (count++ < 10) all += (all.empty() ? "" : ", ") + KeyText(dict.items[i]);
    }
    if (count > 1) Fail("{}: has several dictionaries of tensors: {}; save the one that is the model", where_, all);
    for (size_t i = 0; !chosen && count == 1 && i < dict.items.size(); i += 2) {
      if (HoldsTensors(dict.items[i + 1])) chosen = dict.items[i + 1];
    }
    if (!chosen) break;
    for (size_t i = 0; i < dict.items.size(); i += 2) {
      if (dict.items[i + 1] != *chosen) Skip(dict.items[i], dict.items[i + 1], true);
    }
    at = *chosen;
  }
  const PickleValue& root = pickle_.At(pickle_.root);
  if (TensorCall(pickle_.root)) Fail("{}: is one tensor without a name", where_);
  if (root.kind == PickleKind::kObject) {
    Fail(
        "{}: is a whole object ({}), whose code is not run, not a dictionary of tensors; save its state_dict() with "
        "torch.save",
        where_, pickle_.NameOf(root.items[0]));
  }
  RefuseOtherNames();
  Fail("{}: has no dictionary of tensors", where_);
}

// Names in skipped entries are looked for first: all other names are refused.
void StateDict::RefuseOtherNames() const {
  std::vector<bool> seen(pickle_.values.size());
  std::vector<uint32_t> left = skipped_;
  while (!left.empty()) {
    const uint32_t at = left.back();
    left.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const std::vector<uint32_t>& items = pickle_.At(at).items;
    left.insert(left.end(), items.begin(), items.end());
  }
  for (uint32_t i = 0; i < pickle_.values.size(); ++i) {
    const std::string& name = pickle_.NameOf(i);
    if (name.empty() || seen[i] || IsKnown(name)) continue;
    Fail("{}: refers to {}, which weights do not need and which is not run; save the weights alone, as safetensors",
         where_, name);
  }
}

// A tuple of whole numbers from 0 on, or torch.Size of one.
std::vector<uint64_t> StateDict::Whole(uint32_t index, const std::string& name) const {
  std::vector<uint64_t> numbers;
  const PickleValue* value = &pickle_.At(index);
  if (value->kind == PickleKind::kObject && pickle_.NameOf(value->items[0]) == "torch.Size") {
    const std::vector<uint32_t>& arguments = pickle_.At(value->items[1]).items;
    if (!arguments.empty()) value = &pickle_.At(arguments[0]);
  }
  if (value->kind != PickleKind::kTuple && value->kind != PickleKind::kList) {
    Fail("{}: tensor {}: its size and strides must be tuples", where_, name);
  }
  if (value->items.size() > kMostRank) Fail("{}: tensor {}: more than {} dimensions", where_, name, kMostRank);
  for (const uint32_t item : value->items) {
    const PickleValue& number = pickle_.At(item);
    if (number.kind != PickleKind::kInteger || number.integer < 0) {
      Fail("{}: tensor {}: its size and strides must be whole numbers from 0 on", where_, name);
    }
    numbers.push_back(static_cast<uint64_t>(number.integer));
  }
  return numbers;
}

TorchTensor StateDict::MakeTensor(const std::string& name, uint32_t call) const {
  const PickleValue& object = pickle_.At(call);
  const std::vector<uint32_t>& arguments = pickle_.At(object.items[1]).items;
  if (arguments.size() < 4 || pickle_.At(arguments[0]).kind != PickleKind::kReference ||
      pickle_.At(arguments[1]).kind != PickleKind::kInteger || pickle_.At(arguments[1]).integer < 0) {
    Fail("{}: tensor {}: needs a storage, a first element, a size and strides", where_, name);
  }
  const TorchReference reference = ReferenceOf(pickle_, pickle_.At(arguments[0]), where_);
  std::optional<ElementType> type = reference.type;
  std::string type_name = reference.type_name;
  if (pickle_.NameOf(object.items[0]) == kTensorV3) {
    type_name = arguments.size() > 6 ? pickle_.NameOf(arguments[6]) : "";
    type = TypeOf(type_name);
  }
  if (!type) Fail("{}: tensor {}: elements of type {} are not supported", where_, name, type_name);
  TorchTensor tensor;
  tensor.type = *type;
  tensor.swapped = swapped_;
  tensor.shape = Whole(arguments[2], name);
  tensor.strides = Whole(arguments[3], name);
  if (tensor.shape.size() != tensor.strides.size()) {
    Fail("{}: tensor {}: {} dimensions and {} strides", where_, name, tensor.shape.size(), tensor.strides.size());
  }
  const TorchStorage storage = storage_(std::string(reference.key));
  const uint32_t width = ElementBytes(*type);
  const uint64_t elements = storage.bytes / width;
  uint64_t first = 0, count = 1, last = 0;
  bool fits = !__builtin_add_overflow(static_cast<uint64_t>(pickle_.At(arguments[1]).integer), reference.first, &first);
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    uint64_t reach = 0;
    if (tensor.shape[i] == 0) {
      count = 0;
    } else {
      fits = fits && !__builtin_mul_overflow(count, tensor.shape[i], &count) &&
             !__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &reach) &&
             !__builtin_add_overflow(last, reach, &last);
    }
  }
  if (std::count(tensor.shape.begin(), tensor.shape.end(), 0u) != 0) count = 0;
  fits = fits && (count == 0 || (first < elements && last < elements - first));
  if (!fits) {
    Fail("{}: tensor {}: {} from element {} is outside the {} elements of its storage", where_, name,
         ShapeText(tensor.shape), first, elements);
  }
  if (count > elements) {
    Fail("{}: tensor {}: {} repeats the {} elements of its storage; save it with contiguous()", where_, name,
         ShapeText(tensor.shape), elements);
  }
  tensor.data = storage.data + (count == 0 ? 0 : first * width);
  return tensor;
}

TorchEntries StateDict::Read() {
  const uint32_t weights = FindWeights();
  const std::vector<uint32_t>& items = pickle_.At(weights).items;
  std::set<std::string_view> storages;
  uint64_t count = 0, bytes = 0;
  for (size_t i = 0; i < items.size(); i += 2) {
    const std::optional<uint32_t> call = TensorCall(items[i + 1]);
    if (!call) {
      // A name of Python is refused below; a dictionary beside tensors may be an optimizer's.
      Skip(items[i], items[i + 1], pickle_.At(items[i + 1]).kind == PickleKind::kDict);
      continue;
    }
    const std::string name = KeyText(items[i]);
    if (pickle_.At(items[i]).kind != PickleKind::kText) Fail("{}: a tensor's name is no text", where_);
    TorchTensor tensor = MakeTensor(name, *call);
    count += tensor.count();
    const uint32_t argument = pickle_.At(pickle_.At(*call).items[1]).items[0];
    const std::string_view key = ReferenceOf(pickle_, pickle_.At(argument), where_).key;
    if (storages.insert(key).second) bytes += storage_(std::string(key)).bytes;
    entries_.tensors[name] = std::move(tensor);
  }
  if (count / kMostElementsPerByte > bytes) Fail("{}: its tensors have {} elements in {} bytes", where_, count, bytes);
  RefuseOtherNames();
  return std::move(entries_);
}

}  // namespace fovea::tools
