// Random layouts, admissible and not, for the property tests.
#pragma once
#include <random>
#include <zellige/layout/runtime.hpp>

namespace zellige::test {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int n) { return int(engine_() % unsigned(n)); }
  long long pick(std::initializer_list<long long> from) { return from.begin()[below(int(from.size()))]; }
  Num number(long long n) { return below(2) ? fixed(n) : dynamic(n); }

  /// One mode or a few, nested now and then; strides of any kind, or compact in a random order.
  Value layout(int max_modes, bool compact) {
    int const modes = 1 + below(max_modes);
    std::vector<long long> extents, strides(std::size_t(modes), 1);
    for (int i = 0; i < modes; ++i) extents.push_back(pick({1, 2, 3, 4, 5, 6, 8, 12}));
    if (compact) {
      std::vector<int> order;
      for (int i = 0; i < modes; ++i) order.insert(order.begin() + below(int(order.size()) + 1), i);
      long long step = 1;
      for (int i : order) strides[std::size_t(i)] = step, step *= extents[std::size_t(i)];
    } else {
      for (long long& d : strides) d = pick({0, 1, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24});
    }
    Value l = empty(ValueKind::layout);
    for (std::size_t i = 0; i < extents.size(); ++i) l.add(mode(number(extents[i]), {number(strides[i])}));
    if (modes == 1 && below(2)) return l[0];
    if (modes > 2 && below(2)) {
      Tape t;
      return algebra::group(t, l, 0, 2);
    }
    return l;
  }

 private:
  std::mt19937 engine_;
};

inline std::vector<long long> values(Value const& l) {
  Indexer const at(l);
  std::vector<long long> v;
  for (long long i = 0, n = size(l); i < n; ++i) v.push_back(at(i));
  return v;
}

}  // namespace zellige::test
