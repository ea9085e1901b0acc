// Shared by tests of the C interface: a small encoder, made once, and structs with struct_size filled in.
#ifndef FOVEA_TESTS_API_API_FIXTURE_H_
#define FOVEA_TESTS_API_API_FIXTURE_H_

#include "tests/support/model_builder.h"

namespace fovea::test {

struct EncoderModel {
  EncoderModel() : encoder(BuildTinyEncoder(builder, DType::kI8)), model(builder.Blob()) {}
  ModelBuilder builder;
  TinyEncoder encoder;
  TestModel model;
};
inline const EncoderModel& Encoder() {
  static const EncoderModel model;
  return model;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_API_API_FIXTURE_H_
