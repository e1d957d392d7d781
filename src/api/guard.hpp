// What stands between C++ and C: exceptions become a status and a sentence, texts become the caller's.
#pragma once
#include <functional>
#include <string>

#include "zellige/api.h"

namespace zellige::api {

/// Runs it; what it throws is kept for zellige_last_error.
zellige_status guarded(const std::function<void()>&);

/// A copy that zellige_text_free ends.
char* text_copy(const std::string&);

}  // namespace zellige::api
