/* fovea/generate.h - tokens out of a decoder, one step after the other, pulled by the caller.
 *
 * A decoder is a program that makes one step for each text of a batch: it reads the last token of each text (an i32
 * input of width 1) and what it carries from step to step, and writes scores for the next token (an output of one
 * number for each token). If there is an encoder, its outputs are linked to the decoder's inputs (fovea_session_link):
 * nothing is copied, and keys that the encoder made are used again in every step. The caller makes both sessions, in
 * its own memory, and runs the encoder; a generator does the rest:
 *
 *   encode session: set segments or bind texts, write inputs, run
 *   fovea_generate_size -> memory -> fovea_generate_init
 *   for each batch: fovea_generate_start, then fovea_generate_next until `left` is 0
 *
 * A decoder that keeps texts (fovea/cache.h) reads any number of new tokens of each text: the token's space is a child
 * of that of the scores, or (which speculation needs) the scores are those after each token. Each text may then
 * begin with a prompt (fovea_generate_set_prompts), which is taken in at once, or in pieces if the session's limit of
 * rows is less; texts that ended take no part in further steps. Text i of the batch is text i of the session.
 *
 * Beam search (fovea_beams) has `width` texts in the making for each text: these are neighbours in the scores' space,
 * text i * width and those after it, and in the session's cache. Where that space is an input space with a parent, as
 * that of a decoder whose keys were made once for each text of an encoder, the generator sets its segments: `width`
 * rows for each text, one if there are no beams.
 *
 * What a decoder's values are called and which tokens mean what stands in the metadata of the blob; options come first.
 *
 *   generate.encode        the encoder's program, "encode" where absent; for callers, the library does not read it
 *   generate.decode        the decoder's program, "decode" where absent; likewise
 *   generate.token         the decoder's input that takes the last token of each text, or its new ones
 *   generate.scores        the decoder's output with a score for each token
 *   generate.link.<input>  the encoder's output that this input of the decoder reads, or begins with if it is carried
 *   generate.start         the token that stands before the first one; may be absent where texts begin with prompts
 *   generate.stop_ids      tokens that end a text, with spaces between them, at most 256; none where absent
 *   generate.suppress_ids  tokens that never follow, as generate.stop_ids; none where absent
 *   generate.begin_suppress_ids  tokens that never follow first: a text has another one before them
 *   generate.max_tokens    the most tokens of a text; any number where absent or 0
 *
 * At most 256 inputs are linked, by names of at most 255 bytes. Older blobs say generate.end for generate.stop_ids and
 * generate.most for generate.max_tokens; these are read where the new key is absent.
 *
 * An error about an entry of the metadata says which: `section` is that of the metadata, `index` the entry's number, of
 * which fovea_model_get_metadata gives key and value. Other errors have FOVEA_NOWHERE for `section`.
 *
 * fovea_generate_options, fovea_sampling, fovea_beams, fovea_generated and fovea_hypothesis may grow and begin with
 * struct_size.
 *
 * A step is cancelled by fovea_session_cancel of the decode session (or the draft's), during the step or before it.
 * Made again, it continues where it stopped.
 *
 * After each step taps and outputs of the decode session can be read as after any run: an alignment is the tap of its
 * attention. One generator, with its sessions, is used by one thread at a time. Nothing is allocated.
 */
#ifndef FOVEA_GENERATE_H_
#define FOVEA_GENERATE_H_

#include "fovea/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fovea_generator fovea_generator;

/* Which tokens may follow in text `text` of the batch (of a beam search: fovea_generate_get_beam), of which `step`
 * tokens are made: the caller's grammar, word list
 * or forbidden words. `words` has a bit for each of `tokens` tokens, token t bit t % 32 of words[t / 32], all of them
 * set; the function clears those of tokens that may not follow. If it leaves none, it has chosen token 0. Called by
 * fovea_generate_next, before the decoder runs, for every text that has not ended. */
typedef void (*fovea_allow_tokens)(void* context, uint32_t text, uint32_t step, uint32_t tokens, uint32_t* words);

/* The same by what the decoder thinks of them: called when it has run, with the scores as it wrote them, `tokens` of
 * them. `words` has the bits of those that may follow so far: of all, without suppressed ones and those that
 * fovea_allow_tokens has cleared. Not called for tokens that are forced. */
typedef void (*fovea_allow_scored)(void* context, uint32_t text, uint32_t step, uint32_t tokens, const float* scores,
                                   uint32_t* words);

/* How a token is chosen. All zero: the one with the highest score, of equals the lowest; NaN is no score. Steps come in
 * this order, as in Hugging Face's generation: penalties, `allow` and `allow_scored`, temperature, top_k, top_p, min_p.
 * A random number depends on the seed, the number of the text (fovea_generate_set_sequences) and the step alone (Philox
 * 4x32-10; Salmon et al., SC 2011), so a text's tokens depend on its scores, not on its batch. Set struct_size to
 * sizeof(fovea_sampling). */
typedef struct fovea_sampling {
  size_t struct_size;
  float temperature; /* 0: the best token. Else scores are divided by it, and a token is drawn by their softmax. */
  uint32_t top_k;    /* Only so many of the best tokens, and those whose score equals the last one's. 0: any number. */
  float top_p;       /* Only the fewest likeliest tokens whose probabilities sum up to it (nucleus). 0 or 1: all. */
  float min_p;       /* Only tokens at least this times as likely as the likeliest. 0: all. */
  /* Scores of tokens that the text has, the start token included: positive ones are divided by it, negative ones
   * multiplied (Keskar et al., arXiv 1909.05858). 0 or 1: they are not. */
  float repetition_penalty;
  float presence_penalty; /* Subtracted from the scores of tokens that the text has. */
  uint32_t logprobs;      /* 1: log-probabilities of the tokens are wanted. */
  uint32_t top_logprobs;  /* Also those of so many of the likeliest tokens of each step. At most 256. */
  uint64_t seed;
  fovea_allow_tokens allow;        /* NULL: all tokens may follow. */
  void* allow_context;             /* Of both. */
  fovea_allow_scored allow_scored; /* NULL: scores forbid nothing. */
} fovea_sampling;

/* When a text's beam search has ended, besides at max_tokens: once there are `width` hypotheses, and */
enum {
  FOVEA_BEAMS_STOP_IF_WORSE = 0, /* the best text in the making is worse than each of them by its present length, */
  FOVEA_BEAMS_STOP_FIRST = 1,    /* at once, */
  FOVEA_BEAMS_STOP_NEVER = 2     /* or it is so by max_tokens, where length_penalty is above 0. */
};

/* Beam search as Hugging Face's generation defines it (transformers 4.57; early_stopping False, True and "never" are
 * the three above). In each step the sums of log-probabilities of all texts in the making and all tokens are compared:
 * the `width` best that do not end go on, and those of the `width` best that end are hypotheses, of which the best are
 * kept. Penalties, suppressed tokens, `allow` and `allow_scored` change log-probabilities before they are added.
 * temperature, top_k, top_p and min_p must be 0; log-probabilities are not told. Of equal sums that of the better text,
 * then of the lower token comes first. Only texts that are possible count: fewer hypotheses than `width` where tokens
 * are forbidden. Set struct_size to sizeof(fovea_beams). */
typedef struct fovea_beams {
  size_t struct_size;
  uint32_t width;       /* Texts in the making of each text, 1 to 256. */
  uint32_t stop;        /* FOVEA_BEAMS_STOP_.. */
  float length_penalty; /* A hypothesis' score is the sum divided by its number of tokens to this power. Usual: 1. */
} fovea_beams;

/* Zero fields mean: as the metadata says. Set struct_size to sizeof(fovea_generate_options). Strings and arrays are
 * read during the call only. */
typedef struct fovea_generate_options {
  size_t struct_size;
  fovea_session* decode;       /* Required. Its links are made by the generator. */
  const fovea_session* encode; /* Required if the metadata has links of an input of the decoder. */
  const char* token;
  const char* scores;      /* An output or kept value in the space of the token or, of kept texts, its parent. */
  const int32_t* start;    /* One token, for texts without a prompt. */
  const int32_t* stop_ids; /* stop_id_count tokens, at most 256. */
  uint32_t stop_id_count;
  uint32_t max_tokens;
  const fovea_sampling* sampling; /* NULL: the best token of each step. */
  const fovea_beams* beams;       /* NULL: none. They need max_tokens. */
  /* Speculation: another decoder, of this or another model with the same tokens, guesses up to draft_tokens tokens (1
   * to 64), and `decode` reads them in one run. Each text gets the tokens that it gets without, with sampling too: only
   * how long they take differs. Both sessions keep texts and have no carried inputs; their rewind_rows are above
   * draft_tokens where windows bound what is seen. The scores of `decode` are in the space of the token, so a run gives
   * those after each of its tokens. What the draft's values are called says its model's metadata; its texts are as
   * many, with room for two new tokens of each, and nothing links it to an encoder. There can be neither beams nor
   * `allow` or `allow_scored`, and fovea_generate_next takes no forced tokens. NULL: none. */
  fovea_session* draft;
  uint32_t draft_tokens;
} fovea_generate_options;

/* The inputs of a decoder that the metadata links to an encoder and that are not carried: what
 * fovea_session_options.linked of the decode session must name. Writes up to `capacity` of them, in the order of the
 * metadata, and their number. Statuses: FOVEA_E_HANDLE, FOVEA_E_INDEX, FOVEA_E_NULL; FOVEA_E_CAPACITY (*count and
 * expected: how many there are); FOVEA_E_TOO_COMPLEX (more links than the format allows). */
FOVEA_API fovea_status fovea_generate_get_linked(const fovea_model* model, uint32_t decode_program, uint32_t* inputs,
                                                 uint32_t capacity, uint32_t* count, fovea_error* error);

/* The exact bytes of a generator. They depend on the options and the decode session's limit of texts. Statuses:
 * FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE, FOVEA_E_HANDLE; FOVEA_E_BUILD (the library's profile leaves out generation, or the
 * sampling, beams or draft asked for); FOVEA_E_NAME (neither options nor metadata name the token, the scores or the
 * first token, there is no such value, or a number in the metadata is none); FOVEA_E_OPTION (values that are not as
 * above, more scores than the token's table has rows, more than 256 stop ids, sessions of different models,
 * links without an encoder, numbers of the sampling or of the beams out of range, beams of a decoder whose rows are the
 * encoder's texts, a draft that is not as above); FOVEA_E_ID (a token is out of range; index: which of
 * options.stop_ids); FOVEA_E_TOO_COMPLEX (more links than the format allows). */
FOVEA_API fovea_status fovea_generate_size(const fovea_generate_options* options, uint64_t* needed, fovea_error* error);

/* Makes a generator in `memory`, of alignment 64. Besides the statuses of fovea_generate_size: FOVEA_E_TOO_SMALL
 * (expected: the exact bytes), FOVEA_E_MISALIGNED. The sessions must live as long as it is used. */
FOVEA_API fovea_status fovea_generate_init(const fovea_generate_options* options, void* memory, uint64_t size,
                                           fovea_generator** generator, fovea_error* error);

/* Begins with the texts that the encoder has just run: carried inputs of the decoder become zeros, links are made, no
 * text has a token yet. Without links the decoder's segments are the caller's to set before, `width` rows for each text
 * where there are beams. Carried inputs that should begin as something else are written afterwards. Statuses:
 * FOVEA_E_HANDLE; FOVEA_E_ORDER if the encoder has no finished run or the decoder no texts; FOVEA_E_SEGMENTS (rows that
 * are no multiple of the beams); what fovea_session_link and fovea_session_set_segments return. */
FOVEA_API fovea_status fovea_generate_start(fovea_generator* generator, fovea_error* error);

/* The numbers of the texts that were started, for their random numbers; without this 0, 1, and so on. `count` is that
 * of the texts. Before the first step. Statuses: FOVEA_E_HANDLE, FOVEA_E_NULL; FOVEA_E_LENGTH (expected: the texts);
 * FOVEA_E_ORDER (not started, or a step has been made). */
FOVEA_API fovea_status fovea_generate_set_sequences(fovea_generator* generator, const uint64_t* numbers, uint32_t count,
                                                    fovea_error* error);

/* What each text begins with in place of the start token: lengths[i] tokens, at least 1, of text i, all in one array,
 * `tokens`. `keep` 0: texts that the session keeps are emptied first; 1: they go on, so that `tokens` are
 * those that are new since the last run: a chat's next turn, or after a prefix that was forked or restored. Before the
 * first step; both arrays must stay as they are until the first fovea_generate_next, which takes the prompts in, has
 * succeeded. If it fails and is made again it goes on where it stopped. Statuses: FOVEA_E_HANDLE, FOVEA_E_NULL;
 * FOVEA_E_ORDER (not started, or a step has been made); FOVEA_E_OPTION (the decoder keeps no texts); FOVEA_E_LENGTH (an
 * empty prompt, or another number of texts than the encoder gave: expected); FOVEA_E_SEGMENTS (more texts than the
 * session has); FOVEA_E_ID (index: which of `tokens`). */
FOVEA_API fovea_status fovea_generate_set_prompts(fovea_generator* generator, const int32_t* tokens,
                                                  const uint32_t* lengths, uint32_t count, uint32_t keep,
                                                  fovea_error* error);

/* What a step gave. Arrays have an entry for each text and are valid until the next call. Of a beam search tokens and
 * scores are the last token and the sum of log-probabilities of the best text in the making, and -1 and 0 of a text
 * whose search has ended: what was found says fovea_generate_get_hypothesis. Set struct_size. */
typedef struct fovea_generated {
  size_t struct_size;
  uint32_t texts;
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
} fovea_generated;

/* Makes one step for all texts: feeds each its last token (or, first, its prompt), runs the decoder and chooses a token
 * as the sampling says. `forced` (NULL: none) has an entry for each text: a token to take instead of the chosen one, -1
 * to choose; all beams of the text take it, and it adds 0 to their sums (the library's forced first and last tokens).
 * Texts that ended take part in the run where the decoder keeps no texts, but get no more tokens. A text also ends when
 * the session has no room for its next row. `generated` may be NULL. Statuses: FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE;
 * FOVEA_E_ORDER (not started, all texts have ended, or the decoder got other segments since the start); FOVEA_E_ID (a
 * forced token is none, index: whose); FOVEA_E_OPTION (forced tokens with a draft); what fovea_session_run returns, of
 * the draft, too. A call that fails or is cancelled (fovea_session_cancel of the decode session and the draft) changes
 * nothing and may be made again, or fovea_generate_start begins anew. */
FOVEA_API fovea_status fovea_generate_next(fovea_generator* generator, const int32_t* forced,
                                           fovea_generated* generated, fovea_error* error);

/* A text that beam search has found, or has in the making. Set struct_size. */
typedef struct fovea_hypothesis {
  size_t struct_size;
  uint32_t count;        /* Of its tokens. Without the prompt, with the token that ended it. */
  const int32_t* tokens; /* Valid until the next call about the generator. */
  float score;           /* sum / count ^ length_penalty */
  float sum;             /* Of log-probabilities. */
} fovea_hypothesis;

/* Hypothesis `rank` of a text, 0 the best. After any step: those that have been found so far; when the text has ended
 * these are its results. Statuses: FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE, FOVEA_E_NULL; FOVEA_E_OPTION (no beams);
 * FOVEA_E_ORDER (not started); FOVEA_E_INDEX (no such text, or fewer hypotheses: expected says how many). */
FOVEA_API fovea_status fovea_generate_get_hypothesis(fovea_generator* generator, uint32_t text, uint32_t rank,
                                                     fovea_hypothesis* hypothesis, fovea_error* error);

/* What text number `beam` in the making has so far, i * width + k for the k-th of text i, as its score says the best
 * first; count is 0 if there is none. May be called by fovea_allow_tokens, whose `text` is this number. Statuses as
 * above. */
FOVEA_API fovea_status fovea_generate_get_beam(fovea_generator* generator, uint32_t beam, fovea_hypothesis* hypothesis,
                                               fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_GENERATE_H_ */
