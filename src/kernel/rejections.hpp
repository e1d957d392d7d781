// Collects the verifier's messages about plans that a search dropped because the verifier rejected them, and
// formats these messages for the user. Rejected (graph/error.hpp) is the exception that the verifier throws for
// such a plan; it is a fault of Zellige, not of the graph.
//
//   catch (const Rejected& plan) { drop(plan, rejected); }   // the search goes on with its other plans
//   told(rejected)                                           // one line for stderr, if another plan was found
//   told(plan)                                               // one line for stderr, if `plan` was the only plan
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "graph/error.hpp"

namespace zellige::kernel {

/// The verifier's messages, without duplicates, in order of occurrence.
using Rejections = std::vector<std::string>;

/// Whether a search stops at a rejected plan instead of continuing with others: true in builds with assertions.
#ifdef NDEBUG
constexpr bool stops_at_rejections = false;
#else
constexpr bool stops_at_rejections = true;
#endif

/// Appends the verifier's message `sentence` to the list `to`, unless the list has this message already.
inline void add(Rejections& to, const std::string& sentence) {
  if (std::ranges::find(to, sentence) == to.end()) to.push_back(sentence);
}
/// Appends all messages of `from` to the list `to`, except those that the list has already.
inline void add(Rejections& to, const Rejections& from) {
  for (const std::string& sentence : from) add(to, sentence);
}

/// Adds the verifier's message about a rejected plan to the list `kept`, so that the search can go on without
/// the plan. If `stops` is true, throws the exception `plan` again instead.
inline void drop(const Rejected& plan, Rejections& kept, bool stops = stops_at_rejections) {
  if (stops) throw Rejected(plan);
  add(kept, plan.what());
}

/// Returns one line for stderr about the rejected plans of a search that found another plan. `all` must not be empty.
inline std::string told(const Rejections& all) {
  const std::string more = all.size() > 1 ? fmt::format(" (and {} more)", all.size() - 1) : "";
  return fmt::format("{} of Zellige's own plans rejected by the proof and dropped, the result is of another plan: {}{}",
                     all.size(), all.at(0), more);
}
/// Returns one line for stderr about the rejection of `plan`, for a compilation that has no other plan.
inline std::string told(const Rejected& plan) {
  return fmt::format("Zellige's own plan is wrong, rejected by the proof: {}", plan.what());
}

}  // namespace zellige::kernel
