/* fovea/result.h - from the outputs of a run to results: embeddings, classes, tags and spans of a text, words that
 * explain a class.
 *
 * The blob's metadata and the names of a program's outputs state how they are read (task, problem_type,
 * score_activation, similarity). fovea_result_get_info returns it once for a program; the other functions apply it:
 *
 *   fovea_result_get_info -> fovea_session_run -> fovea_result_read: a row of numbers for each text, or each token
 *     embeddings: fovea_result_similarity compares them
 *     classes:    fovea_result_rank lists the best; fovea_model_get_label names them
 *     tags:       fovea_result_get_spans merges them into spans of the text
 *     answers:    fovea_result_get_answers finds the spans of a context that answer a question
 *     weights of the vocabulary (SPLADE): fovea_result_rank lists the largest; fovea_text_get_token names them
 *
 * "Text" also means a sound or an image. Results follow the pipelines of Hugging Face's transformers and
 * sentence-transformers. Nothing is allocated; sums and exponentials are computed in f64. Threads: functions that get a
 * session read its last run, so no other call may change the session meanwhile; the other functions are pure.
 */
#ifndef FOVEA_RESULT_H_
#define FOVEA_RESULT_H_

#include "fovea/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fovea_result_kind {
  FOVEA_RESULT_EMBEDDING = 1,   /* A vector for each text. */
  FOVEA_RESULT_CLASSES = 2,     /* A score of each class for each text. */
  FOVEA_RESULT_TAGS = 3,        /* A score of each label for each token (token classification). */
  FOVEA_RESULT_WORDS = 4,       /* A score of each token of the vocabulary for each token (masked language model). */
  FOVEA_RESULT_ANSWERS = 5,     /* Two scores for each token: an answer starts, ends there (question answering). */
  FOVEA_RESULT_WORD_WEIGHTS = 6 /* A weight of each token of the vocabulary for each text; most are 0 (SPLADE). */
} fovea_result_kind;            /* Kind of a model's result. */

/* How the rows of a text become one; zeros for a text without rows. */
typedef enum fovea_pooling {
  FOVEA_POOLING_NONE = 0, /* The output has one row for each result. */
  FOVEA_POOLING_MEAN = 1, /* The mean of the rows of a text, which then is activated. */
  FOVEA_POOLING_MAX = 2,  /* The largest of the activated numbers of each column; not with softmax. */
  FOVEA_POOLING_SUM = 3   /* Their sum; not with softmax. */
} fovea_pooling;

/* The function applied to the scores (logits) of a row. */
typedef enum fovea_activation {
  FOVEA_ACTIVATION_NONE = 0,    /* Numbers as they are: embeddings, regression. */
  FOVEA_ACTIVATION_SOFTMAX = 1, /* One class is right: probabilities whose sum is 1. */
  FOVEA_ACTIVATION_SIGMOID = 2, /* Any number of classes is right, or the only score is presented as a probability. */
  /* Weights of words, log(1 + max(0, score)); pooled by the maximum: SPLADE (Formal et al., arXiv 2109.10086). */
  FOVEA_ACTIVATION_LOG1P = 3,
  FOVEA_ACTIVATION_LOG1P_TWICE = 4 /* log(1 + log(1 + max(0, score))) */
} fovea_activation;

/* How two embeddings are compared; more is more similar. */
typedef enum fovea_measure {
  FOVEA_MEASURE_COSINE = 0,
  FOVEA_MEASURE_DOT = 1,
  FOVEA_MEASURE_EUCLIDEAN = 2, /* The negative Euclidean distance. */
  FOVEA_MEASURE_MANHATTAN = 3, /* The negative Manhattan distance. */
  /* Late interaction: for each row of the first text the largest dot product with a row of the second, summed (ColBERT,
   * Khattab and Zaharia, arXiv 2004.12832). */
  FOVEA_MEASURE_MAX_SIM = 4
} fovea_measure;

/* How the results of a program are read. */
typedef struct fovea_result_info {
  size_t struct_size;
  uint32_t program;
  uint32_t kind;       /* fovea_result_kind */
  uint32_t value;      /* The output that is read; answers: start_logits, and end_logits with it. */
  uint32_t width;      /* Numbers of a result: the size of an embedding, or classes, labels, tokens; answers: 2. */
  uint32_t pooling;    /* fovea_pooling */
  uint32_t activation; /* fovea_activation */
  uint32_t measure;    /* fovea_measure that the model was trained for. */
  /* For the caller to set: embeddings get length 1. A smaller `width` keeps the first numbers only, which then also get
   * length 1, for models trained for it (Matryoshka, Kusupati et al., arXiv 2205.13147). */
  uint32_t normalize;
} fovea_result_info;
#define FOVEA_RESULT_INFO_INIT FOVEA_INIT(fovea_result_info)

/* Fills `info` for a program of a model. `output` NULL: by metadata "task", else by the outputs: "logits" are scores
 * (of classes if a text has one row of them, else of tags); otherwise the embedding is "sentence_embedding",
 * "pooler_output", the first output with a row for each text, or the mean of "last_hidden_state" or the first output.
 * Else the output of this name is read as an embedding. A masked language model has word weights if metadata
 * "word_weights" names their pooling and activation; for any other (FOVEA_RESULT_WORDS) the caller may set
 * FOVEA_POOLING_MAX and FOVEA_ACTIVATION_LOG1P to read weights. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE
 *   FOVEA_E_INDEX    no such program
 *   FOVEA_E_NAME     no such output; or the program has none, or they are no results of a text: the model
 *                    generates text (fovea/generate.h)
 *   FOVEA_E_OPTION   the output is not f32, or metadata has an unknown value */
FOVEA_API fovea_status fovea_result_get_info(const fovea_model* model, uint32_t program, const char* output,
                                             fovea_result_info* info, fovea_error* error);

/* Returns in *count the number of results of the session's last run: its texts, or its tokens for tags, words and
 * answers.
 * Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE
 *   FOVEA_E_OPTION   `info` is of another program
 *   FOVEA_E_INDEX    `info` names no output of the session
 *   FOVEA_E_ORDER    before a run */
FOVEA_API fovea_status fovea_result_get_count(const fovea_session* session, const fovea_result_info* info,
                                              uint32_t* count, fovea_error* error);

/* Writes results `first` to `first + count - 1` of the last run to `out`: [count, info->width], pooled, activated and
 * normalised as `info` states. `capacity`: numbers that `out` holds. Statuses: as fovea_result_get_count, and
 *   FOVEA_E_INDEX      fewer results (expected: their number)
 *   FOVEA_E_OPTION     a width of 0 or above the output's, or scores with a smaller one; a pooling or activation that
 *                      does not exist or does not go together
 *   FOVEA_E_CAPACITY   `out` is too small (expected: the numbers needed) */
FOVEA_API fovea_status fovea_result_read(const fovea_session* session, const fovea_result_info* info, uint32_t first,
                                         uint32_t count, float* out, uint64_t capacity, fovea_error* error);

/* Applies a fovea_activation to `count` scores in place. Statuses: FOVEA_E_NULL, FOVEA_E_OPTION (no such
 * activation). */
FOVEA_API fovea_status fovea_result_activate(uint32_t activation, float* scores, uint32_t count);

/* Pools and activates rows as fovea_result_read does, for texts of which not all rows count (padding) and for rows from
 * elsewhere. `rows`: [count, width], `out`: [width]. Statuses: FOVEA_E_NULL, FOVEA_E_OPTION (no such pooling or
 * activation, or softmax with another pooling than the mean). */
FOVEA_API fovea_status fovea_result_pool(uint32_t pooling, uint32_t activation, const float* rows, uint64_t count,
                                         uint32_t width, float* out);

/* Writes the indices of the `top` largest of `count` scores, the largest first, of equals the lower index; NaN is the
 * smallest. Returns how many there are: the smaller of `top` and `count`; 0 if a pointer is NULL. Time: count * log
 * top. */
FOVEA_API uint32_t fovea_result_rank(const float* scores, uint32_t count, uint32_t top, uint32_t* indices);

/* Compares two embeddings of `width` numbers each by a fovea_measure. `a_rows`, `b_rows`: 1, or for
 * FOVEA_MEASURE_MAX_SIM the rows of each text, one after the other. The cosine of a vector of zeros is 0; NaN for an
 * unknown measure or a NULL pointer. */
FOVEA_API double fovea_result_similarity(uint32_t measure, const float* a, uint32_t a_rows, const float* b,
                                         uint32_t b_rows, uint32_t width);

/* ---- Spans: tags of tokens merged (named entities). ---- */

/* Which tag a word of several tokens gets. */
typedef enum fovea_aggregation {
  FOVEA_AGGREGATION_SIMPLE = 0,  /* Words are not looked at: each token has its tag. */
  FOVEA_AGGREGATION_FIRST = 1,   /* The tag of the first token. */
  FOVEA_AGGREGATION_AVERAGE = 2, /* The best tag of the mean probabilities. */
  FOVEA_AGGREGATION_MAX = 3      /* The tag of the token with the highest probability. */
} fovea_aggregation;

/* This struct never changes. */
typedef struct fovea_span {
  uint32_t begin, end; /* Bytes of the text. */
  uint32_t label;      /* The label of its first token or word: "B-PER". */
  float score;         /* Mean probability over its tokens or words. */
  const char* name;    /* The label without the prefix of its scheme: "PER"; in the blob. "" if labels have no names. */
} fovea_span;

/* Merges the tags of a text's tokens into spans. `scores`: [tokens->count, labels], probabilities from
 * fovea_result_read; `tokens` with ids, special and ranges; `text` is what was encoded. Labels are "O" for none, plain
 * names, or names with the prefix B- (begin), I- (inside), E- or L- (end), S- or U- (single; the last four only if
 * there is also B- or I- of the same name). Neighbours of one name are one span unless the second is a beginning or
 * the first an end. Leading white space is left out. Writes up to `capacity` spans and their number to *count.
 * Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE, FOVEA_E_SECTION (no tokenizer)
 *   FOVEA_E_OPTION     no such aggregation, or no labels
 *   FOVEA_E_ID         an id is out of range (index: its place)
 *   FOVEA_E_INDEX      a range is outside of the text (index: the token's place)
 *   FOVEA_E_CAPACITY   there are more spans (expected and *count: their number) */
FOVEA_API fovea_status fovea_result_get_spans(const fovea_model* model, const float* scores, uint32_t labels,
                                              const fovea_text_tokens* tokens, const char* text, uint64_t size,
                                              uint32_t aggregation, fovea_span* spans, uint64_t capacity,
                                              uint64_t* count, fovea_error* error);

/* ---- Answers: spans of a context that answer a question (extractive question answering). ----
 *
 *   fovea_text_encode of the question and the context as a pair, with FOVEA_TEXT_UNLIMITED
 *   -> fovea_result_get_window, if the context can be too long for the model: its parts, each with the question
 *   -> fovea_text_bind, fovea_session_run, fovea_result_read for all windows: [tokens, 2]
 *   -> fovea_result_get_answers */

/* Finds the tokens of the second text of an encoded pair: `*count` of them from `*first` on. Without any, *first is
 * pair->count. Padding is allowed if it is marked as special. `pair` with special and text_tokens. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE, FOVEA_E_INDEX (a count above the capacity) */
FOVEA_API fovea_status fovea_result_get_second(const fovea_text_tokens* pair, uint64_t* first, uint64_t* count,
                                               fovea_error* error);

/* Copies window `window` of an encoded pair to the arrays of `out`, as far as they are not NULL: the first text and a
 * part of the second, together at most `max_length` tokens with the special ones; neighbours share `stride` tokens of
 * the second text (transformers' max_seq_len 384 and doc_stride 128). A pair that fits is one window. Sets out->count,
 * out->windows (their number) and out->text_tokens. `pair` with special, text_tokens and the arrays that `out` has.
 * Statuses:
 *   FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE, FOVEA_E_BUILD (the profile lacks answers)
 *   FOVEA_E_LENGTH     no more than `stride` tokens are left for the second text (expected: the least max_length)
 *   FOVEA_E_INDEX      no such window (expected: their number), or pair->count is above its capacity
 *   FOVEA_E_CAPACITY   the arrays of `out` are too small (expected and out->count: the tokens) */
FOVEA_API fovea_status fovea_result_get_window(const fovea_text_tokens* pair, uint32_t max_length, uint32_t stride,
                                               uint64_t window, fovea_text_tokens* out, fovea_error* error);

/* Zero fields mean the default. */
typedef struct fovea_answer_options {
  size_t struct_size;
  uint32_t top;        /* Most answers; 0: 1. */
  uint32_t max_tokens; /* Most tokens of an answer, before it is extended to whole words; 0: 15. */
  uint32_t allow_none; /* 1: "the context has no answer" is one of the answers. */
} fovea_answer_options;
#define FOVEA_ANSWER_OPTIONS_INIT FOVEA_INIT(fovea_answer_options)

/* This struct never changes. */
typedef struct fovea_answer {
  double score;        /* Probability of the start times that of the end; see below. */
  uint32_t begin, end; /* Bytes of the context; equal: there is no answer. */
} fovea_answer;

/* Finds the best answers of all windows of a question and a context, the best first, by the rules of transformers'
 * QuestionAnsweringPipeline: probabilities are a softmax over the context's tokens and the first token of the window if
 * it is special, whose own product is "no answer" (the least of all windows). Each window gives its best `top` pairs of
 * a start and an end; an answer is extended to whole words and has no white space at its ends. Equal texts, regardless
 * of ASCII case, are one answer with the sum of their scores. Pairs of score 0 are left out, unlike in the original.
 * `windows`: `window_count` pairs with ids, special, ranges and text_tokens; `scores`: [tokens of all windows, 2], one
 * window after the other, from fovea_result_read; `context`: the second text. `capacity`: window_count * top + 1, of
 * which at most `top` are answers. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_SECTION (no tokenizer), FOVEA_E_BUILD (the profile lacks answers)
 *   FOVEA_E_STRUCT_SIZE   also if windows have different ones
 *   FOVEA_E_ID            an id is out of range (index: its place in its window)
 *   FOVEA_E_INDEX         a range is outside of the context, or a count above its capacity (index: the same)
 *   FOVEA_E_CAPACITY      `answers` is too small (expected: the entries needed) */
FOVEA_API fovea_status fovea_result_get_answers(const fovea_model* model, const fovea_text_tokens* windows,
                                                uint32_t window_count, const float* scores, const char* context,
                                                uint64_t size, const fovea_answer_options* options,
                                                fovea_answer* answers, uint64_t capacity, uint64_t* count,
                                                fovea_error* error);

/* ---- Words that explain a class: attention weights of the steps that the metadata names (explain.<space>). ---- */

/* Fills `tap` with the attention map that explains the rows of a space, for fovea_session_options.taps: the weights of
 * tokens (the space of "input_ids") within their text or sentence, or of sentences (the parent of that space) within
 * their document. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE
 *   FOVEA_E_INDEX   no such program or space
 *   FOVEA_E_NAME    the metadata names no attention step for this space */
FOVEA_API fovea_status fovea_result_get_explaining_tap(const fovea_model* model, uint32_t program, uint32_t space,
                                                       fovea_tap* tap, fovea_error* error);

/* Writes the weight of each row of `space` in the last run, all segments one after the other, from the map of tap
 * `tap` (its position in the session's taps), which fovea_result_get_explaining_tap has filled. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_INDEX, FOVEA_E_ORDER
 *   FOVEA_E_OPTION     the map does not belong to this space
 *   FOVEA_E_CAPACITY   `weights` is too small (expected: the rows) */
FOVEA_API fovea_status fovea_result_read_weights(const fovea_session* session, uint32_t tap, uint32_t space,
                                                 float* weights, uint64_t capacity, fovea_error* error);

/* A word of a text. This struct never changes. */
typedef struct fovea_word {
  uint32_t begin, end; /* Bytes of the text. */
  float weight;        /* The sum of its tokens' weights. */
} fovea_word;

/* Merges tokens `first` to `first + count - 1` of a text into words: tokens without anything but letters, digits and
 * underscores between them, characters of scripts without spaces each on their own. `weights`: `count` numbers;
 * `tokens` with special and ranges; special tokens are left out. Writes up to `capacity` words and their number to
 * *word_count. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE
 *   FOVEA_E_INDEX      no such tokens, or a range is outside of the text (index: the token's place)
 *   FOVEA_E_CAPACITY   there are more words (expected and *word_count: their number) */
FOVEA_API fovea_status fovea_result_get_words(const char* text, uint64_t size, const fovea_text_tokens* tokens,
                                              uint64_t first, uint64_t count, const float* weights, fovea_word* words,
                                              uint64_t capacity, uint64_t* word_count, fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_RESULT_H_ */
