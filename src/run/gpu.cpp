#include "run/gpu.hpp"

#include <algorithm>
#include <chrono>

#include "graph/error.hpp"
#include "run/driver.hpp"
#include "run/tensor_map.hpp"

namespace zellige::run {
namespace {

constexpr std::int64_t guard_bytes =
    256;  // behind every tensor; a kernel that changes them wrote past the end
constexpr int warm_up = 20, launches = 200;

// Fills the shared memory of every multiprocessor with NaN: hardware leaves there what the last kernel wrote.
constexpr const char* poison_ptx = R"(
.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 memory[];
.visible .entry poison(.param .u64 bytes) {
  .reg .pred %more;
  .reg .b32 %at, %end, %step, %base, %address, %nan;
  ld.param.u32 %end, [bytes];
  mov.u32 %base, memory;
  mov.u32 %at, %tid.x;
  mov.u32 %step, %ntid.x;
  shl.b32 %at, %at, 2;
  shl.b32 %step, %step, 2;
  mov.u32 %nan, 0xffffffff;
again:
  add.u32 %address, %base, %at;
  st.shared.u32 [%address], %nan;
  add.u32 %at, %at, %step;
  setp.lt.u32 %more, %at, %end;
  @%more bra again;
  ret;
}
)";

struct Launch {
  Function function;
  const emit::KernelLaunch* kernel;
  std::vector<Argument> arguments;
};

// Where each tensor of the manifest lies on the device.
class Memory {
 public:
  Memory(const emit::Manifest& m, const std::vector<Bytes>& storage)
      : manifest_(m), workspace_(m.buffer_size) {
    workspace_.fill(0xff);
    for (std::size_t i = 0; i < m.tensors.size(); ++i) {
      const bool own = m.tensors[i].role != emit::Role::intermediate;
      const auto bytes = static_cast<std::int64_t>(storage[i].size());
      owned_.emplace_back(own ? bytes + guard_bytes : 0);
      owned_.back().fill(0xff);
      if (own) owned_.back().upload(storage[i].data(), bytes);
    }
  }
  std::uint64_t address(std::size_t i) const {
    const emit::TensorPlace& t = manifest_.tensors[i];
    return t.role == emit::Role::intermediate ? workspace_.address() + static_cast<std::uint64_t>(t.offset)
                                              : owned_[i].address();
  }
  void fetch(std::size_t i, Bytes& into) const {
    const emit::TensorPlace& t = manifest_.tensors[i];
    const auto bytes = static_cast<std::int64_t>(into.size());
    if (t.role == emit::Role::intermediate) return workspace_.download(into.data(), bytes, t.offset);
    owned_[i].download(into.data(), bytes);
    Bytes guard(guard_bytes);
    owned_[i].download(guard.data(), guard_bytes, bytes);
    if (std::any_of(guard.begin(), guard.end(), [](std::byte b) { return b != std::byte{0xff}; })) {
      fault("tensor {}: a kernel wrote past its end, within {} bytes of it", t.name, guard_bytes);
    }
  }

 private:
  const emit::Manifest& manifest_;
  DeviceBytes workspace_;
  std::vector<DeviceBytes> owned_;
};

void poison_shared_memory(Stream& stream, std::int64_t bytes) {
  bytes = std::max<std::int64_t>(bytes, 48 * 1024);
  const Module module(poison_ptx);
  const Function poison = module.function("poison", bytes);
  // More blocks than multiprocessors, each too large to share one with many others.
  stream.launch(poison, {1024, 1, 1}, {256, 1, 1}, bytes, {{static_cast<std::uint64_t>(bytes)}});
  stream.wait();
}

std::vector<double> sample(Stream& stream, const std::vector<Launch>& program) {
  auto once = [&] {
    for (const Launch& l : program) {
      stream.launch(l.function, l.kernel->grid, l.kernel->block, l.kernel->shared_bytes, l.arguments,
                    l.kernel->cluster);
    }
  };
  for (int i = 0; i < warm_up; ++i) once();
  stream.wait();
  // The stream is held while a batch is queued, so that no launch waits for the host.
  const int batch = std::clamp(400 / (static_cast<int>(program.size()) + 2), 1, 50);
  std::vector<double> us;
  while (static_cast<int>(us.size()) < launches) {
    const int n = std::min(batch, launches - static_cast<int>(us.size()));
    std::vector<Event> before(static_cast<std::size_t>(n)), after(static_cast<std::size_t>(n));
    Gate gate(stream);
    for (int i = 0; i < n; ++i) {
      before[i].record(stream);
      once();
      after[i].record(stream);
    }
    gate.open();
    stream.wait();
    for (int i = 0; i < n; ++i) us.push_back(1e3 * after[i].ms_since(before[i]));
  }
  return us;
}

}  // namespace

GpuRun run_on_gpu(const emit::Manifest& m, const Cubin& cubin, std::vector<Bytes>& storage, bool time) {
  require_target(m.target);
  check(m);
  GpuRun result;
  const auto start = std::chrono::steady_clock::now();
  const Module module(cubin.bytes);
  const Memory memory(m, storage);
  Stream stream;
  std::vector<Launch> all;
  std::int64_t most_shared = 0;
  for (const emit::KernelLaunch& k : m.kernels) {
    Launch l{module.function(k.name, k.shared_bytes), &k, {}};
    for (std::size_t i = 0; i < k.tensors.size(); ++i) {
      const auto t = static_cast<std::size_t>(k.tensors[i]);
      Argument& argument = l.arguments.emplace_back(Argument{memory.address(t)});
      if (const auto map = k.maps.find(static_cast<int>(i)); map != k.maps.end())
        argument.map = make_tma_descriptor(tma_tensor(map->second, m.tensors[t].name),
                                           reinterpret_cast<const void*>(argument.address));
    }
    result.kernels.push_back({k.name, l.function.registers, l.function.local_bytes});
    most_shared = std::max(most_shared, k.shared_bytes + l.function.static_shared_bytes);
    all.push_back(std::move(l));
  }
  for (const Launch& l : all) {
    poison_shared_memory(stream, most_shared);
    stream.launch(l.function, l.kernel->grid, l.kernel->block, l.kernel->shared_bytes, l.arguments,
                  l.kernel->cluster);
    stream.wait();
    for (std::size_t i = 0; i < l.kernel->tensors.size(); ++i) {
      const auto t = static_cast<std::size_t>(l.kernel->tensors[i]);
      if (l.kernel->writes[i]) memory.fetch(t, storage[t]);
    }
  }
  for (std::size_t t = 0; t < storage.size(); ++t)
    if (m.tensors[t].memory >= 0) storage[t] = storage[static_cast<std::size_t>(m.tensors[t].memory)];
  result.run_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (time) result.samples_us = sample(stream, all);
  return result;
}

}  // namespace zellige::run
