// Copies strings for callers of the C API. A caller receives a copy through a `char**` and frees it with
// zellige_text_free.
#pragma once
#include "api/caller_memory.hpp"
#include "api/guard.hpp"

namespace zellige::api {

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
