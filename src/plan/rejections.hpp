// Plans that a search dropped because the verifier rejects them (Rejected in graph/error.hpp), and how they
// are reported to users.
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

/// The verifier's messages, without duplicates, in order.
using Rejections = std::vector<std::string>;

/// Whether a search stops at a rejected plan: it does in builds with assertions.
#ifdef NDEBUG
constexpr bool stops_at_rejections = false;
#else
constexpr bool stops_at_rejections = true;
#endif

inline void add(Rejections& to, const std::string& sentence) {
  if (std::ranges::find(to, sentence) == to.end()) to.push_back(sentence);
}
inline void add(Rejections& to, const Rejections& from) {
  for (const std::string& sentence : from) add(to, sentence);
}

/// Records the message of a plan that a search drops; rethrows it if searches stop at rejections.
inline void drop(const Rejected& plan, Rejections& kept, bool stops = stops_at_rejections) {
  if (stops) throw Rejected(plan);
  add(kept, plan.what());
}

inline std::string told(const Rejections& all) {
  const std::string more = all.size() > 1 ? fmt::format(" (and {} more)", all.size() - 1) : "";
  return fmt::format(
      "{} of Zellige's own plans rejected by the proof and dropped, the result is of another plan: {}{}",
      all.size(), all.at(0), more);
}
inline std::string told(const Rejected& plan) {
  return fmt::format("Zellige's own plan is wrong, rejected by the proof: {}", plan.what());
}

}  // namespace zellige::plan
