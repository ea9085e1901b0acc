// The instructions of Lib/pickle.py and Lib/pickletools.py of CPython that protocols 2 to 5 write. Values are in one
// array and refer to each other by index, so depth and cycles cost nothing.
#include "tools/torch/pickle.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr uint64_t kMostBytes = uint64_t{64} << 20;
constexpr size_t kMostValues = size_t{1} << 21;  // a checkpoint of 1,000 tensors has about 20,000
constexpr uint64_t kMostInstructions = uint64_t{1} << 24;
constexpr size_t kMostName = 256;
constexpr uint32_t kMark = UINT32_MAX;

class Machine {
 public:
  Machine(const uint8_t* data, uint64_t size, const std::string& where)
      : data_(data), size_(std::min(size, kMostBytes)), where_(where) {}

  Pickle Run() {
    for (uint64_t count = 0; count < kMostInstructions; ++count) {
      const uint8_t code = Byte();
      if (code == '.') {
        pickle_.root = Pop();
        pickle_.bytes = at_;
        return std::move(pickle_);
      }
      Step(code);
    }
    Fault("has too many instructions");
  }

 private:
  [[noreturn]] void Fault(const std::string& what) const { Fail("{}: pickle at byte {}: {}", where_, at_, what); }

  const uint8_t* Take(uint64_t count) {
    if (count > size_ - at_) Fault(fmt::format("{} bytes are missing at the end", count - (size_ - at_)));
    at_ += count;
    return data_ + at_ - count;
  }
  uint8_t Byte() { return *Take(1); }
  uint64_t Number(size_t bytes) {
    const uint8_t* from = Take(bytes);
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; ++i) number |= uint64_t{from[i]} << 8 * i;
    return number;
  }
  std::string_view View(uint64_t count) {
    const uint8_t* from = Take(count);
    return {reinterpret_cast<const char*>(from), static_cast<size_t>(count)};
  }
  std::string_view Line() {
    const auto* end = static_cast<const uint8_t*>(memchr(data_ + at_, '\n', size_ - at_));
    if (end == nullptr) Fault("a line has no end");
    const std::string_view line = View(static_cast<uint64_t>(end - (data_ + at_)));
    ++at_;
    return line;
  }

  void Push(uint32_t index) {
    if (stack_.size() >= kMostValues) Fault("the stack is too deep");
    stack_.push_back(index);
  }
  uint32_t New(PickleKind kind) {
    if (pickle_.values.size() >= kMostValues) Fault("has too many values");
    pickle_.values.emplace_back();
    pickle_.values.back().kind = kind;
    return static_cast<uint32_t>(pickle_.values.size() - 1);
  }
  PickleValue& PushNew(PickleKind kind) {
    const uint32_t index = New(kind);
    Push(index);
    return pickle_.values[index];
  }
  void PushInteger(int64_t value, PickleKind kind = PickleKind::kInteger) { PushNew(kind).integer = value; }
  void PushText(PickleKind kind, uint64_t count) {
    const std::string_view text = View(count);
    PushNew(kind).text = text;
  }
  uint32_t Pop() {
    if (stack_.empty() || stack_.back() == kMark) Fault("takes a value that is not there");
    const uint32_t top = stack_.back();
    stack_.pop_back();
    return top;
  }
  uint32_t Top() {
    const uint32_t top = Pop();
    stack_.push_back(top);
    return top;
  }
  // The values above the last mark, which is removed.
  std::vector<uint32_t> PopMarked() {
    size_t first = stack_.size();
    while (first > 0 && stack_[first - 1] != kMark) --first;
    if (first == 0) Fault("a mark is missing");
    std::vector<uint32_t> items(stack_.begin() + static_cast<ptrdiff_t>(first), stack_.end());
    stack_.resize(first - 1);
    return items;
  }
  std::vector<uint32_t> PopSome(size_t count) {
    std::vector<uint32_t> items(count);
    for (size_t i = count; i > 0; --i) items[i - 1] = Pop();
    return items;
  }

  void Long(uint64_t count) {
    const std::string_view bytes = View(count);
    if (count > 8) {
      PushNew(PickleKind::kBytes).text = bytes;
      return;
    }
    uint64_t number = 0;
    for (size_t i = 0; i < count; ++i) number |= uint64_t{static_cast<uint8_t>(bytes[i])} << 8 * i;
    const bool negative = count > 0 && count < 8 && (static_cast<uint8_t>(bytes[count - 1]) & 0x80) != 0;
    if (negative) number |= ~uint64_t{0} << 8 * count;
    PushInteger(static_cast<int64_t>(number));
  }
  void Real() {
    const uint8_t* from = Take(8);
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i) bits = bits << 8 | from[i];
    double value;
    memcpy(&value, &bits, 8);
    PushNew(PickleKind::kFloat).real = value;
  }

  uint32_t NewName(std::string_view module, std::string_view name) {
    if (module.size() > kMostName || name.size() > kMostName) Fault("a name of Python is too long");
    const uint32_t index = New(PickleKind::kName);
    pickle_.values[index].integer = static_cast<int64_t>(pickle_.names.size());
    pickle_.names.push_back(fmt::format("{}.{}", module, name));
    return index;
  }
  void StackName() {
    const std::vector<uint32_t> parts = PopSome(2);
    for (const uint32_t part : parts) {
      if (pickle_.At(part).kind != PickleKind::kText) Fault("a name of Python is no text");
    }
    Push(NewName(pickle_.At(parts[0]).text, pickle_.At(parts[1]).text));
  }

  // A call of `callable` with a tuple. Dictionaries are made here, as items are added to them.
  void Call(uint32_t callable, uint32_t arguments) {
    if (pickle_.At(arguments).kind != PickleKind::kTuple) Fault("the arguments of a call are no tuple");
    const std::string& name = pickle_.NameOf(callable);
    if (name != "collections.OrderedDict" && name != "builtins.dict" && name != "__builtin__.dict") {
      PushNew(PickleKind::kObject).items = {callable, arguments};
      return;
    }
    std::vector<uint32_t> pairs;
    for (const uint32_t list : pickle_.At(arguments).items) {
      CountAdded(pickle_.At(list).items.size());
      for (const uint32_t pair : pickle_.At(list).items) {
        const std::vector<uint32_t>& two = pickle_.At(pair).items;
        if (two.size() != 2) Fault("a dictionary is made of something else than pairs");
        pairs.insert(pairs.end(), two.begin(), two.end());
      }
      break;
    }
    PushNew(PickleKind::kDict).items = std::move(pairs);
  }
  void CallMarked(bool callable_first) {
    std::vector<uint32_t> items = PopMarked();
    uint32_t callable;
    if (callable_first) {
      if (items.empty()) Fault("a call has no callable");
      callable = items[0];
      items.erase(items.begin());
    } else {
      const std::string_view module = Line(), name = Line();
      callable = NewName(module, name);
    }
    const uint32_t arguments = New(PickleKind::kTuple);
    pickle_.values[arguments].items = std::move(items);
    Call(callable, arguments);
  }

  void CountAdded(size_t items) {
    added_ += items;
    if (added_ > 4 * kMostValues) Fault("has too many items");
  }
  void Add(const std::vector<uint32_t>& items, bool pairs) {
    PickleValue& to = pickle_.values[Top()];
    const bool object = to.kind == PickleKind::kObject;
    if (!object && to.kind != (pairs ? PickleKind::kDict : PickleKind::kList)) Fault("adds items to something else");
    if (pairs && items.size() % 2 != 0) Fault("a key has no value");
    CountAdded(items.size());
    to.items.insert(to.items.end(), items.begin(), items.end());
  }
  void Build() {
    const uint32_t state = Pop();
    PickleValue& object = pickle_.values[Top()];
    if (object.kind == PickleKind::kObject) object.items.push_back(state);
  }

  void Keep(uint64_t slot) {
    const uint32_t top = Top();
    if (slot >= kMostValues) Fault("the number of a kept value is too large");
    if (slot >= kept_.size()) kept_.resize(std::max<size_t>(slot + 1, 2 * kept_.size()), kMark);
    if (kept_[slot] == kMark) ++kept_count_;
    kept_[slot] = top;
  }
  void Fetch(uint64_t slot) {
    if (slot >= kept_.size() || kept_[slot] == kMark) Fault("fetches a value that was not kept");
    Push(kept_[slot]);
  }

  void Step(uint8_t code);

  const uint8_t* data_;
  const uint64_t size_;
  const std::string& where_;
  uint64_t at_ = 0, kept_count_ = 0, added_ = 0;
  Pickle pickle_;
  std::vector<uint32_t> stack_, kept_;
};

void Machine::Step(uint8_t code) {
  using Kind = PickleKind;
  switch (code) {
    case 0x80: {  // PROTO
      const uint8_t protocol = Byte();
      if (protocol < 2 || protocol > 5) Fault(fmt::format("protocol {} is not supported, 2 to 5 are", protocol));
      return;
    }
    case 0x95:  // FRAME: a length that only matters for streams
      Take(8);
      return;
    case '(':
      return Push(kMark);
    case '0':  // POP
      if (!stack_.empty() && stack_.back() == kMark) {
        stack_.pop_back();
      } else {
        Pop();
      }
      return;
    case '1':  // POP_MARK
      PopMarked();
      return;
    case '2':  // DUP
      return Push(Top());
    case 'N':
      PushNew(Kind::kNone);
      return;
    case 0x88:
    case 0x89:
      return PushInteger(code == 0x88, Kind::kBool);
    case 'J':
      return PushInteger(static_cast<int32_t>(Number(4)));
    case 'K':
      return PushInteger(static_cast<int64_t>(Number(1)));
    case 'M':
      return PushInteger(static_cast<int64_t>(Number(2)));
    case 0x8a:
      return Long(Number(1));
    case 0x8b:
      return Long(Number(4));
    case 'G':
      return Real();
    case 'X':
    case 'T':  // BINSTRING of Python 2
      return PushText(Kind::kText, Number(4));
    case 0x8c:
    case 'U':  // SHORT_BINSTRING of Python 2
      return PushText(Kind::kText, Number(1));
    case 0x8d:
      return PushText(Kind::kText, Number(8));
    case 'B':
      return PushText(Kind::kBytes, Number(4));
    case 'C':
      return PushText(Kind::kBytes, Number(1));
    case 0x8e:
    case 0x96:
      return PushText(Kind::kBytes, Number(8));
    case ')':
      PushNew(Kind::kTuple);
      return;
    case ']':
    case 0x8f:
      PushNew(Kind::kList);
      return;
    case '}':
      PushNew(Kind::kDict);
      return;
    case 't':
    case 'l':
    case 0x91: {  // FROZENSET
      std::vector<uint32_t> items = PopMarked();
      PushNew(code == 't' ? Kind::kTuple : Kind::kList).items = std::move(items);
      return;
    }
    case 0x85:
    case 0x86:
    case 0x87: {
      std::vector<uint32_t> items = PopSome(code - 0x84u);
      PushNew(Kind::kTuple).items = std::move(items);
      return;
    }
    case 'd': {
      const std::vector<uint32_t> items = PopMarked();
      PushNew(Kind::kDict);
      return Add(items, true);
    }
    case 'a':
      return Add(PopSome(1), false);
    case 'e':
    case 0x90:
      return Add(PopMarked(), false);
    case 's':
      return Add(PopSome(2), true);
    case 'u':
      return Add(PopMarked(), true);
    case 'q':
      return Keep(Number(1));
    case 'r':
      return Keep(Number(4));
    case 0x94:
      return Keep(kept_count_);
    case 'h':
      return Fetch(Number(1));
    case 'j':
      return Fetch(Number(4));
    case 'c': {
      const std::string_view module = Line(), name = Line();
      return Push(NewName(module, name));
    }
    case 0x93:
      return StackName();
    case 'R':
    case 0x81: {  // NEWOBJ
      const std::vector<uint32_t> parts = PopSome(2);
      return Call(parts[0], parts[1]);
    }
    case 0x92: {  // NEWOBJ_EX
      const std::vector<uint32_t> parts = PopSome(3);
      Call(parts[0], parts[1]);
      PickleValue& made = pickle_.values[Top()];
      if (made.kind == Kind::kObject) made.items.push_back(parts[2]);
      return;
    }
    case 'i':
      return CallMarked(false);
    case 'o':
      return CallMarked(true);
    case 'b':
      return Build();
    case 'Q': {
      const uint32_t id = Pop();
      PushNew(Kind::kReference).items = {id};
      return;
    }
    default:
      Fault(fmt::format("instruction 0x{:02x} is not one that weights need", code));
  }
}

}  // namespace

const std::string& Pickle::NameOf(uint32_t index) const {
  static const std::string none;
  const PickleValue& value = values[index];
  return value.kind == PickleKind::kName ? names[static_cast<size_t>(value.integer)] : none;
}

const PickleValue* Pickle::Find(uint32_t index, std::string_view key) const {
  const PickleValue& dict = values[index];
  if (dict.kind != PickleKind::kDict) return nullptr;
  for (size_t i = dict.items.size(); i > 1; i -= 2) {
    const PickleValue& entry = values[dict.items[i - 2]];
    if (entry.kind == PickleKind::kText && entry.text == key) return &values[dict.items[i - 1]];
  }
  return nullptr;
}

Pickle ParsePickle(const uint8_t* data, uint64_t size, const std::string& where) {
  return Machine(data, size, where).Run();
}

}  // namespace fovea::tools
