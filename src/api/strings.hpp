// Strings that callers get through a `char**` and return to zellige_text_free.
#pragma once
#include <string>

namespace zellige::api {

/// A zero-terminated copy, which lives until zellige_text_free. Throws std::bad_alloc.
char* text_copy(const std::string&);

}  // namespace zellige::api
