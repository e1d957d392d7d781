// Gives callers of the C API handles: keys of a table of objects, not addresses. A handle that is null, freed, of
// another kind or invalid is rejected with an Error. The object of a removed handle lives as long as a call uses it.
//
//   zellige_graph* handle = add_handle<zellige_graph>(std::make_shared<graph::KernelGraph>(...));
//   const auto graph = object_of<const graph::KernelGraph>(handle, "graph");  // "graph": the name in messages
//   remove_handle(handle, "graph");                                           // `graph` stays valid
//
// Gives them strings, too, which they free.
#pragma once
#include <memory>
#include <string_view>

#include "api/caller_memory.hpp"
#include "api/guard.hpp"
#include "zellige/api.h"

namespace zellige::api {

enum class HandleKind : std::uint8_t { graph, program, ranks, rank_program };

namespace detail {
template <class Handle>
inline constexpr HandleKind kind_of = HandleKind::graph;
template <>
inline constexpr HandleKind kind_of<zellige_program> = HandleKind::program;
template <>
inline constexpr HandleKind kind_of<zellige_ranks> = HandleKind::ranks;
template <>
inline constexpr HandleKind kind_of<zellige_rank_program> = HandleKind::rank_program;

void* add(HandleKind, std::shared_ptr<void>);
std::shared_ptr<void> find(HandleKind, const void* handle, std::string_view parameter);
void remove(HandleKind, const void* handle, std::string_view parameter);
}  // namespace detail

/// Returns a new handle for an object. The object lives until the handle is removed and no call uses the object. Throws
/// Error if 2^24 handles are live.
template <class Handle>
Handle* add_handle(std::shared_ptr<void> object) {
  return static_cast<Handle*>(detail::add(detail::kind_of<Handle>, std::move(object)));
}

/// Returns the object of a live handle. Throws Error, with the parameter's name, for any other pointer.
template <class Object, class Handle>
std::shared_ptr<Object> object_of(const Handle* handle, std::string_view parameter) {
  return std::static_pointer_cast<Object>(detail::find(detail::kind_of<Handle>, handle, parameter));
}

/// Removes a live handle; does nothing for null. Throws Error, with the parameter's name, for any other pointer.
template <class Handle>
void remove_handle(Handle* handle, std::string_view parameter) {
  if (handle) detail::remove(detail::kind_of<Handle>, handle, parameter);
}

/// Returns a zero-terminated copy of the string, which lives until zellige_text_free is called with it.
/// Throws std::bad_alloc if there is no memory.
char* text_copy(const std::string&);

/// Stores a copy of the string that `text` returns at the caller's address `to`, which messages call `name`.
template <class Text>
zellige_status give_text(char** to, std::string_view name, const Text& text) noexcept {
  return guarded([&] {
    char*& place = place_for(to, name);
    place = text_copy(text());
  });
}

}  // namespace zellige::api
