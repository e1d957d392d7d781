#include "run/variants.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "emit/variants.hpp"
#include "graph/error.hpp"
#include "plan/at_sizes.hpp"
#include "plan/estimate.hpp"
#include "tile/size_expression.hpp"

namespace zellige::run {
namespace {

using graph::NamedSize;

constexpr std::int64_t aligned = 8;  // elements: 16 bytes of the narrowest floating-point type that is read in vectors

/// A part of the values of all sizes, and the program for it. The whole program is one of them.
struct Part {
  std::vector<NamedSize> sizes;
  emit::EmittedProgram program;
  std::vector<double> us;  // expected times, by point; infinity where the part lacks the point
  /// Returns of how many values of the sizes it is.
  double count() const {
    double all = 1;
    for (const NamedSize& s : sizes) all *= static_cast<double>((s.greatest() - s.minimum()) / s.multiple + 1);
    return all;
  }
};

/// Values of all sizes at which programs are compared.
struct Point {
  std::vector<std::int64_t> values;
  double weight = 1;
};

bool has(const Part& part, const Point& p) {
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    const NamedSize& s = part.sizes[i];
    if (p.values[i] < s.min || p.values[i] > s.max || p.values[i] % s.multiple != 0) return false;
  }
  return true;
}

/// Returns the expected time of a program's launch where the sizes have these values.
double us_at(const emit::EmittedProgram& p, const std::vector<NamedSize>& sizes, const Point& point,
             const target::Target& target) {
  std::vector<std::int64_t> own;
  for (const tile::Size& s : p.manifest.sizes)
    own.push_back(
        point.values[static_cast<std::size_t>(std::ranges::find(sizes, s.name, &NamedSize::name) - sizes.begin())]);
  if (own.empty()) return p.cost.us;
  return plan::estimate_cost(plan::at_sizes(p.plan, own), target).us;
}

/// Compiles parts of the values, and chooses those that a program has.
class VariantSearch {
 public:
  VariantSearch(const graph::KernelGraph& g, const target::Target& target, int maximum, const CompileNarrowed& compile)
      : g_(g), target_(target), maximum_(static_cast<std::size_t>(maximum)), compile_(compile) {}

  emit::EmittedProgram run(emit::EmittedProgram whole) {
    for (const tile::Size& s : whole.manifest.sizes)
      sizes_.push_back(*std::ranges::find(g_.sizes->names, s.name, &NamedSize::name));
    rows_ = row_lengths(whole.plan.program);
    parts_.push_back({sizes_, std::move(whole), {}});
    add_parts();
    choose();
    align();
    return joined();
  }

 private:
  /// Returns the names of the sizes on which it depends whether rows of a tensor begin at multiples of `aligned` elements.
  static std::set<std::string> row_lengths(const tile::TilePrograms& p) {
    tile::SizeList given;
    std::ranges::copy_if(p.sizes, std::back_inserter(given), [](const tile::Size& s) { return !s.computed; });
    std::set<std::string> names;
    for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t)
      for (int d = 0; d < static_cast<int>(p.tensors[static_cast<std::size_t>(t)].strides.size()); ++d) {
        const tile::SymbolicNumber stride = p.stride(t, d);
        if (stride.is_constant() || stride.divisor() % aligned == 0) continue;
        for (const int s : tile::SizeExpression::of(stride, given).sizes())
          names.insert(given[static_cast<std::size_t>(s)].name);
      }
    return names;
  }

  /// Compiles the graph for a part; nothing if there is no program for it.
  std::optional<Part> compiled(const std::vector<NamedSize>& sizes) const {
    graph::KernelGraph g = graph::narrowed(g_, sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const NamedSize &s = sizes[i], &all = sizes_[i];
      if (s.minimum() == s.greatest()) g.name += fmt::format("_{}is{}", s.name, s.greatest());
      if (s.minimum() < s.greatest() && s.greatest() < all.greatest())
        g.name += fmt::format("_{}to{}", s.name, s.greatest());
      if (s.multiple > all.multiple) g.name += fmt::format("_{}by{}", s.name, s.multiple);
    }
    try {
      Part part{sizes, compile_(std::move(g)), {}};
      for (const NamedSize& s : sizes)
        part.program.manifest.range.push_back(
            {.name = s.name, .low = s.minimum(), .high = s.greatest(), .multiple = s.multiple});
      emit::check_variant(parts_[0].program.manifest, part.program.manifest);
      for (const Point& p : points_) part.us.push_back(time(part, p));
      return part;
    } catch (const Rejected&) {
      return std::nullopt;
    } catch (const Fault&) {
      throw;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  double time(const Part& part, const Point& p) const {
    return has(part, p) ? us_at(part.program, sizes_, p, target_) : INFINITY;
  }

  /// Returns the ranges of size i of which parts are tried: up to each end, and, where kernels depend on it, the typical values
  /// alone. The last one is the size's own.
  std::vector<NamedSize> ranges(std::size_t i) const {
    constexpr std::size_t few_operators = 16;
    const NamedSize& s = sizes_[i];
    const bool alone = sizes_.size() == 1;
    std::vector<NamedSize> all;
    const auto add = [&](std::int64_t from, std::int64_t to) {
      NamedSize& part = all.emplace_back(s);
      part.min = from, part.max = to;
      std::erase_if(part.typical, [&](std::int64_t v) { return v < from || v > to; });
    };
    for (const std::int64_t end : ends_of(s, alone && g_.ops.size() <= few_operators)) add(s.min, end);
    for (const std::int64_t v : s.typical)
      if ((alone || rows_.contains(s.name)) && v > std::max<std::int64_t>(s.minimum(), 0)) add(v, v);
    all.push_back(s);
    return all;
  }

  /// Adds the values at which programs are compared: the typical ones and the ends of all parts, and values within the parts.
  void add_points(const std::vector<std::vector<NamedSize>>& ranges) {
    points_ = {Point{}};
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      std::set<std::int64_t> values(sizes_[i].typical.begin(), sizes_[i].typical.end());
      for (const NamedSize& r : ranges[i]) {
        values.insert(r.greatest());
        const std::int64_t within = r.greatest() * 3 / 4 / r.multiple * r.multiple;
        if ((sizes_.size() == 1 || rows_.contains(sizes_[i].name)) && within >= r.minimum()) values.insert(within);
      }
      std::vector<Point> all;
      for (const Point& p : points_)
        for (const std::int64_t v : values) {
          Point& with = all.emplace_back(p);
          with.values.push_back(v);
          if (std::ranges::count(sizes_[i].typical, v) > 0) with.weight *= 2;
        }
      points_ = std::move(all);
    }
  }

  /// Returns whether a part has one value of a size, and a part of the values of another one. What a value alone gives, it gives for
  /// all of the other size's.
  bool is_fixed_in_part(const std::vector<NamedSize>& sizes) const {
    bool fixed = false, part = false;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const bool one = sizes[i].minimum() == sizes[i].greatest();
      fixed = fixed || (one && sizes[i].greatest() > sizes_[i].minimum());
      part = part || (!one && sizes[i].greatest() < sizes_[i].greatest());
    }
    return fixed && part;
  }

  /// Compiles the parts, which are products of ranges of the sizes.
  void add_parts() {
    constexpr std::size_t most = 16;
    std::vector<std::vector<NamedSize>> of;
    for (std::size_t i = 0; i < sizes_.size(); ++i) of.push_back(ranges(i));
    const auto count = [&] {
      return std::accumulate(of.begin(), of.end(), std::size_t{1},
                             [](std::size_t n, const auto& list) { return n * list.size(); });
    };
    while (count() > most) {  // the size with the largest number of ranges loses the one before its own
      auto& longest = *std::ranges::max_element(of, {}, &std::vector<NamedSize>::size);
      longest.erase(longest.end() - 2);
    }
    add_points(of);
    for (const Point& p : points_) parts_[0].us.push_back(time(parts_[0], p));
    for (std::size_t box = 0, all = count(); box + 1 < all; ++box) {
      std::vector<NamedSize> sizes;
      for (std::size_t i = 0, rest = box; i < of.size(); rest /= of[i].size(), ++i)
        sizes.push_back(of[i][rest % of[i].size()]);
      if (is_fixed_in_part(sizes)) continue;
      if (std::optional<Part> part = compiled(sizes)) parts_.push_back(*std::move(part));
    }
  }

  /// Returns the sum, over all points, of the weighted logarithm of the time of the first of these parts that has the point.
  double score(std::vector<std::size_t> chosen) const {
    sort(chosen);
    double all = 0;
    for (std::size_t p = 0; p < points_.size(); ++p)
      for (const std::size_t part : chosen)
        if (std::isfinite(parts_[part].us[p])) {
          all += points_[p].weight * std::log(parts_[part].us[p]);
          break;
        }
    return all;
  }

  /// Puts parts in the order in which a launch tries them: smaller ones first.
  void sort(std::vector<std::size_t>& chosen) const {
    std::ranges::stable_sort(chosen, {}, [&](std::size_t part) { return parts_[part].count(); });
  }

  /// Returns whether another part for the multiples of `aligned` among its values may be faster.
  bool may_align(const Part& part) const {
    return std::ranges::any_of(part.sizes, [&](const NamedSize& s) {
      return rows_.contains(s.name) && s.minimum() < s.greatest() && s.multiple % aligned != 0;
    });
  }

  /// Chooses parts, the whole one among them: always the one that saves most, as long as that is worth its kernels.
  void choose() {
    constexpr double worth = 0.02;  // of the time at one point
    const auto programs = [&](std::size_t part) { return may_align(parts_[part]) ? 2U : 1U; };
    chosen_ = {0};
    for (std::size_t left = maximum_ - std::min<std::size_t>(maximum_, programs(0));;) {
      double best = score(chosen_) - worth;
      std::optional<std::size_t> taken;
      for (std::size_t part = 1; part < parts_.size(); ++part) {
        if (programs(part) > left || std::ranges::count(chosen_, part) > 0) continue;
        std::vector<std::size_t> with = chosen_;
        with.push_back(part);
        if (const double then = score(with); then < best) best = then, taken = part;
      }
      if (!taken) break;
      chosen_.push_back(*taken), left -= programs(*taken);
    }
    sort(chosen_);
  }

  /// Puts before a part another one for those of its values that are multiples of `aligned`, if its kernels are faster there.
  void align() {
    constexpr double worth = 0.99;
    std::vector<std::size_t> all;
    for (std::size_t i = chosen_.size(); i-- > 0;) {  // the largest part first
      const std::size_t part = chosen_[i];
      all.insert(all.begin(), part);
      if (!may_align(parts_[part]) || all.size() + i >= maximum_) continue;  // with the smaller parts that follow
      std::vector<NamedSize> sizes = parts_[part].sizes;
      Point corner;
      for (NamedSize& s : sizes) {
        if (rows_.contains(s.name)) s.multiple = std::lcm(s.multiple, aligned);
        std::erase_if(s.typical, [&](std::int64_t v) { return v % s.multiple != 0; });
        corner.values.push_back(s.greatest());
      }
      if (std::ranges::any_of(sizes, [](const NamedSize& s) { return s.minimum() > s.greatest(); })) continue;
      std::optional<Part> aligned_part = compiled(sizes);
      if (!aligned_part || time(*aligned_part, corner) > worth * time(parts_[part], corner)) continue;
      parts_.push_back(*std::move(aligned_part));
      all.insert(all.begin(), parts_.size() - 1);
    }
    chosen_ = std::move(all);
  }

  /// Returns the whole program with the other parts that are chosen.
  emit::EmittedProgram joined() {
    std::vector<emit::EmittedProgram> variants;
    for (const std::size_t part : chosen_)
      if (part != 0) variants.push_back(std::move(parts_[part].program));
    if (variants.empty()) return std::move(parts_[0].program);
    return emit::with_variants(std::move(parts_[0].program), std::move(variants));
  }

  const graph::KernelGraph& g_;
  const target::Target& target_;
  const std::size_t maximum_;
  const CompileNarrowed& compile_;
  std::vector<NamedSize> sizes_;  // of the program, in order
  std::set<std::string> rows_;    // names of those that decide where rows begin
  std::vector<Part> parts_;       // the whole program first
  std::vector<Point> points_;
  std::vector<std::size_t> chosen_;  // parts, in the order in which a launch tries them
};

}  // namespace

std::vector<std::int64_t> ends_of(const graph::NamedSize& s, bool more) {
  constexpr std::int64_t step = 2, first = 16;
  std::set<std::int64_t> ends(s.typical.begin(), s.typical.end());
  if (ends.empty() || more) ends.insert((first + s.multiple - 1) / s.multiple * s.multiple);
  std::erase_if(ends, [&](std::int64_t v) { return v < std::max<std::int64_t>(s.minimum(), 1) || v >= s.greatest(); });
  std::vector<std::int64_t> all(ends.begin(), ends.end());
  if (!more) return all;
  all.push_back(s.greatest());
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::int64_t next = all[i - 1] * step;
    if (next >= first && all[i] >= step * next) all.insert(all.begin() + static_cast<std::ptrdiff_t>(i), next);
  }
  all.pop_back();
  return all;
}

emit::EmittedProgram with_variants(emit::EmittedProgram whole, const graph::KernelGraph& g,
                                   const target::Target& target, int maximum, const CompileNarrowed& compile) {
  if (maximum < 2 || whole.manifest.sizes.empty()) return whole;
  return VariantSearch(g, target, maximum, compile).run(std::move(whole));
}

}  // namespace zellige::run
