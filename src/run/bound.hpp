// Binds a program to GPU memory: looks up its functions once, and encodes its tensor maps once per set of
// addresses.
//
//   const LoadedProgram program(manifest, cubin);
//   const BoundProgram bound(program, [&](std::size_t tensor) { return address[tensor]; });
//   bound.launch(stream, Overlap::kernels);     // nothing but launches: it may be captured
#pragma once
#include <functional>
#include <vector>

#include "emit/manifest.hpp"
#include "run/driver.hpp"
#include "run/nvrtc.hpp"

namespace zellige::run {

class LoadedProgram {
 public:
  /// Throws Fault if the machine code would end in an illegal instruction (require_even_descriptors).
  LoadedProgram(const emit::Manifest&, const Cubin&);

  const emit::Manifest& manifest() const { return manifest_; }
  const Function& function(std::size_t kernel) const { return functions_[kernel]; }
  std::int64_t max_shared_bytes() const;  // maximum per block over its kernels
  bool programmatic() const;              // some kernel may start early

 private:
  const emit::Manifest& manifest_;
  Module module_;
  std::vector<Function> functions_;
};

/// The kernels that start while the previous one on the stream still runs, if they allow it.
enum class Overlap : std::uint8_t {
  none,
  kernels,  // all but the program's first, which waits for earlier work on the stream
  all,
};

class BoundProgram {
 public:
  BoundProgram(const LoadedProgram&, const std::function<std::uint64_t(std::size_t tensor)>& address);

  void launch(Stream& stream, Overlap overlap) const { launch(stream.handle(), overlap); }
  void launch(void* stream, Overlap) const;            // a stream of any owner
  void launch_one(Stream&, std::size_t kernel) const;  // waits for the previous one to end
  int kernels() const { return static_cast<int>(arguments_.size()); }

 private:
  void launch(void* stream, std::size_t kernel, bool early) const;

  const LoadedProgram& program_;
  std::vector<std::vector<Argument>> arguments_;  // per kernel
};

}  // namespace zellige::run
