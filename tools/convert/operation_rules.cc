// What every operation takes and makes. To add one: its shape rule and its row in kRules.
#include "tools/convert/operation_rules.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "tools/base/fail.h"
#include "tools/base/half.h"

namespace fovea::tools {
namespace {

struct AttributeInfo {
  const char* name;
  Attribute key;
  AttributeType type;
};
constexpr AttributeInfo kAttributes[] = {
#define FOVEA_ATTRIBUTE(number, name, Name, type) {#name, Attribute::k##Name, AttributeType::k##type},
#include "runtime/blob/attribute_list.inc"
#undef FOVEA_ATTRIBUTE
};

// The names of an enumeration, in the order of their numbers.
using Names = std::initializer_list<const char*>;
const Names kActivations = {"none", "relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"};
const Names kNorms = {"layer", "rms"};
const Names kPools = {"first", "last", "mean", "max", "mean_sqrt"};
const Names kPatterns = {"full", "window", "none"};
const Names kScores = {"dot", "distance", "additive"};
const Names kSelections = {"nonzero", "threshold", "best", "first"};

// One call under check.
class Check {
 public:
  Check(const OperationCall& call, OperationResult& result) : call_(call), result_(result) {}

  // ---- inputs and tensors ----
  const BlobValue& in(size_t i) const { return call_.inputs[i]; }
  size_t in_count() const { return call_.inputs.size(); }
  bool Has(size_t i) const { return i < call_.tensors.size() && call_.tensors[i] != nullptr; }
  const BlobTensor& tensor(size_t i) const { return *call_.tensors[i]; }
  size_t tensor_count() const { return call_.tensors.size(); }
  uint32_t Parent(uint32_t space) const { return (*call_.spaces)[space].parent; }
  const std::vector<BlobSpace>& spaces() const { return *call_.spaces; }
  const std::string& space_wanted() const { return call_.operation->space; }

  // The one space that fits, of those with the name that the operation wants, if it wants one.
  template <typename Fits>
  uint32_t OneSpace(const Fits& fits, const std::string& what) const {
    std::vector<uint32_t> fitting;
    for (uint32_t i = 0; i < spaces().size(); ++i) {
      const bool wanted = space_wanted().empty() || space_wanted() == spaces()[i].name;
      if (wanted && fits(spaces()[i])) fitting.push_back(i);
    }
    if (fitting.size() != 1) Fail("{} spaces {}; one is needed, or \"space\" must say which", fitting.size(), what);
    return fitting[0];
  }
  // Input `indices` was made by select, of the space of input `of`.
  void Selection(size_t of, size_t indices) const {
    const BlobSpace& space = spaces()[in(indices).space];
    if (in(indices).type != DType::kI32 || in(indices).role == ValueRole::kInput || space.source != in(of).space) {
      Fail("{} holds no rows selected from space {}", in(indices).name, spaces()[in(of).space].name);
    }
  }
  void SameWidth(size_t a, size_t b) const {
    if (in(a).width != in(b).width) Fail("{} is {} wide, {} is {}", in(a).name, in(a).width, in(b).name, in(b).width);
  }

  void Vector(size_t i, uint32_t width) const {
    if (Has(i)) Shape(i, 1, width);
  }
  void Shape(size_t i, uint32_t rows, uint32_t width) const {
    const BlobTensor& t = tensor(i);
    if (t.rows != rows || t.width != width) {
      Fail("tensor {} is [{}, {}], [{}, {}] is needed", t.name, t.rows, t.width, rows, width);
    }
  }
  void SameSpace(size_t a, size_t b) const {
    if (in(a).space != in(b).space) {
      Fail("{} has rows of space {}, {} of space {}", in(a).name, spaces()[in(a).space].name, in(b).name,
           spaces()[in(b).space].name);
    }
  }
  void SameShape(size_t a, size_t b) const {
    SameSpace(a, b);
    SameWidth(a, b);
  }

  // ---- attributes: written where given, else the default ----
  uint32_t Number(Attribute key, std::optional<uint32_t> absent) {
    const Json* json = Take(key);
    if (json == nullptr) return Default(key, absent);
    uint32_t value = 0;
    if (json->is_boolean()) {
      value = json->get<bool>() ? 1 : 0;
    } else if (json->is_number_unsigned() && json->get<uint64_t>() <= UINT32_MAX) {
      value = json->get<uint32_t>();
    } else {
      Fail("{} must be a whole number, not {}", NameOf(key), json->dump());
    }
    result_.attributes.push_back({static_cast<uint32_t>(key), value});
    return value;
  }
  void Number(Attribute key) { Number(key, 0); }
  uint32_t Choice(Attribute key, const Names& names, std::optional<uint32_t> absent) {
    const Json* json = Take(key);
    if (json == nullptr) return Default(key, absent);
    const auto found = std::find_if(names.begin(), names.end(), [&](const char* name) { return *json == name; });
    if (found == names.end()) Fail("{} must be one of {}, not {}", NameOf(key), fmt::join(names, ", "), json->dump());
    const auto value = static_cast<uint32_t>(found - names.begin());
    result_.attributes.push_back({static_cast<uint32_t>(key), value});
    return value;
  }
  void Real(Attribute key, bool required = false) {
    const Json* json = Take(key);
    if (json == nullptr) {
      if (required) Fail("{} is missing", NameOf(key));
      return;
    }
    if (!json->is_number()) Fail("{} must be a number, not {}", NameOf(key), json->dump());
    result_.attributes.push_back({static_cast<uint32_t>(key), BitsOf(json->get<float>())});
  }
  // To be called last.
  void NoOtherAttributes() const {
    for (const auto& [name, value] : call_.operation->attributes.items()) {
      if (std::none_of(taken_.begin(), taken_.end(), [&](Attribute key) { return name == NameOf(key); })) {
        Fail("{} has no attribute {}", call_.operation->op, name);
      }
    }
  }

  void Result(uint32_t space, uint64_t width) {
    if (width == 0 || width > kMaxWidth) Fail("a width of {} is out of range", width);
    result_.space = space;
    result_.width = static_cast<uint32_t>(width);
  }
  void ResultIsIndices() { result_.type = DType::kI32; }
  void MatricesMayBeQuantized() { result_.tensors_are_matrices = true; }

 private:
  static const char* NameOf(Attribute key) {
    return std::find_if(std::begin(kAttributes), std::end(kAttributes), [&](auto& info) { return info.key == key; })
        ->name;
  }
  const Json* Take(Attribute key) {
    taken_.push_back(key);
    const auto found = call_.operation->attributes.find(NameOf(key));
    return found == call_.operation->attributes.end() ? nullptr : &*found;
  }
  uint32_t Default(Attribute key, std::optional<uint32_t> absent) const {
    if (!absent) Fail("{} is missing", NameOf(key));
    return *absent;
  }

  const OperationCall& call_;
  OperationResult& result_;
  std::vector<Attribute> taken_;
};

void Embed(Check& c) {
  if (c.in_count() != c.tensor_count()) Fail("{} ids and {} tables", c.in_count(), c.tensor_count());
  for (size_t i = 0; i < c.in_count(); ++i) {
    if (c.in(i).type != DType::kI32 || c.in(i).role != ValueRole::kInput) Fail("{} does not hold ids", c.in(i).name);
    if (!c.Has(i)) Fail("table {} is missing", i);
    c.SameSpace(0, i);
    c.Shape(i, c.tensor(i).rows, c.tensor(0).width);
  }
  c.Real(Attribute::kScale);
  c.MatricesMayBeQuantized();
  c.Result(c.in(0).space, c.tensor(0).width);
}

void Position(Check& c) {
  c.Shape(0, c.tensor(0).rows, c.in(0).width);
  if (c.Number(Attribute::kOffset, 0) >= c.tensor(0).rows)
    Fail("offset lies behind the table's {} rows", c.tensor(0).rows);
  c.Result(c.in(0).space, c.in(0).width);
}

void Linear(Check& c) {
  c.Shape(0, c.tensor(0).rows, c.in(0).width);
  c.Vector(1, c.tensor(0).rows);
  c.Choice(Attribute::kActivation, kActivations, 0);
  c.MatricesMayBeQuantized();
  c.Result(c.in(0).space, c.tensor(0).rows);
}

void Norm(Check& c) {
  const uint32_t heads = c.Number(Attribute::kHeads, 1);
  if (heads == 0 || c.in(0).width % heads != 0) {
    Fail("{} is {} wide, which is not {} heads", c.in(0).name, c.in(0).width, heads);
  }
  c.Vector(0, c.in(0).width / heads);
  c.Vector(1, c.in(0).width / heads);
  const bool rms = c.Choice(Attribute::kKind, kNorms, 0) == 1;
  if (rms && c.Has(1)) Fail("rms norm has no bias");
  c.Real(Attribute::kEpsilon, true);
  if (rms) c.Real(Attribute::kWeightOffset);
  c.Result(c.in(0).space, c.in(0).width);
}

void Add(Check& c) {
  c.SameShape(0, 1);
  c.Result(c.in(0).space, c.in(0).width);
}

void Activate(Check& c) {
  c.Choice(Attribute::kActivation, kActivations, std::nullopt);
  c.Result(c.in(0).space, c.in(0).width);
}

void Gate(Check& c) {
  c.SameShape(0, 1);
  c.Choice(Attribute::kActivation, kActivations, std::nullopt);
  c.Result(c.in(0).space, c.in(0).width);
}

void AttentionRule(Check& c) {
  const uint32_t heads = c.Number(Attribute::kHeads, std::nullopt);
  const uint32_t kv_heads = c.Number(Attribute::kKvHeads, heads);
  if (heads == 0 || kv_heads == 0 || heads % kv_heads != 0) Fail("{} heads cannot share {} kv_heads", heads, kv_heads);
  const BlobValue &q = c.in(0), &k = c.in(1), &v = c.in(2);
  c.SameSpace(1, 2);
  if (q.width % heads != 0) Fail("{} is {} wide, which is not {} heads", q.name, q.width, heads);
  if (uint64_t{k.width} * heads != uint64_t{q.width} * kv_heads) {
    Fail("keys of {} heads, {} wide, do not fit queries of {} heads, {} wide", kv_heads, k.width, heads, q.width);
  }
  if (v.width % kv_heads != 0) Fail("{} is {} wide, which is not {} heads", v.name, v.width, kv_heads);
  const bool paired = q.space == k.space || (c.Parent(q.space) == c.Parent(k.space) && c.Parent(k.space) != kBlobNone);
  if (!paired && q.space != c.Parent(k.space)) {
    Fail("space {} of the queries is neither beside space {} of the keys nor its parent", c.spaces()[q.space].name,
         c.spaces()[k.space].name);
  }
  if (c.Has(0) && (c.tensor(0).rows != heads || c.tensor(0).width % 2 == 0)) {
    Fail("tensor {} is [{}, {}], [{}, an odd number] is needed", c.tensor(0).name, c.tensor(0).rows, c.tensor(0).width,
         heads);
  }
  for (const Attribute key : {Attribute::kScale, Attribute::kCap, Attribute::kSelfScore}) c.Real(key);
  c.Choice(Attribute::kScore, kScores, 0);
  c.Choice(Attribute::kActivation, kActivations, 0);
  if (c.Choice(Attribute::kPattern, kPatterns, 0) == 1) {
    c.Number(Attribute::kLeft);
    c.Number(Attribute::kRight);
  }
  for (const Attribute key : {Attribute::kDilation, Attribute::kBlock, Attribute::kFirst, Attribute::kLast,
                              Attribute::kCausal, Attribute::kFullUpTo, Attribute::kTopK, Attribute::kBlocksByHead,
                              Attribute::kChunk, Attribute::kChunksBefore, Attribute::kChunksAfter}) {
    c.Number(key);
  }
  size_t inputs = 3;  // and those that attributes announce
  for (const Attribute key : {Attribute::kKeyBias, Attribute::kListed, Attribute::kRounds}) {
    inputs += c.Number(key, 0) != 0 ? 1 : 0;
  }
  if (c.in_count() != inputs) Fail("attention with these attributes takes {} inputs, not {}", inputs, c.in_count());
  c.Result(q.space, uint64_t{v.width} / kv_heads * heads);
}

void Rotate(Check& c) {
  const uint32_t heads = c.Number(Attribute::kHeads, std::nullopt);
  if (heads == 0 || c.in(0).width % heads != 0)
    Fail("{} is {} wide, which is not {} heads", c.in(0).name, c.in(0).width, heads);
  if (c.tensor(0).width % 2 != 0 || c.tensor(0).width > c.in(0).width / heads) {
    Fail("a table of {} columns cannot rotate heads of {}", c.tensor(0).width, c.in(0).width / heads);
  }
  if (c.Number(Attribute::kOffset, 0) >= c.tensor(0).rows)
    Fail("offset lies behind the table's {} rows", c.tensor(0).rows);
  c.Number(Attribute::kInterleaved);
  c.Result(c.in(0).space, c.in(0).width);
}

// Made of the first input's space by strides.
uint32_t StridedSpace(Check& c) {
  return c.OneSpace([&](const BlobSpace& s) { return s.kind == SpaceKind::kStrided && s.source == c.in(0).space; },
                    "are made of space " + c.spaces()[c.in(0).space].name + " by strides");
}

void Pool(Check& c) {
  const uint32_t parent = c.Parent(c.in(0).space);
  const bool to_parent =
      c.space_wanted().empty() || (parent != kBlobNone && c.spaces()[parent].name == c.space_wanted());
  if (to_parent && parent == kBlobNone) {
    Fail("space {} has no parent to pool into", c.spaces()[c.in(0).space].name);
  }
  c.Choice(Attribute::kKind, kPools, std::nullopt);
  c.Result(to_parent ? parent : StridedSpace(c), c.in(0).width);
}

void Normalize(Check& c) {
  c.Real(Attribute::kEpsilon, true);
  c.Number(Attribute::kClamp);
  c.Result(c.in(0).space, c.in(0).width);
}

void RowLocal(Check& c) { c.Result(c.in(0).space, c.in(0).width); }

void ScaleRule(Check& c) {
  c.Real(Attribute::kScale, true);
  RowLocal(c);
}

void Prepend(Check& c) {
  c.Shape(0, c.tensor(0).rows, c.in(0).width);
  const auto fits = [&](const BlobSpace& s) {
    return s.kind == SpaceKind::kExtended && s.source == c.in(0).space && s.extra == c.tensor(0).rows;
  };
  const std::string& source = c.spaces()[c.in(0).space].name;
  c.Result(c.OneSpace(fits, fmt::format("extend {} by {} rows", source, c.tensor(0).rows)), c.in(0).width);
}

void Select(Check& c) {
  if (c.in(0).width != 1) Fail("{} is {} wide, 1 is needed", c.in(0).name, c.in(0).width);
  if (c.in(0).type == DType::kI32 && c.in(0).role != ValueRole::kInput) Fail("{} holds row indices", c.in(0).name);
  if (c.Choice(Attribute::kKind, kSelections, std::nullopt) == 1) c.Real(Attribute::kThreshold, true);
  c.ResultIsIndices();
  c.Result(c.OneSpace([&](const BlobSpace& s) { return s.kind == SpaceKind::kSelected && s.source == c.in(0).space; },
                      "select from space " + c.spaces()[c.in(0).space].name),
           1);
}

void Gather(Check& c) {
  c.Selection(0, 1);
  c.Result(c.in(1).space, c.in(0).width);
}

void Merge(Check& c) {
  c.Selection(0, 2);
  c.SameSpace(1, 2);
  c.SameWidth(0, 1);
  c.Result(c.in(0).space, c.in(0).width);
}

// Rows of `space` for each row of `ancestor`; 0 unless it nests in there and all spaces below have fixed segments.
uint64_t RowsBelow(const std::vector<BlobSpace>& spaces, uint32_t space, uint32_t ancestor) {
  uint64_t rows = 1;
  for (; space != ancestor; space = spaces[space].parent) {
    if (space == kBlobNone || spaces[space].kind != SpaceKind::kFixed || rows > kMaxRecords) return 0;
    rows *= spaces[space].extra;
  }
  return rows;
}

void Arrange(Check& c) {
  const BlobTensor& table = c.tensor(0);
  const uint32_t from = c.in(0).space;
  const std::vector<BlobSpace>& spaces = c.spaces();
  if (spaces[from].kind != SpaceKind::kFixed) {
    Fail("space {} has no fixed number of rows in a segment", spaces[from].name);
  }
  // Rows move within a row of the nearest space that both nest in.
  const auto fits = [&](const BlobSpace& s) {
    const auto to = static_cast<uint32_t>(&s - spaces.data());
    for (uint32_t space = spaces[from].parent;; space = spaces[space].parent) {
      const uint64_t rows = space == to ? 0 : RowsBelow(spaces, to, space);
      if (rows != 0) return rows == table.rows;
      if (spaces[space].kind != SpaceKind::kFixed) return false;
    }
  };
  c.Result(c.OneSpace(fits, fmt::format("beside {} have {} rows in each segment", spaces[from].name, table.rows)),
           uint64_t{table.width} * c.in(0).width);
}

void Unfold(Check& c) {
  const uint64_t rows = uint64_t{c.Number(Attribute::kBefore, 0)} + c.Number(Attribute::kAfter, 0) + 1;
  if (rows > kMaxWidth) Fail("{} rows beside each other are too many", rows);
  c.Result(c.space_wanted().empty() ? c.in(0).space : StridedSpace(c), rows * c.in(0).width);
}

void Hash(Check& c) {
  const uint32_t heads = c.Number(Attribute::kHeads, 1), rounds = c.Number(Attribute::kRounds, 1);
  const uint32_t buckets = c.Number(Attribute::kBuckets, std::nullopt), more = c.Number(Attribute::kMoreBuckets, 0);
  if (heads == 0 || c.in(0).width % heads != 0) {
    Fail("{} is {} wide, which is not {} heads", c.in(0).name, c.in(0).width, heads);
  }
  if (buckets == 0 || buckets % 2 != 0 || more % 2 != 0) Fail("{} and {} buckets are not even", buckets, more);
  if (uint64_t{buckets} * std::max(more, 1u) > 65536) Fail("{} x {} buckets are too many", buckets, more);
  c.Shape(0, heads * rounds * (buckets / 2 + more / 2), c.in(0).width / heads);
  c.Result(c.in(0).space, uint64_t{heads} * rounds);
  c.ResultIsIndices();
}

void Sort(Check& c) {
  if (c.in(0).type != DType::kI32) Fail("{} holds no buckets", c.in(0).name);
  c.Result(c.in(0).space, uint64_t{2} * c.in(0).width);
  c.ResultIsIndices();
}

void Concat(Check& c) {
  uint64_t width = 0;
  for (size_t i = 0; i < c.in_count(); ++i) {
    c.SameSpace(0, i);
    width += c.in(i).width;
  }
  c.Result(c.in(0).space, width);
}

struct Rule {
  const char* op;
  size_t min_inputs, max_inputs;
  size_t min_tensors, max_tensors;
  void (*check)(Check&);
  uint32_t ids = 0;      // bit per input that may be i32
  uint32_t indices = 0;  // bit per tensor that is a table of integers
};
constexpr Rule kRules[] = {
    {"embed", 1, kMaxInputs, 1, kMaxTensors, Embed, ~0u},
    {"position", 1, 1, 1, 1, Position},
    {"linear", 1, 1, 1, 2, Linear},
    {"norm", 1, 1, 0, 2, Norm},
    {"add", 2, 2, 0, 0, Add},
    {"activate", 1, 1, 0, 0, Activate},
    {"gate", 2, 2, 0, 0, Gate},
    {"attention", 3, 6, 0, 8, AttentionRule, ~7u, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 7},
    {"rotate", 1, 1, 1, 1, Rotate},
    {"pool", 1, 1, 0, 0, Pool},
    {"normalize", 1, 1, 0, 0, Normalize},
    {"softmax", 1, 1, 0, 0, RowLocal},
    {"scale", 1, 1, 0, 0, ScaleRule},
    {"prepend", 1, 1, 1, 1, Prepend},
    {"select", 1, 1, 0, 0, Select, 1u << 0},
    {"gather", 2, 2, 0, 0, Gather, 1u << 1},
    {"merge", 3, 3, 0, 0, Merge, 1u << 2},
    {"arrange", 1, 1, 1, 1, Arrange, 0, 1u << 0},
    {"unfold", 1, 1, 0, 0, Unfold},
    {"hash", 1, 1, 1, 1, Hash},
    {"sort", 1, 1, 0, 0, Sort, 1u << 0},
    {"concat", 1, kMaxInputs, 0, 0, Concat},
};

constexpr struct {
  const char* name;
  uint32_t code;
} kCodes[] = {
#define FOVEA_OP(number, name, Name) {#name, number},
#include "runtime/ops/op_list.inc"
#undef FOVEA_OP
};
static_assert(std::size(kRules) == std::size(kCodes), "an operation of op_list.inc has no rule here");

}  // namespace

OperationResult CheckOperation(const OperationCall& call) {
  const std::string& op = call.operation->op;
  const auto rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const auto& r) { return op == r.op; });
  const auto code = std::find_if(std::begin(kCodes), std::end(kCodes), [&](const auto& c) { return op == c.name; });
  if (rule == std::end(kRules) || code == std::end(kCodes)) Fail("there is no operation {}", op);
  if (call.inputs.size() < rule->min_inputs || call.inputs.size() > rule->max_inputs) {
    Fail("{} inputs, {} to {} are needed", call.inputs.size(), rule->min_inputs, rule->max_inputs);
  }
  if (call.tensors.size() < rule->min_tensors || call.tensors.size() > rule->max_tensors) {
    Fail("{} tensors, {} to {} are needed", call.tensors.size(), rule->min_tensors, rule->max_tensors);
  }
  for (size_t i = 0; i < rule->min_tensors; ++i) {
    if (call.tensors[i] == nullptr) Fail("tensor {} is missing", i);
  }
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].type == DType::kI32 && ((rule->ids >> i) & 1) == 0) {
      Fail("{} holds ids, which {} does not take there", call.inputs[i].name, op);
    }
  }
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const BlobTensor* tensor = call.tensors[i];
    const bool indices = ((rule->indices >> i) & 1) != 0;
    if (tensor != nullptr && (tensor->type == DType::kI32) != indices) {
      Fail("tensor {} holds {}", tensor->name, indices ? "no indices" : "indices");
    }
  }
  OperationResult result;
  result.code = code->code;
  Check check(call, result);
  rule->check(check);
  check.NoOtherAttributes();
  return result;
}

}  // namespace fovea::tools
