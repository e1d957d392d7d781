#include "variants/parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "graph/error.hpp"
#include "manifest/variants.hpp"
#include "plan/at_sizes.hpp"
#include "plan/estimate.hpp"
#include "tile/at_sizes.hpp"

namespace zellige::variants {
namespace {

using graph::NamedSize;

constexpr std::int64_t vector_elements = 8;  // 16 bytes of the narrowest floating-point type that is read in vectors

bool has(const SizedPart& part, const SizePoint& p) {
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    const NamedSize& s = part.sizes[i];
    if (p.values[i] < s.min || p.values[i] > s.max || p.values[i] % s.multiple != 0) return false;
  }
  return true;
}

/// Returns the expected time of a program's launch where the sizes have these values.
double us_at(const emit::EmittedProgram& p, const std::vector<NamedSize>& sizes, const SizePoint& point,
             const target::Target& target) {
  std::vector<std::int64_t> own;
  for (const tile::Size& s : p.manifest.sizes)
    own.push_back(
        point.values[static_cast<std::size_t>(std::ranges::find(sizes, s.name, &NamedSize::name) - sizes.begin())]);
  if (own.empty()) return p.cost.us;
  return plan::estimate_cost(plan::at_sizes(p.plan, own), target).us;
}

}  // namespace

ValueParts::ValueParts(const graph::KernelGraph& g, const target::Target& target, emit::EmittedProgram whole,
                       const CompileNarrowed& compile)
    : g_(g), target_(target), compile_(compile) {
  for (const tile::Size& s : whole.manifest.sizes)
    sizes_.push_back(*std::ranges::find(g_.sizes->names, s.name, &NamedSize::name));
  rows_ = tile::sizes_of_rows(whole.plan.program, vector_elements);
  parts_.push_back({sizes_, std::move(whole), {}});
  add_parts();
}

/// Compiles the graph for a part; nothing if there is no program for it.
std::optional<SizedPart> ValueParts::compiled(const std::vector<NamedSize>& sizes) const {
  graph::KernelGraph g = graph::narrowed(g_, sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const NamedSize &s = sizes[i], &all = sizes_[i];
    if (s.minimum() == s.greatest()) g.name += fmt::format("_{}is{}", s.name, s.greatest());
    if (s.minimum() < s.greatest() && s.greatest() < all.greatest())
      g.name += fmt::format("_{}to{}", s.name, s.greatest());
    if (s.multiple > all.multiple) g.name += fmt::format("_{}by{}", s.name, s.multiple);
  }
  try {
    SizedPart part{sizes, compile_(std::move(g)), {}};
    for (const NamedSize& s : sizes)
      part.program.manifest.range.push_back(
          {.name = s.name, .low = s.minimum(), .high = s.greatest(), .multiple = s.multiple});
    manifest::check_variant(parts_[0].program.manifest, part.program.manifest);
    for (const SizePoint& p : points_) part.us.push_back(time(part, p));
    return part;
  } catch (const Rejected&) {
    return std::nullopt;
  } catch (const Fault&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;
  }
}

double ValueParts::time(const SizedPart& part, const SizePoint& p) const {
  return has(part, p) ? us_at(part.program, sizes_, p, target_) : INFINITY;
}

/// Returns the ranges of size i of which parts are tried: up to each end, and, where kernels depend on it, the typical values
/// alone. The last one is the size's own.
std::vector<NamedSize> ValueParts::ranges(std::size_t i) const {
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
void ValueParts::add_points(const std::vector<std::vector<NamedSize>>& ranges) {
  points_ = {SizePoint{}};
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    std::set<std::int64_t> values(sizes_[i].typical.begin(), sizes_[i].typical.end());
    for (const NamedSize& r : ranges[i]) {
      values.insert(r.greatest());
      const std::int64_t within = r.greatest() * 3 / 4 / r.multiple * r.multiple;
      if ((sizes_.size() == 1 || rows_.contains(sizes_[i].name)) && within >= r.minimum()) values.insert(within);
    }
    std::vector<SizePoint> all;
    for (const SizePoint& p : points_)
      for (const std::int64_t v : values) {
        SizePoint& with = all.emplace_back(p);
        with.values.push_back(v);
        if (std::ranges::count(sizes_[i].typical, v) > 0) with.weight *= 2;
      }
    points_ = std::move(all);
  }
}

/// Returns whether a part has one value of a size, and a part of the values of another one. What a value alone gives, it gives for
/// all of the other size's.
bool ValueParts::is_fixed_in_part(const std::vector<NamedSize>& sizes) const {
  bool fixed = false, part = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool one = sizes[i].minimum() == sizes[i].greatest();
    fixed = fixed || (one && sizes[i].greatest() > sizes_[i].minimum());
    part = part || (!one && sizes[i].greatest() < sizes_[i].greatest());
  }
  return fixed && part;
}

/// Compiles the parts, which are products of ranges of the sizes.
void ValueParts::add_parts() {
  constexpr std::size_t limit = 16;
  std::vector<std::vector<NamedSize>> of;
  for (std::size_t i = 0; i < sizes_.size(); ++i) of.push_back(ranges(i));
  const auto count = [&] {
    return std::accumulate(of.begin(), of.end(), std::size_t{1},
                           [](std::size_t n, const auto& list) { return n * list.size(); });
  };
  while (count() > limit) {  // the size with the largest number of ranges loses the one before its own
    auto& longest = *std::ranges::max_element(of, {}, &std::vector<NamedSize>::size);
    longest.erase(longest.end() - 2);
  }
  add_points(of);
  for (const SizePoint& p : points_) parts_[0].us.push_back(time(parts_[0], p));
  for (std::size_t box = 0, all = count(); box + 1 < all; ++box) {
    std::vector<NamedSize> sizes;
    for (std::size_t i = 0, rest = box; i < of.size(); rest /= of[i].size(), ++i)
      sizes.push_back(of[i][rest % of[i].size()]);
    if (is_fixed_in_part(sizes)) continue;
    if (std::optional<SizedPart> part = compiled(sizes)) parts_.push_back(*std::move(part));
  }
}

/// Returns whether another part for the multiples of `aligned` among its values may be faster.
bool ValueParts::may_align(const SizedPart& part) const {
  return std::ranges::any_of(part.sizes, [&](const NamedSize& s) {
    return rows_.contains(s.name) && s.minimum() < s.greatest() && s.multiple % vector_elements != 0;
  });
}

std::optional<SizedPart> ValueParts::aligned(const SizedPart& part) const {
  constexpr double worth = 0.99;
  std::vector<NamedSize> sizes = part.sizes;
  SizePoint corner;
  for (NamedSize& s : sizes) {
    if (rows_.contains(s.name)) s.multiple = std::lcm(s.multiple, vector_elements);
    std::erase_if(s.typical, [&](std::int64_t v) { return v % s.multiple != 0; });
    corner.values.push_back(s.greatest());
  }
  if (std::ranges::any_of(sizes, [](const NamedSize& s) { return s.minimum() > s.greatest(); })) return std::nullopt;
  std::optional<SizedPart> made = compiled(sizes);
  if (!made || time(*made, corner) > worth * time(part, corner)) return std::nullopt;
  return made;
}

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

}  // namespace zellige::variants
