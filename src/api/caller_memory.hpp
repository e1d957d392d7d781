// Checks the caller's host memory before it is accessed: an address that is null, misaligned, unmapped or
// read-only becomes an error message, not a signal.
//
//   const std::string json = text_at(text, "text");    // a copy of a string; "text" is its name in messages
//   zellige_graph*& made = place_for(graph, "graph");  // the caller's variable, which can be written
//   if (const auto bad = unwritable(tensor.data, bytes)) fail("{:#x} cannot be written", *bad);
//
// This does not protect against memory that another thread unmaps after the check.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zellige::api {

/// Returns the address of the first of the `bytes` bytes at `at` that the process cannot read (or write), or nullopt if
/// there is none. Tests one byte per page, without changing it, and loses no concurrent write.
std::optional<std::uintptr_t> unreadable(const void* at, std::size_t bytes);
std::optional<std::uintptr_t> unwritable(const void* at, std::size_t bytes);

/// Checks whether memory is readable, and remembers a few readable pages for the duration of one call: the
/// structures that describe tensors are usually close together.
class ReadablePages {
 public:
  /// As the function above, but tests no page that is known to be readable.
  std::optional<std::uintptr_t> unreadable(const void* at, std::size_t bytes);

 private:
  std::array<std::uintptr_t, 8> pages_{};
  std::size_t next_ = 0;
};

/// Returns a copy of the caller's zero-terminated string. Throws Error if the string is null or cannot be
/// read. `parameter` names the string in the message.
std::string text_at(const char* text, std::string_view parameter);

namespace detail {
/// Throw Error, which names the parameter, if the address is null or no multiple of `alignment`; unless `count` elements
/// of `size` bytes can be read; unless `bytes` bytes can be written.
void check_address(const void* at, std::size_t alignment, std::string_view parameter);
void check_readable(ReadablePages&, const void* at, std::size_t count, std::size_t size, std::string_view parameter);
void check_writable(const void* at, std::size_t bytes, std::string_view parameter);
/// Returns how many bytes of a structure `type` of `size` bytes the caller's version has, `given`. Throws Error if these are not
/// even those of the size itself.
std::size_t shared_size(std::size_t given, std::size_t size, std::string_view parameter, std::string_view type);
}  // namespace detail

/// Returns the caller's array of `count` elements as a span. Throws Error if the array is misaligned or not
/// readable. If `count` is 0, any address is accepted. `parameter` names the array in the message.
template <class T>
std::span<const T> array_at(ReadablePages& known, const T* first, std::size_t count, std::string_view parameter) {
  if (count == 0) return {};
  detail::check_address(first, alignof(T), parameter);
  detail::check_readable(known, first, count, sizeof(T), parameter);
  return {first, count};
}
template <class T>
std::span<const T> array_at(const T* first, std::size_t count, std::string_view parameter) {
  ReadablePages known;
  return array_at(known, first, count, parameter);
}

/// Returns a copy of the caller's structure `type`, whose first member is its size in the caller's version. Members that this
/// version lacks are 0. Throws Error if the structure cannot be read. `parameter` names it in the message.
template <class T>
T structure_at(const T* given, std::string_view parameter, std::string_view type) {
  static_assert(offsetof(T, size) == 0);
  T made{};
  const std::size_t size = array_at(reinterpret_cast<const std::size_t*>(given), 1, parameter)[0];
  const std::size_t shared = detail::shared_size(size, sizeof made, parameter, type);
  std::memcpy(&made, array_at(reinterpret_cast<const char*>(given), shared, parameter).data(), shared);
  return made;
}

/// Returns a reference to the caller's variable at `at`, for a result. Throws Error if the address is null or
/// misaligned, or if the variable cannot be written. `parameter` names the variable in the message.
template <class T>
T& place_for(T* at, std::string_view parameter) {
  static_assert(alignof(T) >= 4);
  detail::check_address(at, alignof(T), parameter);
  detail::check_writable(at, sizeof(T), parameter);
  return *at;
}

}  // namespace zellige::api
