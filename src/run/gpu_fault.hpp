// Reports a kernel that breaks the GPU context of its process: the program and the kernel, as far as they are
// known with asynchronous launches, and what to do.
//
//   record_launch("linear", "linear_k0");  // before each launch
//   record_wait();                         // when everything launched has completed without error
//   if (breaks_context(status)) throw Fault(context_is_gone(status, "CUDA_ERROR_ILLEGAL_INSTRUCTION"));
//   // program linear, kernel linear_k0: ended in an illegal instruction on the GPU
//   // (CUDA_ERROR_ILLEGAL_INSTRUCTION), and ...
//
// The driver reports such an error from whatever call comes next, so the kernel is exact only if it was
// synchronized alone. CUDA_LAUNCH_BLOCKING=1 makes every launch synchronous.
#pragma once
#include <string>
#include <string_view>

namespace zellige::run {

/// Thread-safe. Costs some tens of nanoseconds.
void record_launch(std::string_view program, std::string_view kernel);
void record_wait();

/// Returns whether a CUresult means that the context is unusable from then on: illegal addresses and
/// instructions, launch timeouts.
bool breaks_context(int status);

/// One sentence; `name` is the driver's CUDA_ERROR_... .
std::string context_is_gone(int status, std::string_view name);

}  // namespace zellige::run
