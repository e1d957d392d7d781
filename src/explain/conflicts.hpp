// Why a tensor in shared memory has its layout, in words, and what the layout saves.
//
//   layout_reason(kernel, 3).text
//   // "Swizzled: bits 3 to 5 of an element's offset are XORed with bits 6 to 8, .. The kernel's accesses to shared memory take
//   //  926208 wavefronts a launch; without the swizzle they would take 4366848"
#pragma once
#include <cstdint>
#include <string>

#include "kernel/kernel.hpp"

namespace zellige::explain {

/// `text` is a sentence without its full stop. `wavefronts` are those of all predicted accesses of the kernel in a launch, `dense`
/// those with the tensor's rows one after another, without swizzle and padding; both 0 if the tensor is so.
struct LayoutReason {
  std::string text;
  std::uint64_t wavefronts = 0, dense = 0;
};
LayoutReason layout_reason(const kernel::Kernel&, int tensor);

/// Returns the wavefronts of a launch's predicted accesses to shared memory; those of the async proxy are not among them.
std::uint64_t wavefronts(const kernel::Kernel&);

}  // namespace zellige::explain
