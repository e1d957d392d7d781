// The interface of an emitted program: its kernels in launch order, and the location of every kernel-level
// tensor. Written next to NAME.cu as NAME.manifest.json; `run` launches from it, on the GPU and on the
// emulator.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "plan/cost_estimate.hpp"
#include "plan/tensor_map.hpp"
#include "retile/tiling.hpp"

namespace zellige::emit {

enum class Role : std::uint8_t { input, output, intermediate };

/// A kernel-level tensor: an argument of the host entry, or a range of the workspace.
struct TensorPlace {
  std::string name;
  graph::DType dtype{};
  graph::Shape shape;
  graph::Strides strides;  // in elements; padding included
  Role role{};
  int position = -1;         // input and output: index of the caller's argument
  std::int64_t offset = -1;  // intermediate: byte offset in the workspace, a multiple of 256
  std::int64_t bytes = 0;    // of storage, from its first element to its last
  int memory = -1;           // output: the input whose memory it overwrites, an index into the tensors
  bool constant = false;     // input: no earlier work on the stream writes it
  bool operator==(const TensorPlace&) const = default;
};

/// One launch. The kernel takes one parameter per tensor, in the order of `tensors`: its pointer or a TMA
/// descriptor. Where `tensors` is -1 the parameter is a constant; only kernels that Zellige did not emit have
/// these.
struct KernelLaunch {
  std::string name;  // extern "C" name of the __global__ function; several launches may share it
  graph::Dim3 grid, block;
  std::int64_t shared_bytes = 0;  // dynamic
  std::vector<int> tensors;       // indices into Manifest::tensors
  std::vector<bool> writes;       // parallel to tensors
  // By parameter: contents of its TMA descriptor; others are pointers.
  std::map<int, plan::TensorMap> maps;
  std::map<int, std::string> constants = {};  // by parameter: its bytes
  int cluster = 1;                            // blocks along x that are launched together
  plan::KernelCost cost{};                    // estimated time
  // May start while the previous kernel still runs (programmatic dependent launch).
  bool programmatic = false;
};

/// A file that was written together with the manifest.
struct Artefact {
  std::string file;  // mlp.cubin; in the manifest's folder
  std::int64_t bytes = 0;
  std::string hash;  // of its contents (emit/seal.hpp)
  bool operator==(const Artefact&) const = default;
};

struct Manifest {
  std::string name;    // of the program; a C identifier
  std::string target;  // sm_80, sm_86, sm_89, sm_90a
  std::vector<TensorPlace> tensors;
  std::vector<KernelLaunch> kernels;
  std::int64_t buffer_size = 0;  // bytes of workspace the host entry asks for
  retile::Tiling tiling;         // of the graph's custom operators
  bool decomposed = false;       // which were decomposed (fuse/custom.hpp)
  std::vector<Artefact> artefacts = {};
  std::string zellige = {};  // the version of Zellige that wrote it; "": this one
  std::string nvrtc = {};    // the version of NVRTC that made the cubin; "": no cubin
};

constexpr int manifest_version = 2;

/// The sizes of a kernel's parameters, in order: 8 for a pointer, 128 for a TMA descriptor.
std::vector<std::int64_t> parameter_bytes(const KernelLaunch&);

std::string to_json(const Manifest&);  // documented in docs/reference/manifest.md

}  // namespace zellige::emit
