#include "ranks/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "graph/error.hpp"
#include "ranks/nccl.hpp"
#include "run/driver_table.hpp"

namespace zellige::ranks {
namespace {

using run::device, run::DeviceBytes, run::driver, run::Stream, run::use_device;
using std::chrono::steady_clock;

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
  // Half of the time: the others wait in the rendezvous meanwhile.
  shared->done.wait_for(lock, patience() / 2, [&] { return shared->result.has_value(); });
  return shared->result;
}

constexpr int nccl_sum = 0, nccl_max = 2;
constexpr std::size_t message_bytes = 300;  // of a sentence that ranks pass to each other

/// Throws the first of the ranks' sentences that is not empty.
void require_none_of(const std::vector<std::string>& of_ranks) {
  for (const std::string& why : of_ranks)
    if (!why.empty()) fail("{}", why);
}

}  // namespace

system::Library nccl_library() {
  if (const std::optional<system::Library> own = system::Library::named("ZELLIGE_NCCL")) return *own;
  try {
    return system::Library::open("NCCL", {"libnccl.so.2", "libnccl.so"});
  } catch (const Error& e) {
    fail("{}; let ZELLIGE_NCCL name one", e.what());
  }
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
    case graph::DType::f64:
      return 8;
    default:  // of one byte
      return 1;
  }
}

Communicator::Communicator(std::shared_ptr<Rendezvous> rendezvous)
    : rendezvous_(std::move(rendezvous)), own_(true), rank_(rendezvous_->rank()), ranks_(rendezvous_->ranks()) {
  std::string missing;
  try {
    nccl(), device();
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {
    missing = e.what();
  }
  require_none_of(exchange(missing, message_bytes));
  // An address or a port that another program takes meanwhile makes NCCL fail, and another try succeed.
  std::string why = connect();
  if (!why.empty()) why = connect();
  if (!why.empty()) fail("{}", why);
}

std::string Communicator::connect() {
  const Nccl& n = nccl();
  NcclId id;
  const int made_id = rank_ == 0 ? n.unique_id(&id) : 0;
  const std::string all = rendezvous_->gather({id.bytes, sizeof id.bytes});
  std::copy_n(all.data(), sizeof id.bytes, id.bytes);
  auto made = std::make_shared<void*>(nullptr);
  const int gpu = device().index;
  std::optional<int> status = made_id;
  if (made_id == 0)
    status = in_time([made, id, gpu, &n, ranks = ranks_, rank = rank_] {
      use_device(gpu);
      return n.init(made.get(), ranks, id, rank);
    });
  std::string overdue, failed;
  if (!status)
    overdue =
        fmt::format("rank {} of {}: not all ranks came to NCCL within {} s; ZELLIGE_RANKS_TIMEOUT sets the seconds",
                    rank_, ranks_, patience().count() / 2.0);
  else if (*status != 0)
    failed = fmt::format("rank {} of {}: NCCL: meeting the other ranks: {}", rank_, ranks_, n.error_string(*status));
  const std::vector<std::string> failures = exchange(failed, message_bytes),
                                 all_overdue = exchange(overdue, message_bytes);
  if (std::ranges::any_of(all_overdue, [](const std::string& why) { return !why.empty(); })) {
    require_none_of(failures);  // the reason of the others
    require_none_of(all_overdue);
  }
  const auto first = std::ranges::find_if(failures, [](const std::string& why) { return !why.empty(); });
  if (first == failures.end())
    comm_ = *made;
  else if (*status == 0)
    n.abort(*made);
  return first == failures.end() ? std::string() : *first;
}

Communicator::Communicator(void* comm) : comm_(comm) {
  check(nccl().count(comm, &ranks_), "reading the number of ranks");
  check(nccl().user_rank(comm, &rank_), "reading the rank");
  rendezvous_ = rendezvous_by(rank_, ranks_, [this](std::string_view mine, char* all) {
    std::ranges::copy(gather(mine), all);
    return true;
  });
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
  std::string mine(text.substr(0, max_bytes));
  mine.resize(max_bytes);  // with zeros, which end the text
  const std::string all = rendezvous_->gather(mine);
  std::vector<std::string> texts;
  for (int r = 0; r < ranks_; ++r) {
    const std::string of_rank = all.substr(static_cast<std::size_t>(r) * max_bytes, max_bytes);
    texts.push_back(of_rank.substr(0, of_rank.find('\0')));
  }
  return texts;
}

std::string Communicator::gather(std::string_view mine) {
  const auto bytes = static_cast<std::int64_t>(mine.size());
  DeviceBytes from(bytes), to(bytes * ranks_);
  from.upload(mine.data(), bytes);
  const Stream stream;
  check(nccl().all_gather(reinterpret_cast<const void*>(from.address()), reinterpret_cast<void*>(to.address()),
                          mine.size(), nccl_type(graph::DType::int8), comm_, stream.handle()),
        "comparing the ranks");
  wait(stream.handle(), "the comparison of what ranks run");
  std::string all(mine.size() * static_cast<std::size_t>(ranks_), ' ');
  to.download(all.data(), bytes * ranks_);
  return all;
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

void Communicator::wait(void* stream, const std::string& program) {
  using Duration = steady_clock::duration;
  constexpr int not_ready = 600;  // CUDA_ERROR_NOT_READY
  const auto longest = std::chrono::duration_cast<Duration>(patience());
  // For work that a rank which has ended left done; how often the other ranks are looked for.
  const Duration grace = std::min<Duration>(std::chrono::seconds(3), longest / 40), look = std::chrono::milliseconds(2);
  const std::string who = fmt::format("{}: rank {} of {}", program, rank_, ranks_);
  auto end = steady_clock::now() + longest, next = steady_clock::now() + look;
  std::string lost;
  for (int status; (status = driver().stream_query ? driver().stream_query(stream) : 0) != 0;) {
    if (status != not_ready) run::check(status, fmt::format("{}, rank {}", program, rank_));
    int error = 0;
    nccl().async_error(comm_, &error);
    if (error != 0) {
      lost = rendezvous_->lost();
      give_up(fmt::format("{}: NCCL: {}; {}", who, nccl().error_string(error),
                          lost.empty() ? "another rank may have ended" : lost));
    }
    const auto now = steady_clock::now();
    if (lost.empty() && now > next) {
      next = now + look, lost = rendezvous_->lost();
      if (!lost.empty()) end = std::min(end, now + grace);
    }
    if (now > end && !lost.empty()) give_up(fmt::format("{}: its work does not end: {}", who, lost));
    if (now > end)
      give_up(fmt::format("{}: no end within {} s: another rank may have ended; ZELLIGE_RANKS_TIMEOUT sets the seconds",
                          who, patience().count()));
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  run::check(driver().stream_wait(stream), fmt::format("{}, rank {}", program, rank_));
}

}  // namespace zellige::ranks
