// What a caller passes, against what the program takes: dtype, shape, strides, device, alignment, and that nothing that is written
// overlaps what else is passed. Each mistake is one sentence with both values.
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

/// Where they all lie.
struct Where {
  bool on_gpu = false;
  int device = 0;
};

/// Throws Error where there are not as many tensors as the program takes.
void check_counts(const emit::Manifest&, const Signature&, int inputs, int outputs);

/// Throws Error. There are as many tensors as the program takes; without any they lie on the host. `untrusted`: each shape and stride is
/// asked for before it is read; NULL where a framework has made them in this call.
Where check_arguments(const emit::Manifest&, const Signature&, std::span<const zellige_tensor> inputs,
                      std::span<const zellige_tensor> outputs, ReadablePages* untrusted);

/// Throws Error unless the process can read every input and write every output, from the first element to the last.
void check_host_memory(const emit::Manifest&, const Signature&, std::span<const zellige_tensor> inputs,
                       std::span<const zellige_tensor> outputs);

/// The first element's address; and that an address is one, and aligned.
void* address(const zellige_tensor&);
void check_address(const emit::Manifest&, const emit::TensorPlace&, const void*);

/// Throws the Error of an output that is not given the input's memory that it changes.
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
