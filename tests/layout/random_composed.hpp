// Random composed layouts, and their elements computed independently of the library.
#pragma once
#include <string>

#include "law.hpp"

namespace zellige::test {

/// The element of a layout, composed or not, at its i-th coordinate: mode by mode, from the definition.
inline long long element(View l, long long i) {
  if (l.is(ValueKind::swizzle)) {
    long long const bits = l.root().s.v, base = l.root().d.v, shift = l.root().e;
    for (long long b = 0; b < bits; ++b) {
      long long const reads = base + b + std::max(shift, 0LL), flips = base + b + std::max(-shift, 0LL);
      if ((i >> reads & 1) != 0) i ^= 1LL << flips;  // what decides is not among what is flipped
    }
    return i;
  }
  if (l.is(ValueKind::composed)) return element(l[0], l[1].root().s.v + element(l[2], i));
  std::vector<ValueNode> leaves;
  for (ValueNode const& n : l) {
    if (n.kids < 0) leaves.push_back(n);
  }
  long long sum = 0;
  for (std::size_t m = 0; m < leaves.size(); ++m) {
    bool const last = m + 1 == leaves.size();
    sum += (last ? i : i % leaves[m].s.v) * leaves[m].d.v;
    if (!last) i /= leaves[m].s.v;
  }
  return sum;
}
inline View within(View l) {
  while (l.is(ValueKind::composed)) l = l[2];
  return l;
}
inline long long count(View l) {
  long long n = 1;
  for (ValueNode const& m : within(l)) n *= m.kids < 0 ? m.s.v : 1;
  return n;
}
inline std::vector<long long> elements(View l) {
  std::vector<long long> v;
  for (long long i = 0, n = count(l); i < n; ++i) v.push_back(element(l, i));
  return v;
}
/// The composed layout with another one within.
inline Value around(View c, View l) {
  if (!c.is(ValueKind::composed)) return l;
  return bundle(ValueKind::composed, c[0], c[1], around(c[2], l));
}

/// The kinds of random composed layouts.
struct Kinds {
  bool run_time = true;  // numbers known at run time only
  bool layout_left = true;
  bool offsets = true;
  bool nested = true;
  bool compact = false;  // each layout
};

class RandomComposed {
 public:
  RandomComposed(Random& random, Kinds kinds) : random_(random), kinds_(kinds) {}

  Value layout(int max_modes = 3) { return number_of(random_.layout(max_modes, kinds_.compact || random_.below(2))); }
  Value swizzle() {
    int const bits = random_.below(4), shift = bits + random_.below(3);
    return swizzle_value(bits, random_.below(4), random_.below(4) == 0 ? -shift : shift);
  }
  Value composed() {
    Value c = around_one(layout());
    if (!kinds_.nested || random_.below(3) != 0) return c;
    if (random_.below(2)) return around_one(c);
    return bundle(ValueKind::composed, around_one(left()), offset(), layout());
  }

 private:
  Value left() { return kinds_.layout_left && random_.below(2) ? layout() : swizzle(); }
  Value offset() {
    if (!kinds_.offsets || random_.below(2)) return zellige::number(0);
    long long const n = random_.pick({0, 1, 2, 3, 4, 5, 8, 16, 24});
    return zellige::number(kinds_.run_time ? random_.number(n) : fixed(n));
  }
  Value around_one(Value const& l) { return bundle(ValueKind::composed, left(), offset(), l); }
  Value number_of(Value l) {
    bool const known = !kinds_.run_time || random_.below(2);
    for (ValueNode& n : l.nodes) {
      if (known) n.s = fixed(n.s.v), n.d = fixed(n.d.v);
    }
    return l;
  }
  Random& random_;
  Kinds kinds_;
};

}  // namespace zellige::test
