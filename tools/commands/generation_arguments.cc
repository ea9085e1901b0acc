#include "tools/commands/generation_arguments.h"

#include "tools/generate/defaults.h"
#include "tools/generate/target_tokens.h"

namespace fovea::tools {

void GenerationArguments::AddSearch(CLI::App* command) {
  command->add_option("-n,--max-tokens", request.max_tokens, "Most tokens of a text; default: as the model says");
  command->add_option("--min-tokens", min_tokens, "Fewest tokens of a text, with the one that ends it");
  AddCacheType(command, &request.cache_type);
  command->add_option("--beams,--num-beams", beams, "Texts in the making of each text; default: as the model says")
      ->check(CLI::Range(1, 256));
  command->add_option("--length-penalty", length_penalty,
                      "Of beams: sums of log-probabilities are divided by the number of tokens to this power");
  AddChoice<std::optional<uint32_t>>(
      command, "--early-stopping", &stop,
      {{"false", FOVEA_BEAMS_STOP_IF_WORSE}, {"true", FOVEA_BEAMS_STOP_FIRST}, {"never", FOVEA_BEAMS_STOP_NEVER}},
      "Of beams: end when as many texts are found (true), when none in the making is better (false), or can be (never)")
      ->type_name("WHEN");
  command->add_option("--hypotheses,--num-hypotheses", request.hypotheses, "Texts of each search, the best first")
      ->check(CLI::Range(1, 256));
  command->add_option("--no-repeat-ngram-size", no_repeat_ngram, "So many tokens in a row come once at most");
  command->add_option("--encoder-no-repeat-ngram-size", no_repeat_source_ngram,
                      "So many tokens in a row of what an encoder read do not come");
  AddRepeated(command, "--suppress", &suppressed, "A text that is not written")->type_name("TEXT");
  AddWorkers(command, &request.workers);
}

void GenerationArguments::AddSampling(CLI::App* command) {
  fovea_sampling* const sampling = &request.sampling;
  command
      ->add_option("--temperature", sampling->temperature, "Draw tokens; scores are divided by it. 0: the best token")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--top-k", sampling->top_k, "Draw among so many of the best tokens only")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--top-p", sampling->top_p, "Draw among the fewest likeliest tokens with this probability together")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--min-p", sampling->min_p, "Draw among tokens at least this times as likely as the likeliest")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--repetition-penalty", sampling->repetition_penalty,
                   "Scores of tokens that the text has are divided by it, negative ones multiplied")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--presence-penalty", sampling->presence_penalty,
                      "Subtracted from the scores of tokens that the text has");
  command->add_option("--seed", sampling->seed, "Of the random numbers")->check(CLI::NonNegativeNumber);
  command
      ->add_option_function<uint32_t>(
          "--logprobs", [=](uint32_t count) { sampling->logprobs = 1, sampling->top_logprobs = count; },
          "Log-probabilities of the tokens, and of so many of the likeliest ones of each step")
      ->check(CLI::Range(0, 256))
      ->type_name("UINT");
}

std::optional<fovea_beams> GenerationArguments::BeamsFor(const std::optional<fovea_beams>& usual) const {
  const fovea_sampling& s = request.sampling;
  const bool asks_for_tokens = s.temperature != 0 || s.logprobs != 0 || request.alignments ||
                               request.draft != nullptr || !request.stop_strings.empty();
  if (beams ? *beams == 1 : asks_for_tokens || !usual) {
    if (length_penalty || stop) Fail("--length-penalty and --early-stopping go with --beams");
    if (request.hypotheses > 1) Fail("--hypotheses {} needs as many --beams", request.hypotheses);
    return std::nullopt;
  }
  fovea_beams search = usual ? *usual : Sized<fovea_beams>();
  if (!usual) search.length_penalty = 1;
  if (beams) search.width = *beams;
  if (length_penalty) search.length_penalty = *length_penalty;
  if (stop) search.stop = *stop;
  if (request.hypotheses > search.width) Fail("--hypotheses {} needs as many --beams", request.hypotheses);
  return search;
}

GenerationRequest GenerationArguments::RequestFor(const Model& model, const std::string& task) const {
  const GenerationDefaults defaults = DefaultsOf(model, task);
  GenerationRequest made = request;
  if (made.max_tokens == 0) made.max_tokens = defaults.max_tokens;
  made.beams = BeamsFor(defaults.beams);
  made.rules.min_tokens = min_tokens.value_or(request.stops ? defaults.min_tokens : 0);
  made.rules.no_repeat_ngram = no_repeat_ngram.value_or(defaults.no_repeat_ngram);
  made.rules.no_repeat_source_ngram = no_repeat_source_ngram.value_or(defaults.no_repeat_source_ngram);
  made.rules.forbid = defaults.bad_words;
  for (const std::string& text : suppressed) {
    made.rules.forbid.push_back(TargetTokens(model, text));
    if (made.rules.forbid.back().empty()) Fail("--suppress '{}': has no tokens", text);
  }
  return made;
}

}  // namespace fovea::tools
