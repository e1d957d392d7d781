#include "ranks/symmetric_memory.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "graph/error.hpp"
#include "ranks/job.hpp"
#include "run/driver.hpp"
#include "run/driver_table.hpp"

namespace zellige::ranks {
namespace {

using run::check, run::device, run::Driver, run::driver;

/// CUmemLocation, CUmemAllocationProp and CUmemAccessDesc.
struct MemoryLocation {
  int type = 1, device = 0;  // CU_MEM_LOCATION_TYPE_DEVICE
};
struct AllocationProperties {
  int type = 1, handles = 1;  // pinned; POSIX file descriptors
  MemoryLocation location{};
  void* windows = nullptr;
  unsigned char flags[8] = {};
};
static_assert(sizeof(AllocationProperties) == 32);
struct MemoryAccess {
  MemoryLocation location{};
  int flags = 3;  // reads and writes
};

/// The driver's functions of virtual memory.
struct VirtualMemory {
  const Driver& d = driver();
  int (*granularity)(std::size_t*, const AllocationProperties*, int) = d.library.find("cuMemGetAllocationGranularity");
  int (*create)(std::uint64_t*, std::size_t, const AllocationProperties*,
                unsigned long long) = d.library.find("cuMemCreate");
  int (*release)(std::uint64_t) = d.library.find("cuMemRelease");
  int (*reserve)(std::uint64_t*, std::size_t, std::size_t, std::uint64_t,
                 unsigned long long) = d.library.find("cuMemAddressReserve");
  int (*unreserve)(std::uint64_t, std::size_t) = d.library.find("cuMemAddressFree");
  int (*map)(std::uint64_t, std::size_t, std::size_t, std::uint64_t, unsigned long long) = d.library.find("cuMemMap");
  int (*unmap)(std::uint64_t, std::size_t) = d.library.find("cuMemUnmap");
  int (*allow)(std::uint64_t, std::size_t, const MemoryAccess*, std::size_t) = d.library.find("cuMemSetAccess");
  int (*to_descriptor)(int*, std::uint64_t, int, unsigned long long) = d.library.find("cuMemExportToShareableHandle");
  int (*of_descriptor)(std::uint64_t*, void*, int) = d.library.find("cuMemImportFromShareableHandle");
  bool there() const {
    return granularity && create && release && reserve && unreserve && map && unmap && allow && to_descriptor &&
           of_descriptor;
  }
};
const VirtualMemory& virtual_memory() {
  static const VirtualMemory table;
  return table;
}

constexpr int by_descriptor = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

AllocationProperties on_this_gpu() {
  AllocationProperties p;
  p.location.device = device().index;
  return p;
}

/// A file descriptor that is closed when destroyed.
struct FileDescriptor {
  int number = -1;
  explicit FileDescriptor(int n) : number(n) {}
  FileDescriptor(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number >= 0) close(number);
  }
};

/// Returns the address of the socket of a rank, in the host's abstract names. `job` tells jobs from each other.
std::pair<sockaddr_un, socklen_t> socket_of(const std::string& job, int rank) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("zellige.{}.{}", job, rank);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

/// One message: a rank's number, with a file descriptor.
struct DescriptorMessage {
  int rank = 0;
  iovec part{&rank, sizeof rank};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};

  DescriptorMessage() {
    header.msg_iov = &part, header.msg_iovlen = 1;
    header.msg_control = control, header.msg_controllen = sizeof control;
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
};

void send_descriptor(int socket, const std::string& job, int to, int rank, int descriptor) {
  DescriptorMessage m;
  m.rank = rank;
  auto [address, length] = socket_of(job, to);
  m.header.msg_name = &address, m.header.msg_namelen = length;
  cmsghdr* c = CMSG_FIRSTHDR(&m.header);
  c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
  if (sendmsg(socket, &m.header, 0) < 0)
    fail("rank {}: its memory cannot be passed to rank {}: {}", rank, to, std::strerror(errno));
}

/// Returns the rank that sent a descriptor, and the descriptor.
std::pair<int, int> receive_descriptor(int socket, int rank) {
  DescriptorMessage m;
  if (recvmsg(socket, &m.header, 0) < 0)
    fail("rank {}: another rank's memory did not come: {}", rank, std::strerror(errno));
  int descriptor = -1;
  if (const cmsghdr* c = CMSG_FIRSTHDR(&m.header)) std::memcpy(&descriptor, CMSG_DATA(c), sizeof descriptor);
  return {m.rank, descriptor};
}

/// Returns another number at each call, for names within this process.
int next_number() {
  static std::atomic<int> last = 0;
  return ++last;
}

std::string name_of_host() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

SymmetricMemory::SymmetricMemory(RankExchange ranks, std::int64_t bytes)
    : ranks_(std::move(ranks)),
      bytes_(static_cast<std::uint64_t>(bytes)),
      parts_(static_cast<std::size_t>(ranks_.ranks)) {
  std::string why;
  const auto agree = [&](const std::function<void()>& doing) {
    try {
      if (why.empty()) doing();
    } catch (const Error& e) {
      why = e.what();
    }
    constexpr std::size_t max_bytes = 240;
    const std::vector<std::string> all = ranks_.exchange(why.substr(0, max_bytes), max_bytes);
    for (const std::string& of_rank : all)
      if (why.empty()) why = of_rank;
    if (why.empty()) return;
    release();
    throw Error(why);
  };
  agree([&] {
    if (const char* off = std::getenv("ZELLIGE_SYMMETRIC"); off && std::string_view(off) == "off")
      fail("rank {}: ZELLIGE_SYMMETRIC is off", ranks_.rank);
    if (!virtual_memory().there()) fail("rank {}: this driver has no virtual memory", ranks_.rank);
  });
  const std::vector<std::string> hosts = ranks_.exchange(name_of_host().substr(0, 60), 60);
  agree([&] {
    for (std::size_t r = 1; r < hosts.size(); ++r)
      if (hosts[r] != hosts[0]) fail("ranks 0 and {} are on different hosts, {} and {}", r, hosts[0], hosts[r]);
  });
  agree([&] { allocate(); });
  agree([&] { exchange(); });
}

/// Allocates this rank's part, and sets it to 0.
void SymmetricMemory::allocate() {
  const VirtualMemory& v = virtual_memory();
  const AllocationProperties on = on_this_gpu();
  std::size_t unit = 0;
  check(v.granularity(&unit, &on, 0), "the granularity of memory");
  bytes_ = (std::max<std::uint64_t>(bytes_, 1) + unit - 1) / unit * unit;
  SymmetricPart& mine = parts_[static_cast<std::size_t>(ranks_.rank)];
  check(v.create(&mine.handle, bytes_, &on, 0), fmt::format("allocating {} bytes for all ranks", bytes_));
  map(mine);
  check(driver().memset8(mine.address, 0, bytes_), "filling device memory");
  check(driver().stream_wait(nullptr), "filling device memory");
}

/// Maps a part for this rank's GPU.
void SymmetricMemory::map(SymmetricPart& part) {
  const VirtualMemory& v = virtual_memory();
  const MemoryAccess access{.location = on_this_gpu().location};
  check(v.reserve(&part.address, bytes_, 0, 0, 0), "addresses for memory of another rank");
  check(v.map(part.address, bytes_, 0, part.handle, 0), "mapping memory of another rank");
  part.mapped = true;
  check(v.allow(part.address, bytes_, &access, 1), "access to the memory of another rank");
}

/// Passes the own part to all other ranks, and maps theirs.
void SymmetricMemory::exchange() {
  const VirtualMemory& v = virtual_memory();
  const int rank = ranks_.rank;
  // The name of rank 0's process tells this job from others of the host.
  const std::string job = ranks_.exchange(fmt::format("{}.{}", getpid(), next_number()), 40)[0];
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto [address, length] = socket_of(job, rank);
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(patience()).count();
  const timeval longest{.tv_sec = us / 1'000'000, .tv_usec = us % 1'000'000};
  std::string why;
  if (bind(socket.number, reinterpret_cast<const sockaddr*>(&address), length) != 0)
    why = fmt::format("rank {}: no socket to pass memory: {}", rank, std::strerror(errno));
  setsockopt(socket.number, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ranks_.exchange("", 1);  // all have bound theirs
  if (!why.empty()) fail("{}", why);
  int number = -1;
  check(v.to_descriptor(&number, parts_[static_cast<std::size_t>(rank)].handle, by_descriptor, 0),
        "passing memory to other ranks");
  const FileDescriptor mine(number);
  for (int r = 0; r < ranks_.ranks; ++r)
    if (r != rank) send_descriptor(socket.number, job, r, rank, mine.number);
  for (int i = 1; i < ranks_.ranks; ++i) {
    const auto [from, given] = receive_descriptor(socket.number, rank);
    const FileDescriptor theirs(given);
    SymmetricPart& part = parts_.at(static_cast<std::size_t>(from));
    check(v.of_descriptor(&part.handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(theirs.number)),
                          by_descriptor),
          fmt::format("memory of rank {}", from));
    map(part);
  }
}

void SymmetricMemory::release() noexcept {
  const VirtualMemory& v = virtual_memory();
  if (!v.there()) return;
  for (SymmetricPart& part : parts_) {
    if (part.mapped) v.unmap(part.address, bytes_);
    if (part.address) v.unreserve(part.address, bytes_);
    if (part.handle) v.release(part.handle);
  }
  parts_.clear();
}

}  // namespace zellige::ranks
