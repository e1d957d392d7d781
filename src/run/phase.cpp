#include "run/phase.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "graph/error.hpp"

namespace zellige::run {

struct ProcessPhases::Slot {
  std::atomic<unsigned> version;  // odd while `text` is being written
  char text[124];
};

ProcessPhases::ProcessPhases(int slots) : count_(slots) {
  void* memory = ::mmap(nullptr, sizeof(Slot) * static_cast<std::size_t>(slots), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("memory shared with a process: {}", std::strerror(errno));
  slots_ = static_cast<Slot*>(memory);  // all zero
}

ProcessPhases::~ProcessPhases() { ::munmap(slots_, sizeof(Slot) * static_cast<std::size_t>(count_)); }

void ProcessPhases::say(int slot, const std::string& text) {
  Slot& s = slots_[slot];
  s.version.fetch_add(1, std::memory_order_acq_rel);
  const std::size_t n = std::min(text.size(), sizeof s.text - 1);
  std::memcpy(s.text, text.data(), n);
  s.text[n] = 0;
  s.version.fetch_add(1, std::memory_order_release);
}

std::string ProcessPhases::at(int slot) const {
  const Slot& s = slots_[slot];
  for (int tries = 0; tries < 100; ++tries) {
    const unsigned before = s.version.load(std::memory_order_acquire);
    char text[sizeof s.text];
    std::memcpy(text, s.text, sizeof text);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && s.version.load(std::memory_order_relaxed) == before) return text;
  }
  return "";
}

}  // namespace zellige::run
