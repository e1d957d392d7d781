#include "ir/words.hpp"

namespace zellige::ir {
namespace {

/// Adds one step of each alternative of the variant V.
template <class V, std::size_t... I>
void add(std::vector<plan::Step>& all, std::index_sequence<I...>) {
  const auto one = [&](auto alternative) {
    if constexpr (!std::is_same_v<decltype(alternative), plan::Sync>) all.push_back({.is = std::move(alternative)});
  };
  (one(std::variant_alternative_t<I, V>{}), ...);
}

}  // namespace

const std::vector<plan::Step>& kinds_of_steps() {
  static const std::vector<plan::Step> kinds = [] {
    std::vector<plan::Step> all;
    using Is = decltype(plan::Step::is);
    add<Is>(all, std::make_index_sequence<std::variant_size_v<Is>>());
    add<plan::Sync>(all, std::make_index_sequence<std::variant_size_v<plan::Sync>>());
    all.push_back({.is = plan::Sync(plan::Barrier{.waits = false})});
    return all;
  }();
  return kinds;
}

}  // namespace zellige::ir
