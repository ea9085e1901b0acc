/* fovea/generate.h - generating text: tokens from a decoder, step by step, on the caller's demand.
 *
 * A decoder is a program that makes one step for each sequence of a batch: it reads the last token of each sequence (an
 * i32 input of width 1) and what it carries from step to step, and writes scores (logits) for the next token (an output
 * with one number for each token). If there is an encoder, its outputs are linked to the decoder's inputs
 * (fovea_session_link): nothing is copied, and keys that the encoder made are used again in every step. The caller
 * makes both sessions, in memory of the caller, and runs the encoder; a generator does the rest:
 *
 *   encode session: set segments or bind texts, write inputs, run
 *   fovea_generate_size -> memory -> fovea_generate_init
 *   for each batch: fovea_generate_start, then fovea_generate_next until `left` is 0
 *
 * A sequence of the batch is called a text here. A decoder with a KV cache (fovea/cache.h) reads any number of new
 * tokens of each text: the token's space is a child of the scores' space, or (as speculative decoding needs) there are
 * scores after each token. Each text may then begin with a prompt (fovea_generate_set_prompts), which the first step
 * reads (prefill), in pieces if the session's limit of rows is less; texts that ended take no part in further steps.
 * Text i of the batch is text i of the session.
 *
 * Beam search (fovea_beams) has `width` live beams for each text: these are neighbours in the scores' space, rows
 * text * width and after it, and in the session's cache. If that space is an input space with a parent, as in a decoder
 * whose keys are made once for each text of an encoder, the generator sets its segments: `width` rows for each text,
 * one if there are no beams.
 *
 * The metadata of the blob names the decoder's values and special tokens; options override it.
 *
 *   generate.encode        the encoder's program, "encode" where absent (fovea_generate_find_programs)
 *   generate.decode        the decoder's program, "decode" where absent
 *   generate.token         the decoder's input for the last token of each text, or its new tokens
 *   generate.scores        the decoder's output with a score for each token
 *   generate.link.<input>  the encoder's output that this input of the decoder reads, or begins with if it is carried
 *   generate.start         the start token (BOS), before the first one; may be absent where texts begin with prompts
 *   generate.stop_ids      tokens that end a text (EOS), with spaces between them, at most 256; none where absent
 *   generate.suppress_ids  tokens that never follow, as generate.stop_ids; none where absent
 *   generate.begin_suppress_ids  tokens that never come first: a text has another one before them
 *   generate.max_tokens    the most tokens of a text; any number where absent or 0
 *
 * At most 256 inputs are linked, by names of at most 255 bytes. Older blobs have generate.end for generate.stop_ids and
 * generate.most for generate.max_tokens; these are read where the new key is absent.
 *
 * An error about an entry of the metadata has the metadata's `section`, and its entry number in `index`:
 * fovea_model_get_metadata returns key and value. All other errors have FOVEA_NOWHERE for `section`.
 *
 * fovea_session_cancel of the decode session (or the draft's) cancels a step, during the step or before it. The next
 * call continues where it stopped.
 *
 * After each step attention maps and outputs of the decode session can be read as after any run: an alignment is the
 * map of its attention. Threads: one at a time per generator and its sessions. Nothing is allocated.
 */
#ifndef FOVEA_GENERATE_H_
#define FOVEA_GENERATE_H_

#include "fovea/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fovea_generator fovea_generator; /* Handle of a generator, in memory of the caller. */

/* Restricts the next token of text `text` of the batch (of a beam search: number of the beam, see
 * fovea_generate_get_beam), of which `step` tokens are made: the caller's grammar, word list or forbidden words.
 * `words` has a bit for each of `tokens` tokens, token t bit t % 32 of words[t / 32], all of them set; the function
 * clears the bits of tokens that may not follow. If it leaves none, token 0 is chosen. fovea_generate_next calls it
 * before the decoder runs, for every text that has not ended. */
typedef void (*fovea_allow_tokens)(void* context, uint32_t text, uint32_t step, uint32_t tokens, uint32_t* words);

/* The same with the decoder's scores: called after the decoder ran, with the `tokens` scores that it wrote. `words` has
 * the bits of tokens that may follow so far: all but suppressed ones and tokens that fovea_allow_tokens has cleared.
 * Not called for forced tokens. */
typedef void (*fovea_allow_scored)(void* context, uint32_t text, uint32_t step, uint32_t tokens, const float* scores,
                                   uint32_t* words);

/* How a token is chosen. All zero: the token with the highest score (greedy), of equals the lowest; NaN is no score.
 * The order is that of Hugging Face's generation: penalties, `allow` and `allow_scored`, temperature, top_k, top_p,
 * min_p. A random number depends on the seed, the number of the text (fovea_generate_set_sequences) and the step alone
 * (Philox 4x32-10; Salmon et al., SC 2011), so a text's tokens depend on its scores, not on its batch. */
typedef struct fovea_sampling {
  size_t struct_size;
  float temperature; /* 0: the best token. Else scores are divided by it, and a token is drawn by their softmax. */
  uint32_t top_k;    /* Only the top_k best tokens, and tokens whose score equals the last one's. 0: any number. */
  float top_p;       /* Only the fewest likeliest tokens whose probabilities sum up to it (nucleus). 0 or 1: all. */
  float min_p;       /* Only tokens at least this times as likely as the likeliest. 0: all. */
  /* Scores of tokens that the text has, the start token included: positive ones are divided by it, negative ones
   * multiplied (Keskar et al., arXiv 1909.05858). 0 or 1: they are not. */
  float repetition_penalty;
  float presence_penalty; /* Subtracted from the scores of tokens that the text has. */
  uint32_t logprobs;      /* 1: return log-probabilities of the tokens. */
  uint32_t top_logprobs;  /* Return also log-probabilities of the top_logprobs likeliest tokens. At most 256. */
  uint64_t seed;
  fovea_allow_tokens allow;        /* NULL: all tokens may follow. */
  void* allow_context;             /* Passed to `allow` and `allow_scored`. */
  fovea_allow_scored allow_scored; /* NULL: scores forbid nothing. */
} fovea_sampling;
#define FOVEA_SAMPLING_INIT FOVEA_INIT(fovea_sampling)

/* When a text's beam search ends, besides at max_tokens: once there are `width` hypotheses, and */
typedef enum fovea_beams_stop {
  FOVEA_BEAMS_STOP_IF_WORSE = 0, /* the best live beam is worse than each of them by its present length, */
  FOVEA_BEAMS_STOP_FIRST = 1,    /* at once, */
  FOVEA_BEAMS_STOP_NEVER = 2     /* or it is so by max_tokens, where length_penalty is above 0. */
} fovea_beams_stop;

/* Beam search as Hugging Face's generation defines it (transformers 4.57; early_stopping False, True and "never" are
 * the three above). In each step the sums of log-probabilities of all live beams and all tokens are compared: the
 * `width` best that do not end stay live, and the ones among the `width` best that end become hypotheses, of which the
 * best are kept. Penalties, suppressed tokens, `allow` and `allow_scored` change log-probabilities before they are
 * added. temperature, top_k, top_p and min_p must be 0; log-probabilities are not returned. Of equal sums the better
 * beam's, then the lower token's comes first. Only possible texts count: there are fewer hypotheses than `width` if
 * tokens are forbidden. */
typedef struct fovea_beams {
  size_t struct_size;
  uint32_t width;       /* Live beams of each text, 1 to 256. */
  uint32_t stop;        /* fovea_beams_stop */
  float length_penalty; /* A hypothesis' score is the sum divided by its number of tokens to this power. Usual: 1. */
} fovea_beams;
#define FOVEA_BEAMS_INIT FOVEA_INIT(fovea_beams)

/* Options of a generator. Zero fields mean: the metadata decides. Strings and arrays are read during the call only. */
typedef struct fovea_generate_options {
  size_t struct_size;

  /* Sessions. */
  fovea_session* decode;       /* Required. The generator makes its links. */
  const fovea_session* encode; /* Required if the metadata has links of an input of the decoder. */

  /* Names and tokens. */
  const char* token;       /* Input that takes the last token; NULL: metadata generate.token. */
  const char* scores;      /* An output or kept value in the space of the token or, with a KV cache, its parent. */
  const int32_t* start;    /* One token, for texts without a prompt. */
  const int32_t* stop_ids; /* stop_id_count tokens, at most 256. */
  uint32_t stop_id_count;  /* Entries of `stop_ids`. */
  uint32_t max_tokens;     /* Most tokens of a text; see the metadata generate.max_tokens. */

  /* Choice of tokens. */
  const fovea_sampling* sampling; /* NULL: the best token of each step. */
  const fovea_beams* beams;       /* NULL: none. They need max_tokens. */

  /* Speculative decoding: a draft model, a decoder of this or another model with the same tokens, proposes up to
   * draft_tokens tokens (1 to 64), and `decode` reads them in one run. Each text gets the same tokens as without, with
   * sampling also: only the time differs. Both sessions have a KV cache and no carried inputs; their rewind_rows are
   * above draft_tokens if windows bound what is seen. The scores of `decode` are in the space of the token, so a run
   * gives scores after each of its tokens. The metadata of the draft's model names its values; the draft has as many
   * texts, with room for two new tokens of each, and no links to an encoder. There can be neither beams nor `allow` or
   * `allow_scored`, and fovea_generate_next accepts no forced tokens. NULL: none. */
  fovea_session* draft;
  uint32_t draft_tokens;
} fovea_generate_options;
#define FOVEA_GENERATE_OPTIONS_INIT FOVEA_INIT(fovea_generate_options)

/* Returns in *decode the program that generates text, and in *encode the one whose outputs it reads (FOVEA_NONE if
 * there is none): metadata generate.decode and generate.encode, else the programs "decode" and "encode". `encode` may
 * be NULL. Statuses:
 *   FOVEA_E_HANDLE, FOVEA_E_NULL
 *   FOVEA_E_NAME   the model has no program that generates text (an encoder, for instance) */
FOVEA_API fovea_status fovea_generate_find_programs(const fovea_model* model, uint32_t* decode, uint32_t* encode,
                                                    fovea_error* error);

/* Returns the inputs of a decoder that the metadata links to an encoder and that are not carried, which
 * fovea_session_options.linked of the decode session must name. Writes up to `capacity` of them, in the order of the
 * metadata, and their number to *count. Statuses:
 *   FOVEA_E_HANDLE, FOVEA_E_INDEX, FOVEA_E_NULL
 *   FOVEA_E_CAPACITY      `capacity` is too small (*count and expected: the number of inputs)
 *   FOVEA_E_TOO_COMPLEX   more links than the format allows */
FOVEA_API fovea_status fovea_generate_get_linked(const fovea_model* model, uint32_t decode_program, uint32_t* inputs,
                                                 uint32_t capacity, uint32_t* count, fovea_error* error);

/* Returns in *needed the exact bytes of a generator. They depend on the options and the decode session's limit of
 * texts. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE, FOVEA_E_HANDLE
 *   FOVEA_E_BUILD         the library's profile leaves out generation, or the requested sampling, beams or draft
 *   FOVEA_E_NAME          neither options nor metadata name the token, the scores or the first token, there is no such
 *                         value, or a number in the metadata is none
 *   FOVEA_E_OPTION        values that do not fit the above, more scores than the token's table has rows, more than 256
 *                         stop ids, sessions of different models, links without an encoder, numbers of the sampling or
 *                         of the beams out of range, beams of a decoder whose rows are the encoder's texts, a draft
 * that
 *                         does not fit the above
 *   FOVEA_E_ID            a token is out of range (index: its place in options.stop_ids)
 *   FOVEA_E_TOO_COMPLEX   more links than the format allows */
FOVEA_API fovea_status fovea_generate_size(const fovea_generate_options* options, uint64_t* needed, fovea_error* error);

/* Makes a generator in `memory`, of alignment 64. The sessions must live as long as it is used. Statuses: as
 * fovea_generate_size, and
 *   FOVEA_E_TOO_SMALL    `size` is less than `expected`, the exact bytes
 *   FOVEA_E_MISALIGNED   `memory` */
FOVEA_API fovea_status fovea_generate_init(const fovea_generate_options* options, void* memory, uint64_t size,
                                           fovea_generator** generator, fovea_error* error);

/* Begins a batch: carried inputs of the decoder become zeros, links to the texts that the encoder has just run are
 * made, no text has a token yet. Without links the caller sets the decoder's segments before, `width` rows for each
 * text if there are beams. Carried inputs that should begin as something else are written afterwards. Statuses:
 *   FOVEA_E_HANDLE
 *   FOVEA_E_ORDER      the encoder has no finished run, or the decoder no texts
 *   FOVEA_E_SEGMENTS   rows that are no multiple of the beams
 *   statuses of fovea_session_link and fovea_session_set_segments */
FOVEA_API fovea_status fovea_generate_start(fovea_generator* generator, fovea_error* error);

/* Sets the numbers of the started texts, for their random numbers; without this 0, 1, and so on. `count` is the number
 * of texts. Call it before the first step. Statuses:
 *   FOVEA_E_HANDLE, FOVEA_E_NULL
 *   FOVEA_E_LENGTH   another count (expected: the number of texts)
 *   FOVEA_E_ORDER    not started, or a step has been made */
FOVEA_API fovea_status fovea_generate_set_sequences(fovea_generator* generator, const uint64_t* numbers, uint32_t count,
                                                    fovea_error* error);

/* Sets the prompts, with which texts begin instead of the start token: lengths[i] tokens, at least 1, of text i, all in
 * one array, `tokens`. `keep` 0: the cached texts are emptied first; 1: they continue, and `tokens` are the tokens that
 * are new since the last run: a chat's next turn, or after a prefix that was forked or restored. Call it before the
 * first step; both arrays must not change until the first fovea_generate_next, which reads the prompts (prefill), has
 * succeeded. If that fails and is called again it continues where it stopped. Statuses:
 *   FOVEA_E_HANDLE, FOVEA_E_NULL
 *   FOVEA_E_ORDER      not started, or a step has been made
 *   FOVEA_E_OPTION     the decoder has no KV cache
 *   FOVEA_E_LENGTH     an empty prompt (index: which), or another number of texts than the encoder's (expected)
 *   FOVEA_E_SEGMENTS   more texts than the session has
 *   FOVEA_E_ID         a token is out of range (index: its place in `tokens`) */
FOVEA_API fovea_status fovea_generate_set_prompts(fovea_generator* generator, const int32_t* tokens,
                                                  const uint32_t* lengths, uint32_t count, uint32_t keep,
                                                  fovea_error* error);

/* Why a text ended. A stop string ends a text for the caller, who searches for it (fovea/stop.h). */
typedef enum fovea_end {
  FOVEA_END_NOT = 0,   /* It has not. */
  FOVEA_END_STOP = 1,  /* By a stop token; a beam search: by its hypotheses. */
  FOVEA_END_LIMIT = 2, /* At max_tokens. */
  FOVEA_END_FULL = 3   /* The session has no room for its next row. */
} fovea_end;

/* Result of a step. Arrays have an entry for each text and are valid until the next call. In a beam search tokens and
 * scores are the last token and the sum of log-probabilities of the best live beam, and -1 and 0 for a text whose
 * search has ended: fovea_generate_get_hypothesis returns its results. */
typedef struct fovea_generated {
  size_t struct_size;
  uint32_t texts;        /* Number of texts. */
  uint32_t left;         /* Texts that have not ended. 0: done. */
  uint32_t step;         /* Number of this step, from 0. */
  const int32_t* tokens; /* The token of each text; -1 for texts that ended in an earlier step. */
  const float* scores;   /* Its score, as the decoder wrote it. */
  const uint8_t* ended;  /* 1: this token or an earlier one ended the text. */
  /* By the scores as the decoder wrote them, before penalties and temperature; NULL where not asked for. */
  const float* logprobs;
  const int32_t* top_tokens; /* [texts, top_count], likeliest first; -1 where fewer have a score. */
  const float* top_logprobs; /* [texts, top_count] */
  uint32_t top_count;        /* fovea_sampling.top_logprobs */
  const uint8_t* ends;       /* Why each text ended: fovea_end. */
} fovea_generated;
#define FOVEA_GENERATED_INIT FOVEA_INIT(fovea_generated)

/* Makes one step for all texts: feeds each its last token (or, first, its prompt), runs the decoder and chooses a token
 * by the sampling options. `forced` (NULL: none) has an entry for each text: a token that replaces the chosen one, -1
 * to choose; all beams of the text get it, and it adds 0 to their sums (Hugging Face's forced first and last tokens).
 * Texts that ended take part in the run if the decoder has no KV cache, but get no more tokens. A text also ends when
 * the session has no room for its next row. `generated` may be NULL. A call that fails or is cancelled
 * (fovea_session_cancel of the decode session and the draft) changes nothing and may be repeated, or
 * fovea_generate_start begins again. Statuses:
 *   FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE
 *   FOVEA_E_ORDER    not started, all texts have ended, or the decoder got other segments since the start
 *   FOVEA_E_ID       a forced token is out of range (index: the text)
 *   FOVEA_E_OPTION   forced tokens with a draft
 *   statuses of fovea_session_run, also of the draft */
FOVEA_API fovea_status fovea_generate_next(fovea_generator* generator, const int32_t* forced,
                                           fovea_generated* generated, fovea_error* error);

/* A finished text of a beam search, or a live beam. */
typedef struct fovea_hypothesis {
  size_t struct_size;
  uint32_t count;        /* Number of its tokens, without the prompt, with the token that ended it. */
  const int32_t* tokens; /* Valid until the next call about the generator. */
  float score;           /* sum / count ^ length_penalty */
  float sum;             /* Sum of log-probabilities. */
} fovea_hypothesis;
#define FOVEA_HYPOTHESIS_INIT FOVEA_INIT(fovea_hypothesis)

/* Returns hypothesis `rank` of a text, 0 the best: after any step the best found so far; when the text has ended they
 * are its results. Statuses:
 *   FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE, FOVEA_E_NULL
 *   FOVEA_E_OPTION   no beams
 *   FOVEA_E_ORDER    not started
 *   FOVEA_E_INDEX    no such text, or fewer hypotheses (expected: their number) */
FOVEA_API fovea_status fovea_generate_get_hypothesis(fovea_generator* generator, uint32_t text, uint32_t rank,
                                                     fovea_hypothesis* hypothesis, fovea_error* error);

/* Returns live beam number `beam`: text * width + k for the k-th best of a text; count is 0 if there is none.
 * fovea_allow_tokens, whose `text` is this number, may call it. Statuses as above. */
FOVEA_API fovea_status fovea_generate_get_beam(fovea_generator* generator, uint32_t beam, fovea_hypothesis* hypothesis,
                                               fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_GENERATE_H_ */
