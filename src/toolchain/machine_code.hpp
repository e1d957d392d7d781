// Reads a cubin without a GPU or a disassembler: its kernels' parameters, and instructions that take a memory
// descriptor from an odd uniform register. A bug of ptxas produces such instructions for cache policies; they
// end a kernel in an illegal instruction (docs/reference/hardware.md).
//
//   for (const Descriptor& d : odd_descriptors(cubin)) fmt::print("{}\n", to_string(d));
//   // kernel linear_k0: the LDGSTS at byte 0x280 takes its descriptor from UR1
//
// Every load, store and copy of global memory names a descriptor of 64 bits, in a pair of uniform registers
// that must start at an even register. The position of the register number in the instruction is the same
// from sm_80 to sm_120; tests/toolchain/machine_code_test.cpp compares it with nvdisasm.
//
// Checks that a cubin belongs to a manifest (the JSON description of a compiled program), as far as that is possible
// without a GPU.
//
//   require_belongs(manifest, cubin);  // before Module loads the cubin: the driver does not check this
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/manifest.hpp"

namespace zellige::toolchain {

/// The operand of an instruction that names a descriptor of global memory, in a pair of uniform registers.
struct Descriptor {
  std::string kernel;
  std::int64_t offset = 0;       // of the instruction, in bytes from the start of the kernel
  std::string_view instruction;  // mnemonic: LDGSTS, LDG, ...
  int uniform_register = 0;      // the first register of the pair
};

/// Returns all operands in a cubin that name a descriptor of global memory, in file order. Instructions in
/// which the descriptor is optional and absent may be included, with an even register. Throws Error if the
/// bytes are not a cubin with complete sections.
std::vector<Descriptor> descriptors(std::string_view cubin);

/// Returns the operands in a cubin that name a memory descriptor in an odd uniform register. Their instructions are
/// illegal and end the kernel. Throws Error if the bytes are not a cubin with complete sections.
std::vector<Descriptor> odd_descriptors(std::string_view cubin);

/// Returns the operand in words: "kernel linear_k0: the LDGSTS at byte 0x280 takes its descriptor from UR1".
std::string to_string(const Descriptor&);

/// A kernel's properties that a cubin records.
struct KernelInterface {
  std::string name;
  std::vector<std::int64_t> parameter_bytes;  // size in bytes of each parameter
  std::optional<std::int64_t> max_threads;    // threads per block of __launch_bounds__, if given
  std::optional<std::array<int, 3>> cluster;  // blocks per cluster of __cluster_dims__, if given
};

/// Returns all kernels of a cubin, in file order. Throws Error if the bytes are not a cubin with complete sections.
std::vector<KernelInterface> kernel_interfaces(std::string_view cubin);

/// Returns the compute capability for which a cubin was compiled: 90 for sm_90 and sm_90a. Returns nullopt if
/// the cubin's ELF ABI version is unknown.
std::optional<int> compute_capability(std::string_view cubin);

/// Checks the kernels in a cubin against a manifest. Throws Error, with the expected and the found value, if the cubin
/// lacks a kernel, is for another target, or has a kernel with other parameters, block size or cluster size.
void require_interfaces(const manifest::Manifest&, std::string_view cubin);

/// Throws Error if the cubin is not the NAME.cubin whose size and hash the manifest records, or as require_interfaces.
void require_belongs(const manifest::Manifest&, std::string_view cubin);

/// Returns the name of the program's cubin in the manifest: NAME.cubin.
std::string cubin_name(const manifest::Manifest&);

}  // namespace zellige::toolchain
