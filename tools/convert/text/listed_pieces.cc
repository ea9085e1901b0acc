// Reads SentencePiece pieces from a JSON array of {"id", "piece", "score", "type"}: byte-pair encoding by scores, as in
// llama2.c.
#include <map>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/sentence_pieces.h"

namespace fovea::tools {
namespace {

SentencePiece::Type TypeNamed(const JsonView& name) {
  static const std::map<std::string, SentencePiece::Type> kTypes = {
      {"normal", SentencePiece::kNormal},   {"unknown", SentencePiece::kUnknown},
      {"control", SentencePiece::kControl}, {"user_defined", SentencePiece::kUserDefined},
      {"unused", SentencePiece::kUnused},   {"byte", SentencePiece::kByte}};
  const auto found = kTypes.find(name.Text("normal"));
  if (found == kTypes.end()) Fail("{} \"{}\" is not supported", name.name(), name.Text());
  return found->second;
}

}  // namespace

TextModel ReadListedPieces(const JsonView& file) {
  SentencePieces read;
  read.byte_pairs = true;
  read.remove_extra_spaces = false;
  read.escape_spaces = false;
  for (size_t i = 0; i < file.List().size(); ++i) {
    const JsonView entry = file.At(i);
    const auto id = static_cast<int64_t>(i);
    entry["id"].Number({id, id}, static_cast<uint32_t>(i));
    read.pieces.push_back({entry["piece"].Bytes(), entry["score"].Real({}, 0), TypeNamed(entry["type"])});
    if (read.pieces.back().piece.find("\xe2\x96\x81") != std::string::npos) read.escape_spaces = true;
  }
  TextModel model = BuildSentencePieces(read);
  // Texts begin with the token of that name, if there is one.
  for (uint32_t id = 0; id < read.pieces.size(); ++id) {
    if (read.pieces[id].piece != "<s>" || read.pieces[id].type != SentencePiece::kControl) continue;
    model.single = {{0, id, 0}, {1, 0, 0}};
    model.pair = {{0, id, 0}, {1, 0, 0}, {0, id, 1}, {2, 0, 1}};
  }
  if (read.escape_spaces) return model;
  // Pieces have plain spaces; the one at the beginning of the text is removed.
  model.decoder = text::DecoderKind::kSteps;
  TextStep strip{text::StepKind::kDecodeStrip, 0, " "};
  strip.count = 1;
  model.decoder_steps = {{text::StepKind::kDecodeBytes}, strip};
  return model;
}

}  // namespace fovea::tools
