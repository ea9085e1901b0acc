// fovea similarity: cosines between texts.
#include <fmt/format.h>
#include <math.h>

#include <memory>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/common/engine.h"
#include "tools/common/prediction.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  std::string program;
  uint32_t workers = 1;
  bool json = false;
};

double Dot(const Matrix& rows, uint32_t a, uint32_t b) {
  double sum = 0;
  for (uint32_t j = 0; j < rows.width; ++j) sum += static_cast<double>(rows.Row(a)[j]) * rows.Row(b)[j];
  return sum;
}

void Similarity(const Arguments& arguments, Console* console) {
  const Model model = arguments.model.Open();
  const Tokenizer tokenizer(model);
  const uint32_t program = model.FindProgram(arguments.program);
  std::vector<std::string> texts = arguments.text.All();
  if (texts.size() < 2) Fail("give at least two texts with --text or --file");
  const TextRun run = RunTexts(model, tokenizer, program, texts, {arguments.workers});
  const Embeddings embeddings = ReadEmbeddings(model, *run.session);
  const uint32_t count = embeddings.rows.rows;
  std::vector<std::vector<double>> cosines(count, std::vector<double>(count));
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = 0; j < count; ++j) {
      const double norms = sqrt(Dot(embeddings.rows, i, i)) * sqrt(Dot(embeddings.rows, j, j));
      cosines[i][j] = norms == 0 ? 0 : Dot(embeddings.rows, i, j) / norms;
    }
  }
  if (arguments.json) {
    PrintJson(console->out, {{"source", embeddings.source}, {"texts", texts}, {"cosines", cosines}});
    return;
  }
  console->out << fmt::format("Cosine of {}\n      ", embeddings.source);
  for (uint32_t j = 0; j < count; ++j) console->out << fmt::format("{:>8}", j + 1);
  console->out << "\n";
  for (uint32_t i = 0; i < count; ++i) {
    console->out << fmt::format("{:>6}", i + 1);
    for (uint32_t j = 0; j < count; ++j) console->out << fmt::format("{:>8.4f}", cosines[i][j]);
    console->out << "  " << Printable(texts[i]) << "\n";
  }
}

}  // namespace

void AddSimilarity(CLI::App* app, Console* console) {
  CLI::App* command = app->add_subcommand("similarity", "Compare the embeddings of texts");
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->text.AddTo(command);
  AddProgram(command, &arguments->program);
  AddWorkers(command, &arguments->workers);
  AddJson(command, &arguments->json);
  command->footer(
      "Compared is the sentence embedding or pooled output of the model, or else the mean of its last hidden states.\n"
      "Example:\n  fovea similarity model.fovea --text \"A cat sleeps\" --text \"A kitten naps\" --text \"Stocks "
      "fell\"");
  command->callback([=] { Similarity(*arguments, console); });
}

}  // namespace fovea::tools
