// Encodes text. One pass suffices if the beginning of the text is wanted; any other part needs a second pass.
#include "runtime/text/encoder.h"

#include <algorithm>

#include "runtime/text/added_tokens.h"
#include "runtime/text/normalizer.h"
#include "runtime/text/pretokenizer.h"
#include "runtime/text/scratch.h"

namespace fovea::text {
namespace {

struct Range {
  uint64_t first = 0, last = 0;
  friend bool operator!=(const Range& a, const Range& b) { return a.first != b.first || a.last != b.last; }
};

// Adds an added token that the text spells.
void AddToken(const Tokenizer& tokenizer, uint32_t id, const View& text, uint32_t begin, uint32_t end, Sink* sink) {
  const bool is_special = (tokenizer.token_flags[id] & kTokenSpecial) != 0;
  if (is_special && id != tokenizer.mask_id && id != tokenizer.header.unknown_id) {
    sink->AddSpelled(id, text, begin, end);
  } else {
    sink->Add(id, text, begin, end);
  }
}

// Normalizes a stretch between added tokens that are searched before, and cuts it at those searched after.
bool EncodeStretch(const Tokenizer& tokenizer, bool literal, const View& text, Scratch* scratch, Sink* sink) {
  View normalized;
  if (!Normalize(tokenizer, text, scratch->buffers, &normalized)) return false;
  bool ok = true;
  SplitAtAdded(
      tokenizer, tokenizer.added_normalized, literal, normalized,
      [&](uint32_t begin, uint32_t end) {
        ok = ok && PreTokenize(tokenizer, normalized.Sub(begin, end), scratch, sink);
      },
      [&](uint32_t id, uint32_t begin, uint32_t end) { AddToken(tokenizer, id, normalized, begin, end, sink); });
  return ok;
}

bool EncodeText(const Tokenizer& tokenizer, bool literal, const View& text, Scratch* scratch, Sink* sink) {
  bool ok = true;
  SplitAtAdded(
      tokenizer, tokenizer.added_raw, literal, text,
      [&](uint32_t begin, uint32_t end) {
        ok = ok && EncodeStretch(tokenizer, literal, text.Sub(begin, end), scratch, sink);
      },
      [&](uint32_t id, uint32_t begin, uint32_t end) { AddToken(tokenizer, id, text, begin, end, sink); });
  return ok;
}

// Window `index` of `total` tokens: `room` tokens, `stride` of them shared; the number of windows in `*windows`.
Range Window(uint64_t total, uint64_t room, const EncodeOptions& options, uint64_t* windows) {
  *windows = 1;
  if (total <= room) return {0, total};
  if (room == 0) return {0, 0};
  const uint64_t advance = room - options.stride;
  *windows = 1 + DivideUp(total - room, advance);
  const uint64_t skip = std::min(options.window, *windows) * advance;
  if (!options.from_left) return {std::min(skip, total), skip < total ? std::min(skip + room, total) : total};
  const uint64_t last = skip < total ? total - skip : 0;
  return {last > room ? last - room : 0, last};
}

// Decides how many tokens of two texts remain after truncation.
Status Share(const EncodeOptions& options, uint64_t room, uint64_t tokens[2], Reporter& reporter) {
  if (tokens[0] + tokens[1] <= room) return kOk;
  const uint64_t excess = tokens[0] + tokens[1] - room;
  if (options.truncation != Truncation::kLongestFirst) {
    uint64_t& cut = tokens[options.truncation == Truncation::kOnlyFirst ? 0 : 1];
    if (cut <= excess && room != 0) {
      return reporter.Fail(FOVEA_E_LENGTH, "the text to truncate is too short for this max_length", excess + 1, cut);
    }
    cut = cut > excess ? cut - excess : 0;
    return kOk;
  }
  uint64_t& shorter = tokens[0] > tokens[1] ? tokens[1] : tokens[0];
  uint64_t& longer = tokens[0] > tokens[1] ? tokens[0] : tokens[1];
  longer = shorter > room ? shorter : std::max(shorter, room - shorter);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
  }
  return kOk;
}

Range Keep(uint64_t total, uint64_t wanted, bool from_left) {
  return from_left ? Range{total - wanted, total} : Range{0, wanted};
}

// ---- The steps of Encode ----

Status CheckScratch(const EncodeRequest& request, uint64_t needed, Reporter& reporter) {
  if (needed == UINT64_MAX) return reporter.Fail(FOVEA_E_LENGTH, "the text is too long to encode");
  if (request.scratch_size < needed) {
    return reporter.Fail(FOVEA_E_TOO_SMALL, "the scratch is too small for a text of this length", needed,
                         request.scratch_size);
  }
  const uint64_t misaligned = reinterpret_cast<uintptr_t>(request.scratch) % kAlignment;
  if (misaligned == 0) return kOk;
  return reporter.Fail(FOVEA_E_MISALIGNED, "the scratch is not aligned", kAlignment, misaligned);
}

Status CheckUtf8(const EncodeRequest& request, Reporter& reporter) {
  for (const TextInput& text : request.texts) {
    const uint64_t invalid = FirstInvalidByte(text.bytes, text.size);
    if (invalid != text.size) return reporter.Fail(FOVEA_E_UTF8, "the text is not valid UTF-8", 0, 0, invalid);
  }
  return kOk;
}

// A tokenizer without a template adds no special tokens.
Table<TemplateItem> TemplateFor(const EncodeRequest& request) {
  static constexpr TemplateItem kPlain[2] = {{static_cast<uint32_t>(TemplateKind::kTextA), 0, 0},
                                             {static_cast<uint32_t>(TemplateKind::kTextB), 0, 1}};
  const Tokenizer& tokenizer = request.tokenizer;
  const Table<TemplateItem>& full = request.text_count == 1 ? tokenizer.single : tokenizer.pair;
  return full.size != 0 ? full : Table<TemplateItem>{kPlain, request.text_count};
}

// Computes how many tokens of the texts fit into max_length beside the special tokens.
Status FindRoom(const EncodeRequest& request, uint32_t items, Reporter& reporter, uint64_t* room) {
  const EncodeOptions& options = request.options;
  const uint64_t specials = options.special_tokens ? items - request.text_count : 0;
  if (options.max_length < specials) {
    return reporter.Fail(FOVEA_E_OPTION, "max_length leaves no room for the special tokens", specials,
                         options.max_length);
  }
  *room = options.max_length - specials;
  if ((options.stride == 0 || options.stride < *room) && (request.text_count == 1 || options.window == 0)) return kOk;
  return reporter.Fail(FOVEA_E_OPTION,
                       "stride must be below max_length less special tokens; a pair of texts has no windows");
}

// How ranges of tokens exclude spaces: kByteLevelTrim*.
uint32_t TrimOf(const Tokenizer& tokenizer) {
  uint32_t trim = 0;
  for (uint32_t i = 0; i < tokenizer.pre_tokenizer.size; ++i) {
    const Step& step = tokenizer.pre_tokenizer[i];
    if (static_cast<StepKind>(step.kind) == StepKind::kByteLevel) trim = step.flags;
  }
  return trim;
}

// A pass over the template and the texts.
struct Pass {
  const EncodeRequest& request;
  Table<TemplateItem> items;
  uint64_t scratch_bytes;
  uint32_t trim;

  // Writes the special tokens and of text i the tokens ranges[i]; counts all tokens of each text.
  Status Run(const Range* ranges, Reporter& reporter, TokenArrays* arrays, uint64_t* tokens) const {
    arrays->count = arrays->spelled = 0;
    for (uint32_t i = 0; i < items.size; ++i) {
      const TemplateItem& item = items[i];
      if (item.kind == static_cast<uint32_t>(TemplateKind::kToken)) {
        if (request.options.special_tokens) arrays->Put(item.id, item.type, true, 0, 0);
        continue;
      }
      const uint32_t index = item.kind == static_cast<uint32_t>(TemplateKind::kTextA) ? 0 : 1;
      const TextInput& input = request.texts[index];
      Arena arena(request.scratch, static_cast<size_t>(scratch_bytes));
      Scratch placed;
      Scratch::Place(request.tokenizer, input.size, &arena, &placed);
      const View text{input.bytes, nullptr, 0, static_cast<uint32_t>(input.size)};
      Sink sink(text, ranges[index].first, ranges[index].last, item.type, trim, arrays);
      if (!EncodeText(request.tokenizer, request.options.literal, text, &placed, &sink)) {
        return reporter.Fail(FOVEA_E_TEXT_DATA, "the tokenizer lengthens the text too much or takes too long");
      }
      tokens[index] = sink.seen();
    }
    return kOk;
  }
};

// Chooses the tokens of each text that the result has, of result->tokens[i]; counts the windows.
Status ChooseRanges(const EncodeRequest& request, uint64_t room, Reporter& reporter, Range* ranges,
                    EncodeResult* result) {
  if (request.text_count == 1) {
    ranges[0] = Window(result->tokens[0], room, request.options, &result->windows);
    return kOk;
  }
  uint64_t keep[2] = {result->tokens[0], result->tokens[1]};
  FOVEA_TRY(Share(request.options, room, keep, reporter));
  for (uint32_t i = 0; i < 2; ++i) ranges[i] = Keep(result->tokens[i], keep[i], request.options.from_left);
  result->windows = 1;
  return kOk;
}

Status CheckResult(const EncodeRequest& request, const TokenArrays& arrays, const EncodeResult& result,
                   Reporter& reporter) {
  if (request.options.window >= result.windows) {
    return reporter.Fail(FOVEA_E_INDEX, "the text has fewer windows", result.windows, request.options.window);
  }
  if (arrays.count <= arrays.capacity) return kOk;
  return reporter.Fail(FOVEA_E_CAPACITY, "the text has more tokens than the arrays can hold", arrays.count,
                       arrays.capacity);
}

}  // namespace

uint64_t ScratchSize(const Tokenizer& tokenizer, uint64_t length) {
  Arena arena;
  Scratch scratch;
  return Scratch::Place(tokenizer, length, &arena, &scratch) ? arena.needed() : UINT64_MAX;
}

Status Encode(const EncodeRequest& request, Reporter& reporter, TokenArrays* arrays, EncodeResult* result) {
  const uint64_t needed = ScratchSize(request.tokenizer, std::max(request.texts[0].size, request.texts[1].size));
  FOVEA_TRY(CheckScratch(request, needed, reporter));
  FOVEA_TRY(CheckUtf8(request, reporter));
  const Pass pass = {request, TemplateFor(request), needed, TrimOf(request.tokenizer)};
  uint64_t room = 0;
  FOVEA_TRY(FindRoom(request, pass.items.size, reporter, &room));
  // The first pass writes as many tokens as fit. A second one is needed if the result has other tokens.
  const Range first[2] = {{0, room}, {0, room}};
  FOVEA_TRY(pass.Run(first, reporter, arrays, result->tokens));
  Range ranges[2];
  FOVEA_TRY(ChooseRanges(request, room, reporter, ranges, result));
  bool same = true;
  for (uint32_t i = 0; i < request.text_count; ++i) {
    same = same && !(ranges[i] != Range{0, std::min(room, result->tokens[i])});
  }
  if (!same) FOVEA_TRY(pass.Run(ranges, reporter, arrays, result->tokens));
  return CheckResult(request, *arrays, *result, reporter);
}

}  // namespace fovea::text
