#include "run/belongs.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "emit/manifest.hpp"
#include "graph/error.hpp"
#include "run/machine_code.hpp"
#include "target/target.hpp"

namespace zellige::run {
namespace {

// Returns parameter sizes in words, for messages.
std::string sizes(const std::vector<std::int64_t>& bytes) {
  return bytes.empty() ? "no parameters" : fmt::format("parameters of {} bytes", fmt::join(bytes, ", "));
}

// Throws Error if the kernel `found` in the cubin differs from its entry `k` in the manifest.
void check_kernel(const emit::Manifest& m, const emit::KernelLaunch& k, const KernelInterface& found) {
  const auto differs = [&](const std::string& declared, const std::string& has) {
    fail("program {}, kernel {}: expected {}, as its manifest says, found {} in the cubin", m.name, k.name, declared,
         has);
  };
  if (const auto declared = emit::parameter_bytes(k); declared != found.parameter_bytes)
    differs(sizes(declared), sizes(found.parameter_bytes));
  const std::int64_t threads = k.block.x * k.block.y * k.block.z;
  if (found.max_threads && threads > *found.max_threads)
    differs(fmt::format("blocks of {} threads", threads), fmt::format("at most {}", *found.max_threads));
  if (found.cluster && *found.cluster != std::array{k.cluster, 1, 1})
    differs(fmt::format("clusters of ({}, 1, 1) blocks", k.cluster),
            fmt::format("({})", fmt::join(*found.cluster, ", ")));
}

}  // namespace

std::string cubin_name(const emit::Manifest& m) { return m.name + ".cubin"; }

void require_interfaces(const emit::Manifest& m, std::string_view cubin) {
  std::vector<KernelInterface> kernels;
  try {
    kernels = kernel_interfaces(cubin);
  } catch (const Error& e) {
    fail("program {}: its machine code cannot be read: {}", m.name, e.what());
  }
  const int wanted = target::find(m.target).compute_capability;
  if (const auto found = compute_capability(cubin); found && *found != wanted)
    fail("program {}: expected machine code for {}, as its manifest says, found it for sm_{}", m.name, m.target,
         *found);
  for (const emit::KernelLaunch& k : m.kernels) {
    const auto at = std::ranges::find(kernels, k.name, &KernelInterface::name);
    if (at == kernels.end()) {
      std::vector<std::string> names;
      for (const KernelInterface& other : kernels) names.push_back(other.name);
      fail("program {}: expected a kernel {}, as its manifest says, found {} in the cubin", m.name, k.name,
           names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    }
    check_kernel(m, k, *at);
  }
}

void require_belongs(const emit::Manifest& m, std::string_view cubin) {
  const emit::Artefact found = emit::artefact(cubin_name(m), cubin);
  const auto declared = std::ranges::find(m.artefacts, found.file, &emit::Artefact::file);
  if (declared == m.artefacts.end())
    fail(
        "program {}: its manifest names no {}, so none belongs to it; `zellige transpile GRAPH --target {} --emit "
        "cubin` writes both",
        m.name, found.file, m.target);
  if (*declared != found)
    fail(
        "program {}: expected {} of {} bytes with the hash {}, as its manifest says, found {} bytes with the hash {}: "
        "the two were not written together, or the cubin was changed",
        m.name, found.file, declared->bytes, declared->hash, found.bytes, found.hash);
  require_interfaces(m, cubin);
}

}  // namespace zellige::run
