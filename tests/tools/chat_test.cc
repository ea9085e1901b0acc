// Prompts of chats, against the output of the model authors' templates for the same messages.
#include <gtest/gtest.h>

#include "tools/base/fail.h"
#include "tools/text/chat_format.h"

namespace fovea::tools {
namespace {

const std::vector<ChatMessage> kQuestion = {{"user", "Hi"}};
const std::vector<ChatMessage> kTalk = {
    {"system", "Be brief."}, {"user", " Hi "}, {"assistant", "Hello"}, {"user", "Bye"}};

TEST(Chat, Prompts) {
  EXPECT_EQ(ChatPrompt("chatml", kQuestion), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(ChatPrompt("chatml", kTalk),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n<|im_start|>assistant\n"
            "Hello<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(ChatPrompt("llama3", kTalk),
            "<|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(ChatPrompt("llama2", kTalk),
            "[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST] Hello </s><s>[INST] Bye [/INST]");
  EXPECT_EQ(ChatPrompt("gemma", kTalk),
            "<start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nHello<end_of_turn>\n"
            "<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(ChatPrompt("mistral", kTalk), "[INST] Be brief.\n\n Hi  [/INST] Hello</s>[INST] Bye [/INST]");
  EXPECT_EQ(ChatPrompt("mistral-v3", kQuestion), "[INST] Hi[/INST]");
  EXPECT_EQ(ChatPrompt("mistral-tekken", kQuestion), "[INST]Hi[/INST]");
  EXPECT_EQ(ChatPrompt("phi3", kTalk),
            "<|system|>\nBe brief.<|end|>\n<|user|>\n Hi <|end|>\n<|assistant|>\nHello<|end|>\n<|user|>\nBye<|end|>\n"
            "<|assistant|>\n");
  EXPECT_EQ(ChatPrompt("phi4", kQuestion), "<|im_start|>user<|im_sep|>Hi<|im_end|><|im_start|>assistant<|im_sep|>");
  EXPECT_EQ(ChatPrompt("zephyr", kTalk),
            "<|system|>\nBe brief.</s>\n<|user|>\n Hi </s>\n<|assistant|>\nHello</s>\n<|user|>\nBye</s>\n"
            "<|assistant|>\n");
  EXPECT_EQ(ChatPrompt("qwen2", kQuestion),
            "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(ChatPrompt("vicuna", kTalk), "Be brief. USER: Hi ASSISTANT: Hello</s>USER: Bye ASSISTANT:");
  EXPECT_EQ(ChatPrompt("olmo2", kQuestion), "<|endoftext|><|user|>\nHi\n<|assistant|>\n");
  EXPECT_EQ(ChatPrompt("deepseek", kTalk),
            "Be brief.<｜User｜> Hi <｜Assistant｜>Hello<｜end▁of▁sentence｜>"
            "<｜User｜>Bye<｜Assistant｜>");
  EXPECT_EQ(ChatPrompt("granite", kQuestion),
            "<|start_of_role|>user<|end_of_role|>Hi<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>");
  EXPECT_EQ(ChatPrompt("command-r", kQuestion),
            "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi<|END_OF_TURN_TOKEN|>"
            "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>");
}

// The assistant continues its last message.
TEST(Chat, AnswersThatHaveBegun) {
  EXPECT_EQ(ChatPrompt("chatml", {{"user", "Hi"}, {"assistant", "Hel"}}),
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHel");
  EXPECT_EQ(ChatPrompt("llama2", {{"user", "Hi"}, {"assistant", "Hel"}}), "[INST] Hi [/INST] Hel");
}

TEST(Chat, EveryTemplateHasAllMessages) {
  for (const std::string& name : ChatTemplates()) {
    const std::string prompt = ChatPrompt(name, kTalk);
    size_t at = 0;
    for (const char* text : {"Be brief.", "Hi", "Hello", "Bye"}) {
      at = prompt.find(text, at);
      ASSERT_NE(at, std::string::npos) << name << ": " << text;
    }
  }
}

std::string Rendered(const std::string& source, const std::vector<ChatMessage>& messages, bool answers = true) {
  try {
    return ChatTemplate{source, "<s>", "</s>"}.Render(messages, answers);
  } catch (const Failure& failure) {
    return std::string("refused: ") + failure.what();
  }
}

// The result of Jinja for the same template, with trim_blocks and lstrip_blocks.
TEST(Chat, OwnTemplates) {
  EXPECT_EQ(Rendered("{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}"
                     "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% else %}{{ eos_token }}{% endif %}",
                     {{"user", " hi"}}),
            "<|user|> hi<|end|><|assistant|>");
  const std::string lines =
      "{% for message in messages %}\n{% if message['role'] == 'user' %}\n{{ '<|user|>\n' + message['content'] + "
      "eos_token }}\n{% elif message['role'] == 'system' %}\n{{ '<|system|>\n' + message['content'] + eos_token }}\n"
      "{% else %}\n{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{% endif %}\n"
      "  {% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}\n";
  EXPECT_EQ(
      Rendered(lines, kTalk),
      "<|system|>\nBe brief.</s>\n<|user|>\n Hi </s>\n<|assistant|>\nHello</s>\n<|user|>\nBye</s>\n<|assistant|>\n");
  const std::string system =
      "{%- if messages[0]['role'] != \"system\" and not tools %}\n    {{- 'S\\n' }}\n{%- endif %}\n"
      "{% for m in messages -%}\n  {{ m.role ~ ':' + m.content | trim }};\n{%- endfor %}{# not written #}";
  EXPECT_EQ(Rendered(system, kQuestion), "S\nuser:Hi;");
  EXPECT_EQ(Rendered(system, kTalk), "system:Be brief.;user:Hi;assistant:Hello;user:Bye;");
  EXPECT_EQ(Rendered("{{ messages[-1].content.strip() }}", {{"user", "\xc2\xa0\t a\xe3\x80\x80"}}), "a");
  EXPECT_EQ(Rendered("a\r\n{% if true %}\r\nb{% endif %}", kQuestion), "a\nb");
  EXPECT_EQ(Rendered("{{ '}}' 'b' }}{% if not (1 == 2 or none == none) %}x{% endif %}", kQuestion), "}}b");
}

TEST(Chat, OwnTemplatesWithFaultsAreRefused) {
  for (const char* source :
       {"{% include 'x' %}", "{{ 'a' | unknown }}", "{{ messages.zfill() }}", "{% if 1 %}", "{% endif %}",
        "{{ messages[9].content }}", "{{ 'a", "{% for m in messages %}{% if 1 %}{% endfor %}", "{{ 'a' + 1 }}",
        "{{ raise_exception('no') }}"}) {
    EXPECT_EQ(Rendered(source, kQuestion).rfind("refused: the model's chat template ", 0), 0u) << source;
  }
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "(";
  EXPECT_EQ(Rendered("{{ " + deep + " }}", kQuestion).rfind("refused: ", 0), 0u);
  deep.clear();
  for (int i = 0; i < 10000; ++i) deep += "{% if 1 %}";
  EXPECT_EQ(Rendered(deep, kQuestion).rfind("refused: ", 0), 0u);
}

TEST(Chat, RefusesByName) {
  const auto message = [](const std::string& name, const std::vector<ChatMessage>& messages) -> std::string {
    try {
      ChatPrompt(name, messages);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_NE(message("chatmeal", kQuestion).find("unknown chat template \"chatmeal\"; use one of chatml, "),
            std::string::npos);
  EXPECT_NE(message("chatml", {}).find("has no messages"), std::string::npos);
  EXPECT_NE(message("chatml", {{"robot", "Hi"}}).find("\"robot\""), std::string::npos);
  EXPECT_NE(message("gemma", {{"system", "Hi"}}).find("only a system message"), std::string::npos);
  EXPECT_NE(message("chatml", {{"user", "Hi"}, {"system", "Hi"}}).find("first"), std::string::npos);
  EXPECT_NE(message("chatml", {{"user", "Hi"}, {"user", "Hi"}}).find("alternate"), std::string::npos);
  EXPECT_NE(message("chatml", {{"assistant", "Hi"}}).find("must begin"), std::string::npos);
}

}  // namespace
}  // namespace fovea::tools
