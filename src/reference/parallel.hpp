// Runs a loop in parallel on the machine's cores.
#pragma once
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace zellige::reference {

/// Returns the number of cores that this process may use, by its affinity mask (which containers and taskset narrow).
inline int hardware_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// Returns the bytes of memory that this machine has.
inline double machine_memory() {
  return static_cast<double>(::sysconf(_SC_PAGESIZE)) * static_cast<double>(::sysconf(_SC_PHYS_PAGES));
}

/// Calls body(index, worker) for every index below `count`, on up to `threads` threads; `worker`: the thread's number.
/// If a call throws, indices that have not started are skipped, and the first exception is rethrown.
template <class Body>
void parallel_for(std::int64_t count, int threads, const Body& body) {
  threads = static_cast<int>(std::min<std::int64_t>(threads, count));
  if (threads <= 1) {
    for (std::int64_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::exception_ptr error;
  std::mutex guard;
  const auto work = [&](int worker) {
    try {
      for (std::int64_t i; (i = next.fetch_add(1)) < count;) body(i, worker);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!error) error = std::current_exception();
      next.store(count);
    }
  };
  std::vector<std::thread> others;
  others.reserve(threads);
  try {
    for (int w = 1; w < threads; ++w) others.emplace_back(work, w);
  } catch (const std::system_error&) {  // no more threads are available: use those that exist
  }
  work(0);
  for (std::thread& t : others) t.join();
  if (error) std::rethrow_exception(error);
}

/// Calls body(index) for every index below `count`, on all cores. If a call throws, the indices that have not
/// started are skipped, and the first exception is rethrown.
template <class Body>
void on_all_cores(std::size_t count, const Body& body) {
  parallel_for(static_cast<std::int64_t>(count), hardware_threads(),
               [&](std::int64_t i, int) { body(static_cast<std::size_t>(i)); });
}

}  // namespace zellige::reference
