// What is said when a kernel breaks the GPU context of its process: which program and which kernel it was, as far as launches that do
// not wait can tell, and what to do.
//
//   record_launch("linear", "linear_k0");                     // before each launch
//   record_wait();                                            // when all that was launched has ended well
//   if (breaks_context(status)) throw Fault(context_is_gone(status, "CUDA_ERROR_ILLEGAL_INSTRUCTION"));
//   // program linear, kernel linear_k0: ended in an illegal instruction on the GPU (CUDA_ERROR_ILLEGAL_INSTRUCTION), and ...
//
// A driver reports such an end with whatever call comes next, so what is named exactly is a kernel that was waited for alone.
// CUDA_LAUNCH_BLOCKING=1 makes the driver wait for each.
#pragma once
#include <string>
#include <string_view>

namespace zellige::run {

/// From any thread. Costs some tens of nanoseconds.
void record_launch(std::string_view program, std::string_view kernel);
void record_wait();

/// Whether a CUresult says that the context is unusable from here on: illegal addresses and instructions, launches that timed out.
bool breaks_context(int status);

/// One sentence; `name` is the driver's, CUDA_ERROR_... .
std::string context_is_gone(int status, std::string_view name);

}  // namespace zellige::run
