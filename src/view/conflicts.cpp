#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "graph/error.hpp"
#include "plan/swizzle_search.hpp"
#include "view/access.hpp"

namespace zellige::view {
namespace {

// Returns the byte address that each lane of a warp-wide access uses. `lanes`: element indices; -1: an inactive lane.
predict::BankAccess addresses(const WarpPattern& a, const std::vector<long long>& lanes, const SharedLayout& l) {
  predict::BankAccess b{.bytes = a.bytes, .load = !a.matrix && a.name.rfind("st", 0) != 0};
  for (long long i : lanes) b.address.push_back(i < 0 ? -1 : l.address(i));
  return b;
}

// Returns the layout's strides above 1, sorted. Each is a length of rows to which padding may be added.
std::vector<long long> row_strides(const SharedLayout& l) {
  std::set<long long> strides;
  for (const ValueNode& n : leaves_of(l.unswizzled()))
    if (n.s.v > 1 && n.d.v > 1) strides.insert(n.d.v);
  return {strides.begin(), strides.end()};
}

// Returns the layout `unswizzled` with `shift` elements of padding after each `row` elements: strides that
// are multiples of `row` grow in proportion. Returns nullopt if a stride above `row` is no multiple of it.
std::optional<Value> padded(const Value& unswizzled, long long row, long long shift) {
  Value v = unswizzled;
  for (ValueNode& n : v.nodes) {
    if (n.kids >= 0 || n.d.v < row || n.s.v <= 1) continue;
    if (n.d.v % row) return std::nullopt;
    n.d.v = n.d.v / row * (row + shift);
  }
  return v;
}

// Returns the name of the swizzle mode of TMA and WGMMA that equals the swizzle of `c`, or "" if there is
// none. `bits` is the size of an element.
std::string hardware_name(const plan::SwizzleChoice& c, int bits) {
  const int base = c.M + std::countr_zero(unsigned(bits)) - std::countr_zero(8u);  // bits are a power of two
  if (base != 4 || c.S != 3 || c.B < 1 || c.B > 3) return "";
  return fmt::format("{}-byte swizzle of TMA and WGMMA", 16 << c.B);
}

// Searches for layouts of a tensor by plan::choose_swizzle.
struct LayoutSearch {
  const std::vector<WarpPattern>& accesses;
  const SharedLayout& l;
  SharedLayout unswizzled;
  // Elements per element of the search: more than 1 for sub-byte elements, which are searched in bytes.
  long long unit;

  // Returns the tensor's memory as a matrix with rows of `row` elements.
  plan::Footprint footprint(long long row) const {
    const long long last = (unswizzled.bytes() * 8 / l.bits() + unit - 1) / unit;
    row = row / unit;
    return {.rows = (last + row - 1) / row,
            .columns = row,
            .row_stride = row,
            .element_bytes = std::max(1, l.bits() / 8),
            .chunk = 1};
  }
  // Returns the accesses as (row, column) of each lane, if the tensor's memory is a matrix with rows of `row` elements.
  std::vector<plan::AccessPattern> patterns(long long row) const {
    std::vector<plan::AccessPattern> all;
    for (const WarpPattern& a : accesses) {
      plan::AccessPattern p{.bytes = std::max(a.bytes, l.bits() / 8), .matrix = a.matrix, .name = a.name};
      for (const auto& lanes : a.instances) {
        p.instances.emplace_back();
        for (long long i : lanes) {
          const long long x = i < 0 ? 0 : unswizzled.offset(i) / unit;
          p.instances.back().emplace_back(i < 0 ? -1 : static_cast<int>(x / (row / unit)),
                                          static_cast<int>(x % (row / unit)));
        }
      }
      all.push_back(std::move(p));
    }
    return all;
  }
  // Returns the layout with the swizzle and padding of choice `c`, which was made for rows of `row` elements.
  // Returns nullopt if such rows cannot be padded.
  std::optional<Value> arranged(const plan::SwizzleChoice& c, long long row) const {
    const std::optional<Value> rows = c.shift ? padded(l.unswizzled(), row, c.shift * unit) : l.unswizzled();
    if (!rows || !c.B) return rows;
    const int base = c.M + std::countr_zero(static_cast<unsigned long long>(unit));  // a power of two
    return algebra::composed(swizzle_value(c.B, base, c.S), number(0), *rows);
  }
  // Returns the layout with the swizzle and padding of choice `c`, made for rows of `row` elements, and the layout's
  // bank conflicts. Returns nullopt if the rows cannot be padded, or if the choice has neither swizzle nor padding.
  std::optional<Remedy> remedy(const plan::SwizzleChoice& c, long long row) const {
    const std::optional<Value> layout = arranged(c, row);
    if (!layout || (!c.B && !c.shift)) return std::nullopt;
    Remedy r{.kind = !c.shift ? "swizzle"
                     : !c.B   ? "padding"
                              : "swizzle and padding",
             .layout = *layout,
             .hardware = c.shift ? "" : hardware_name(c, unit > 1 ? 8 : l.bits())};
    const SharedLayout arranged(*layout, l.bits());
    r.extra_bytes = std::max(0LL, arranged.bytes() - unswizzled.bytes());
    for (const WarpPattern& a : accesses) {
      const Conflicts after = conflicts(a, arranged);
      r.wavefronts += after.wavefronts;
      r.ideal += after.ideal;
      r.degree = std::max(r.degree, after.degree);
    }
    return r;
  }
};

// Returns whether a has fewer wavefronts than b, or equally many and less additional memory.
bool better(const Remedy& a, const Remedy& b) {
  return std::make_pair(a.wavefronts, a.extra_bytes) < std::make_pair(b.wavefronts, b.extra_bytes);
}

}  // namespace

Conflicts conflicts(const WarpPattern& a, const SharedLayout& l) {
  Conflicts c;
  for (const auto& lanes : a.instances) {
    predict::BankAccess at = addresses(a, lanes, l);
    const predict::Wavefronts w = predict::evaluate(at);
    ++c.instances;
    c.wavefronts += w.total;
    c.ideal += w.ideal;
    c.degree = std::max(c.degree, w.degree);
    if (c.instances == 1 || w.total > c.worst.total) c.addresses = std::move(at), c.worst = w;
  }
  return c;
}

Remedies remedies(const std::vector<WarpPattern>& accesses, const SharedLayout& l) {
  Remedies r;
  const LayoutSearch search{accesses, l, SharedLayout(l.unswizzled(), l.bits()), std::max(1, 8 / l.bits())};
  long long now = 0;
  for (const WarpPattern& a : accesses) now += conflicts(a, search.unswizzled).wavefronts;
  std::vector<long long> rows = row_strides(l);
  if (rows.empty()) rows.push_back(std::max(1LL, search.unswizzled.bytes() * 8 / l.bits()));
  std::optional<Remedy> best[2];  // the best swizzle, with padding or without; the best padding alone
  for (const bool may_xor : {true, false}) {
    for (const long long row : rows) {
      if (row % search.unit) continue;
      const plan::SwizzleLimits limits{.may_xor = may_xor, .may_shift = !l.unswizzled().is_leaf() || rows.size() > 1};
      plan::SwizzleChoice c;
      try {
        c = plan::choose_swizzle(search.footprint(row), search.patterns(row), limits);
      } catch (const Error& e) {  // the accesses do not fit rows of this length
        if (r.reason.empty()) r.reason = e.what();
        continue;
      }
      if (may_xor && c.degree > 1 && (r.reason.empty() || c.reason.find("no arrangement") != std::string::npos))
        r.reason = c.reason;
      const std::optional<Remedy> found = search.remedy(c, row);
      std::optional<Remedy>& current = best[may_xor ? 0 : 1];
      if (found && found->wavefronts < now && (!current || better(*found, *current))) current = found;
    }
  }
  for (const auto& found : best)
    if (found) r.all.push_back(*found);
  std::ranges::stable_sort(r.all, better);
  if (r.all.size() == 2 && to_text(r.all[0].layout) == to_text(r.all[1].layout)) r.all.pop_back();
  if (!r.all.empty() && r.all[0].degree <= 1) r.reason.clear();
  return r;
}

}  // namespace zellige::view
