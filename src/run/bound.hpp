// Prepares a program for launches on the GPU. A LoadedProgram looks up the kernels, once per cubin. A
// BoundProgram holds the kernels' arguments, with encoded tensor maps, for one set of device addresses.
//
//   const LoadedProgram program(manifest, cubin);
//   const BoundProgram bound(program, [&](std::size_t tensor) { return address[tensor]; });
//   bound.launch(stream.handle(), Overlap::kernels);     // only enqueues launches, so that it may be captured
#pragma once
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "manifest/manifest.hpp"
#include "run/driver.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige::run {

/// A program whose cubin is loaded into the current CUDA context. The manifest must outlive it.
class LoadedProgram {
 public:
  /// Loads the cubin. Throws Fault if its code would end in an illegal instruction (require_even_descriptors), and
  /// Error if the driver reports other parameters of a kernel, or a smaller maximum block size, than the manifest.
  LoadedProgram(const manifest::Manifest&, const toolchain::Cubin&);

  const manifest::Manifest& manifest() const { return manifest_; }
  const DriverFunction& function(std::size_t kernel) const { return functions_[kernel]; }
  /// Returns the index of the function of this name, of the program or a variant of it.
  std::size_t index_of(const std::string& name) const { return named_.at(name); }
  // Returns the largest shared memory per block, static and dynamic, of all kernels of the program, in bytes.
  std::int64_t max_shared_bytes() const;
  bool programmatic() const;  // true if some kernel may start before the previous one has ended

 private:
  const manifest::Manifest& manifest_;
  Module module_;
  std::vector<DriverFunction> functions_;     // of the manifest's kernels, then of its variants'
  std::map<std::string, std::size_t> named_;  // index of the first function of each name
};

/// The kernels of a program that may start while the previous kernel on the stream still runs (programmatic
/// dependent launch), if the manifest allows it.
enum class Overlap : std::uint8_t {
  none,
  kernels,  // all but the program's first kernel, which waits for earlier work on the stream
  all,
};

/// TMA descriptors of a program's launches: encoded for an address and extents, and kept. Thread-safe.
class KeptDescriptors {
 public:
  /// Returns the descriptor of parameter `argument` of kernel `kernel`, for the tensor at `address`; `name` is the tensor's.
  TmaDescriptor at(std::size_t kernel, int argument, const kernel::TensorMap&, std::uint64_t address,
                   const std::string& name);
  std::size_t count() const { return kept_.size(); }

 private:
  static constexpr std::size_t limit = 1024;  // 128 KB; then all are encoded again
  struct Key {
    std::size_t kernel;
    int argument;
    std::uint64_t address;
    std::array<std::int64_t, 5> extent, stride;
    auto operator<=>(const Key&) const = default;
  };
  std::mutex mutex_;
  std::map<Key, TmaDescriptor> kept_;
};

/// A program with the arguments of its kernels. The LoadedProgram must outlive it.
class BoundProgram {
 public:
  /// Binds a program to device addresses: `address`, called only here, returns that of each of the manifest's tensors.
  BoundProgram(const LoadedProgram&, const std::function<std::uint64_t(std::size_t tensor)>& address);
  /// The same for a launch whose manifest is `launch`, of a program with sizes, and must outlive it too. Descriptors are kept in
  /// `descriptors`.
  BoundProgram(const LoadedProgram&, const manifest::Manifest& launch,
               const std::function<std::uint64_t(std::size_t tensor)>& address, KeptDescriptors& descriptors);

  /// Binds it to other addresses.
  void rebind(const std::function<std::uint64_t(std::size_t tensor)>& address, KeptDescriptors&);

  /// Enqueues all kernels of the program on the CUstream `stream`, which any library may have created.
  /// Overlap: which kernels may start before the previous one has ended.
  void launch(void* stream, Overlap) const;
  // Enqueues the kernel with index `kernel`, which starts after the previous kernel on the stream has ended.
  void launch_one(void* stream, std::size_t kernel) const { launch(stream, kernel, false); }
  int kernels() const { return static_cast<int>(arguments_.size()); }

 private:
  void bind(const std::function<std::uint64_t(std::size_t tensor)>& address, KeptDescriptors&);
  void launch(void* stream, std::size_t kernel, bool early) const;

  const LoadedProgram& program_;
  const manifest::Manifest& launch_;
  std::vector<std::vector<KernelArgument>> arguments_;  // per kernel
  std::vector<std::size_t> functions_;                  // per kernel: index of its function in the program
};

}  // namespace zellige::run
