// Copies strings for callers of the C API. A caller receives a copy through a `char**` and frees it with
// zellige_text_free.
#pragma once
#include <string>

namespace zellige::api {

/// Returns a zero-terminated copy of the string, which lives until zellige_text_free is called with it.
/// Throws std::bad_alloc if there is no memory.
char* text_copy(const std::string&);

}  // namespace zellige::api
