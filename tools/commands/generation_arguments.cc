#include "tools/commands/generation_arguments.h"

#include <nlohmann/json.hpp>

#include "tools/generate/decoder_session.h"
#include "tools/generate/defaults.h"
#include "tools/generate/scoring.h"
#include "tools/generate/target_tokens.h"

namespace fovea::tools {

void GenerationArguments::AddSearch(Command command) {
  const Options generation = command.Under(Heading::kGeneration);
  const Options beam_search = command.Under(Heading::kBeamSearch);
  const Options output = command.Under(Heading::kOutput);
  generation.Add("-n,--max-tokens", &request.max_tokens, "Generate at most N tokens; default: as the model specifies");
  generation.Add("--min-tokens", &min_tokens, "Generate at least N tokens, including the one that ends the text");
  AddCacheType(command, &request.cache_type);
  beam_search.Add("--beams,--num-beams", &beams, "Search with N beams; default: as the model specifies").Range(1, 256);
  beam_search.Add("--length-penalty", &length_penalty,
                  "Beam search: divide the sum of log-probabilities by (number of tokens)^X");
  beam_search
      .AddChoice<std::optional<uint32_t>>(
          "--early-stopping", &stop,
          {{"false", FOVEA_BEAMS_STOP_IF_WORSE}, {"true", FOVEA_BEAMS_STOP_FIRST}, {"never", FOVEA_BEAMS_STOP_NEVER}},
          "Beam search ends when N hypotheses are finished (true), or no live beam is (false) or can get (never) "
          "better")
      .Placeholder("WHEN");
  beam_search
      .Add("--hypotheses,--num-hypotheses", &request.hypotheses,
           "Return the N best hypotheses of each search (at most --beams)")
      .Range(1, 256);
  generation.Add("--no-repeat-ngram-size", &no_repeat_ngram, "Generate no n-gram of N tokens twice");
  generation.Add("--encoder-no-repeat-ngram-size", &no_repeat_source_ngram,
                 "Generate no n-gram of N tokens that occurs in the encoder's input");
  generation.AddRepeated("--suppress", &suppressed, "Do not generate this text").Placeholder("TEXT");
  generation.AddRepeated("--suppress-ids", &suppressed_ids, "Do not generate this token, or these tokens in sequence")
      .Placeholder("IDS");
  output
      .Add("--separator", &request.separator,
           "Join output tokens that are labels or ids, such as phonemes, with TEXT; default: as the model specifies")
      .Placeholder("TEXT");
  AddWorkers(command, &request.workers);
}

void GenerationArguments::AddRoom(Command command) {
  const Options generation = command.Under(Heading::kGeneration);
  generation.Add("--context", &request.context,
                 "Context size of a decoder without an encoder: prompt and new tokens together;\n"
                 "default: the length that the model was trained for");
  generation.AddFlag("--keep-end", &request.keep_end,
                     "Truncate a prompt that does not fit: keep its end and leave room for --max-tokens,\n"
                     "or else half of the context");
}

void GenerationArguments::AddSampling(Command command) {
  const Options sampling = command.Under(Heading::kSampling);
  fovea_sampling* const values = &request.sampling;
  sampling.Add("--temperature", &values->temperature, "Sample tokens, with logits divided by X; 0: greedy")
      .Range(0.0, 1e6);
  sampling.Add("--top-k", &values->top_k, "Sample from the N likeliest tokens").NonNegative();
  sampling.Add("--top-p", &values->top_p, "Sample from the fewest tokens whose probabilities sum to X (nucleus)")
      .Range(0.0, 1.0);
  sampling.Add("--min-p", &values->min_p, "Sample from tokens at least X times as likely as the likeliest")
      .Range(0.0, 1.0);
  sampling
      .Add("--repetition-penalty", &values->repetition_penalty,
           "Divide logits of tokens that already occur by X; multiply negative ones")
      .Range(0.0, 1e6);
  sampling.Add("--presence-penalty", &values->presence_penalty, "Subtract X from logits of tokens that already occur");
  sampling.Add("--seed", &values->seed, "Seed of the random numbers").NonNegative();
  command.Under(Heading::kOutput)
      .Add("--logprobs", &values->top_logprobs,
           "Report log-probabilities of the tokens, and of the N likeliest tokens of each step")
      .Range(0, 256)
      .WhenGiven([=] { values->logprobs = 1; });
}

void GenerationArguments::AddScoring(Command command) {
  const Options scoring = command.Under(Heading::kScoring);
  scoring
      .AddRepeated("--score", &scored,
                   "Score this continuation instead of generating: its log-probability, and that of the end after it")
      .Placeholder("TEXT");
  scoring.AddRepeated("--score-ids", &scored_ids, "Score a continuation given as token ids, separated by spaces")
      .Placeholder("IDS");
}

namespace {

void CheckTokens(const Model& model, const char* option, const std::string& given, const std::vector<int32_t>& tokens) {
  const uint32_t count = ScoredTokens(model);
  for (const int32_t token : tokens) {
    if (token >= 0 && (count == 0 || static_cast<uint32_t>(token) < count)) continue;
    Fail("{} '{}': token {} is out of range: there are {} tokens that {} can generate", option, given, token, count,
         model.name());
  }
}

}  // namespace

std::optional<fovea_beams> GenerationArguments::BeamsFor(const std::optional<fovea_beams>& usual) const {
  const fovea_sampling& s = request.sampling;
  const bool asks_for_tokens = s.temperature != 0 || s.logprobs != 0 || request.alignments ||
                               request.draft != nullptr || !request.stop_strings.empty();
  if (beams ? *beams == 1 : asks_for_tokens || !usual) {
    if (length_penalty || stop) Fail("--length-penalty and --early-stopping need --beams");
    if (request.hypotheses > 1) Fail("--hypotheses {0} needs --beams {0} or more", request.hypotheses);
    return std::nullopt;
  }
  fovea_beams search = usual ? *usual : Sized<fovea_beams>();
  if (!usual) search.length_penalty = 1;
  if (beams) search.width = *beams;
  if (length_penalty) search.length_penalty = *length_penalty;
  if (stop) search.stop = *stop;
  if (request.hypotheses > search.width) Fail("--hypotheses {0} needs --beams {0} or more", request.hypotheses);
  return search;
}

GenerationRequest GenerationArguments::RequestFor(const Model& model, const std::string& task) const {
  const GenerationDefaults defaults = DefaultsOf(model, task);
  GenerationRequest made = request;
  if (made.max_tokens == 0) made.max_tokens = defaults.max_tokens;
  made.beams = BeamsFor(defaults.beams);
  // Continuations to score have any length.
  if (request.max_tokens == 0 && defaults.max_tokens == 0 && !Scores()) made.max_length = defaults.max_length;
  made.rules.min_tokens = min_tokens.value_or(request.stops ? defaults.min_tokens : 0);
  if (request.stops && !min_tokens && defaults.min_tokens == 0) made.rules.min_length = defaults.min_length;
  if (made.sampling.repetition_penalty == 0) made.sampling.repetition_penalty = defaults.repetition_penalty;
  if (request.stops && !made.beams && !Scores() && made.stop_strings.empty()) made.stop_strings = defaults.stop_strings;
  made.rules.no_repeat_ngram = no_repeat_ngram.value_or(defaults.no_repeat_ngram);
  made.rules.no_repeat_source_ngram = no_repeat_source_ngram.value_or(defaults.no_repeat_source_ngram);
  made.rules.forbid = defaults.bad_words;
  if (request.separator && !ShowsPieces(model)) {
    Fail("{}: --separator is for tokenizers whose tokens are labels or ids; this one decodes to text; leave it out",
         model.name());
  }
  const auto forbid = [&](const char* option, const std::string& given, std::vector<int32_t> tokens) {
    if (tokens.empty()) Fail("{} '{}': has no tokens", option, given);
    CheckTokens(model, option, given, tokens);
    made.rules.forbid.push_back(std::move(tokens));
  };
  for (const std::string& text : suppressed) {
    for (const auto& tokens : TargetForms(model, text, request.separator)) forbid("--suppress", text, tokens);
  }
  for (const std::string& ids : suppressed_ids) forbid("--suppress-ids", ids, ReadIds("--suppress-ids", ids));
  return made;
}

OrderedJson GenerationArguments::Score(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                                       const std::vector<std::string>& texts, const std::vector<std::string>& names,
                                       const GenerationRequest& search, bool json, Console* console) const {
  const fovea_sampling& s = request.sampling;
  if (beams || s.temperature != 0 || request.draft != nullptr || request.alignments || !request.stop_strings.empty()) {
    Fail("--score generates nothing: leave out --beams, --temperature, --draft, --alignments and --stop");
  }
  std::vector<std::vector<int32_t>> sources, continuations;
  std::vector<std::string> labels;
  const auto add = [&](size_t input, const std::string& text, std::vector<int32_t> tokens, const char* option) {
    CheckTokens(model, option, text, tokens);
    sources.push_back(inputs[input]);
    continuations.push_back(std::move(tokens));
    labels.push_back(fmt::format("{} -> {}", names[input], text));
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const std::string& text : scored) {
      std::vector<int32_t> tokens = ContinuationTokens(model, texts[i], text, request.separator);
      if (tokens.empty() && !text.empty()) Fail("--score '{}': adds no tokens to '{}'", text, Shortened(names[i]));
      add(i, text, std::move(tokens), "--score");
    }
    for (const std::string& ids : scored_ids) add(i, ids, ReadIds("--score-ids", ids), "--score-ids");
  }
  const std::vector<Likelihood> likelihoods = ScoreTexts(model, sources, continuations, search);
  OrderedJson list = OrderedJson::array();
  const size_t choices = scored.size() + scored_ids.size();
  for (size_t i = 0; i < likelihoods.size(); ++i) {
    const Likelihood& found = likelihoods[i];
    if (json) {
      const size_t choice = i % choices;
      OrderedJson entry = {{"input", names[i / choices]}, {"input_ids", inputs[i / choices]}};
      entry["text"] = choice < scored.size() ? scored[choice] : scored_ids[choice - scored.size()];
      entry.update(LikelihoodJson(model, found));
      list.push_back(entry);
      continue;
    }
    console->out << Printable(labels[i]) << "\n";
    for (size_t k = 0; k < found.tokens.size(); ++k) {
      console->out << fmt::format("  {:<8} {:8.3f}\n", Printable(GeneratedPiece(model, found.tokens[k])),
                                  found.logprobs[k]);
    }
    console->out << fmt::format("  sum      {:8.3f}", found.sum);
    if (found.end) console->out << fmt::format("  with the end {:.3f}", found.sum + *found.end);
    console->out << "\n";
  }
  return list;
}

}  // namespace fovea::tools
