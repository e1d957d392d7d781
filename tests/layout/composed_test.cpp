// Every operation on composed layouts, by brute force: behind swizzles and behind layouts, with offsets, composed twice,
// of static and of run-time numbers, as a program computes them and as the compiler does.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <zellige/layout/evaluate.hpp>

#include "random_composed.hpp"
#include "tape_values.hpp"

namespace zellige::test {
namespace {

using Arguments = std::vector<Value>;
/// An operation as a program or as the compiler does it; LayoutError where it is refused.
using Face = Value (*)(Op, Arguments const&);

Value at_run_time(Op op, Arguments const& args) {
  Tape t;
  Values v;
  for (Value const& a : args) v.push_back(a);
  Value const r = apply(op, t, v);
  if (t.failed()) throw LayoutError("refused", t.refusal());
  return r;
}
/// Run-time leaves are the inputs of a tape; what is computed from them and checked comes later.
Value at_compile_time(Op op, Arguments const& args) {
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

bool distinct(std::vector<long long> const& v) {
  return std::set<long long>(v.begin(), v.end()).size() == v.size();
}
std::set<long long> set_of(std::vector<long long> const& v) { return {v.begin(), v.end()}; }
Value tuple_of(Random& random, std::initializer_list<long long> numbers) {
  Value v = empty(ValueKind::tuple);
  for (long long n : numbers) v.add(number(random.number(n)));
  return v;
}
bool all_known(Value const& v) {
  return std::all_of(v.nodes.begin(), v.nodes.end(),
                     [](ValueNode const& n) { return n.kids >= 0 || (n.s.is_static() && n.d.is_static()); });
}

/// One case of a law: a composed layout and the face that it is tried on.
struct Case {
  Random& random;
  Face run;
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

/// The layout within, as the operation makes it of a plain layout, behind the same parts.
bool done_within(Case const& x, Value const& c, Arguments rest) {
  Arguments composed = {c}, plain = {Value(within(c))};
  composed.insert(composed.end(), rest.begin(), rest.end());
  plain.insert(plain.end(), rest.begin(), rest.end());
  Value const r = x.call(composed);
  return elements(r) == elements(around(c, at_run_time(x.op, plain)));
}
bool keeps_values(Case const& x) {
  Value const c = x.draw();
  return elements(x.call({c})) == elements(c);
}
bool asks_within(Case const& x) {
  Value const c = x.draw();
  return to_text(x.call({c})) == to_text(x.run(x.op, {Value(within(c))}));
}
bool divides(Case const& x) {
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
bool multiplies(Case const& x) {
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
bool fills_a_shape(Case const& x) {
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
/// As many elements from the first on are consecutive in both, at coordinates of both. Longer ones than one count.
bool runs_in_common(Case const& x) {
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
bool is_made_of_aligned_runs(Case const& x) {
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
std::set<long long> in_larger(std::set<long long> const& v, long long n) {
  std::set<long long> r;
  for (long long i : v) r.insert(i / n);
  return r;
}
std::set<long long> in_smaller(std::set<long long> const& v, long long n) {
  std::set<long long> r;
  for (long long i : v) {
    for (long long k = 0; k < n; ++k) r.insert(i * n + k);
  }
  return r;
}
bool casts(Case const& x) {
  Value const c = x.draw({.compact = true});
  require(all_known(Value(within(c))) || x.op == Op::downcast);  // run-time strides are taken for multiples
  long long const n = x.random.pick({2, 4, 8});
  Value const r = x.call({c, number(n)});
  std::set<long long> const was = set_of(elements(c)), is = set_of(elements(r));
  require(was.size() > 1);
  return is == (x.op == Op::upcast ? in_larger(was, n) : in_smaller(was, n));
}
bool recasts(Case const& x) {
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
bool cuts(Case const& x) {
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
bool calls(Case const& x) {
  Value const c = x.draw();
  if (x.random.below(3) == 0) return cuts(x);
  long long const i = x.random.below(int(count(c)));
  return x.call({c, number(x.random.number(i))}).root().s.v == element(c, i);
}
Value plain_layout(Case const& x) { return RandomComposed(x.random, {}).layout(2); }
bool composes(Case const& x) {
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

Law law_of(Op op) {
  switch (op) {
    case Op::coalesce:
    case Op::flatten:
      return keeps_values;
    case Op::size:
    case Op::rank:
    case Op::depth:
    case Op::shape:
      return asks_within;
    case Op::coalesce_profile:
      return [](Case const& x) {
        Value const c = x.draw();
        return elements(x.call({c, bundle(ValueKind::tuple, number(1))})) == elements(c);
      };
    case Op::unflatten:
      return [](Case const& x) {
        Value const c = x.draw();
        require(!within(c).is_leaf());
        Value const flat = around(c, flatten_value(within(c)));
        return elements(x.call({flat, shape_of(within(c))})) == elements(c);
      };
    case Op::with_shape:
      return [](Case const& x) {
        Value const c = x.draw({.compact = true});
        long long const n = count(c), a = x.random.pick({1, 2, 3, 4});
        require(n % a == 0);
        return elements(x.call({c, tuple_of(x.random, {a, n / a})})) == elements(c);
      };
    case Op::filter:
    case Op::filter_zeros:
      return [](Case const& x) {
        Value const c = x.draw();
        return set_of(elements(x.call({c}))) == set_of(elements(c));
      };
    case Op::filter_profile:
      return [](Case const& x) {
        Value const c = x.draw();
        return set_of(elements(x.call({c, bundle(ValueKind::tuple, number(1))}))) == set_of(elements(c));
      };
    case Op::filter_zeros_profile:
      return [](Case const& x) {
        Value const c = x.draw();
        Value profile = shape_of(within(c));
        for (ValueNode& n : profile.nodes) n.s = fixed(x.random.below(2));
        return done_within(x, c, {profile});
      };
    case Op::composition:
      return composes;
    case Op::complement1:
    case Op::complement:
      return [](Case const& x) {
        Value const c = x.draw({.compact = true});
        Value const r =
            x.op == Op::complement ? x.call({c, number(x.random.pick({1, 24, 60}))}) : x.call({c});
        std::set<long long> all;
        std::set<long long> const mine = set_of(elements(c));
        std::vector<long long> const more = elements(r);
        for (long long i : mine) {
          for (long long j : more) all.insert(i + j);
        }
        return all.size() == mine.size() * more.size() && std::is_sorted(more.begin(), more.end());
      };
    case Op::nullspace:
      return [](Case const& x) {
        Value const c = x.draw();
        Value const r = x.call({c});
        std::vector<long long> const v = elements(r);
        return std::all_of(v.begin(), v.end(), [&](long long i) { return element(c, i) == 0; });
      };
    case Op::right_inverse:
      return [](Case const& x) {
        Value const c = x.draw({.compact = x.random.below(4) != 0});
        Value const r = x.call({c});
        for (long long i = 0; i < count(r); ++i) {
          long long const at = element(r, i);
          if (at < 0 || at >= count(c) || element(c, at) != i) return false;
        }
        require(count(r) > 1);
        return true;
      };
    case Op::left_inverse:
      return [](Case const& x) {
        Value const c = x.draw({.compact = x.random.below(4) != 0});
        Value const r = x.call({c});
        for (long long i = 0; i < count(c); ++i) {
          long long const back = element(r, element(c, i));
          if (back < 0 || back >= count(c) || element(c, back) != element(c, i)) return false;
        }
        require(count(c) > 1);
        return true;
      };
    case Op::logical_divide:
    case Op::zipped_divide:
    case Op::tiled_divide:
    case Op::flat_divide:
      return divides;
    case Op::logical_product:
    case Op::zipped_product:
    case Op::tiled_product:
    case Op::flat_product:
    case Op::blocked_product:
    case Op::raked_product:
      return multiplies;
    case Op::tile_to_shape:
      return fills_a_shape;
    case Op::make_layout_like:
    case Op::make_fragment_like:
      return [](Case const& x) {
        // Compact, and one place for two elements only where they are one.
        Value const c = x.draw({.compact = true});
        std::vector<long long> const v = elements(x.call({c})), was = elements(c);
        std::map<long long, long long> of;
        for (std::size_t i = 0; i < v.size(); ++i) {
          if (of.emplace(v[i], was[i]).first->second != was[i]) return false;
        }
        return v.size() == was.size() && of.begin()->first == 0 &&
               of.rbegin()->first == (long long)of.size() - 1;
      };
    case Op::max_common_layout:
    case Op::max_common_vector:
      return runs_in_common;
    case Op::max_alignment:
      return is_made_of_aligned_runs;
    case Op::upcast:
    case Op::downcast:
      return casts;
    case Op::recast_layout:
      return recasts;
    case Op::append_to:
    case Op::prepend_to:
      return [](Case const& x) {
        Value const c = x.draw();
        return elements(x.call({c, number(within(c).rank() + x.random.below(3))})) == elements(c);
      };
    case Op::append:
    case Op::prepend:
      return [](Case const& x) { return done_within(x, x.draw(), {plain_layout(x)}); };
    case Op::take:
    case Op::group:
      return [](Case const& x) {
        Value const c = x.draw();
        int const rank = within(c).rank(), begin = x.random.below(rank);
        return done_within(x, c, {number(begin), number(begin + 1 + x.random.below(rank - begin))});
      };
    case Op::get:
    case Op::select:
      return [](Case const& x) {
        Value const c = x.draw();
        return done_within(x, c, {number(x.random.below(within(c).rank()))});
      };
    case Op::replace:
      return [](Case const& x) {
        Value const c = x.draw();
        return done_within(x, c, {number(x.random.below(within(c).rank())), plain_layout(x)});
      };
    case Op::zip1:
      return [](Case const& x) { return done_within(x, x.draw(), {}); };
    case Op::slice:
    case Op::slice_and_offset:
      return cuts;
    case Op::dice:
      return [](Case const& x) {
        Value const c = x.draw();
        Cut const cut(x.random, within(c));
        Value const want = around(c, at_run_time(Op::dice, {cut.crd, Value(within(c))}));
        return elements(x.call({cut.crd, c})) == elements(want);
      };
    case Op::cosize:
      return [](Case const& x) {
        Value const c = x.draw();
        std::vector<long long> const v = elements(c);
        long long const most = *std::max_element(v.begin(), v.end()) + 1, is = x.call({c}).root().s.v;
        return x.run == at_compile_time && !all_known(c) ? is >= most : is == most;
      };
    case Op::layout_call:
      return calls;
    default:
      return nullptr;
  }
}

/// Of 4000 cases at least so many are accepted and say something: about three quarters of what they are.
int least_of(Op op) {
  switch (op) {
    case Op::complement1:
    case Op::complement:
    case Op::right_inverse:
    case Op::left_inverse:
      return 250;
    case Op::upcast:
    case Op::max_common_layout:
    case Op::max_common_vector:
      return 500;
    case Op::max_alignment:
    case Op::nullspace:
      return 800;
    case Op::logical_product:
    case Op::zipped_product:
    case Op::tiled_product:
    case Op::flat_product:
    case Op::blocked_product:
    case Op::raked_product:
    case Op::tile_to_shape:
    case Op::downcast:
      return 1200;
    case Op::with_shape:
    case Op::recast_layout:
    case Op::slice:
    case Op::slice_and_offset:
    case Op::dice:
    case Op::cosize:
      return 2000;
    case Op::unflatten:
    case Op::layout_call:
    case Op::zip1:
      return 2500;
    default:
      return 3500;
  }
}

class ComposedLaws : public testing::TestWithParam<Operation> {};
TEST_P(ComposedLaws, HoldsByBruteForceOnBothFaces) {
  Op const op = GetParam().op;
  Law const law = law_of(op);
  ASSERT_NE(law, nullptr) << "an operation that takes composed layouts has no law";
  for (Face face : {at_run_time, at_compile_time}) {
    int behind_layouts = 0;
    holds(4000, least_of(op), 100 + unsigned(op), [&](Random& random, std::string& what) {
      Value drawn = unit();
      bool const right = law({random, face, what, op, drawn});
      behind_layouts += drawn.is(ValueKind::composed) && drawn[0].is_layout();
      return right;
    });
    EXPECT_GE(behind_layouts, 50) << "of those behind a layout next to none was accepted";
  }
}
bool takes_composed(Operation const& o) {
  return std::string_view(o.parameters).find('c') != std::string_view::npos;
}
std::vector<Operation> of_composed() {
  std::vector<Operation> all;
  std::copy_if(std::begin(layout_operations), std::end(layout_operations), std::back_inserter(all),
               takes_composed);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Operations, ComposedLaws, testing::ValuesIn(of_composed()),
                         [](auto const& info) { return std::string(info.param.id); });

// Every other operation on layouts refuses a composed one, wherever it stands.
TEST(Composed, IsRefusedWhereNoLawIsKnown) {
  Value const c = parse_value("Sw<1,0,1> o _0 o (_2,_4):(_4,_1)"), l = parse_value("(_2,_4):(_4,_1)");
  int refused = 0;
  for (Operation const& o : layout_operations) {
    std::string_view const letters = o.parameters;
    if (takes_composed(o) || letters.find('p') == std::string_view::npos) continue;
    std::size_t const one = letters.find('|');
    std::size_t const operands = (letters.substr(0, one).size() + 1) / 2;
    for (std::size_t at = 0; at < operands; ++at) {
      Arguments args(operands, l);
      args[at] = c;
      try {
        Value const r = at_run_time(o.op, args);
        ADD_FAILURE() << o.id << " gives " << to_text(r);
      } catch (LayoutError const& e) {
        EXPECT_EQ(e.refusal.rule, Rule::composed_operand) << o.id << ": " << e.what();
        ++refused;
      }
    }
  }
  EXPECT_GE(refused, 10);
}

// index() and Indexer, of any layout, inside it and beyond.
TEST(Composed, IsIndexedByBothWays) {
  holds(20000, 20000, 7, [](Random& random, std::string& what) {
    Value const c = RandomComposed(random, {}).composed();
    what = to_text(c);
    Indexer const at(c);
    for (long long i = 0; i < count(c) + 5; ++i) {
      if (at(i) != element(c, i) || index(c, i) != element(c, i)) return false;
    }
    return true;
  });
}
TEST(Composed, ThroughCoordinatesIsIndexed) {
  Value const c = parse_value("(_4,_8):(_8,_1) o (0,3) o (_4,_5):(_1@0,_1@1)");
  Indexer const at(c);
  for (long long i = 0; i < 20; ++i) {
    EXPECT_EQ(at(i), i % 4 * 8 + i / 4 + 3);
    EXPECT_EQ(index(c, {i % 4, i / 4}), at(i));
  }
}
TEST(Composed, CoordinatesAreNoIndices) {
  for (char const* text : {"(4,8):(_1@0,_1@1)", "_8:_1@0", "(4,8):(_1@0,_1@1) o _0 o (4,8):(1@0,1@1)"}) {
    EXPECT_THROW(Indexer(parse_value(text)), LayoutError) << text;
    EXPECT_THROW(index(parse_value(text), 3), LayoutError) << text;
  }
  try {
    index(parse_value("(4,8):(_1@0,_1@1)"), 5);
    FAIL();
  } catch (LayoutError const& e) {
    EXPECT_STREQ(
        e.what(),
        "index((4,8):(_1@0,_1@1), _5): the index is a coordinate of 2 modes, where an integer is needed");
  }
  EXPECT_THROW(index(parse_value("Sw<1,0,1> o _0 o (4,8):(_1@0,_1@1)"), 5), LayoutError);
}

// Tensors of composed layouts, cut: what is left has the elements of the layout within, behind the same parts.
TEST(Composed, TensorsAreCutAsTheLayoutWithin) {
  for (Op op : {Op::composition, Op::zipped_divide, Op::slice, Op::group, Op::layout_call}) {
    holds(2000, 900, 60 + unsigned(op), [op](Random& random, std::string& what) {
      Value const c = RandomComposed(random, {.compact = true}).composed(), start = number(random.below(9));
      View const l = within(c);
      require(!l.is_leaf());
      Value const counting = bundle(ValueKind::counting, number(0));
      auto const cut = [&](Value const& x) {
        Random same = random;
        Tape t;
        Value crd = empty(ValueKind::tuple), tiler = empty(ValueKind::tuple);
        for (int m = 0; m < l.rank(); ++m) {
          crd.add(op == Op::slice && same.below(2) ? underscore() : number(same.below(int(count(l[m])))));
          tiler.add(number(same.pick({1, 2, 4})));
        }
        Value r = nothing();
        if (op == Op::composition) r = algebra::local_tile(t, x, tiler, number(same.below(2)));
        if (op == Op::zipped_divide) r = algebra::partition(t, x, tiler, number(0), false);
        if (op == Op::slice || op == Op::layout_call) r = algebra::tensor_call(t, x, crd);
        if (op == Op::group) r = algebra::seen_from(t, x, crd);
        if (t.failed()) throw LayoutError("refused", t.refusal());
        return r;
      };
      // Where the iterator of the plain tensor starts belongs before the left parts; that of the composed one, after.
      Value const plain = cut(algebra::tensor(counting, l));
      Value const mine = cut(algebra::tensor(bundle(ValueKind::counting, start), c));
      what = to_text(c) + " cut: " + to_text(mine) + ", within: " + to_text(plain);
      auto const chain = [&](long long i) { return element(around(c, mode(fixed(1), {fixed(1)})), i); };
      if (plain.is_number()) return mine.root().s.v == start.root().s.v + chain(plain.root().s.v);
      long long const from = plain[0][0].root().s.v, after = mine[0][0].root().s.v;
      if (count(plain[1]) != count(mine[1])) return false;
      for (long long i = 0; i < count(mine[1]); ++i) {
        if (after + element(mine[1], i) != start.root().s.v + chain(from + element(plain[1], i)))
          return false;
      }
      return true;
    });
  }
}

// What waits for a pointer has its swizzle in bytes: it is not the elements' swizzle, and not an offset.
TEST(Composed, LayoutsThatWaitForAPointer) {
  Value const c = parse_value("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)");
  EXPECT_EQ(index(c, 0), 0);
  EXPECT_EQ(Indexer(c)(0), 0);
  EXPECT_EQ(max_alignment(c), 8);  // 16 bytes
  EXPECT_EQ(max_common_vector(c, parse_value("(_8,_64):(_64,_1)")), 8);
  EXPECT_EQ(to_text(evaluate(Op::upcast, "upcast", {c, number(2)})),
            "Sw<3,4,3> o smem_ptr[32b](unset) o (_8,_32):(_32,_1)");
  EXPECT_EQ(to_text(evaluate(Op::downcast, "downcast", {c, number(2)})),
            "Sw<3,4,3> o smem_ptr[8b](unset) o (_8,_128):(_128,_1)");
  EXPECT_THROW(right_inverse(c), LayoutError);
}

// One expression of a tape is one number, whatever it will be; two that compute alike at run time are two.
TEST(Composed, OneExpressionIsOneNumber) {
  Tape t(2);
  Num const a = expression(0), b = expression(1);
  EXPECT_TRUE(t.eq(a, a).is(1) && t.le(a, a).is(1) && t.lt(a, a).is(0) && t.sub(a, a).is(0));
  EXPECT_EQ(t.min(a, a).id, a.id);
  EXPECT_FALSE(t.eq(a, b).is_static());
  EXPECT_EQ(t.steps().size(), 3);  // the inputs, and a == b
  Tape now;
  EXPECT_EQ(now.eq(dynamic(3), dynamic(4)).v, 0);
  EXPECT_EQ(now.sub(dynamic(3), dynamic(4)).v, -1);
}

}  // namespace
}  // namespace zellige::test
