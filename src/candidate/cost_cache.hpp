// Keeps the expected times of planned kernels, and why graphs have none.
//
//   CostCache known;
//   NoPlan why;
//   if (!tried(known, why, [&] { known.add(structure, us_of(graph)); })) raise(why);
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "graph/error.hpp"
#include "kernel/rejections.hpp"

namespace zellige::candidate {

/// Why a graph has no plan.
struct NoPlan {
  std::string why{};      // a sentence for the user
  bool rejected = false;  // the verifier rejected its plan
  bool exceeds = false;   // its plan needs more than the target has
};
/// Throws Rejected if the verifier rejected the plan, DoesNotFit if it needs too much, otherwise Error, with the reason as the message.
[[noreturn]] void raise(const NoPlan&);

/// Cache of the expected times of planned kernels, in microseconds. The key is the planned graph's structure,
/// without names (reference/structure.hpp), because layers repeat. Thread-safe.
class CostCache {
 public:
  /// Returns the time that an earlier run found for a structure, for example from a file; nullopt if it is
  /// not known. Must be thread-safe.
  using Before = std::function<std::optional<double>(const std::string& structure)>;
  explicit CostCache(Before before = {}) : before_(std::move(before)) {}

  /// Returns the time of a structure from this cache or, if it has none, from Before; nullopt if it is not known.
  std::optional<double> find(const std::string& structure) const;
  void add(const std::string& structure, double us);
  /// Returns the times added to this cache, by structure. Must not be called while another thread may add one.
  const std::map<std::string, double>& added() const { return added_; }
  /// Records the verifier's message about a plan that is not used. In debug builds throws Rejected, because
  /// no plan should be rejected.
  void drop(const Rejected&);
  /// Returns the verifier's messages that drop() has recorded, and clears them.
  kernel::Rejections take_rejected();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, double> added_;
  Before before_;
  kernel::Rejections rejected_;
};

/// Calls `work`, which plans something, and returns true. If that throws Error, sets `refusal` to the reason and
/// returns false; if the verifier has rejected the plan, also records its message in `known`. Throws the other faults.
template <class Work>
bool tried(CostCache& known, NoPlan& refusal, Work work) {
  try {
    bool exceeds = false;
    const std::optional<Error> why = refused([&] {
      try {
        work();
      } catch (const DoesNotFit&) {
        exceeds = true;
        throw;
      }
    });
    if (why) refusal = {why->what(), false, exceeds};
    return !why;
  } catch (const Rejected& e) {
    known.drop(e);
    refusal = {e.what(), true};
    return false;
  }
}

}  // namespace zellige::candidate
