// Prints the class of a text: ./classify model.fovea "a text"
#include <stdio.h>

#include <fovea/fovea.hpp>

fovea::Result<const char*> Classify(const fovea::Model& model, std::string_view text) {
  const auto tokens = fovea::Tokenizer(model).encode(text);
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  options.rows = tokens->size();
  auto session = fovea::Session::make(model, options);
  if (!tokens) return tokens.status();
  if (const auto bound = session->bind(*tokens); !bound) return bound;
  if (const auto ran = session->run(); !ran) return ran;
  const auto logits = session->output<float>("logits")->row(0);
  std::uint32_t best = 0;
  for (std::uint32_t i = 1; i < logits.size(); ++i) best = logits[i] > logits[best] ? i : best;
  return model.label(best);
}

int main(int argc, char** argv) {
  FILE* file = argc == 3 ? fopen(argv[1], "rb") : nullptr;
  if (file == nullptr || fseek(file, 0, SEEK_END) != 0) return 2;
  const auto blob = fovea::Memory::allocate(static_cast<std::uint64_t>(ftell(file)));  // or map the file
  rewind(file);
  const bool read = fread(blob->data(), 1, static_cast<size_t>(blob->size()), file) == blob->size();
  fclose(file);
  if (!read) return 2;
  const auto model = fovea::Model::make({blob->data(), blob->size()});
  if (!model) return fprintf(stderr, "%s: %s\n", argv[1], model.text()), 1;
  const auto label = Classify(*model, argv[2]);
  if (!label) return fprintf(stderr, "%s\n", label.text()), 1;
  puts(*label);
}
