// Inlines all <zellige/...> headers into a program's source code, for `transpile --standalone`.
#pragma once
#include <string>
#include <string_view>

namespace zellige::run {

/// Returns a program's source code with each <zellige/...> header inlined once. Other includes (<cstdio>,
/// <cuda_runtime.h>) are kept, and so are the emulator's headers (<zellige/emulate/...>) in branches that
/// only the emulator compiles. A header that is included under a condition may be inlined a second time at a
/// later include, so that it is present whichever branch is taken.
std::string standalone(std::string_view source);

}  // namespace zellige::run
