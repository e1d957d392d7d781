#include "explain/registers.hpp"

#include <algorithm>

#include "kernel/evaluated_layout.hpp"

namespace zellige::explain {
namespace {

RegisterAccount of_layout(const kernel::Context& c, std::string id) {
  const kernel::EvaluatedLayout layout(c);
  RegisterAccount a{.id = std::move(id),
                    .shape = graph::to_string(c.domain),
                    .instruction = c.row  ? c.row->name
                                   : c.of ? c.of->name
                                          : "",
                    .threads = c.threads(),
                    .values = static_cast<int>(c.values()),
                    .copies = c.holders()};
  const int rank = c.rank();
  a.rows = rank > 1 ? static_cast<int>(std::min<std::int64_t>(16, c.domain[rank - 2])) : 1;
  a.columns = rank > 0 ? static_cast<int>(std::min<std::int64_t>(32, c.domain[rank - 1])) : 1;
  a.thread.assign(static_cast<std::size_t>(a.rows) * static_cast<std::size_t>(a.columns), -1);
  a.value = a.thread;
  kernel::Shape at;
  for (int repeat = 0; repeat < layout.repeats(); ++repeat)
    for (int t = 0; t < layout.threads(); ++t)
      for (int v = 0; v < layout.values(); ++v) {
        layout.find(t, v, repeat, at);
        if (at.empty() || !kernel::inside(at, c.domain)) continue;
        if (std::any_of(at.begin(), at.end() - std::min(rank, 2), [](std::int64_t i) { return i != 0; })) continue;
        const std::int64_t r = rank > 1 ? at[rank - 2] : 0, column = at[rank - 1];
        if (r >= a.rows || column >= a.columns) continue;
        const std::size_t place = static_cast<std::size_t>(r * a.columns + column);
        if (a.thread[place] < 0) a.thread[place] = t, a.value[place] = repeat * layout.values() + v;
      }
  return a;
}

}  // namespace

std::vector<RegisterAccount> registers(const kernel::Kernel& k) {
  std::vector<RegisterAccount> all;
  for (std::size_t i = 0; i < k.rmem.size(); ++i) all.push_back(of_layout(k.rmem[i].layout, fmt::format("t{}", i)));
  return all;
}

}  // namespace zellige::explain
