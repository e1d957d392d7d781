// One file from many: an emitted text with every <zellige/...> header put in its place, for `transpile
// --standalone`.
#pragma once
#include <string>
#include <string_view>

namespace zellige::run {

/// Every header once. Includes of others (<cstdio>, <cuda_runtime.h>) stay, and so does the meaning of
/// includes under conditions: a header that only an untaken branch includes does not count as included. What
/// is included for the emulator alone (<zellige/emulate/...> under a condition) stays an include too.
std::string standalone(std::string_view source);

}  // namespace zellige::run
