/* fovea/text.h - text to token ids and back, with the tokenizer that stands in the model's blob.
 *
 * Text is UTF-8 with an explicit size; a terminating zero is neither needed nor written. Ids are those that the model
 * was trained with: the same as the original tokenizer gives, special tokens included. Nothing is allocated: encoding
 * works in scratch of the caller whose exact size depends on the model and the text's length only. All calls are
 * pure functions of their arguments: any number of threads may use one model at the same time, each with its own
 * scratch and outputs.
 *
 * A model without tokenizer (fovea_model_info.has_text is 0) makes every call that takes a model fail with
 * FOVEA_E_SECTION, an invalid handle with FOVEA_E_HANDLE.
 *
 * Time is linear in the text for any one tokenizer, whatever text and blob hold: a byte of text is looked at as often
 * as the longest piece or added token has bytes, which the format limits to 4096, and each of at most 32 steps around
 * that costs no more. Only a word of byte-pair encoding costs n log n. Opening a tokenizer and finding a piece are
 * linear in the vocabulary, decoding is linear in what it writes.
 *
 * Every struct of this header may grow and begins with struct_size.
 */
#ifndef FOVEA_TEXT_H_
#define FOVEA_TEXT_H_

#include "fovea/session.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  FOVEA_TEXT_WORD_PIECE = 1, /* BERT, DistilBERT, MPNet, .. */
  FOVEA_TEXT_UNIGRAM = 2,    /* XLM-RoBERTa, T5, ALBERT, .. */
  FOVEA_TEXT_BYTE_PAIR = 3   /* RoBERTa, GPT-2, Llama, Gemma, Qwen, .. */
};

/* What the tokenizer is. Set struct_size to sizeof(fovea_text_info) before the call. */
typedef struct fovea_text_info {
  size_t struct_size;
  uint32_t kind;           /* FOVEA_TEXT_WORD_PIECE, .. */
  uint32_t vocabulary;     /* Ids are below this. */
  uint32_t max_length;     /* Tokens that the model takes, special tokens included; 0: the blob states no limit. */
  uint32_t single_special; /* Special tokens that are put around one text .. */
  uint32_t pair_special;   /* .. and around and between two. */
  int32_t unknown_id;      /* Stands for what has no other token; -1: none. */
  int32_t pad_id;          /* The padding token; -1: none. fovea itself never pads. */
  int32_t mask_id;         /* Stands for a word that a masked language model guesses ("[MASK]", "<mask>"); -1: none. */
} fovea_text_info;

/* Statuses: FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE, FOVEA_E_SECTION. */
FOVEA_API fovea_status fovea_text_get_info(const fovea_model* model, fovea_text_info* info, fovea_error* error);

/* *needed: bytes of scratch that encode texts of up to `length` bytes. Of two texts encoded together the longer one
 * counts. Statuses: FOVEA_E_NULL, FOVEA_E_SECTION, FOVEA_E_LENGTH (no scratch is large enough: texts end below
 * 2 GiB). */
FOVEA_API fovea_status fovea_text_scratch_size(const fovea_model* model, uint64_t length, uint64_t* needed,
                                               fovea_error* error);

/* Flags of fovea_text_encode_options. */
enum {
  FOVEA_TEXT_PLAIN = 1,     /* The tokens of the text alone, no special tokens around it. */
  FOVEA_TEXT_CUT_LEFT = 2,  /* Too long texts lose their beginning, not their end. Some tokenizers always cut so. */
  FOVEA_TEXT_UNLIMITED = 4, /* Do not cut at the model's max_length; max_length must be 0. */
  FOVEA_TEXT_WRAPPED = 8    /* fovea_text_encode_document: lines are broken anywhere, see fovea_text_sentence. */
};

/* Which of two texts becomes shorter when both together are too long. */
enum {
  FOVEA_TEXT_LONGEST_FIRST = 0, /* The longer one, then both alike. */
  FOVEA_TEXT_ONLY_FIRST = 1,    /* FOVEA_E_LENGTH if that one cannot give enough. */
  FOVEA_TEXT_ONLY_SECOND = 2
};

/* Zero fields mean the default; set struct_size to sizeof(fovea_text_encode_options). */
typedef struct fovea_text_encode_options {
  size_t struct_size;
  uint32_t flags;      /* FOVEA_TEXT_PLAIN | .. */
  uint32_t max_length; /* Most tokens of the result, special tokens included. 0: the model's own limit. */
  uint32_t truncation; /* FOVEA_TEXT_LONGEST_FIRST, .. */
  /* A single text that is too long makes several windows. Neighbours share `stride` tokens; `window` says which one to
   * encode. */
  uint32_t stride;        /* Below max_length less the special tokens. */
  uint32_t window;        /* 0: the first one. FOVEA_E_INDEX past the last. */
  uint32_t max_sentences; /* fovea_text_encode_document: most sentences of the result. 0: the model's own limit. */
} fovea_text_encode_options;

/* Arrays of the caller, `capacity` entries each; those that are not wanted are NULL. Set struct_size, capacity and the
 * pointers. */
typedef struct fovea_text_tokens {
  size_t struct_size;
  uint64_t capacity;
  int32_t* ids;
  int32_t* types;   /* Type id (segment id) of each token: for models with a second embedding table. */
  uint8_t* special; /* 1: a token of the template, 0: a token of a text. */
  uint32_t* ranges; /* Two entries for each token: [begin, end) bytes of its text; 0, 0 for tokens of the template. */
  /* Filled by fovea_text_encode. */
  uint64_t count;          /* Tokens of the result. */
  uint64_t windows;        /* Windows that a single text makes; 1: it fits, or two texts were given. */
  uint64_t text_tokens[2]; /* Tokens that each text has uncut, without special tokens. */
} fovea_text_tokens;

/* Encodes `text`, or `text` and `second` as a pair (second NULL: a single text; sizes may be 0, and then the pointers
 * are not read). `scratch` has alignment 64; its content before and after means nothing. Texts that are too long are
 * cut, see the options (NULL: defaults); text_tokens tells whether that happened. To encode for inference, bind `ids`
 * (and `types`) as they are. A call for a later window takes the whole text apart again. Statuses: FOVEA_E_NULL,
 * FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE, FOVEA_E_OPTION, FOVEA_E_SECTION; FOVEA_E_UTF8 (index: where the text stops being
 * UTF-8); FOVEA_E_TOO_SMALL, FOVEA_E_MISALIGNED (the scratch); FOVEA_E_CAPACITY (expected: tokens of the result;
 * tokens->count has them too and the arrays hold the first ones); FOVEA_E_LENGTH; FOVEA_E_INDEX (no such window);
 * FOVEA_E_TEXT_DATA (a damaged blob whose checksum was not verified). */
FOVEA_API fovea_status fovea_text_encode(const fovea_model* model, const char* text, uint64_t size, const char* second,
                                         uint64_t second_size, const fovea_text_encode_options* options, void* scratch,
                                         uint64_t scratch_size, fovea_text_tokens* tokens, fovea_error* error);

/* Makes encoded texts the input of a session's next run: text i is segment i of the space of the i32 input "input_ids",
 * with its tokens' ids, and their types in the input "token_type_ids" (zeros if `types` is NULL) where the program has
 * that. Other inputs, if there are any, stay to be written. `tokens` are `count` results of fovea_text_encode with ids.
 * Statuses: FOVEA_E_NULL, FOVEA_E_HANDLE, FOVEA_E_STRUCT_SIZE (also if texts have different ones); FOVEA_E_NAME (the
 * program has no such inputs of one space); FOVEA_E_CAPACITY (text number `index` has more tokens than its arrays
 * hold); those of fovea_session_set_segments. Whether ids are in range is checked by fovea_session_run. */
FOVEA_API fovea_status fovea_text_bind(fovea_session* session, const fovea_text_tokens* tokens, uint32_t count,
                                       fovea_error* error);

/* ---- Documents: texts of sentences, for models whose tokens nest in sentences and these in documents. ---- */

/* The next sentence of a text: the first that starts at byte *end or later. Returns 1 and its bytes [*begin, *end), or
 * 0 if there is none; a pure function that needs no model. Begin with *end = 0:
 *
 *   uint64_t begin, end = 0;
 *   while (fovea_text_sentence(text, size, 0, &begin, &end)) fwrite(text + begin, 1, end - begin, stdout);
 *
 * A sentence ends after . ! ? and their relatives in other scripts with the quotes and brackets that close there, and
 * at line ends. It does not end in "3.14", "e.g. this", "J. Smith", "Dr. Who", "(why?) he said"; runtime/text/README.md
 * has all rules. Sentences are in order, hold every byte that is no white space and neither begin nor end with white
 * space, so none is empty. With the flag FOVEA_TEXT_WRAPPED, for text whose lines are broken where they are full, a
 * line end is a space unless an empty line or a list item follows. Text that is no UTF-8 is taken apart, too. Time is
 * linear in the size of the text. */
FOVEA_API uint32_t fovea_text_sentence(const char* text, uint64_t size, uint32_t flags, uint64_t* begin, uint64_t* end);

/* The sentences of an encoded document, in arrays of the caller. Set struct_size, capacity and the pointers. */
typedef struct fovea_text_sentences {
  size_t struct_size;
  uint64_t capacity; /* Sentences that the arrays hold. */
  uint32_t* lengths; /* Tokens of each sentence. */
  uint32_t* ranges;  /* Two entries for each: [begin, end) bytes of the document. NULL if not wanted. */
  /* Filled by fovea_text_encode_document. */
  uint64_t count;   /* Sentences of the result; 0 for an empty document. */
  uint64_t dropped; /* Sentences after them that max_sentences left out. */
} fovea_text_sentences;

/* Encodes a document: its sentences one after the other, each like a text of its own, with special tokens around it and
 * cut at max_length. Sentences of which the tokenizer leaves no token (say, of nothing but invisible characters) are
 * skipped. `tokens` gets the tokens of all of them one after the other, with ranges in bytes of the document;
 * tokens->text_tokens[0] is what they have uncut, without special tokens, tokens->windows is 1. The scratch is that
 * of fovea_text_scratch_size for the longest sentence; the document's size always suffices. `sentences` gets at most
 * options->max_sentences; 0 stands for the longest segment that the model takes in the parent of the space of its input
 * "input_ids" (fovea_space_info.max_segment_rows). Windows and strides must be 0. Statuses: those of fovea_text_encode
 * for a single text. FOVEA_E_CAPACITY: arrays of tokens or of sentences are too small; both counts say what is needed,
 * and the arrays hold the first ones. FOVEA_E_LENGTH: a document of 2 GiB or more. */
FOVEA_API fovea_status fovea_text_encode_document(const fovea_model* model, const char* text, uint64_t size,
                                                  const fovea_text_encode_options* options, void* scratch,
                                                  uint64_t scratch_size, fovea_text_tokens* tokens,
                                                  fovea_text_sentences* sentences, fovea_error* error);

/* Makes encoded documents the input of a session's next run: sentence k of document i, sentences[i].lengths[k] of the
 * tokens of tokens[i], is a segment of the space of "input_ids", and the sentences of document i are segment i of that
 * space's parent. Inputs are written as fovea_text_bind does it. A part of a document's sentences is a document, too:
 * point `lengths` and `ids` at the first and set both counts. Statuses: those of fovea_text_bind. FOVEA_E_NAME also if
 * the space of "input_ids" has no parent with a parent; FOVEA_E_CAPACITY: document number `index` has more tokens or
 * sentences than its arrays; FOVEA_E_SEGMENTS: its lengths add up to `found`, not to its `expected` tokens. A call that
 * fails changes nothing. */
FOVEA_API fovea_status fovea_text_bind_documents(fovea_session* session, const fovea_text_tokens* tokens,
                                                 const fovea_text_sentences* sentences, uint32_t count,
                                                 fovea_error* error);

/* Flags of fovea_text_decode. */
enum {
  FOVEA_TEXT_KEEP_SPECIAL = 1, /* Write special tokens ([CLS], </s>, ..) too. */
  FOVEA_TEXT_CLEAN_UP = 2 /* Remove the spaces before punctuation and contractions that English texts do not have. */
};

/* Writes the text of `count` ids and its size. Reads and writes only the caller's arrays and needs no scratch.
 * Statuses: FOVEA_E_NULL, FOVEA_E_OPTION, FOVEA_E_SECTION, FOVEA_E_ID (index: index of the id); FOVEA_E_CAPACITY
 * (expected and *written: bytes that certainly suffice; the output holds the beginning). */
FOVEA_API fovea_status fovea_text_decode(const fovea_model* model, const int32_t* ids, uint64_t count, uint32_t flags,
                                         char* output, uint64_t capacity, uint64_t* written, fovea_error* error);

/* A text that is decoded as its ids come. The caller's memory; nothing has to be freed. Begin with zeros, struct_size
 * and flags; the same record may begin another text after fovea_text_decode_end. A copy of it goes on on its own. */
typedef struct fovea_text_stream {
  size_t struct_size;
  uint32_t flags;    /* FOVEA_TEXT_KEEP_SPECIAL or 0. */
  uint32_t state[8]; /* What is held back: zeros at the beginning, then fovea's own. */
} fovea_text_stream;

/* Writes the text that `count` more ids make certain, in whole characters: the bytes of a character that is not
 * complete stay in the stream. All parts with that of fovea_text_decode_end, one after the other, are what
 * fovea_text_decode writes for all ids at once (without FOVEA_TEXT_CLEAN_UP). A call that fails takes no id in and
 * changes nothing. Statuses: FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE, FOVEA_E_OPTION (flags, or a state that is not one of
 * this tokenizer), FOVEA_E_SECTION, FOVEA_E_ID (index: index of the id); FOVEA_E_CAPACITY (expected and *written: bytes
 * that this part needs). */
FOVEA_API fovea_status fovea_text_decode_next(const fovea_model* model, fovea_text_stream* stream, const int32_t* ids,
                                              uint64_t count, char* output, uint64_t capacity, uint64_t* written,
                                              fovea_error* error);

/* Writes what was held back, a character that was never completed as U+FFFD, and makes the stream ready for another
 * text. Statuses: those of fovea_text_decode_next. */
FOVEA_API fovea_status fovea_text_decode_end(const fovea_model* model, fovea_text_stream* stream, char* output,
                                             uint64_t capacity, uint64_t* written, fovea_error* error);

/* The piece of an id, as the vocabulary spells it ("##ing", "\xe2\x96\x81the"); byte-level pieces as the bytes they
 * stand for. It lies in the blob, without a terminating zero. `special` (may be NULL): 1 for special tokens. Statuses:
 * FOVEA_E_NULL, FOVEA_E_SECTION, FOVEA_E_ID. */
FOVEA_API fovea_status fovea_text_get_token(const fovea_model* model, int32_t id, const char** piece, uint32_t* size,
                                            uint32_t* special, fovea_error* error);

/* The id of a piece ("[MASK]"); the smallest if several ids spell the same. Time is linear in the vocabulary.
 * Statuses: FOVEA_E_NULL, FOVEA_E_SECTION, FOVEA_E_NAME. */
FOVEA_API fovea_status fovea_text_find_token(const fovea_model* model, const char* piece, uint32_t size, int32_t* id,
                                             fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_TEXT_H_ */
