// Converts images to the inputs of a model's programs.
#include "tools/media/picture_inputs.h"

#include <map>
#include <sstream>

#include "tools/base/fail.h"

namespace fovea::tools {

std::optional<PictureInput> FindPictureInput(const Model& model, uint32_t program) {
  for (const uint32_t value : InputsOf(model, program)) {
    const fovea_value_info info = model.Value(program, value);
    const char* shape = model.ProgramMetadata(program, fmt::format("shape.{}", info.name));
    if (shape == nullptr || info.type != FOVEA_TYPE_F32) continue;
    std::istringstream sizes(shape);
    PictureInput input = {value, 0, {}};
    if (!(sizes >> input.channels >> input.size.height >> input.size.width) || !(sizes >> std::ws).eof()) continue;
    // The blob states both the shape and the rows; checked here that they agree.
    const uint64_t pixels = uint64_t{input.size.height} * input.size.width;
    const uint32_t rows = model.Space(info.space).max_segment_rows;
    const bool sane = input.channels != 0 && input.channels <= 1024 && pixels != 0 && pixels < uint64_t{1} << 32;
    if (sane && input.channels * pixels == uint64_t{rows} * info.width) return input;
  }
  return std::nullopt;
}

std::optional<Preparation> FindPreparation(const Model& model) {
  try {
    return FromMetadata([&](const std::string& key) { return model.Metadata(key); });
  } catch (const Failure& failure) {
    Fail("{}: {}", model.name(), failure.what());
  }
}

Preparation PreparationOf(const Model& model) {
  if (const auto found = FindPreparation(model)) return *found;
  Fail("{}: has no metadata for image preparation; give pixel_values with --input", model.name());
}

std::vector<uint32_t> PicturePrograms(const Model& model, const std::string& name) {
  const auto reads = [&](uint32_t program) {
    return InputsOf(model, program).size() == 1 && FindPictureInput(model, program).has_value();
  };
  if (!name.empty()) {
    const uint32_t program = model.FindProgram(name);
    if (!reads(program)) Fail("{}: program '{}' does not read images", model.name(), name);
    return {program};
  }
  std::vector<uint32_t> programs;
  for (uint32_t program = 0; program < model.Info().program_count; ++program) {
    if (reads(program)) programs.push_back(program);
  }
  if (programs.empty()) Fail("{}: no program has an image as its only input", model.name());
  return programs;
}

uint32_t ProgramFor(const Model& model, const std::vector<uint32_t>& programs, const Picture& picture) {
  std::vector<Extent> sizes;
  for (const uint32_t program : programs) sizes.push_back(FindPictureInput(model, program)->size);
  return programs[NearestSize(sizes, {picture.height, picture.width})];
}

PictureBatch::PictureBatch(const Model& model, uint32_t program)
    : model_(model), input_(*FindPictureInput(model, program)), preparation_(PreparationOf(model)) {
  space_ = model.Value(program, input_.value).space;
}

void PictureBatch::Add(const Picture& picture) {
  const std::vector<float> values = Prepare(preparation_, picture, input_.channels, input_.size);
  std::vector<float>& numbers = batch_.numbers[input_.value];
  numbers.insert(numbers.end(), values.begin(), values.end());
  lengths_.push_back(model_.Space(space_).max_segment_rows);
}

Batch PictureBatch::Finish() {
  AddSegments(model_, space_, MakeSegments(lengths_), &batch_);
  return std::move(batch_);
}

std::vector<PictureRun> RunPictureFiles(const Model& model, const std::string& program,
                                        const std::vector<std::string>& files, uint32_t workers) {
  if (files.empty()) Fail("no image given");
  const std::vector<uint32_t> programs = PicturePrograms(model, program);
  std::map<uint32_t, PictureRun> runs;
  std::map<uint32_t, PictureBatch> batches;
  for (size_t i = 0; i < files.size(); ++i) {
    const Picture picture = ReadPicture(files[i]);
    const uint32_t chosen = ProgramFor(model, programs, picture);
    runs[chosen].which.push_back(i);
    runs[chosen].sizes.push_back({picture.height, picture.width});
    batches.try_emplace(chosen, model, chosen).first->second.Add(picture);
  }
  std::vector<PictureRun> done;
  for (auto& [chosen, run] : runs) {
    SessionRequest request;
    request.program = chosen;
    request.workers = workers;
    run.program = chosen;
    run.session = std::make_unique<Session>(SessionFor(model, batches.at(chosen).Finish(), request));
    run.session->Run();
    done.push_back(std::move(run));
  }
  return done;
}

}  // namespace fovea::tools
