#include "tools/generate/conversation.h"

#include <algorithm>

#include "fovea/cache.h"
#include "fovea/text.h"
#include "tools/generate/decoder_session.h"
#include "tools/generate/room.h"
#include "tools/model/library_error.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

// Default context of a chat, if the model supports that many tokens.
constexpr uint64_t kUsualContext = 4096;

uint32_t RowsOf(const Session& session) {
  uint32_t rows = 0;
  fovea_error error = {};
  Check(fovea_cache_get_rows(session.get(), 0, &rows, &error), error, "chat");
  return rows;
}

// False if a sliding window has dropped rows that are needed.
bool Rewind(const Session& session, size_t rows) {
  fovea_error error = {};
  const fovea_status status = fovea_cache_rewind(session.get(), 0, static_cast<uint32_t>(rows), &error);
  if (status == FOVEA_E_LENGTH) return false;
  Check(status, error, "chat");
  return true;
}

// Whether the choice of tokens depends on all tokens of the text: the generator knows the tokens read since its start,
// so the whole chat is read in each turn.
bool LooksBack(const GenerationRequest& request) {
  const float repetition = request.sampling.repetition_penalty;
  return (repetition != 0 && repetition != 1) || request.sampling.presence_penalty != 0 || !request.rules.none();
}

GenerationRequest RequestOf(const Model& model, const ChatFormat& format, const GenerationRequest& given) {
  GenerationRequest request = given;
  if (!ContinuesTexts(model)) Fail("{}: has an encoder; chat mode needs a decoder-only model", model.name());
  if (request.beams) Fail("beam search is not supported in chat mode; leave out --beams");
  if (request.context == 0) {
    const uint64_t length = request.max_length == 0 ? UINT32_MAX : std::max(request.max_length, 2u) - 1;
    request.context = static_cast<uint32_t>(std::min({kUsualContext, TrainedContext(model), length}));
  }
  request.context = static_cast<uint32_t>(ContextOf(model, request, 0));
  // The mark after an answer also ends the text, even if the model's files do not list it as a stop token.
  const std::string mark = request.stops ? format.End() : "";
  int32_t id = 0;
  const auto size = static_cast<uint32_t>(mark.size());
  if (fovea_text_find_token(model.get(), mark.data(), size, &id, nullptr) == FOVEA_OK) {
    request.ends.push_back(id);
  } else if (!mark.empty()) {
    request.stop_strings.push_back(mark);
  }
  return request;
}

}  // namespace

Conversation::Conversation(const Model& model, const ChatFormat& format, const std::string& system,
                           const GenerationRequest& request, const std::vector<ChatMessage>& history)
    : model_(model), format_(format), request_(RequestOf(model, format, request)) {
  if (!system.empty()) messages_.push_back({"system", system});
  messages_.insert(messages_.end(), history.begin(), history.end());
  is_only_system_ = messages_.empty() || messages_.back().role == "system";
  // A run can read as many new tokens as a prompt can have.
  const uint32_t most = MaxTokens(model, DecodeProgram(model));
  const SessionRequest decode = ContinueRequest(model, {std::min({512u, request_.context, most})}, request_);
  decode_.emplace(model, decode);
  if (request_.draft != nullptr) draft_.emplace(*request_.draft, DraftRequest(*request_.draft, model, decode, 1));
  generator_.emplace(model, GeneratorSessions{&*decode_, nullptr, draft_ ? &*draft_ : nullptr}, request_, 1);
}

void Conversation::Clear() {
  messages_.resize(!messages_.empty() && messages_[0].role == "system" ? 1 : 0);
  is_only_system_ = true;
  left_out_ = 0;
}

size_t Conversation::Keep(const std::vector<int32_t>& tokens) {
  size_t kept = LooksBack(request_) ? 0 : RowsOf(*decode_);
  if (draft_) kept = std::min<size_t>(kept, RowsOf(*draft_));
  kept = std::min({kept, tokens_.size(), tokens.size() - 1});  // at least one token must be read
  const auto same = std::mismatch(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(kept), tokens_.begin());
  kept = static_cast<size_t>(same.first - tokens.begin());
  if (Rewind(*decode_, kept) && (!draft_ || Rewind(*draft_, kept))) return kept;
  Rewind(*decode_, 0);
  if (draft_) Rewind(*draft_, 0);
  return 0;
}

std::vector<int32_t> Conversation::Said() {
  const uint64_t wanted = MaxTokens(model_, request_), context = request_.context;
  const uint64_t answer = wanted == 0 ? context / 4 : std::min(wanted, context / 2);
  const auto first = messages_.begin() + (messages_[0].role == "system" ? 1 : 0);
  left_out_ = 0;
  for (;;) {
    std::vector<ChatMessage> recent(messages_.begin(), first);
    recent.insert(recent.end(), first + static_cast<ptrdiff_t>(2 * left_out_), messages_.end());
    std::vector<int32_t> tokens = format_.TokensOf(recent).ids;
    if (tokens.size() + answer <= context) {
      messages_ = std::move(recent);
      return tokens;
    }
    if (first + static_cast<ptrdiff_t>(2 * left_out_) + 1 < messages_.end()) {
      ++left_out_;
      continue;
    }
    if (tokens.size() < context) {
      messages_ = std::move(recent);
      return tokens;
    }
    messages_.pop_back();
    left_out_ = 0;
    Fail(
        "the last message alone has {} tokens, and the context has room for {} before an answer; give a shorter "
        "message, or a larger --context",
        tokens.size(), context);
  }
}

Generation Conversation::Ask(const std::string& user) {
  if (!Waits() || !user.empty()) messages_.push_back({"user", user});
  is_only_system_ = false;
  const std::vector<int32_t> tokens = Said();
  const size_t kept = Keep(tokens);
  const std::vector<int32_t> fresh(tokens.begin() + static_cast<ptrdiff_t>(kept), tokens.end());
  std::vector<Generation> answers(1);
  answers[0].input = tokens;
  const std::vector<uint32_t> lengths = {static_cast<uint32_t>(fresh.size())};
  generator_->Start();
  generator_->SetPrompts(fresh, lengths, true);
  generator_->SetNumbers({request_.number + turns_++});
  WriteTexts(model_, request_, *decode_, *generator_, answers);
  tokens_ = tokens;
  tokens_.insert(tokens_.end(), answers[0].tokens.begin(), answers[0].tokens.end());
  messages_.push_back({"assistant", answers[0].text});
  return answers[0];
}

}  // namespace fovea::tools
