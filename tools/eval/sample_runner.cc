#include "tools/eval/sample_runner.h"

#include "tools/base/fail.h"
#include "tools/measure/alternating_runs.h"
#include "tools/media/picture_inputs.h"
#include "tools/media/sound_inputs.h"
#include "tools/prediction/word_weights.h"
#include "tools/text/text_inputs.h"
#include "tools/text/text_windows.h"

namespace fovea::tools {
namespace {

uint32_t SoundProgram(const Model& model, const std::string& name) {
  for (uint32_t program = 0; name.empty() && program < model.Info().program_count; ++program) {
    if (FindSoundInput(model, program)) return program;
  }
  const uint32_t program = model.FindProgram(name);
  if (!FindSoundInput(model, program)) {
    Fail("{}: program '{}' does not read audio", model.name(), model.Program(program).name);
  }
  return program;
}

std::vector<uint32_t> ProgramsOf(const Model& model, SampleKind kind, const std::string& name) {
  if (kind == SampleKind::kPictures) return PicturePrograms(model, name);
  return {kind == SampleKind::kSounds ? SoundProgram(model, name) : FindTextProgram(model, name)};
}

// Runs `make`; a failure's message gets the item's location as prefix.
template <typename Make>
auto At(const Item& item, const Make& make) {
  try {
    return make();
  } catch (const Failure& failure) {
    Fail("{}: {}", item.place, failure.what());
  }
}

Matrix RowsOf(const Matrix& all, const std::vector<uint32_t>& rows) {
  Matrix some{static_cast<uint32_t>(rows.size()), all.width, {}};
  for (const uint32_t row : rows) some.values.insert(some.values.end(), all.Row(row), all.Row(row) + all.width);
  return some;
}

}  // namespace

SampleRunner::SampleRunner(const Model& model, SampleKind kind, const RunnerOptions& options)
    : model_(model), kind_(kind), options_(options), programs_(ProgramsOf(model, kind, options.program)) {
  if (kind != SampleKind::kTexts) return;
  tokenizer_ = std::make_unique<Tokenizer>(model);
  if (task() == OutputTask::kEmbedding || MakesWordWeights(model)) {
    prompt_ = ChoosePrompt(model, options.prompt_name);
  } else if (!options.prompt_name.empty()) {
    Fail("{}: makes no embeddings; leave out --prompt-name", model.name());
  }
}

void SampleRunner::Prepare(const std::vector<Item>& items) {
  jobs_.clear();
  results_.assign(items.size(), {});
  if (kind_ == SampleKind::kPictures) return PreparePictures(items);
  if (kind_ == SampleKind::kSounds) return PrepareSounds(items);
  PrepareTexts(items);
}

void SampleRunner::PrepareTexts(const std::vector<Item>& items) {
  const uint32_t program = programs_[0];
  std::vector<Tokens> encoded;
  std::vector<size_t> lengths;
  for (const Item& item : items) {
    encoded.push_back(At(item, [&] {
      const std::vector<std::string>& parts = item.parts;
      if (parts.size() == 1) {
        return EncodeFor(model_, *tokenizer_, program, prompt_.Before(parts[0]), options_.max_length);
      }
      return EncodePairFor(model_, *tokenizer_, program, parts[0], parts[1], options_.max_length);
    }));
    lengths.push_back(encoded.back().ids.size());
    cuts_.Add(encoded.back());
  }
  BatchLimits limits;
  limits.texts = model_.Space(TokenSpace(model_, program)).parent == FOVEA_NONE ? 1 : UINT32_MAX;
  for (std::vector<size_t>& which : BatchesByLength(lengths, limits)) {
    Job job = {program, std::move(which), {}, {}};
    for (const size_t i : job.items) job.tokens.push_back(std::move(encoded[i]));
    job.batch = BatchFromTokens(model_, program, job.tokens);
    jobs_.push_back(std::move(job));
  }
}

void SampleRunner::PreparePictures(const std::vector<Item>& items) {
  std::map<uint32_t, size_t> job_of;  // by program
  std::vector<std::unique_ptr<PictureBatch>> batches;
  for (size_t i = 0; i < items.size(); ++i) {
    const Picture picture = At(items[i], [&] { return ReadPicture(items[i].parts[0]); });
    const uint32_t program = ProgramFor(model_, programs_, picture);
    const auto [job, is_new] = job_of.emplace(program, jobs_.size());
    if (is_new) {
      jobs_.push_back({program, {}, {}, {}});
      batches.push_back(std::make_unique<PictureBatch>(model_, program));
    }
    jobs_[job->second].items.push_back(i);
    batches[job->second]->Add(picture);
  }
  for (size_t i = 0; i < jobs_.size(); ++i) jobs_[i].batch = batches[i]->Finish();
}

void SampleRunner::PrepareSounds(const std::vector<Item>& items) {
  const SoundInput input = *FindSoundInput(model_, programs_[0]);
  Job job = {programs_[0], {}, {}, {}};
  std::vector<Sound> sounds;
  for (size_t i = 0; i < items.size(); ++i) {
    job.items.push_back(i);
    sounds.push_back(At(items[i], [&] { return ReadClip(items[i].parts[0], input); }));
    for (const std::string& note : sounds.back().notes) {
      notes_.push_back(fmt::format("{}: {}: {}", items[i].place, items[i].parts[0], note));
    }
  }
  job.batch = BatchFromSounds(model_, input, job.program, sounds);
  jobs_.push_back(std::move(job));
}

// A session that fits the largest batch of the program so far. A new session is run once to warm up.
Session& SampleRunner::SessionOf(const Job& job) {
  SessionRequest request;
  request.program = job.program;
  request.workers = options_.workers;
  bool is_new = false;
  Session& session = sessions_.try_emplace(job.program, model_, request).first->second.For(job.batch, &is_new);
  if (!is_new) return session;
  const fovea_session_info info = session.Info();
  if (info.cache_bytes + info.state_bytes != 0) {
    Fail("{}: program '{}' has a KV cache; evaluation needs a program that reads whole samples", model_.name(),
         model_.Program(job.program).name);
  }
  session.Run();
  Bind(job.batch, &session);
  return session;
}

double SampleRunner::Run() {
  double seconds = 0;
  for (const Job& job : jobs_) {
    Session& session = SessionOf(job);
    seconds += SecondsToRun(session);
    Keep(job, session);
  }
  return seconds;
}

void SampleRunner::Keep(const Job& job, const Session& session) {
  const OutputTask task = TaskOf(model_, job.program);
  const bool sparse = options_.sparse && task == OutputTask::kMaskedWords;
  const Matrix all = sparse                           ? WordWeights(model_, session, job.tokens)
                     : task == OutputTask::kEmbedding ? ReadEmbeddings(model_, session, options_.dimensions).rows
                                                      : ReadLogits(model_, session);
  const bool of_tokens = !sparse && (task == OutputTask::kTags || task == OutputTask::kMaskedWords);
  if (of_tokens && kind_ != SampleKind::kTexts) {
    Fail("{}: the program has no output for a whole sound or image", model_.name());
  }
  uint32_t first = 0;
  for (size_t i = 0; i < job.items.size(); ++i) {
    std::vector<uint32_t> rows;
    if (!of_tokens) rows.push_back(static_cast<uint32_t>(i));
    for (uint32_t token = 0; of_tokens && token < job.tokens[i].ids.size(); ++token) {
      if (job.tokens[i].special[token] == 0) rows.push_back(first + token);
    }
    if (of_tokens) first += static_cast<uint32_t>(job.tokens[i].ids.size());
    for (const uint32_t row : rows) {
      if (row >= all.rows) Fail("{}: the program's output has {} rows", model_.name(), all.rows);
    }
    results_[job.items[i]] = RowsOf(all, rows);
  }
}

}  // namespace fovea::tools
