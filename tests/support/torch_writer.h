// Files as torch.save writes them, made of the instructions of pickles one by one.
#ifndef FOVEA_TESTS_SUPPORT_TORCH_WRITER_H_
#define FOVEA_TESTS_SUPPORT_TORCH_WRITER_H_

#include <stdint.h>
#include <string.h>

#include <string>
#include <utility>
#include <vector>

namespace fovea::test::torch {

template <typename T>
std::string Little(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}
template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), sizeof(T) * values.size());
}

// Pieces of a pickle; each leaves one value on the stack.
inline std::string Int(int64_t value) { return std::string("\x8a\x08") + Little(value); }
inline std::string Word(const std::string& text) { return "X" + Little(static_cast<uint32_t>(text.size())) + text; }
inline std::string Name(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string Tuple(const std::vector<std::string>& items) {
  std::string tuple = "(";
  for (const std::string& item : items) tuple += item;
  return tuple + "t";
}
inline std::string Ints(const std::vector<int64_t>& values) {
  std::vector<std::string> items;
  for (const int64_t value : values) items.push_back(Int(value));
  return Tuple(items);
}
inline std::string Call(const std::string& callable, const std::vector<std::string>& arguments) {
  return callable + Tuple(arguments) + "R";
}
using Entries = std::vector<std::pair<std::string, std::string>>;
inline std::string Dict(const Entries& entries) {
  std::string dict = Name("collections", "OrderedDict") + ")R(";
  for (const auto& [key, value] : entries) dict += Word(key) + value;
  return dict + "u";
}
inline std::string Storage(const std::string& type, const std::string& key, int64_t count) {
  return Tuple({Word("storage"), Name("torch", type), Word(key), Word("cpu"), Int(count)}) + "Q";
}
inline std::string Tensor(const std::string& storage, int64_t first, const std::vector<int64_t>& size,
                          const std::vector<int64_t>& strides) {
  return Call(Name("torch._utils", "_rebuild_tensor_v2"),
              {storage, Int(first), Ints(size), Ints(strides), "\x89", Dict({})});
}
inline std::string Pickled(const std::string& value) { return "\x80\x02" + value + "."; }

// Stored entries. `method` 8 claims that they are compressed; `wide` writes sizes and offsets as zip64.
inline std::string Zip(const Entries& entries, uint16_t method = 0, bool wide = false) {
  std::string file, directory;
  for (const auto& [name, bytes] : entries) {
    const uint64_t at = file.size(), size = bytes.size();
    const std::string sizes = wide ? Little(UINT32_MAX) + Little(UINT32_MAX)
                                   : Little(static_cast<uint32_t>(size)) + Little(static_cast<uint32_t>(size));
    const std::string extra =
        wide ? Little(uint16_t{1}) + Little(uint16_t{24}) + Little(size) + Little(size) + Little(at) : std::string();
    const std::string head = Little(uint16_t{0}) + Little(method) + std::string(4, '\0') + std::string(4, '\0') +
                             sizes + Little(static_cast<uint16_t>(name.size()));
    // Data begin at multiples of 64, as in torch's files.
    const size_t data = (file.size() + 30 + name.size() + 4 + 63) / 64 * 64;
    const auto padding = static_cast<uint16_t>(data - file.size() - 30 - name.size() - 4);
    file += "PK\3\4" + Little(uint16_t{0}) + head + Little(static_cast<uint16_t>(padding + 4)) + name + "FB" +
            Little(padding) + std::string(padding, 'Z') + bytes;
    directory += "PK\1\2" + Little(uint32_t{0}) + head + Little(static_cast<uint16_t>(extra.size())) +
                 std::string(10, '\0') + (wide ? Little(UINT32_MAX) : Little(static_cast<uint32_t>(at))) + name + extra;
  }
  const uint64_t start = file.size(), count = entries.size(), size = directory.size();
  file += directory;
  if (wide) {
    const uint64_t end = file.size();
    file += "PK\6\6" + Little(uint64_t{44}) + std::string(12, '\0') + Little(count) + Little(count) + Little(size) +
            Little(start) + "PK\6\7" + Little(uint32_t{0}) + Little(end) + Little(uint32_t{1});
  }
  const auto few = static_cast<uint16_t>(wide ? UINT16_MAX : count);
  return file + "PK\5\6" + Little(uint32_t{0}) + Little(few) + Little(few) +
         Little(wide ? UINT32_MAX : static_cast<uint32_t>(size)) +
         Little(wide ? UINT32_MAX : static_cast<uint32_t>(start)) + Little(uint16_t{0});
}

// The zip form of an object, and the bytes of its storages by key.
inline std::string ZipForm(const std::string& object, const Entries& storages, const std::string& byteorder = "little",
                           uint16_t method = 0, bool wide = false) {
  Entries entries = {{"archive/data.pkl", Pickled(object)}, {"archive/byteorder", byteorder}};
  for (const auto& [key, bytes] : storages) entries.emplace_back("archive/data/" + key, bytes);
  entries.emplace_back("archive/version", "3\n");
  return Zip(entries, method, wide);
}

// The legacy form. Storages: key, number of elements, bytes.
struct LegacyStorage {
  std::string key;
  int64_t count;
  std::string bytes;
};
inline std::string LegacyForm(const std::string& object, const std::vector<LegacyStorage>& storages) {
  std::string file = Pickled("\x8a\x0al\xfc\x9c\x46\xf9\x20j\xa8P\x19") + Pickled(Int(1001)) +
                     Pickled("}(" + Word("little_endian") + "\x88" + "u") + Pickled(object);
  std::string keys = "](";
  for (const LegacyStorage& storage : storages) keys += Word(storage.key);
  file += Pickled(keys + "e");
  for (const LegacyStorage& storage : storages) file += Little(storage.count) + storage.bytes;
  return file;
}

// A state dictionary of f32 tensors, one storage each.
struct Floats {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;
};
inline std::string StateDictFile(const std::vector<Floats>& tensors) {
  Entries entries, storages;
  for (const Floats& tensor : tensors) {
    const std::string key = std::to_string(storages.size());
    std::vector<int64_t> size(tensor.shape.begin(), tensor.shape.end()), strides(size.size());
    int64_t stride = 1;
    for (size_t i = size.size(); i > 0; --i) strides[i - 1] = std::exchange(stride, stride * size[i - 1]);
    entries.emplace_back(tensor.name, Tensor(Storage("FloatStorage", key, static_cast<int64_t>(tensor.values.size())),
                                             0, size, strides));
    storages.emplace_back(key, BytesOf(tensor.values));
  }
  return ZipForm(Dict(entries), storages);
}

}  // namespace fovea::test::torch

#endif  // FOVEA_TESTS_SUPPORT_TORCH_WRITER_H_
