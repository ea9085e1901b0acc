// Decoders of each layout that supports beams, and the scores of the next token by a plain run of the whole text.
#ifndef FOVEA_TESTS_GENERATE_BEAM_MODELS_H_
#define FOVEA_TESTS_GENERATE_BEAM_MODELS_H_

#include <map>
#include <memory>

#include "runtime/blob/attributes.h"
#include "runtime/blob/numbers.h"
#include "tests/generate/plain_beams.h"
#include "tests/support/cached_decoder.h"

namespace fovea::test {

// Attention to a source, whose keys are made once for each text; tokens belong to beams, these to texts.
struct SourceDecoder {
  static constexpr uint32_t kVocabulary = 203, kWidth = 16;  // tokens are looked at by 64
  SourceDecoder();
  // A pair of sessions for the given number of texts and of beams for each.
  struct Pair {
    Pair(const SourceDecoder& model, uint32_t max_texts, uint32_t width);
    void Encode(const std::vector<Sequence>& sources);
    const SourceDecoder& model;
    std::unique_ptr<TestSession> encode, decode;
  };
  std::vector<float> After(const Sequence& source, const Sequence& text) const;

  ModelBuilder builder{3};
  uint32_t texts, source, beams, tokens, kept;
  uint32_t source_ids, source_keys;          // values of the encoder
  uint32_t ids, decoder_keys, scores, link;  // values of the decoder
  TestModel model;

 private:
  AlignedBytes Build();
};

inline SourceDecoder::SourceDecoder() : model(Build()) {}

inline AlignedBytes SourceDecoder::Build() {
  ModelBuilder& b = builder;
  texts = b.Space("texts"), source = b.Space("source", texts), beams = b.Space("beams", texts);
  tokens = b.Space("tokens", beams), kept = b.CachedSpace("kept", tokens);
  const uint32_t table = b.RandomTensor(kVocabulary, kWidth, DType::kF32, 1.0f);
  const auto weight = [&](uint32_t rows) { return b.RandomTensor(rows, kWidth, DType::kF32, 0.4f); };
  source_ids = b.Input("input_ids", source, 1, DType::kI32);
  const uint32_t rows = b.Op("embed", {source_ids}, {table}, source, kWidth);
  source_keys = b.Op("linear", {rows}, {weight(kWidth), kBlobNone}, source, kWidth, {}, "keys", ValueRole::kOutput);
  b.NextProgram("decode");
  ids = b.Input("ids", tokens, 1, DType::kI32);
  link = decoder_keys = b.Input("source_keys", source, kWidth);
  uint32_t x = b.Op("embed", {ids}, {table}, tokens, kWidth);
  const uint32_t k = b.Op("linear", {x}, {weight(kWidth), kBlobNone}, tokens, kWidth);
  const uint32_t stored = b.Op("append", {k}, {}, kept, kWidth, {{Attribute::kHeads, 2}});
  const uint32_t a =
      b.Op("attention", {x, stored, stored}, {}, tokens, kWidth, {{Attribute::kHeads, 2}, {Attribute::kCausal, 1}});
  const uint32_t c = b.Op("attention", {a, decoder_keys, decoder_keys}, {}, tokens, kWidth, {{Attribute::kHeads, 2}});
  x = b.Op("add", {x, b.Op("add", {a, c}, {}, tokens, kWidth)}, {}, tokens, kWidth);
  const uint32_t last =
      b.Op("pool", {x}, {}, beams, kWidth, {{Attribute::kKind, static_cast<double>(PoolKind::kLast)}});
  scores =
      b.Op("linear", {last}, {weight(kVocabulary), kBlobNone}, beams, kVocabulary, {}, "scores", ValueRole::kOutput);
  b.content().metadata = {{"generate.token", "ids"},
                          {"generate.scores", "scores"},
                          {"generate.start", "1"},
                          {"generate.link.source_keys", "keys"}};
  return b.Blob();
}

inline SourceDecoder::Pair::Pair(const SourceDecoder& m, uint32_t max_texts, uint32_t width) : model(m) {
  const std::vector<fovea_limit> of_source = {{m.texts, max_texts, 0}, {m.source, max_texts * 8, 0}};
  encode = std::make_unique<TestSession>(m.model, Options(of_source));
  std::vector<fovea_limit> limits = of_source;
  limits.push_back({m.beams, max_texts * width, 0});
  limits.push_back({m.tokens, max_texts * std::max(width, 20u), 0});
  limits.push_back({m.kept, max_texts * width * 40, 40});
  fovea_session_options options = Options(limits);
  options.program = 1;
  options.linked = &m.link, options.linked_count = 1;
  decode = std::make_unique<TestSession>(m.model, options);
}

inline void SourceDecoder::Pair::Encode(const std::vector<Sequence>& sources) {
  Lengths lengths;
  Sequence all;
  for (const Sequence& of_text : sources) {
    lengths.push_back(static_cast<uint32_t>(of_text.size()));
    all.insert(all.end(), of_text.begin(), of_text.end());
  }
  encode->SetSegments(model.source, lengths);
  encode->SetInput(model.source_ids, all);
  encode->Run();
}

inline std::vector<float> SourceDecoder::After(const Sequence& of_text, const Sequence& text) const {
  Pair pair(*this, 1, 1);
  pair.Encode({of_text});
  EXPECT_EQ(fovea_session_link(pair.decode->session, link, pair.encode->session, source_keys, nullptr), FOVEA_OK);
  pair.decode->SetSegments(beams, {1});
  pair.decode->SetSegments(tokens, {static_cast<uint32_t>(text.size())});
  pair.decode->SetInput(ids, text);
  pair.decode->Run();
  return pair.decode->Output(scores);
}

// A decoder that carries a state from step to step.
struct RecurrentDecoder {
  static constexpr uint32_t kVocabulary = 30, kWidth = 16;
  RecurrentDecoder() : model(Build()) {}
  std::vector<float> After(const Sequence& text) const {
    const std::vector<fovea_limit> limits = {{texts, 1, 0}};
    TestSession session(model, Options(limits));
    session.SetSegments(texts, {1});
    for (const int32_t id : text) {
      session.SetInput(token, std::vector<int32_t>{id});
      session.Run();
    }
    return session.Output(scores);
  }

  ModelBuilder builder{5};
  uint32_t texts, token, scores;
  TestModel model;

 private:
  AlignedBytes Build() {
    ModelBuilder& b = builder;
    texts = b.Space("texts");
    token = b.Input("token", texts, 1, DType::kI32);
    const uint32_t state = b.Input("state", texts, kWidth);
    const uint32_t table = b.RandomTensor(kVocabulary, kWidth, DType::kF32, 1.0f);
    const uint32_t e = b.Op("embed", {token}, {table}, texts, kWidth);
    const uint32_t both = b.Op("concat", {e, state}, {}, texts, 2 * kWidth);
    const uint32_t weight = b.RandomTensor(kWidth, 2 * kWidth, DType::kF32, 0.5f);
    const uint32_t next = b.Op("linear", {both}, {weight, kBlobNone}, texts, kWidth,
                               {{Attribute::kActivation, static_cast<uint32_t>(Activation::kTanh)}}, "next_state");
    b.Carry(state, next);
    scores = b.Op("linear", {next}, {b.RandomTensor(kVocabulary, kWidth, DType::kF32, 0.6f), kBlobNone}, texts,
                  kVocabulary, {}, "scores", ValueRole::kOutput);
    b.content().metadata = {{"generate.token", "token"}, {"generate.scores", "scores"}, {"generate.start", "1"}};
    return b.Blob();
  }
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GENERATE_BEAM_MODELS_H_
