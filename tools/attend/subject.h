// The input of a tapped run: a batch for a program, and the description of its rows.
#ifndef FOVEA_TOOLS_ATTEND_SUBJECT_H_
#define FOVEA_TOOLS_ATTEND_SUBJECT_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/attend/attend.h"
#include "tools/attend/rows.h"
#include "tools/media/picture_inputs.h"

namespace fovea::tools {

struct Subject {
  Subject(const Model& model, uint32_t of) : program(of), rows(model, of) {}
  uint32_t program;
  Batch batch;
  Rows rows;
  AttentionRecord record;      // texts, images and sounds so far
  std::vector<Tokens> tokens;  // texts or a pair that a program reads by itself
};

// Notes in the record which texts were truncated.
void NoteCuts(const std::vector<Tokens>& texts, AttentionRecord* record);

// For a program that reads the given input by itself.
Subject TextSubject(const Model& model, const AttendRequest& request);
Subject PairSubject(const Model& model, const AttendRequest& request);
Subject TensorSubject(const Model& model, const AttendRequest& request);
Subject SoundSubject(const Model& model, const AttendRequest& request);
Subject PictureSubject(const Model& model, const AttendRequest& request);

// Runs the subject with the chosen taps; adds their bytes and the steps to the record. `only_bytes`: does not run.
std::optional<Session> RunTapped(const Model& model, const AttendRequest& request, bool only_bytes, Subject* subject);

// Adds sounds to an input, or images; also adds them to the record.
void AddSounds(const Model& model, const SoundInput& input, const std::vector<Sound>& sounds, Subject* subject);
void AddPictures(const Model& model, const std::vector<std::string>& files, Subject* subject);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_SUBJECT_H_
