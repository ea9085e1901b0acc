// The places of a model directory where a chat template can be, and which of them the original library follows.
#include "tools/convert/text/chat_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/convert/graph_support.h"
#include "tests/support/gguf_models.h"
#include "tests/support/paths.h"
#include "tools/base/fail.h"
#include "tools/convert/convert.h"
#include "tools/convert/description.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Texts = std::map<std::string, std::string>;

constexpr char kMine[] = "{{ messages[0].content }}";

class ChatFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("chat_files_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "additional_chat_templates");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  void WriteJson(const std::string& name, const json& text) { Write(name, text.dump()); }

  // The metadata by name, and the findings and warnings as one text.
  Texts Found() {
    tools::Findings findings;
    Texts texts;
    for (const auto& [name, text] : tools::ChatMetadataIn(folder_, &findings)) {
      EXPECT_TRUE(texts.emplace(name, text).second) << name << " is there twice";
    }
    said_.clear();
    for (const tools::Finding& finding : findings) said_ += finding.text + "\n";
    return texts;
  }
  bool Says(const std::string& part) const { return said_.find(part) != std::string::npos; }
  std::string Refusal() {
    return tools::RefusalOf([&] { Found(); });
  }

  fs::path folder_;
  std::string said_;
};

TEST_F(ChatFiles, NoTemplateIsNoMetadata) {
  EXPECT_EQ(Found(), Texts());
  WriteJson("tokenizer_config.json", json{{"bos_token", "<s>"}, {"chat_template", nullptr}});
  EXPECT_EQ(Found(), Texts());
}

TEST_F(ChatFiles, EachPlaceAlone) {
  const Texts expected = {{"chat_template", kMine}};
  for (const char* name : {"tokenizer_config.json", "chat_template.json", "processor_config.json"}) {
    WriteJson(name, json{{"chat_template", kMine}});
    EXPECT_EQ(Found(), expected) << name;
    EXPECT_TRUE(Says(std::string(name) + ": rendered")) << said_;
    fs::remove(folder_ / name);
  }
  Write("chat_template.jinja", kMine);
  EXPECT_EQ(Found(), expected);
  EXPECT_TRUE(Says("chat_template.jinja: rendered"));
}

TEST_F(ChatFiles, TheFileIsFollowedBeforeTheConfiguration) {
  WriteJson("processor_config.json", json{{"chat_template", "processor"}});
  WriteJson("chat_template.json", json{{"chat_template", "legacy"}});
  EXPECT_EQ(Found()["chat_template"], "legacy");
  EXPECT_TRUE(Says("chat_template.json is followed; processor_config.json has another template"));
  WriteJson("tokenizer_config.json", json{{"chat_template", "configured"}});
  EXPECT_EQ(Found()["chat_template"], "configured");
  EXPECT_TRUE(Says("tokenizer_config.json is followed; chat_template.json has another template"));
  Write("chat_template.jinja", "file");
  EXPECT_EQ(Found()["chat_template"], "file");
  EXPECT_TRUE(Says("chat_template.jinja is followed; tokenizer_config.json has another template"));
  // Copies are not reported.
  for (const char* name : {"tokenizer_config.json", "chat_template.json", "processor_config.json"}) {
    WriteJson(name, json{{"chat_template", "file"}});
  }
  Found();
  EXPECT_FALSE(Says("another")) << said_;
}

TEST_F(ChatFiles, NamedTemplates) {
  const json list = {{{"name", "tool_use"}, {"template", "tools"}},
                     {{"name", "default"}, {"template", kMine}},
                     {{"name", "rag"}, {"template", "first"}},
                     {{"name", "rag"}, {"template", "documents"}}};
  const Texts expected = {
      {"chat_template", kMine}, {"chat_template.tool_use", "tools"}, {"chat_template.rag", "documents"}};
  WriteJson("tokenizer_config.json", json{{"chat_template", list}});
  EXPECT_EQ(Found(), expected);
  EXPECT_TRUE(Says("template tool_use: used in place of the default one if tools are given"));
  EXPECT_TRUE(Says("template rag: --chat-template rag chooses it"));
  WriteJson("tokenizer_config.json",
            json{{"chat_template", {{"default", kMine}, {"tool_use", "tools"}, {"rag", "documents"}}}});
  EXPECT_EQ(Found(), expected);
  // Files replace all of them.
  Write("chat_template.jinja", kMine);
  Write("additional_chat_templates/tool_use.jinja", "file");
  Write("additional_chat_templates/notes.txt", "no template");
  EXPECT_EQ(Found(), (Texts{{"chat_template", kMine}, {"chat_template.tool_use", "file"}}));
  EXPECT_TRUE(Says("chat_template.jinja is followed; not used: template rag")) << said_;
}

TEST_F(ChatFiles, WithoutADefaultTheFirstIsUsedAndNamed) {
  WriteJson("tokenizer_config.json", json{{"chat_template", {{{"name", "chat"}, {"template", kMine}}}}});
  EXPECT_EQ(Found()["chat_template"], kMine);
  EXPECT_TRUE(Says("without one named default; chat is used")) << said_;
}

TEST_F(ChatFiles, NamesAreLimited) {
  json list = {{{"name", "default"}, {"template", kMine}},
               {{"name", "a b"}, {"template", "x"}},
               {{"name", std::string(65, 'a')}, {"template", "x"}}};
  for (int i = 0; i < 40; ++i) list.push_back({{"name", "n" + std::to_string(i)}, {"template", "x"}});
  WriteJson("tokenizer_config.json", json{{"chat_template", list}});
  EXPECT_EQ(Found().size(), 17u);
  EXPECT_TRUE(Says("is left out, because its name")) << said_;
}

TEST_F(ChatFiles, TextsOfSpecialTokens) {
  WriteJson("tokenizer_config.json", json{{"chat_template", kMine},
                                          {"bos_token", {{"content", "<s>"}, {"lstrip", false}}},
                                          {"eos_token", "</s>"},
                                          {"pad_token", nullptr}});
  WriteJson("special_tokens_map.json", json{{"eos_token", "<other>"}, {"pad_token", "<pad>"}});
  EXPECT_EQ(Found(),
            (Texts{{"chat_template", kMine}, {"chat_bos", "<s>"}, {"chat_eos", "</s>"}, {"chat_pad", "<pad>"}}));
}

TEST_F(ChatFiles, WrongShapesAreRefusedByName) {
  for (const json& wrong : {json(5), json({1}), json({{{"name", "default"}}}), json({{{"template", "x"}}}),
                            json({{{"name", 1}, {"template", "x"}}}), json({{"default", 1}}), json(true)}) {
    WriteJson("tokenizer_config.json", json{{"chat_template", wrong}});
    const std::string said = Refusal();
    EXPECT_NE(said.find("tokenizer_config.json"), std::string::npos) << wrong << ": " << said;
    EXPECT_NE(said.find("chat_template"), std::string::npos) << wrong << ": " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
  Write("tokenizer_config.json", std::string("{\"chat_template\": "));
  EXPECT_NE(Refusal().find("tokenizer_config.json"), std::string::npos);
}

TEST_F(ChatFiles, WhatCannotBeRenderedIsNamedWithItsLine) {
  const auto said = [&](const std::string& source) {
    Write("chat_template.jinja", source);
    EXPECT_EQ(Found()["chat_template"], source);
    return said_;
  };
  EXPECT_NE(said("a\nb\n{% include 'x' %}").find("uses the statement 'include' in line 3"), std::string::npos) << said_;
  EXPECT_NE(said("{{ 'a' | xmlattr }}").find("cannot be rendered where it uses filter xmlattr"), std::string::npos);
  EXPECT_NE(said("\n{% if 1 %}").find("ends inside a block"), std::string::npos) << said_;
  EXPECT_NE(said("\n\n{{ 'a }}").find("a string without an end in line 3"), std::string::npos) << said_;
}

TEST(ChatOfGguf, HasNamedTemplates) {
  GgufWriter writer = GgufOfDirectory(InData("hf/llama"), "llama", 8);
  AddBytePairs(InData("tokenizers/bpe-gpt2/tokenizer.json"), "gpt-2", &writer);
  writer.Text("tokenizer.chat_template", kMine);
  writer.Texts("tokenizer.chat_templates", {"tool_use", "absent", "default"});
  writer.Text("tokenizer.chat_template.tool_use", "{{ tools }}");
  const std::string path = testing::TempDir() + "chat_files_" + std::to_string(getpid()) + ".gguf";
  const std::string bytes = writer.Bytes();
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  tools::ConvertOptions options;
  options.input = path;
  Texts found;
  for (const auto& [name, value] : tools::Describe(options).metadata) {
    if (name.rfind("chat", 0) == 0) found[name] = value;
  }
  fs::remove(path);
  EXPECT_EQ(found["chat_template"], kMine);
  EXPECT_EQ(found["chat_template.tool_use"], "{{ tools }}");
  EXPECT_EQ(found["chat_special_tokens"], "tokenizer");
  EXPECT_EQ(found.count("chat_template.absent"), 0u);
}

}  // namespace
}  // namespace fovea::test
