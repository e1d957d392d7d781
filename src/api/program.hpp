// A graph's program, ready to be called on memory of the host or of a GPU. May be called from several threads at once.
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
  /// Of kernels that were compiled before. They run on a GPU alone.
  Program(emit::Manifest, run::Cubin);

  const emit::Program& emitted() const { return emitted_; }
  const emit::TensorPlace& input(std::size_t i) const { return place(signature_.inputs.at(i)); }
  const emit::TensorPlace& output(std::size_t i) const { return place(signature_.outputs.at(i)); }
  const Signature& signature() const { return signature_; }

  /// As many tensors as the signature has; `untrusted` as check_arguments takes it.
  void call(std::span<const zellige_tensor> inputs, std::span<const zellige_tensor> outputs, void* stream,
            ReadablePages* untrusted);
  void launch(void* const* inputs, void* const* outputs, void* workspace, void* stream);
  /// For the GPU of the current context, else the standard device.
  void compile();
  double time() const;  // microseconds, on the standard device
  std::string notes()
      const;  // of the search for groups, and of compiling, once it was launched or called: a line each

 private:
  const emit::TensorPlace& place(int i) const {
    return emitted_.manifest.tensors[static_cast<std::size_t>(i)];
  }
  Launcher& launcher();

  const graph::KernelGraph graph_;  // as it was given
  const Options options_;
  const run::Cache cache_;
  const Compiled compiled_;
  const emit::Program& emitted_;
  const run::Cubin loaded_;  // empty where the text is compiled here
  const Signature signature_;
  mutable std::mutex compiling_;
  std::unique_ptr<Launcher> launcher_;  // once it is compiled; with notes_ under the mutex
  std::string notes_;
};

}  // namespace zellige::api
