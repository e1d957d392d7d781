// NCCL's functions over shared memory of processes of one machine. It replaces libnccl.so.2 where ranks are tested without
// GPUs: buffers are host memory (fake_cuda.cpp), work is done when it is enqueued, sums are of float32 in the order of ranks.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t slot = 1 << 20;
constexpr int max_ranks = 8;

/// What the processes share: a file, which begins as zeros.
struct Shared {
  std::atomic<int> arrived, round;
  char data[max_ranks][slot];
};

struct Comm {
  Shared* shared;
  int rank, ranks;
};
struct Exchange {
  Comm* comm = nullptr;
  std::vector<std::pair<void*, std::size_t>> received;  // by symmetric
};
thread_local Exchange group;

void barrier(const Comm& c) {
  const int round = c.shared->round;
  if (++c.shared->arrived == c.ranks) {
    c.shared->arrived = 0;
    ++c.shared->round;
  }
  while (c.shared->round == round) sched_yield();
}

std::size_t bytes_of(int type) {
  constexpr std::size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[type];
}

/// Shares `bytes` of this rank's operand, has `f` read those of all, and waits until all have.
template <class F>
int exchange(Comm* c, const void* from, std::size_t bytes, const F& f) {
  if (bytes > slot) return 4;
  std::memcpy(c->shared->data[c->rank], from, bytes);
  barrier(*c);
  f();
  barrier(*c);
  return 0;
}

/// Adds or compares elements [first, first + count) of all ranks.
template <class T>
void reduce(const Comm& c, void* to, std::size_t first, std::size_t count, int op) {
  for (std::size_t i = 0; i < count; ++i) {
    T all = reinterpret_cast<const T*>(c.shared->data[0])[first + i];
    for (int r = 1; r < c.ranks; ++r) {
      const T x = reinterpret_cast<const T*>(c.shared->data[r])[first + i];
      all = op == 0 ? all + x : std::max(all, x);
    }
    static_cast<T*>(to)[i] = all;
  }
}
int reduced(Comm* c, void* to, std::size_t first, std::size_t count, int type, int op) {
  if (type != 7 && type != 2) return 5;  // float32 and int32 alone
  type == 7 ? reduce<float>(*c, to, first, count, op) : reduce<std::int32_t>(*c, to, first, count, op);
  return 0;
}

}  // namespace

extern "C" {

struct Id {
  char bytes[128];
};

int ncclGetVersion(int* version) { return *version = 22809, 0; }
const char* ncclGetErrorString(int status) { return status == 6 ? "remote process exited" : "an error of the fake"; }
int ncclGetUniqueId(Id* id) { return std::memset(id, 0, sizeof *id), 0; }
/// With FAKE_NCCL_REFUSALS, that number of calls of the process fail at first.
int ncclCommInitRank(void** comm, int ranks, Id, int rank) {
  static std::atomic<int> calls = 0;
  if (const char* refusals = std::getenv("FAKE_NCCL_REFUSALS"); refusals && calls++ < std::atoi(refusals)) return 2;
  const int file = open(std::getenv("FAKE_NCCL_FILE"), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0 || ranks > max_ranks) return 2;
  void* at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  auto* c = new Comm{static_cast<Shared*>(at), rank, ranks};
  barrier(*c);
  return *comm = c, 0;
}
int ncclCommDestroy(void* comm) { return delete static_cast<Comm*>(comm), 0; }
int ncclCommAbort(void*) { return 0; }
int ncclCommCount(void* comm, int* count) { return *count = static_cast<Comm*>(comm)->ranks, 0; }
int ncclCommUserRank(void* comm, int* rank) { return *rank = static_cast<Comm*>(comm)->rank, 0; }
/// With FAKE_NCCL_ERROR, the status that it names.
int ncclCommGetAsyncError(void*, int* error) {
  const char* status = std::getenv("FAKE_NCCL_ERROR");
  return *error = status ? std::atoi(status) : 0, 0;
}
int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int op, void* comm, void*) {
  auto* c = static_cast<Comm*>(comm);
  std::vector<char> all(count * bytes_of(type));
  int status = 0;
  const int shared = exchange(c, from, all.size(), [&] { status = reduced(c, all.data(), 0, count, type, op); });
  std::memcpy(to, all.data(), all.size());
  return status ? status : shared;
}
int ncclAllGather(const void* from, void* to, std::size_t count, int type, void* comm, void*) {
  auto* c = static_cast<Comm*>(comm);
  const std::size_t bytes = count * bytes_of(type);
  return exchange(c, from, bytes, [&] {
    for (int r = 0; r < c->ranks; ++r) std::memcpy(static_cast<char*>(to) + r * bytes, c->shared->data[r], bytes);
  });
}
int ncclReduceScatter(const void* from, void* to, std::size_t count, int type, int op, void* comm, void*) {
  auto* c = static_cast<Comm*>(comm);
  int status = 0;
  const int shared = exchange(c, from, count * c->ranks * bytes_of(type),
                              [&] { status = reduced(c, to, c->rank * count, count, type, op); });
  return status ? status : shared;
}
int ncclBroadcast(const void* from, void* to, std::size_t count, int type, int root, void* comm, void*) {
  auto* c = static_cast<Comm*>(comm);
  return exchange(c, from, count * bytes_of(type),
                  [&] { std::memcpy(to, c->shared->data[root], count * bytes_of(type)); });
}
int ncclGroupStart() { return group = {}, 0; }
int ncclSend(const void* from, std::size_t count, int type, int to, void* comm, void*) {
  auto* c = static_cast<Comm*>(comm);
  const std::size_t bytes = count * bytes_of(type);
  if ((to + 1) * bytes > slot) return 4;
  return std::memcpy(c->shared->data[c->rank] + to * bytes, from, bytes), 0;
}
int ncclRecv(void* to, std::size_t count, int type, int, void* comm, void*) {
  group.comm = static_cast<Comm*>(comm);
  return group.received.emplace_back(to, count * bytes_of(type)), 0;
}
int ncclGroupEnd() {
  const Comm& c = *group.comm;
  barrier(c);
  for (std::size_t r = 0; r < group.received.size(); ++r) {
    const auto [to, bytes] = group.received[r];
    std::memcpy(to, c.shared->data[r] + c.rank * bytes, bytes);
  }
  barrier(c);
  return 0;
}
}
