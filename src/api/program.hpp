// A graph's program, callable on host or GPU memory. Thread-safe.
#pragma once
#include <memory>
#include <mutex>
#include <span>

#include "api/arguments.hpp"
#include "api/compile.hpp"
#include "api/launcher.hpp"

namespace zellige::api {

class Program {
 public:
  Program(const graph::KernelGraph&, const Options&);
  /// Of precompiled kernels, which run on a GPU only.
  Program(emit::Manifest, run::Cubin);

  const emit::Program& emitted() const { return emitted_; }
  const emit::TensorPlace& input(std::size_t i) const { return place(signature_.inputs.at(i)); }
  const emit::TensorPlace& output(std::size_t i) const { return place(signature_.outputs.at(i)); }
  const Signature& signature() const { return signature_; }

  /// Precondition: the numbers of tensors match the signature. `untrusted`: see check_arguments.
  void call(std::span<const zellige_tensor> inputs, std::span<const zellige_tensor> outputs, void* stream,
            ReadablePages* untrusted);
  void launch(void* const* inputs, void* const* outputs, void* workspace, void* stream);
  /// For the GPU of the current context, else the default device.
  void compile();
  double time() const;  // microseconds, on the default device
  std::string notes()
      const;  // of the search for groups, and of compiling once launched or called; one per line

 private:
  const emit::TensorPlace& place(int i) const {
    return emitted_.manifest.tensors[static_cast<std::size_t>(i)];
  }
  Launcher& launcher();

  const graph::KernelGraph graph_;  // before fusion
  const Options options_;
  const run::Cache cache_;
  const Compiled compiled_;
  const emit::Program& emitted_;
  const run::Cubin loaded_;  // empty if the source code is compiled here
  const Signature signature_;
  mutable std::mutex compiling_;
  std::unique_ptr<Launcher> launcher_;  // set once compiled; guarded by the mutex, like notes_
  std::string notes_;
};

}  // namespace zellige::api
