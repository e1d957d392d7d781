#include "tile/found_sizes.hpp"

#include <algorithm>
#include <optional>

#include "graph/error.hpp"

namespace zellige::tile {
namespace {

/// The value of a size, and the extent that it is from.
struct SizeFrom {
  std::int64_t value;
  const FoundExtent* extent;
  std::string origin() const { return fmt::format("dimension {} of {} {}", extent->dim, extent->role, extent->tensor); }
};

class SizesFromExtents {
 public:
  SizesFromExtents(const SizesOf& of, const std::vector<FoundExtent>& extents)
      : of_(of), extents_(extents), found_(of.sizes.size()) {}

  std::vector<std::int64_t> values(std::string_view otherwise) {
    for (const FoundExtent& e : extents_)
      if (const int size = e.is->as_size(); size >= 0) named(e, size);
    for (bool more = true; more;) {
      more = false;
      for (const FoundExtent& e : extents_) more = solved(e) || more;
    }
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (!found_[i]) fail("{} {}: no tensor's shape has {} alone{}", of_.what, of_.name, of_.sizes[i].name, otherwise);
      all.push_back(found_[i]->value);
    }
    for (std::size_t i = 0; i < all.size(); ++i) check_value(of_, i, all[i], [&] { return found_[i]->origin(); });
    for (const FoundExtent& e : extents_) check(e, all);
    return all;
  }

 private:
  std::optional<SizeFrom>& found(int size) { return found_[static_cast<std::size_t>(size)]; }

  void named(const FoundExtent& e, int size) {
    const SizeFrom here{e.found, &e};
    std::optional<SizeFrom>& before = found(size);
    if (before && before->value != here.value)
      fail("{} {}: {} is {}, {}, and {}, {}", of_.what, of_.name, of_.sizes[static_cast<std::size_t>(size)].name,
           before->value, before->origin(), here.value, here.origin());
    if (!before) before = here;
  }

  /// Sets the only unknown size of an extent, which is a multiple of it and a constant. Returns false if there is none.
  bool solved(const FoundExtent& e) {
    int unknown = -1;
    std::vector<std::int64_t> values(found_.size(), 0);
    for (const int size : e.is->sizes())
      if (found(size))
        values[static_cast<std::size_t>(size)] = found(size)->value;
      else if (unknown >= 0)
        return false;
      else
        unknown = size;
    if (unknown < 0) return false;
    std::int64_t& value = values[static_cast<std::size_t>(unknown)];
    const std::int64_t begin = e.is->at(values);
    value = 1;
    const std::int64_t step = e.is->at(values) - begin;
    if (step == 0 || (e.found - begin) % step != 0) wrong(e, e.is->text(of_.sizes), "");
    found(unknown) = {(e.found - begin) / step, &e};
    return true;
  }

  void check(const FoundExtent& e, const std::vector<std::int64_t>& values) {
    const std::int64_t right = e.is->at(values);
    if (right == e.found) return;
    std::string because;
    for (const int size : e.is->sizes())
      because += fmt::format("; {} is {}, {}", of_.sizes[static_cast<std::size_t>(size)].name, found(size)->value,
                             found(size)->origin());
    const std::string text = e.is->text(of_.sizes);
    wrong(e, e.is->is_constant() ? text : fmt::format("{} = {}", text, right), because);
  }

  [[noreturn]] void wrong(const FoundExtent& e, const std::string& expected, const std::string& because) const {
    fail("{} {}, {} {}: expected {} elements along dimension {}, found {}{}", of_.what, of_.name, e.role, e.tensor,
         expected, e.dim, e.found, because);
  }

  const SizesOf& of_;
  const std::vector<FoundExtent>& extents_;
  std::vector<std::optional<SizeFrom>> found_;  // by size
};

}  // namespace

std::vector<std::int64_t> found_sizes(const SizesOf& of, const std::vector<FoundExtent>& extents,
                                      std::string_view otherwise) {
  return SizesFromExtents(of, extents).values(otherwise);
}

void check_value(const SizesOf& of, std::size_t size, std::int64_t value, const std::function<std::string()>& origin) {
  const Size& s = of.sizes[size];
  const auto found = [&] { return fmt::format("{}{}", value, origin ? ", " + origin() : ""); };
  if (value < s.low || value > s.high)
    fail("{} {}: expected {} from {} to {}, found {}", of.what, of.name, s.name, s.low, s.high, found());
  if (value % s.multiple != 0)
    fail("{} {}: expected {} to be a multiple of {}, found {}", of.what, of.name, s.name, s.multiple, found());
}

}  // namespace zellige::tile
