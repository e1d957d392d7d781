// Checks the caller's tensors against the program's manifest, which describes its inputs and outputs: dtype,
// shape, strides, device and alignment, and that no output overlaps another tensor. An error message is one
// sentence with the expected and the found value.
#pragma once
#include <span>
#include <vector>

#include "api/caller_memory.hpp"
#include "graph/error.hpp"
#include "manifest/manifest.hpp"
#include "zellige/api.h"

namespace zellige::api {

constexpr int alignment = 16;  // of inputs and outputs, in bytes: that of a kernel's widest access

/// The program's inputs and outputs, in the caller's order.
struct Signature {
  explicit Signature(const manifest::Manifest&);
  std::vector<int> inputs, outputs;  // indices into the manifest's tensors
};

/// Device on which all tensors of a call are: the host, or a GPU with its index.
struct CallDevice {
  bool on_gpu = false;
  int device = 0;
};

/// Throws Error unless the caller passes as many inputs and outputs as the program has.
void check_counts(const manifest::Manifest&, const Signature&, int inputs, int outputs);

/// Returns the shape of a caller's tensor. Throws Error if it has none, or if it cannot be read.
std::span<const std::int64_t> shape_of(const manifest::Manifest&, const manifest::TensorPlace&, const zellige_tensor&,
                                       ReadablePages* untrusted);

/// Checks the tensors of a call and returns the device that they are on; without any tensors, the host.
/// Throws Error if a tensor does not match the manifest or if tensors are on different devices. Precondition:
/// check_counts() has passed. `untrusted`: used to check that each array of extents or strides can be read;
/// nullptr if a framework has made these arrays in this call, so that no check is needed.
CallDevice check_arguments(const manifest::Manifest&, const Signature&, std::span<const zellige_tensor> inputs,
                           std::span<const zellige_tensor> outputs, ReadablePages* untrusted);

/// Makes the checks of check_arguments() that depend on the tensors' addresses.
void check_addresses(const manifest::Manifest&, const Signature&, std::span<const zellige_tensor> inputs,
                     std::span<const zellige_tensor> outputs);

/// Throws Error unless the process can read all bytes of every input and write all bytes of every output.
/// Precondition: the tensors are on the host.
void check_host_memory(const manifest::Manifest&, const Signature&, std::span<const zellige_tensor> inputs,
                       std::span<const zellige_tensor> outputs);

/// Returns the caller's description of a tensor of a graph or a manifest. `memory`: index of the input that the tensor
/// aliases; -1: none.
template <class Tensor>
zellige_tensor_info described(const Tensor& t, std::int64_t bytes, int memory) {
  return {.name = t.name.c_str(),
          .dtype = graph::name(t.dtype).data(),
          .rank = static_cast<int32_t>(t.shape.size()),
          .shape = t.shape.data(),
          .strides = t.strides.empty() ? nullptr : t.strides.data(),
          .bytes = bytes,
          .alignment = alignment,
          .memory = memory,
          .constant = t.constant};
}

/// Returns a dtype's type code in DLPack.
int dlpack_code(graph::DType);
/// Returns element `index` of a list of inputs or outputs. Throws Error if there is none; `of` and `what` name the list's
/// owner and its elements in the message.
int element_of(const std::vector<int>& list, int index, const std::string& of, const char* what);
/// Returns the address of a tensor's first element.
void* address(const zellige_tensor&);
/// Throws Error if the address is null or misaligned.
void check_address(const manifest::Manifest&, const manifest::TensorPlace&, const void*);

/// Throws the Error for an output that is not in the memory of the input that it updates in place.
[[noreturn]] void other_memory(const manifest::Manifest&, const manifest::TensorPlace& output,
                               const manifest::TensorPlace& input);

/// Returns the tensor's role in words: "input" or "output".
std::string_view role(const manifest::TensorPlace&);
/// Throws Error with the program and the tensor before the message: "program scaled, input X: ...".
template <class... Args>
[[noreturn]] void mistake(const manifest::Manifest& m, const manifest::TensorPlace& t,
                          fmt::format_string<Args...> format, Args&&... args) {
  fail("program {}, {} {}: {}", m.name, role(t), t.name, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zellige::api
