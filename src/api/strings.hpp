// Copies strings for callers of the C API, which get them through a `char**` and return them to
// zellige_text_free.
#pragma once
#include <string>

namespace zellige::api {

/// Returns a zero-terminated copy, which lives until zellige_text_free is called with it. Throws
/// std::bad_alloc.
char* text_copy(const std::string&);

}  // namespace zellige::api
