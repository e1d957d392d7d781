// Every operation on composed layouts, by brute force, at run time and at compile time.
#include <gtest/gtest.h>

#include <map>
#include <zellige/layout/evaluate.hpp>

#include "composed_laws.hpp"

namespace zellige::test {
namespace {

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
        Value const r = x.op == Op::complement ? x.call({c, number(x.random.pick({1, 24, 60}))}) : x.call({c});
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
        return v.size() == was.size() && of.begin()->first == 0 && of.rbegin()->first == (long long)of.size() - 1;
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
      return [](Case const& x) { return done_within(x, x.draw(), {unswizzled_layout(x)}); };
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
        return done_within(x, c, {number(x.random.below(within(c).rank())), unswizzled_layout(x)});
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
        long long const maximum = *std::max_element(v.begin(), v.end()) + 1, is = x.call({c}).root().s.v;
        return x.run == at_compile_time && !all_known(c) ? is >= maximum : is == maximum;
      };
    case Op::layout_call:
      return calls;
    default:
      return nullptr;
  }
}

/// The minimum number of accepted and meaningful cases of 2000: about three quarters of the actual one.
int min_cases(Op op) {
  switch (op) {
    case Op::complement1:
    case Op::complement:
    case Op::right_inverse:
    case Op::left_inverse:
      return 125;
    case Op::upcast:
    case Op::max_common_layout:
    case Op::max_common_vector:
      return 250;
    case Op::max_alignment:
    case Op::nullspace:
      return 400;
    case Op::logical_product:
    case Op::zipped_product:
    case Op::tiled_product:
    case Op::flat_product:
    case Op::blocked_product:
    case Op::raked_product:
    case Op::tile_to_shape:
    case Op::downcast:
      return 600;
    case Op::with_shape:
    case Op::recast_layout:
    case Op::slice:
    case Op::slice_and_offset:
    case Op::dice:
    case Op::cosize:
      return 1000;
    case Op::unflatten:
    case Op::layout_call:
    case Op::zip1:
      return 1250;
    default:
      return 1750;
  }
}

class ComposedLaws : public testing::TestWithParam<Operation> {};
TEST_P(ComposedLaws, HoldsByBruteForceInBothApis) {
  Op const op = GetParam().op;
  Law const law = law_of(op);
  ASSERT_NE(law, nullptr) << "an operation that takes composed layouts has no law";
  for (Api api : {at_run_time, at_compile_time}) {
    int after_layouts = 0;
    holds(2000, min_cases(op), 100 + unsigned(op), [&](Random& random, std::string& what) {
      Value drawn = unit();
      bool const right = law({random, api, what, op, drawn});
      after_layouts += drawn.is(ValueKind::composed) && drawn[0].is_layout();
      return right;
    });
    EXPECT_GE(after_layouts, 25) << "of those after a layout next to none was accepted";
  }
}
bool takes_composed(Operation const& o) { return std::string_view(o.parameters).find('c') != std::string_view::npos; }
std::vector<Operation> of_composed() {
  std::vector<Operation> all;
  std::copy_if(std::begin(layout_operations), std::end(layout_operations), std::back_inserter(all), takes_composed);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Operations, ComposedLaws, testing::ValuesIn(of_composed()),
                         [](auto const& info) { return std::string(info.param.id); });

// All other operations on layouts refuse a composed one, in any position.
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

}  // namespace
}  // namespace zellige::test
