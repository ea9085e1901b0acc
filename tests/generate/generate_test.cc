// The greedy loop against the formulas of the decoder and a plain search, and everything that can be done wrong with
// it: calls, limits, metadata and links.
#include <algorithm>
#include <functional>
#include <limits>

#include "tests/generate/tiny_generator.h"
#include "tests/session/runners.h"
#include "tests/support/heap_trap.h"

namespace fovea::test {
namespace {

// Greedy search by the formulas, in double.
Batch Expected(uint32_t most = 12) {
  const TinyDecoder& d = Decoder();
  const std::vector<float> table = d.b.TensorValues(d.table);
  Batch all;
  for (const std::vector<int32_t>& text : kTexts) {
    std::vector<double> state(d.kWidth, 0.0);
    for (const int32_t id : text) {
      for (uint32_t i = 0; i < d.kWidth; ++i) {
        state[i] += table[static_cast<uint32_t>(id) * d.kWidth + i] / static_cast<double>(text.size());
      }
    }
    std::vector<int32_t> tokens;
    for (int32_t last = 1; tokens.size() < most && (tokens.empty() || !IsStop(last));) {
      const TinyDecoder::Step step = d.Reference(text, last, state);
      state = step.state;
      std::vector<double> sorted = step.logits;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_GT(sorted[d.kWords - 1] - sorted[d.kWords - 2], 1e-4) << "the two best scores are too close";
      last = static_cast<int32_t>(std::max_element(step.logits.begin(), step.logits.end()) - step.logits.begin());
      tokens.push_back(last);
    }
    all.push_back(tokens);
  }
  return all;
}

TEST(Generate, TokensAreThoseOfTheFormulas) {
  const Batch expected = Expected();
  std::vector<size_t> lengths;
  for (const std::vector<int32_t>& text : expected) lengths.push_back(text.size());
  EXPECT_LT(*std::min_element(lengths.begin(), lengths.end()), *std::max_element(lengths.begin(), lengths.end()))
      << "texts that end at different steps are wanted";
  for (const uint32_t workers : {1u, 2u, 3u}) {
    for (const uint32_t tile_rows : {0u, 1u}) {
      TinyPair pair(Model(), Decoder(), 6, 30, workers, tile_rows, ThreadRunner);
      TestGenerator generator(pair);
      pair.Encode(Decoder(), kTexts);
      EXPECT_EQ(generator.All(), expected);
      // Again, and another batch in between.
      EXPECT_EQ(generator.All(), expected);
      pair.Encode(Decoder(), {kTexts[3]});
      EXPECT_EQ(generator.All(), Batch{expected[3]});
      pair.Encode(Decoder(), kTexts);
      EXPECT_EQ(generator.All(), expected);
    }
  }
}

TEST(Generate, OptionsComeBeforeTheMetadata) {
  TinyPair pair(Model(), Decoder(), 6, 30);
  pair.Encode(Decoder(), kTexts);
  TestGenerator shorter(pair, [](fovea_generate_options* o) { o->max_tokens = 4; });
  EXPECT_EQ(shorter.All(), Expected(4));
  const Batch expected = Expected();
  const int32_t end = expected[0][0];
  TestGenerator other_end(pair, [&](fovea_generate_options* o) { o->stop_ids = &end, o->stop_id_count = 1; });
  const Batch found = other_end.All();
  EXPECT_EQ(found[0], std::vector<int32_t>{end});
  // Without metadata.
  const TestModel bare(BlobWith({}));
  TinyPair own(bare, Decoder(), 6, 30);
  own.Encode(Decoder(), kTexts);
  const int32_t start = 1, stop_ids[] = {6, 1};
  TestGenerator named(own, [&](fovea_generate_options* o) {
    o->token = "token";
    o->scores = "logits";
    o->start = &start;
    o->stop_ids = stop_ids;
    o->stop_id_count = 2;
    o->max_tokens = 12;
  });
  fovea_error error = {};
  EXPECT_EQ(fovea_generate_start(named.generator, &error), FOVEA_E_ORDER);  // the decoder is not linked or bound
  own.Link(Decoder());
  named.Start();
  own.Link(Decoder());  // the state, which starting clears
  Batch tokens(kTexts.size());
  for (uint32_t left = 1; left > 0;) {
    const fovea_generated step = named.Next();
    for (uint32_t i = 0; i < step.texts; ++i) {
      if (step.tokens[i] >= 0) tokens[i].push_back(step.tokens[i]);
    }
    left = step.left;
  }
  EXPECT_EQ(tokens, expected);
}

TEST(Generate, ForcedTokensAreFed) {
  const TinyDecoder& d = Decoder();
  TinyPair pair(Model(), d, 6, 30), by_hand(Model(), d, 6, 30);
  pair.Encode(d, kTexts);
  by_hand.Encode(d, kTexts);
  by_hand.Link(d);
  TestGenerator generator(pair);
  generator.Start();
  const Batch forced = {{0, 2, 2, 4, 5}, {-1, 2, -1, 8, 0}, {5, -1, 5, 5, 6}};
  std::vector<int32_t> fed(5, 1);
  for (uint32_t i = 0; i < forced.size(); ++i) {
    const std::vector<float> logits = by_hand.Step(d, fed);
    const fovea_generated step = generator.Next(forced[i]);
    EXPECT_EQ(step.step, i);
    for (size_t text = 0; text < 5; ++text) {
      const float* row = logits.data() + text * d.kWords;
      const auto best = static_cast<int32_t>(std::max_element(row, row + d.kWords) - row);
      if (step.tokens[text] < 0) continue;
      EXPECT_EQ(step.tokens[text], forced[i][text] >= 0 ? forced[i][text] : best);
      EXPECT_EQ(step.scores[text], row[step.tokens[text]]);
      EXPECT_EQ(step.ended[text] != 0, IsStop(step.tokens[text]));
      fed[text] = step.tokens[text];
    }
  }
  EXPECT_EQ(generator.Next().tokens[4], -1);  // it was forced to end
}

TEST(Generate, EqualScoresGiveTheLowestToken) {
  TinyDecoder d(5);
  std::vector<float> zeros(d.kWords * d.kWidth, 0.0f);
  tools::EncodeTensor(zeros, d.b.content().tensors[d.head]);
  d.b.content().metadata = GoodMetadata();
  const TestModel model(d.b.Blob());
  TinyPair pair(model, d, 6, 30);
  pair.Encode(d, kTexts);
  TestGenerator generator(pair, [](fovea_generate_options* o) { o->max_tokens = 2; });
  EXPECT_EQ(generator.All(), Batch(5, {0, 0}));
}

TEST(Generate, AlignmentsAreReadInEachStep) {
  const TinyDecoder& d = Decoder();
  TinyPair pair(Model(), d, 6, 30, 1, 0, nullptr, {TapOf(d.attention_step)});
  pair.Encode(d, kTexts);
  TestGenerator generator(pair);
  generator.Start();
  const std::vector<float> summary = pair.encode.Output(d.summary);
  std::vector<std::vector<double>> states;
  for (size_t i = 0; i < 5; ++i) {
    states.emplace_back(summary.begin() + static_cast<long>(i) * d.kWidth,
                        summary.begin() + static_cast<long>(i + 1) * d.kWidth);
  }
  std::vector<int32_t> fed(5, 1);
  for (int i = 0; i < 3; ++i) {
    const fovea_generated step = generator.Next({2, 2, 2, 2, 2});
    fovea_attention_map weights = Sized<fovea_attention_map>();
    fovea_error error = {};
    ASSERT_EQ(fovea_session_get_attention_map(pair.decode.session, 0, &weights, &error), FOVEA_OK);
    for (size_t text = 0; text < 5; ++text) {
      const TinyDecoder::Step expected = d.Reference(kTexts[text], fed[text], states[text]);
      states[text] = expected.state;
      for (size_t k = 0; k < kTexts[text].size(); ++k) {
        EXPECT_NEAR(weights.data[text * weights.stride + k], expected.weights[k], 1e-5);
      }
      fed[text] = step.tokens[text];
    }
  }
}

TEST(Generate, MemoryIsExactAndNothingIsAllocated) {
  TinyPair pair(Model(), Decoder(), 6, 30);
  pair.Encode(Decoder(), kTexts);
  fovea_generate_options options = {};
  options.struct_size = sizeof(options);
  options.encode = pair.encode.session;
  options.decode = pair.decode.session;
  fovea_error error = {};
  uint64_t needed = 0;
  ASSERT_EQ(fovea_generate_size(&options, &needed, &error), FOVEA_OK);
  const AlignedBytes memory(needed + 128);
  fovea_generator* generator = nullptr;
  for (uint64_t size = 0; size < needed; ++size) {
    memset(memory.data(), 0xa5, memory.size());
    ASSERT_EQ(fovea_generate_init(&options, memory.data() + 64, size, &generator, &error), FOVEA_E_TOO_SMALL);
    ASSERT_EQ(error.expected, needed);
    ASSERT_EQ(generator, nullptr);
    for (uint64_t i = 0; i < memory.size(); ++i) ASSERT_EQ(memory.data()[i], 0xa5);
  }
  EXPECT_EQ(fovea_generate_init(&options, memory.data() + 60, needed, &generator, &error), FOVEA_E_MISALIGNED);
  EXPECT_EQ(fovea_generate_init(&options, nullptr, needed, &generator, &error), FOVEA_E_NULL);
  uint64_t calls = 0;
  {
    fovea::testing::HeapTrap trap;
    error.status = FOVEA_OK;
    fovea_generate_init(&options, memory.data() + 64, needed, &generator, &error);
    for (int batch = 0; batch < 2; ++batch) {
      fovea_generated step = {};
      step.struct_size = sizeof(step);
      fovea_generate_start(generator, &error);
      while (fovea_generate_next(generator, nullptr, &step, &error) == FOVEA_OK && step.left > 0) {
      }
    }
    calls = trap.calls();
  }
  EXPECT_EQ(calls, 0u);
  EXPECT_EQ(error.status, FOVEA_OK);
  for (uint64_t i = 0; i < 64; ++i) {
    ASSERT_EQ(memory.data()[i], 0xa5);
    ASSERT_EQ(memory.data()[64 + needed + i], 0xa5);
  }
}

TEST(Generate, OrderAndHandles) {
  TinyPair pair(Model(), Decoder(), 6, 30);
  TestGenerator generator(pair);
  fovea_error error = {};
  fovea_generated step = {};
  EXPECT_EQ(fovea_generate_next(nullptr, nullptr, nullptr, &error), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_generate_start(nullptr, &error), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_generate_next(generator.generator, nullptr, nullptr, &error), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_generate_start(generator.generator, &error), FOVEA_E_ORDER);
  pair.Encode(Decoder(), kTexts);
  generator.Start();
  EXPECT_EQ(fovea_generate_next(generator.generator, nullptr, &step, &error), FOVEA_E_STRUCT_SIZE);
  const int32_t bad[] = {0, 0, 0, 9, 0}, worse[] = {-2, 0, 0, 0, 0};
  EXPECT_EQ(fovea_generate_next(generator.generator, bad, nullptr, &error), FOVEA_E_ID);
  EXPECT_EQ(error.index, 3u);
  EXPECT_EQ(fovea_generate_next(generator.generator, worse, nullptr, &error), FOVEA_E_ID);
  // Failed calls changed nothing.
  const Batch expected = Expected();
  size_t longer = 0;  // the texts that continue after the first token
  while (expected.at(longer).size() < 2) ++longer;
  EXPECT_EQ(generator.Next().tokens[longer], expected[longer][0]);
  // The encoder has begun another run, with another batch.
  ASSERT_EQ(fovea_session_begin(pair.encode.session, &error), FOVEA_OK);
  EXPECT_EQ(fovea_generate_next(generator.generator, nullptr, nullptr, &error), FOVEA_E_ORDER);
  uint32_t left = 0;
  ASSERT_EQ(fovea_session_advance(pair.encode.session, UINT32_MAX, &left, &error), FOVEA_OK);
  EXPECT_EQ(generator.Next().tokens[longer], expected[longer][1]);
  pair.Encode(Decoder(), {{1}});
  EXPECT_EQ(fovea_generate_next(generator.generator, nullptr, nullptr, &error), FOVEA_E_SEGMENTS);
  pair.decode.SetSegments(Decoder().tokens, {1});
  EXPECT_EQ(fovea_generate_next(generator.generator, nullptr, nullptr, &error), FOVEA_E_ORDER);
  generator.Start();
  while (generator.Next().left > 0) {
  }
  EXPECT_EQ(fovea_generate_next(generator.generator, nullptr, nullptr, &error), FOVEA_E_ORDER);
  // Without texts generation has ended before it starts.
  pair.Encode(Decoder(), {});
  generator.Start();
  EXPECT_EQ(fovea_generate_next(generator.generator, nullptr, nullptr, &error), FOVEA_E_ORDER);
}

// Why each text ended, in each step, and 0 before.
TEST(Generate, EndsByAStopTokenOrTheLimit) {
  TinyPair pair(Model(), Decoder(), 6, 30);
  pair.Encode(Decoder(), kTexts);
  TestGenerator generator(pair, [](fovea_generate_options* options) { options->max_tokens = 3; });
  generator.Start();
  std::vector<uint8_t> wanted(kTexts.size(), FOVEA_END_NOT), kinds;
  for (uint32_t left = 1; left > 0;) {
    const fovea_generated step = generator.Next();
    for (uint32_t i = 0; i < step.texts; ++i) {
      if (wanted[i] == FOVEA_END_NOT && IsStop(step.tokens[i])) wanted[i] = FOVEA_END_STOP;
      if (wanted[i] == FOVEA_END_NOT && step.step == 2) wanted[i] = FOVEA_END_LIMIT;
      EXPECT_EQ(step.ends[i], wanted[i]) << step.step << " " << i;
      EXPECT_EQ(step.ended[i] != 0, wanted[i] != FOVEA_END_NOT);
    }
    left = step.left;
  }
  for (const uint8_t kind : {FOVEA_END_STOP, FOVEA_END_LIMIT}) {
    EXPECT_NE(std::count(wanted.begin(), wanted.end(), kind), 0);
  }
}

TEST(Generate, ProgramsAreFound) {
  uint32_t decode = 9, encode = 9;
  fovea_error error = {};
  ASSERT_EQ(fovea_generate_find_programs(Model().model, &decode, &encode, &error), FOVEA_OK) << error.text;
  fovea_program_info info = Sized<fovea_program_info>();
  ASSERT_EQ(fovea_model_get_program(Model().model, decode, &info), FOVEA_OK);
  EXPECT_STREQ(info.name, "decode");
  EXPECT_EQ(encode, FOVEA_NONE);  // the encoder has another name
  EXPECT_EQ(fovea_generate_find_programs(Model().model, &decode, nullptr, &error), FOVEA_OK);
  const uint32_t encoder = 1 - decode;
  ASSERT_EQ(fovea_model_get_program(Model().model, encoder, &info), FOVEA_OK);
  Metadata swapped = GoodMetadata();
  swapped.push_back({"generate.decode", info.name});
  swapped.push_back({"generate.encode", "decode"});
  const TestModel other(BlobWith(swapped));
  ASSERT_EQ(fovea_generate_find_programs(other.model, &decode, &encode, &error), FOVEA_OK);
  EXPECT_EQ(decode, encoder);
  EXPECT_EQ(encode, 1 - encoder);
  swapped[swapped.size() - 2].second = "none";
  const TestModel none(BlobWith(swapped));
  EXPECT_EQ(fovea_generate_find_programs(none.model, &decode, &encode, &error), FOVEA_E_NAME);
  EXPECT_EQ(fovea_generate_find_programs(nullptr, &decode, &encode, &error), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_generate_find_programs(none.model, nullptr, &encode, &error), FOVEA_E_NULL);
}

TEST(Generate, OptionsAreChecked) {
  TinyPair pair(Model(), Decoder(), 6, 30);
  const TestModel same(BlobWith(GoodMetadata()));
  TinyPair others(same, Decoder(), 6, 30);
  fovea_error error = {};
  uint64_t needed = 0;
  const auto size = [&](const std::function<void(fovea_generate_options*)>& change, const TinyPair& of) {
    fovea_generate_options options = {};
    options.struct_size = sizeof(options);
    options.encode = of.encode.session;
    options.decode = of.decode.session;
    change(&options);
    return fovea_generate_size(&options, &needed, &error);
  };
  using O = fovea_generate_options;
  const int32_t nine = 9, minus = -1;
  EXPECT_EQ(size([](O*) {}, pair), FOVEA_OK);
  EXPECT_EQ(fovea_generate_size(nullptr, &needed, &error), FOVEA_E_NULL);
  EXPECT_EQ(size([](O* o) { o->struct_size = 1; }, pair), FOVEA_E_STRUCT_SIZE);
  EXPECT_EQ(size([](O* o) { o->decode = nullptr; }, pair), FOVEA_E_HANDLE);
  EXPECT_EQ(size([](O* o) { o->encode = nullptr; }, pair), FOVEA_E_OPTION);
  EXPECT_EQ(size([](O* o) { o->encode = o->decode; }, pair), FOVEA_E_OPTION);
  EXPECT_EQ(size([&](O* o) { o->encode = others.encode.session; }, pair), FOVEA_E_OPTION);
  EXPECT_EQ(size([](O* o) { o->token = "none"; }, pair), FOVEA_E_NAME);
  EXPECT_EQ(size([](O* o) { o->scores = "none"; }, pair), FOVEA_E_NAME);
  EXPECT_EQ(size([](O* o) { o->decode = const_cast<fovea_session*>(o->encode), o->encode = nullptr; }, pair),
            FOVEA_E_NAME);
  EXPECT_NE(strstr(error.text, "fovea_generate_find_programs"), nullptr) << error.text;
  EXPECT_EQ(size([](O* o) { o->token = "state"; }, pair), FOVEA_E_OPTION);
  EXPECT_EQ(size([](O* o) { o->token = "logits"; }, pair), FOVEA_E_OPTION);
  EXPECT_EQ(size([](O* o) { o->scores = "attention"; }, pair), FOVEA_E_OPTION);   // neither output nor kept
  EXPECT_EQ(size([](O* o) { o->scores = "next_state"; }, pair), FOVEA_E_OPTION);  // 12 scores for 9 rows
  EXPECT_EQ(size([&](O* o) { o->start = &nine; }, pair), FOVEA_E_ID);
  EXPECT_EQ(size([&](O* o) { o->start = &minus; }, pair), FOVEA_E_ID);
  const std::vector<int32_t> stop_ids(257, 1), last_is_bad = {1, 8, 9};
  const auto stop = [&](const std::vector<int32_t>& ids, size_t count) {
    return size([&](O* o) { o->stop_ids = ids.data(), o->stop_id_count = static_cast<uint32_t>(count); }, pair);
  };
  EXPECT_EQ(stop(stop_ids, 256), FOVEA_OK);
  EXPECT_EQ(stop(stop_ids, 257), FOVEA_E_OPTION);
  EXPECT_EQ(error.expected, 256u);
  EXPECT_EQ(error.found, 257u);
  EXPECT_EQ(stop(last_is_bad, 2), FOVEA_OK);
  EXPECT_EQ(stop(last_is_bad, 3), FOVEA_E_ID);
  EXPECT_EQ(error.index, 2u);
  EXPECT_EQ(error.expected, 9u);
  EXPECT_EQ(error.found, 9u);
  EXPECT_EQ(error.section, FOVEA_NOWHERE);
  EXPECT_EQ(size([](O* o) { o->stop_id_count = 1; }, pair), FOVEA_E_NULL);
  // Metadata is as hostile as the rest of a blob.
  const auto with = [&](size_t entry, const char* value) {
    Metadata metadata = GoodMetadata();
    metadata[entry].second = value;
    const TestModel model(BlobWith(metadata));
    const TinyPair of(model, Decoder(), 6, 30);
    const fovea_status status = size([](O*) {}, of);
    if (status == FOVEA_OK) return status;
    // The error names the entry that it is about.
    fovea_section_info section = Sized<fovea_section_info>();
    EXPECT_EQ(fovea_model_get_section(model.model, error.section, &section), FOVEA_OK);
    EXPECT_STREQ(section.name, "metadata");
    const char *key = nullptr, *found = nullptr;
    EXPECT_EQ(fovea_model_get_metadata(model.model, static_cast<uint32_t>(error.index), &key, &found), FOVEA_OK);
    EXPECT_EQ(key, metadata[entry].first);
    EXPECT_STREQ(found, value);
    return status;
  };
  EXPECT_EQ(with(0, "tokens"), FOVEA_E_NAME);
  EXPECT_EQ(with(1, "score"), FOVEA_E_NAME);
  EXPECT_EQ(with(0, "state"), FOVEA_E_OPTION);
  EXPECT_EQ(with(1, "next_state"), FOVEA_E_OPTION);
  EXPECT_EQ(error.expected, 9u);
  EXPECT_EQ(error.found, 12u);
  EXPECT_EQ(with(2, "nothing"), FOVEA_E_NAME);
  EXPECT_EQ(error.tensor, Decoder().in_rows);
  EXPECT_EQ(with(2, std::string(256, 'r').c_str()), FOVEA_E_NAME);
  for (const char* number : {"", " ", "-1", "x", "1x", "4294967297", "99999999999999999999", "1 2"}) {
    EXPECT_EQ(with(4, number), FOVEA_E_NAME) << number;
    const bool list = std::string(number) == "1 2" || number[0] == '\0';
    EXPECT_EQ(with(5, number), list ? FOVEA_OK : FOVEA_E_NAME) << number;
    EXPECT_EQ(with(7, number), FOVEA_E_NAME) << number;
  }
  EXPECT_EQ(with(4, "9"), FOVEA_E_ID);
  EXPECT_EQ(error.expected, 9u);
  EXPECT_EQ(error.found, 9u);
  EXPECT_EQ(with(5, "3 9"), FOVEA_E_ID);
  EXPECT_EQ(with(5, ""), FOVEA_OK);
  EXPECT_EQ(with(5, "  3   8 "), FOVEA_OK);
  // Links that do not fit are refused when they are made.
  Metadata metadata = GoodMetadata();
  metadata[6].second = "keys";
  const TestModel model(BlobWith(metadata));
  TinyPair wrong(model, Decoder(), 6, 30);
  wrong.Encode(Decoder(), kTexts);
  TestGenerator generator(wrong);
  EXPECT_NE(fovea_generate_start(generator.generator, &error), FOVEA_OK);
}

// Blobs from before the keys were named.
TEST(Generate, OldKeysAreReadWhereTheNewOnesAreAbsent) {
  Metadata metadata = GoodMetadata();
  metadata[5].first = "generate.end";
  metadata[7].first = "generate.most";
  const auto all = [&] {
    const TestModel model(BlobWith(metadata));
    TinyPair pair(model, Decoder(), 6, 30);
    pair.Encode(Decoder(), kTexts);
    return TestGenerator(pair).All();
  };
  EXPECT_EQ(all(), Expected());
  metadata.insert(metadata.begin(), {"generate.max_tokens", "2"});
  EXPECT_EQ(all(), Expected(2));
}

TEST(Generate, SuppressedTokensNeverFollow) {
  const std::vector<std::vector<int32_t>> plain = Expected();
  const int32_t first = plain[0][0];
  Metadata metadata = GoodMetadata();
  metadata.emplace_back("generate.suppress_ids", "5 " + std::to_string(first));
  const TestModel model(BlobWith(metadata));
  TinyPair pair(model, Decoder(), 6, 30);
  pair.Encode(Decoder(), kTexts);
  TestGenerator generator(pair);
  const Batch suppressed = generator.All();
  EXPECT_NE(suppressed, plain);
  for (const auto& text : suppressed) EXPECT_EQ(std::count(text.begin(), text.end(), first), 0);
  // Set by the caller as well as by the metadata.
  fovea_sampling sampling = {};
  sampling.struct_size = sizeof(sampling);
  sampling.allow = [](void*, uint32_t, uint32_t, uint32_t, uint32_t* words) { words[0] &= ~1u; };
  const Batch both = TestGenerator(pair, [&](fovea_generate_options* o) { o->sampling = &sampling; }).All();
  for (const auto& text : both) EXPECT_EQ(std::count(text.begin(), text.end(), first), 0);
  for (const auto& text : both) EXPECT_EQ(std::count(text.begin(), text.end(), 0), 0);
  metadata.back().second = "5 9";
  const TestModel wrong(BlobWith(metadata));
  TinyPair of_wrong(wrong, Decoder(), 6, 30);
  fovea_generate_options options = {};
  options.struct_size = sizeof(options);
  options.encode = of_wrong.encode.session, options.decode = of_wrong.decode.session;
  uint64_t needed = 0;
  fovea_error error = {};
  EXPECT_EQ(fovea_generate_size(&options, &needed, &error), FOVEA_E_ID);
  EXPECT_EQ(error.found, 9u);
}

TEST(Generate, SomeTokensDoNotFollowFirst) {
  const std::vector<std::vector<int32_t>> plain = Expected();
  const int32_t first = plain[0][0];
  Metadata metadata = GoodMetadata();
  metadata.emplace_back("generate.begin_suppress_ids", std::to_string(first));
  const TestModel model(BlobWith(metadata));
  TinyPair pair(model, Decoder(), 6, 30);
  pair.Encode(Decoder(), kTexts);
  const Batch later = TestGenerator(pair).All();
  for (const auto& text : later) EXPECT_NE(text[0], first);
  // If another token was best anyway, nothing has changed.
  size_t same = 0, again = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    if (plain[i][0] != first) {
      EXPECT_EQ(later[i], plain[i]);
    }
    same += plain[i][0] != first;
    again += std::count(later[i].begin(), later[i].end(), first) != 0;
  }
  EXPECT_GT(same, 0u);
  EXPECT_GT(again, 0u);
  metadata.emplace_back("generate.suppress_ids", std::to_string(first));
  const TestModel never(BlobWith(metadata));
  TinyPair of_never(never, Decoder(), 6, 30);
  of_never.Encode(Decoder(), kTexts);
  for (const auto& text : TestGenerator(of_never).All()) EXPECT_EQ(std::count(text.begin(), text.end(), first), 0);
}

TEST(Generate, BeamsNeedRowsOfTheirOwn) {
  TinyPair pair(Model(), Decoder(), 6, 30);
  fovea_beams beams = {};
  beams.struct_size = sizeof(beams), beams.width = 2;
  fovea_generate_options options = {};
  options.struct_size = sizeof(options);
  options.encode = pair.encode.session, options.decode = pair.decode.session, options.beams = &beams;
  uint64_t needed = 0;
  EXPECT_EQ(fovea_generate_size(&options, &needed, nullptr), FOVEA_E_OPTION);
}

// Enough links and inputs that comparing each with each would take minutes.
TEST(Generate, LinksAreBounded) {
  constexpr uint32_t kInputs = 1 << 16;
  ModelBuilder b;
  const uint32_t rows = b.Space("rows");
  const auto name = [](uint32_t i) { return std::string(200, 'a') + std::to_string(i); };
  Metadata metadata;
  std::vector<uint32_t> inputs(kInputs);
  for (uint32_t i = 0; i < kInputs; ++i) {
    inputs[i] = b.Input(name(i), rows, 1);
    metadata.emplace_back("generate.link." + name(i + (i < 256 ? 0 : kInputs)), "output");
  }
  const uint32_t sum = b.Op("add", {inputs[0], inputs[1]}, {}, rows, 1, {}, "output", ValueRole::kOutput);
  EXPECT_EQ(sum, kInputs);
  b.content().metadata = metadata;
  std::vector<uint32_t> found(300);
  uint32_t count = 0;
  fovea_error error = {};
  {
    const TestModel model(b.Blob());
    EXPECT_EQ(fovea_generate_get_linked(model.model, 0, found.data(), 300, &count, &error), FOVEA_E_TOO_COMPLEX);
    EXPECT_EQ(error.expected, 256u);
    EXPECT_EQ(error.found, 257u);
  }
  metadata.resize(256);
  b.content().metadata = metadata;
  const TestModel model(b.Blob());
  EXPECT_EQ(fovea_generate_get_linked(model.model, 0, found.data(), 300, &count, &error), FOVEA_OK);
  EXPECT_EQ(count, 256u);
  EXPECT_EQ(found[255], inputs[255]);
  EXPECT_EQ(fovea_generate_get_linked(model.model, 0, found.data(), 255, &count, &error), FOVEA_E_CAPACITY);
  EXPECT_EQ(error.expected, 256u);
  EXPECT_EQ(error.found, 255u);
}

TEST(Generate, LinkedInputsAreListed) {
  uint32_t inputs[4] = {}, count = 0;
  ASSERT_EQ(fovea_generate_get_linked(Model().model, 1, inputs, 4, &count, nullptr), FOVEA_OK);
  ASSERT_EQ(count, 2u);  // the state is carried
  EXPECT_EQ(inputs[0], Decoder().in_rows);
  EXPECT_EQ(inputs[1], Decoder().in_keys);
  EXPECT_EQ(fovea_generate_get_linked(Model().model, 1, inputs, 1, &count, nullptr), FOVEA_E_CAPACITY);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(fovea_generate_get_linked(Model().model, 2, inputs, 4, &count, nullptr), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_generate_get_linked(nullptr, 1, inputs, 4, &count, nullptr), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_generate_get_linked(Model().model, 1, nullptr, 4, &count, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_generate_get_linked(Model().model, 1, inputs, 4, nullptr, nullptr), FOVEA_E_NULL);
}

}  // namespace
}  // namespace fovea::test
