// What a caller of an emitted program must know: its kernels in launch order, and where every kernel-level tensor lives.
// Written beside NAME.cu as NAME.manifest.json; `run` launches from it, on the GPU and on the emulator alike.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "plan/price.hpp"
#include "plan/tensor_map.hpp"
#include "retile/tiling.hpp"

namespace zellige::emit {

enum class Role : std::uint8_t { input, output, intermediate };

/// A kernel-level tensor: an argument of the host entry, or a slice of the workspace.
struct TensorPlace {
  std::string name;
  graph::DType dtype{};
  graph::Shape shape;
  graph::Strides strides;  // in elements; padding included
  Role role{};
  int position = -1;         // input and output: which argument of the caller
  std::int64_t offset = -1;  // intermediate: byte offset in the workspace, a multiple of 256
  std::int64_t bytes = 0;    // of storage, from its first element to its last
  int memory = -1;           // output: the input whose memory it has taken, an index into the tensors
  bool constant = false;     // input: no earlier work on the stream writes it
  bool operator==(const TensorPlace&) const = default;
};

/// One launch. The kernel takes one parameter a tensor, in the order of `tensors`: its pointer, or a TMA descriptor. Where a tensor is -1
/// the parameter is a constant; kernels that were not emitted have such.
struct KernelLaunch {
  std::string name;  // the extern "C" name of the __global__ function, which several launches may have
  graph::Dim3 grid, block;
  std::int64_t shared_bytes = 0;              // dynamic
  std::vector<int> tensors;                   // indices into Manifest::tensors
  std::vector<bool> writes;                   // parallel to tensors
  std::map<int, plan::TensorMap> maps;        // by parameter: what its descriptor says; others are pointers
  std::map<int, std::string> constants = {};  // by parameter: its bytes
  int cluster = 1;                            // blocks along x that are launched together
  plan::KernelPrice price{};                  // what it is expected to take
  bool programmatic = false;                  // may be launched while the kernel before it still runs
};

/// A file that was written with the manifest and belongs to it.
struct Artefact {
  std::string file;  // mlp.cubin; it lies beside the manifest
  std::int64_t bytes = 0;
  std::string hash;  // of them (emit/seal.hpp)
  bool operator==(const Artefact&) const = default;
};

struct Manifest {
  std::string name;    // of the program; a C identifier
  std::string target;  // sm_80, sm_86, sm_89, sm_90a
  std::vector<TensorPlace> tensors;
  std::vector<KernelLaunch> kernels;
  std::int64_t buffer_size = 0;  // bytes of workspace the host entry asks for
  retile::Tiling tiling;         // of the graph's custom operators
  bool apart = false;            // which were taken apart before (fuse/custom.hpp)
  std::vector<Artefact> artefacts = {};
  std::string zellige = {};  // the version of Zellige that wrote it; "": this one
  std::string nvrtc = {};    // the version of NVRTC that made the cubin; "" where none did
};

constexpr int manifest_version = 2;

/// The sizes of a kernel's parameters, in order: 8 of a pointer, 128 of a TMA descriptor.
std::vector<std::int64_t> parameter_bytes(const KernelLaunch&);

std::string to_json(const Manifest&);  // documented in docs/reference/manifest.md

}  // namespace zellige::emit
