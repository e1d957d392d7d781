// The caller's memory of the host, asked of the kernel before it is touched: an address that is NULL, misaligned, unmapped or read-only
// becomes a sentence in place of a signal.
//
//   const std::string json = text_at(text, "text");                            // also finds that no zero ends it
//   zellige_graph*& made = place_for(graph, "graph");                          // where a result is put
//   if (const auto bad = unwritable(tensor.data, bytes)) fail("{:#x} cannot be written", *bad);
//
// What another thread unmaps after it was asked for is beyond this.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zellige::api {

/// The first of `bytes` bytes, page by page, that the process cannot read, or write. Nothing is changed, and nobody who reads or writes
/// there meanwhile is disturbed.
std::optional<std::uintptr_t> unreadable(const void* at, std::size_t bytes);
std::optional<std::uintptr_t> unwritable(const void* at, std::size_t bytes);

/// The same as unreadable, which remembers a few pages of this call: what describes tensors lies close together.
class ReadablePages {
 public:
  std::optional<std::uintptr_t> unreadable(const void* at, std::size_t bytes);

 private:
  std::array<std::uintptr_t, 8> pages_{};
  std::size_t next_ = 0;
};

/// A string that ends in zero. Throws Error.
std::string text_at(const char* text, std::string_view parameter);

namespace detail {
void check_address(const void* at, std::size_t alignment, std::string_view parameter);
void check_readable(ReadablePages&, const void* at, std::size_t count, std::size_t size,
                    std::string_view parameter);
void check_writable(const void* at, std::size_t bytes, std::string_view parameter);
}  // namespace detail

/// `count` elements that can be read. Throws Error. None may be anywhere.
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

/// Where a result is put. Throws Error.
template <class T>
T& place_for(T* at, std::string_view parameter) {
  static_assert(alignof(T) >= 4);
  detail::check_address(at, alignof(T), parameter);
  detail::check_writable(at, sizeof(T), parameter);
  return *at;
}

}  // namespace zellige::api
