#include "tools/generate/room.h"

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/generate/decoder_session.h"
#include "tools/generate/generator.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

// Default context without a limit of tokens.
constexpr uint64_t kUsualContext = 2048;

// Drops the oldest tokens of the text, but none of the tokenizer's special tokens at its beginning and end.
void KeepEnd(size_t most, Tokens* tokens) {
  const size_t count = tokens->ids.size(), excess = count - std::min(count, most);
  const auto text = std::find(tokens->special.begin(), tokens->special.end(), 0);
  const auto after = std::find_if(text, tokens->special.end(), [](uint8_t special) { return special != 0; });
  const auto first = text - tokens->special.begin();
  const auto drop = std::min(static_cast<ptrdiff_t>(excess), after - text);
  const auto erase = [&](auto* list) { list->erase(list->begin() + first, list->begin() + first + drop); };
  erase(&tokens->ids), erase(&tokens->types), erase(&tokens->begin), erase(&tokens->end), erase(&tokens->special);
  tokens->dropped += static_cast<uint64_t>(drop);
}

// Room to reserve for the continuation: max_tokens, or half of the context if there is no limit.
uint64_t Continuation(const Model& model, const GenerationRequest& request, uint64_t context) {
  const uint64_t wanted = MaxTokens(model, request);
  return wanted == 0 ? context / 2 : std::min(wanted, context - 1);
}

}  // namespace

uint64_t TrainedContext(const Model& model) { return MaxTokens(model, DecodeProgram(model)); }

uint64_t ContextOf(const Model& model, const GenerationRequest& request, size_t longest) {
  const uint32_t program = DecodeProgram(model);
  const uint64_t positions = model.Space(TokenSpace(model, program)).max_segment_rows;
  if (request.context > positions) {
    Fail("{}: a context of {} tokens exceeds the model's {} positions; give a smaller --context", model.name(),
         request.context, positions);
  }
  if (request.context != 0) return request.context;
  const uint64_t wanted = MaxTokens(model, request);
  // The last token of a text is not read.
  const uint64_t trained = TrainedContext(model), length = request.max_length;
  const uint64_t most = length == 0 ? trained : std::min(trained, std::max<uint64_t>(length, 2) - 1);
  return std::min(most, wanted == 0 ? std::max<uint64_t>(kUsualContext, longest + 1) : longest + wanted);
}

void CheckPrompt(size_t tokens, uint64_t context) {
  if (tokens <= context) return;
  Fail(
      "a prompt has {} tokens, more than the context of {}; give a shorter one, --keep-end to drop its beginning, or a "
      "larger --context",
      tokens, context);
}

Tokens PromptTokens(const Model& model, const std::string& text, const GenerationRequest& request) {
  Tokens tokens = Tokenizer(model).EncodeWhole(text);
  if (tokens.ids.empty()) {
    Fail("a prompt is empty{}, and the tokenizer adds no token before it; give a text to continue",
         text.empty() ? "" : " (it has no tokens)");
  }
  const uint64_t context = ContextOf(model, request, tokens.ids.size());
  if (!request.keep_end) CheckPrompt(tokens.ids.size(), context);
  if (!request.keep_end || tokens.ids.size() + Continuation(model, request, context) <= context) return tokens;
  KeepEnd(context - Continuation(model, request, context), &tokens);
  return tokens;
}

void ReportRoom(const Model& model, const GenerationRequest& request, const std::vector<Generation>& texts,
                std::ostream& err) {
  size_t full = 0, longest = 0;
  uint64_t beyond = 0;
  for (const Generation& text : texts) {
    full += text.full ? 1 : 0;
    longest = std::max(longest, text.input.size() + request.prefix.size());
    beyond = std::max<uint64_t>(beyond, text.input.size() + request.prefix.size() + text.tokens.size());
  }
  const uint64_t trained = ContinuesTexts(model) ? TrainedContext(model) : UINT32_MAX;
  if (full != 0 && !ContinuesTexts(model)) {
    err << fmt::format(
        "fovea: {} of {} texts are cut off, without an end-of-text token; --max-tokens allows "
        "more\n",
        full, texts.size());
  } else if (full != 0) {
    const uint64_t context = ContextOf(model, request, longest);
    const bool by_authors = request.context == 0 && context + 1 == request.max_length;
    const std::string why = request.context != 0 ? "the limit of --context"
                            : by_authors         ? "max_length of the model's authors; --max-tokens allows more"
                            : context >= trained ? "the length that the model was trained for"
                                                 : "the default; --context N allows more";
    err << fmt::format("fovea: {} of {} texts are cut off at {} tokens with the prompt: {}\n", full, texts.size(),
                       by_authors ? context + 1 : context, why);
  }
  if (beyond > trained + 1) {
    err << fmt::format(
        "fovea: texts have up to {} tokens with the prompt, and the model was trained for {}; text "
        "beyond that may make no sense\n",
        beyond, trained);
  }
}

}  // namespace fovea::tools
