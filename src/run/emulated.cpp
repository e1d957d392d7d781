#include "run/emulated.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "graph/error.hpp"
#include "run/storage.hpp"
#include "system/elapsed.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::run {
namespace {

// The tensors of a run, in the emulator's device memory. Intermediates are at the manifest's offsets of one workspace,
// so two of them may overlap: a kernel that writes one makes the overlapping bytes of the other uninitialised.
class EmulatedMemory {
 public:
  EmulatedMemory(const manifest::Manifest& m, std::vector<Bytes>& storage)
      : manifest_(m), storage_(storage), workspace_("workspace", static_cast<std::size_t>(m.buffer_size)) {
    buffers_.reserve(m.tensors.size());
    for (std::size_t i = 0; i < m.tensors.size(); ++i) {
      const manifest::TensorPlace& t = m.tensors[i];
      if (t.role == manifest::Role::intermediate)
        buffers_.emplace_back(t.name, storage[i].size(), workspace_.data() + t.offset);
      else
        buffers_.emplace_back(t.name, storage[i].size());
      if (t.role == manifest::Role::input) fill(buffers_.back(), t, storage[i]);
    }
  }

  emulate::Buffer* at(int t) { return t < 0 ? nullptr : &buffers_[t]; }

  /// Prepares the launch of kernel `k`. An intermediate tensor that `k` writes may share workspace bytes with
  /// other intermediates, which are not needed any longer: copies their contents to the caller's storage, and
  /// makes the shared bytes uninitialised.
  void take(const manifest::KernelLaunch& k) {
    for (std::size_t a = 0; a < k.tensors.size(); ++a)
      if (k.writes[a]) take(static_cast<std::size_t>(k.tensors[a]));
  }

  /// Copies the contents of outputs and intermediates to the caller's storage, except those that `take` has
  /// copied already. An output that updates an input in place is copied from the input's memory.
  void give_back() {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (manifest_.tensors[i].memory >= 0)
        std::memcpy(storage_[i].data(), buffers_[manifest_.tensors[i].memory].data(), storage_[i].size());
      else if (manifest_.tensors[i].role != manifest::Role::input && !taken_.count(i))
        save(i);
  }

 private:
  // Copies an input's bytes to device memory. Padding between its elements stays uninitialised and must not be read.
  static void fill(emulate::Buffer& b, const manifest::TensorPlace& t, const Bytes& bytes) {
    std::memcpy(b.data(), bytes.data(), bytes.size());
    const std::int64_t elements = graph::bytes_of(graph::size(t.shape), t.dtype);
    if (elements == static_cast<std::int64_t>(bytes.size())) return b.mark_initialised();
    b.mark_padding();
    each_element(t, [&](std::size_t at, std::size_t n) { b.mark_initialised(at, n); });
  }

  void save(std::size_t i) { std::memcpy(storage_[i].data(), buffers_[i].data(), storage_[i].size()); }

  void take(std::size_t i) {
    const manifest::TensorPlace& mine = manifest_.tensors[i];
    if (mine.role != manifest::Role::intermediate) return;
    for (std::size_t o = 0; o < buffers_.size(); ++o) {
      const manifest::TensorPlace& other = manifest_.tensors[o];
      const std::int64_t from = std::max(mine.offset, other.offset);
      const std::int64_t to = std::min(mine.offset + mine.bytes, other.offset + other.bytes);
      if (o == i || other.role != manifest::Role::intermediate || from >= to) continue;
      if (taken_.insert(o).second) save(o);
      buffers_[o].forget(static_cast<std::size_t>(from - other.offset), static_cast<std::size_t>(to - from));
    }
    taken_.erase(i);
  }

  const manifest::Manifest& manifest_;
  std::vector<Bytes>& storage_;
  emulate::Buffer workspace_;
  std::vector<emulate::Buffer> buffers_;
  std::set<std::size_t> taken_;  // tensors whose contents have been saved and overwritten
};

emulate::dim3 narrow(const graph::Dim3& d) {
  return {static_cast<unsigned>(d.x), static_cast<unsigned>(d.y), static_cast<unsigned>(d.z)};
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> named(const emulate::Counters& counters) {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  for (std::size_t i = 0; i < std::size(counters.value); ++i)
    if (counters.value[i]) all.emplace_back(emulate::name(emulate::Counter(i)), counters.value[i]);
  return all;
}

EmulatedLibrary::EmulatedLibrary(const std::filesystem::path& path)
    : file_(path), handle_(dlopen(file_.path().c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) fault("emulator: the compiled kernel does not load: {}", dlerror());
}

EmulatedLibrary::~EmulatedLibrary() { dlclose(handle_); }

void (*EmulatedLibrary::entry(const std::string& kernel) const)(emulate::Launch&) {
  void* at = dlsym(handle_, ("emulate_" + kernel).c_str());
  if (!at)
    fault("emulator: the emitted source has no emulate_{}, which the manifest's kernel {} needs", kernel, kernel);
  return reinterpret_cast<void (*)(emulate::Launch&)>(at);
}

emulate::LaunchConfig launch_config(const manifest::KernelLaunch& k, const std::string& source) {
  return {.grid = narrow(k.grid),
          .block = narrow(k.block),
          .shared_bytes = static_cast<unsigned>(k.shared_bytes),
          .arguments = {},
          .writes = {},
          .source_file = source,
          .cluster = {static_cast<unsigned>(k.cluster), 1, 1},
          .programmatic = k.programmatic};
}

emulate::LaunchParameter parameter(const manifest::Manifest& m, const manifest::KernelLaunch& k, std::size_t argument,
                                   emulate::Buffer* buffer) {
  if (const auto constant = k.constants.find(static_cast<int>(argument)); constant != k.constants.end()) {
    emulate::LaunchParameter value(0);
    value.bytes.assign(constant->second.begin(), constant->second.end());
    return value;
  }
  const auto map = k.maps.find(static_cast<int>(argument));
  const manifest::TensorPlace& tensor = m.tensors[k.tensors[argument]];
  emulate::LaunchParameter parameter =
      map == k.maps.end() ? emulate::LaunchParameter(*buffer, k.writes[argument])
                          : emulate::LaunchParameter(
                                make_tma_descriptor_emulated(tma_tensor(map->second, tensor.name), buffer->bytes()),
                                *buffer, k.writes[argument]);
  parameter.constant = tensor.constant;
  return parameter;
}

EmulatedRun run_emulated(const emit::EmittedProgram& program, std::vector<Bytes>& storage,
                         const toolchain::Cache& cache, int workers) {
  return run_emulated(program.source, program.manifest, storage, cache, workers);
}

EmulatedRun run_emulated(const std::string& of, const manifest::Manifest& m, std::vector<Bytes>& storage,
                         const toolchain::Cache& cache, int workers) {
  check(m);
  EmulatedRun result{.library = toolchain::compile_for_emulator(of, m.name, cache)};
  const std::string source = toolchain::source_file(of, m.name, cache).string();
  const auto start = system::SteadyClock::now();
  const EmulatedLibrary loaded(result.library.file);
  EmulatedMemory memory(m, storage);
  for (const manifest::KernelLaunch& k : m.kernels) {
    if (k.grid.count() == 0) {  // of tensors without elements
      result.kernels.push_back({k.name, {}, 0});
      continue;
    }
    const auto kernel_start = system::SteadyClock::now();
    emulate::LaunchConfig config = launch_config(k, source);
    config.workers = workers;
    memory.take(k);
    for (std::size_t i = 0; i < k.tensors.size(); ++i)
      config.parameters.push_back(parameter(m, k, i, memory.at(k.tensors[i])));
    emulate::EmulationReport report = emulate::run(loaded.entry(k.name), config);
    result.kernels.push_back({k.name, report.counters, system::ms_since(kernel_start)});
    for (emulate::Finding& f : report.findings) result.findings.push_back(std::move(f));
    if (!report.complete) {
      result.complete = false;
      break;
    }
  }
  memory.give_back();
  result.run_ms = system::ms_since(start);
  return result;
}

}  // namespace zellige::run
