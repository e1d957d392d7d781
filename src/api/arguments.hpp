// Checks the caller's tensors against the program's signature: dtype, shape, strides, device, alignment, and
// that no output overlaps another tensor. Each mistake is one sentence with both values.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "api/caller_memory.hpp"
#include "emit/manifest.hpp"
#include "graph/error.hpp"
#include "zellige/api.h"

namespace zellige::api {

constexpr int alignment = 16;  // of inputs and outputs: a kernel's widest access

/// Inputs and outputs of a manifest, in the caller's order.
struct Signature {
  explicit Signature(const emit::Manifest&);
  std::vector<int> inputs, outputs;  // indices into the manifest's tensors
};

/// The common location of all tensors.
struct Where {
  bool on_gpu = false;
  int device = 0;
};

/// Throws Error unless the numbers of tensors match the signature.
void check_counts(const emit::Manifest&, const Signature&, int inputs, int outputs);

/// Throws Error on a mistake. Precondition: the numbers of tensors match. Without any tensors, the location
/// is the host. `untrusted`: probe each shape and stride array before reading it; NULL if a framework has
/// made them in this call.
Where check_arguments(const emit::Manifest&, const Signature&, std::span<const zellige_tensor> inputs,
                      std::span<const zellige_tensor> outputs, ReadablePages* untrusted);

/// Throws Error unless the process can read every input and write every output, from the first element to the
/// last.
void check_host_memory(const emit::Manifest&, const Signature&, std::span<const zellige_tensor> inputs,
                       std::span<const zellige_tensor> outputs);

/// Returns the address of the first element; throws Error if it is NULL or misaligned.
void* address(const zellige_tensor&);
void check_address(const emit::Manifest&, const emit::TensorPlace&, const void*);

/// Throws the Error for an output that is not given the memory of the input that it updates.
[[noreturn]] void other_memory(const emit::Manifest&, const emit::TensorPlace& output,
                               const emit::TensorPlace& input);

/// Throws Error: "program scaled, input X: ...".
std::string_view role(const emit::TensorPlace&);
template <class... Args>
[[noreturn]] void mistake(const emit::Manifest& m, const emit::TensorPlace& t,
                          fmt::format_string<Args...> format, Args&&... args) {
  fail("program {}, {} {}: {}", m.name, role(t), t.name, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zellige::api
