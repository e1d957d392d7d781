#include "run/bound.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "graph/error.hpp"
#include "manifest/variants.hpp"
#include "run/storage.hpp"

namespace zellige::run {
namespace {

/// Returns the bytes of `cubin`. Throws Fault if they contain an instruction that is illegal on the GPU,
/// because its memory descriptor is in an odd register (require_even_descriptors). The cubin may come from
/// another compiler, and so is checked here.
const std::string& sound(const manifest::Manifest& m, const toolchain::Cubin& cubin) {
  toolchain::require_even_descriptors(cubin.bytes, m.name);
  return cubin.bytes;
}

/// Throws Error if the driver reports parameter sizes of the kernel that differ from the manifest's, or a
/// maximum block size below the manifest's.
void check_interface(const manifest::Manifest& m, const manifest::KernelLaunch& k, const DriverFunction& f) {
  const auto declared = manifest::parameter_bytes(k);
  if (const auto found = parameter_bytes(f); found && *found != declared)
    fail("program {}, kernel {}: expected parameters of {} bytes, as its manifest says, found {} by the driver", m.name,
         k.name, fmt::format("({})", fmt::join(declared, ", ")), fmt::format("({})", fmt::join(*found, ", ")));
  const std::int64_t threads = k.block.x * k.block.y * k.block.z;
  if (f.max_threads > 0 && threads > f.max_threads)
    fail(
        "program {}, kernel {}: expected to launch blocks of {} threads, and the driver allows {} with the {} "
        "registers that each takes",
        m.name, k.name, threads, f.max_threads, f.registers);
}

}  // namespace

LoadedProgram::LoadedProgram(const manifest::Manifest& m, const toolchain::Cubin& cubin)
    : manifest_(m), module_(sound(m, cubin)) {
  for (const manifest::Manifest* of : manifest::programs_of(m))
    for (const manifest::KernelLaunch& k : of->kernels) {
      named_.emplace(k.name, functions_.size());
      functions_.push_back(module_.function(m.name, k.name, k.shared_bytes));
      check_interface(m, k, functions_.back());
    }
}

std::int64_t LoadedProgram::max_shared_bytes() const {
  std::int64_t maximum = 0;
  for (std::size_t k = 0; k < manifest_.kernels.size(); ++k)
    maximum = std::max(maximum, manifest_.kernels[k].shared_bytes + functions_[k].static_shared_bytes);
  return maximum;
}

bool LoadedProgram::programmatic() const {
  return std::ranges::any_of(manifest_.kernels, &manifest::KernelLaunch::programmatic);
}

TmaDescriptor KeptDescriptors::at(std::size_t kernel, int argument, const kernel::TensorMap& map, std::uint64_t address,
                                  const std::string& name) {
  Key key{kernel, argument, address, {}, {}};
  std::ranges::copy(map.extent, key.extent.begin());
  std::ranges::copy(map.stride, key.stride.begin());
  const std::lock_guard lock(mutex_);
  if (const auto kept = kept_.find(key); kept != kept_.end()) return kept->second;
  const TmaDescriptor made = make_tma_descriptor(tma_tensor(map, name), reinterpret_cast<const void*>(address));
  if (kept_.size() >= limit) kept_.clear();
  kept_.emplace(key, made);
  return made;
}

BoundProgram::BoundProgram(const LoadedProgram& program, const std::function<std::uint64_t(std::size_t)>& address)
    : program_(program), launch_(program.manifest()) {
  KeptDescriptors none;
  bind(address, none);
}

BoundProgram::BoundProgram(const LoadedProgram& program, const manifest::Manifest& launch,
                           const std::function<std::uint64_t(std::size_t)>& address, KeptDescriptors& descriptors)
    : program_(program), launch_(launch) {
  bind(address, descriptors);
}

void BoundProgram::bind(const std::function<std::uint64_t(std::size_t)>& address, KeptDescriptors& descriptors) {
  const manifest::Manifest& m = launch_;
  for (const manifest::KernelLaunch& k : m.kernels) {
    const std::size_t function = functions_.emplace_back(program_.index_of(k.name));
    std::vector<KernelArgument>& arguments = arguments_.emplace_back();
    if (k.grid.count() == 0) continue;  // of tensors without elements, which no descriptor has
    for (std::size_t i = 0; i < k.tensors.size(); ++i) {
      if (const auto constant = k.constants.find(static_cast<int>(i)); constant != k.constants.end()) {
        arguments.emplace_back().constant = constant->second.data();
        continue;
      }
      const auto t = static_cast<std::size_t>(k.tensors[i]);
      KernelArgument& argument = arguments.emplace_back(KernelArgument{address(t)});
      if (const auto map = k.maps.find(static_cast<int>(i)); map != k.maps.end())
        argument.map = descriptors.at(function, map->first, map->second, argument.address, m.tensors[t].name);
    }
  }
}

void BoundProgram::rebind(const std::function<std::uint64_t(std::size_t)>& address, KeptDescriptors& descriptors) {
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    const manifest::KernelLaunch& of = launch_.kernels[k];
    for (std::size_t i = 0; i < arguments_[k].size(); ++i) {
      KernelArgument& argument = arguments_[k][i];
      if (argument.constant) continue;
      const auto t = static_cast<std::size_t>(of.tensors[i]);
      const std::uint64_t now = address(t);
      const auto parameter = static_cast<int>(i);
      if (argument.map && argument.address != now)
        argument.map = descriptors.at(functions_[k], parameter, of.maps.at(parameter), now, launch_.tensors[t].name);
      argument.address = now;
    }
  }
}

void BoundProgram::launch(void* stream, std::size_t kernel, bool early) const {
  const manifest::KernelLaunch& k = launch_.kernels[kernel];
  if (k.grid.count() == 0) return;
  run::launch(stream, program_.function(functions_[kernel]),
              {k.grid, k.block, k.shared_bytes, k.cluster, early && k.programmatic}, arguments_[kernel]);
}

void BoundProgram::launch(void* stream, Overlap overlap) const {
  for (std::size_t k = 0; k < arguments_.size(); ++k)
    launch(stream, k, overlap == Overlap::all || (overlap == Overlap::kernels && k > 0));
}

}  // namespace zellige::run
