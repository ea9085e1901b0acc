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

// Normalizes a stretch between added tokens that are searched before, and cuts it at those searched after.
bool EncodeStretch(const Tokenizer& tokenizer, const View& text, Scratch* scratch, Sink* sink) {
  View normalized;
  if (!Normalize(tokenizer, text, scratch->buffers, &normalized)) return false;
  bool ok = true;
  SplitAtAdded(
      tokenizer, tokenizer.added_normalized, normalized,
      [&](uint32_t begin, uint32_t end) {
        ok = ok && PreTokenize(tokenizer, normalized.Sub(begin, end), scratch, sink);
      },
      [&](uint32_t id, uint32_t begin, uint32_t end) { sink->Add(id, normalized, begin, end); });
  return ok;
}

bool EncodeText(const Tokenizer& tokenizer, const View& text, Scratch* scratch, Sink* sink) {
  bool ok = true;
  SplitAtAdded(
      tokenizer, tokenizer.added_raw, text,
      [&](uint32_t begin, uint32_t end) { ok = ok && EncodeStretch(tokenizer, text.Sub(begin, end), scratch, sink); },
      [&](uint32_t id, uint32_t begin, uint32_t end) { sink->Add(id, text, begin, end); });
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

}  // namespace

uint64_t ScratchSize(const Tokenizer& tokenizer, uint64_t length) {
  Arena arena;
  Scratch scratch;
  return Scratch::Place(tokenizer, length, &arena, &scratch) ? arena.needed() : UINT64_MAX;
}

Status Encode(const Tokenizer& tokenizer, TextInput first, const TextInput* second, const EncodeOptions& options,
              void* scratch, uint64_t scratch_size, Reporter& reporter, TokenArrays* arrays, EncodeResult* result) {
  const TextInput inputs[2] = {first, second == nullptr ? TextInput() : *second};
  const uint64_t needed = ScratchSize(tokenizer, std::max(inputs[0].size, inputs[1].size));
  if (needed == UINT64_MAX) return reporter.Fail(FOVEA_E_LENGTH, "the text is too long to encode");
  if (scratch_size < needed) {
    return reporter.Fail(FOVEA_E_TOO_SMALL, "the scratch is too small for a text of this length", needed, scratch_size);
  }
  if (reinterpret_cast<uintptr_t>(scratch) % kAlignment != 0) {
    return reporter.Fail(FOVEA_E_MISALIGNED, "the scratch is not aligned", kAlignment,
                         reinterpret_cast<uintptr_t>(scratch) % kAlignment);
  }
  for (const TextInput& input : inputs) {
    const uint64_t invalid = FirstInvalidByte(input.bytes, input.size);
    if (invalid != input.size) return reporter.Fail(FOVEA_E_UTF8, "the text is not valid UTF-8", 0, 0, invalid);
  }
  // A tokenizer without a template adds no special tokens.
  const TemplateItem plain[2] = {{static_cast<uint32_t>(TemplateKind::kTextA), 0, 0},
                                 {static_cast<uint32_t>(TemplateKind::kTextB), 0, 1}};
  const Table<TemplateItem>& full = second == nullptr ? tokenizer.single : tokenizer.pair;
  const uint32_t texts = second == nullptr ? 1 : 2;
  const Table<TemplateItem> items = full.size != 0 ? full : Table<TemplateItem>{plain, texts};
  const uint64_t specials = options.special_tokens ? items.size - texts : 0;
  if (options.max_length < specials) {
    return reporter.Fail(FOVEA_E_OPTION, "max_length leaves no room for the special tokens", specials,
                         options.max_length);
  }
  const uint64_t room = options.max_length - specials;
  if ((options.stride != 0 && options.stride >= room) || (second != nullptr && options.window != 0)) {
    return reporter.Fail(FOVEA_E_OPTION,
                         "stride must be below max_length less special tokens; a pair of texts has no windows");
  }

  uint32_t trim = 0;
  for (uint32_t i = 0; i < tokenizer.pre_tokenizer.size; ++i) {
    const Step& step = tokenizer.pre_tokenizer[i];
    if (static_cast<StepKind>(step.kind) == StepKind::kByteLevel) trim = step.flags;
  }

  Range ranges[2] = {{0, room}, {0, room}};
  for (bool again = false;; again = true) {
    arrays->count = 0;
    for (uint32_t i = 0; i < items.size; ++i) {
      const TemplateItem& item = items[i];
      if (item.kind == static_cast<uint32_t>(TemplateKind::kToken)) {
        if (options.special_tokens) arrays->Put(item.id, item.type, true, 0, 0);
        continue;
      }
      const uint32_t index = item.kind == static_cast<uint32_t>(TemplateKind::kTextA) ? 0 : 1;
      Arena arena(scratch, static_cast<size_t>(needed));
      Scratch placed;
      Scratch::Place(tokenizer, inputs[index].size, &arena, &placed);
      const View text{inputs[index].bytes, nullptr, 0, static_cast<uint32_t>(inputs[index].size)};
      Sink sink(text, ranges[index].first, ranges[index].last, item.type, trim, arrays);
      if (!EncodeText(tokenizer, text, &placed, &sink)) {
        return reporter.Fail(FOVEA_E_TEXT_DATA, "the tokenizer lengthens the text too much or takes too long");
      }
      result->tokens[index] = sink.seen();
    }
    if (again) break;
    Range wanted[2];
    if (second == nullptr) {
      wanted[0] = Window(result->tokens[0], room, options, &result->windows);
    } else {
      uint64_t keep[2] = {result->tokens[0], result->tokens[1]};
      FOVEA_TRY(Share(options, room, keep, reporter));
      for (uint32_t i = 0; i < 2; ++i) wanted[i] = Keep(result->tokens[i], keep[i], options.from_left);
      result->windows = 1;
    }
    bool same = true;
    for (uint32_t i = 0; i < texts; ++i) {
      const Range had{0, std::min(room, result->tokens[i])};
      same = same && !(wanted[i] != had);
      ranges[i] = wanted[i];
    }
    if (same) break;
  }
  if (options.window >= result->windows) {
    return reporter.Fail(FOVEA_E_INDEX, "the text has fewer windows", result->windows, options.window);
  }
  if (arrays->count > arrays->capacity) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the text has more tokens than the arrays can hold", arrays->count,
                         arrays->capacity);
  }
  return kOk;
}

}  // namespace fovea::text
