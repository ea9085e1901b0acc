// What is looked at: a batch for a program, and what its rows stand for.
#ifndef FOVEA_TOOLS_ATTEND_SUBJECT_H_
#define FOVEA_TOOLS_ATTEND_SUBJECT_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/attend/attend.h"
#include "tools/attend/rows.h"
#include "tools/common/pictures.h"

namespace fovea::tools {

struct Subject {
  Subject(const Model& model, uint32_t of) : program(of), rows(model, of) {}
  uint32_t program;
  Batch batch;
  Rows rows;
  AttentionRecord record;  // texts, pictures and sounds so far
};

// The record tells of texts that are longer than the model reads.
void NoteCuts(const std::vector<Tokens>& texts, AttentionRecord* record);

// Of a program that reads the one thing that is given.
Subject TextSubject(const Model& model, const AttendRequest& request);
Subject PairSubject(const Model& model, const AttendRequest& request);
Subject TensorSubject(const Model& model, const AttendRequest& request);
Subject SoundSubject(const Model& model, const AttendRequest& request);
Subject PictureSubject(const Model& model, const AttendRequest& request);

// Runs the subject with the chosen taps; the record gets their bytes and the steps. With `only_bytes` nothing is run.
std::optional<Session> RunTapped(const Model& model, const AttendRequest& request, bool only_bytes, Subject* subject);

// Inputs in a batch, of sounds and, as the first, of pictures; the record gets them, too.
void AddSounds(const Model& model, const SoundInput& input, const std::vector<Sound>& sounds, Subject* subject);
void AddPictures(const Model& model, const std::vector<Picture>& pictures, Subject* subject);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_SUBJECT_H_
