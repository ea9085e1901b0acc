// Adds to a record what the model answered, and how much of each text it read.
#ifndef FOVEA_TOOLS_ATTEND_ANSWERS_H_
#define FOVEA_TOOLS_ATTEND_ANSWERS_H_

#include "tools/attend/subject.h"

namespace fovea::tools {

// For a program whose outputs are results (fovea/result.h): classes, tags of spans, words for masks, or an embedding
// with the most similar of the other inputs. For a CTC model: the text of each sound. Other programs have no answers.
// For images with texts: the probability of each text, as `fovea similarity` prints it.
void AddAnswers(const Model& model, const Session& session, const AttendRequest& request, Subject* subject);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_ANSWERS_H_
