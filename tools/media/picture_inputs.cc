// Converts images to the inputs of a model's programs.
#include "tools/media/picture_inputs.h"

#include <map>
#include <sstream>

#include "tools/base/fail.h"
#include "tools/model/growing_session.h"

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
  if (programs.empty())
    Fail("{}: no program has an image as its only input; fovea inspect lists what they read", model.name());
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

namespace {

// Images of a window that one program reads.
struct Share {
  explicit Share(const Model& model, uint32_t program) : batch(model, program) {}
  std::vector<size_t> which;
  std::vector<Extent> sizes;
  PictureBatch batch;
};

}  // namespace

void RunPictureFiles(const Model& model, const std::string& program, const std::vector<std::string>& files,
                     uint32_t workers, const PictureSteps& steps) {
  if (files.empty()) Fail("no image given");
  const std::vector<uint32_t> programs = PicturePrograms(model, program);
  std::map<uint32_t, GrowingSession> sessions;
  for (size_t next = 0; next < files.size();) {
    std::map<uint32_t, Share> shares;
    size_t numbers = 0;
    for (const size_t first = next;
         next < files.size() && next - first < kPicturesOfWindow && numbers < kNumbersOfWindow; ++next) {
      const Picture picture = ReadPicture(files[next]);
      const uint32_t chosen = ProgramFor(model, programs, picture);
      Share& share = shares.try_emplace(chosen, model, chosen).first->second;
      share.which.push_back(next);
      share.sizes.push_back({picture.height, picture.width});
      share.batch.Add(picture);
      numbers += share.batch.numbers();
    }
    for (auto& [chosen, share] : shares) {
      SessionRequest request;
      request.program = chosen;
      request.workers = workers;
      Session& session = sessions.try_emplace(chosen, model, request).first->second.For(share.batch.Finish());
      session.Run();
      steps.read({chosen, std::move(share.which), std::move(share.sizes), session});
    }
    steps.end(next);
  }
}

}  // namespace fovea::tools
