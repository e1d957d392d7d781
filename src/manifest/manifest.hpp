// The manifest of a program: everything that a caller needs to launch it, without the source. It lists the
// kernels in launch order with their grids and arguments, and the place of every tensor in device memory.
//
// Written next to NAME.cu as NAME.manifest.json. `zellige run` launches programs from it, on the GPU and on
// the emulator. It has two kinds of hashes: its own, which shows later edits, and those of the files that were written
// together with it. A hash detects accidents: a file that was exchanged, truncated or edited. It does not protect against
// forgery.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "kernel/tensor_map.hpp"
#include "predict/cost_estimate.hpp"
#include "retile/tiling.hpp"
#include "tile/size_expression.hpp"

namespace zellige::manifest {

/// How a tensor gets its memory: inputs and outputs are the caller's, intermediates are in the workspace.
enum class Role : std::uint8_t { input, output, intermediate };

/// Returns the role's name, as the manifest has it.
std::string_view name(Role);

/// A tensor in device memory: an argument of the host entry, or a range of the workspace.
struct TensorPlace {
  std::string name;
  graph::DType dtype{};
  graph::Shape shape;
  graph::Strides strides;  // in elements, with padding
  Role role{};
  int position = -1;         // input, output: index of the caller's argument
  std::int64_t offset = -1;  // intermediate: byte offset in the workspace, a multiple of 256
  std::int64_t bytes = 0;    // from the first element to the last
  // Output that overwrites an input: the input, as index into Manifest::tensors; -1: none.
  int memory = -1;
  bool constant = false;  // input: no earlier work on the stream writes it
  bool operator==(const TensorPlace&) const = default;
};

/// One launch of a kernel. The kernel has one parameter per entry of `tensors`: a pointer, or a TMA descriptor if
/// `maps` has one. An entry of -1 is a constant: a size that is known at launch, or of a kernel that Zellige did not emit.
struct KernelLaunch {
  std::string name;  // extern "C" name of the __global__ function, which several launches may share
  graph::Dim3 grid, block;
  std::int64_t shared_bytes = 0;  // dynamic shared memory
  std::vector<int> tensors;       // indices into Manifest::tensors
  std::vector<bool> writes;       // by parameter: the kernel writes the tensor
  // By parameter: the contents of its TMA descriptor.
  std::map<int, kernel::TensorMap> maps;
  std::map<int, std::string> constants = {};  // by parameter: the bytes of a constant
  int cluster = 1;                            // blocks per cluster, along x
  cost::KernelCost cost{};                    // estimated time
  // The kernel may start while the preceding one still runs (programmatic dependent launch).
  bool programmatic = false;
};

/// A file that was written together with the manifest, such as the cubin.
struct Artefact {
  std::string file;  // name of a file in the manifest's folder, mlp.cubin
  std::int64_t bytes = 0;
  std::string hash;  // of the file's contents (hash())
  bool operator==(const Artefact&) const = default;
};

/// A number of a manifest that sizes may decide.
struct SizedField {
  enum Kind : std::uint8_t {
    buffer_size,
    extent,  // entry `at` of the shape of tensor `of`
    stride,
    bytes,
    offset,
    grid,        // entry `at` of the grid of kernel `of`
    map_extent,  // entry `at` of the extents of the TMA descriptor that is parameter `argument` of kernel `of`
    map_stride,
    scalar,  // the constant that is parameter `argument` of kernel `of`
  } kind{};
  int of = 0, argument = 0, at = 0;
  auto operator<=>(const SizedField&) const = default;
};

/// Two expressions of sizes that are equal at every launch, such as T2 and T + P.
struct SizeRelation {
  tile::SizeExpression left, right;
};

/// The manifest of one program.
///
/// A program with sizes that are known at launch has their largest values everywhere, and in `sized` what each number is for
/// others; launch_sizes.hpp makes the manifest of a launch from it.
struct Manifest {
  std::string name;    // of the program; a C identifier
  std::string target;  // such as sm_90a
  std::vector<TensorPlace> tensors;
  std::vector<KernelLaunch> kernels;
  std::int64_t buffer_size = 0;  // bytes of workspace that the host entry needs
  retile::Tiling tiling;         // of the graph's custom operators and standalone matmuls
  // The graph's custom operators were written as kernel-level operators first (fuse/custom.hpp).
  bool decomposed = false;
  std::vector<Artefact> artefacts = {};
  std::string zellige = {};   // version of Zellige that wrote the manifest; empty: this one
  std::string nvrtc = {};     // version of NVRTC that compiled the cubin; empty: no cubin
  tile::SizeList sizes = {};  // known at launch alone
  std::vector<SizeRelation> relations = {};
  std::map<SizedField, tile::SizeExpression> sized = {};
  // Programs that compute the same for some values of the sizes, with kernels that are planned for these (variants.hpp). A launch
  // runs the first one whose `range` has its values; if none has, the manifest's own kernels.
  std::vector<Manifest> variants = {};
  // Of a variant: the values for which it is, of all sizes of the whole program in order. Its own `sizes` lack those with one value.
  tile::SizeList range = {};
};

/// Returns the XXH128 hash of a string, 32 hexadecimal digits, as `xxh128sum` prints it.
std::string hash(std::string_view);

/// Returns an entry for Manifest::artefacts: the name `file`, and the size and hash of its contents `bytes`.
Artefact artefact(std::string file, std::string_view bytes);

/// The version that to_json() writes. Manifests of version 2, which have no sizes, are read too.
constexpr int manifest_version = 3;

/// Returns the bytes of each parameter of a kernel: 8 for a pointer, 128 for a TMA descriptor, or those of the
/// constant.
std::vector<std::int64_t> parameter_bytes(const KernelLaunch&);

/// Returns the manifest as JSON with its hash; docs/reference/manifest.md describes the fields.
std::string to_json(const Manifest&);

/// Returns the manifest in `text`; `source` is its name in messages. Throws Error if a field is missing or
/// invalid (the message has the field, what was expected and what was found), or if the hash shows that the
/// manifest was edited after it was written.
Manifest parse_manifest(const std::string& text, const std::string& source);

/// Returns the manifest in `text` without a check of its hash, for manifests that a user writes or edits.
Manifest unsealed_manifest(const std::string& text, const std::string& source);

/// Returns the manifest `text` with the file `with` added to its artefacts (or replaced there) and with its
/// hash set. Throws Error if a field is missing or invalid; a wrong hash in `text` is no error. `source` is the
/// manifest's name in messages.
std::string sealed(const std::string& text, const std::string& source, const Artefact& with);

}  // namespace zellige::manifest
