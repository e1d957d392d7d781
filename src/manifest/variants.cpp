#include "manifest/variants.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "graph/error.hpp"

namespace zellige::manifest {
namespace {

bool has(const tile::Size& s, std::int64_t value) {
  return value >= s.low && value <= s.high && value % s.multiple == 0;
}

/// Returns whether all values of `part` are values of `whole`.
bool within(const tile::Size& part, const tile::Size& whole) {
  return part.low >= whole.low && part.high <= whole.high && part.multiple % whole.multiple == 0;
}

std::string text_of(const tile::Size& s) {
  if (s.low == s.high) return fmt::format("{} = {}", s.name, s.low);
  return fmt::format("{} from {} to {}{}", s.name, s.low, s.high,
                     s.multiple > 1 ? fmt::format(" in steps of {}", s.multiple) : "");
}

const tile::Size* size_named(const tile::SizeList& list, const std::string& name) {
  const auto at = std::ranges::find(list, name, &tile::Size::name);
  return at == list.end() ? nullptr : &*at;
}

bool is_callers(const TensorPlace& t) { return t.role != Role::intermediate; }

/// Returns a number of the manifest where its sizes have these values; `largest` is what it is for the largest ones.
std::int64_t value_of(const Manifest& m, const SizedField& field, std::int64_t largest,
                      std::span<const std::int64_t> values) {
  const auto sized = m.sized.find(field);
  return sized == m.sized.end() ? largest : sized->second.at(values);
}

/// Checks one variant of a program.
class VariantCheck {
 public:
  VariantCheck(const Manifest& whole, const Manifest& variant, std::size_t index)
      : whole_(whole), of_(variant), who_(fmt::format("program {}, variant {}", whole.name, index + 1)) {}

  void run() const {
    if (!of_.variants.empty()) fail("{}: expected a program without variants of its own", who_);
    if (of_.target != whole_.target)
      fail("{}: expected kernels for {}, as the whole program has, found {}", who_, whole_.target, of_.target);
    range();
    std::vector<std::int64_t> values(whole_.sizes.size());
    const auto corners = std::size_t{1} << std::min<std::size_t>(values.size(), 10);
    for (std::size_t corner = 0; corner < corners; ++corner) {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = i < 10 && (corner >> i & 1) ? of_.range[i].high : of_.range[i].low;
      tensors(values);
    }
  }

 private:
  void range() const {
    if (of_.range.size() != whole_.sizes.size())
      fail("{}: expected the range of {} sizes, found {}", who_, whole_.sizes.size(), of_.range.size());
    for (std::size_t i = 0; i < of_.range.size(); ++i) {
      const tile::Size &r = of_.range[i], &all = whole_.sizes[i];
      if (r.name != all.name) fail("{}: expected the range of {}, found one of {}", who_, all.name, r.name);
      if (r.multiple < 1 || r.low > r.high || r.low % r.multiple || r.high % r.multiple || !within(r, all))
        fail("{}: expected values of {}, as the whole program has, found {}", who_, text_of(all), text_of(r));
      const tile::Size* proved = size_named(of_.sizes, r.name);
      if (!proved && r.low != r.high)
        fail("{}: expected one value of {}, which its kernels have as a constant, found {}", who_, r.name, text_of(r));
      if (proved && !within(r, *proved))
        fail("{}: expected values of {}, for which its kernels are proved, found {}", who_, text_of(*proved),
             text_of(r));
    }
    for (const tile::Size& s : of_.sizes)
      if (!size_named(whole_.sizes, s.name)) fail("{}: the whole program has no size {}", who_, s.name);
    if (!of_.relations.empty() && of_.relations.size() != whole_.relations.size())
      fail("{}: expected the relations of the whole program", who_);
  }

  /// Requires that callers' tensors are those of the whole program at these values of its sizes.
  void tensors(std::span<const std::int64_t> values) const {
    const std::vector<std::int64_t> own = values_in(whole_, of_, values);
    const auto count = std::ranges::count_if(whole_.tensors, is_callers);
    if (std::ranges::count_if(of_.tensors, is_callers) != count)
      fail("{}: expected {} inputs and outputs, as the whole program has, found {}", who_, count,
           std::ranges::count_if(of_.tensors, is_callers));
    for (int t = 0; t < static_cast<int>(count); ++t) {
      const TensorPlace &mine = of_.tensors[t], &theirs = whole_.tensors[t];
      if (mine.role != theirs.role || mine.position != theirs.position || mine.dtype != theirs.dtype ||
          mine.constant != theirs.constant || mine.memory != theirs.memory || mine.shape.size() != theirs.shape.size())
        fail("{}: expected {} {} at index {}, as the whole program has, found {} {}", who_, name(theirs.role),
             theirs.name, t, name(mine.role), mine.name);
      for (int d = 0; d < static_cast<int>(mine.shape.size()); ++d) {
        equal(t, {SizedField::extent, t, 0, d}, mine.shape[d], theirs.shape[d], values, own);
        if (mine.shape[d] > 1) equal(t, {SizedField::stride, t, 0, d}, mine.strides[d], theirs.strides[d], values, own);
      }
    }
  }

  void equal(int t, const SizedField& field, std::int64_t mine, std::int64_t theirs,
             std::span<const std::int64_t> values, std::span<const std::int64_t> own) const {
    const std::int64_t right = value_of(whole_, field, theirs, values), found = value_of(of_, field, mine, own);
    if (right == found) return;
    fail("{}: expected {} as the {} of dimension {} of {}, as the whole program has, found {}", who_, right,
         field.kind == SizedField::extent ? "extent" : "stride", field.at, whole_.tensors[t].name, found);
  }

  const Manifest &whole_, &of_;
  const std::string who_;
};

}  // namespace

std::vector<const Manifest*> programs_of(const Manifest& m) {
  std::vector<const Manifest*> all{&m};
  for (const Manifest& v : m.variants) all.push_back(&v);
  return all;
}

const Manifest& variant_at(const Manifest& m, std::span<const std::int64_t> values) {
  for (const Manifest& v : m.variants) {
    bool in = v.range.size() == values.size();
    for (std::size_t i = 0; in && i < values.size(); ++i) in = has(v.range[i], values[i]);
    if (in) return v;
  }
  return m;
}

std::vector<std::int64_t> values_in(const Manifest& whole, const Manifest& variant,
                                    std::span<const std::int64_t> values) {
  std::vector<std::int64_t> own;
  for (const tile::Size& s : variant.sizes)
    own.push_back(values[static_cast<std::size_t>(size_named(whole.sizes, s.name) - whole.sizes.data())]);
  return own;
}

std::string text_of(const tile::SizeList& range) {
  std::string text;
  for (const tile::Size& s : range) text += (text.empty() ? "" : ", ") + text_of(s);
  return text;
}

std::int64_t largest_workspace(const Manifest& m) {
  std::int64_t bytes = m.buffer_size;
  for (const Manifest& v : m.variants) bytes = std::max(bytes, v.buffer_size);
  return bytes;
}

void order_tensors(Manifest& m) {
  std::vector<int> order(m.tensors.size()), to(m.tensors.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int t) { return std::pair(m.tensors[t].role, m.tensors[t].position); });
  std::vector<TensorPlace> tensors;
  for (std::size_t i = 0; i < order.size(); ++i)
    to[order[i]] = static_cast<int>(i), tensors.push_back(std::move(m.tensors[order[i]]));
  for (TensorPlace& t : tensors)
    if (t.memory >= 0) t.memory = to[t.memory];
  m.tensors = std::move(tensors);
  for (KernelLaunch& k : m.kernels)
    for (int& t : k.tensors)
      if (t >= 0) t = to[t];
  std::map<SizedField, tile::SizeExpression> sized;
  for (const auto& [field, is] : m.sized) {
    SizedField moved = field;
    const bool of_tensor = field.kind == SizedField::extent || field.kind == SizedField::stride ||
                           field.kind == SizedField::bytes || field.kind == SizedField::offset;
    if (of_tensor) moved.of = to[field.of];
    sized.emplace(moved, is);
  }
  m.sized = std::move(sized);
}

void check_variant(Manifest whole, Manifest variant) {
  order_tensors(whole), order_tensors(variant);
  VariantCheck(whole, variant, 0).run();
}

void check_variants(const Manifest& m) {
  if (m.variants.size() >= max_variants)
    fail("program {}: expected at most {} variants, found {}", m.name, max_variants - 1, m.variants.size());
  for (std::size_t v = 0; v < m.variants.size(); ++v) VariantCheck(m, m.variants[v], v).run();
}

}  // namespace zellige::manifest
