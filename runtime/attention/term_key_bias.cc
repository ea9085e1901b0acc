// Bias of each key.
#include "runtime/attention/terms.h"

namespace fovea {

void KeyBiasTerm::StartHead(const Piece& piece, uint32_t head, AttentionTile* tile) {
  const HeadRows& bias = context_.call.key_bias;
  tile->terms.key_bias.values = bias.Vector<const float>(piece.segment, 0, piece.key_row, head);
  tile->terms.key_bias.stride = bias.row_stride / sizeof(float);
}

}  // namespace fovea
