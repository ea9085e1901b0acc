// Decoders that see what an encoder of sound, pictures or text made: pieces of a text give the bits of the whole, and
// clips are what they are alone.
#include <map>

#include "tests/golden/golden_support.h"
#include "tests/golden/text_pieces.h"
#include "tools/check/golden_check.h"
#include "tools/generate/decoder_session.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/batch.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::test {
namespace {

// Scores of a text about the first input of a golden case.
std::map<uint32_t, std::vector<float>> ScoresOf(const tools::Model& model, const tools::StoredTensors& inputs,
                                                uint32_t piece, uint32_t workers) {
  const uint32_t program = tools::EncoderProgram(model);
  const tools::Session encode = tools::Encode(model, tools::BatchFromTensors(model, program, inputs), workers);
  tools::GenerationRequest generation;
  generation.workers = workers;
  generation.context = kTextTokens + 1;
  const tools::SessionRequest decoding = tools::DecodeRequest(model, encode, 1, piece, generation);
  tools::Session decode(model, decoding);
  const uint32_t ids = *model.FindValue(decoding.program, "decoder_input_ids");
  const uint32_t tokens = model.Value(decoding.program, ids).space;
  decode.SetSegments(model.Space(tokens).parent, {1});  // one text in the making
  decode.SetSegments(tokens, {1});
  for (const uint32_t input : decoding.linked) {
    const uint32_t output = *model.FindValue(program, model.Value(decoding.program, input).name);
    EXPECT_EQ(fovea_session_link(decode.get(), input, encode.get(), output, nullptr), FOVEA_OK);
  }
  return ScoresByPieces(model, decode, "decoder_input_ids", piece);
}

class CrossDecoder : public ::testing::TestWithParam<const char*> {
 protected:
  std::string Path() const { return InData("hf/") + GetParam(); }
};

TEST_P(CrossDecoder, PiecesGiveTheBitsOfTheWhole) {
  const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
  const tools::StoredTensors inputs = tools::CasesOf(golden.tensors()).at("greedy_a").in;
  const Converted converted(Path(), DType::kI8);
  const auto one_by_one = ScoresOf(converted.model, inputs, 1, 1);
  for (const uint32_t piece : {7u, kTextTokens, 32u}) {
    for (const auto& [tokens, scores] : ScoresOf(converted.model, inputs, piece, 1 + piece % 3)) {
      EXPECT_EQ(scores, one_by_one.at(tokens)) << tokens << " tokens by " << piece;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CrossDecoder,
                         ::testing::Values("t5", "bart", "whisper", "moonshine", "speech_to_text", "trocr"),
                         [](const auto& published) {
                           std::string name = published.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// Clips of these lengths in one batch: the rows that each has of an output.
std::vector<std::vector<float>> RowsOfClips(const tools::Model& model, const tools::Batch& all,
                                            const std::vector<uint32_t>& lengths, uint32_t workers) {
  const uint32_t program = tools::EncoderProgram(model);
  const tools::Session session = tools::Encode(model, all, workers);
  const uint32_t value = *model.FindValue(program, "cross_values.1");
  const tools::Matrix rows = session.Output(value);
  const std::vector<uint32_t> made = session.Lengths(model.Value(program, value).space);
  EXPECT_EQ(made.size(), lengths.size());
  std::vector<std::vector<float>> clips;
  auto at = rows.values.begin();
  for (const uint32_t length : made) {
    const auto end = at + static_cast<ptrdiff_t>(size_t{length} * rows.width);
    clips.emplace_back(at, end);
    at = end;
  }
  return clips;
}

struct Sound {
  const char* name;
  std::vector<uint32_t> lengths, rows;  // for each clip its length and its number of rows in the encoder
};

void PrintTo(const Sound& sound, std::ostream* out) { *out << sound.name; }

class ClipsOfSound : public ::testing::TestWithParam<Sound> {};

TEST_P(ClipsOfSound, AreWhatTheyAreAlone) {
  const Converted converted(InData("hf/") + GetParam().name, DType::kF32);
  const tools::Model& model = converted.model;
  const std::vector<uint32_t>& lengths = GetParam().lengths;
  const uint32_t program = model.FindProgram("encode");
  const tools::Batch all = tools::SyntheticBatch(model, program, lengths);
  const uint32_t input = tools::InputsOf(model, program)[0], width = model.Value(program, input).width;
  const auto together = RowsOfClips(model, all, lengths, 3);
  const std::vector<float>& numbers = all.numbers.at(input);
  auto at = numbers.begin();
  for (size_t i = 0; i < lengths.size(); ++i) {
    const auto end = at + static_cast<ptrdiff_t>(size_t{lengths[i]} * width);
    tools::Batch one = tools::SyntheticBatch(model, program, {lengths[i]});
    one.numbers[input].assign(at, end);
    EXPECT_EQ(RowsOfClips(model, one, {lengths[i]}, 1)[0], together[i]) << i;
    EXPECT_EQ(together[i].size(),
              size_t{GetParam().rows[i]} * model.Value(program, *model.FindValue(program, "cross_values.1")).width);
    at = end;
  }
}

// For a clip as long as its batch the original library gives the same results; for shorter ones its filters see the
// padding.
TEST_P(ClipsOfSound, OfTheLengthOfAPaddedBatch) {
  const std::string path = InData("hf/") + GetParam().name;
  const tools::SafetensorsReader golden(path + "/golden.safetensors");
  if (golden.Find("pad.in.attention_mask") == nullptr) return;
  tools::StoredTensors longest;
  for (const auto& [name, tensor] : golden.tensors()) {
    if (name.rfind("pad.", 0) != 0) continue;
    tools::StoredTensor first = tensor;  // the first clip only
    first.shape[0] = 1;
    first.bytes = tensor.bytes / tensor.shape[0];
    longest[name] = first;
  }
  const Converted converted(path, DType::kF32);
  tools::CheckOptions options;
  for (const tools::CheckLine& line : tools::CheckGolden(converted.model, longest, options)) {
    EXPECT_TRUE(line.ok && line.compared) << tools::LineText(line);
  }
}

TEST(LengthOfSound, EndsAtTheLastPosition) {
  const Converted converted(InData("hf/whisper"), DType::kF32);
  const uint32_t program = converted.model.FindProgram("encode");
  const uint32_t frames = converted.model.Value(program, *converted.model.FindValue(program, "input_features")).space;
  EXPECT_EQ(converted.model.Space(frames).max_segment_rows, 80u);
}

const Sound kSounds[] = {{"whisper", {80, 33, 1, 2}, {40, 17, 1, 1}},
                         {"speech_to_text", {78, 61, 5, 1}, {20, 16, 2, 1}},
                         {"moonshine", {2600, 2100, 1279, 895}, {5, 4, 2, 1}}};
INSTANTIATE_TEST_SUITE_P(All, ClipsOfSound, ::testing::ValuesIn(kSounds),
                         [](const auto& sound) { return std::string(sound.param.name); });

}  // namespace
}  // namespace fovea::test
