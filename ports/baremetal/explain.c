/* Prints the class of the text on the command line and the words that decided: a word's attention weight in its
 * sentence times the sentence's weight in the text. Taps in model_memory.h (`fovea inspect --header --explain`)
 * record both; the build makes it and model.S. Sentences after the first MAX_SENTENCES and tokens after the first
 * MAX_LENGTH of a sentence are left out. */
#include <fovea/model.h>
#include <fovea/session.h>
#include <fovea/text.h>
#include <string.h>

#include "board.h"
#include "one_session.h"

#define MAX_TOKENS (MAX_SENTENCES * MAX_LENGTH)
#define TOP_WORDS 3

typedef struct Word {
  uint32_t begin, end; /* offsets in the text */
  float share;
} Word;

static char text[MODEL_LONGEST_TEXT + 1];
static int32_t ids[MAX_TOKENS];
static uint8_t special[MAX_TOKENS];
static uint32_t ranges[2 * MAX_TOKENS], lengths[MAX_SENTENCES];
static fovea_text_tokens tokens = {
    .struct_size = sizeof(tokens), .capacity = MAX_TOKENS, .ids = ids, .special = special, .ranges = ranges};
static fovea_text_sentences sentences = {
    .struct_size = sizeof(sentences), .capacity = MAX_SENTENCES, .lengths = lengths};
static Word top[TOP_WORDS]; /* largest first */

static int Classify(const fovea_model* model, fovea_session* session, fovea_error* error) {
  const fovea_text_encode_options cut = {
      .struct_size = sizeof(cut), .max_length = MAX_LENGTH, .max_sentences = MAX_SENTENCES};
  if (fovea_text_encode_document(model, text, strlen(text), &cut, model_text, sizeof(model_text), &tokens, &sentences,
                                 error) != FOVEA_OK) {
    return sample_failed("text", error);
  }
  if (fovea_text_bind_documents(session, &tokens, &sentences, 1, error) != FOVEA_OK) {
    return sample_failed("bind", error);
  }
  return fovea_session_run(session, error) == FOVEA_OK ? 0 : sample_failed("run", error);
}

static void Offer(Word word) {
  for (int i = 0; i < TOP_WORDS; ++i) {
    if (word.share <= top[i].share) continue;
    const Word less = top[i];
    top[i] = word;
    word = less;
  }
}

static int IsWordByte(uint8_t byte) {
  const uint8_t letter = byte | 0x20;
  return byte >= 0x80 || (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
}

/* Whether a token that ends and one that begins there belong to one word. Not in scripts without spaces. */
static int Touch(uint32_t end, uint32_t begin) {
  if (end != begin || begin == 0) return 0;
  const uint8_t right = (uint8_t)text[begin];
  return IsWordByte((uint8_t)text[begin - 1]) && IsWordByte(right) && !(right >= 0xe3 && right <= 0xe9);
}

static int FindWords(const fovea_session* session, fovea_error* error) {
  fovea_attention_map words = FOVEA_ATTENTION_MAP_INIT, shares = words;
  if (fovea_session_get_attention_map(session, 0, &words, error) != FOVEA_OK) return sample_failed("words", error);
  if (fovea_session_get_attention_map(session, 1, &shares, error) != FOVEA_OK) return sample_failed("sentences", error);
  uint32_t token = 0;
  for (uint32_t sentence = 0; sentence < sentences.count; ++sentence) {
    const float* weights = words.data + (size_t)sentence * words.stride;
    Word word = {0, 0, 0};
    for (uint32_t i = 0; i < lengths[sentence]; ++i, ++token) {
      const uint32_t begin = ranges[2 * token], end = ranges[2 * token + 1];
      if (special[token]) continue;
      if (begin >= word.end && !Touch(word.end, begin)) {
        Offer(word);
        word = (Word){begin, end, 0};
      }
      if (end > word.end) word.end = end;
      word.share += weights[i] * shares.data[sentence];
    }
    Offer(word);
  }
  return 0;
}

static void SayWords(void) {
  board_write("words");
  for (int i = 0; i < TOP_WORDS && top[i].share > 0; ++i) {
    const uint32_t thousandths = (uint32_t)(top[i].share * 1000 + 0.5f);
    const char digits[] = {(char)('0' + thousandths / 100 % 10), (char)('0' + thousandths / 10 % 10),
                           (char)('0' + thousandths % 10), ' ', '\0'};
    board_write(thousandths < 1000 ? " 0." : " 1.");
    board_write(digits);
    const char after = text[top[i].end];
    text[top[i].end] = '\0';
    board_write(text + top[i].begin);
    text[top[i].end] = after;
  }
  board_write("\n");
}

int main(void) {
  fovea_error error = {0};
  fovea_model* model;
  fovea_session* session;
  if (!board_command_line(text, sizeof(text))) {
    board_write("no text, or too long\n");
    return 2;
  }
  const uint64_t begin = board_ticks();
  if (sample_model(model_model, sizeof(model_model), &model, &error) != 0) return 1;
  if (one_session(model, NULL, &session, &error) != 0) return 1;
  const uint64_t made = board_ticks();
  if (Classify(model, session, &error) != 0 || FindWords(session, &error) != 0) return 1;
  const uint64_t done = board_ticks();
  sample_number("tokens", tokens.count);
  sample_number("sentences", sentences.count);
  SayWords();
  return one_answer(model, session, made - begin, done - made, &error);
}
