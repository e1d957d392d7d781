// Inspects a cubin without a GPU: its kernels' parameters, and a ptxas bug in the machine code that ends a
// kernel in an illegal instruction (docs/reference/hardware.md): a cache policy in an odd uniform register.
//
//   for (const Descriptor& d : odd_descriptors(cubin)) fmt::print("{}\n", to_string(d));
//   // kernel linear_k0: the LDGSTS at byte 0x280 takes its descriptor from UR1
//
// Every load, store and copy of global memory names a descriptor, 64 bits in a pair of uniform registers that
// begins at an even one. Its position in the instruction word is the same from sm_80 to sm_120 (checked
// against nvdisasm by tests/run/machine_code_test.cpp), so neither a disassembler nor a GPU is needed.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::run {

/// A descriptor operand of an instruction.
struct Descriptor {
  std::string kernel;
  std::int64_t offset = 0;       // of the instruction, in bytes from the kernel's start
  std::string_view instruction;  // LDGSTS, LDG, ...
  int uniform_register = 0;      // the descriptor's first register
};

/// All descriptors in a cubin, in file order; an instruction that could have one and has none counts as UR0
/// or another even register. Throws Error if the bytes are not a cubin with complete sections.
std::vector<Descriptor> descriptors(std::string_view cubin);

/// Those in odd registers.
std::vector<Descriptor> odd_descriptors(std::string_view cubin);

/// "kernel linear_k0: the LDGSTS at byte 0x280 takes its descriptor from UR1"
std::string to_string(const Descriptor&);

/// The properties of a kernel that a cubin records.
struct KernelInterface {
  std::string name;
  std::vector<std::int64_t> parameter_bytes;  // in order
  std::optional<std::int64_t> max_threads;    // of __launch_bounds__
  std::optional<std::array<int, 3>> cluster;  // of __cluster_dims__
};

/// All kernels with machine code, in file order. Throws Error as `descriptors` does.
std::vector<KernelInterface> kernel_interfaces(std::string_view cubin);

/// The compute capability that a cubin was compiled for: 90 for sm_90 and sm_90a; nothing if its ELF form is
/// unknown.
std::optional<int> compute_capability(std::string_view cubin);

}  // namespace zellige::run
