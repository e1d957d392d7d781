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
  double volume() const {
    double all = 1;
    for (const NamedSize& s : sizes) all *= static_cast<double>(s.greatest() + 1);
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
    const std::set<std::string> rows = row_lengths(whole.plan.program);
    parts_.push_back({sizes_, std::move(whole), {}});
    add_boxes();
    choose(rows.empty() ? maximum_ : (maximum_ + 1) / 2);
    if (!rows.empty()) align(rows);
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
      if (s.greatest() < all.greatest()) g.name += fmt::format("_{}{}", s.name, s.greatest());
      if (s.multiple > all.multiple) g.name += fmt::format("_{}by{}", s.name, s.multiple);
    }
    try {
      Part part{sizes, compile_(std::move(g)), {}};
      for (const NamedSize& s : sizes)
        part.program.manifest.range.push_back(
            {.name = s.name, .low = s.minimum(), .high = s.greatest(), .multiple = s.multiple});
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

  /// Compiles the parts that end at typical values, of all sizes together. Their corners are the points.
  void add_boxes() {
    constexpr std::size_t most = 12, few_operators = 16;
    const bool more = sizes_.size() == 1 && g_.ops.size() <= few_operators;
    std::vector<std::vector<std::int64_t>> ends;
    for (const NamedSize& s : sizes_) ends.push_back(ends_of(s, more)), ends.back().push_back(s.greatest());
    const auto count = [&] {
      return std::accumulate(ends.begin(), ends.end(), std::size_t{1},
                             [](std::size_t n, const auto& list) { return n * list.size(); });
    };
    while (count() > most) {  // the size with the largest number of ends loses the one below the greatest
      auto& longest = *std::ranges::max_element(ends, {}, &std::vector<std::int64_t>::size);
      longest.erase(longest.end() - 2);
    }
    std::vector<std::vector<NamedSize>> boxes;
    for (std::size_t box = 0, all = count(); box < all; ++box) {
      std::vector<NamedSize> part = sizes_;
      Point corner;
      for (std::size_t i = 0, rest = box; i < part.size(); rest /= ends[i].size(), ++i) {
        part[i].max = ends[i][rest % ends[i].size()];
        std::erase_if(part[i].typical, [&](std::int64_t v) { return v > part[i].max; });
        corner.values.push_back(part[i].max);
        if (std::ranges::count(sizes_[i].typical, part[i].max) > 0) corner.weight *= 2;
      }
      points_.push_back(std::move(corner));
      if (box + 1 < all) boxes.push_back(std::move(part));
    }
    for (const Point& p : points_) parts_[0].us.push_back(time(parts_[0], p));
    for (const std::vector<NamedSize>& box : boxes)
      if (std::optional<Part> part = compiled(box)) parts_.push_back(*std::move(part));
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
    std::ranges::stable_sort(chosen, {}, [&](std::size_t part) { return parts_[part].volume(); });
  }

  /// Chooses up to `maximum` parts, the whole one among them: always the one that saves most, as long as that is worth its kernels.
  void choose(std::size_t maximum) {
    constexpr double worth = 0.02;  // of the time at one point
    chosen_ = {0};
    while (chosen_.size() < maximum) {
      const double now = score(chosen_);
      double best = now - worth;
      std::optional<std::size_t> taken;
      for (std::size_t part = 1; part < parts_.size(); ++part) {
        if (std::ranges::count(chosen_, part) > 0) continue;
        std::vector<std::size_t> with = chosen_;
        with.push_back(part);
        if (const double then = score(with); then < best) best = then, taken = part;
      }
      if (!taken) break;
      chosen_.push_back(*taken);
    }
    sort(chosen_);
  }

  /// Puts before a part another one for those of its values that are multiples of `aligned`, if its kernels are faster there.
  void align(const std::set<std::string>& rows) {
    constexpr double worth = 0.99;
    std::vector<std::size_t> all;
    for (std::size_t i = chosen_.size(); i-- > 0;) {  // the largest part first
      const std::size_t part = chosen_[i];
      all.insert(all.begin(), part);
      if (all.size() + i >= maximum_) continue;  // with the smaller parts that follow
      std::vector<NamedSize> sizes = parts_[part].sizes;
      Point corner;
      for (NamedSize& s : sizes) {
        if (rows.contains(s.name)) s.multiple = std::lcm(s.multiple, aligned);
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
  std::vector<Part> parts_;       // the whole program first
  std::vector<Point> points_;
  std::vector<std::size_t> chosen_;  // parts, in the order in which a launch tries them
};

}  // namespace

std::vector<std::int64_t> ends_of(const graph::NamedSize& s, bool more) {
  constexpr std::int64_t far = 8, step = 4, first = 16;
  std::set<std::int64_t> ends(s.typical.begin(), s.typical.end());
  if (ends.empty()) ends.insert(std::min(s.greatest(), (first + s.multiple - 1) / s.multiple * s.multiple));
  std::erase_if(ends, [&](std::int64_t v) { return v < std::max<std::int64_t>(s.minimum(), 1) || v >= s.greatest(); });
  std::vector<std::int64_t> all(ends.begin(), ends.end());
  if (!more) return all;
  all.push_back(s.greatest());
  for (std::size_t i = 1; i < all.size(); ++i)
    if (const std::int64_t next = all[i - 1] * step / s.multiple * s.multiple; all[i] >= far * all[i - 1])
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(i), next);
  all.pop_back();
  return all;
}

emit::EmittedProgram with_variants(emit::EmittedProgram whole, const graph::KernelGraph& g,
                                   const target::Target& target, int maximum, const CompileNarrowed& compile) {
  if (maximum < 2 || whole.manifest.sizes.empty()) return whole;
  return VariantSearch(g, target, maximum, compile).run(std::move(whole));
}

}  // namespace zellige::run
