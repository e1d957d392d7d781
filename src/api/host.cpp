#include "api/host.hpp"

#include <cstring>
#include <limits>

#include "graph/error.hpp"
#include "reference/reference.hpp"
#include "run/emulated.hpp"
#include "run/npy.hpp"
#include "run/storage.hpp"

namespace zellige::api {
namespace {

using run::Bytes;

/// Returns a copy of a caller's tensor.
Bytes copied(const emit::TensorPlace& t, const void* from) {
  Bytes bytes(static_cast<std::size_t>(t.bytes));
  std::memcpy(bytes.data(), from, bytes.size());
  return bytes;
}

/// Replaces every NaN of a tensor by the bit pattern `nan`. `infinity`: the bit pattern of infinity.
template <class Bits>
void canonicalize_nans(const emit::TensorPlace& t, Bytes& bytes, Bits infinity, Bits nan) {
  constexpr Bits magnitude = std::numeric_limits<Bits>::max() / 2;
  run::each_element(t, [&](std::size_t at, std::size_t n) {
    for (std::size_t i = at; i < at + n; i += sizeof(Bits)) {
      Bits x;
      std::memcpy(&x, bytes.data() + i, sizeof(x));
      if ((x & magnitude) > infinity) std::memcpy(bytes.data() + i, &nan, sizeof(x));
    }
  });
}

/// Returns a copy of a caller's tensor for the emulator. Replaces every NaN of f16, bf16 and f32 by one bit
/// pattern, because the emulator marks unwritten memory by another NaN.
Bytes copied_to_emulator(const emit::TensorPlace& t, const void* from) {
  Bytes bytes = copied(t, from);
  if (t.dtype == graph::DType::f16) canonicalize_nans<std::uint16_t>(t, bytes, 0x7c00, 0x7e00);
  if (t.dtype == graph::DType::bf16) canonicalize_nans<std::uint16_t>(t, bytes, 0x7f80, 0x7fc0);
  if (t.dtype == graph::DType::f32) canonicalize_nans<std::uint32_t>(t, bytes, 0x7f800000, 0x7fc00000);
  return bytes;
}

/// Throws Error if a row index of a gather or scatter is out of range. Kernels would clamp the index.
void check_rows(const emit::Manifest& m, const graph::KernelGraph& g, const std::vector<Bytes>& storage) {
  const std::vector<graph::Numbers> numbers = graph::drawn_numbers(g);
  for (std::size_t i = 0; i < m.tensors.size(); ++i) {
    const emit::TensorPlace& t = m.tensors[i];
    if (t.role != emit::Role::input || numbers[t.position].rows == 0) continue;
    run::check_numbers(numbers[t.position], {t.shape, run::unpack(t, storage[i])},
                       fmt::format("program {}, input {}:", m.name, t.name));
  }
}

/// Copies a tensor's elements to the caller's memory at `to`. Does not write the gaps between elements that
/// strides leave.
void give(const emit::TensorPlace& t, const Bytes& bytes, void* to) {
  run::each_element(
      t, [&](std::size_t at, std::size_t n) { std::memcpy(static_cast<std::byte*>(to) + at, bytes.data() + at, n); });
}

}  // namespace

std::string run_emulated(const emit::EmittedProgram& p, const graph::KernelGraph& g, const HostMemory& memory,
                         const run::Cache& cache, int workers) {
  const emit::Manifest& m = p.manifest;
  std::vector<Bytes> storage;
  for (const emit::TensorPlace& t : m.tensors)
    storage.push_back(t.role == emit::Role::input ? copied_to_emulator(t, memory.inputs[t.position])
                                                  : run::poisoned(t));
  check_rows(m, g, storage);
  const run::EmulatedRun done = run::run_emulated(p, storage, cache, workers);
  if (!done.findings.empty())
    fault("program {}: the emulator found: {}{}", m.name, done.findings[0].message,
          done.findings.size() > 1 ? fmt::format(" (and {} findings more)", done.findings.size() - 1) : "");
  if (!done.complete) fault("program {}: the emulator gave the launch up", m.name);
  for (std::size_t i = 0; i < m.tensors.size(); ++i)
    if (const emit::TensorPlace& t = m.tensors[i]; t.role == emit::Role::output)
      give(t, storage[i], memory.outputs[t.position]);
  return done.library.note;
}

void run_reference(const emit::EmittedProgram& p, const graph::KernelGraph& g, const HostMemory& memory) {
  const emit::Manifest& m = p.manifest;
  std::vector<reference::Array> inputs(g.inputs.size());
  for (const emit::TensorPlace& t : m.tensors)
    if (const auto at = static_cast<std::size_t>(t.position); t.role == emit::Role::input)
      inputs[at] = {t.shape, run::unpack(t, copied(t, memory.inputs[at]))};
  const std::vector<reference::Array> outputs = reference::run_reference(g, inputs);
  for (const emit::TensorPlace& t : m.tensors)
    if (const auto at = static_cast<std::size_t>(t.position); t.role == emit::Role::output)
      give(t, run::pack(t, outputs[at].values), memory.outputs[at]);
}

}  // namespace zellige::api
