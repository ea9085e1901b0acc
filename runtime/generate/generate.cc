#include "runtime/generate/generate.h"

#include <string.h>

#include <algorithm>
#include <limits>

#include "runtime/model/find.h"

namespace fovea {
namespace {

constexpr int32_t kNoToken = -1;

uint32_t FindByName(const Session& session, const char* name) {
  return FindValue(*session.model, session.program(), name);
}

// Reads a number that ends with a space or the text; false if there is none.
bool ReadNumber(const char** text, int32_t* number) {
  const char* at = *text;
  while (*at == ' ') ++at;
  uint64_t value = 0;
  const char* const first = at;
  for (; *at >= '0' && *at <= '9' && value <= INT32_MAX; ++at) value = 10 * value + static_cast<uint64_t>(*at - '0');
  if (at == first || (*at != '\0' && *at != ' ') || value > INT32_MAX) return false;
  while (*at == ' ') ++at;
  *text = at;
  *number = static_cast<int32_t>(value);
  return true;
}

Status FindValues(const fovea_generate_options& options, Generator* g, Reporter& reporter) {
  const Blob& blob = g->decode->model->blob;
  const char* token = options.token != nullptr ? options.token : FindMetadata(blob, "generate.token");
  const char* scores = options.scores != nullptr ? options.scores : FindMetadata(blob, "generate.scores");
  if (token == nullptr || scores == nullptr) {
    return reporter.Fail(FOVEA_E_NAME, "neither options nor metadata name the decoder's token and scores");
  }
  g->token = FindByName(*g->decode, token);
  g->scores = FindByName(*g->decode, scores);
  if (g->token == kBlobNone) return reporter.Fail(FOVEA_E_NAME, "the decoder has no value of the token's name");
  if (g->scores == kBlobNone) return reporter.Fail(FOVEA_E_NAME, "the decoder has no value of the scores' name");
  const ValueRecord &in = g->decode->value(g->token), &out = g->decode->value(g->scores);
  const bool input = in.role == ValueRole::kInput && !g->decode->links[g->token].linked;
  if (!input || DType(in.type) != DType::kI32 || in.width != 1) {
    return reporter.Fail(FOVEA_E_OPTION, "the token is no i32 input of width 1 that the caller writes", 1, in.width);
  }
  if (!IsReadable(*g->decode, g->scores) || DType(out.type) != DType::kF32 || out.space != in.space) {
    return reporter.Fail(FOVEA_E_OPTION, "the scores are no f32 output in the token's space", in.space, out.space);
  }
  const uint32_t limit = g->decode->model->id_limits[g->decode->program().first_value + g->token];
  if (limit != 0 && out.width > limit) {
    return reporter.Fail(FOVEA_E_OPTION, "there are more scores than rows in the token's table", limit, out.width);
  }
  return kOk;
}

Status CheckToken(const Generator& g, int32_t token, uint64_t byte, Reporter& reporter) {
  const uint32_t limit = g.decode->value(g.scores).width;
  if (token >= 0 && static_cast<uint32_t>(token) < limit) return kOk;
  return reporter.Fail(FOVEA_E_ID, "a token is none of those that have scores", limit, static_cast<uint32_t>(token),
                       byte);
}

// The first token, the ends and the limit.
Status ReadNumbers(const fovea_generate_options& options, Arena& arena, Generator* g, Reporter& reporter) {
  const Blob& blob = g->decode->model->blob;
  const char* start = FindMetadata(blob, "generate.start");
  if (options.start != nullptr) {
    g->start = *options.start;
  } else if (start == nullptr) {
    return reporter.Fail(FOVEA_E_NAME, "neither options nor metadata have a first token");
  } else if (!ReadNumber(&start, &g->start) || *start != '\0') {
    return reporter.Fail(FOVEA_E_NAME, "generate.start is no number");
  }
  const uint32_t limit = g->decode->model->id_limits[g->decode->program().first_value + g->token];
  if (g->start < 0 || (limit != 0 && static_cast<uint32_t>(g->start) >= limit)) {
    return reporter.Fail(FOVEA_E_ID, "the first token is outside its table", limit, static_cast<uint32_t>(g->start));
  }

  if (options.end_count != 0 && options.ends == nullptr) return reporter.Fail(FOVEA_E_NULL, "ends is NULL");
  const char* ends = options.ends != nullptr ? nullptr : FindMetadata(blob, "generate.end");
  g->end_count = options.end_count;
  if (ends != nullptr) {
    int32_t number;
    for (const char* at = ends; *at != '\0'; ++g->end_count) {
      if (!ReadNumber(&at, &number)) return reporter.Fail(FOVEA_E_NAME, "generate.end is no list of numbers");
    }
  }
  g->ends = arena.Take<int32_t>(g->end_count);
  for (uint32_t i = 0; i < g->end_count; ++i) {
    int32_t end;
    if (ends == nullptr) {
      end = options.ends[i];
    } else {
      ReadNumber(&ends, &end);
    }
    FOVEA_TRY(CheckToken(*g, end, i, reporter));
    if (g->ends != nullptr) g->ends[i] = end;
  }

  g->most = options.most;
  const char* most = FindMetadata(blob, "generate.most");
  if (g->most != 0 || most == nullptr) return kOk;
  int32_t number = 0;
  if (!ReadNumber(&most, &number) || *most != '\0') return reporter.Fail(FOVEA_E_NAME, "generate.most is no number");
  g->most = static_cast<uint32_t>(number);
  return kOk;
}

Status FindLinks(Arena& arena, Generator* g, Reporter& reporter) {
  const Session& decode = *g->decode;
  const uint32_t inputs = decode.program().value_count - decode.program().operation_count;
  for (uint32_t v = 0; v < inputs; ++v) {
    if (FindGenerateLink(*decode.model, decode.program(), v) != nullptr) ++g->link_count;
  }
  if (g->link_count != 0 && g->encode == nullptr) {
    return reporter.Fail(FOVEA_E_OPTION, "the decoder's inputs are linked and there is no encoder", g->link_count, 0);
  }
  g->links = arena.Take<GenerateLink>(g->link_count);
  uint32_t count = 0;
  for (uint32_t v = 0; v < inputs && g->link_count != 0; ++v) {
    const char* name = FindGenerateLink(*decode.model, decode.program(), v);
    if (name == nullptr) continue;
    const uint32_t output = FindByName(*g->encode, name);
    reporter.tensor = v;
    if (output == kBlobNone) return reporter.Fail(FOVEA_E_NAME, "the encoder has no value that an input is linked to");
    if (g->links != nullptr) g->links[count++] = {v, output};
  }
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

bool IsEnd(const Generator& g, int32_t token) {
  return std::find(g.ends, g.ends + g.end_count, token) != g.ends + g.end_count;
}

// The highest score, the first of equals; what is no number is no score.
uint32_t BestOf(const float* scores, uint32_t count) {
  uint32_t best = 0;
  float highest = -std::numeric_limits<float>::infinity();
  for (uint32_t i = 0; i < count; ++i) {
    if (scores[i] > highest) highest = scores[i], best = i;
  }
  return best;
}

}  // namespace

const char* FindGenerateLink(const Model& model, const ProgramRecord& program, uint32_t input) {
  constexpr char kPrefix[] = "generate.link.";
  constexpr size_t kLength = sizeof(kPrefix) - 1;
  const Blob& blob = model.blob;
  const char* name = blob.String(blob.values[program.first_value + input].name);
  for (uint32_t i = 0; i < blob.metadata.count; ++i) {
    const char* key = blob.String(blob.metadata[i].key);
    if (strncmp(key, kPrefix, kLength) == 0 && strcmp(key + kLength, name) == 0) {
      return blob.String(blob.metadata[i].value);
    }
  }
  return nullptr;
}

Status PlaceGenerator(const fovea_generate_options& options, Session* decode, const Session* encode, Arena& arena,
                      Reporter& reporter, Generator* generator) {
  Generator g;
  g.decode = decode;
  g.encode = encode;
  if (encode != nullptr && (encode->model != decode->model || encode == decode)) {
    return reporter.Fail(FOVEA_E_OPTION, "encoder and decoder must be different sessions of one model");
  }
  FOVEA_TRY(FindValues(options, &g, reporter));
  FOVEA_TRY(ReadNumbers(options, arena, &g, reporter));
  FOVEA_TRY(FindLinks(arena, &g, reporter));
  const uint32_t most_texts = decode->spaces[g.space()].max_rows;
  g.last = arena.Take<int32_t>(most_texts);
  g.tokens = arena.Take<int32_t>(most_texts);
  g.best = arena.Take<float>(most_texts);
  g.ended = arena.Take<uint8_t>(most_texts);
  *generator = g;
  return kOk;
}

Status StartGenerator(Generator& g, Reporter& reporter) {
  g.started = false;
  FOVEA_TRY(ResetCarried(*g.decode, reporter));
  for (uint32_t i = 0; i < g.link_count; ++i) {
    FOVEA_TRY(LinkInput(*g.decode, g.links[i].input, *g.encode, g.links[i].output, reporter));
  }
  if (!g.decode->spaces[g.space()].bound) return reporter.Fail(FOVEA_E_ORDER, "the decoder has no texts yet");
  g.texts = g.left = g.decode->space_rows[g.space()].rows;
  g.steps = 0;
  std::fill_n(g.last, g.texts, g.start);
  memset(g.ended, 0, g.texts);
  g.started = true;
  return kOk;
}

Status StepGenerator(Generator& g, const int32_t* forced, Reporter& reporter) {
  Session& decode = *g.decode;
  if (!g.started) return reporter.Fail(FOVEA_E_ORDER, "generation has not started");
  if (g.left == 0) return reporter.Fail(FOVEA_E_ORDER, "all texts have ended");
  if (decode.space_rows[g.space()].rows != g.texts) {
    return reporter.Fail(FOVEA_E_ORDER, "the decoder got other texts since the start", g.texts,
                         decode.space_rows[g.space()].rows);
  }
  for (uint32_t i = 0; i < g.texts && forced != nullptr; ++i) {
    if (forced[i] != kNoToken && g.ended[i] == 0) FOVEA_TRY(CheckToken(g, forced[i], i, reporter));
  }
  if (g.texts != 0) memcpy(decode.values[g.token], g.last, g.texts * sizeof(int32_t));
  FOVEA_TRY(BeginRun(decode, reporter));
  uint32_t left = 0;
  FOVEA_TRY(AdvanceRun(decode, UINT32_MAX, &left, reporter));

  const uint32_t width = decode.value(g.scores).width;
  const auto* scores = reinterpret_cast<const float*>(FinishedRows(decode, g.scores));
  const bool is_last = ++g.steps == g.most;
  for (uint32_t i = 0; i < g.texts; ++i) {
    if (g.ended[i] != 0) {
      g.tokens[i] = kNoToken;
      g.best[i] = 0.0f;
      continue;
    }
    const float* row = scores + size_t{i} * width;
    const bool chosen = forced == nullptr || forced[i] == kNoToken;
    g.last[i] = g.tokens[i] = chosen ? static_cast<int32_t>(BestOf(row, width)) : forced[i];
    g.best[i] = row[g.tokens[i]];
    if (!is_last && !IsEnd(g, g.tokens[i])) continue;
    g.ended[i] = 1;
    --g.left;
  }
  return kOk;
}

}  // namespace fovea
