/* fovea/fovea.hpp - the interface for C++17: handles that own their memory, spans, and results without exceptions.
 *
 * A layer of inline functions over fovea/fovea.h; the comments there are the manual. It works with -fno-exceptions
 * and -fno-rtti. Functions that are not wrapped take the C handles that get() returns. Lists of results (answers,
 * spans, words) are in fovea/result.hpp.
 *
 *   fovea::Result<fovea::Model> model = fovea::Model::make(blob);
 *   if (!model) puts(model.text());
 *
 * Results: a function that can fail returns a Status, or a Result<T> with a value or a Status. Neither may be ignored.
 * The value of a failed Result is an empty T; a call on an empty handle fails with FOVEA_E_HANDLE, so a chain of calls
 * may be checked once, at its end.
 *
 * Memory: `make` without Memory arguments allocates the exact bytes with aligned operator new (FOVEA_E_TOO_SMALL if it
 * returns null) and frees them with the handle. With Memory arguments it places the handle in them and allocates
 * nothing. A handle can be moved, also while other handles refer to it. A Model must outlive its sessions and
 * tokenizers, a Session the generators made with it, and the blob its Model.
 */
#ifndef FOVEA_FOVEA_HPP_
#define FOVEA_FOVEA_HPP_

#include <string_view>

#include "fovea/base.hpp"
#include "fovea/fovea.h"

namespace fovea {
inline namespace FOVEA_CPP {

/* A model: the functions of fovea/model.h. */
class Model {
 public:
  Model() = default;

  static Result<std::uint64_t> size(Bytes blob, const fovea_model_options& options = FOVEA_MODEL_OPTIONS_INIT) {
    return detail::value_of(std::uint64_t{0}, [&](std::uint64_t* needed, fovea_error* error) {
      return fovea_model_size(blob.data(), blob.size(), &options, needed, error);
    });
  }
  /* `blob` needs an alignment of 64 bytes and must stay in place. */
  static Result<Model> make(Bytes blob, const fovea_model_options& options = FOVEA_MODEL_OPTIONS_INIT) {
    const Result<std::uint64_t> needed = size(blob, options);
    if (!needed) return needed.status();
    Result<Memory> memory = Memory::allocate(*needed);
    if (!memory) return memory.status();
    return make(blob, options, *std::move(memory));
  }
  static Result<Model> make(Bytes blob, const fovea_model_options& options, Memory memory) {
    Model made;
    const Status status = Status::of([&](fovea_error* error) {
      return fovea_model_init(blob.data(), blob.size(), &options, memory.data(), memory.size(), made.handle_.out(),
                              error);
    });
    made.memory_ = std::move(memory);
    return Result<Model>(status, std::move(made));
  }

  fovea_model* get() const { return handle_.get(); }

  Result<fovea_model_info> info() const {
    return filled<fovea_model_info>([this](auto* to) { return fovea_model_get_info(get(), to); });
  }
  Result<fovea_program_info> program(std::uint32_t i) const {
    return filled<fovea_program_info>([&](auto* to) { return fovea_model_get_program(get(), i, to); });
  }
  Result<fovea_space_info> space(std::uint32_t i) const {
    return filled<fovea_space_info>([&](auto* to) { return fovea_model_get_space(get(), i, to); });
  }
  Result<fovea_tensor_info> tensor(std::uint32_t i) const {
    return filled<fovea_tensor_info>([&](auto* to) { return fovea_model_get_tensor(get(), i, to); });
  }
  Result<fovea_value_info> value(std::uint32_t program, std::uint32_t i) const {
    return filled<fovea_value_info>([&](auto* to) { return fovea_program_get_value(get(), program, i, to); });
  }
  Result<fovea_step_info> step(std::uint32_t program, std::uint32_t i) const {
    return filled<fovea_step_info>([&](auto* to) { return fovea_program_get_step(get(), program, i, to); });
  }
  Result<std::uint32_t> find_program(const char* name) const {
    return found([&](std::uint32_t* to) { return fovea_model_find_program(get(), name, to); });
  }
  Result<std::uint32_t> find_space(const char* name) const {
    return found([&](std::uint32_t* to) { return fovea_model_find_space(get(), name, to); });
  }
  Result<std::uint32_t> find_value(std::uint32_t program, const char* name) const {
    return found([&](std::uint32_t* to) { return fovea_program_find_value(get(), program, name, to); });
  }
  Result<std::uint32_t> find_step(std::uint32_t program, const char* name) const {
    return found([&](std::uint32_t* to) { return fovea_program_find_step(get(), program, name, to); });
  }
  /* How the results of a program are read (fovea/result.h); `output`: one to read as an embedding. */
  Result<fovea_result_info> result(std::uint32_t program = 0, const char* output = nullptr) const {
    return detail::value_of(fovea_initial<fovea_result_info>(), [&](fovea_result_info* to, fovea_error* error) {
      return fovea_result_get_info(get(), program, output, to, error);
    });
  }
  /* NULL if the blob has no such key. */
  const char* find_metadata(const char* key) const { return fovea_model_find_metadata(get(), key); }
  const char* label(std::uint32_t i) const { return fovea_model_get_label(get(), i); }

 private:
  template <typename T, typename Function>
  static Result<T> filled(Function&& function) {
    T info = fovea_initial<T>();
    const Status status(function(&info));
    return Result<T>(status, info);
  }
  template <typename Function>
  static Result<std::uint32_t> found(Function&& function) {
    std::uint32_t index = 0;
    const Status status(function(&index));
    return Result<std::uint32_t>(status, index);
  }

  Memory memory_;
  detail::Handle<fovea_model> handle_;
};

/* Text that a Tokenizer wrote. */
class Text {
 public:
  Text() = default;
  Text(Memory memory, std::uint64_t size) : memory_(std::move(memory)), size_(static_cast<std::size_t>(size)) {}
  std::string_view view() const { return {static_cast<const char*>(memory_.data()), size_}; }

 private:
  Memory memory_;
  std::size_t size_ = 0;
};

/* Result of Tokenizer::encode, with the arrays in its memory. */
class Tokens {
 public:
  Tokens() = default;

  /* Arrays of `capacity` tokens. */
  static Result<Tokens> make(std::uint64_t capacity) {
    constexpr std::uint64_t kBytes = 2 * sizeof(std::int32_t) + 2 * sizeof(std::uint32_t) + sizeof(std::uint8_t);
    if (capacity > UINT64_MAX / kBytes) return Status(FOVEA_E_TOO_SMALL, "out of memory", UINT64_MAX);
    Result<Memory> memory = Memory::allocate(capacity * kBytes);
    if (!memory) return memory.status();
    const std::size_t count = static_cast<std::size_t>(capacity);
    Tokens made;
    made.memory_ = *std::move(memory);
    made.tokens_.capacity = capacity;
    made.tokens_.ranges = static_cast<std::uint32_t*>(made.memory_.data());
    made.tokens_.ids = reinterpret_cast<std::int32_t*>(made.tokens_.ranges + 2 * count);
    made.tokens_.types = made.tokens_.ids + count;
    made.tokens_.special = reinterpret_cast<std::uint8_t*>(made.tokens_.types + count);
    return made;
  }

  std::size_t size() const { return static_cast<std::size_t>(tokens_.count); }
  Span<const std::int32_t> ids() const { return {tokens_.ids, size()}; }
  Span<const std::int32_t> types() const { return {tokens_.types, size()}; }
  Span<const std::uint8_t> special() const { return {tokens_.special, size()}; }
  /* Two entries for each token. */
  Span<const std::uint32_t> ranges() const { return {tokens_.ranges, 2 * size()}; }
  const fovea_text_tokens& get() const { return tokens_; }
  fovea_text_tokens& get() { return tokens_; }

 private:
  Memory memory_;
  fovea_text_tokens tokens_ = FOVEA_TEXT_TOKENS_INIT;
};

/* The tokenizer of a model: the functions of fovea/text.h. */
class Tokenizer {
 public:
  Tokenizer() = default;
  explicit Tokenizer(const Model& model) : model_(model.get()) {}

  Result<fovea_text_info> info() const {
    return detail::value_of(fovea_initial<fovea_text_info>(), [&](fovea_text_info* to, fovea_error* error) {
      return fovea_text_get_info(model_, to, error);
    });
  }
  /* Bytes of scratch for texts of up to `length` bytes. */
  Result<std::uint64_t> scratch_size(std::uint64_t length) const {
    return detail::value_of(std::uint64_t{0}, [&](std::uint64_t* needed, fovea_error* error) {
      return fovea_text_scratch_size(model_, length, needed, error);
    });
  }

  Result<Tokens> encode(std::string_view text,
                        const fovea_text_encode_options& options = FOVEA_TEXT_ENCODE_OPTIONS_INIT) const {
    return encode(text, std::string_view(), options);
  }
  /* A pair, unless `second` is a default std::string_view. */
  Result<Tokens> encode(std::string_view text, std::string_view second,
                        const fovea_text_encode_options& options = FOVEA_TEXT_ENCODE_OPTIONS_INIT) const {
    const std::uint64_t longer = text.size() > second.size() ? text.size() : second.size();
    const Result<std::uint64_t> needed = scratch_size(longer);
    if (!needed) return needed.status();
    Result<Memory> scratch = Memory::allocate(*needed);
    if (!scratch) return scratch.status();
    Result<Tokens> tokens = Tokens::make(std::uint64_t{text.size()} + second.size() + 16);
    if (!tokens) return tokens;
    Status status = encode(text, second, options, *scratch, tokens->get());
    if (status.code() == FOVEA_E_CAPACITY) {
      tokens = Tokens::make(status.error().expected);
      if (!tokens) return tokens;
      status = encode(text, second, options, *scratch, tokens->get());
    }
    return status ? std::move(tokens) : Result<Tokens>(status);
  }
  /* In scratch and arrays of the caller: nothing is allocated. */
  Status encode(std::string_view text, std::string_view second, const fovea_text_encode_options& options,
                const Memory& scratch, fovea_text_tokens& tokens) const {
    return Status::of([&](fovea_error* error) {
      return fovea_text_encode(model_, text.data(), text.size(), second.data(), second.size(), &options, scratch.data(),
                               scratch.size(), &tokens, error);
    });
  }

  /* `flags`: fovea_text_decode_flags. */
  Result<Text> decode(Span<const std::int32_t> ids, std::uint32_t flags = 0) const {
    std::uint64_t capacity = 8 * std::uint64_t{ids.size()} + 64;
    for (int turn = 0;; ++turn) {
      Result<Memory> memory = Memory::allocate(capacity);
      if (!memory) return memory.status();
      std::uint64_t written = 0;
      const Status status = decode(ids, flags, *memory, written);
      if (status) return Text(*std::move(memory), written);
      if (status.code() != FOVEA_E_CAPACITY || turn == 1) return status;
      capacity = status.error().expected;
    }
  }
  /* Into memory of the caller: nothing is allocated. */
  Status decode(Span<const std::int32_t> ids, std::uint32_t flags, const Memory& output, std::uint64_t& written) const {
    return Status::of([&](fovea_error* error) {
      return fovea_text_decode(model_, ids.data(), ids.size(), flags, static_cast<char*>(output.data()), output.size(),
                               &written, error);
    });
  }

  /* The piece of an id, in the blob. */
  Result<std::string_view> piece(std::int32_t id) const {
    const char* piece = nullptr;
    std::uint32_t size = 0;
    const Status status =
        Status::of([&](fovea_error* error) { return fovea_text_get_token(model_, id, &piece, &size, nullptr, error); });
    return status ? Result<std::string_view>(std::string_view(piece, size)) : status;
  }
  Result<std::int32_t> find(std::string_view piece) const {
    return detail::value_of(std::int32_t{0}, [&](std::int32_t* id, fovea_error* error) {
      return fovea_text_find_token(model_, piece.data(), detail::count_of(piece.size()), id, error);
    });
  }

 private:
  const fovea_model* model_ = nullptr;
};

/* The text of ids that arrive bit by bit, in whole characters: fovea_text_stream, with memory for one part. */
class TextStream {
 public:
  TextStream() = default;
  /* `flags`: FOVEA_TEXT_KEEP_SPECIAL or 0. */
  explicit TextStream(const Model& model, std::uint32_t flags = 0) : model_(model.get()) { stream_.flags = flags; }

  /* The text that these ids make certain, valid until the next call. */
  Result<std::string_view> next(Span<const std::int32_t> ids) {
    return part([&](std::uint64_t* written, fovea_error* error) {
      return fovea_text_decode_next(model_, &stream_, ids.data(), ids.size(), static_cast<char*>(part_.data()),
                                    part_.size(), written, error);
    });
  }
  /* The text held back so far. The stream may begin another text. */
  Result<std::string_view> end() {
    return part([&](std::uint64_t* written, fovea_error* error) {
      return fovea_text_decode_end(model_, &stream_, static_cast<char*>(part_.data()), part_.size(), written, error);
    });
  }

 private:
  /* Calls `write` again in memory of the size that it asks for. */
  template <typename Function>
  Result<std::string_view> part(Function&& write) {
    std::uint64_t written = 0;
    Status status = Status::of([&](fovea_error* error) { return write(&written, error); });
    if (status.code() == FOVEA_E_CAPACITY) {
      Result<Memory> larger = Memory::allocate(status.error().expected);
      if (!larger) return larger.status();
      part_ = *std::move(larger);
      status = Status::of([&](fovea_error* error) { return write(&written, error); });
    }
    if (!status) return status;
    return std::string_view(static_cast<const char*>(part_.data()), static_cast<std::size_t>(written));
  }

  const fovea_model* model_ = nullptr;
  fovea_text_stream stream_ = FOVEA_TEXT_STREAM_INIT;
  Memory part_;
};

/* A program in memory: the functions of fovea/session.h, tap.h and cache.h. */
class Session {
 public:
  Session() = default;

  static Result<fovea_session_memory> size(const Model& model,
                                           const fovea_session_options& options = FOVEA_SESSION_OPTIONS_INIT) {
    return detail::value_of(fovea_initial<fovea_session_memory>(),
                            [&](fovea_session_memory* sizes, fovea_error* error) {
                              return fovea_session_size(model.get(), &options, sizes, error);
                            });
  }
  static Result<Session> make(const Model& model, const fovea_session_options& options = FOVEA_SESSION_OPTIONS_INIT) {
    const Result<fovea_session_memory> sizes = size(model, options);
    if (!sizes) return sizes.status();
    Result<Memory> fixed = Memory::allocate(sizes->fixed_size), state = Memory::allocate(sizes->state_size),
                   scratch = Memory::allocate(sizes->scratch_size);
    if (!fixed) return fixed.status();
    if (!state) return state.status();
    if (!scratch) return scratch.status();
    return make(model, options, *std::move(fixed), *std::move(state), *std::move(scratch));
  }
  static Result<Session> make(const Model& model, const fovea_session_options& options, Memory fixed, Memory state,
                              Memory scratch) {
    fovea_session_memory memory = fovea_initial<fovea_session_memory>();
    memory.fixed_size = fixed.size(), memory.fixed = fixed.data();
    memory.state_size = state.size(), memory.state = state.data();
    memory.scratch_size = scratch.size(), memory.scratch = scratch.data();
    Session made;
    const Status status = Status::of([&](fovea_error* error) {
      return fovea_session_init(model.get(), &options, &memory, made.handle_.out(), error);
    });
    made.fixed_ = std::move(fixed), made.state_ = std::move(state), made.scratch_ = std::move(scratch);
    made.model_ = model.get(), made.program_ = options.program;
    return Result<Session>(status, std::move(made));
  }

  fovea_session* get() const { return handle_.get(); }

  /* Inputs. */
  Status set_segments(std::uint32_t space, Span<const std::uint32_t> lengths) {
    return Status::of([&](fovea_error* error) {
      return fovea_session_set_segments(get(), space, lengths.data(), detail::count_of(lengths.size()), error);
    });
  }
  Status bind(const Tokens& tokens) { return bind(Span<const fovea_text_tokens>(&tokens.get(), 1)); }
  Status bind(Span<const fovea_text_tokens> texts) {
    return Status::of([&](fovea_error* error) {
      return fovea_text_bind(get(), texts.data(), detail::count_of(texts.size()), error);
    });
  }
  template <typename T>
  Result<Matrix<T>> input(std::uint32_t value) {
    return Matrix<T>::of(detail::value_of(fovea_view{}, [&](fovea_view* view, fovea_error* error) {
      return fovea_session_get_input(get(), value, view, error);
    }));
  }
  template <typename T>
  Result<Matrix<T>> input(const char* name) {
    const Result<std::uint32_t> value = find(name);
    return value ? input<T>(*value) : Result<Matrix<T>>(value.status());
  }
  Status link(std::uint32_t input, const Session& from, std::uint32_t output) {
    return Status::of([&](fovea_error* error) { return fovea_session_link(get(), input, from.get(), output, error); });
  }

  /* Runs. */
  Status run() {
    return Status::of([&](fovea_error* error) { return fovea_session_run(get(), error); });
  }
  Status begin() {
    return Status::of([&](fovea_error* error) { return fovea_session_begin(get(), error); });
  }
  /* The number of phases left. */
  Result<std::uint32_t> advance(std::uint32_t phases) {
    return detail::value_of(std::uint32_t{0}, [&](std::uint32_t* left, fovea_error* error) {
      return fovea_session_advance(get(), phases, left, error);
    });
  }
  /* The same within a number of ticks of options.clock. */
  Result<std::uint32_t> advance_for(std::uint64_t ticks) {
    return detail::value_of(std::uint32_t{0}, [&](std::uint32_t* left, fovea_error* error) {
      return fovea_session_advance_for(get(), ticks, left, error);
    });
  }
  void cancel() { fovea_session_cancel(get()); }
  void clear_cancel() { fovea_session_clear_cancel(get()); }
  Status reset() {
    return Status::of([&](fovea_error* error) { return fovea_session_reset(get(), error); });
  }

  /* Results of the last run. */
  template <typename T>
  Result<Matrix<const T>> output(std::uint32_t value) const {
    return Matrix<const T>::of(detail::value_of(fovea_view{}, [&](fovea_view* view, fovea_error* error) {
      return fovea_session_get_output(get(), value, view, error);
    }));
  }
  template <typename T>
  Result<Matrix<const T>> output(const char* name) const {
    return Matrix<const T>::of(detail::value_of(fovea_view{}, [&](fovea_view* view, fovea_error* error) {
      return fovea_session_find_output(get(), name, view, error);
    }));
  }
  /* fovea/result.h: texts, or tokens for tags and words. */
  Result<std::uint32_t> result_count(const fovea_result_info& info) const {
    return detail::value_of(std::uint32_t{0}, [&](std::uint32_t* count, fovea_error* error) {
      return fovea_result_get_count(get(), &info, count, error);
    });
  }
  /* Result `first` and as many after it as `out` has room for: info.width numbers each. */
  Status read(const fovea_result_info& info, std::uint32_t first, Span<float> out) const {
    const std::size_t count = info.width == 0 ? 0 : out.size() / info.width;
    return Status::of([&](fovea_error* error) {
      return fovea_result_read(get(), &info, first, detail::count_of(count), out.data(), out.size(), error);
    });
  }
  /* The offsets of a space's segments: one more than segments. */
  Result<Span<const std::uint32_t>> segments(std::uint32_t space) const {
    const std::uint32_t* offsets = nullptr;
    std::uint32_t count = 0;
    const Status status = Status::of(
        [&](fovea_error* error) { return fovea_session_get_segments(get(), space, &offsets, &count, error); });
    if (!status) return status;
    return Span<const std::uint32_t>(offsets, std::size_t{count} + 1);
  }
  Result<fovea_attention_map> attention_map(std::uint32_t tap) const {
    return detail::value_of(fovea_initial<fovea_attention_map>(), [&](fovea_attention_map* map, fovea_error* error) {
      return fovea_session_get_attention_map(get(), tap, map, error);
    });
  }
  Result<fovea_session_info> info() const {
    fovea_session_info info = fovea_initial<fovea_session_info>();
    const Status status(fovea_session_get_info(get(), &info));
    return Result<fovea_session_info>(status, info);
  }

  /* Carried inputs. */
  Result<Memory> save() const {
    const Result<std::uint64_t> size = detail::value_of(std::uint64_t{0}, [&](std::uint64_t* to, fovea_error* error) {
      return fovea_session_saved_size(get(), to, error);
    });
    if (!size) return size.status();
    Result<Memory> memory = Memory::allocate(*size);
    if (!memory) return memory;
    const Status status = Status::of(
        [&](fovea_error* error) { return fovea_session_save(get(), memory->data(), memory->size(), error); });
    return status ? std::move(memory) : Result<Memory>(status);
  }
  Status restore(Bytes saved) {
    return Status::of(
        [&](fovea_error* error) { return fovea_session_restore(get(), saved.data(), saved.size(), error); });
  }

  /* KV cache. */
  Status select_texts(Span<const std::uint32_t> texts) {
    return Status::of([&](fovea_error* error) {
      return fovea_cache_select(get(), texts.data(), detail::count_of(texts.size()), error);
    });
  }
  Result<std::uint32_t> text_rows(std::uint32_t text) const {
    return detail::value_of(std::uint32_t{0}, [&](std::uint32_t* rows, fovea_error* error) {
      return fovea_cache_get_rows(get(), text, rows, error);
    });
  }
  Status rewind_text(std::uint32_t text, std::uint32_t rows) {
    return Status::of([&](fovea_error* error) { return fovea_cache_rewind(get(), text, rows, error); });
  }
  Status fork_text(std::uint32_t from, std::uint32_t to) {
    return Status::of([&](fovea_error* error) { return fovea_cache_fork(get(), from, to, error); });
  }

 private:
  Result<std::uint32_t> find(const char* name) const {
    std::uint32_t value = 0;
    const Status status(fovea_program_find_value(model_, program_, name, &value));
    return Result<std::uint32_t>(status, value);
  }

  Memory fixed_, state_, scratch_;
  const fovea_model* model_ = nullptr;
  std::uint32_t program_ = 0;
  detail::Handle<fovea_session> handle_;
};

/* Texts in the making: the functions of fovea/generate.h; options.decode and the like are Session::get(). */
class Generator {
 public:
  Generator() = default;

  static Result<std::uint64_t> size(const fovea_generate_options& options) {
    return detail::value_of(std::uint64_t{0}, [&](std::uint64_t* needed, fovea_error* error) {
      return fovea_generate_size(&options, needed, error);
    });
  }
  static Result<Generator> make(const fovea_generate_options& options) {
    const Result<std::uint64_t> needed = size(options);
    if (!needed) return needed.status();
    Result<Memory> memory = Memory::allocate(*needed);
    if (!memory) return memory.status();
    return make(options, *std::move(memory));
  }
  static Result<Generator> make(const fovea_generate_options& options, Memory memory) {
    Generator made;
    const Status status = Status::of([&](fovea_error* error) {
      return fovea_generate_init(&options, memory.data(), memory.size(), made.handle_.out(), error);
    });
    made.memory_ = std::move(memory);
    return Result<Generator>(status, std::move(made));
  }

  fovea_generator* get() const { return handle_.get(); }

  Status start() {
    return Status::of([&](fovea_error* error) { return fovea_generate_start(get(), error); });
  }
  Status set_sequences(Span<const std::uint64_t> numbers) {
    return Status::of([&](fovea_error* error) {
      return fovea_generate_set_sequences(get(), numbers.data(), detail::count_of(numbers.size()), error);
    });
  }
  /* Both arrays must not change until the first next() has succeeded. */
  Status set_prompts(Span<const std::int32_t> tokens, Span<const std::uint32_t> lengths, bool keep = false) {
    return Status::of([&](fovea_error* error) {
      return fovea_generate_set_prompts(get(), tokens.data(), lengths.data(), detail::count_of(lengths.size()),
                                        keep ? 1 : 0, error);
    });
  }
  /* `forced`: none, or an entry for each text. */
  Result<fovea_generated> next(Span<const std::int32_t> forced = {}) {
    return detail::value_of(fovea_initial<fovea_generated>(), [&](fovea_generated* to, fovea_error* error) {
      return fovea_generate_next(get(), forced.empty() ? nullptr : forced.data(), to, error);
    });
  }
  Result<fovea_hypothesis> hypothesis(std::uint32_t text, std::uint32_t rank) {
    return detail::value_of(fovea_initial<fovea_hypothesis>(), [&](fovea_hypothesis* to, fovea_error* error) {
      return fovea_generate_get_hypothesis(get(), text, rank, to, error);
    });
  }

 private:
  Memory memory_;
  detail::Handle<fovea_generator> handle_;
};

}  // namespace FOVEA_CPP
}  // namespace fovea

#endif /* FOVEA_FOVEA_HPP_ */
