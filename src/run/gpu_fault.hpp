// Writes the error message for a kernel that has broken the GPU context of its process: which program and
// kernel it was, as far as that is known with asynchronous launches, and what to do.
//
//   record_launch("linear", "linear_k0");  // before each launch
//   record_wait();                         // when everything launched has completed without error
//   if (breaks_context(status)) throw Fault(context_is_gone(status, "CUDA_ERROR_ILLEGAL_INSTRUCTION"));
//   // program linear, kernel linear_k0: ended in an illegal instruction on the GPU
//   // (CUDA_ERROR_ILLEGAL_INSTRUCTION), and ...
//
// The driver reports such an error from the next call, whatever that is. The message names one kernel only if no other
// was launched since the last synchronization. CUDA_LAUNCH_BLOCKING=1 makes every launch synchronous.
#pragma once
#include <string>
#include <string_view>

namespace zellige::run {

/// Records a kernel launch, for the error message. Thread-safe; takes some tens of nanoseconds.
void record_launch(std::string_view program, std::string_view kernel);
/// Records that all launched kernels have completed without error, for the error message. Thread-safe.
void record_wait();

/// Returns true if a CUresult makes the context unusable: illegal addresses, illegal instructions, timeouts and others.
bool breaks_context(int status);

/// Returns the error message for a kernel that has broken the GPU context, one sentence; `name` is the
/// driver's name of the error (CUDA_ERROR_...).
std::string context_is_gone(int status, std::string_view name);

}  // namespace zellige::run
