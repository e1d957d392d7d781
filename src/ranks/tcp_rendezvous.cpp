// Ranks that are processes: each has a connection to rank 0, which passes on what they gather. A connection ends with its
// process, so ranks learn of one that dies.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <thread>

#include "graph/error.hpp"
#include "ranks/rendezvous.hpp"

namespace zellige::ranks {
namespace {

using Deadline = std::chrono::steady_clock::time_point;
using Seconds = std::chrono::duration<double>;
Deadline after(Seconds time) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<Deadline::duration>(time);
}

int ms_until(Deadline end) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

/// A TCP connection, closed when destroyed.
class Connection {
 public:
  explicit Connection(int socket = -1) : socket_(socket) {
    const int on = 1;
    if (socket >= 0) setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  Connection(Connection&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Connection& operator=(Connection&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~Connection() {
    if (socket_ >= 0) close(socket_);
  }
  int socket() const { return socket_; }
  bool open() const { return socket_ >= 0; }

  /// Reads or writes `bytes` bytes. Returns false if the other process ends, or the time does.
  bool read(void* to, std::size_t bytes, Deadline end) const {
    for (auto* at = static_cast<char*>(to); bytes > 0;) {
      if (!ready(POLLIN, end)) return false;
      const ssize_t n = recv(socket_, at, bytes, MSG_DONTWAIT);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (n > 0) at += n, bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }
  bool write(const void* from, std::size_t bytes, Deadline end) const {
    for (const auto* at = static_cast<const char*>(from); bytes > 0;) {
      if (!ready(POLLOUT, end)) return false;
      const ssize_t n = send(socket_, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (n > 0) at += n, bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }
  /// Returns the next byte without reading it; 0 if none has come; nullopt if the other process has ended.
  std::optional<char> next() const {
    char byte = 0;
    const ssize_t n = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n > 0) return byte;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? std::optional<char>('\0') : std::nullopt;
  }

 private:
  bool ready(short what, Deadline end) const {
    pollfd p{.fd = socket_, .events = what};
    while (true) {
      const int n = poll(&p, 1, ms_until(end));
      if (n > 0) return true;
      if (n == 0 || errno != EINTR) return false;
    }
  }
  int socket_;
};

/// What a message is: bytes, a failure in words, or the last one.
enum class Frame : char { bytes = 'b', failure = 'f', end = 'e' };

bool send_frame(const Connection& to, Frame kind, std::string_view bytes, Deadline end) {
  std::string all(1 + sizeof(std::uint64_t), static_cast<char>(kind));
  const std::uint64_t size = bytes.size();
  std::memcpy(all.data() + 1, &size, sizeof size);
  all += bytes;
  return to.write(all.data(), all.size(), end);
}

/// Returns the kind of the next message and its bytes; nullopt if none comes.
std::optional<std::pair<Frame, std::string>> receive_frame(const Connection& from, Deadline end) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 36;
  char kind = 0;
  std::uint64_t size = 0;
  if (!from.read(&kind, 1, end) || !from.read(&size, sizeof size, end) || size > longest) return std::nullopt;
  std::string bytes(size, '\0');
  if (!from.read(bytes.data(), size, end)) return std::nullopt;
  return std::pair(static_cast<Frame>(kind), std::move(bytes));
}

/// What a process says first.
struct Hello {
  char magic[8] = {'z', 'e', 'l', 'l', 'i', 'g', 'e', '1'};
  std::int32_t rank = 0, ranks = 0;
};

bool is_loopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

/// The addresses of a host, by getaddrinfo.
using HostAddresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;
HostAddresses addresses(const char* host, int port, int family, int flags) {
  addrinfo hints{.ai_flags = flags, .ai_family = family, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int status = getaddrinfo(host, std::to_string(port).c_str(), &hints, &found);
  if (status != 0) fail("MASTER_ADDR: {}: {}", host ? host : "this host", gai_strerror(status));
  return {found, freeaddrinfo};
}

/// Returns a socket that listens at the port: on this host's loopback alone, if the job's address is that.
Connection listening(const RankedProcess& job) {
  constexpr auto longest = std::chrono::seconds(5);  // a process of the job before may still have the port
  const Deadline end = after(std::min<Seconds>(longest, patience()));
  const int port = job.port + 1, on = 1;
  const bool local = is_loopback(job.address);
  const HostAddresses at =
      addresses(local ? job.address.c_str() : nullptr, port, local ? AF_UNSPEC : AF_INET, AI_PASSIVE);
  int error = 0;
  do {
    for (const addrinfo* a = at.get(); a; a = a->ai_next) {
      Connection c(socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (!c.open()) continue;
      setsockopt(c.socket(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      if (bind(c.socket(), a->ai_addr, a->ai_addrlen) == 0 && listen(c.socket(), job.ranks) == 0) return c;
      error = errno;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (ms_until(end) > 0);
  fail("rank 0 of {}: the port {} of {}, where ranks connect: {}; MASTER_PORT sets another", job.ranks, port,
       job.address, std::strerror(error));
}

/// Returns whether a connection has reached its own end, as one to a port of this host may while nobody listens there.
bool is_own(const Connection& c) {
  sockaddr_storage mine{}, theirs{};
  socklen_t size = sizeof mine, other = sizeof theirs;
  return getsockname(c.socket(), reinterpret_cast<sockaddr*>(&mine), &size) == 0 &&
         getpeername(c.socket(), reinterpret_cast<sockaddr*>(&theirs), &other) == 0 && size == other &&
         std::memcmp(&mine, &theirs, size) == 0;
}

/// Returns a connection to rank 0; none if it does not come in time.
Connection connected(const RankedProcess& job, Deadline end) {
  const HostAddresses at = addresses(job.address.c_str(), job.port + 1, AF_UNSPEC, 0);
  while (true) {
    for (const addrinfo* a = at.get(); a; a = a->ai_next) {
      Connection c(socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (c.open() && connect(c.socket(), a->ai_addr, a->ai_addrlen) == 0 && !is_own(c)) return c;
    }
    if (ms_until(end) == 0) return Connection();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

constexpr auto extra = std::chrono::seconds(5);  // for which others wait longer than rank 0, which tells them why

/// Rank 0.
class RootRendezvous final : public Rendezvous {
 public:
  explicit RootRendezvous(const RankedProcess& job)
      : Rendezvous(0, job.ranks), others_(static_cast<std::size_t>(job.ranks)) {
    if (job.ranks == 1) return;
    const Connection at = listening(job);
    const Deadline end = after(patience());
    while (!missing().empty()) {
      pollfd p{.fd = at.socket(), .events = POLLIN};
      if (poll(&p, 1, ms_until(end)) == 0)
        give_up(fmt::format("{} did not come to {}:{} within {} s; ZELLIGE_RANKS_TIMEOUT sets the seconds",
                            ranks_in_words(missing()), job.address, job.port + 1, patience().count()));
      admit(Connection(accept4(at.socket(), nullptr, nullptr, SOCK_CLOEXEC)));
    }
    tell(Frame::bytes, "");
  }
  ~RootRendezvous() override {
    if (std::uncaught_exceptions() == 0) tell(Frame::end, "");
  }

  std::string gather(std::string_view mine) override {
    require_all();
    std::string all(mine);
    const Deadline end = after(patience());
    std::vector<int> timed_out;
    for (std::size_t r = 1; r < others_.size(); ++r) {
      const auto frame = receive_frame(others_[r], end);
      if (!frame && others_[r].next()) {
        timed_out.push_back(static_cast<int>(r));
        continue;
      }
      if (!frame || frame->first != Frame::bytes) give_up(fmt::format("rank {} has ended", r));
      if (frame->second.size() != mine.size())
        give_up(fmt::format("rank {} gives {} bytes, and rank 0 {}; all ranks must run the same", r,
                            frame->second.size(), mine.size()));
      all += frame->second;
    }
    if (!timed_out.empty()) give_up_waiting_for(timed_out);
    tell(Frame::bytes, all);
    return all;
  }

  std::string lost() override {
    for (std::size_t r = 1; r < others_.size() && why_.empty(); ++r)
      if (!others_[r].next()) {
        why_ = fmt::format("rank {} has ended", r);
        tell(Frame::failure, why_);
      }
    return why_;
  }

 private:
  std::vector<int> missing() const {
    std::vector<int> who;
    for (int r = 1; r < ranks(); ++r)
      if (!others_[static_cast<std::size_t>(r)].open()) who.push_back(r);
    return who;
  }
  /// Takes a process into the job, if it is one of its ranks. Anything else that connects is left.
  void admit(Connection c) {
    constexpr auto longest = std::chrono::seconds(2);
    Hello hello;
    if (!c.open() || !c.read(&hello, sizeof hello, after(longest))) return;
    if (std::memcmp(hello.magic, Hello().magic, sizeof hello.magic) != 0) return;
    if (hello.ranks != ranks() || hello.rank < 1 || hello.rank >= ranks()) {
      send_frame(c, Frame::failure, fmt::format("rank 0 is of a job of {} ranks", ranks()), after(longest));
      return;
    }
    Connection& place = others_[static_cast<std::size_t>(hello.rank)];
    if (place.open()) {
      send_frame(c, Frame::failure, fmt::format("another process is rank {}", hello.rank), after(longest));
      return;
    }
    place = std::move(c);
  }
  void tell(Frame kind, std::string_view bytes) const {
    for (const Connection& other : others_)
      if (other.open()) send_frame(other, kind, bytes, after(patience()));
  }
  void require_all() const {
    if (!why_.empty()) fail("rank 0 of {}: {}", ranks(), why_);
  }
  /// Ends all ranks with the sentence.
  [[noreturn]] void give_up(const std::string& why) {
    why_ = why;
    tell(Frame::failure, why);
    fail("rank 0 of {}: {}", ranks(), why);
  }

  /// Ends all ranks. Those that are late get a sentence of their own: they know best that they are there.
  [[noreturn]] void give_up_waiting_for(const std::vector<int>& timed_out) {
    const std::string how_long = fmt::format("within {} s; ZELLIGE_RANKS_TIMEOUT sets the seconds", patience().count());
    why_ = fmt::format("{} did not come {}", ranks_in_words(timed_out), how_long);
    for (int r = 1; r < ranks(); ++r) {
      const std::string why = std::ranges::find(timed_out, r) == timed_out.end()
                                  ? why_
                                  : fmt::format("the others waited for this rank, which did not come {}", how_long);
      send_frame(others_[static_cast<std::size_t>(r)], Frame::failure, why, after(patience()));
    }
    fail("rank 0 of {}: {}", ranks(), why_);
  }

  std::vector<Connection> others_;  // by rank
  std::string why_;                 // why no more can be gathered
};

/// Any other rank.
class MemberRendezvous final : public Rendezvous {
 public:
  explicit MemberRendezvous(const RankedProcess& job) : Rendezvous(job.rank, job.ranks) {
    const Deadline end = after(patience());
    root_ = connected(job, end);
    Hello hello{.rank = job.rank, .ranks = job.ranks};
    if (!root_.open() || !root_.write(&hello, sizeof hello, end))
      fail("rank {} of {}: rank 0 did not come to {}:{} within {} s; ZELLIGE_RANKS_TIMEOUT sets the seconds", rank(),
           ranks(), job.address, job.port + 1, patience().count());
    await();
  }
  ~MemberRendezvous() override {
    if (std::uncaught_exceptions() == 0) send_frame(root_, Frame::end, "", after(extra));
  }

  std::string gather(std::string_view mine) override {
    // Whether rank 0 has ended, or why it does not want the bytes, says what comes next.
    send_frame(root_, Frame::bytes, mine, after(patience()));
    return await();
  }

  std::string lost() override {
    if (!why_.empty()) return why_;
    const std::optional<char> next = root_.next();
    if (!next)
      why_ = "rank 0 has ended";
    else if (*next == static_cast<char>(Frame::failure))
      why_ = receive_frame(root_, after(extra)).value_or(std::pair(Frame::failure, "rank 0 has ended")).second;
    return why_;
  }

 private:
  /// Returns what rank 0 sends next.
  std::string await() {
    const Deadline end = after(patience() + extra);
    const auto frame = receive_frame(root_, end);
    if (!frame && root_.next())
      fail("rank {} of {}: rank 0 did not come within {} s; ZELLIGE_RANKS_TIMEOUT sets the seconds", rank(), ranks(),
           patience().count());
    if (!frame || frame->first == Frame::end)
      why_ = "rank 0 has ended";
    else if (frame->first == Frame::failure)
      why_ = frame->second;
    if (!why_.empty()) fail("rank {} of {}: {}", rank(), ranks(), why_);
    return frame->second;
  }

  Connection root_;
  std::string why_;
};

}  // namespace

std::shared_ptr<Rendezvous> rendezvous(const RankedProcess& job) {
  if (job.rank == 0) return std::make_shared<RootRendezvous>(job);
  return std::make_shared<MemberRendezvous>(job);
}

}  // namespace zellige::ranks
