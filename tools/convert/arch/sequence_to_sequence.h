// Encoder and decoder of one model.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_SEQUENCE_TO_SEQUENCE_H_
#define FOVEA_TOOLS_CONVERT_ARCH_SEQUENCE_TO_SEQUENCE_H_

#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

// Three programs: "score" reads sources and targets as a whole and makes `logits` of every target token; "encode" makes
// each decoder layer's keys and values of a source, once; "decode", linked to these, continues targets that it keeps
// and makes `next_logits`. The stacks are called encoder_ and decoder_. The decoder reads decoder_input_ids: in "score"
// in target_tokens, in "decode" in new_tokens, a child of beams, of which a text may have any number. `heads` is the
// decoder's. Task::kEncoder: the encoder alone.
void DescribeSequenceToSequence(LayerStack encoder, LayerStack decoder, const Checkpoint& checkpoint,
                                Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_SEQUENCE_TO_SEQUENCE_H_
