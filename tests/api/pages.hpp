// Three pages of memory for tests: one writable, one read-only, and one unmapped.
#pragma once
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

class Pages {
 public:
  static constexpr std::size_t page = 4096;
  Pages()
      : first_(
            static_cast<char*>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(first_ + page, page, PROT_READ);
    mprotect(first_ + 2 * page, page, PROT_NONE);
  }
  ~Pages() { munmap(first_, 3 * page); }
  Pages(const Pages&) = delete;

  char* writable() const { return first_; }
  char* read_only() const { return first_ + page; }
  char* absent() const { return first_ + 2 * page; }

 private:
  char* first_;
};
