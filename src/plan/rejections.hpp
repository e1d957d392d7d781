// Records the plans that a search dropped because the verifier rejected them, and formats them for the
// user. Rejected (graph/error.hpp) is thrown for such a plan; it is a fault of Zellige, not of the graph.
//
//   catch (const Rejected& plan) { drop(plan, rejected); }   // the search goes on with its other plans
//   told(rejected)                                           // one line, for stderr
//   told(plan)                                               // if it was the only plan
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "graph/error.hpp"

namespace zellige::plan {

/// The verifier's messages, without duplicates, in order of occurrence.
using Rejections = std::vector<std::string>;

/// Whether a search stops at a rejected plan instead of continuing with others: true in builds with
/// assertions.
#ifdef NDEBUG
constexpr bool stops_at_rejections = false;
#else
constexpr bool stops_at_rejections = true;
#endif

/// Appends the message, or all messages of `from`, unless they are present already.
inline void add(Rejections& to, const std::string& sentence) {
  if (std::ranges::find(to, sentence) == to.end()) to.push_back(sentence);
}
inline void add(Rejections& to, const Rejections& from) {
  for (const std::string& sentence : from) add(to, sentence);
}

/// Adds the message of a rejected plan to `kept`, so that the search can go on without the plan. Throws the
/// plan's Rejected if `stops`.
inline void drop(const Rejected& plan, Rejections& kept, bool stops = stops_at_rejections) {
  if (stops) throw Rejected(plan);
  add(kept, plan.what());
}

/// Returns one line for stderr about the rejected plans of a search that found another plan. Requires at
/// least one.
inline std::string told(const Rejections& all) {
  const std::string more = all.size() > 1 ? fmt::format(" (and {} more)", all.size() - 1) : "";
  return fmt::format(
      "{} of Zellige's own plans rejected by the proof and dropped, the result is of another plan: {}{}",
      all.size(), all.at(0), more);
}
/// Returns one line for stderr about the rejection of the only plan.
inline std::string told(const Rejected& plan) {
  return fmt::format("Zellige's own plan is wrong, rejected by the proof: {}", plan.what());
}

}  // namespace zellige::plan
