#include "ir/words.hpp"

namespace zellige::ir {
namespace {

/// Adds one step of each alternative of the variant V.
template <class V, std::size_t... I>
void add(std::vector<kernel::Step>& all, std::index_sequence<I...>) {
  const auto one = [&](auto alternative) {
    if constexpr (!std::is_same_v<decltype(alternative), kernel::Sync>) all.push_back({.is = std::move(alternative)});
  };
  (one(std::variant_alternative_t<I, V>{}), ...);
}

}  // namespace

const std::vector<kernel::Step>& kinds_of_steps() {
  static const std::vector<kernel::Step> kinds = [] {
    std::vector<kernel::Step> all;
    using Is = decltype(kernel::Step::is);
    add<Is>(all, std::make_index_sequence<std::variant_size_v<Is>>());
    add<kernel::Sync>(all, std::make_index_sequence<std::variant_size_v<kernel::Sync>>());
    all.push_back({.is = kernel::Sync(kernel::Barrier{.waits = false})});
    return all;
  }();
  return kinds;
}

}  // namespace zellige::ir
