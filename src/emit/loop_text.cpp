#include <algorithm>

#include "emit/nest_text.hpp"

namespace zellige::emit {
namespace {

/// A digit of the thread's number: it moves the thread along an axis by (thread / below % extent) * stride elements.
struct Digit {
  std::int64_t below, extent, stride;
};
/// Returns the digits (thread / below % extent) of the thread's number that determine the thread's position
/// along an axis. Digits that are contiguous both in the thread's number and along the axis are merged.
std::vector<Digit> digits(View threads, int axis) {
  std::vector<Digit> result;
  std::int64_t below = 1;
  for (const kernel::Mode& m : kernel::modes(threads)) {
    Digit* last = result.empty() ? nullptr : &result.back();
    if (m.stride != 0 && m.basis == axis && m.extent > 1) {
      if (last && last->below * last->extent == below && last->extent * last->stride == m.stride)
        last->extent *= m.extent;
      else
        result.push_back({below, m.extent, m.stride});
    }
    below *= m.extent;
  }
  return result;
}

}  // namespace

ThreadShare share(const KernelText& k, const Context& c, int axis, const ThreadLoop& how) {
  const std::int64_t unit = axis == 0 ? c.vector() : 1, scale = how.scaled ? unit : 1;
  const std::int64_t total = c.items(axis) / unit, trip_count = c.steps(axis), to = how.to < 0 ? trip_count : how.to;
  const bool part = how.within > 0 && how.within < trip_count;
  CountedLoop loop = counted(how.counter, how.within > 0 ? how.within : to, how.type, how.from);
  const Index step = loop.at;
  if (part) loop.at = Index::named("first") + loop.at;
  Index item;
  std::int64_t last = 0;  // the last item of a thread
  for (const Digit& d : digits(View(c.share)[0], axis)) {
    const bool top = d.below * d.extent == c.threads();
    item = item + digit(Index::named("tid"), d.below, d.extent, top) * (d.stride / unit);
    last += (d.extent - 1) * d.stride / unit;
  }
  const std::vector<kernel::Mode> values = kernel::modes(View(c.share)[1]);
  for (std::size_t i = 1; i < values.size(); ++i)  // after the vector
    if (values[i].extent > 1 && values[i].basis == axis) {
      item = item + loop.at * (values[i].stride / unit);
      last += (values[i].extent - 1 - (trip_count - to)) * values[i].stride / unit;
    }
  if (part && trip_count % how.within != 0) last = total;
  const bool ragged = how.guarded && last >= total;
  ThreadShare s{how.within > 0 ? step : loop.at, item * scale, 0};
  const bool declared = !s.item.is_name() && !s.item.is_constant();
  const bool loops = to - how.from > 1;
  if (loops) k.out.line("#pragma unroll{}", how.unroll);
  if (loops || declared || !ragged) k.out.open("{}{{", loop.head), ++s.open;
  if (declared) {
    k.out.line("const {} {} = {};", how.type, how.item, s.item);
    s.item = Index::named(how.item);
  }
  if (ragged) {
    const std::int64_t full = loops && *how.unroll == 0 && !part && how.within == 0 ? full_steps(c, axis) : 0;
    const std::string always = full > 0 ? fmt::format("{} < {} || ", how.counter, full) : "";
    k.out.open("if ({}{} < {}) {{", always, s.item, total * scale), ++s.open;
  }
  return s;
}

std::int64_t full_steps(const Context& c, int axis) {
  std::int64_t last = 0, step = 0;  // of all threads together; of one step
  for (const Digit& d : digits(View(c.share)[0], axis)) last += (d.extent - 1) * d.stride;
  const std::vector<kernel::Mode> values = kernel::modes(View(c.share)[1]);
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i].extent == 1 || values[i].basis != axis) continue;
    if (step > 0) return 0;
    step = values[i].stride;
  }
  const std::int64_t left = c.items(axis) - last - (axis == 0 ? c.vector() : 1);
  return left < 0 ? 0 : step == 0 ? c.steps(axis) : std::min(c.steps(axis), left / step + 1);
}

void in_full_steps(const Context& c, bool unrolled, std::int64_t first,
                   const std::function<void(std::int64_t, std::int64_t)>& each) {
  const std::int64_t full = unrolled ? 0 : full_steps(c, 0), all = c.steps(0);
  const bool split = full > first && full < all;
  if (split) each(first, full);
  if (first < all) each(split ? full : first, all);
}

void close(const KernelText& k, const ThreadShare& s) {
  for (int i = 0; i < s.open; ++i) k.out.close();
}

std::vector<Index> coordinate(const KernelText& k, const char* type, const Index& item, const Context& c, int axis) {
  std::vector<Index> at(c.domain.size());
  std::vector<kernel::Mode> leaves = kernel::modes(View(c.tile)[axis]);
  if (axis == 0) leaves.erase(leaves.begin());  // the vector
  std::int64_t total = 1, below = 1;
  for (const kernel::Mode& m : leaves) total *= m.extent;
  for (const kernel::Mode& m : leaves) {
    const Index index = digit(item, below, m.extent, below * m.extent == total) * m.stride;
    below *= m.extent;
    at[m.basis] = index.is_constant() ? index : Index::named(fmt::format("i{}", m.basis));
    if (!index.is_constant()) k.out.line("const {} {} = {};", type, at[m.basis], index);
  }
  return at;
}

}  // namespace zellige::emit
