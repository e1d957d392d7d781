// The ranks of a job on the host: each passes all others bytes, before their GPUs exchange tensors.
//
//   const std::shared_ptr<Rendezvous> job = rendezvous(require_job("mlp", 4));  // with other processes, by TCP
//   job->gather("a")                                                   // "abcd", on every rank
//   rendezvous_of_threads(4)                                                 // one for each of 4 threads
//
// Nothing waits for ever: after patience() every rank ends with an Error, which names those that did not come.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ranks/job.hpp"

namespace zellige::ranks {

class Rendezvous {
 public:
  Rendezvous(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
  virtual ~Rendezvous() = default;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Returns the bytes of all ranks, one after another. All ranks must call it, with the same number. Throws Error if a rank
  /// does not come in time.
  virtual std::string gather(std::string_view mine) = 0;
  /// Returns why the ranks cannot go on together, as far as it is known: "rank 2 has ended". Returns "" if they can.
  virtual std::string lost() { return {}; }

 private:
  int rank_, ranks_;
};

/// Connects to the other processes of the job: rank 0 listens at the port after job.port. Throws Error if one does not come in time.
std::shared_ptr<Rendezvous> rendezvous(const RankedProcess&);

/// Returns the ranks of this process, for threads: one each.
std::vector<std::shared_ptr<Rendezvous>> rendezvous_of_threads(int ranks);

/// Copies the bytes of all ranks to `all`, in their order. Returns whether it could.
using Gather = std::function<bool(std::string_view mine, char* all)>;
/// Returns a rank whose bytes a function of the caller passes to the others, such as a process group of PyTorch or MPI.
std::shared_ptr<Rendezvous> rendezvous_by(int rank, int ranks, Gather);

/// What must be the same on all ranks: names and values.
using RankFacts = std::vector<std::pair<std::string, std::string>>;
/// Throws Error on every rank, with the fact's name and two ranks, unless the facts are the same on all.
void require_same(Rendezvous&, const RankFacts&);

/// Returns numbers as a sentence has them: "rank 2", "ranks 1, 2 and 5".
std::string ranks_in_words(const std::vector<int>&);

}  // namespace zellige::ranks
