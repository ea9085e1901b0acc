// Model descriptions written as JSON.
#include "tools/convert/graph_json.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "runtime/blob/format.h"
#include "runtime/blob/names.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/constants.h"
#include "tools/convert/description_files.h"
#include "tools/convert/operands.h"
#include "tools/convert/sound_constants.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kMaxRepeat = 4096;
constexpr int kMaxNesting = 8;
constexpr WholeRange kTableRows = {1, kMaxRecords}, kTableWidth = {1, kMaxWidth};  // for computed tables

// A JSON object; every key must be read, and NothingElse fails for keys that were not.
class Object {
 public:
  explicit Object(const Json& json, const char* what) : json_(json) {
    if (!json.is_object()) Fail("{} must be an object, not {}", what, Shown(json));
  }

  bool Has(const std::string& key) const { return json_.contains(key); }
  bool IsObject(const std::string& key) const { return Has(key) && json_[key].is_object(); }
  const Json& Get(const std::string& key) {
    asked_.push_back(key);
    const auto found = json_.find(key);
    if (found == json_.end()) Fail("{} is missing", key);
    return *found;
  }
  std::string Text(const std::string& key) { return tools::Text(Get(key), key); }
  std::string Text(const std::string& key, const std::string& absent) { return Has(key) ? Text(key) : absent; }
  uint32_t Number(const std::string& key, WholeRange range = {}) {
    return static_cast<uint32_t>(WholeNumber(Get(key), key, range));
  }
  uint32_t NumberOr(uint32_t absent, const std::string& key, WholeRange range = {}) {
    return Has(key) ? Number(key, range) : absent;
  }
  double Real(const std::string& key, double absent) { return Has(key) ? RealNumber(Get(key), key) : absent; }
  std::vector<Json> List(const std::string& key) {
    if (!Has(key)) return {};
    const Json& value = Get(key);
    if (!value.is_array()) Fail("{} must be a list, not {}", key, Shown(value));
    return value;
  }
  // null becomes an empty string.
  std::vector<std::string> Texts(const std::string& key) {
    std::vector<std::string> texts;
    for (const Json& value : List(key)) {
      if (!value.is_string() && !value.is_null()) Fail("{} must be a list of strings, not {}", key, Shown(value));
      texts.push_back(value.is_null() ? "" : tools::Text(value, key));
    }
    return texts;
  }
  // The keys that were not read.
  Json Rest() const {
    Json rest = Json::object();
    for (const auto& [key, value] : json_.items()) {
      if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) rest[key] = value;
    }
    return rest;
  }
  // Must be called last.
  void NothingElse() const {
    const Json rest = Rest();
    if (!rest.empty()) Fail("{} is not known here", rest.begin().key());
  }

 private:
  const Json& json_;
  std::vector<std::string> asked_;
};

// Runs a step; prefixes the message of a failure with `place`.
template <typename Step>
void At(const std::string& place, const Step& step) {
  try {
    step();
  } catch (const Failure& failure) {
    Fail("{}: {}", place, failure.what());
  }
}

// {"repeat": n, "index": "i", "<key>": [...]} in a list is replaced by n copies of its content. The memory of all
// copies of a description is limited, regardless of how repetitions are nested.
class Repetitions {
 public:
  std::vector<Json> Expand(const std::vector<Json>& list, const std::string& key, int nesting = 0) {
    if (nesting > kMaxNesting) Fail("repetitions are nested more than {} deep", kMaxNesting);
    std::vector<Json> result;
    for (const Json& item : list) {
      if (!item.is_object() || !item.contains("repeat")) {
        result.push_back(item);
        continue;
      }
      Object repetition(item, "a repetition");
      const uint32_t count = repetition.Number("repeat", {0, kMaxRepeat});
      const std::string variable = repetition.Text("index", "i");
      const std::vector<Json> content = repetition.List(key);
      repetition.NothingElse();
      for (uint32_t i = 0; i < count; ++i) {
        Spend(kValueBytes);
        std::vector<Json> copy;
        for (const Json& inner : content) copy.push_back(Substitute(inner, variable, i));
        for (Json& inner : Expand(copy, key, nesting + 1)) result.push_back(std::move(inner));
        if (result.size() > kMaxRecords) Fail("too many repetitions");
      }
    }
    return result;
  }

 private:
  static constexpr size_t kMostBytes = 64u << 20;  // for all copies
  static constexpr size_t kValueBytes = 64;        // for one value, approximate

  void Spend(size_t bytes) {
    if (bytes > left_) Fail("too many repetitions");
    left_ -= bytes;
  }

  // Replaces {i}, {i+N} and {i-N} in every string.
  Json Substitute(const Json& json, const std::string& variable, int64_t number) {
    Spend(kValueBytes);
    if (json.is_string()) {
      const auto& text = json.get_ref<const std::string&>();
      Spend(text.size());
      return Replaced(text, variable, number);
    }
    if (json.is_array()) {
      Json result = Json::array();
      for (const Json& member : json) result.push_back(Substitute(member, variable, number));
      return result;
    }
    if (!json.is_object()) return json;
    Json result = Json::object();
    for (const auto& [key, member] : json.items()) {
      Spend(key.size());
      result[key] = Substitute(member, variable, number);
    }
    return result;
  }

  static std::string Replaced(const std::string& text, const std::string& variable, int64_t number) {
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

  size_t left_ = kMostBytes;
};

Range ReadRange(Object& object, const char* key) {
  const std::vector<Json> ends = object.List(key);
  if (ends.empty()) return {};
  if (ends.size() != 2) Fail("{} must be [begin, end]", key);
  return {static_cast<uint32_t>(WholeNumber(ends[0], key)), static_cast<uint32_t>(WholeNumber(ends[1], key))};
}

// A list of lists of equal length.
Constant ReadIndices(const std::vector<Json>& rows) {
  std::vector<int32_t> indices;
  for (const Json& row : rows) {
    if (!row.is_array() || row.size() != rows[0].size()) Fail("indices must be a list of lists of one length");
    for (const Json& index : row) {
      if (!index.is_number_integer() || index < -1 || index >= kMaxRecords) {
        Fail("{} is not a row index", Shown(index));
      }
      indices.push_back(index);
    }
  }
  const auto count = static_cast<uint32_t>(rows.size());
  return Indices(count, count == 0 ? 0 : static_cast<uint32_t>(rows[0].size()), indices);
}

Constant ReadSinusoidal(const Json& json) {
  Object table(json, "sinusoidal");
  SinusoidalSpec spec;
  spec.rows = table.Number("rows", kTableRows);
  spec.width = table.Number("width", kTableWidth);
  spec.max_timescale = table.Real("max_timescale", spec.max_timescale);
  spec.first = table.NumberOr(0, "first");
  const std::string layout = table.Text("layout", "halves");
  const std::string last = table.Text("last_frequency", "exclusive");
  if (layout != "halves" && layout != "interleaved") Fail("layout must be halves or interleaved, not {}", layout);
  if (last != "exclusive" && last != "inclusive") Fail("last_frequency must be exclusive or inclusive, not {}", last);
  spec.interleaved = layout == "interleaved";
  spec.inclusive = last == "inclusive";
  table.NothingElse();
  return Sinusoidal(spec);
}

Constant ReadRotary(const Json& json) {
  Object table(json, "rotary");
  RotarySpec spec;
  spec.rows = table.Number("rows", kTableRows);
  spec.dims = table.Number("dims", kTableWidth);
  spec.theta = table.Real("theta", spec.theta);
  spec.factor = table.Real("factor", spec.factor);
  table.NothingElse();
  return Rotary(spec);
}

Constant ReadWindow(const Json& json) {
  Object table(json, "window");
  WindowSpec spec;
  spec.length = table.Number("length", {1, kMaxTransform});
  spec.kind = table.Text("kind", spec.kind);
  if (table.Has("periodic")) spec.periodic = TrueOrFalse(table.Get("periodic"), "periodic");
  table.NothingElse();
  return Window(spec);
}

Constant ReadMel(const Json& json) {
  Object table(json, "mel");
  MelSpec spec;
  spec.filters = table.Number("filters", kTableRows);
  spec.size = table.Number("size", {1, kMaxTransform});
  spec.rate = table.Real("rate", spec.rate);
  spec.lowest = table.Real("lowest", spec.lowest);
  spec.highest = table.Real("highest", spec.rate / 2);
  spec.scale = table.Text("scale", spec.scale);
  const std::string sides = table.Text("straight_in", "hertz"), norm = table.Text("norm", "height");
  if (sides != "hertz" && sides != "mel") Fail("straight_in must be hertz or mel, not {}", sides);
  if (norm != "height" && norm != "area") Fail("norm must be height or area, not {}", norm);
  spec.straight_in_mel = sides == "mel";
  spec.area = norm == "area";
  table.NothingElse();
  return MelFilters(spec);
}

Constant ReadCosines(const Json& json) {
  Object table(json, "cosine_transform");
  const uint32_t rows = table.Number("rows", kTableRows), width = table.Number("width", kTableRows);
  table.NothingElse();
  return CosineTransform(rows, width);
}

Constant ReadValues(const std::vector<Json>& list) {
  std::vector<float> values;
  for (const Json& value : list) values.push_back(static_cast<float>(RealNumber(value, "values")));
  const auto count = static_cast<uint32_t>(values.size());
  return Literal(1, count, std::move(values));
}

// Constants by name, and the work of computing them.
struct Source {
  const Weights& weights;
  uint64_t work = 0;

  Constant Get(const std::string& name) {
    work += weights.Work(name);
    return weights.Get(name);
  }
  std::vector<Constant> All(const std::vector<std::string>& names) {
    std::vector<Constant> all;
    for (const std::string& name : names) all.push_back(Get(name));
    return all;
  }
};

// One of sinusoidal, rotary, roots_of_unity, window, mel, cosine_transform, relative_buckets, of, sum, concatenate,
// values, indices.
Constant ReadSource(Object& object, Source& source) {
  if (object.Has("sinusoidal")) return ReadSinusoidal(object.Get("sinusoidal"));
  if (object.Has("rotary")) return ReadRotary(object.Get("rotary"));
  if (object.Has("roots_of_unity")) return RootsOfUnity(object.Number("roots_of_unity", {1, kMaxTransform}));
  if (object.Has("window")) return ReadWindow(object.Get("window"));
  if (object.Has("mel")) return ReadMel(object.Get("mel"));
  if (object.Has("cosine_transform")) return ReadCosines(object.Get("cosine_transform"));
  if (object.Has("sum")) return Sum(source.All(object.Texts("sum")));
  if (object.Has("concatenate")) return Concatenate(source.All(object.Texts("concatenate")));
  if (object.Has("values")) return ReadValues(object.List("values"));
  if (object.Has("indices")) return ReadIndices(object.List("indices"));
  if (!object.Has("relative_buckets")) return source.Get(object.Text("of"));
  Object table(object.Get("relative_buckets"), "relative_buckets");
  const Constant made = RelativeBuckets(source.Get(table.Text("of")), table.Number("max_distance", kTableRows));
  table.NothingElse();
  return made;
}

Shortest ReadShortest(const std::string& type) {
  if (type == "f32") return Shortest::kF32;
  if (type == "f16") return Shortest::kF16;
  if (type == "int8") return Shortest::kInt8;
  Fail("keep must be f32, f16 or int8, not {}", type);
}

// A source, then transpose, rows / columns, parts, reshape, scale in this order, and the types it may be stored as.
Constant ReadConstant(Object& object, Source& source) {
  Constant constant = ReadSource(object, source);
  if (object.Has("transpose") && TrueOrFalse(object.Get("transpose"), "transpose")) constant = Transpose(constant);
  const Range rows = ReadRange(object, "rows"), columns = ReadRange(object, "columns");
  if (rows.end != 0 || columns.end != 0) constant = Slice(constant, rows, columns);
  std::vector<uint32_t> order;
  for (const Json& part : object.List("parts")) order.push_back(static_cast<uint32_t>(WholeNumber(part, "parts")));
  if (!order.empty()) constant = Parts(constant, order);
  const std::vector<Json> shape = object.List("reshape");
  if (!shape.empty()) {
    if (shape.size() != 2) Fail("reshape must be [rows, width]");
    constant = Reshape(constant, static_cast<uint32_t>(WholeNumber(shape[0], "reshape")),
                       static_cast<uint32_t>(WholeNumber(shape[1], "reshape")));
  }
  if (object.Has("scale")) constant = Scale(constant, static_cast<float>(object.Real("scale", 1)));
  if (object.Has("keep")) {
    if (constant.indices) Fail("keep cannot be combined with indices");
    constant.shortest = ReadShortest(object.Text("keep"));
  }
  return constant;
}

// A list in the order of the operands, or an object by their names.
std::vector<std::string> ReadOperands(Object& object, const char* key, const std::vector<Operand>* operands) {
  if (!object.IsObject(key)) return object.Texts(key);
  if (operands == nullptr) Fail("{} names operands of an unknown operation", key);
  NamedOperands named;
  for (const auto& [name, value] : object.Get(key).items()) {
    if (!value.is_string()) Fail("{}.{} must be the name of a value or tensor", key, name);
    named.emplace_back(name, value.get<std::string>());
  }
  return InOrder(*operands, named);
}

Operation ReadOperation(const Json& json) {
  Object object(json, "an operation");
  Operation operation;
  operation.op = object.Text("op");
  const std::optional<OpCode> code = OperationNamed(operation.op);
  operation.in = ReadOperands(object, "in", code ? &InputsOf(*code) : nullptr);
  operation.tensors = ReadOperands(object, "tensors", code ? &TensorsOf(*code) : nullptr);
  operation.out = object.Text("out");
  operation.name = object.Text("name", "");
  operation.space = object.Text("space", "");
  operation.attributes = object.Rest();
  return operation;
}

// Other names of values: alias -> name.
using Aliases = std::map<std::string, std::string>;

// An output that the description lists by an alias has the alias as its name in the blob, where callers look it up. The
// operation that computes it keeps its name.
void NameOutputs(Program& program, Aliases& aliases) {
  Aliases names;  // former name of such a value -> new name
  for (std::string& output : program.outputs) {
    const auto alias = aliases.find(output);
    if (alias == aliases.end()) continue;
    const auto is_it = [&](const Input& input) { return input.name == alias->second; };
    if (std::any_of(program.inputs.begin(), program.inputs.end(), is_it)) {
      Fail("program {}: output {} is the input {}", program.name, output, alias->second);
    }
    const auto [name, is_new] = names.emplace(alias->second, output);
    if (!is_new) Fail("program {}: outputs {} and {} are one value", program.name, name->second, output);
  }
  if (names.empty()) return;
  const auto rename = [&](std::string& name) {
    const auto found = names.find(name);
    if (found != names.end()) name = found->second;
  };
  for (Operation& operation : program.operations) {
    for (std::string& in : operation.in) rename(in);
    if (names.count(operation.out) != 0 && operation.name.empty()) operation.name = operation.out;
    rename(operation.out);
  }
  for (std::string& output : program.outputs) rename(output);
  for (auto& [alias, name] : aliases) rename(name);
  for (const auto& [old, name] : names) {
    aliases.erase(name);
    aliases[old] = name;
  }
}

// The element type of an input, by name: i32 or a type of numbers.
// Fails with the list of names for any other name.
DType InputType(const std::string& name) {
  std::vector<const char*> names;
  for (const DType type : {DType::kI32, DType::kF32, DType::kF16, DType::kBf16, DType::kI8}) {
    names.push_back(NameOf(type));
    if (name == names.back()) return type;
  }
  Fail("type must be one of {}, not {}", fmt::join(names, ", "), name);
}

Program ReadProgram(const Json& json, std::map<std::string, Aliases>& aliases_of) {  // aliases by program name
  Object object(json, "a program");
  Program program;
  program.name = object.Text("name");
  Aliases& aliases = aliases_of[program.name];
  const auto resolve = [&](std::string& name) {
    const auto found = aliases.find(name);
    if (found != aliases.end()) name = found->second;
  };
  if (object.Has("of")) {
    program.of = object.Text("of");
    if (program.of.empty()) Fail("program {}: of must name another program", program.name);
    program.from = object.Texts("from");
    program.to = object.Texts("to");
    aliases = aliases_of[program.of];
    for (std::vector<std::string>* names : {&program.from, &program.to}) {
      for (std::string& name : *names) resolve(name);
    }
    At("program " + program.name, [&] { object.NothingElse(); });
    return program;
  }
  for (const Json& item : object.List("inputs")) {
    Object input(item, "an input");
    const DType type = InputType(input.Text("type", "f32"));
    const bool ids = type == DType::kI32;
    program.inputs.push_back({input.Text("name"), input.Text("space"), ids,
                              ids ? input.NumberOr(1, "width") : input.Number("width", {1, kMaxWidth}),
                              input.Text("carried", ""), ids ? DType::kF32 : type,
                              type == DType::kI8 ? input.NumberOr(1, "heads") : 0});
    input.NothingElse();
  }
  const std::vector<Json> operations = Repetitions().Expand(object.List("operations"), "operations");
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
  NameOutputs(program, aliases);
  for (Input& input : program.inputs) resolve(input.carried);
  object.NothingElse();
  return program;
}

void ReadMetadata(const Json& json, DescriptionFiles& files, Description& description) {
  Object object(json, "metadata");
  std::vector<std::string> labels;
  if (object.Has("labels")) labels = ReadLabels({object.Get("labels"), "labels"}, files);
  const std::string side = object.Text("pad_side", "");
  if (!side.empty() && side != "left" && side != "right") Fail("pad_side must be left or right, not {}", side);
  if (!side.empty()) description.SetMetadata("pad_side", side);
  const Json others = object.Rest();
  for (const auto& [key, value] : others.items()) {
    description.SetMetadata(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  for (size_t i = 0; i < labels.size(); ++i) description.SetMetadata(fmt::format("label.{}", i), labels[i]);
}

Description ReadDescription(const Json& json, DescriptionFiles& files) {
  Description description;
  Object object(json, "a description");
  if (object.Number("fovea") != 1) Fail("this converter reads version 1 of descriptions");
  if (object.Has("metadata")) At("metadata", [&] { ReadMetadata(object.Get("metadata"), files, description); });
  for (const std::string& file : object.Texts("weights")) description.weights.AddFile(files.PathOf(file));
  description.directory = files.TokenizerFolder();
  if (object.Has("tokenizer")) {
    description.tokenizer = object.Get("tokenizer");
    const JsonView tokenizer(description.tokenizer, "tokenizer");
    if (!tokenizer.IsNull()) description.directory = files.FolderOf(tokenizer["file"].Text());
  }
  description.max_length = object.NumberOr(0, "max_length");
  for (const Json& item : object.List("spaces")) {
    At("spaces", [&] {
      Object space(item, "a space");
      description.spaces.push_back({space.Text("name"), space.Text("parent", ""), space.Text("extends", ""),
                                    space.NumberOr(0, "by"), space.NumberOr(0, "each"), space.Text("selects", ""),
                                    space.NumberOr(0, "at_most"), space.Text("strides", ""), space.NumberOr(0, "first"),
                                    space.NumberOr(0, "last"), space.Text("keeps", ""), space.NumberOr(0, "window")});
      space.NothingElse();
    });
  }
  for (const Json& item : Repetitions().Expand(object.List("constants"), "constants")) {
    Object constant(item, "a constant");
    const std::string name = constant.Text("name");
    At("constant " + name, [&] {
      Source parts = {description.weights};
      Constant made = ReadConstant(constant, parts);
      description.weights.Add(name, std::move(made), parts.work);
      constant.NothingElse();
    });
  }
  std::map<std::string, Aliases> aliases;
  for (const Json& item : object.List("programs")) description.programs.push_back(ReadProgram(item, aliases));
  object.NothingElse();
  description.warnings = files.warnings();
  return description;
}

}  // namespace

Description ParseGraph(const std::string& text, const std::string& directory, const std::string& where,
                       const std::string& source) {
  Description description;
  At(where, [&] {
    DescriptionFiles files(directory, source);
    const Json json = ParseJson(text, "description", /*comments=*/true);
    description = ReadDescription(json, files);
  });
  return description;
}

Description ReadGraph(const std::string& path, const std::string& source) {
  return ParseGraph(ReadFile(path), Utf8Path(path).parent_path().string(), path, source);
}

}  // namespace fovea::tools
