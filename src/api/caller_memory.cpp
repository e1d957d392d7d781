#include "api/caller_memory.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "graph/error.hpp"

namespace zellige::api {
namespace {

constexpr std::uintptr_t page = 4096;  // size of a page in bytes, or a divisor of it

/// Returns whether the 8 aligned bytes around an address are readable. Calls rt_sigprocmask, which reads a signal mask
/// from these bytes; the operation passed is invalid, so that the mask has no effect. Unlike process_vm_readv,
/// rt_sigprocmask uses the process's own page tables, so that a driver's pinned memory counts as readable.
bool can_read(std::uintptr_t at) {
  constexpr int no_operation = -1;
  const std::uintptr_t around = std::max<std::uintptr_t>(at & ~std::uintptr_t(7), 8);  // 0 would mean no set
  return syscall(SYS_rt_sigprocmask, no_operation, around, nullptr, 8) == 0 || errno != EFAULT;
}

/// Returns whether the 4 aligned bytes around an address are writable, by a futex call: the kernel atomically
/// ORs 0 into these bytes, and wakes no waiter.
bool can_write(std::uintptr_t at) {
  int none = 0;
  return syscall(SYS_futex, &none, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, at & ~std::uintptr_t(3),
                 FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_LT, -2048)) >= 0 ||
         errno != EFAULT;
}

/// Calls can(address) for `from` and for the start of each further page of the `bytes` bytes at `from`.
/// Returns the first address for which can() is false, or nullopt if it is true for all. Returns `from` if
/// the bytes exceed the address space.
template <class Can>
std::optional<std::uintptr_t> first_without(const void* from, std::size_t bytes, Can can) {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  if (bytes == 0) return std::nullopt;
  if (bytes - 1 > UINTPTR_MAX - begin) return begin;  // beyond the end of the address space
  const std::uintptr_t last = begin + (bytes - 1);
  for (std::uintptr_t at = begin;; at = (at / page + 1) * page) {
    if (!can(at)) return at;
    if (at / page == last / page) return std::nullopt;
  }
}

}  // namespace

std::optional<std::uintptr_t> unreadable(const void* at, std::size_t bytes) {
  return first_without(at, bytes, can_read);
}
std::optional<std::uintptr_t> unwritable(const void* at, std::size_t bytes) {
  return first_without(at, bytes, can_write);
}

std::optional<std::uintptr_t> ReadablePages::unreadable(const void* at, std::size_t bytes) {
  return first_without(at, bytes, [&](std::uintptr_t byte) {
    const std::uintptr_t mine = byte / page;
    if (std::ranges::find(pages_, mine) != pages_.end() && mine != 0) return true;
    if (!can_read(byte)) return false;
    pages_[next_++ % pages_.size()] = mine;
    return true;
  });
}

std::string text_at(const char* text, std::string_view parameter) {
  if (!text) fail("{}: expected a string, found NULL", parameter);
  std::string whole;
  for (const char* at = text;;) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    if (!can_read(address))
      fail("{}: expected a string that ends in zero, found memory at {:#x} that cannot be read", parameter, address);
    const std::size_t left = page - address % page, length = strnlen(at, left);
    whole.append(at, length);
    if (length < left) return whole;
    at += left;
  }
}

namespace detail {

void check_address(const void* at, std::size_t alignment, std::string_view parameter) {
  if (!at) fail("{}: expected an address, found NULL", parameter);
  if (reinterpret_cast<std::uintptr_t>(at) % alignment)
    fail("{}: expected an address that is a multiple of {}, found {}", parameter, alignment, at);
}
void check_readable(ReadablePages& known, const void* at, std::size_t count, std::size_t size,
                    std::string_view parameter) {
  const std::size_t bytes = count > SIZE_MAX / size ? SIZE_MAX : count * size;
  if (const auto bad = known.unreadable(at, bytes))
    fail("{}: expected {} bytes that can be read, found memory at {:#x} that cannot", parameter, bytes, *bad);
}
void check_writable(const void* at, std::size_t bytes, std::string_view parameter) {
  if (const auto bad = unwritable(at, bytes))
    fail("{}: expected {} bytes that can be written, found memory at {:#x} that cannot", parameter, bytes, *bad);
}
std::size_t shared_size(std::size_t given, std::size_t size, std::string_view parameter, std::string_view type) {
  if (given < sizeof given) fail("{}, size: expected sizeof({}), which is {}, found {}", parameter, type, size, given);
  return std::min(given, size);
}

}  // namespace detail
}  // namespace zellige::api
