/* A model in memory of the port, with a session that grows on demand: the native part of the Java class. */
#ifndef FOVEA_PORTS_ANDROID_MODEL_H_
#define FOVEA_PORTS_ANDROID_MODEL_H_

#include "fovea/fovea.h"
#include "ports/port.h"

/* A session and its three blocks. */
struct placed {
  fovea_session* session;
  fovea_session_memory memory;
};

struct model {
  fovea_port_file file; /* Mapped, if it was opened by name. */
  void* copy;           /* A copy of a buffer that is not aligned. */
  void* memory;
  fovea_model* model;
  fovea_port_threads* threads; /* NULL: one worker. */
  struct placed classify;
  uint32_t classify_tokens; /* Capacity of the session. */
};

/* Tokens in memory of the port. */
struct tokens {
  fovea_text_tokens tokens;
  void* block;
};

struct text {
  struct model* model;
  struct placed decode;
  struct tokens prompt;
  uint32_t prompt_length;
  void* memory;
  fovea_generator* generator;
  fovea_text_stream stream;
  uint32_t ended;
};

/* Every function returns a status; on failure it leaves nothing behind. */
fovea_status model_open(const void* blob, uint64_t size, uint32_t threads, struct model* model, fovea_error* error);
void model_close(struct model* model);
fovea_status tokens_of(const struct model* model, const char* text, uint64_t size, struct tokens* tokens,
                       fovea_error* error);
void tokens_free(struct tokens* tokens);
/* `logits`: the text's logits, [width] in memory of the model's session. */
fovea_status model_logits(struct model* model, const char* text, uint64_t size, fovea_view* logits, fovea_error* error);

fovea_status text_start(struct model* model, const char* prompt, uint64_t size, uint32_t max_tokens,
                        const fovea_sampling* sampling, struct text* text, fovea_error* error);
/* The token of the next step, or -1 when the text has ended. `stops`: it is a stop token, which is not shown. */
fovea_status text_next(struct text* text, int32_t* token, uint32_t* stops, fovea_error* error);
void text_close(struct text* text);

#endif /* FOVEA_PORTS_ANDROID_MODEL_H_ */
