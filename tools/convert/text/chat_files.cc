#include "tools/convert/text/chat_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/mapped_file.h"
#include "tools/text/chat_template.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;
using Entries = std::vector<std::pair<std::string, std::string>>;

// Templates by name; "default" is the usual one.
struct Templates {
  std::string file;
  Entries named;

  std::string* Find(const std::string& name) {
    const auto found = std::find_if(named.begin(), named.end(), [&](const auto& entry) { return entry.first == name; });
    return found == named.end() ? nullptr : &found->second;
  }
  // The last of one name is followed.
  void Put(const std::string& name, std::string source) {
    if (std::string* const there = Find(name)) {
      *there = std::move(source);
    } else {
      named.emplace_back(name, std::move(source));
    }
  }
};

Json ReadIfThere(const fs::path& file) { return fs::exists(file) ? ReadJson(file.string()) : Json::object(); }

// A template, a list of {"name", "template"}, or templates by name.
Templates InJson(const fs::path& file, const Json& json) {
  Templates templates = {file.filename().string(), {}};
  const JsonView value = JsonView(json, file.string())["chat_template"];
  if (value.IsNull()) return templates;
  if (value.json().is_object()) {
    for (const auto& [name, source] : value.json().items()) templates.Put(name, value[name.c_str()].Bytes());
    return templates;
  }
  if (!value.json().is_array()) {
    templates.named.emplace_back("default", value.Bytes());
    return templates;
  }
  for (size_t i = 0; i < value.List().size(); ++i) {
    templates.Put(value.At(i)["name"].Text(), value.At(i)["template"].Bytes());
  }
  return templates;
}

// Files additional_chat_templates/NAME.jinja.
void AddFiles(const fs::path& folder, Templates* templates) {
  if (!fs::is_directory(folder)) return;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".jinja") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) templates->Put(file.stem().string(), ReadFile(file.string()));
}

// A token's text: a string, or an object with "content".
std::string TokenText(const Json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end()) return "";
  const Json& token = found->is_object() && found->contains("content") ? (*found)["content"] : *found;
  return token.is_string() ? token.get<std::string>() : "";
}

}  // namespace

Finding TemplateFinding(const std::string& where, const std::string& source) {
  std::vector<std::string> unknown;
  try {
    unknown = UnknownParts(source);
  } catch (const Failure& failure) {
    const std::string why = failure.what();
    const std::string begin = "the model's chat template ";
    const size_t from = why.rfind(begin, 0) == 0 ? begin.size() : 0;
    unknown.push_back("what the renderer refuses: it " + why.substr(from, why.find(';') - from));
  }
  if (unknown.empty()) return {Topic::kChatTemplate, where + ": rendered"};
  return {Topic::kChatTemplate, fmt::format("{}: cannot be rendered where it uses {}; --chat-template NAME chooses a "
                                            "known one",
                                            where, fmt::join(unknown, ", "))};
}

void AddNamedTemplates(const Entries& named, Entries* entries, Findings* findings) {
  const auto find = [&](std::string text) {
    if (findings != nullptr) findings->push_back({Topic::kChatTemplate, std::move(text)});
  };
  constexpr size_t kMost = 16;
  for (const auto& [name, other] : named) {
    if (name == "default" || other.empty()) continue;
    const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
                       std::string::npos;
    if (!plain || name.size() > 64 || entries->size() > kMost) {
      find(
          "a further template is left out, because its name is too long or has other signs than letters, digits, "
          "_ - and .");
      continue;
    }
    entries->emplace_back("chat_template." + name, other);
    find(fmt::format("template {}: {}", name,
                     name == "tool_use" ? "used in place of the default one if tools are given"
                                        : "--chat-template " + name + " chooses it"));
    if (findings != nullptr) findings->push_back(TemplateFinding("template " + name, other));
  }
}

Entries ChatMetadataIn(const fs::path& model_dir, Findings* findings) {
  const auto find = [&](std::string text) {
    if (findings != nullptr) findings->push_back({Topic::kChatTemplate, std::move(text)});
  };
  const fs::path file = model_dir / "tokenizer_config.json", jinja = model_dir / "chat_template.jinja";
  const Json config = ReadIfThere(file), tokens = ReadIfThere(model_dir / "special_tokens_map.json");
  Templates templates = InJson(file, config);
  if (fs::exists(jinja)) {
    const std::string source = ReadFile(jinja.string());
    const std::string* const other = templates.Find("default");
    if (other != nullptr && *other != source) {
      find("chat_template.jinja is followed; tokenizer_config.json has another template");
    }
    for (const auto& [name, unused] : templates.named) {
      if (name != "default") find(fmt::format("chat_template.jinja is followed; not used: template {}", name));
    }
    templates = {"chat_template.jinja", {{"default", source}}};
  }
  // Files of processors.
  for (const char* name : {"chat_template.json", "processor_config.json"}) {
    const Templates other = InJson(model_dir / name, ReadIfThere(model_dir / name));
    if (other.named.empty()) continue;
    if (templates.named.empty()) {
      templates = other;
    } else if (const std::string* const followed = templates.Find("default");
               followed != nullptr && *followed != other.named[0].second) {
      find(fmt::format("{} is followed; {} has another template", templates.file, name));
    }
  }
  AddFiles(model_dir / "additional_chat_templates", &templates);
  if (templates.named.empty()) return {};
  if (templates.Find("default") == nullptr) {
    find(fmt::format("{} has templates without one named default; {} is used", templates.file,
                     templates.named[0].first));
    templates.named.emplace_back("default", templates.named[0].second);
  }
  const std::string source = *templates.Find("default");
  if (source.empty()) return {};
  if (findings != nullptr) findings->push_back(TemplateFinding(templates.file, source));
  Entries entries = {{"chat_template", source}};
  AddNamedTemplates(templates.named, &entries, findings);
  for (const auto& [key, token] : {std::pair{"chat_bos", "bos_token"},
                                   {"chat_eos", "eos_token"},
                                   {"chat_pad", "pad_token"},
                                   {"chat_unk", "unk_token"},
                                   {"chat_cls", "cls_token"},
                                   {"chat_sep", "sep_token"}}) {
    std::string text = TokenText(config, token);
    if (text.empty()) text = TokenText(tokens, token);
    if (!text.empty()) entries.emplace_back(key, text);
  }
  return entries;
}

}  // namespace fovea::tools
