// The four jobs in C++17, without exceptions: cpp classify|embed|generate|look BLOB TEXT [TEXT]
#include <fovea/port.h>
#include <stdio.h>
#include <string.h>

#include <fovea/fovea.hpp>
#include <vector>

using fovea::Model;
using fovea::Result;
using fovea::Session;
using fovea::Status;
using fovea::Tokenizer;

// A session that has read the tokens of a text.
static Result<Session> Run(const Model& model, const fovea::Tokens& tokens, fovea_session_options options) {
  if (tokens.get().text_tokens[0] > tokens.size()) fprintf(stderr, "cut: the text is longer than the model reads\n");
  options.rows = tokens.size();
  auto session = Session::make(model, options);
  if (!session) return session;
  if (const Status bound = session->bind(tokens); !bound) return bound;
  if (const Status ran = session->run(); !ran) return ran;
  return session;
}

// The likeliest class of a text, with its probability.
static Status Classify(const Model& model, std::string_view text) {
  const auto tokens = Tokenizer(model).encode(text);
  if (!tokens) return tokens.status();
  const auto session = Run(model, *tokens, FOVEA_SESSION_OPTIONS_INIT);
  if (!session) return session.status();
  const auto result = model.result();
  std::vector<float> scores(result->width);
  if (const Status read = session->read(*result, 0, scores); !read) return read;
  std::uint32_t best = 0;
  fovea_result_rank(scores.data(), result->width, 1, &best);
  printf("%s %.4f\n", model.label(best), static_cast<double>(scores[best]));
  return Status();
}

// The embedding of a text, appended to `rows`.
static Status Embed(const Model& model, std::string_view text, const fovea_result_info& result,
                    std::vector<float>& rows) {
  const auto tokens = Tokenizer(model).encode(text);
  if (!tokens) return tokens.status();
  const auto session = Run(model, *tokens, FOVEA_SESSION_OPTIONS_INIT);
  if (!session) return session.status();
  rows.resize(rows.size() + result.width);
  return session->read(result, 0, {rows.data() + rows.size() - result.width, result.width});
}

// How similar two texts are, by the measure that the model was trained for.
static Status Compare(const Model& model, std::string_view first, std::string_view second) {
  const auto result = model.result();
  if (!result) return result.status();
  std::vector<float> rows;
  if (const Status read = Embed(model, first, *result, rows); !read) return read;
  if (const Status read = Embed(model, second, *result, rows); !read) return read;
  const std::uint32_t width = result->width;
  printf("%.4f\n", fovea_result_similarity(result->measure, rows.data(), 1, rows.data() + width, 1, width));
  return Status();
}

// A text continued, printed as it comes.
static Status Generate(const Model& model, std::string_view text) {
  constexpr std::uint32_t kNewTokens = 48;
  const auto tokens = Tokenizer(model).encode(text);
  if (!tokens) return tokens.status();
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  const Status found = Status::of(
      [&](fovea_error* error) { return fovea_generate_find_programs(model.get(), &options.program, nullptr, error); });
  if (!found) return found;
  options.rows = tokens->size() + kNewTokens;  // the KV cache has room for the prompt and the new tokens
  options.cached_texts = 1;
  const auto session = Session::make(model, options);
  if (!session) return session.status();
  fovea_generate_options making = FOVEA_GENERATE_OPTIONS_INIT;
  making.decode = session->get();
  making.max_tokens = kNewTokens;
  auto generator = fovea::Generator::make(making);
  if (!generator) return generator.status();
  if (const Status started = generator->start(); !started) return started;
  const std::uint32_t length[] = {static_cast<std::uint32_t>(tokens->size())};
  if (const Status set = generator->set_prompts(tokens->ids(), length); !set) return set;

  fovea::TextStream stream(model);
  for (bool left = true; left;) {
    const auto step = generator->next();
    if (!step) return step.status();
    const auto part = stream.next({step->tokens, 1});
    if (!part) return part.status();
    fovea_port_write(part->data(), part->size());
    left = step->left != 0;
  }
  const auto rest = stream.end();
  if (!rest) return rest.status();
  fovea_port_write(rest->data(), rest->size());
  fovea_port_write("\n", 1);
  return Status();
}

// The token that receives most attention in the last attention layer, as a share of all weights.
static Status Look(const Model& model, std::string_view text) {
  const auto tokens = Tokenizer(model).encode(text);
  if (!tokens) return tokens.status();
  fovea_tap tap = FOVEA_TAP_INIT;
  tap.reduce = FOVEA_REDUCE_MEAN;
  for (std::uint32_t i = 0; const auto step = model.step(0, i); ++i) {
    if (strcmp(step->op, "attention") == 0) tap.step = i;
  }
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  options.taps = &tap;
  options.tap_count = 1;
  const auto session = Run(model, *tokens, options);
  if (!session) return session.status();
  const auto map = session->attention_map(0);
  if (!map) return map.status();
  float most = 0;
  std::uint32_t best = 0;
  for (std::uint32_t key = 0; key < map->key_rows; ++key) {
    float received = 0;
    for (std::uint32_t row = 0; row < map->rows; ++row) {
      received += map->data[std::size_t{row} * map->stride + key] / static_cast<float>(map->rows);
    }
    if (received > most && !tokens->special()[key]) most = received, best = key;
  }
  const std::uint32_t* range = &tokens->ranges()[2 * std::size_t{best}];
  const auto word = text.substr(range[0], range[1] - range[0]);
  printf("%.3f %.*s\n", static_cast<double>(most), static_cast<int>(word.size()), word.data());
  return Status();
}

int main(int argc, char** argv) {
  const std::string_view job = argc > 1 ? argv[1] : "";
  if (argc != (job == "embed" ? 5 : 4)) {
    fprintf(stderr, "usage: %s classify|embed|generate|look BLOB TEXT [TEXT]\n", argv[0]);
    return 2;
  }
  fovea_port_file file;
  if (const char* failure = fovea_port_open(argv[2], &file); failure != nullptr) {
    fprintf(stderr, "%s: %s\n", argv[2], failure);
    return 1;
  }
  Status status;
  {
    const auto model = Model::make({file.data, file.size});
    status = !model              ? model.status()
             : job == "classify" ? Classify(*model, argv[3])
             : job == "embed"    ? Compare(*model, argv[3], argv[4])
             : job == "generate" ? Generate(*model, argv[3])
             : job == "look"     ? Look(*model, argv[3])
                                 : Status(FOVEA_E_OPTION, "no such job");
  }
  fovea_port_close(&file);
  if (!status) fprintf(stderr, "%s: %s\n", argv[2], status.text());
  return status ? 0 : 1;
}
