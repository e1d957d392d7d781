#include "ranks/rendezvous.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "graph/error.hpp"
#include "manifest/manifest.hpp"

namespace zellige::ranks {
namespace {

/// What the ranks of one process share.
struct Threads {
  explicit Threads(int ranks) : parts(static_cast<std::size_t>(ranks)), here(parts.size()), gone(parts.size()) {}
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> parts;
  std::vector<char> here;  // by rank: has come to this round
  std::vector<char> gone;  // by rank: is no more
  int arrived = 0;
  std::uint64_t round = 0;
  std::string all;  // the bytes of the round before
};

class ThreadRendezvous final : public Rendezvous {
 public:
  ThreadRendezvous(int rank, std::shared_ptr<Threads> all)
      : Rendezvous(rank, static_cast<int>(all->parts.size())), threads_(std::move(all)) {}
  ~ThreadRendezvous() override {
    const std::lock_guard lock(threads_->mutex);
    threads_->gone[index()] = 1;
    threads_->changed.notify_all();
  }

  std::string gather(std::string_view mine) override {
    Threads& t = *threads_;
    std::unique_lock lock(t.mutex);
    if (t.here[index()]) fail("rank {} of {}: two threads call it at once", rank(), ranks());
    t.parts[index()] = mine, t.here[index()] = 1;
    const std::uint64_t round = t.round;
    if (++t.arrived == ranks()) {
      t.all.clear();
      for (const std::string& part : t.parts) t.all += part;
      t.arrived = 0, ++t.round;
      std::ranges::fill(t.here, 0);
      t.changed.notify_all();
      return t.all;
    }
    const bool ended = t.changed.wait_for(lock, patience(), [&] { return t.round != round || !missing(true).empty(); });
    if (t.round != round) return t.all;
    const std::vector<int> who = missing(ended);
    --t.arrived, t.here[index()] = 0;
    if (ended)
      fail("rank {} of {}: {} {} ended", rank(), ranks(), ranks_in_words(who), who.size() == 1 ? "has" : "have");
    fail("rank {} of {}: {} did not come within {} s; ZELLIGE_RANKS_TIMEOUT sets the seconds", rank(), ranks(),
         ranks_in_words(who), patience().count());
  }

 private:
  std::size_t index() const { return static_cast<std::size_t>(rank()); }
  /// Returns the ranks that have not come to this round; of these, those that are gone.
  std::vector<int> missing(bool gone) const {
    std::vector<int> who;
    for (int r = 0; r < ranks(); ++r)
      if (const auto i = static_cast<std::size_t>(r); !threads_->here[i] && (!gone || threads_->gone[i]))
        who.push_back(r);
    return who;
  }

  std::shared_ptr<Threads> threads_;
};

class GivenRendezvous final : public Rendezvous {
 public:
  GivenRendezvous(int rank, int ranks, Gather gather) : Rendezvous(rank, ranks), gather_(std::move(gather)) {}
  std::string gather(std::string_view mine) override {
    std::string all(mine.size() * static_cast<std::size_t>(ranks()), '\0');
    if (!gather_(mine, all.data()))
      fail("rank {} of {}: the caller's function did not pass {} bytes to the other ranks", rank(), ranks(),
           mine.size());
    return all;
  }

 private:
  Gather gather_;
};

}  // namespace

std::vector<std::shared_ptr<Rendezvous>> rendezvous_of_threads(int ranks) {
  const auto threads = std::make_shared<Threads>(ranks);
  std::vector<std::shared_ptr<Rendezvous>> all;
  for (int r = 0; r < ranks; ++r) all.push_back(std::make_shared<ThreadRendezvous>(r, threads));
  return all;
}

std::shared_ptr<Rendezvous> rendezvous_by(int rank, int ranks, Gather gather) {
  return std::make_shared<GivenRendezvous>(rank, ranks, std::move(gather));
}

void require_same(Rendezvous& rendezvous, const RankFacts& facts) {
  constexpr std::size_t digits = 32;
  std::string mine;
  for (const auto& [name, value] : facts) mine += manifest::hash(value);
  const std::string all = rendezvous.gather(mine);
  for (std::size_t r = 1; r < static_cast<std::size_t>(rendezvous.ranks()); ++r)
    for (std::size_t f = 0; f < facts.size(); ++f)
      if (all.compare(r * mine.size() + digits * f, digits, all, digits * f, digits) != 0)
        fail("rank {} of {}: the {} of rank {} is not that of rank 0; all ranks must run the same", rendezvous.rank(),
             rendezvous.ranks(), facts[f].first, r);
}

std::string ranks_in_words(const std::vector<int>& who) {
  std::string words = who.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < who.size(); ++i)
    words += (i == 0 ? "" : i + 1 == who.size() ? " and " : ", ") + std::to_string(who[i]);
  return words;
}

}  // namespace zellige::ranks
