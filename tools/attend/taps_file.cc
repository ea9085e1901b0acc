// Safetensors files of taps.
#include "tools/attend/taps_file.h"

#include <math.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tools/attend/record_json.h"
#include "tools/attend/record_reader.h"
#include "tools/base/fail.h"
#include "tools/safetensors/metadata.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {
namespace {

constexpr size_t kMostTaps = 16384;
constexpr size_t kMostDepth = 8;  // nesting of spaces

class Reader {
 public:
  Reader(const uint8_t* data, uint64_t size, const std::string& where)
      : where_(where),
        tensors_(ParseSafetensors(data, size, where)),
        metadata_(ParseSafetensorsMetadata(data, size, where)) {}

  AttentionRecord Read() {
    if (Metadata("fovea_taps") != "1") Fail("{}: fovea_taps is {}, expected 1", where_, Shown(Metadata("fovea_taps")));
    const auto found = metadata_.find("record");
    if (found != metadata_.end()) {
      const std::string name = where_ + ": record";
      const Json json = ParseJson(found->second, name);
      record_ = RecordFromJson(JsonView(json, name));
    } else {
      record_.title = "Attention of program " + Metadata("program");
    }
    const auto taps =
        static_cast<size_t>(WholeNumberIn(Metadata("taps"), where_ + ": taps", {0, static_cast<int64_t>(kMostTaps)}));
    for (size_t tap = 0; tap < taps; ++tap) AddStep(tap);
    if (record_.steps.empty()) Fail("{}: the file contains no taps", where_);
    return std::move(record_);
  }

 private:
  const std::string& Metadata(const std::string& key) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) Fail("{}: metadata {} is missing", where_, key);
    return found->second;
  }
  std::string MetadataOr(const std::string& key, const std::string& absent) const {
    const auto found = metadata_.find(key);
    return found == metadata_.end() ? absent : found->second;
  }

  const StoredTensor& Tensor(const std::string& name, ElementType type, size_t rank) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) Fail("{}: no tensor {}", where_, name);
    const StoredTensor& tensor = found->second;
    if (tensor.type != type || tensor.shape.size() != rank) {
      Fail("{}: tensor {}: {} {}, expected {} of {} dimensions", where_, name, ElementName(tensor.type),
           ShapeText(tensor.shape), ElementName(type), rank);
    }
    return tensor;
  }

  std::vector<uint32_t> Numbers(const std::string& name) const {
    std::vector<uint32_t> numbers;
    for (const int64_t number : ToIntegers(Tensor(name, ElementType::kI32, 1))) {
      if (number < 0) Fail("{}: tensor {}: {} is negative", where_, name, number);
      numbers.push_back(static_cast<uint32_t>(number));
    }
    return numbers;
  }

  // Adds a space of that name after its parents.
  uint32_t Space(const std::string& name, size_t depth = 0) {
    for (size_t i = 0; i < record_.spaces.size(); ++i) {
      if (record_.spaces[i].name == name) return static_cast<uint32_t>(i);
    }
    if (depth == kMostDepth) Fail("{}: spaces are nested more than {} deep at {}", where_, kMostDepth, name);
    const std::string parent = Metadata("parent." + name);
    RecordSpace space;
    space.name = name;
    if (!parent.empty()) space.parent = static_cast<int>(Space(parent, depth + 1));
    space.offsets = Numbers(name + ".offsets");
    CheckSpace(record_.spaces, space, fmt::format("{}: tensor {}.offsets", where_, name));
    record_.spaces.push_back(std::move(space));
    return static_cast<uint32_t>(record_.spaces.size() - 1);
  }

  void AddStep(size_t tap) {
    const std::string key = fmt::format("tap.{}.", tap);
    RecordStep step;
    step.name = Metadata(key + "step");
    if (!names_.insert(step.name).second) Fail("{}: two taps have the name {}", where_, step.name);
    step.query_space = Space(Metadata(key + "query_space"));
    step.key_space = Space(Metadata(key + "key_space"));
    ReadHeads(key, &step);
    const std::string keeps = Metadata(key + "keeps");
    if (keeps != "weights" && keeps != "scores") Fail("{}: {}keeps is {}", where_, key, Shown(keeps));
    step.scores = keeps == "scores";
    step.rows = Numbers(step.name + ".query_rows");
    for (size_t i = 0; i < step.rows.size(); ++i) {
      if (step.rows[i] >= record_.spaces[step.query_space].count() || (i > 0 && step.rows[i] <= step.rows[i - 1])) {
        Fail("{}: tensor {}.query_rows: row {} is {}; rows must ascend and be below {}", where_, step.name, i,
             step.rows[i], record_.spaces[step.query_space].count());
      }
    }
    tensors_.count(step.name + ".line_offsets") != 0 ? ReadSparse(&step) : ReadDense(&step);
    CheckWeights(step);
    step.part = MetadataOr(key + "part", PartOf(step));
    const uint32_t ordinal = layers_[step.part]++;
    const std::string layer = MetadataOr(key + "layer", std::to_string(NumberOf(step.name).value_or(ordinal)));
    step.layer = static_cast<uint32_t>(WholeNumberIn(layer, where_ + ": " + key + "layer", {0, 1 << 20}));
    step.causal = MetadataOr(key + "causal", "0") == "1";
    record_.steps.push_back(std::move(step));
  }

  std::string PartOf(const RecordStep& step) const {
    const int parent = record_.spaces[step.key_space].parent;
    if (parent == static_cast<int>(step.query_space)) return "pool";
    if (step.query_space != step.key_space) return "cross";
    return step.name.rfind("decoder", 0) == 0 ? "decoder" : "encoder";
  }

  void ReadHeads(const std::string& key, RecordStep* step) const {
    std::istringstream words(Metadata(key + "heads"));
    for (std::string word; words >> word;) {
      const auto head = static_cast<uint32_t>(WholeNumberIn(word, where_ + ": " + key + "heads", {0, 65535}));
      if (!step->heads.empty() && head <= step->heads.back()) Fail("{}: {}heads must ascend", where_, key);
      step->heads.push_back(head);
    }
    const std::string reduce = Metadata(key + "reduce");
    if (reduce != "none" && reduce != "mean" && reduce != "max") {
      Fail("{}: {}reduce is {}", where_, key, Shown(reduce));
    }
    if (reduce == "none" && step->heads.empty()) Fail("{}: {}heads must not be empty", where_, key);
    if (reduce == "none") return;
    step->reduced = reduce;
    step->heads.clear();
  }

  // The keys of each row; checks that the row has a segment of keys.
  std::vector<std::pair<uint32_t, uint32_t>> KeysOfRows(const RecordStep& step) const {
    std::vector<std::pair<uint32_t, uint32_t>> keys;
    const std::vector<uint32_t>& offsets = record_.spaces[step.key_space].offsets;
    for (const uint32_t row : step.rows) {
      const uint32_t segment = record_.KeySegment(step, row);
      keys.emplace_back(offsets[segment], offsets[segment + 1]);
    }
    return keys;
  }

  void ReadDense(RecordStep* step) const {
    const StoredTensor& tensor = Tensor(step->name + ".weights", ElementType::kF32, 3);
    if (tensor.shape[0] != step->rows.size() || tensor.shape[1] != step->line_heads()) {
      Fail("{}: tensor {}.weights: {}, expected [{}, {}, keys]", where_, step->name, ShapeText(tensor.shape),
           step->rows.size(), step->line_heads());
    }
    const std::vector<float> all = ToFloats(tensor);
    const auto keys = KeysOfRows(*step);
    step->line_offsets = {0};
    for (size_t line = 0; line < step->lines(); ++line) {
      const auto [begin, end] = keys[line / step->line_heads()];
      if (end - begin > tensor.shape[2]) {
        Fail("{}: tensor {}.weights: {} for {} keys", where_, step->name, ShapeText(tensor.shape), end - begin);
      }
      const auto from = all.begin() + static_cast<ptrdiff_t>(line * tensor.shape[2]);
      step->weights.insert(step->weights.end(), from, from + static_cast<ptrdiff_t>(end - begin));
      step->line_offsets.push_back(step->weights.size());
    }
  }

  void ReadSparse(RecordStep* step) const {
    step->form = StepForm::kSparse;
    step->keys = Numbers(step->name + ".keys");
    step->weights = ToFloats(Tensor(step->name + ".weights", ElementType::kF32, 1));
    const std::vector<int64_t> offsets = ToIntegers(Tensor(step->name + ".line_offsets", ElementType::kI64, 1));
    if (step->keys.size() != step->weights.size() || offsets.size() != step->lines() + 1 || offsets[0] != 0 ||
        offsets.back() != static_cast<int64_t>(step->keys.size()) || !std::is_sorted(offsets.begin(), offsets.end())) {
      Fail("{}: tensor {}.line_offsets: must ascend from 0 to {} over {} lines", where_, step->name, step->keys.size(),
           step->lines());
    }
    step->line_offsets.assign(offsets.begin(), offsets.end());
    const auto keys = KeysOfRows(*step);
    for (size_t line = 0; line < step->lines(); ++line) {
      const auto [begin, end] = keys[line / step->line_heads()];
      for (uint64_t i = step->line_offsets[line]; i < step->line_offsets[line + 1]; ++i) {
        const bool ascends = i == step->line_offsets[line] || step->keys[i] > step->keys[i - 1];
        if (step->keys[i] >= begin && step->keys[i] < end && ascends) continue;
        Fail("{}: tensor {}.keys: entry {} is {}; keys of a line must ascend from {} to {}", where_, step->name, i,
             step->keys[i], begin, end);
      }
    }
  }

  void CheckWeights(const RecordStep& step) const {
    for (size_t i = 0; i < step.weights.size(); ++i) {
      const bool hidden = step.scores && step.weights[i] == -std::numeric_limits<float>::infinity();
      if (!isfinite(step.weights[i]) && !hidden) {
        Fail("{}: tensor {}.weights: number {} is {}", where_, step.name, i, step.weights[i]);
      }
    }
  }

  const std::string where_;
  const StoredTensors tensors_;
  const SafetensorsMetadata metadata_;
  AttentionRecord record_;
  std::set<std::string> names_;
  std::map<std::string, uint32_t> layers_;
};

// Prefixes of tensor names: of steps with equal names the later ones get a numeric suffix.
std::vector<std::string> TensorNames(const AttentionRecord& record) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (size_t i = 0; i < record.steps.size(); ++i) {
    std::string name = record.steps[i].name;
    if (!known.insert(name).second) name += fmt::format("#{}", i);
    known.insert(name);
    names.push_back(name);
  }
  return names;
}

std::vector<int32_t> Narrow(const std::vector<uint32_t>& numbers) { return {numbers.begin(), numbers.end()}; }

}  // namespace

AttentionRecord ParseTapsFile(const uint8_t* data, uint64_t size, const std::string& where) {
  return Reader(data, size, where).Read();
}

AttentionRecord ReadTapsFile(const std::string& path) {
  const MappedFile file(path);
  return ParseTapsFile(file.data(), file.size(), path);
}

std::string TapsFileOf(const AttentionRecord& record) {
  SafetensorsWriter writer;
  std::vector<std::pair<std::string, std::string>> metadata;
  const std::vector<std::string> names = TensorNames(record);
  metadata.emplace_back("fovea_taps", "1");
  metadata.emplace_back("program", "");
  metadata.emplace_back("taps", std::to_string(record.steps.size()));
  const auto add_numbers = [&](const std::string& name, const std::vector<uint32_t>& numbers) {
    writer.Add(name, ElementType::kI32, {numbers.size()}, Narrow(numbers).data());
  };
  // Tensors of 8-byte numbers first, so that all are aligned.
  for (size_t i = 0; i < record.steps.size(); ++i) {
    const RecordStep& step = record.steps[i];
    if (step.form == StepForm::kDense) continue;
    const std::vector<int64_t> offsets(step.line_offsets.begin(), step.line_offsets.end());
    writer.AddIntegers(names[i] + ".line_offsets", {offsets.size()}, offsets.data());
  }
  for (size_t i = 0; i < record.steps.size(); ++i) {
    const RecordStep& step = record.steps[i];
    const std::string key = fmt::format("tap.{}.", i);
    metadata.emplace_back(key + "step", names[i]);
    metadata.emplace_back(key + "query_space", record.spaces[step.query_space].name);
    metadata.emplace_back(key + "key_space", record.spaces[step.key_space].name);
    metadata.emplace_back(key + "heads", fmt::format("{}", fmt::join(step.heads, " ")));
    metadata.emplace_back(key + "reduce", step.reduced.empty() ? "none" : step.reduced);
    metadata.emplace_back(key + "keeps", step.scores ? "scores" : "weights");
    metadata.emplace_back(key + "part", step.part);
    metadata.emplace_back(key + "layer", std::to_string(step.layer));
    metadata.emplace_back(key + "causal", step.causal ? "1" : "0");
    if (step.form == StepForm::kDense) {
      uint64_t longest = 0;
      for (size_t line = 0; line < step.lines(); ++line) {
        longest = std::max(longest, step.line_offsets[line + 1] - step.line_offsets[line]);
      }
      std::vector<float> weights(step.lines() * longest);
      for (size_t line = 0; line < step.lines(); ++line) {
        std::copy(step.weights.begin() + static_cast<ptrdiff_t>(step.line_offsets[line]),
                  step.weights.begin() + static_cast<ptrdiff_t>(step.line_offsets[line + 1]),
                  weights.begin() + static_cast<ptrdiff_t>(line * longest));
      }
      writer.AddFloats(names[i] + ".weights", {step.rows.size(), step.line_heads(), longest}, weights.data());
    } else {
      add_numbers(names[i] + ".keys", step.keys);
      writer.AddFloats(names[i] + ".weights", {step.weights.size()}, step.weights.data());
    }
    add_numbers(names[i] + ".query_rows", step.rows);
  }
  for (const RecordSpace& space : record.spaces) {
    add_numbers(space.name + ".offsets", space.offsets);
    const auto parent = static_cast<size_t>(std::max(0, space.parent));
    metadata.emplace_back("parent." + space.name, space.parent < 0 ? "" : record.spaces[parent].name);
  }
  AttentionRecord without = record;
  without.steps.clear();
  metadata.emplace_back("record", RecordText(without));
  return WithMetadata(writer.Bytes(), metadata);
}

}  // namespace fovea::tools
