#include "reference/inputs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "graph/dtype.hpp"
#include "graph/where.hpp"
#include "reference/cut.hpp"
#include "reference/mix.hpp"
#include "reference/parallel.hpp"

namespace zellige::reference {
namespace {

constexpr int min_exponent = -12;

/// Returns a random number: a hash of the counter x. Each row of an input has a range of counters of its own,
/// so that rows can be generated in any order.
std::uint64_t hash(std::uint64_t x) { return mix(x + mix_step); }

/// Returns an approximately normal number from 64 random bits: a sum of four uniforms; mean 0, variance 1, within 3.5.
double bell(std::uint64_t bits) {
  const auto sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) - 131070.0) * (1.7320508075688772 / 65536.0);
}

/// Returns the seed of one input's random numbers.
std::uint64_t key_of(const InputChoice& c, int input) { return hash(c.seed) + static_cast<std::uint64_t>(input); }

/// Writes `count` random elements of row `row` of an input to `to`, starting at element `from` of the row.
/// Scales the elements by 2^exponent, and takes absolute values if `positive`. `key`: the input's seed.
void random_row(graph::DType dtype, std::uint64_t key, int exponent, bool positive, std::int64_t row, std::int64_t from,
                std::int64_t count, double* to) {
  const graph::Format f = graph::format(dtype);
  const std::uint64_t stream = hash(key ^ hash(static_cast<std::uint64_t>(row)));
  // The row's factor is 2^-2 to 2^2 in steps of 2^(1/16), approximately: a power of two times a fraction, so
  // that the result does not depend on the C library.
  const auto step = static_cast<int>(stream % 65);
  const double factor = std::ldexp(1.0 + (step % 16) / 16.0, step / 16 - 2 + exponent);
  const bool quick = f.lowest < 0 && !f.integer_bits;
  const int drop = quick ? 52 - f.mantissa : 1;
  const std::uint64_t half = (std::uint64_t{1} << (drop - 1)) - 1, kept = ~std::uint64_t{0} << drop;
  const auto low = std::bit_cast<std::uint64_t>(f.min_normal), greatest = std::bit_cast<std::uint64_t>(f.greatest);
  const auto nearest = [&](double x) {  // graph::round_to, shorter for normal numbers
    const auto bits = std::bit_cast<std::uint64_t>(x), magnitude = bits & ~std::uint64_t{0} >> 1;
    return !quick || magnitude - low > greatest - low
               ? graph::round_to(f, x)
               : std::bit_cast<double>((bits + half + (bits >> drop & 1)) & kept);
  };
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = factor * bell(hash(stream + static_cast<std::uint64_t>(from + i)));
    if (f.integer_bits)
      to[i] = graph::cast_number(16 * (positive ? std::fabs(x) : x), {.dtype = dtype, .saturate = true});
    else
      to[i] = nearest(positive ? std::fabs(x) + factor / 64 : x);  // away from zero, for logarithms
  }
}

/// Returns the constraints on an input's integers; their `bound` is 0 if there are none.
graph::Numbers numbers_of(const InputChoice& c, int input) {
  const auto at = static_cast<std::size_t>(input);
  return at < c.numbers.size() ? c.numbers[at] : graph::Numbers{};
}

/// A graph on which the search for scales runs the reference: the whole graph, or the subgraph of a tensor's part.
struct Stage {
  graph::KernelGraph graph;
  std::vector<RegionGraph::Part> parts;  // per input of `graph`: the region of a tensor of the whole graph
  int makes = -1;                        // the tensor whose part is computed; -1: the whole graph
  std::vector<Array> arrays = {};        // one per input of `graph`
  std::vector<int> filled = {};          // per array: a mark of the scale with which it was filled
  Reference reference = {};

  /// Returns values for region `r` of the tensor that this stage computes, as an operand of a later stage. This stage
  /// computes only one tile of the tensor; the values are rows and columns of that tile, repeated in a random order.
  /// `shape`: the shape of the tensor.
  Array spread(const graph::Shape& shape, const TensorRegion& r) const {
    const Array& one = reference.tensors[graph.outputs[0]];
    const std::int64_t n = one.shape.back(), rows = graph::size(one.shape) / n, m = r.extent.back();
    // Returns a random index below `of` for row or column i. Rows and columns use hashes with different
    // `way`: with the same hashes, two operands of a matmul would repeat in step.
    const auto pick = [](std::uint64_t way, std::int64_t i, std::int64_t of) {
      return static_cast<std::int64_t>(hash(way + static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(of));
    };
    Array a = make_array(r.extent);
    each_row(shape, r, [&](std::int64_t from, std::int64_t row) {
      const double* values = one.values.data() + pick(0, from, rows) * n;
      for (std::int64_t i = 0; i < m; ++i) a.values[row * m + i] = values[pick(mix_step / 2, r.origin.back() + i, n)];
    });
    return a;
  }
};

/// Returns one stage per output, which computes one tile of the output. If that costs too much, returns one stage per
/// tensor that an operator computes. An expensive one among these stages takes tiles of its operands from earlier stages.
std::vector<Stage> parts_of(const graph::KernelGraph& g, std::uint64_t seed) {
  constexpr double maximum = 5e8;  // total work of all tiles
  constexpr std::int64_t side = 64;
  const auto tile = [&](int t) {
    TensorRegion r = whole(g.tensors[t].shape);
    const std::size_t rank = r.extent.size();
    for (std::size_t d = 0; d < rank; ++d) {
      r.extent[d] = std::min<std::int64_t>(r.extent[d], d + 2 < rank ? 1 : side);
      const auto places = static_cast<std::uint64_t>(g.tensors[t].shape[d] - r.extent[d] + 1);
      r.origin[d] = static_cast<std::int64_t>(hash(seed + d + 8 * static_cast<std::uint64_t>(t)) % places);
    }
    return r;
  };
  const auto stage = [&](int t, const std::vector<bool>& known) {
    RegionGraph c = cut(g, t, tile(t), known);
    return Stage{std::move(c.graph), std::move(c.inputs), t};
  };
  std::vector<Stage> outputs;
  for (int t : g.outputs)
    if (std::ranges::find(g.inputs, t) == g.inputs.end()) outputs.push_back(stage(t, {}));
  double all_outputs = 0;
  for (const Stage& s : outputs) all_outputs += work(s.graph);
  if (all_outputs <= maximum) return outputs;
  std::vector<Stage> all;
  for (const graph::KernelOp& op : g.ops)
    for (int t : op.outputs) {
      all.push_back(stage(t, {}));
      if (work(all.back().graph) > maximum / static_cast<double>(g.ops.size()))
        all.back() = stage(t, std::vector<bool>(g.tensors.size(), true));
    }
  return all;
}

/// Returns the largest absolute value in any tensor of the last run.
double greatest(const std::vector<Stage>& stages) {
  double maximum = 0;
  for (const Stage& s : stages) {
    for (const Magnitude& m : s.reference.magnitudes) maximum = std::max(maximum, m.greatest);
    for (const BlockOperand& o : s.reference.operands) maximum = std::max(maximum, o.magnitude.greatest);
  }
  return maximum;
}

/// Returns whether the results of the last run can be compared with a kernel's: every output has a finite
/// element, and no tensor has a NaN, unless the caller gives some of the inputs.
bool comparable(const std::vector<Stage>& stages, const GivenInputs& inputs) {
  const bool given = std::ranges::any_of(inputs, [](const auto& array) { return array != nullptr; });
  return std::ranges::all_of(stages, [&](const Stage& s) {
    const Reference& r = s.reference;
    if (r.stopped) return false;
    for (const Array& a : r.tensors)
      for (double v : a.values)
        if (v != v && !given) return false;
    return std::ranges::all_of(s.graph.outputs, [&](int t) {
      return r.tensors[t].values.empty() ||
             std::ranges::any_of(r.tensors[t].values, [](double v) { return std::isfinite(v); });
    });
  });
}

/// Returns whether the graph computes exp.
bool exponential(const graph::KernelGraph& g) {
  const auto is_exp = [](const auto& op) { return op.kind == graph::OpKind::exp; };
  return std::ranges::any_of(g.ops, [&](const graph::KernelOp& op) {
    return is_exp(op) || (op.block && std::ranges::any_of(op.block->ops, is_exp));
  });
}

/// Returns a description, for the error message, of the first tensor of the last run that exceeds the limit.
std::string offender(const std::vector<Stage>& stages, double limit) {
  const auto show = [](const Magnitude& m) {
    return m.finite ? fmt::format("reaches {:.3g}, beyond the range of float32", m.greatest)
                    : std::string("is not finite");
  };
  for (const Stage& s : stages) {
    const Reference& r = s.reference;
    for (const BlockOperand& o : r.operands)
      if (!o.magnitude.within(limit))
        return fmt::format("block tensor {} of operator {} {}", s.graph.ops[o.op].block->tensors[o.tensor].name, o.op,
                           show(o.magnitude));
    for (std::size_t t = 0; t < r.magnitudes.size(); ++t)
      if (!r.magnitudes[t].within(limit))
        return fmt::format("tensor {} {}", s.graph.tensors[t].name, show(r.magnitudes[t]));
  }
  return "nothing";
}

/// Searches for scales of the random inputs at which the reference overflows nowhere.
class ScaleSearch {
 public:
  /// `share`: the fraction of the magnitude limits that the stages must stay within.
  ScaleSearch(const graph::KernelGraph& g, std::vector<Stage> stages, double share, std::uint64_t seed,
              const GivenInputs& given)
      : g_(g), stages_(std::move(stages)), share_(share), input_(g.tensors.size(), -1) {
    choice_.seed = seed, choice_.given = given, choice_.exponents.resize(g.inputs.size());
    choice_.given.resize(g.inputs.size());
    choice_.numbers = graph::drawn_numbers(g);
    for (std::size_t i = 0; i < g.inputs.size(); ++i) input_[g.inputs[i]] = static_cast<int>(i);
    for (Stage& s : stages_) {
      s.arrays.resize(s.parts.size());
      s.filled.assign(s.parts.size(), unfilled);
    }
  }

  /// Finds scales for the random inputs. Throws Error if no scale leaves finite values to compare.
  void run() {
    if (std::ranges::none_of(choice_.given, [](const auto& array) { return array == nullptr; })) {
      tries(false, infinity, finite_limit, false);  // unscaled, without limits
      return;
    }
    for (bool positive : {false, true})
      if (search(magnitude_limit, finite_limit, positive)) return;
    // The limits cannot be met: accept up to four times the magnitudes at the smallest scale or at scale 1,
    // whichever are smaller.
    for (bool positive : {false, true}) {
      double minimum = infinity;
      for (bool small : {false, true})
        if (tries(small, float32_limit, float32_limit, positive)) minimum = std::min(minimum, greatest(stages_));
      if (minimum <= float32_limit && search(std::max(magnitude_limit, 4 * minimum), float32_limit, positive)) return;
    }
    // An infinity is a valid result, too. An output may be partly infinite at any scale, and have finite
    // elements to compare.
    for (bool positive : {false, true})
      for (bool small : {false, true}) {
        tries(small, infinity, float32_limit, positive);
        if (comparable(stages_, choice_.given)) return;
      }
    tries(false, float32_limit, float32_limit, false);  // to find the magnitude that the message reports
    graph::fail_at({g_.name},
                   "expected a scale of 2^{} to 1 at which random inputs keep every tensor finite, found none: {}; "
                   "there is nothing to compare",
                   min_exponent, offender(stages_, float32_limit));
  }

  InputChoice choice() { return std::move(choice_); }
  Stage& first() { return stages_[0]; }

 private:
  static constexpr double float32_limit = 0x1p127;
  static constexpr int unfilled = 1;  // no exponent is 1

  /// Finds scales of the inputs at which all magnitudes are at most `limit`. Prefers scales at which the arguments of exp
  /// are at most exponent_limit (4), too. Returns false if there are none. `tile_limit`: as in ReferenceOptions;
  /// `positive`: random values are absolute values.
  bool search(double limit, double tile_limit, bool positive) {
    choice_.positive = positive;
    for (double exp_limit : {exponent_limit, infinity}) {
      const ReferenceOptions limits{.limit = limit, .tile_limit = tile_limit, .exp_limit = exp_limit};
      if (fits(all(false), 0, limits) || one_alone(limits) || bisect(all(true), limits)) return true;
      if (!exponential(g_)) break;
    }
    return false;
  }

  /// Runs the reference with all inputs at the smallest scale (2^-12) if `small`, otherwise at scale 1. Returns whether
  /// the magnitudes are at most `limit`. `positive`: random values are absolute values.
  bool tries(bool small, double limit, double tile_limit, bool positive) {
    choice_.positive = positive;
    return fits(all(small), min_exponent, {.limit = limit, .tile_limit = tile_limit});
  }

  /// Returns whether the input may be scaled: true if it is random and floating-point.
  bool scales(std::size_t input) const {
    return !choice_.given[input] && !graph::is_integer(g_.tensors[g_.inputs[input]].dtype);
  }

  /// Returns the selection of all inputs, or of none.
  std::vector<bool> all(bool selected) const { return std::vector<bool>(g_.inputs.size(), selected); }

  /// Fills the input arrays of a stage at the current scales, where the scale has changed.
  void fill_stage(Stage& s) {
    for (std::size_t p = 0; p < s.parts.size(); ++p) {
      const RegionGraph::Part& from = s.parts[p];
      const int input = input_[from.tensor];
      if (input < 0) {
        const auto producer = std::ranges::find(stages_, from.tensor, &Stage::makes);
        s.arrays[p] = producer->spread(g_.tensors[from.tensor].shape, from.region);
        continue;
      }
      const int mark = choice_.given[input] ? 0 : 2 * choice_.exponents[input] - (choice_.positive ? 1 : 0);
      if (s.filled[p] == mark) continue;
      s.filled[p] = mark;
      s.arrays[p] = input_part(g_, choice_, input, from.region);
    }
  }

  /// Runs the reference with the selected inputs scaled by 2^exponent, and the other inputs at scale 1. Returns whether
  /// all magnitudes are within their shares of the limits.
  bool fits(const std::vector<bool>& selected, int exponent, const ReferenceOptions& limits) {
    for (std::size_t i = 0; i < selected.size(); ++i) choice_.exponents[i] = selected[i] && scales(i) ? exponent : 0;
    const ReferenceOptions options{
        .limit = limits.limit * share_, .tile_limit = limits.tile_limit, .exp_limit = limits.exp_limit * share_};
    ++choice_.trials;
    bool all = true;
    for (Stage& s : stages_) {
      fill_stage(s);
      s.reference = reference::run(s.graph, s.arrays, options);
      all = all && s.reference.within(options.limit);
      if (!all && limits.limit < infinity) break;
    }
    return all;
  }

  /// Finds, by bisection, the largest exponent for the selected inputs at which fits() returns true. Returns
  /// false if fits() returns false even for the smallest exponent, min_exponent (-12).
  bool bisect(const std::vector<bool>& selected, const ReferenceOptions& limits) {
    if (!fits(selected, min_exponent, limits)) return false;
    int good = min_exponent, bad = 0, last = good;
    while (bad - good > 1) {
      last = good + (bad - good) / 2;
      (fits(selected, last, limits) ? good : bad) = last;
    }
    return last == good || fits(selected, good, limits);
  }

  /// Scales one input alone: the first for which bisect() finds an exponent. Returns false if there is none.
  bool one_alone(const ReferenceOptions& limits) {
    for (std::size_t i = 0; i < g_.inputs.size(); ++i) {
      if (!scales(i)) continue;
      std::vector<bool> selected = all(false);
      selected[i] = true;
      if (bisect(selected, limits)) return true;
    }
    return false;
  }

  const graph::KernelGraph& g_;
  std::vector<Stage> stages_;
  const double share_;
  std::vector<int> input_;  // per tensor: the index of the graph input that it is, or -1
  InputChoice choice_;
};

}  // namespace

void draw_numbers(const graph::Numbers& n, std::uint64_t key, std::int64_t first, std::int64_t count, double* to) {
  const std::uint64_t stream = hash(key);
  std::int64_t step = static_cast<std::int64_t>(stream % static_cast<std::uint64_t>(n.bound)) | 1;
  while (std::gcd(step, n.bound) != 1) step += 2;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(first + i), bound = static_cast<std::uint64_t>(n.bound);
    to[i] = static_cast<double>(n.distinct
                                    ? (stream % bound + at % bound * (static_cast<std::uint64_t>(step) % bound)) % bound
                                    : hash(stream + at) % bound);
  }
}

RandomInputs random_inputs(const graph::KernelGraph& g, std::uint64_t seed, const GivenInputs& given) {
  check_memory(g);
  Stage all{g, {}};
  for (int t : g.inputs) all.parts.push_back({t, whole(g.tensors[t].shape)});
  ScaleSearch search(g, {std::move(all)}, 1, seed, given);
  search.run();
  return {search.choice(), std::move(search.first().arrays), std::move(search.first().reference)};
}

InputChoice choose_inputs(const graph::KernelGraph& g, std::uint64_t seed, const GivenInputs& given) {
  ScaleSearch search(g, parts_of(g, seed), 0.5, seed, given);
  search.run();
  return search.choice();
}

void input_row(const graph::KernelGraph& g, const InputChoice& c, int input, std::int64_t row, std::int64_t from,
               std::int64_t count, double* to) {
  const graph::KernelTensor& t = g.tensors[g.inputs[input]];
  if (c.given[input])
    std::copy_n(c.given[input]->values.data() + row * t.shape.back() + from, count, to);
  else if (const graph::Numbers n = numbers_of(c, input); n.bound > 0)
    draw_numbers(n, key_of(c, input), row * t.shape.back() + from, count, to);
  else
    random_row(t.dtype, key_of(c, input), c.exponents[input], c.positive, row, from, count, to);
}

Array input_part(const graph::KernelGraph& g, const InputChoice& c, int input, const TensorRegion& r) {
  Array a = make_array(r.extent);
  const std::int64_t n = r.extent.back(), rows = graph::size(r.extent) / n,
                     chunk = std::max<std::int64_t>(1, (1 << 16) / n);
  std::vector<std::int64_t> from(rows);  // by row of the region: the row of the input
  each_row(g.tensors[g.inputs[input]].shape, r, [&](std::int64_t whole, std::int64_t row) { from[row] = whole; });
  parallel_for((rows + chunk - 1) / chunk, hardware_threads(), [&](std::int64_t k, int) {
    for (std::int64_t row = k * chunk; row < std::min(rows, (k + 1) * chunk); ++row)
      input_row(g, c, input, from[row], r.origin.back(), n, a.values.data() + row * n);
  });
  return a;
}

}  // namespace zellige::reference
