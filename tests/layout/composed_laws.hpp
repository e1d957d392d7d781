// The laws of operations on composed layouts, by brute force: after swizzles and after layouts, with offsets,
// composed twice, with static and with run-time numbers.
#pragma once
#include <algorithm>
#include <set>

#include "random_composed.hpp"
#include "tape_values.hpp"

namespace zellige::test {

using Arguments = std::vector<Value>;
/// An operation as a program or as the compiler does it; LayoutError where it is refused.
using Api = Value (*)(Op, Arguments const&);

inline Value at_run_time(Op op, Arguments const& args) {
  Tape t;
  Values v;
  for (Value const& a : args) v.push_back(a);
  Value const r = apply(op, t, v);
  if (t.failed()) throw LayoutError("refused", t.refusal());
  return r;
}
/// Run-time leaves are the inputs of a tape; what is computed from them and checked comes later.
inline Value at_compile_time(Op op, Arguments const& args) {
  std::vector<long long> inputs;
  Values v;
  for (Value const& a : args) v.push_back(with_inputs(a, inputs));
  Tape t(int(inputs.size()));
  Value const r = apply(op, t, v);
  if (t.failed()) throw LayoutError("refused", t.refusal());
  Computed const c = compute_all(t, inputs, r);
  if (c.caught) throw LayoutError("caught", {});
  return c.result;
}

inline bool distinct(std::vector<long long> const& v) {
  return std::set<long long>(v.begin(), v.end()).size() == v.size();
}
inline std::set<long long> set_of(std::vector<long long> const& v) { return {v.begin(), v.end()}; }
inline Value tuple_of(Random& random, std::initializer_list<long long> numbers) {
  Value v = empty(ValueKind::tuple);
  for (long long n : numbers) v.add(number(random.number(n)));
  return v;
}
inline bool all_known(Value const& v) {
  return std::all_of(v.nodes.begin(), v.nodes.end(),
                     [](ValueNode const& n) { return n.kids >= 0 || (n.s.is_static() && n.d.is_static()); });
}

/// One case of a law: a composed layout and the API on which it is tried.
struct Case {
  Random& random;
  Api run;
  std::string& what;
  Op op;
  Value& drawn;  // whose law it is

  Value draw(Kinds kinds = {}) const {
    Value const c = RandomComposed(random, kinds).composed();
    what = to_text(c);
    return drawn = c;
  }
  Value call(Arguments const& args) const {
    what.clear();
    for (Value const& a : args) what += (what.empty() ? "" : "; ") + to_text(a);
    Value const r = run(op, args);
    what += " = " + to_text(r);
    return r;
  }
};
using Law = bool (*)(Case const&);

/// The operation's result on the inner, uncomposed layout, under the same outer parts.
inline bool done_within(Case const& x, Value const& c, Arguments rest) {
  Arguments composed = {c}, unswizzled = {Value(within(c))};
  composed.insert(composed.end(), rest.begin(), rest.end());
  unswizzled.insert(unswizzled.end(), rest.begin(), rest.end());
  Value const r = x.call(composed);
  return elements(r) == elements(around(c, at_run_time(x.op, unswizzled)));
}
inline bool keeps_values(Case const& x) {
  Value const c = x.draw();
  return elements(x.call({c})) == elements(c);
}
inline bool asks_within(Case const& x) {
  Value const c = x.draw();
  return to_text(x.call({c})) == to_text(x.run(x.op, {Value(within(c))}));
}
inline bool divides(Case const& x) {
  Value const c = x.draw({.compact = true});
  long long const n = x.random.pick({1, 2, 3, 4, 6});
  bool const by_mode = x.op == Op::tiled_divide || x.op == Op::flat_divide || x.random.below(2);
  Value const tile =
      by_mode ? bundle(ValueKind::tuple, number(x.random.number(n))) : mode(x.random.number(n), {fixed(1)});
  Value const r = x.call({c, tile});
  std::vector<long long> const whole = elements(c), parts = elements(r);
  Value const definition = around(c, at_run_time(x.op, {Value(within(c)), tile}));
  std::set<long long> const all = set_of(parts);
  return parts == elements(definition) &&
         std::all_of(whole.begin(), whole.end(), [&](long long v) { return all.count(v) == 1; });
}
inline bool multiplies(Case const& x) {
  Value const c = x.draw({.nested = false, .compact = true});
  std::vector<long long> const block = elements(c);
  require(distinct(block));
  bool const sides = x.op == Op::blocked_product || x.op == Op::raked_product;
  Value times = mode(x.random.number(x.random.pick({1, 2, 3, 4})), {fixed(1)});
  if (sides || x.random.below(2)) times = Value(RandomComposed(x.random, {.compact = true}).layout(2));
  Value const r = x.call({c, times});
  std::vector<long long> const v = elements(r);
  bool const first = sides || std::equal(block.begin(), block.end(), v.begin());
  std::set<long long> const all = set_of(v);
  return v.size() == block.size() * std::size_t(count(times)) && distinct(v) && first &&
         std::all_of(block.begin(), block.end(), [&](long long i) { return all.count(i) == 1; });
}
inline bool fills_a_shape(Case const& x) {
  Value const c = x.draw({.nested = false, .compact = true});
  std::vector<long long> const block = elements(c);
  require(distinct(block));
  View const l = within(c);
  Value shape = empty(ValueKind::tuple);
  for (int m = 0; m < l.rank(); ++m) shape.add(number(count(l[m]) * x.random.pick({1, 2, 3})));
  Value const r = x.call({c, shape});
  std::vector<long long> const v = elements(r);
  long long size = 1;
  for (int m = 0; m < l.rank(); ++m) size *= shape[m].root().s.v;
  std::set<long long> const all = set_of(v);
  return count(r) == size && distinct(v) &&
         std::all_of(block.begin(), block.end(), [&](long long i) { return all.count(i) == 1; });
}
/// The same number of elements from the first on are consecutive in both, at coordinates of both. Only runs
/// longer than one count.
inline bool runs_in_common(Case const& x) {
  RandomComposed any(x.random, {.compact = true});
  Value a = any.composed(), b = any.layout();
  if (x.random.below(2)) std::swap(a, b);
  if (x.random.below(3) == 0) b = any.composed();
  if (x.random.below(2)) b = Value(within(a));
  require(count(a) == count(b));
  x.drawn = a.is(ValueKind::composed) ? a : b;
  Value const r = x.call({a, b});
  Value common = r;
  if (x.op == Op::max_common_vector) {
    common = x.run(Op::max_common_layout, {a, b});
    if (r.root().s.v != count(common)) return false;
  }
  std::vector<long long> const v = elements(common);
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i] < 0 || v[i] >= count(a) || v[i] >= count(b)) return false;
    if (element(a, v[i]) != element(a, 0) + (long long)i) return false;
    if (element(b, v[i]) != element(b, 0) + (long long)i) return false;
  }
  require(v.size() > 1);
  return true;
}
/// Its elements fall into whole aligned runs.
inline bool is_made_of_aligned_runs(Case const& x) {
  Value const c = x.draw({.run_time = x.random.below(2) != 0, .compact = true});
  Value const r = x.call({c});
  long long const n = r.root().s.v;
  std::set<long long> const all = set_of(elements(c));
  // Run-time strides are taken for multiples of the run.
  require(all_known(Value(within(c))) && n > 1);
  for (long long v : all) {
    for (long long k = 0; k < n; ++k) {
      if (all.count(v - v % n + k) == 0) return false;
    }
  }
  return true;
}
inline std::set<long long> in_larger(std::set<long long> const& v, long long n) {
  std::set<long long> r;
  for (long long i : v) r.insert(i / n);
  return r;
}
inline std::set<long long> in_smaller(std::set<long long> const& v, long long n) {
  std::set<long long> r;
  for (long long i : v) {
    for (long long k = 0; k < n; ++k) r.insert(i * n + k);
  }
  return r;
}
inline bool casts(Case const& x) {
  Value const c = x.draw({.compact = true});
  require(all_known(Value(within(c))) || x.op == Op::downcast);  // run-time strides are taken for multiples
  long long const n = x.random.pick({2, 4, 8});
  Value const r = x.call({c, number(n)});
  std::set<long long> const was = set_of(elements(c)), is = set_of(elements(r));
  require(was.size() > 1);
  return is == (x.op == Op::upcast ? in_larger(was, n) : in_smaller(was, n));
}
inline bool recasts(Case const& x) {
  Value const c = x.draw({.run_time = false, .compact = true});
  long long const from = x.random.pick({8, 16, 32}), to = x.random.pick({8, 16, 32});
  Value const r = x.call({c, number(from), number(to)});
  std::set<long long> const was = set_of(elements(c)), is = set_of(elements(r));
  require(was.size() > 1);
  return is == (from < to ? in_larger(was, to / from) : in_smaller(was, from / to));
}
/// A coordinate with marks, the extents of the modes, and where each kept element is in the whole.
struct Cut {
  Value crd = empty(ValueKind::tuple);
  std::vector<long long> places;
  Cut(Random& random, View l) {
    require(!l.is_leaf() && l.rank() > 1);
    places = {0};
    long long step = 1;
    for (int m = 0; m < l.rank(); ++m) {
      long long const extent = count(l[m]);
      if (random.below(2)) {
        crd.add(underscore());
        std::vector<long long> more;
        for (long long i = 0; i < extent; ++i) {
          for (long long p : places) more.push_back(p + i * step);
        }
        places = more;
      } else {
        long long const at = random.below(int(extent));
        crd.add(number(random.number(at)));
        for (long long& p : places) p += at * step;
      }
      step *= extent;
    }
  }
};
inline bool cuts(Case const& x) {
  Value const c = x.draw();
  Cut const cut(x.random, within(c));
  bool const offset = x.op == Op::slice_and_offset, first = x.op != Op::layout_call;
  Value part = first ? x.call({cut.crd, c}) : x.call({c, cut.crd});
  Value const both = offset ? part : x.run(Op::slice_and_offset, {cut.crd, c});
  if (offset) part = both[0];
  if (part.is_number()) return cut.places.size() == 1 && part.root().s.v == element(c, cut.places[0]);
  std::vector<long long> const v = elements(part);
  if (v.size() != cut.places.size()) return false;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i] + both[1].root().s.v != element(c, cut.places[i])) return false;
  }
  return true;
}
inline bool calls(Case const& x) {
  Value const c = x.draw();
  if (x.random.below(3) == 0) return cuts(x);
  long long const i = x.random.below(int(count(c)));
  return x.call({c, number(x.random.number(i))}).root().s.v == element(c, i);
}
inline Value unswizzled_layout(Case const& x) { return RandomComposed(x.random, {}).layout(2); }
inline bool composes(Case const& x) {
  RandomComposed any(x.random, {});
  int const which = x.random.below(5);
  Value a = any.composed(), b = any.composed();
  if (which == 0) a = any.layout();
  if (which == 1) a = any.swizzle();
  if (which == 2) b = any.layout(2);
  if (which == 3) b = number(x.random.number(x.random.pick({1, 2, 3, 4, 6})));
  x.drawn = a.is(ValueKind::composed) ? a : b;
  Value const r = x.call({a, b});
  if (which == 3) {
    for (long long i = 0; i < b.root().s.v; ++i) {
      if (element(r, i) != element(a, i)) return false;
    }
    return count(r) == b.root().s.v;
  }
  for (long long i = 0, n = count(b); i < n; ++i) {
    if (element(r, i) != element(a, element(b, i))) return false;
  }
  return count(r) == count(b);
}

}  // namespace zellige::test
