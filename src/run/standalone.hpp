// Inlines every <zellige/...> header into emitted source code, for `transpile --standalone`.
#pragma once
#include <string>
#include <string_view>

namespace zellige::run {

/// Includes each header once. Other includes (<cstdio>, <cuda_runtime.h>) stay, and conditions keep their
/// meaning: a header that only an untaken branch includes does not count as included. Includes for the
/// emulator only (<zellige/emulate/...> under a condition) stay, too.
std::string standalone(std::string_view source);

}  // namespace zellige::run
