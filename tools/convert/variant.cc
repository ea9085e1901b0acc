// One model for inputs of several sizes.
#include "tools/convert/variant.h"

#include <string.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

auto Fields(const Space& s) {
  return std::tie(s.name, s.parent, s.extends, s.by, s.each, s.selects, s.at_most, s.strides, s.first, s.last, s.keeps,
                  s.window);
}
auto Fields(const Input& i) { return std::tie(i.name, i.space, i.ids, i.width, i.carried, i.type, i.heads); }
auto Fields(const Operation& o) { return std::tie(o.op, o.in, o.tensors, o.out, o.attributes, o.name, o.space); }

template <typename Record>
bool Same(const std::vector<Record>& a, const std::vector<Record>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Record& x, const Record& y) { return Fields(x) == Fields(y); });
}

bool Same(const Program& a, const Program& b) {
  return Same(a.inputs, b.inputs) && Same(a.operations, b.operations) && a.outputs == b.outputs && a.of == b.of &&
         a.from == b.from && a.to == b.to && a.steps == b.steps;
}

bool Same(const Constant& a, const Constant& b) {
  if (a.rows != b.rows || a.width != b.width || a.indices != b.indices || a.shortest != b.shortest) return false;
  const std::vector<float> x = a.load(), y = b.load();
  return x.size() == y.size() && memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

class Joiner {
 public:
  Joiner(const Description& variant, const std::string& label, Description& description)
      : variant_(variant), end_("." + label), description_(description) {}

  void Join() {
    for (const std::string& name : variant_.weights.Computed()) AddTensor(name);
    for (const Space& space : variant_.spaces) AddSpace(space);
    for (const Program& program : variant_.programs) AddProgram(program);
    for (const auto& [key, value] : variant_.metadata) AddMetadata(key, value);
    for (const std::string& warning : variant_.warnings) {
      std::vector<std::string>& all = description_.warnings;
      if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
    }
  }

 private:
  static std::string Renamed(const std::map<std::string, std::string>& names, const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  }

  void AddTensor(const std::string& name) {
    Weights& weights = description_.weights;
    const Constant constant = variant_.weights.Get(name);
    if (weights.Has(name)) {
      if (Same(weights.Get(name), constant)) return;
      tensors_[name] = name + end_;
    }
    weights.Add(Renamed(tensors_, name), constant);
  }

  void AddSpace(Space space) {
    for (std::string* name : {&space.parent, &space.extends, &space.selects, &space.strides, &space.keeps}) {
      *name = Renamed(spaces_, *name);
    }
    const auto same_name = [&](const Space& known) { return known.name == space.name; };
    const auto known = std::find_if(description_.spaces.begin(), description_.spaces.end(), same_name);
    if (known != description_.spaces.end()) {
      if (Fields(*known) == Fields(space)) return;
      spaces_[space.name] = space.name + end_;
      space.name += end_;
    }
    description_.spaces.push_back(space);
  }

  void AddProgram(Program program) {
    for (Input& input : program.inputs) input.space = Renamed(spaces_, input.space);
    for (Operation& operation : program.operations) {
      for (std::string& tensor : operation.tensors) tensor = Renamed(tensors_, tensor);
      operation.space = Renamed(spaces_, operation.space);
    }
    program.of = Renamed(programs_, program.of);
    const auto same_name = [&](const Program& known) { return known.name == program.name; };
    const auto known = std::find_if(description_.programs.begin(), description_.programs.end(), same_name);
    if (known != description_.programs.end()) {
      if (Same(*known, program)) return;
      programs_[program.name] = program.name + end_;
      program.name += end_;
    }
    description_.programs.push_back(std::move(program));
  }

  void AddMetadata(const std::string& key, const std::string& value) {
    const auto known = description_.metadata_index.find(key);
    if (known == description_.metadata_index.end()) return description_.SetMetadata(key, value);
    if (description_.metadata[known->second].second == value) return;
    for (const auto& [was, name] : programs_) description_.SetMetadata(name + ":" + key, value);
  }

  const Description& variant_;
  const std::string end_;
  Description& description_;
  std::map<std::string, std::string> tensors_, spaces_, programs_;  // by their names in the variant
};

}  // namespace

void AddVariant(const Description& variant, const std::string& label, Description& description) {
  Joiner(variant, label, description).Join();
}

}  // namespace fovea::tools
