#include "emit/kernel_text.hpp"

namespace zellige::emit {

Share KernelText::share(const char* type, const char* counter, const char* item, const Index& first,
                        std::int64_t total, std::int64_t workers, const char* unroll, std::int64_t scale,
                        bool guarded) {
  const std::int64_t trips = (total + workers - 1) / workers;
  const Counted loop = counted(counter, trips, type);
  const bool ragged = guarded && total % workers != 0;
  Share s{loop.at, (first + loop.at * workers) * scale, 0};
  const bool declared = !s.item.is_name() && !s.item.is_constant();
  if (trips > 1) out_.line("#pragma unroll{}", unroll);
  if (trips > 1 || declared || !ragged) out_.open("{}{{", loop.head), ++s.open;
  if (declared) {
    out_.line("const {} {} = {};", type, item, s.item);
    s.item = Index::named(item);
  }
  if (ragged) out_.open("if ({} < {}) {{", s.item, total * scale), ++s.open;
  return s;
}

void KernelText::close(const Share& s) {
  for (int i = 0; i < s.open; ++i) out_.close();
}

std::vector<Index> KernelText::coordinate(const char* type, const Index& item, const plan::Shape& extents,
                                          const std::vector<int>& order, int inner, int vector) {
  const std::int64_t total = graph::size(extents);
  std::vector<Index> at(extents.size());
  std::int64_t below = 1;
  for (int d : order) {
    const Index index =
        digit(item, below, extents[d], below * extents[d] == total) * (d == inner ? vector : 1);
    below *= extents[d];
    at[d] = index.is_constant() ? index : Index::named(fmt::format("i{}", d));
    if (!index.is_constant()) out_.line("const {} {} = {};", type, at[d], index);
  }
  return at;
}

std::vector<Index> KernelText::batch_coordinate(const Context& c) {
  plan::Shape batch = c.domain;
  const int rank = static_cast<int>(batch.size());
  batch[rank - 2] = batch[rank - 1] = 1;
  std::vector<int> order;
  for (int d = rank - 3; d >= 0; --d) order.push_back(d);
  return coordinate("int", Index::named("at.b"), batch, order);
}

}  // namespace zellige::emit
