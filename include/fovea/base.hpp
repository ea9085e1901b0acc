/* fovea/base.hpp - what fovea/fovea.hpp is made with: spans, results and memory. Include that one. */
#ifndef FOVEA_BASE_HPP_
#define FOVEA_BASE_HPP_

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#if __cplusplus >= 202002L && defined(__has_include)
#if __has_include(<span>)
#include <span>
#endif
#endif

#include "fovea/session.h"

/* Span is std::span if there is one. The name differs, so that a program may have objects of both languages. */
#ifdef __cpp_lib_span
#define FOVEA_CPP cpp20
#else
#define FOVEA_CPP cpp17
#endif

namespace fovea {

inline namespace FOVEA_CPP {

#ifdef __cpp_lib_span

template <typename T>
using Span = std::span<T>;
#else
/* Contiguous elements of another owner: the part of std::span that this header needs. */
template <typename T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr Span(T (&array)[N]) : data_(array), size_(N) {}  // NOLINT: implicit as that of std::span
  template <typename Container, typename = std::enable_if_t<std::is_convertible_v<
                                    std::remove_pointer_t<decltype(std::declval<Container&>().data())> (*)[], T (*)[]>>>
  constexpr Span(Container&& from) : data_(from.data()), size_(from.size()) {}  // NOLINT: likewise

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr Span subspan(std::size_t offset, std::size_t count) const { return {data_ + offset, count}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};
#endif

/* Bytes of another owner: a pointer and a size, or a container of numbers or characters. */
class Bytes {
 public:
  Bytes() = default;
  Bytes(const void* data, std::uint64_t size) : data_(data), size_(size) {}
  template <typename Container, typename = std::enable_if_t<std::is_trivially_copyable_v<
                                    std::remove_pointer_t<decltype(std::declval<const Container&>().data())>>>>
  Bytes(const Container& from)  // NOLINT: implicit on purpose
      : data_(from.data()), size_(std::uint64_t{from.size()} * sizeof(*from.data())) {}

  const void* data() const { return data_; }
  std::uint64_t size() const { return size_; }

 private:
  const void* data_ = nullptr;
  std::uint64_t size_ = 0;
};

/* Success, or the status of a call with its error record. */
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(fovea_status code) : Status(code, code == FOVEA_OK ? nullptr : fovea_status_name(code)) {}
  Status(fovea_status code, const char* text, std::uint64_t expected = 0, std::uint64_t found = 0)
      : error_{code, FOVEA_NOWHERE, FOVEA_NOWHERE, FOVEA_NOWHERE, 0, expected, found, text} {}

  /* Calls `function` with an error record. */
  template <typename Function>
  static Status of(Function&& function) {
    Status status(FOVEA_OK);
    const fovea_status code = function(&status.error_);
    if (code == FOVEA_OK) return Status();
    return status.error_.status == code ? status : Status(code);
  }

  bool ok() const { return error_.status == FOVEA_OK; }
  explicit operator bool() const { return ok(); }
  fovea_status code() const { return error_.status; }
  const fovea_error& error() const { return error_; }
  /* One line about the failure; "" after success. */
  const char* text() const { return error_.text == nullptr ? "" : error_.text; }

 private:
  fovea_error error_ = {FOVEA_OK, FOVEA_NOWHERE, FOVEA_NOWHERE, FOVEA_NOWHERE, 0, 0, 0, nullptr};
};

/* A value, or the Status of the failure with an empty value. */
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : value_(), status_(status) {}  // NOLINT: likewise
  Result(Status status, T value) : value_(std::move(value)), status_(status) {
    if (!status_) value_ = T();
  }

  bool ok() const { return status_.ok(); }
  explicit operator bool() const { return ok(); }
  T& operator*() & { return value_; }
  const T& operator*() const& { return value_; }
  T&& operator*() && { return std::move(value_); }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

  const Status& status() const { return status_; }
  fovea_status code() const { return status_.code(); }
  const fovea_error& error() const { return status_.error(); }
  const char* text() const { return status_.text(); }

 private:
  T value_;
  Status status_;
};

/* A block with an alignment of 64 bytes: the object frees it (allocate), or the caller does (borrow). */
class Memory {
 public:
  static constexpr std::size_t kAlignment = 64;

  Memory() = default;
  Memory(Memory&& from) noexcept { swap(from); }
  Memory& operator=(Memory&& from) noexcept {
    Memory moved(std::move(from));
    swap(moved);
    return *this;
  }
  ~Memory() {
    if (owned_) ::operator delete (data_, std::align_val_t{kAlignment});
  }

  /* `size` bytes; no block for 0. FOVEA_E_TOO_SMALL if there are not as many. */
  static Result<Memory> allocate(std::uint64_t size) {
    Memory made;
    if (size > 0 && size <= SIZE_MAX - kAlignment) {
      made.data_ = ::operator new (static_cast<std::size_t>(size), std::align_val_t{kAlignment}, std::nothrow);
    }
    made.owned_ = made.data_ != nullptr;
    if (size > 0 && !made.owned_) return Status(FOVEA_E_TOO_SMALL, "out of memory", size);
    made.size_ = size;
    return made;
  }
  /* Memory of the caller, for as long as the handle placed in it is used. */
  static Memory borrow(void* data, std::uint64_t size) {
    Memory made;
    made.data_ = data;
    made.size_ = size;
    return made;
  }

  void* data() const { return data_; }
  std::uint64_t size() const { return size_; }

 private:
  void swap(Memory& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owned_, other.owned_);
  }

  void* data_ = nullptr;
  std::uint64_t size_ = 0;
  bool owned_ = false;
};

namespace detail {

/* A C handle, null once it has been moved from. */
template <typename T>
class Handle {
 public:
  Handle() = default;
  Handle(Handle&& from) noexcept : handle_(std::exchange(from.handle_, nullptr)) {}
  Handle& operator=(Handle&& from) noexcept {
    handle_ = std::exchange(from.handle_, nullptr);
    return *this;
  }
  T* get() const { return handle_; }
  T** out() { return &handle_; }

 private:
  T* handle_ = nullptr;
};

/* Result of a function that writes its value through a pointer. */
template <typename T, typename Function>
Result<T> value_of(T value, Function&& function) {
  const Status status = Status::of([&](fovea_error* error) { return function(&value, error); });
  return Result<T>(status, value);
}

inline std::uint32_t count_of(std::size_t size) {
  return size > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(size);
}

template <typename T>
struct Element;
template <>
struct Element<float> {
  static constexpr std::uint32_t kType = FOVEA_TYPE_F32;
};
template <>
struct Element<std::int32_t> {
  static constexpr std::uint32_t kType = FOVEA_TYPE_I32;
};

}  // namespace detail

/* Rows of a value: float for f32, std::int32_t for i32. Valid as long as the C function's view. */
template <typename T>
class Matrix {
 public:
  Matrix() = default;
  explicit Matrix(const fovea_view& view) : view_(view) {}

  static Result<Matrix> of(Result<fovea_view> view) {
    if (!view) return view.status();
    if (view->type != detail::Element<std::remove_const_t<T>>::kType) {
      return Status(FOVEA_E_OPTION, "the value has another element type", view->type,
                    detail::Element<std::remove_const_t<T>>::kType);
    }
    return Matrix(*view);
  }

  std::uint32_t rows() const { return view_.rows; }
  std::uint32_t width() const { return view_.width; }
  Span<T> row(std::uint32_t r) const {
    return {reinterpret_cast<T*>(static_cast<char*>(view_.data) + std::size_t{r} * view_.row_bytes), view_.width};
  }
  const fovea_view& view() const { return view_; }

 private:
  fovea_view view_ = {};
};

}  // namespace FOVEA_CPP
}  // namespace fovea

#endif /* FOVEA_BASE_HPP_ */
