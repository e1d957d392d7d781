// The texts that callers get through a `char**` and give back to zellige_text_free.
#pragma once
#include <string>

namespace zellige::api {

/// A copy, which ends in zero and lives until zellige_text_free. Throws std::bad_alloc.
char* text_copy(const std::string&);

}  // namespace zellige::api
