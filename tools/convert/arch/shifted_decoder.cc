// Encoder-decoders whose decoder reads the text itself, shifted by one token.
#include "tools/convert/arch/shifted_decoder.h"

#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// Rows of embeddings, each in the place of the next one.
std::string Shifted(ProgramBuilder& b, const std::string& words, uint32_t width, const std::string& first,
                    const std::string& out) {
  b.Op("unfold", {words}, {}, words + ".before", {{"before", 1u}, {"after", 0u}});
  b.Op("slice", {words + ".before"}, {}, words + ".shifted", {{"begin", 0u}, {"width", width}});
  return b.Op("broadcast", {first, words + ".shifted"}, {}, out, {{"rows", "first"}, {"combine", "replace"}});
}

}  // namespace

bool ReadsShifted(Task task) { return task == Task::kSequenceClassification || task == Task::kQuestionAnswering; }

void DescribeShifted(LayerStack encoder, LayerStack decoder, std::optional<uint32_t> start,
                     const Checkpoint& checkpoint, Description& description) {
  encoder.prefix = "encoder_";
  decoder.prefix = "decoder_";
  decoder.causal = true;
  Weights& weights = description.weights;
  const Constant table = weights.Get(decoder.table);
  const std::string row = "decoder_start.weight";
  if (start) {
    if (*start >= table.rows) {
      Fail("config.json: decoder_start_token_id {} is not among the {} rows of {}", *start, table.rows, decoder.table);
    }
    weights.Add(row, Slice(table, {*start, *start + 1}));
  }
  const std::vector<Space> spaces = SpacesOf(encoder);
  const std::string ids = encoder.ids, texts = spaces[0].name;
  decoder.space = encoder.space;
  decoder.spaces = {};
  Front front;
  front.spaces = spaces;
  front.input = InputOf(encoder);
  const double scale = decoder.table_scale;
  front.rows = [=, words = decoder.table, width = table.width](ProgramBuilder& b, const std::string&,
                                                               const std::string& out) {
    Json attributes = Json::object();
    if (scale != 1) attributes["scale"] = scale;
    b.Op("embed", {ids}, {words}, "decoder_words", attributes);
    std::string first = "decoder_start";
    if (!start) {
      b.Op("pool", {"decoder_words"}, {}, first, {{"kind", "last"}});
    } else {
      b.Op("fill", {}, {row}, first, Json::object(), texts);
      if (scale != 1) first = b.Op("scale", {first}, {}, "decoder_start.scaled", {{"scale", scale}});
    }
    return Shifted(b, "decoder_words", width, first, out);
  };
  decoder.front = front;
  ProgramBuilder builder(checkpoint, description, encoder.norms, spaces, InputOf(encoder));
  AddCrossValues(decoder, builder, AddStack(encoder, builder));
  builder.Finish(AddStack(decoder, builder), decoder.task_heads);
}

}  // namespace fovea::tools
