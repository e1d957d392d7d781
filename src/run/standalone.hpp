// Inlines all <zellige/...> headers into a program's source code, for `transpile --standalone`.
#pragma once
#include <string>
#include <string_view>

namespace zellige::run {

/// Returns a program's source code with each <zellige/...> header inlined once. Other includes (<cstdio>,
/// <cuda_runtime.h>) are kept, and so are those for the emulator (<zellige/emulate/...> under a condition).
/// Preprocessor conditions keep their meaning: a header that is included only in a branch that is not taken
/// can be included again later.
std::string standalone(std::string_view source);

}  // namespace zellige::run
