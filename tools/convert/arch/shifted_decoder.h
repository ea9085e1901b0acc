// Encoder-decoders with a head other than the next token's, whose decoder reads the text itself, shifted by one token.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_SHIFTED_DECODER_H_
#define FOVEA_TOOLS_CONVERT_ARCH_SHIFTED_DECODER_H_

#include <optional>

#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

// Whether the task needs it: classes of texts and answers to questions.
bool ReadsShifted(Task task);

// One program, "encode", of the input input_ids. The decoder reads, for each token, the token before it: for the first
// one `start`, or the text's last token if absent. The heads are the decoder's.
void DescribeShifted(LayerStack encoder, LayerStack decoder, std::optional<uint32_t> start,
                     const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_SHIFTED_DECODER_H_
