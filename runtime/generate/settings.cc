#include "runtime/generate/settings.h"

#include <string.h>

#include <algorithm>

#include "runtime/generate/generate.h"
#include "runtime/model/find.h"

namespace fovea {
namespace {

// A setting: the caller's option, else an entry of the metadata.
struct Setting {
  const char* text = nullptr;  // null: not set
  uint32_t entry = kBlobNone;  // index in the metadata
};

class Reader {
 public:
  Reader(const fovea_generate_options& options, Arena& arena, Reporter& reporter, Generator* g)
      : options_(options), blob_(g->decode->model->blob), arena_(arena), reporter_(reporter), g_(g) {}

  Status Run() {
    FOVEA_TRY(FindValues());
    FOVEA_TRY(ReadStart());
    FOVEA_TRY(ReadStopIds());
    FOVEA_TRY(ReadSuppressed());
    FOVEA_TRY(ReadMaxTokens());
    return FindLinks();
  }

 private:
  Setting Find(const char* option, const char* key) const {
    if (option != nullptr) return {option, kBlobNone};
    const uint32_t entry = FindMetadataEntry(blob_, key);
    if (entry == kBlobNone) return {};
    return {blob_.String(blob_.metadata[entry].value), entry};
  }
  // `old_key`: the key in older blobs.
  Setting FindEither(const char* key, const char* old_key) const {
    const Setting setting = Find(nullptr, key);
    return setting.text != nullptr ? setting : Find(nullptr, old_key);
  }

  // Reports a fault at the entry of the metadata, or at `index` of an option.
  Status Fail(const Setting& setting, fovea_status code, const char* text, uint64_t expected = 0, uint64_t found = 0,
              uint64_t index = 0) {
    if (setting.entry == kBlobNone) return reporter_.Fail(code, text, expected, found, index);
    for (uint32_t i = 0; i < blob_.sections.count; ++i) {
      if (blob_.sections[i].kind == SectionKind::kMetadata) reporter_.section = i;
    }
    return reporter_.Fail(code, text, expected, found, setting.entry);
  }

  Status FindValues() {
    const Session& decode = *g_->decode;
    const Setting token = Find(options_.token, "generate.token"), scores = Find(options_.scores, "generate.scores");
    if (token.text == nullptr || scores.text == nullptr) {
      return reporter_.Fail(
          FOVEA_E_NAME,
          "neither options nor metadata name the decoder's token and scores: set options.token and scores");
    }
    g_->settings.token = FindValue(*decode.model, decode.program(), token.text);
    if (g_->settings.token == kBlobNone)
      return Fail(token, FOVEA_E_NAME,
                  "the session's program has no value with the token's name: options.decode needs a session of the "
                  "program of fovea_generate_find_programs");
    g_->settings.scores = FindValue(*decode.model, decode.program(), scores.text);
    if (g_->settings.scores == kBlobNone)
      return Fail(scores, FOVEA_E_NAME,
                  "the session's program has no value with the scores' name: options.decode needs a session of the "
                  "program of fovea_generate_find_programs");
    const ValueRecord &in = decode.value(g_->settings.token), &out = decode.value(g_->settings.scores);
    const bool input = in.role == ValueRole::kInput && !decode.links[g_->settings.token].linked;
    if (!input || DType(in.type) != DType::kI32 || in.width != 1) {
      return Fail(token, FOVEA_E_OPTION, "the token must be an i32 input of width 1 that the caller writes", 1,
                  in.width);
    }
    // With a KV cache, a run reads any number of new tokens per text.
    if (!IsReadable(decode, g_->settings.scores) || DType(out.type) != DType::kF32 ||
        (out.space != in.space && out.space != g_->space())) {
      return Fail(scores, FOVEA_E_OPTION, "the scores must be an f32 output in the space of the token or of its texts",
                  in.space, out.space);
    }
    if (IdLimit() != 0 && out.width > IdLimit()) {
      return Fail(scores, FOVEA_E_OPTION, "there are more scores than rows in the embedding table", IdLimit(),
                  out.width);
    }
    return kOk;
  }

  // Rows of the embedding table in which the token is looked up; 0: no table.
  uint32_t IdLimit() const {
    return g_->decode->model->id_limits[g_->decode->program().first_value + g_->settings.token];
  }

  // Reads a number and the spaces around it; false if there is no number below 2^31.
  static bool ReadNumber(const char** text, int32_t* number) {
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
  static bool ReadOnly(const char* text, int32_t* number) { return ReadNumber(&text, number) && *text == '\0'; }

  Status ReadStart() {
    Setting start;
    if (options_.start != nullptr) {
      g_->settings.start = *options_.start;
    } else {
      start = Find(nullptr, "generate.start");
      if (start.text == nullptr && g_->keeps_texts()) {
        g_->settings.start = -1;  // the texts begin with prompts
        return kOk;
      }
      if (start.text == nullptr) {
        return reporter_.Fail(FOVEA_E_NAME, "neither options nor metadata have a first token: set options.start");
      }
      if (!ReadOnly(start.text, &g_->settings.start))
        return Fail(start, FOVEA_E_NAME, "generate.start is not a token id");
    }
    if (g_->settings.start >= 0 && (IdLimit() == 0 || static_cast<uint32_t>(g_->settings.start) < IdLimit()))
      return kOk;
    return Fail(start, FOVEA_E_ID, "the first token is outside the embedding table", IdLimit(),
                static_cast<uint32_t>(g_->settings.start));
  }

  Status ReadStopIds() {
    if (options_.stop_id_count != 0 && options_.stop_ids == nullptr) {
      return reporter_.Fail(FOVEA_E_NULL, "stop_ids is NULL");
    }
    Setting stop;
    uint64_t count = options_.stop_id_count;
    if (options_.stop_ids == nullptr) stop = FindEither("generate.stop_ids", "generate.end");
    if (stop.text != nullptr) {
      FOVEA_TRY(ReadTokens(stop, &count, [](int32_t) {}));
    }
    if (count > kMaxStopIds) return Fail(stop, FOVEA_E_OPTION, "too many stop ids", kMaxStopIds, count);
    g_->settings.stop_ids = arena_.Take<int32_t>(count);
    const auto add = [this](int32_t id) {
      if (g_->settings.stop_ids != nullptr) g_->settings.stop_ids[g_->settings.stop_id_count] = id;
      ++g_->settings.stop_id_count;
    };
    if (stop.text != nullptr) return ReadTokens(stop, &count, add);
    for (uint32_t i = 0; i < count; ++i) {
      FOVEA_TRY(CheckToken({}, options_.stop_ids[i], i));
      add(options_.stop_ids[i]);
    }
    return kOk;
  }

  Status CheckToken(const Setting& setting, int32_t id, uint64_t index) {
    const uint32_t tokens = g_->token_count();
    if (id >= 0 && static_cast<uint32_t>(id) < tokens) return kOk;
    return Fail(setting, FOVEA_E_ID, "the token is outside the vocabulary of the scores", tokens,
                static_cast<uint32_t>(id), index);
  }

  // Calls f for each token of a list in the metadata.
  template <typename F>
  Status ReadTokens(const Setting& setting, uint64_t* count, const F& f) {
    *count = 0;
    int32_t id = 0;
    for (const char* at = setting.text; *at != '\0'; ++*count) {
      if (!ReadNumber(&at, &id)) return Fail(setting, FOVEA_E_NAME, "the metadata entry is not a list of token ids");
      FOVEA_TRY(CheckToken(setting, id, *count));
      f(id);
    }
    return kOk;
  }

  Status ReadSuppressed() {
    const Setting always = Find(nullptr, "generate.suppress_ids"), first = Find(nullptr, "generate.begin_suppress_ids");
    const auto says = [](const Setting& setting) { return setting.text != nullptr && *setting.text != '\0'; };
    if (!says(always) && !says(first)) return kOk;
    const uint32_t words = TokenWords(g_->token_count());
    g_->token_sets.suppresses = true;
    g_->token_sets.usual = arena_.Take<uint32_t>(uint64_t{2} * words);
    if (g_->token_sets.usual != nullptr) std::fill_n(g_->token_sets.usual, size_t{2} * words, ~0u);
    const auto suppress = [this, words](int32_t id, uint32_t which) {
      if (g_->token_sets.usual != nullptr)
        g_->token_sets.usual[which * words + static_cast<uint32_t>(id) / 32] &= ~(1u << (id % 32));
    };
    uint64_t count = 0;
    if (says(always)) {
      FOVEA_TRY(ReadTokens(always, &count, [&](int32_t id) { suppress(id, 0), suppress(id, 1); }));
    }
    return says(first) ? ReadTokens(first, &count, [&](int32_t id) { suppress(id, 0); }) : kOk;
  }

  Status ReadMaxTokens() {
    g_->settings.max_tokens = options_.max_tokens;
    if (g_->settings.max_tokens != 0) return kOk;
    const Setting setting = FindEither("generate.max_tokens", "generate.most");
    int32_t number = 0;
    if (setting.text != nullptr && !ReadOnly(setting.text, &number)) {
      return Fail(setting, FOVEA_E_NAME, "generate.max_tokens is not a number");
    }
    g_->settings.max_tokens = static_cast<uint32_t>(number);
    return kOk;
  }

  // Whether `space` is `other` or a descendant of it.
  bool LiesIn(uint32_t space, uint32_t other) const {
    while (space != kBlobNone && space != other) {
      const SpaceRecord& record = blob_.spaces[space];
      space = SpaceHasSource(record.kind) ? record.source : record.parent;
    }
    return space == other;
  }

  Status FindLinks() {
    const Session& decode = *g_->decode;
    const auto each = [&](const auto& f) { return ForEachLink(blob_, decode.program(), reporter_, f); };
    const uint32_t texts = g_->space();
    bool below = false;  // whether the encoder sets the number of the texts' rows
    FOVEA_TRY(each([&](uint32_t input, uint32_t) -> Status {
      ++g_->settings.link_count;
      below = below || LiesIn(decode.value(input).space, texts);
      return kOk;
    }));
    g_->settings.sets_rows = g_->settings.link_count != 0 && !below && blob_.spaces[texts].kind == SpaceKind::kInput &&
                             blob_.spaces[texts].parent != kBlobNone;
    if (g_->settings.link_count != 0 && g_->encode == nullptr) {
      return reporter_.Fail(FOVEA_E_OPTION, "the decoder has linked inputs, so it needs an encoder: set options.encode",
                            g_->settings.link_count);
    }
    g_->settings.links = arena_.Take<GenerateLink>(g_->settings.link_count);
    uint32_t count = 0;
    return each([&](uint32_t input, uint32_t entry) -> Status {
      const ProgramRecord& encode = g_->encode->program();
      const char* name = blob_.String(blob_.metadata[entry].value);
      const uint32_t output = FindShortName(blob_, encode.first_value, encode.value_count, name);
      if (output == kBlobNone) {
        reporter_.tensor = input;
        return Fail({name, entry}, FOVEA_E_NAME, "an input is linked to a value that the encoder does not have");
      }
      if (g_->settings.links != nullptr) g_->settings.links[count++] = {input, output};
      return kOk;
    });
  }

  const fovea_generate_options& options_;
  const Blob& blob_;
  Arena& arena_;
  Reporter& reporter_;
  Generator* const g_;
};

bool IsLong(const char* name) {
  uint32_t size = 0;
  while (size <= kMaxLinkedName && name[size] != '\0') ++size;
  return size > kMaxLinkedName;
}

}  // namespace

Status ReadSettings(const fovea_generate_options& options, Arena& arena, Reporter& reporter, Generator* generator) {
  return Reader(options, arena, reporter, generator).Run();
}

const char* LinkedName(const Blob& blob, uint32_t entry) {
  constexpr char kPrefix[] = "generate.link.";
  constexpr size_t kSize = sizeof(kPrefix) - 1;
  const char* key = blob.String(blob.metadata[entry].key);
  return strncmp(key, kPrefix, kSize) == 0 ? key + kSize : nullptr;
}

uint32_t FindShortName(const Blob& blob, uint32_t first, uint32_t count, const char* name) {
  return IsLong(name) ? kBlobNone : FindValue(blob, first, count, name);
}

}  // namespace fovea
