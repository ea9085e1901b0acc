// Model descriptions written as JSON.
#include "tools/convert/graph_json.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMaxRepeat = 4096;
constexpr int kMaxNesting = 8;

// An object of which every key must be asked for.
class Object {
 public:
  explicit Object(const Json& json, const char* what) : json_(json) {
    if (!json.is_object()) Fail("{} must be an object, not {}", what, json.dump());
  }

  bool Has(const std::string& key) const { return json_.contains(key); }
  const Json& Get(const std::string& key) {
    asked_.push_back(key);
    const auto found = json_.find(key);
    if (found == json_.end()) Fail("{} is missing", key);
    return *found;
  }
  std::string Text(const std::string& key) {
    const Json& value = Get(key);
    if (!value.is_string()) Fail("{} must be a string, not {}", key, value.dump());
    return value;
  }
  std::string Text(const std::string& key, const std::string& absent) { return Has(key) ? Text(key) : absent; }
  uint32_t Number(const std::string& key) {
    const Json& value = Get(key);
    if (!value.is_number_unsigned() || value.get<uint64_t>() > UINT32_MAX) {
      Fail("{} must be a whole number, not {}", key, value.dump());
    }
    return value;
  }
  uint32_t Number(const std::string& key, uint32_t absent) { return Has(key) ? Number(key) : absent; }
  double Real(const std::string& key, double absent) {
    if (!Has(key)) return absent;
    const Json& value = Get(key);
    if (!value.is_number()) Fail("{} must be a number, not {}", key, value.dump());
    return value;
  }
  std::vector<Json> List(const std::string& key) {
    if (!Has(key)) return {};
    const Json& value = Get(key);
    if (!value.is_array()) Fail("{} must be a list, not {}", key, value.dump());
    return value;
  }
  // null becomes an empty string.
  std::vector<std::string> Texts(const std::string& key) {
    std::vector<std::string> texts;
    for (const Json& value : List(key)) {
      if (!value.is_string() && !value.is_null()) Fail("{} must be a list of strings, not {}", key, value.dump());
      texts.push_back(value.is_null() ? "" : value.get<std::string>());
    }
    return texts;
  }
  // What was not asked for.
  Json Rest() const {
    Json rest = Json::object();
    for (const auto& [key, value] : json_.items()) {
      if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) rest[key] = value;
    }
    return rest;
  }
  // To be called last.
  void NothingElse() const {
    const Json rest = Rest();
    if (!rest.empty()) Fail("{} is not known here", rest.begin().key());
  }

 private:
  const Json& json_;
  std::vector<std::string> asked_;
};

// Runs a step; its failure says where it happened.
template <typename Step>
void At(const std::string& place, const Step& step) {
  try {
    step();
  } catch (const Failure& failure) {
    Fail("{}: {}", place, failure.what());
  }
}

// Replaces {i}, {i+N} and {i-N} in every string.
Json Substitute(const Json& json, const std::string& variable, int64_t number) {
  if (json.is_string()) {
    const std::string text = json;
    std::string result;
    for (size_t at = 0; at < text.size();) {
      const size_t open = text.find('{' + variable, at);
      const size_t close = open == std::string::npos ? open : text.find('}', open);
      if (close == std::string::npos) return result + text.substr(at);
      const std::string offset = text.substr(open + 1 + variable.size(), close - open - 1 - variable.size());
      const bool is_offset =
          offset.empty() ||
          ((offset[0] == '+' || offset[0] == '-') && offset.size() > 1 && offset.size() < 8 &&
           std::all_of(offset.begin() + 1, offset.end(), [](char c) { return c >= '0' && c <= '9'; }));
      result += text.substr(at, open - at);
      result += is_offset ? std::to_string(number + (offset.empty() ? 0 : std::stoll(offset)))
                          : text.substr(open, close + 1 - open);
      at = close + 1;
    }
    return result;
  }
  Json result = json;
  if (json.is_structured()) {
    for (Json& member : result) member = Substitute(member, variable, number);
  }
  return result;
}

// A list in which {"repeat": n, "index": "i", "<key>": [..]} stands for n copies of its content.
std::vector<Json> Expand(const std::vector<Json>& list, const std::string& key, int nesting = 0) {
  if (nesting > kMaxNesting) Fail("repetitions are nested more than {} deep", kMaxNesting);
  std::vector<Json> result;
  for (const Json& item : list) {
    if (!item.is_object() || !item.contains("repeat")) {
      result.push_back(item);
      continue;
    }
    Object repetition(item, "a repetition");
    const uint32_t count = repetition.Number("repeat");
    const std::string variable = repetition.Text("index", "i");
    const std::vector<Json> content = repetition.List(key);
    repetition.NothingElse();
    if (count > kMaxRepeat) Fail("more than {} repetitions", kMaxRepeat);
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<Json> copy;
      for (const Json& inner : content) copy.push_back(Substitute(inner, variable, i));
      for (Json& inner : Expand(copy, key, nesting + 1)) result.push_back(std::move(inner));
      if (result.size() > kMaxRecords) Fail("too many repetitions");
    }
  }
  return result;
}

Range ReadRange(Object& object, const char* key) {
  const std::vector<Json> ends = object.List(key);
  if (ends.empty()) return {};
  if (ends.size() != 2 || !ends[0].is_number_unsigned() || !ends[1].is_number_unsigned())
    Fail("{} must be [begin, end]", key);
  return {ends[0], ends[1]};
}

// A list of lists of one length.
Constant ReadIndices(const std::vector<Json>& rows) {
  std::vector<int32_t> indices;
  for (const Json& row : rows) {
    if (!row.is_array() || row.size() != rows[0].size()) Fail("indices must be a list of lists of one length");
    for (const Json& index : row) {
      if (!index.is_number_integer() || index < -1 || index > INT32_MAX) Fail("{} is no index of a row", index.dump());
      indices.push_back(index);
    }
  }
  const auto count = static_cast<uint32_t>(rows.size());
  return Indices(count, count == 0 ? 0 : static_cast<uint32_t>(rows[0].size()), indices);
}

// One of sinusoidal, rotary, relative_buckets, of, sum, concatenate, values, indices; then transpose, rows / columns,
// parts, reshape, scale in this order.
Constant ReadConstant(Object& object, const Weights& weights) {
  Constant constant;
  const auto all = [&](const char* key) {
    std::vector<Constant> parts;
    for (const std::string& name : object.Texts(key)) parts.push_back(weights.Get(name));
    return parts;
  };
  if (object.Has("sinusoidal")) {
    Object table(object.Get("sinusoidal"), "sinusoidal");
    SinusoidalSpec spec;
    spec.rows = table.Number("rows");
    spec.width = table.Number("width");
    spec.max_timescale = table.Real("max_timescale", spec.max_timescale);
    spec.first = table.Number("first", 0);
    const std::string layout = table.Text("layout", "halves");
    const std::string last = table.Text("last_frequency", "exclusive");
    if (layout != "halves" && layout != "interleaved") Fail("layout must be halves or interleaved, not {}", layout);
    if (last != "exclusive" && last != "inclusive") Fail("last_frequency must be exclusive or inclusive, not {}", last);
    spec.interleaved = layout == "interleaved";
    spec.inclusive = last == "inclusive";
    table.NothingElse();
    constant = Sinusoidal(spec);
  } else if (object.Has("rotary")) {
    Object table(object.Get("rotary"), "rotary");
    RotarySpec spec;
    spec.rows = table.Number("rows");
    spec.dims = table.Number("dims");
    spec.theta = table.Real("theta", spec.theta);
    spec.factor = table.Real("factor", spec.factor);
    table.NothingElse();
    constant = Rotary(spec);
  } else if (object.Has("relative_buckets")) {
    Object table(object.Get("relative_buckets"), "relative_buckets");
    constant = RelativeBuckets(weights.Get(table.Text("of")), table.Number("max_distance"));
    table.NothingElse();
  } else if (object.Has("sum")) {
    constant = Sum(all("sum"));
  } else if (object.Has("concatenate")) {
    constant = Concatenate(all("concatenate"));
  } else if (object.Has("values")) {
    std::vector<float> values;
    for (const Json& value : object.List("values")) {
      if (!value.is_number()) Fail("values must be numbers, not {}", value.dump());
      values.push_back(value);
    }
    const auto count = static_cast<uint32_t>(values.size());
    constant = Literal(1, count, std::move(values));
  } else if (object.Has("indices")) {
    constant = ReadIndices(object.List("indices"));
  } else {
    constant = weights.Get(object.Text("of"));
  }
  if (object.Has("transpose") && object.Get("transpose") == true) constant = Transpose(constant);
  const Range rows = ReadRange(object, "rows"), columns = ReadRange(object, "columns");
  if (rows.end != 0 || columns.end != 0) constant = Slice(constant, rows, columns);
  const std::vector<Json> parts = object.List("parts");
  if (!parts.empty()) {
    std::vector<uint32_t> order;
    for (const Json& part : parts) {
      if (!part.is_number_unsigned() || part > UINT32_MAX) Fail("parts must be whole numbers, not {}", part.dump());
      order.push_back(part);
    }
    constant = Parts(constant, order);
  }
  const std::vector<Json> shape = object.List("reshape");
  if (!shape.empty()) {
    if (shape.size() != 2 || !shape[0].is_number_unsigned() || !shape[1].is_number_unsigned())
      Fail("reshape must be [rows, width]");
    constant = Reshape(constant, shape[0], shape[1]);
  }
  if (object.Has("scale")) constant = Scale(constant, static_cast<float>(object.Real("scale", 1)));
  return constant;
}

Operation ReadOperation(const Json& json) {
  Object object(json, "an operation");
  Operation operation;
  operation.op = object.Text("op");
  operation.in = object.Texts("in");
  operation.tensors = object.Texts("tensors");
  operation.out = object.Text("out");
  operation.name = object.Text("name", "");
  operation.space = object.Text("space", "");
  operation.attributes = object.Rest();
  return operation;
}

Program ReadProgram(const Json& json) {
  Object object(json, "a program");
  Program program;
  program.name = object.Text("name");
  for (const Json& item : object.List("inputs")) {
    Object input(item, "an input");
    const std::string type = input.Text("type", "f32");
    if (type != "i32" && type != "f32") Fail("type must be i32 or f32, not {}", type);
    const bool ids = type == "i32";
    program.inputs.push_back({input.Text("name"), input.Text("space"), ids,
                              ids ? input.Number("width", 1) : input.Number("width"), input.Text("carried", "")});
    input.NothingElse();
  }
  // Other names of values.
  std::map<std::string, std::string> aliases;
  const auto resolve = [&](std::string& name) {
    const auto found = aliases.find(name);
    if (found != aliases.end()) name = found->second;
  };
  const std::vector<Json> operations = Expand(object.List("operations"), "operations");
  for (size_t i = 0; i < operations.size(); ++i) {
    At(fmt::format("program {}, operation {}", program.name, i), [&] {
      if (operations[i].is_object() && operations[i].contains("alias")) {
        Object alias(operations[i], "an alias");
        std::string of = alias.Text("of");
        resolve(of);
        if (!aliases.emplace(alias.Text("alias"), of).second) Fail("alias {} is given twice", alias.Text("alias"));
        alias.NothingElse();
        return;
      }
      program.operations.push_back(ReadOperation(operations[i]));
      for (std::string& name : program.operations.back().in) resolve(name);
    });
  }
  program.outputs = object.Texts("outputs");
  for (std::string& name : program.outputs) resolve(name);
  for (Input& input : program.inputs) resolve(input.carried);
  object.NothingElse();
  return program;
}

void ReadMetadata(const Json& json, Description& description) {
  Object object(json, "metadata");
  const std::vector<std::string> labels = object.Texts("labels");
  const Json others = object.Rest();
  for (const auto& [key, value] : others.items()) {
    description.SetMetadata(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  for (size_t i = 0; i < labels.size(); ++i) description.SetMetadata(fmt::format("label.{}", i), labels[i]);
}

Description ReadDescription(const Json& json, const std::string& source) {
  Description description;
  description.directory = source;
  Object object(json, "a description");
  if (object.Number("fovea") != 1) Fail("this converter reads version 1 of descriptions");
  if (object.Has("metadata")) At("metadata", [&] { ReadMetadata(object.Get("metadata"), description); });
  for (const std::string& file : object.Texts("weights")) {
    description.weights.AddFile((fs::path(source) / file).string());
  }
  if (object.Has("tokenizer")) description.tokenizer = object.Get("tokenizer");
  description.max_length = object.Number("max_length", 0);
  for (const Json& item : object.List("spaces")) {
    At("spaces", [&] {
      Object space(item, "a space");
      description.spaces.push_back({space.Text("name"), space.Text("parent", ""), space.Text("extends", ""),
                                    space.Number("by", 0), space.Number("each", 0), space.Text("selects", ""),
                                    space.Number("at_most", 0), space.Text("strides", ""), space.Number("first", 0),
                                    space.Number("last", 0)});
      space.NothingElse();
    });
  }
  for (const Json& item : Expand(object.List("constants"), "constants")) {
    Object constant(item, "a constant");
    const std::string name = constant.Text("name");
    At("constant " + name, [&] {
      description.weights.Add(name, ReadConstant(constant, description.weights));
      constant.NothingElse();
    });
  }
  for (const Json& item : object.List("programs")) description.programs.push_back(ReadProgram(item));
  object.NothingElse();
  return description;
}

}  // namespace

Description ParseGraph(const std::string& text, const std::string& source, const std::string& where) {
  Description description;
  At(where, [&] {
    Json json;
    try {
      json = Json::parse(text, nullptr, true, /*ignore_comments=*/true);
    } catch (const Json::exception& error) {
      Fail("not JSON: {}", error.what());
    }
    description = ReadDescription(json, source);
  });
  return description;
}

Description ReadGraph(const std::string& path, const std::string& source) {
  const std::string beside = fs::path(path).parent_path().string();
  return ParseGraph(ReadFile(path), source.empty() ? (beside.empty() ? "." : beside) : source, path);
}

}  // namespace fovea::tools
