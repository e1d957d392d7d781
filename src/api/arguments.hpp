// What a caller passes, against what the program takes: dtype, shape, strides, device, alignment, and that nothing that is written
// overlaps what else is passed. Each mistake is one sentence with both values.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "emit/manifest.hpp"
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

/// Throws Error. Without tensors they lie on the host.
Where check_arguments(const emit::Manifest&, const Signature&, std::span<const zellige_tensor> inputs,
                      std::span<const zellige_tensor> outputs);

/// The first element's address; and that it is aligned.
void* address(const zellige_tensor&);
void check_alignment(const emit::Manifest&, const emit::TensorPlace&, const void*);

}  // namespace zellige::api
