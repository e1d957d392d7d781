// Probes the caller's host memory before it is accessed: an address that is NULL, misaligned, unmapped or
// read-only becomes an error message instead of a signal.
//
//   const std::string json = text_at(text, "text");    // also detects a missing terminator
//   zellige_graph*& made = place_for(graph, "graph");  // where a result is put
//   if (const auto bad = unwritable(tensor.data, bytes)) fail("{:#x} cannot be written", *bad);
//
// Does not protect against memory that another thread unmaps after the probe.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zellige::api {

/// Returns the first of `bytes` bytes, page by page, that the process cannot read (or write). Nothing is
/// changed, and concurrent readers and writers are not disturbed.
std::optional<std::uintptr_t> unreadable(const void* at, std::size_t bytes);
std::optional<std::uintptr_t> unwritable(const void* at, std::size_t bytes);

/// Like unreadable(), but caches a few pages during one call: the structures that describe tensors are
/// usually close together.
class ReadablePages {
 public:
  std::optional<std::uintptr_t> unreadable(const void* at, std::size_t bytes);

 private:
  std::array<std::uintptr_t, 8> pages_{};
  std::size_t next_ = 0;
};

/// Reads a zero-terminated string. Throws Error if it is not readable.
std::string text_at(const char* text, std::string_view parameter);

namespace detail {
void check_address(const void* at, std::size_t alignment, std::string_view parameter);
void check_readable(ReadablePages&, const void* at, std::size_t count, std::size_t size,
                    std::string_view parameter);
void check_writable(const void* at, std::size_t bytes, std::string_view parameter);
}  // namespace detail

/// A span of `count` readable elements. Throws Error otherwise. With a count of 0 any address is accepted.
template <class T>
std::span<const T> array_at(ReadablePages& known, const T* first, std::size_t count,
                            std::string_view parameter) {
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

/// A place for a result. Throws Error if it is not writable.
template <class T>
T& place_for(T* at, std::string_view parameter) {
  static_assert(alignof(T) >= 4);
  detail::check_address(at, alignof(T), parameter);
  detail::check_writable(at, sizeof(T), parameter);
  return *at;
}

}  // namespace zellige::api
