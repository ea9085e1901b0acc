/* fovea/text.h - text to token ids and back, with the tokenizer in the model's blob.
 *
 * Text is UTF-8 with an explicit size; a terminating zero is neither needed nor written. Ids are the ids that the model
 * was trained with: the same as the original tokenizer's, special tokens included. Nothing is allocated: encoding works
 * in scratch of the caller whose exact size depends on the model and the text's length only. All calls are pure
 * functions of their arguments: any number of threads may use one model at the same time, each with separate scratch
 * and outputs.
 *
 * If the model has no tokenizer (fovea_model_info.has_text is 0), every call that gets a model returns FOVEA_E_SECTION;
 * an invalid handle returns FOVEA_E_HANDLE, a NULL pointer FOVEA_E_NULL.
 *
 * Time is linear in the text for any one tokenizer, regardless of the content of text and blob: a byte of text is read
 * as often as the longest piece or added token has bytes, which the format limits to 4096, and each of at most 32
 * further steps costs no more. Only a word of byte-pair encoding costs n log n. Opening a tokenizer and finding a piece
 * are linear in the vocabulary, decoding is linear in its output.
 */
#ifndef FOVEA_TEXT_H_
#define FOVEA_TEXT_H_

#include "fovea/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fovea_text_kind {
  FOVEA_TEXT_WORD_PIECE = 1, /* BERT, DistilBERT, MPNet, ... */
  FOVEA_TEXT_UNIGRAM = 2,    /* XLM-RoBERTa, T5, ALBERT, ... */
  FOVEA_TEXT_BYTE_PAIR = 3   /* BPE: RoBERTa, GPT-2, Llama, Gemma, Qwen, ... */
} fovea_text_kind;           /* Kind of a tokenizer. */

/* Properties of the tokenizer. */
typedef struct fovea_text_info {
  size_t struct_size;
  uint32_t kind;           /* fovea_text_kind */
  uint32_t vocabulary;     /* Ids are below this. */
  uint32_t max_length;     /* The most tokens the model accepts, special ones included; 0: the blob states no limit. */
  uint32_t single_special; /* Number of special tokens put around one text. */
  uint32_t pair_special;   /* Number of special tokens put around and between two texts. */
  int32_t unknown_id;      /* Token for input that no other token covers; -1: none. */
  int32_t pad_id;          /* The padding token; -1: none. fovea itself never pads. */
  int32_t mask_id;         /* Token for a word that a masked language model predicts ("[MASK]", "<mask>"); -1: none. */
} fovea_text_info;
#define FOVEA_TEXT_INFO_INIT FOVEA_INIT(fovea_text_info)

/* Fills `info`. Statuses: FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE, FOVEA_E_SECTION. */
FOVEA_API fovea_status fovea_text_get_info(const fovea_model* model, fovea_text_info* info, fovea_error* error);

/* Returns in *needed the bytes of scratch that encode texts of up to `length` bytes. For two texts encoded together the
 * longer one counts. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_SECTION
 *   FOVEA_E_LENGTH   no scratch is large enough: texts end below 2 GiB */
FOVEA_API fovea_status fovea_text_scratch_size(const fovea_model* model, uint64_t length, uint64_t* needed,
                                               fovea_error* error);

/* Bits of fovea_text_encode_options.flags. */
typedef enum fovea_text_flags {
  FOVEA_TEXT_PLAIN = 1,    /* The tokens of the text alone, no special tokens around it. */
  FOVEA_TEXT_CUT_LEFT = 2, /* Texts that are too long lose their beginning, not their end. Some tokenizers always do. */
  FOVEA_TEXT_UNLIMITED = 4, /* Do not truncate at the model's max_length; max_length must be 0. */
  FOVEA_TEXT_WRAPPED = 8,   /* fovea_text_encode_document: lines are broken anywhere, see fovea_text_sentence. */
  FOVEA_TEXT_LITERAL = 16   /* Special tokens that a text spells, such as "</s>", are text ("split_special_tokens"): for
                             * text of strangers. Without it they are tokens, as in the original library. */
} fovea_text_flags;

/* Which of two texts is truncated if both together are too long. */
typedef enum fovea_text_truncation {
  FOVEA_TEXT_LONGEST_FIRST = 0, /* The longer one, then both alike. */
  FOVEA_TEXT_ONLY_FIRST = 1,    /* FOVEA_E_LENGTH if it is too short for that. */
  FOVEA_TEXT_ONLY_SECOND = 2
} fovea_text_truncation;

/* Zero fields mean the default. */
typedef struct fovea_text_encode_options {
  size_t struct_size;
  uint32_t flags;      /* fovea_text_flags, combined with | */
  uint32_t max_length; /* Most tokens of the result, special tokens included. 0: the model's limit. */
  uint32_t truncation; /* fovea_text_truncation */
  /* A single text that is too long is split into several windows. Neighbours share `stride` tokens; `window` selects
   * the one to encode. */
  uint32_t stride;        /* Below max_length less the special tokens. */
  uint32_t window;        /* 0: the first one. FOVEA_E_INDEX past the last. */
  uint32_t max_sentences; /* fovea_text_encode_document: most sentences of the result. 0: the model's limit. */
} fovea_text_encode_options;
#define FOVEA_TEXT_ENCODE_OPTIONS_INIT FOVEA_INIT(fovea_text_encode_options)

/* Arrays of the caller, `capacity` entries each; arrays that are not wanted are NULL. The caller sets struct_size,
 * capacity and the pointers. */
typedef struct fovea_text_tokens {
  size_t struct_size;
  uint64_t capacity;
  int32_t* ids;     /* Token ids. */
  int32_t* types;   /* Type id (segment id) of each token: for models with a second embedding table. */
  uint8_t* special; /* 1: a special token of the template, 0: a token of a text. */
  uint32_t* ranges; /* Two entries for each token: [begin, end) bytes of its text; 0, 0 for tokens of the template. */
  /* Filled by fovea_text_encode. */
  uint64_t count;          /* Tokens of the result. */
  uint64_t windows;        /* Windows of a single text; 1: it fits, or two texts were given. */
  uint64_t text_tokens[2]; /* Tokens of each text before truncation, without special tokens. */
  /* Special tokens of the result that the texts spell, except mask and unknown tokens. 0 with FOVEA_TEXT_LITERAL. */
  uint64_t spelled;
} fovea_text_tokens;
#define FOVEA_TEXT_TOKENS_INIT FOVEA_INIT(fovea_text_tokens)

/* Encodes `text`, or `text` and `second` as a pair (second NULL: a single text; sizes may be 0, and then the pointers
 * are not read). `scratch` has alignment 64; its content before and after is unspecified. Texts that are too long are
 * truncated as the options (NULL: defaults) specify; compare text_tokens to detect that. To encode for inference, bind
 * `ids` (and `types`) as they are. A call for a later window reads the whole text again. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE, FOVEA_E_OPTION, FOVEA_E_SECTION
 *   FOVEA_E_UTF8        the text is not UTF-8 (index: the first such byte)
 *   FOVEA_E_TOO_SMALL, FOVEA_E_MISALIGNED   the scratch
 *   FOVEA_E_CAPACITY    arrays are too small (expected and tokens->count: tokens of the result, of which the arrays
 * hold
 *                       the first ones)
 *   FOVEA_E_LENGTH      a text is too long, or cannot be truncated enough
 *   FOVEA_E_INDEX       no such window
 *   FOVEA_E_TEXT_DATA   a damaged blob whose checksum was not verified */
FOVEA_API fovea_status fovea_text_encode(const fovea_model* model, const char* text, uint64_t size, const char* second,
                                         uint64_t second_size, const fovea_text_encode_options* options, void* scratch,
                                         uint64_t scratch_size, fovea_text_tokens* tokens, fovea_error* error);

/* Makes encoded texts the input of a session's next run: text i is segment i of the space of the i32 input "input_ids",
 * with its tokens' ids, and their types in the input "token_type_ids" (zeros if `types` is NULL) if the program has
 * that. The caller writes any further inputs. `tokens` are `count` results of fovea_text_encode with ids.
 * fovea_session_run checks whether ids are in range. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE
 *   FOVEA_E_STRUCT_SIZE   also if texts have different ones
 *   FOVEA_E_NAME          the program has no such inputs of one space
 *   FOVEA_E_CAPACITY      a text has more tokens than its arrays hold (index: which)
 *   statuses of fovea_session_set_segments */
FOVEA_API fovea_status fovea_text_bind(fovea_session* session, const fovea_text_tokens* tokens, uint32_t count,
                                       fovea_error* error);

/* ---- Documents: texts of sentences, for models whose tokens nest in sentences and these in documents. ---- */

/* Finds the next sentence of a text: the first that starts at byte *end or later. Returns 1 and its bytes [*begin,
 * *end), or 0 if there is none; a pure function that needs no model. `flags`: FOVEA_TEXT_WRAPPED or 0. Begin with *end
 * = 0:
 *
 *   uint64_t begin, end = 0;
 *   while (fovea_text_sentence(text, size, 0, &begin, &end)) fwrite(text + begin, 1, end - begin, stdout);
 *
 * A sentence ends after . ! ? and their relatives in other scripts with the quotes and brackets that close there, and
 * at line ends. It does not end in "3.14", "e.g. this", "J. Smith", "Dr. Who", "(why?) he asked";
 * runtime/text/README.md has all rules. Sentences are in order, hold every byte that is no white space and neither
 * begin nor end with white space, so none is empty. With the flag FOVEA_TEXT_WRAPPED, for text whose lines are broken
 * where they are full, a line end is a space unless an empty line or a list item follows. Text that is not UTF-8 is
 * also split. Time is linear in the size of the text. */
FOVEA_API uint32_t fovea_text_sentence(const char* text, uint64_t size, uint32_t flags, uint64_t* begin, uint64_t* end);

/* The sentences of an encoded document, in arrays of the caller, who sets struct_size, capacity and the pointers. */
typedef struct fovea_text_sentences {
  size_t struct_size;
  uint64_t capacity; /* Sentences that the arrays hold. */
  uint32_t* lengths; /* Tokens of each sentence. */
  uint32_t* ranges;  /* Two entries for each: [begin, end) bytes of the document. NULL if not wanted. */
  /* Filled by fovea_text_encode_document. */
  uint64_t count;   /* Sentences of the result; 0 for an empty document. */
  uint64_t dropped; /* Sentences after them that max_sentences left out. */
} fovea_text_sentences;
#define FOVEA_TEXT_SENTENCES_INIT FOVEA_INIT(fovea_text_sentences)

/* Encodes a document: its sentences one after the other, each like a separate text, with special tokens around it and
 * truncated at max_length. Sentences of which the tokenizer leaves no token (for example only invisible characters) are
 * skipped. `tokens` gets the tokens of all sentences one after the other, with ranges in bytes of the document;
 * tokens->text_tokens[0] is their number before truncation, without special tokens, tokens->windows is 1. The scratch
 * is fovea_text_scratch_size of the longest sentence; the document's size always suffices. `sentences` gets at most
 * options->max_sentences; 0: the longest segment that the model supports in the parent of the space of its input
 * "input_ids" (fovea_space_info.max_segment_rows). Windows and strides must be 0. Statuses: as fovea_text_encode
 * for a single text, with
 *   FOVEA_E_CAPACITY   arrays of tokens or of sentences are too small; both counts have the numbers needed, and the
 *                      arrays hold the first ones
 *   FOVEA_E_LENGTH     a document of 2 GiB or more */
FOVEA_API fovea_status fovea_text_encode_document(const fovea_model* model, const char* text, uint64_t size,
                                                  const fovea_text_encode_options* options, void* scratch,
                                                  uint64_t scratch_size, fovea_text_tokens* tokens,
                                                  fovea_text_sentences* sentences, fovea_error* error);

/* Makes encoded documents the input of a session's next run: sentence k of document i, sentences[i].lengths[k] of the
 * tokens of tokens[i], is a segment of the space of "input_ids", and the sentences of document i are segment i of that
 * space's parent. Inputs are written as by fovea_text_bind. A part of a document's sentences can also be bound: point
 * `lengths` and `ids` at the first and set both counts. A call that fails changes nothing. Statuses: as
 * fovea_text_bind, and
 *   FOVEA_E_NAME       also if the space of "input_ids" has no parent with a parent
 *   FOVEA_E_CAPACITY   a document has more tokens or sentences than its arrays (index: which)
 *   FOVEA_E_SEGMENTS   its lengths add up to `found`, not to its `expected` tokens */
FOVEA_API fovea_status fovea_text_bind_documents(fovea_session* session, const fovea_text_tokens* tokens,
                                                 const fovea_text_sentences* sentences, uint32_t count,
                                                 fovea_error* error);

/* ---- Ids to text ---- */

/* Bits of the flags of fovea_text_decode. */
typedef enum fovea_text_decode_flags {
  FOVEA_TEXT_KEEP_SPECIAL = 1, /* Also write special tokens ([CLS], </s>, ...). */
  FOVEA_TEXT_CLEAN_UP = 2 /* Remove the spaces before punctuation and contractions that English texts do not have. */
} fovea_text_decode_flags;

/* Writes the text of `count` ids to `output`, and its size to *written. It uses only the caller's arrays and needs no
 * scratch. `flags`: fovea_text_decode_flags, combined with |. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_OPTION, FOVEA_E_SECTION
 *   FOVEA_E_ID         an id is out of range (index: its place)
 *   FOVEA_E_CAPACITY   `output` is too small and holds the beginning (expected and *written: bytes that certainly
 *                      suffice) */
FOVEA_API fovea_status fovea_text_decode(const fovea_model* model, const int32_t* ids, uint64_t count, uint32_t flags,
                                         char* output, uint64_t capacity, uint64_t* written, fovea_error* error);

/* State of decoding a text whose ids arrive bit by bit (streaming). It is the caller's memory, and nothing has to be
 * freed. Begin with zeros, struct_size and flags; the same record may begin another text after fovea_text_decode_end. A
 * copy of it continues independently. */
typedef struct fovea_text_stream {
  size_t struct_size;
  uint32_t flags;    /* FOVEA_TEXT_KEEP_SPECIAL or 0. */
  uint32_t state[8]; /* Bytes held back: zeros at the beginning, then fovea's to change. */
} fovea_text_stream;
#define FOVEA_TEXT_STREAM_INIT FOVEA_INIT(fovea_text_stream)

/* Writes the text that `count` more ids make certain, in whole characters: bytes of an incomplete character stay in the
 * stream. All parts, with the part from fovea_text_decode_end, one after the other, are the output of fovea_text_decode
 * for all ids at once (without FOVEA_TEXT_CLEAN_UP). A call that fails reads no id and changes nothing. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE, FOVEA_E_SECTION
 *   FOVEA_E_OPTION     flags, or a state that is not this tokenizer's
 *   FOVEA_E_ID         an id is out of range (index: its place)
 *   FOVEA_E_CAPACITY   `output` is too small (expected and *written: bytes that this part needs) */
FOVEA_API fovea_status fovea_text_decode_next(const fovea_model* model, fovea_text_stream* stream, const int32_t* ids,
                                              uint64_t count, char* output, uint64_t capacity, uint64_t* written,
                                              fovea_error* error);

/* Writes the bytes that were held back, a character that was never completed as U+FFFD, and makes the stream ready for
 * another text. Statuses: as fovea_text_decode_next. */
FOVEA_API fovea_status fovea_text_decode_end(const fovea_model* model, fovea_text_stream* stream, char* output,
                                             uint64_t capacity, uint64_t* written, fovea_error* error);

/* Returns the piece of an id, as the vocabulary spells it ("##ing", "\xe2\x96\x81the"); byte-level pieces as the bytes
 * they represent. It is in the blob, without a terminating zero. `special` (may be NULL): 1 for special tokens.
 * Statuses: FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_SECTION, FOVEA_E_ID. */
FOVEA_API fovea_status fovea_text_get_token(const fovea_model* model, int32_t id, const char** piece, uint32_t* size,
                                            uint32_t* special, fovea_error* error);

/* Returns the id of a piece ("[MASK]"); the smallest if several ids have the same spelling. Time is linear in the
 * vocabulary. Statuses: FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_SECTION, FOVEA_E_NAME (no such piece). */
FOVEA_API fovea_status fovea_text_find_token(const fovea_model* model, const char* piece, uint32_t size, int32_t* id,
                                             fovea_error* error);

/* ---- Prompts: words in front of each text that a model was trained with, by the kind of text. ---- */

/* Returns in *prompt the prompt of this name ("query", "document"), metadata prompt.<name>, which the caller puts in
 * front of the text before it is encoded; `name` NULL: the model's default prompt (metadata default_prompt), "" if it
 * has none. *chosen (may be NULL): the name, "" for none. Strings belong to the blob. Statuses:
 *   FOVEA_E_NULL, FOVEA_E_HANDLE
 *   FOVEA_E_NAME   the model has no such prompt */
FOVEA_API fovea_status fovea_text_get_prompt(const fovea_model* model, const char* name, const char** prompt,
                                             const char** chosen, fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_TEXT_H_ */
