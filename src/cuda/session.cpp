#include "cuda/session.hpp"

#include <pthread.h>

#include <algorithm>
#include <memory>

#include "emulate/findings.hpp"

namespace zellige::cuda {

thread_local bool inside_kernel = false;

namespace {

std::unique_ptr<Session> the_session;

// Returns the ends of the running thread's stack.
std::pair<std::uintptr_t, std::uintptr_t> stack_of_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  return {reinterpret_cast<std::uintptr_t>(low), reinterpret_cast<std::uintptr_t>(low) + bytes};
}

}  // namespace

Session& session() { return *the_session; }
void begin_session(const EmulationOptions& options) { the_session = std::make_unique<Session>(options); }

void Session::declare(Declaration* first) {
  for (Declaration* d = first; d; d = d->next) {
    if (d->kind != MemoryKind::shared)
      memory.adopt(*d);
    else
      shared.push_back(d);
  }
  std::reverse(shared.begin(), shared.end());
  static_bytes = shared_gap;
  for (Declaration* d : shared) {
    const std::size_t alignment = std::max<std::size_t>(d->alignment, 16);
    static_bytes = (static_bytes + alignment - 1) / alignment * alignment;
    d->offset = unsigned(static_bytes);
    static_bytes += d->bytes + shared_gap;
  }
  static_bytes = (static_bytes + 1023) / 1024 * 1024;  // dynamic shared memory begins where swizzles do
}

void Session::report_host(const std::string& kind, emulate::Site site, const std::string& message) {
  const auto [low, high] = stack_of_thread();
  const std::vector<std::uintptr_t> calls = emulate::callers(site, low, high);
  const std::string line = emulate::spell(emulate::find_lines(calls), calls, files);
  ProgramFinding f{kind, "", "", {line}};
  f.message = kind + ": " + message;
  if (const std::size_t at = f.message.find('\1'); at != f.message.npos) f.message.replace(at, 1, line);
  report.add(std::move(f));
}

const Host& host_table() {
  static const Host table = [] {
    Host all{};
    add_memory_calls(all);
    add_access_calls(all);
    add_kernel_calls(all);
    add_launch_calls(all);
    add_blas_calls(all);
    return all;
  }();
  return table;
}

}  // namespace zellige::cuda
