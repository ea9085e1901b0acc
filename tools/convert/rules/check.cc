#include "tools/convert/rules/check.h"

#include <algorithm>

#include "runtime/blob/attribute_names.h"
#include "tools/base/half.h"
#include "tools/base/json.h"

namespace fovea::tools {
void Check::Selection(size_t of, size_t indices) const {
  const BlobSpace& space = spaces()[in(indices).space];
  if (in(indices).type != DType::kI32 || HoldsIds(indices) || space.source != in(of).space) {
    Fail("{} holds no rows selected from space {}", in(indices).name, spaces()[in(of).space].name);
  }
}

void Check::SameWidth(size_t a, size_t b) const {
  if (in(a).width != in(b).width) Fail("{} is {} wide, {} is {}", in(a).name, in(a).width, in(b).name, in(b).width);
}

void Check::Vector(size_t i, uint32_t width) const {
  if (Has(i)) Shape(i, 1, width);
}

void Check::Shape(size_t i, uint32_t rows, uint32_t width) const {
  const BlobTensor& t = tensor(i);
  if (t.rows != rows || t.width != width) {
    Fail("tensor {} is [{}, {}], [{}, {}] is needed", t.name, t.rows, t.width, rows, width);
  }
}

void Check::SameSpace(size_t a, size_t b) const {
  if (in(a).space != in(b).space) {
    Fail("{} has rows of space {}, {} of space {}", in(a).name, spaces()[in(a).space].name, in(b).name,
         spaces()[in(b).space].name);
  }
}

void Check::SameShape(size_t a, size_t b) const {
  SameSpace(a, b);
  SameWidth(a, b);
}

uint32_t Check::Number(Attribute key, std::optional<uint32_t> absent) {
  const Json* json = Take(key);
  if (json == nullptr) return Default(key, absent);
  const auto value = static_cast<uint32_t>(WholeNumber(*json, NameOf(key)));
  result_.attributes.push_back({static_cast<uint32_t>(key), value});
  return value;
}

bool Check::Flag(Attribute key, bool absent) {
  const Json* json = Take(key);
  if (json == nullptr) return absent;
  const bool value = TrueOrFalse(*json, NameOf(key));
  result_.attributes.push_back({static_cast<uint32_t>(key), value ? 1u : 0u});
  return value;
}

std::optional<float> Check::Real(Attribute key, bool required) {
  const Json* json = Take(key);
  if (json == nullptr) {
    if (required) Fail("{} is missing", NameOf(key));
    return std::nullopt;
  }
  const auto value = static_cast<float>(RealNumber(*json, NameOf(key)));
  result_.attributes.push_back({static_cast<uint32_t>(key), BitsOf(value)});
  return value;
}

void Check::NoOtherAttributes() const {
  for (const auto& given : call_.operation->attributes.items()) {
    if (std::none_of(taken_.begin(), taken_.end(), [&](Attribute key) { return given.key() == NameOf(key); })) {
      Fail("{} has no attribute {}", call_.operation->op, given.key());
    }
  }
}

void Check::Result(uint32_t space, uint64_t width) {
  if (width == 0 || width > kMaxWidth) Fail("a width of {} is out of range", width);
  result_.space = space;
  result_.width = static_cast<uint32_t>(width);
}

const Json* Check::Take(Attribute key) {
  taken_.push_back(key);
  const auto found = call_.operation->attributes.find(NameOf(key));
  return found == call_.operation->attributes.end() ? nullptr : &*found;
}

uint32_t Check::Default(Attribute key, std::optional<uint32_t> absent) const {
  if (!absent) Fail("{} is missing", NameOf(key));
  return *absent;
}

}  // namespace fovea::tools
