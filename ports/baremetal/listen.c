/* Prints the word spoken in a WAV file (16 bits, one channel, the model's sampling rate) named on the command line,
 * with a model in flash and statically allocated memory. A product writes its microphone's samples to the input
 * instead. The build makes model_memory.h (`fovea inspect --header`) and model.S. */
#include <fovea/model.h>
#include <fovea/session.h>
#include <string.h>

#include "board.h"
#include "one_session.h"

static char path[256];

/* Programs that write to pipes store a size from here on, because they do not know it. */
static const uint32_t kUnknownSize = 0x7ffff000;

static uint32_t NumberAt(const uint8_t* bytes, int count) {
  uint32_t number = 0;
  while (count-- > 0) number = number << 8 | bytes[count];
  return number;
}

static int IsRead(intptr_t file, void* bytes, size_t size) { return board_read(file, bytes, size) == size; }

/* The number of samples from the current position of the file; 0: not such a file. */
static uint32_t FindSamples(intptr_t file, uint32_t rate) {
  uint8_t bytes[16];
  int known = 0;
  if (!IsRead(file, bytes, 12) || memcmp(bytes, "RIFF", 4) != 0 || memcmp(bytes + 8, "WAVE", 4) != 0) return 0;
  while (IsRead(file, bytes, 8)) {
    uint32_t size = NumberAt(bytes + 4, 4);
    if (memcmp(bytes, "data", 4) == 0) return known ? size / 2 : 0;
    if (memcmp(bytes, "fmt ", 4) == 0) {
      if (size < 16 || !IsRead(file, bytes, 16)) return 0;
      size -= 16;
      known = NumberAt(bytes, 2) == 1 && NumberAt(bytes + 2, 2) == 1 && NumberAt(bytes + 4, 4) == rate &&
              NumberAt(bytes + 14, 2) == 16;
    }
    for (size += size & 1; size > 0; --size) {
      if (!IsRead(file, bytes, 1)) return 0;
    }
  }
  return 0;
}

/* Reads up to `count` samples of the file and pads with zeros. A longer file is truncated with a message. */
static int ReadSamples(float* samples, uint32_t count) {
  uint8_t bytes[512];
  const intptr_t file = board_open(path);
  if (file < 0) return 0;
  const uint32_t found = FindSamples(file, SAMPLES_PER_SECOND);
  uint32_t i = 0;
  while (i < found && i < count) {
    const size_t size = board_read(file, bytes, sizeof(bytes)) / 2;
    if (size == 0) break;
    for (size_t k = 0; k < size && i < found && i < count; ++k, ++i) {
      samples[i] = (float)(int16_t)NumberAt(bytes + 2 * k, 2) / 32768;
    }
  }
  if (found > count && found < kUnknownSize / 2) {
    board_write("the file is longer than the model's clips: the rest is left out\n");
  }
  board_close(file);
  for (uint32_t rest = i; rest < count; ++rest) samples[rest] = 0;
  return found != 0 && i > 0;
}

/* The model's first input is the samples; its space holds one clip. */
static int Listen(const fovea_model* model, fovea_session* session, fovea_error* error) {
  fovea_value_info input = FOVEA_VALUE_INFO_INIT;
  const uint32_t count = CLIP_SAMPLES, one = 1;
  fovea_space_info space = FOVEA_SPACE_INFO_INIT;
  fovea_view samples;
  if (fovea_program_get_value(model, MODEL_PROGRAM, 0, &input) != FOVEA_OK ||
      fovea_model_get_space(model, input.space, &space) != FOVEA_OK) {
    board_write("the model's first input is not audio samples\n");
    return 1;
  }
  if (fovea_session_set_segments(session, space.parent, &one, 1, error) != FOVEA_OK ||
      fovea_session_set_segments(session, input.space, &count, 1, error) != FOVEA_OK ||
      fovea_session_get_input(session, 0, &samples, error) != FOVEA_OK) {
    return sample_failed("samples", error);
  }
  if (!ReadSamples(samples.data, count)) {
    board_write("not a WAV file of 16 bits, one channel and the model's rate\n");
    return 1;
  }
  const uint64_t begin = board_ticks();
  if (fovea_session_run(session, error) != FOVEA_OK) return sample_failed("run", error);
  sample_number("listen_ticks", board_ticks() - begin);
  return 0;
}

int main(void) {
  fovea_error error = {0};
  fovea_model* model;
  fovea_session* session;
  if (!board_command_line(path, sizeof(path))) {
    board_write("no file, or its name is too long\n");
    return 2;
  }
  const uint64_t begin = board_ticks();
  if (sample_model(model_model, sizeof(model_model), &model, &error) != 0) return 1;
  if (one_session(model, NULL, &session, &error) != 0) return 1;
  const uint64_t made = board_ticks();
  if (Listen(model, session, &error) != 0) return 1;
  return one_answer(model, session, made - begin, board_ticks() - made, &error);
}
