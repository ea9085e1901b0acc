#include "tests/fuzz/conversion_files.h"

#include <string.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace fovea::fuzz {
namespace {

using Json = nlohmann::ordered_json;

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

class JsonMutator {
 public:
  JsonMutator(Json& root, Random& random) : root_(root), random_(random) { Collect(root_, 0); }

  void Mutate() {
    Json& at = Any();
    switch (random_.Below(12)) {
      case 0:
        at = Value();
        break;
      case 1: {
        const Json copy = Any();
        at = copy;
        break;
      }
      case 2:
        at = Json::array({at});
        break;
      case 3:
      case 4:
        Remove(at);
        break;
      case 5:
        Add(at);
        break;
      default:
        Change(Leaf());
    }
  }

 private:
  void Collect(Json& at, int depth) {
    nodes_.push_back(&at);
    if (depth > 40 || nodes_.size() > 20000) return;
    for (Json& child : at) {
      if (at.is_structured()) Collect(child, depth + 1);
    }
  }
  Json& Any() { return *random_.Pick(nodes_); }
  Json& Leaf() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      Json& at = Any();
      if (at.is_primitive()) return at;
    }
    return Any();
  }

  Json Number() {
    switch (random_.Below(8)) {
      case 0:
        return random_.Float();
      case 1:
        return -static_cast<int64_t>(random_.Number());
      case 2:
        return 1.5;
      case 3:
        return static_cast<uint64_t>(random_.Number()) + (uint64_t{1} << 32);
      case 4:
        return 1e300;
      case 5:
        return uint64_t{1} << random_.Below(64);
      default:
        return random_.Number();
    }
  }
  Json Value() {
    switch (random_.Below(9)) {
      case 0:
        return nullptr;
      case 1:
        return random_.OneIn(2);
      case 2:
        return Json::array();
      case 3:
        return Json::object();
      case 4:
        return Text();
      case 5: {
        Json deep = Json::array();
        for (uint32_t left = random_.Below(random_.OneIn(4) ? 300 : 5); left > 0; --left) deep = Json::array({deep});
        return deep;
      }
      default:
        return Number();
    }
  }
  std::string Text() {
    static const std::string kTexts[] = {"",          "a",
                                         "[UNK]",     "tokens",
                                         "texts",     std::string("a\0b", 3),
                                         "\xc3\xa9",  "\xf0\x9f\x98\x80",
                                         "../x",      "model.safetensors",
                                         "\x1b[0m\n", "0.0.0",
                                         "gelu",      "relu",
                                         "none",      "1e9",
                                         "-1",        std::string(5000, 'x')};
    const Json& other = Leaf();
    return other.is_string() && random_.OneIn(2) ? other.get<std::string>() : random_.Pick(kTexts);
  }
  void Change(Json& at) {
    if (at.is_number()) {
      at = random_.OneIn(12) ? Value() : Number();
    } else if (at.is_boolean()) {
      at = random_.OneIn(12) ? Value() : Json(!at.get<bool>());
    } else {
      at = random_.OneIn(6) ? Value() : Json(Text());
    }
  }
  void Remove(Json& at) {
    if (!at.is_structured() || at.empty()) return;
    at.erase(std::next(at.begin(), random_.Below(at.size())));
  }
  void Add(Json& at) {
    const Json copy = Any();
    if (at.is_array()) {
      const Json again = at.empty() ? Value() : at[random_.Below(at.size())];
      at.insert(at.begin() + random_.Below(at.size() + 1), random_.OneIn(2) ? copy : again);
    } else if (at.is_object()) {
      const Json& keys = Any();
      const std::string key =
          keys.is_object() && !keys.empty() ? std::next(keys.begin(), random_.Below(keys.size())).key() : Text();
      at[key] = random_.OneIn(2) ? copy : Value();
    }
  }

  Json& root_;
  Random& random_;
  std::vector<Json*> nodes_;
};

// The largest number of open brackets, counting brackets in strings.
size_t Depth(const std::string& text) {
  size_t depth = 0, most = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return most;
}

// The text with some changes; the text itself if it is no JSON, or nested deeper than is written again.
std::string MutateJson(const std::string& text, Random& random) {
  if (Depth(text) > 1000) return text;
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return text;
  for (uint32_t left = 1 + random.Below(3); left > 0; --left) JsonMutator(json, random).Mutate();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A length of eight bytes, a header of JSON, data.
std::string MutateSafetensors(const std::string& bytes, Random& random) {
  uint64_t size = 0;
  if (bytes.size() < sizeof(size)) return bytes;
  memcpy(&size, bytes.data(), sizeof(size));
  if (size > bytes.size() - sizeof(size)) return bytes;
  const std::string header = MutateJson(bytes.substr(sizeof(size), size), random);
  size = random.OneIn(20) ? random.Next() >> random.Below(64) : header.size();
  std::string mutant(reinterpret_cast<const char*>(&size), sizeof(size));
  return mutant + header + bytes.substr(std::min(bytes.size(), sizeof(size) + size));
}

// Changes single bytes and moves pieces: fields of a protocol buffer with their lengths.
std::string MutatePieces(std::string bytes, Random& random) {
  for (uint32_t left = 1 + random.Below(3); left > 0 && !bytes.empty(); --left) {
    const size_t at = random.Below(random.OneIn(2) ? std::min<size_t>(bytes.size(), 200) : bytes.size());
    const size_t count = std::min<size_t>(bytes.size() - at, 1 + random.Below(24));
    switch (random.Below(4)) {
      case 0:
        bytes.erase(at, count);
        break;
      case 1:
        bytes.insert(random.Below(bytes.size()), bytes.substr(at, count));
        break;
      default:
        bytes[at] = static_cast<char>(random.OneIn(3) ? 0xff : random.Next());
    }
  }
  return bytes;
}

// Mutates numbers and lengths, which precede the tensors' data, and moves pieces of the data.
std::string MutateGguf(std::string bytes, Random& random) {
  for (uint32_t left = 1 + random.Below(3); left > 0 && bytes.size() > 8; --left) {
    const size_t header = std::min<size_t>(bytes.size(), random.OneIn(2) ? 1500 : 20000);
    const size_t at = random.Below(random.OneIn(8) ? bytes.size() : header);
    const size_t count = std::min<size_t>(bytes.size() - at, 1 + random.Below(random.OneIn(4) ? 200 : 16));
    const uint64_t number = random.OneIn(4) ? random.Next() >> random.Below(64) : random.Number();
    switch (random.Below(6)) {
      case 0:
        bytes.erase(at, count);
        break;
      case 1:
        bytes.insert(random.Below(header), bytes.substr(at, count));
        break;
      case 2:
        bytes.replace(at, count, bytes.substr(random.Below(header), count));
        break;
      default:
        memcpy(&bytes[at], &number, std::min<size_t>(bytes.size() - at, random.OneIn(3) ? 8 : 4));
    }
  }
  return bytes;
}

void MutateLines(std::string& text, Random& random) {
  std::vector<std::string> lines = {""};
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  std::string& line = random.Pick(lines);
  switch (random.Below(4)) {
    case 0:
      line = random.Pick(lines);
      break;
    case 1:
      lines.erase(lines.begin() + (&line - lines.data()));
      break;
    case 2:
      line += " " + random.Pick(lines);
      break;
    default:
      line = std::string(random.Below(80), static_cast<char>(random.Next()));
  }
  text.clear();
  for (const std::string& l : lines) text += l + "\n";
}

}  // namespace

Files FilesOf(const uint8_t* data, size_t size) {
  Files files;
  size_t at = std::min<size_t>(8, size);
  while (at < size) {
    const auto* end = static_cast<const uint8_t*>(memchr(data + at, '\n', size - at));
    if (end == nullptr) break;
    const std::string line(data + at, end);
    at = static_cast<size_t>(end - data) + 1;
    const size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    if (space == std::string::npos || name.empty() || name.size() > 60 || name[0] == '.' ||
        name.find('/') != std::string::npos || name.find('\0') != std::string::npos) {
      break;
    }
    const size_t bytes = std::min<size_t>(strtoull(line.c_str() + space, nullptr, 10), size - at);
    files[name].assign(reinterpret_cast<const char*>(data + at), bytes);
    at += bytes;
  }
  return files;
}

std::vector<uint8_t> Joined(uint64_t seed, const Files& files) {
  std::string all(reinterpret_cast<const char*>(&seed), sizeof(seed));
  for (const auto& [name, bytes] : files) all += name + " " + std::to_string(bytes.size()) + "\n" + bytes;
  return std::vector<uint8_t>(all.begin(), all.end());
}

void MutateFiles(Files& files, Random& random) {
  if (files.empty()) return;
  auto& [name, bytes] = *std::next(files.begin(), random.Below(files.size()));
  if (random.OneIn(30)) {
    files.erase(std::string(name));
  } else if (random.OneIn(16) && !bytes.empty()) {
    if (random.OneIn(3)) bytes.resize(random.Below(bytes.size()));
    for (uint32_t left = random.Below(4); left > 0 && !bytes.empty(); --left) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Next());
    }
  } else if (EndsWith(name, ".json")) {
    bytes = MutateJson(bytes, random);
  } else if (EndsWith(name, ".safetensors")) {
    bytes = MutateSafetensors(bytes, random);
  } else if (EndsWith(name, ".model")) {
    bytes = MutatePieces(bytes, random);
  } else if (EndsWith(name, ".gguf")) {
    bytes = MutateGguf(bytes, random);
  } else {
    MutateLines(bytes, random);
  }
}

}  // namespace fovea::fuzz
