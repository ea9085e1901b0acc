// What a model that writes down speech is told in its first tokens.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_TRANSCRIPTION_H_
#define FOVEA_TOOLS_CONVERT_ARCH_TRANSCRIPTION_H_

#include "tools/convert/arch/architecture.h"

namespace fovea::tools {

// Metadata, from generation_config.json or else config.json, each entry where the model says it:
// transcribe.language.<code>   the token of a language
// transcribe.task.<name>       the token of a task: transcribe, translate
// transcribe.no_timestamps     the token after which no times are written
// transcribe.previous          the token before the text of an earlier clip
// transcribe.prompt            tokens that follow the start token, with spaces between them, where nothing else is said
// transcribe.latest_first_time  the most steps of the time that a text begins with
// transcribe.alignment_heads   heads of the decoder that look where it listens, as "layer.head" with spaces between
// them transcribe.median_width      so many frames are smoothed when words are found by them
void DescribeTranscription(const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_TRANSCRIPTION_H_
