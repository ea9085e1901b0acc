#include "tools/text/chat_format.h"

#include <algorithm>
#include <iterator>

#include "fovea/text.h"
#include "tools/base/fail.h"
#include "tools/text/white_space.h"

namespace fovea::tools {
namespace {

// Where the template puts the system message: in a turn like other roles, or at the start of the user's first turn.
enum class System { kOwn, kWithUser };

struct Template {
  const char* name;
  // Text before and after a message, by role; a prompt ends with the assistant's beginning.
  const char *system_begin, *system_end;
  const char *user_begin, *user_end;
  const char *assistant_begin, *assistant_end;
  System system;
  bool strips;                    // white space around messages is removed
  const char* unasked = nullptr;  // default system message
  const char* begin = "";         // text before all messages, if the tokenizer adds no BOS token
};

constexpr Template kTemplates[] = {
    {"chatml", "<|im_start|>system\n", "<|im_end|>\n", "<|im_start|>user\n", "<|im_end|>\n", "<|im_start|>assistant\n",
     "<|im_end|>\n", System::kOwn, false},
    {"command-r", "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>", "<|END_OF_TURN_TOKEN|>",
     "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
     "<|END_OF_TURN_TOKEN|>", System::kOwn, true},
    {"deepseek", "", "", "<｜User｜>", "", "<｜Assistant｜>", "<｜end▁of▁sentence｜>", System::kOwn, false},
    {"gemma", "", "\n\n", "<start_of_turn>user\n", "<end_of_turn>\n", "<start_of_turn>model\n", "<end_of_turn>\n",
     System::kWithUser, true},
    {"granite", "<|start_of_role|>system<|end_of_role|>", "<|end_of_text|>\n", "<|start_of_role|>user<|end_of_role|>",
     "<|end_of_text|>\n", "<|start_of_role|>assistant<|end_of_role|>", "<|end_of_text|>\n", System::kOwn, false},
    {"llama2", "<<SYS>>\n", "\n<</SYS>>\n\n", "[INST] ", " [/INST]", " ", " </s><s>", System::kWithUser, true},
    {"llama3", "<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>",
     "<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>", "<|start_header_id|>assistant<|end_header_id|>\n\n",
     "<|eot_id|>", System::kOwn, true},
    {"mistral", "", "\n\n", "[INST] ", " [/INST]", " ", "</s>", System::kWithUser, false},
    {"mistral-tekken", "", "\n\n", "[INST]", "[/INST]", "", "</s>", System::kWithUser, false},
    {"mistral-v3", "", "\n\n", "[INST] ", "[/INST]", " ", "</s>", System::kWithUser, false},
    {"olmo2", "<|system|>\n", "\n", "<|user|>\n", "\n", "<|assistant|>\n", "<|endoftext|>\n", System::kOwn, false,
     nullptr, "<|endoftext|>"},
    {"phi3", "<|system|>\n", "<|end|>\n", "<|user|>\n", "<|end|>\n", "<|assistant|>\n", "<|end|>\n", System::kOwn,
     false},
    {"phi4", "<|im_start|>system<|im_sep|>", "<|im_end|>", "<|im_start|>user<|im_sep|>", "<|im_end|>",
     "<|im_start|>assistant<|im_sep|>", "<|im_end|>", System::kOwn, false},
    {"qwen2", "<|im_start|>system\n", "<|im_end|>\n", "<|im_start|>user\n", "<|im_end|>\n", "<|im_start|>assistant\n",
     "<|im_end|>\n", System::kOwn, false, "You are a helpful assistant."},
    {"qwen2.5", "<|im_start|>system\n", "<|im_end|>\n", "<|im_start|>user\n", "<|im_end|>\n", "<|im_start|>assistant\n",
     "<|im_end|>\n", System::kOwn, false, "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."},
    {"smollm2", "<|im_start|>system\n", "<|im_end|>\n", "<|im_start|>user\n", "<|im_end|>\n", "<|im_start|>assistant\n",
     "<|im_end|>\n", System::kOwn, false, "You are a helpful AI assistant named SmolLM, trained by Hugging Face"},
    {"vicuna", "", " ", "USER: ", " ", "ASSISTANT: ", "</s>", System::kOwn, true},
    {"zephyr", "<|system|>\n", "</s>\n", "<|user|>\n", "</s>\n", "<|assistant|>\n", "</s>\n", System::kOwn, false},
};

const Template& Find(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kTemplates), std::end(kTemplates), [&](const Template& t) { return name == t.name; });
  if (found == std::end(kTemplates)) {
    std::string names;
    for (const std::string& known : ChatTemplates()) names += (names.empty() ? "" : ", ") + known;
    Fail("unknown chat template \"{}\"; use one of {}", name, names);
  }
  return *found;
}

class Writer {
 public:
  explicit Writer(const Template& t) : t_(t) {}

  std::string Write(const std::vector<ChatMessage>& messages) {
    if (messages.empty()) Fail("the chat has no messages");
    prompt_ = t_.begin;
    if (t_.unasked != nullptr && messages[0].role != "system") AddSystem(t_.unasked);
    for (size_t i = 0; i < messages.size(); ++i) Add(messages[i], i == 0, i + 1 == messages.size());
    if (messages.back().role != "assistant") prompt_ += Trimmed(t_.assistant_begin);
    return prompt_;
  }

 private:
  void Add(const ChatMessage& message, bool first, bool last) {
    const std::string text = t_.strips ? StripWhiteSpace(message.text) : message.text;
    if (message.role == "system") {
      if (!first) Fail("the chat template \"{}\" requires the system message to be first", t_.name);
      if (last) Fail("the chat has only a system message; add a user message");
      AddSystem(text);
    } else if (message.role == "user") {
      Turn("user");
      prompt_ += t_.user_begin + before_user_ + text + t_.user_end;
      before_user_.clear();
    } else if (message.role == "assistant") {
      Turn("assistant");
      prompt_ += t_.assistant_begin + text + (last ? "" : t_.assistant_end);
    } else {
      Fail("unknown chat role \"{}\"; use system, user or assistant", message.role);
    }
  }

  void AddSystem(const std::string& text) {
    const std::string whole = t_.system_begin + text + t_.system_end;
    (t_.system == System::kOwn ? prompt_ : before_user_) += whole;
  }

  // Requires the user first, and alternating roles.
  void Turn(const std::string& role) {
    if (role == turn_) Fail("the chat template \"{}\" requires user and assistant to alternate", t_.name);
    if (turn_.empty() && role != "user") Fail("a chat must begin with the system or the user");
    turn_ = role;
  }

  // The assistant's beginning without trailing spaces, which are part of the answer's first token.
  static std::string Trimmed(const std::string& text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

  const Template& t_;
  std::string prompt_, before_user_, turn_;
};

std::vector<std::string> SpecialTokens(const Model& model) {
  std::vector<std::string> tokens;
  const char* piece = nullptr;
  uint32_t size = 0, special = 0;
  for (int32_t id = 0; fovea_text_get_token(model.get(), id, &piece, &size, &special, nullptr) == FOVEA_OK; ++id) {
    if (special != 0 && size > 1) tokens.emplace_back(piece, size);
  }
  return tokens;
}

}  // namespace

std::vector<std::string> ChatTemplates() {
  std::vector<std::string> names;
  for (const Template& t : kTemplates) names.push_back(t.name);
  return names;
}

std::string ChatPrompt(const std::string& name, const std::vector<ChatMessage>& messages) {
  return Writer(Find(name)).Write(messages);
}

ChatFormat::ChatFormat(const Model& model, const std::string& asked, const ChatInputs& inputs) : model_(model) {
  if (!inputs.special) special_ = SpecialTokens(model);
  const auto metadata = [&](const char* key) {
    const char* value = model.Metadata(key);
    return std::string(value == nullptr ? "" : value);
  };
  name_ = asked;
  const std::string other = metadata(("chat_template." + asked).c_str());
  if (asked != "auto" && other.empty()) {
    Find(name_);
    if (!inputs.variables.empty()) Fail("the chat template {} has no variables; leave out --template-arg", asked);
    return;
  }
  name_ = metadata("chat");
  own_ = {asked == "auto" ? metadata("chat_template") : other, metadata("chat_bos"), metadata("chat_eos")};
  for (const char* token : {"pad", "unk", "cls", "sep"}) {
    const std::string text = metadata(fmt::format("chat_{}", token).c_str());
    if (!text.empty()) own_.tokens.emplace_back(fmt::format("{}_token", token), text);
  }
  own_.variables = inputs.variables;
  own_.time = inputs.time;
  const auto has_tools = [](const auto& variable) {
    return variable.first == "tools" && variable.second != "null" && variable.second != "[]";
  };
  const std::string with_tools = metadata("chat_template.tool_use");
  if (asked == "auto" && !with_tools.empty() &&
      std::any_of(inputs.variables.begin(), inputs.variables.end(), has_tools)) {
    own_.source = with_tools;
  }
  if (!own_.source.empty()) {
    name_.clear();
    tokenizer_begins_ = metadata("chat_special_tokens") == "tokenizer";
  } else if (name_.empty()) {
    std::string names;
    for (const std::string& known : ChatTemplates()) names += (names.empty() ? "" : ", ") + known;
    Fail("{}: has no chat template; give --chat-template NAME, one of {}, or --prompt with the model's markers in it",
         model.name(), names);
  }
}

std::string ChatFormat::Prompt(const std::vector<ChatMessage>& messages) const {
  return name_.empty() ? own_.Render(messages, true) : ChatPrompt(name_, messages);
}

namespace {

// A noncharacter of Unicode: within a special token it marks that this is text. The prompt is divided there.
constexpr char kMark[] = "\xf4\x8f\xbf\xbe";
constexpr size_t kMarkBytes = sizeof(kMark) - 1;

}  // namespace

// Marks special tokens after their first byte that is a whole character.
std::string ChatFormat::Masked(const std::string& text) const {
  std::string masked;
  for (size_t at = 0; at < text.size(); ++at) {
    masked += text[at];
    const auto begins = [&](const std::string& token) { return text.compare(at, token.size(), token) == 0; };
    if (static_cast<unsigned char>(text[at]) < 0x80 && std::any_of(special_.begin(), special_.end(), begins)) {
      masked += kMark;
    }
  }
  return masked;
}

namespace {

// Tokens `first` to `end` of `from`, whose ranges begin `shift` bytes later, or earlier.
void Append(const Tokens& from, size_t first, size_t end, int64_t shift, Tokens* to) {
  for (size_t i = first; i < end; ++i) {
    to->ids.push_back(from.ids[i]);
    to->types.push_back(from.types[i]);
    to->special.push_back(from.special[i]);
    to->begin.push_back(static_cast<uint32_t>(from.begin[i] + shift));
    to->end.push_back(static_cast<uint32_t>(from.end[i] + shift));
  }
}

// Without the tokens that the tokenizer adds after a text.
size_t EndOfText(const Tokens& tokens) {
  size_t end = tokens.ids.size();
  while (end > 0 && tokens.special[end - 1] != 0) --end;
  return end;
}

// Adds the tokens of a text that continues another one, whose bytes begin at `at` of the whole text.
void AppendContinuation(const Tokenizer& tokenizer, const std::string& text, size_t at, Tokens* to) {
  // After another character, because some tokenizers put a space in front of a text; one that does not merge with it.
  for (const std::string before : {"a", ".", "\n", ""}) {
    const Tokens both = tokenizer.EncodeWhole(before + text);
    const size_t end = EndOfText(both);
    size_t first = 0;
    while (first < end && (both.special[first] != 0 || both.end[first] <= before.size())) ++first;
    if (!before.empty() && (first == end || both.begin[first] < before.size())) continue;
    return Append(both, first, end, static_cast<int64_t>(at) - static_cast<int64_t>(before.size()), to);
  }
}

}  // namespace

Tokens ChatFormat::Encode(const std::string& prompt) const {
  const Tokenizer tokenizer(model_, false);  // the template's markers are special tokens
  size_t end = prompt.find(kMark);
  const Tokens first = tokenizer.EncodeWhole(prompt.substr(0, end));
  if (end == std::string::npos) return first;
  Tokens tokens;
  Append(first, 0, EndOfText(first), 0, &tokens);
  for (size_t marks = kMarkBytes; end != std::string::npos; marks += kMarkBytes) {
    const size_t begin = end + kMarkBytes;
    end = prompt.find(kMark, begin);
    AppendContinuation(tokenizer, prompt.substr(begin, end - begin), begin - marks, &tokens);
  }
  return tokens;
}

Tokens ChatFormat::TokensOf(const std::vector<ChatMessage>& messages) const {
  std::vector<ChatMessage> safe = messages;
  for (ChatMessage& message : safe) {
    if (message.role == "assistant") continue;
    message.text = Masked(message.text);
    message.json = Masked(message.json);  // strings in it
  }
  Tokens tokens = Encode(Prompt(safe));
  const auto drop = [&](size_t at) {
    const auto erase = [&](auto* list) { list->erase(list->begin() + static_cast<ptrdiff_t>(at)); };
    erase(&tokens.ids), erase(&tokens.types), erase(&tokens.special), erase(&tokens.begin), erase(&tokens.end);
  };
  while (!tokens.ids.empty() && tokens.special.back() != 0) drop(tokens.ids.size() - 1);
  const auto begins = [&] { return tokens.ids.size() > 1 && tokens.special[0] != 0; };
  tokens.spelled = 0;  // by the template
  while (begins() && (!tokenizer_begins_ || tokens.ids[0] == tokens.ids[1])) drop(0);
  return tokens;
}

std::string ChatFormat::EndAfter(const std::string& answer, bool system) const {
  std::vector<ChatMessage> messages = {{"user", "a"}, {"assistant", answer}};
  if (system) messages.insert(messages.begin(), {"system", "s"});
  try {
    const std::string whole = own_.Render(messages, false);
    const size_t at = whole.rfind(answer);
    return at == std::string::npos ? "" : whole.substr(at + answer.size());
  } catch (const Failure&) {
    return "";
  }
}

std::string ChatFormat::End() const {
  std::string end;
  if (name_.empty()) {
    // A sentinel answer, to find what the template writes after an answer.
    const std::string answer = "fovea-answer";
    end = EndAfter(answer, false);
    if (end.empty()) end = EndAfter(answer, true);
  } else {
    end = Find(name_).assistant_end;
  }
  end = StripWhiteSpace(end);
  const size_t close = end.find('>');
  return close == std::string::npos ? end : end.substr(0, close + 1);
}

}  // namespace fovea::tools
