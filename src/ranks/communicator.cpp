#include "ranks/communicator.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "emit/manifest.hpp"
#include "graph/error.hpp"
#include "ranks/nccl.hpp"
#include "run/driver_table.hpp"

namespace zellige::ranks {
namespace {

using run::device, run::DeviceBytes, run::driver, run::Stream, run::use_device;
using std::chrono::steady_clock;

/// Returns the number in an environment variable; nullopt if it is not set. Throws Error for anything but a number.
std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return std::nullopt;
  char* end = nullptr;
  const long n = std::strtol(text, &end, 10);
  if (*end || n < 0 || n > 1 << 20) fail("{}: expected a number of at least 0, found {}", variable, text);
  return static_cast<int>(n);
}

/// Returns the first of these variables that is set.
std::optional<int> first_of(std::initializer_list<const char*> variables) {
  for (const char* variable : variables)
    if (const std::optional<int> n = number_in(variable)) return n;
  return std::nullopt;
}

/// Waits for a function in a thread of its own, since NCCL's waits for ever for a rank that does not come. Returns its
/// result; nullopt if it takes too long. The thread then goes on.
std::optional<int> in_time(std::function<int()> f) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<int> result;
  };
  auto shared = std::make_shared<Shared>();
  std::thread([shared, f = std::move(f)] {
    const int result = f();
    const std::lock_guard lock(shared->mutex);
    shared->result = result;
    shared->done.notify_all();
  }).detach();
  std::unique_lock lock(shared->mutex);
  shared->done.wait_for(lock, patience(), [&] { return shared->result.has_value(); });
  return shared->result;
}

constexpr int nccl_sum = 0, nccl_max = 2;

}  // namespace

std::chrono::seconds patience() { return std::chrono::seconds(number_in("ZELLIGE_RANKS_TIMEOUT").value_or(120)); }

system::Library nccl_library() {
  if (const std::optional<system::Library> own = system::Library::named("ZELLIGE_NCCL")) return *own;
  return system::Library::open("NCCL", {"libnccl.so.2", "libnccl.so"});
}

const Nccl& nccl() {
  static const Nccl table;
  return table;
}

int nccl_type(graph::DType dtype) {
  switch (dtype) {
    case graph::DType::f16:
      return 6;
    case graph::DType::bf16:
      return 9;
    case graph::DType::f32:
      return 7;
    case graph::DType::int32:
      return 2;
    default:  // of one byte
      return 1;
  }
}

std::optional<RankedProcess> job_of_environment() {
  const std::optional<int> ranks = first_of({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  if (!ranks) return std::nullopt;
  const std::optional<int> rank = first_of({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"});
  if (!rank || *rank >= *ranks)
    fail("RANK: expected 0 to {}, of {} processes (WORLD_SIZE), found {}", *ranks - 1, *ranks,
         rank ? std::to_string(*rank) : "none");
  RankedProcess job{.rank = *rank, .ranks = *ranks};
  job.local_rank = first_of({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}).value_or(*rank);
  if (const char* address = std::getenv("MASTER_ADDR"); address && *address) job.address = address;
  // The port that MASTER_PORT names is taken by torchrun's own store.
  if (const std::optional<int> port = number_in("MASTER_PORT")) job.port = *port;
  return job;
}

RankedProcess require_job(const std::string& program, int ranks) {
  const std::optional<RankedProcess> job = job_of_environment();
  if (!job)
    fail(
        "{}: its graph is over {} ranks: expected {} processes, as torchrun and mpirun start them, found no "
        "WORLD_SIZE; give "
        "--on emulator to run all ranks in this one",
        program, ranks, ranks);
  if (job->ranks != ranks)
    fail("{}: its graph is over {} ranks, and the job has {} processes; give --ranks {} or start {}", program, ranks,
         job->ranks, job->ranks, ranks);
  return *job;
}

Communicator::Communicator(const RankedProcess& job) : own_(true), rank_(job.rank), ranks_(job.ranks) {
  const Nccl& n = nccl();
  device();
  // Rank 0 listens at this address, and NCCL makes every rank's id of it.
  setenv("NCCL_COMM_ID", fmt::format("{}:{}", job.address, job.port + 1).c_str(), 1);
  NcclId id;
  check(n.unique_id(&id), "meeting the other ranks");
  auto made = std::make_shared<void*>(nullptr);
  const int gpu = device().index;
  const std::optional<int> status = in_time([made, id, gpu, &n, ranks = ranks_, rank = rank_] {
    use_device(gpu);
    return n.init(made.get(), ranks, id, rank);
  });
  if (!status)
    fail("rank {} of {}: not all ranks came to {}:{} within {} s; ZELLIGE_RANKS_TIMEOUT sets the seconds", rank_,
         ranks_, job.address, job.port + 1, patience().count());
  check(*status, "meeting the other ranks");
  comm_ = *made;
}

Communicator::Communicator(void* comm) : comm_(comm) {
  check(nccl().count(comm, &ranks_), "reading the number of ranks");
  check(nccl().user_rank(comm, &rank_), "reading the rank");
}

Communicator::~Communicator() {
  if (own_ && comm_ && !gone_) nccl().destroy(comm_);
}

void Communicator::check(int status, const std::string& doing) const {
  if (status != 0) fail("rank {} of {}: NCCL: {}: {}", rank_, ranks_, doing, nccl().error_string(status));
}

void Communicator::give_up(const std::string& why) {
  gone_ = true;
  if (own_) nccl().abort(comm_);
  fail("{}", why);
}

std::vector<std::string> Communicator::exchange(std::string_view text, std::size_t max_bytes) {
  std::string mine(text);
  mine.resize(max_bytes);  // with zeros, which end the text
  const auto bytes = static_cast<std::int64_t>(max_bytes);
  DeviceBytes from(bytes), to(bytes * ranks_);
  from.upload(mine.data(), bytes);
  const Stream stream;
  check(nccl().all_gather(reinterpret_cast<const void*>(from.address()), reinterpret_cast<void*>(to.address()),
                          max_bytes, nccl_type(graph::DType::int8), comm_, stream.handle()),
        "comparing the ranks");
  wait(stream, "the comparison of what ranks run");
  std::string all(max_bytes * static_cast<std::size_t>(ranks_), ' ');
  to.download(all.data(), bytes * ranks_);
  std::vector<std::string> texts;
  for (int r = 0; r < ranks_; ++r) {
    const std::string of_rank = all.substr(static_cast<std::size_t>(r) * max_bytes, max_bytes);
    texts.push_back(of_rank.substr(0, of_rank.find('\0')));
  }
  return texts;
}

void Communicator::require_same(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string mine;  // 32 characters per fact
  for (const auto& [name, value] : facts) mine += emit::hash(value);
  const std::vector<std::string> all = exchange(mine, mine.size());
  for (std::size_t r = 1; r < all.size(); ++r)
    for (std::size_t f = 0; f < facts.size(); ++f)
      if (all[r].compare(32 * f, 32, all[0], 32 * f, 32) != 0)
        fail("rank {} of {}: the {} of rank {} is not that of rank 0; all ranks must run the same", rank_, ranks_,
             facts[f].first, r);
}

void Communicator::enqueue(const graph::KernelOp& op, const RankBuffers& b, void* stream) {
  const Nccl& n = nccl();
  const auto* from = reinterpret_cast<const char*>(b.from);
  auto* to = reinterpret_cast<char*>(b.to);
  const int type = nccl_type(b.dtype);
  const auto elements = static_cast<std::size_t>(b.elements), part = elements / static_cast<std::size_t>(ranks_);
  const auto part_bytes = static_cast<std::size_t>(graph::bytes_of(b.elements / ranks_, b.dtype));
  const auto status = [&] {
    switch (op.kind) {
      case graph::OpKind::all_reduce:
        return n.all_reduce(from, to, elements, type, nccl_sum, comm_, stream);
      case graph::OpKind::all_reduce_max:
        return n.all_reduce(from, to, elements, type, nccl_max, comm_, stream);
      case graph::OpKind::all_gather:
        return n.all_gather(from, to, elements, type, comm_, stream);
      case graph::OpKind::reduce_scatter:
        return n.reduce_scatter(from, to, part, type, nccl_sum, comm_, stream);
      case graph::OpKind::broadcast:
        return n.broadcast(from, to, elements, type, static_cast<int>(op.attributes.start), comm_, stream);
      default:
        break;
    }
    int result = n.group_start();  // all_to_all
    for (int r = 0; r < ranks_ && result == 0; ++r) {
      result = n.send(from + r * part_bytes, part, type, r, comm_, stream);
      if (result == 0) result = n.receive(to + r * part_bytes, part, type, r, comm_, stream);
    }
    const int end = n.group_end();
    return result ? result : end;
  }();
  check(status, std::string(graph::name(op.kind)));
}

void Communicator::wait(const Stream& stream, const std::string& program) {
  constexpr int not_ready = 600;  // CUDA_ERROR_NOT_READY
  const auto end = steady_clock::now() + patience();
  for (int status; (status = driver().stream_query ? driver().stream_query(stream.handle()) : 0) != 0;) {
    if (status != not_ready) run::check(status, fmt::format("{}, rank {}", program, rank_));
    int error = 0;
    nccl().async_error(comm_, &error);
    if (error != 0)
      give_up(fmt::format("{}: rank {} of {}: NCCL: {}; another rank may have ended", program, rank_, ranks_,
                          nccl().error_string(error)));
    if (steady_clock::now() > end)
      give_up(fmt::format(
          "{}: rank {} of {}: no end within {} s: another rank may have ended; ZELLIGE_RANKS_TIMEOUT sets the "
          "seconds",
          program, rank_, ranks_, patience().count()));
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  run::check(driver().stream_wait(stream.handle()), fmt::format("{}, rank {}", program, rank_));
}

}  // namespace zellige::ranks
