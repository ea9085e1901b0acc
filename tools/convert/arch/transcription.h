// Metadata for transcription: the first tokens of a text, and the alignment with audio.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_TRANSCRIPTION_H_
#define FOVEA_TOOLS_CONVERT_ARCH_TRANSCRIPTION_H_

#include "tools/convert/arch/architecture.h"

namespace fovea::tools {

// Writes metadata from generation_config.json or else config.json, each entry if the model has it, and
// reports what it lacks:
// transcribe.language.<code>   the token of a language
// transcribe.task.<name>       the token of a task: transcribe, translate
// transcribe.default_language, transcribe.default_task  the name of the one that is taken unless the caller names one
// transcribe.no_timestamps     the token after which no times are written
// transcribe.previous          the token before the text of an earlier clip
// transcribe.prompt            default tokens after the start token, with spaces between them
// transcribe.latest_first_time  the most steps of the time that a text begins with
// transcribe.alignment_heads   heads of the decoder whose weights align text and audio: "layer.head", by spaces
// transcribe.median_width      frames of the median filter that smooths these weights
void DescribeTranscription(const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_TRANSCRIPTION_H_
