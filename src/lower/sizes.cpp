#include "lower/sizes.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "graph/error.hpp"
#include "lower/mask_ends.hpp"
#include "lower/size_counts.hpp"
#include "lower/size_digits.hpp"
#include "lower/size_marks.hpp"
#include "lower/size_views.hpp"
#include "tile/size_classes.hpp"

namespace zellige::lower {
namespace {

using tile::Node;
using tile::SymbolicNumber;

/// A dimension of the tensor of a load or store, or one that a mask masks.
struct ViewDimension {
  int node = -1, dim = -1;
};

/// Calls visit(class, place) for each dimension of a tensor that a kernel loads or stores.
template <class Visit>
void each_place(const tile::TileProgram& kernel, const tile::SizeClasses& classes, const Visit& visit) {
  for (int i = 0; i < static_cast<int>(kernel.nodes.size()); ++i)
    for (int d = 0; d < kernel.nodes[i].view.rank(); ++d)
      if (const int which = classes.of_view(i, d); which >= 0) visit(which, ViewDimension{i, d});
}

/// Returns whether a digit of the blocks' index, or the loop, numbers tiles of another class, too, such as parts of a sum.
bool shares_tiles(const tile::TileProgram& kernel, const tile::SizeClasses& classes, int which,
                  const tile::Interval& along, bool iterates) {
  bool shares = false;
  each_place(kernel, classes, [&](int other, const ViewDimension& at) {
    const tile::TileView& view = kernel.nodes[at.node].view;
    shares = shares || (other != which && !view.fixed(at.dim) && view.iterates(at.dim) == iterates &&
                        view.along(at.dim, kernel).numbered_as(along));
  });
  return shares && (along.axis() >= 0 || iterates);
}

tile::ValuesBySize largest(const tile::SizeList& sizes) {
  tile::ValuesBySize all;
  for (const tile::Size& s : sizes) all.push_back(s.high);
  return all;
}

/// Makes the diagonals of a mask of queries and keys sizes, if they are the difference of their numbers.
void set_diagonals(tile::TilePrograms& p, tile::TileProgram& kernel, int node) {
  Node& n = kernel.nodes[node];
  if (n.kind != tile::NodeKind::map || n.op != graph::OpKind::mask) return;
  const auto extent = [&](int dim) {
    const tile::Interval along = n.view.along(dim, kernel);
    return along.size() < 0 ? SymbolicNumber(along.end()) : SymbolicNumber::of(p.sizes, along.size());
  };
  const SymbolicNumber shift = extent(n.key) + extent(n.dim) * -1;
  if (shift.is_constant()) return;
  const auto is_shift = [&](const std::optional<std::int64_t>& kept) {
    return kept && *kept == shift.at(largest(p.sizes)) && shift.low() >= 0;
  };
  if (is_shift(n.kept.tril)) n.tril_size = size_of(p.sizes, shift);
  if (is_shift(n.kept.triu)) n.triu_size = size_of(p.sizes, shift);
}

/// Makes the length of a mask a size, if a mask of the graph has one with that largest value.
void set_length(tile::TilePrograms& p, Node& n) {
  if (n.kind != tile::NodeKind::map || n.op != graph::OpKind::mask || !n.kept.length || n.length_size >= 0) return;
  for (int s = 0; s < static_cast<int>(p.sizes.size()); ++s)
    for (const auto& [name, dim] : p.sizes[static_cast<std::size_t>(s)].marks) {
      if (dim != mask_length || SymbolicNumber::of(p.sizes, s).high() != *n.kept.length) continue;
      if (n.length_size >= 0 && n.length_size != s)
        fail("{}: masks end at {} and {}, which differ at other sizes: give them other maxima", p.name,
             SymbolicNumber::of(p.sizes, n.length_size).text(), SymbolicNumber::of(p.sizes, s).text());
      n.length_size = s;
    }
}

/// Gives sizes to the dimensions of tensors, and follows them through views.
class SizesOfTensors {
 protected:
  explicit SizesOfTensors(tile::TilePrograms& p) : p_(p) {}

  bool is_input(int tensor) const { return std::ranges::count(p_.inputs, tensor) > 0; }

  /// Gives an extent to a dimension of a tensor. `where` is the kernel or view that asks for it.
  void give(int tensor, int dim, const ExtentFactors& factors, const std::string& where) {
    const SymbolicNumber now = p_.extent(tensor, dim), n = product_of(factors);
    if (factors.size() > 1) factors_.try_emplace({tensor, dim}, factors);
    const std::string& name = p_.tensors[tensor].name;
    if (now == n) return;
    if (!now.is_constant()) fail("{}: dimension {} of {} is {}, and {}", where, dim, name, now.text(), n.text());
    if (is_input(tensor)) fail("{}: dimension {} of {} is {}, too", where, dim, name, n.text());
    if (p_.tensors[tensor].shape[dim] != n.high())
      fail("{}: {} is {}, and dimension {} of {} is not", where, n.text(), n.high(), dim, name);
    p_.sizes[size_of(p_.sizes, n)].of.emplace_back(tensor, dim);
    changed_ = true;
  }

  ExtentFactors factors_of(int tensor, int dim) const {
    const auto found = factors_.find({tensor, dim});
    if (found != factors_.end()) return found->second;
    const SymbolicNumber extent = p_.extent(tensor, dim);
    if (extent.is_constant()) return {SymbolicNumber(p_.tensors[tensor].shape[dim] - p_.starts(tensor)[dim])};
    return {extent + p_.start(tensor, dim) * -1};
  }

  /// Returns the layout of a tensor, or of the part of its base that a view shows, without what users see several times in a row.
  SizedLayout layout_of(int tensor) const {
    SizedLayout all{p_.tensors[tensor].shape, p_.starts(tensor), p_.tensors[tensor].strides, {}, {}};
    for (std::size_t d = 0; d < all.shape.size(); ++d) {
      all.shape[d] -= all.starts[d];
      all.extents.push_back(factors_of(tensor, static_cast<int>(d)));
    }
    return all;
  }

  /// Returns whether the extent of a dimension is the product of a size and of a constant other than 1.
  static bool any_scaled(const std::vector<SizedDimension>& dims) {
    return std::ranges::any_of(dims, [](const SizedDimension& dim) {
      return !product_of(dim.extent).is_constant() &&
             std::ranges::any_of(dim.extent, [](const SymbolicNumber& f) { return f.is_constant() && f.high() > 1; });
    });
  }

  static bool has_sizes(const SizedLayout& of) {
    return !std::ranges::all_of(of.extents, [](const ExtentFactors& f) { return product_of(f).is_constant(); });
  }

  /// Returns the dimensions of a view in its base, or of its base in a view that shows all of it; nothing if neither has sizes.
  std::vector<SizedDimension> dimensions_of(int tensor, const tile::TensorView& view, bool down) const {
    const SizedLayout base = layout_of(view.base);
    SizedLayout seen = layout_of(tensor);
    for (int d = 0; down && d < static_cast<int>(seen.shape.size()); ++d)
      if (const auto part = part_of(tensor, d))
        seen.known.emplace(d, part->extent);
      else if (const auto merged = marks_.merged_extent(tensor, d))
        seen.known.emplace(d, *merged);
    const std::string what =
        fmt::format("{}: {} is seen as {}", p_.name, p_.tensors[view.base].name, p_.tensors[tensor].name);
    const bool part = graph::size(seen.shape) < graph::size(base.shape);
    if (down ? !has_sizes(base) && seen.known.empty() : part || !has_sizes(seen)) return {};
    return down ? dimensions_in(base, seen, p_.sizes, what) : dimensions_in(seen, base, p_.sizes, what);
  }

  /// Returns the part of its base's dimension that a view shows along dimension `dim`; none: not one that depends on sizes.
  std::optional<SizedPartOfDimension> part_of(int tensor, int dim) const {
    if (!p_.view(tensor)) return std::nullopt;
    return marks_.part(tensor, dim, p_.starts(tensor)[dim], p_.tensors[tensor].shape[dim]);
  }

  /// Gives sizes to a view, or to its base. `guesses`: also where one is a constant times a size of the other. That is left until nothing
  /// else gives sizes, because what is a constant so far may be a size that is not known yet.
  void view_of(int tensor, tile::TensorView& view, bool guesses) {
    bool down = has_sizes(layout_of(view.base)) || marks_.has(view.base);
    std::vector<SizedDimension> dims = dimensions_of(tensor, view, down);
    if (any_scaled(dims)) {
      std::vector<SizedDimension> of_base;
      if (down && has_sizes(layout_of(tensor))) of_base = dimensions_of(tensor, view, false);
      if (!of_base.empty() && !any_scaled(of_base))
        dims = std::move(of_base), down = false;  // what is seen has more sizes than the base
      else if (!guesses)
        return;
    }
    const std::string& name = p_.tensors[tensor].name;
    const std::string what = fmt::format("{}: {} is seen as {}", p_.name, p_.tensors[view.base].name, name);
    for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
      const SymbolicNumber extent = product_of(dims[d].extent);
      if (const auto part = down ? part_of(tensor, d) : std::nullopt) {
        if (!part->begin.is_constant()) view.start_sizes[d] = size_of(p_.sizes, part->begin);
        if (const SymbolicNumber end = part->begin + part->extent; !end.is_constant()) give(tensor, d, {end}, what);
        continue;
      }
      if (dims[d].of < 0 || extent.is_constant()) continue;
      if (down && view.starts[d] != 0)
        fail("{}, from {} of dimension {} on, which is {}", what, view.starts[d], d, extent.text());
      if (down && view.shape[d] != p_.tensors[tensor].shape[d])
        fail("{}, and dimension {}, which is {}, is repeated", what, d, extent.text());
      give(down ? tensor : view.base, d, dims[d].extent, what);
    }
    if (down && lacks_sizes(tensor, dims)) up_from(tensor, view, guesses, what);
  }

  /// Returns whether a dimension of a view has a size that is none of its base.
  bool lacks_sizes(int tensor, const std::vector<SizedDimension>& in_base) const {
    for (int d = 0; d < static_cast<int>(in_base.size()); ++d)
      if (product_of(in_base[d].extent).is_constant() && !product_of(factors_of(tensor, d)).is_constant()) return true;
    return false;
  }

  /// Gives the sizes of a view to those dimensions of its base that have none: where it is seen as (B, H W), (B, 12, 14) is (B, H, W).
  void up_from(int tensor, const tile::TensorView& view, bool guesses, const std::string& what) {
    const std::vector<SizedDimension> dims = dimensions_of(tensor, view, false);
    if (any_scaled(dims) && !guesses) return;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d)
      if (dims[d].of >= 0 && !product_of(dims[d].extent).is_constant() && p_.extent(view.base, d).is_constant())
        give(view.base, d, dims[d].extent, what);
  }

  /// Sets the strides of a tensor that has some, if they depend on sizes.
  void strides_of(int tensor) {
    if (p_.tensors[tensor].strides.empty() || !has_sizes(layout_of(p_.memory_of(tensor)))) return;
    std::vector<SymbolicNumber> strides;
    if (const tile::TensorView* view = p_.view(tensor)) {
      const std::vector<SizedDimension> dims = dimensions_of(tensor, *view, true);
      for (std::size_t d = 0; d < dims.size(); ++d)
        strides.push_back(dims[d].of < 0 ? SymbolicNumber(p_.tensors[tensor].strides[d])
                                         : p_.stride(view->base, dims[d].of) * dims[d].steps);
    } else {
      strides = own_strides(p_, tensor);
    }
    if (!std::ranges::all_of(strides, &SymbolicNumber::is_constant)) p_.strides[tensor] = std::move(strides);
  }

  tile::TilePrograms& p_;
  SizeMarks marks_{p_};
  std::map<std::pair<int, int>, ExtentFactors> factors_;  // by tensor and dimension: of those that were merged
  bool changed_ = false;
};

/// Gives sizes to the dimensions of tensors, kernel by kernel and view by view, until no other one has to have one.
class SizesOfProgram : SizesOfTensors {
 public:
  explicit SizesOfProgram(tile::TilePrograms& p) : SizesOfTensors(p) {}

  void run() {
    marks_.add_slices();
    for (bool more = true; more;) {
      changed_ = false;
      for (auto& [tensor, view] : p_.views) view_of(tensor, view, false);
      for (tile::TileProgram& kernel : p_.kernels) tensors_of(kernel);
      parts(false);
      for (auto view = p_.views.begin(); view != p_.views.end() && !changed_; ++view)
        view_of(view->first, view->second, true);
      if (!changed_) parts(true);
      more = changed_;
    }
    for (tile::TileProgram& kernel : p_.kernels) cut(kernel);
    launch_separately();
    for (const bool views : {false, true})
      for (int t = 0; t < static_cast<int>(p_.tensors.size()); ++t)
        if (views == (p_.view(t) != nullptr)) strides_of(t);
  }

 private:
  /// Gives each kernel of a launch of several its own one, if a size decides how many blocks one of them has, or where its part begins.
  void launch_separately() {
    for (std::size_t first = 0, last = 0; first < p_.kernels.size(); first = last) {
      for (last = first + 1; last < p_.kernels.size() && p_.kernels[last].same_launch;) ++last;
      const std::span<tile::TileProgram> launch(p_.kernels.data() + first, last - first);
      const bool sized = std::ranges::any_of(launch, [&](const tile::TileProgram& kernel) {
        return !std::ranges::all_of(kernel.grid_of(p_.sizes), &SymbolicNumber::is_constant) ||
               std::ranges::any_of(kernel.nodes, [](const Node& n) {
                 return std::ranges::any_of(n.view.cuts, [](const tile::Cut& cut) { return cut.begin >= 0; });
               });
      });
      if (!sized || launch.size() == 1) continue;
      for (tile::TileProgram& kernel : launch) {
        kernel.same_launch = false, kernel.part_begin = 0;
        kernel.name = fmt::format("{}_{}", kernel.name, &kernel - launch.data());
        for (Node& n : kernel.nodes)
          for (tile::Cut& cut : n.view.cuts) cut.of_part = false;
      }
    }
  }

  /// Returns whether a load or store accesses all elements that its tensor has along a dimension.
  bool is_whole(const Node& n, int dim) const {
    return n.view.origin(dim) == p_.starts(n.tensor)[dim] && n.view.end(dim) == p_.tensors[n.tensor].shape[dim];
  }

  /// Returns how many elements along a dimension a load or store accesses, as far as it is known. `all_known`: nothing more gives sizes.
  SymbolicNumber extent_in(const tile::TileProgram& kernel, const Node& n, int dim, bool all_known) const {
    if (is_whole(n, dim)) return product_of(factors_of(n.tensor, dim));
    const std::int64_t first = n.view.origin(dim), end = n.view.end(dim);
    if (const auto part = marks_.part(n.tensor, dim, first, end)) return part->extent;
    if (const SymbolicNumber all = p_.extent(n.tensor, dim); all_known && !all.is_constant() && all.low() < end)
      fail("{}: {} has a part of dimension {}, from {} to {}, which is {}", kernel.name, n.name, dim, first, end,
           all.text());
    return end - first;
  }

  /// Marks where the parts meet that kernels store in a tensor one after another, and gives it the extent that they have together.
  /// `constants`: also where some have constant extents. That is left until nothing else gives sizes, as with views.
  void parts(bool constants) {
    struct Part {
      std::int64_t end;
      SymbolicNumber extent;
    };
    std::map<MemoryDimension, std::map<std::int64_t, Part>> all;  // by where the part begins
    for (const tile::TileProgram& kernel : p_.kernels) {
      const tile::SizeClasses classes(kernel);
      const std::map<int, SymbolicNumber> numbers = numbers_of(kernel, classes);
      for (int i = 0; i < static_cast<int>(kernel.nodes.size()); ++i) {
        const Node& n = kernel.nodes[i];
        for (int d = 0; n.kind == tile::NodeKind::store && tile::number_of(n) < 0 && d < n.view.rank(); ++d) {
          const auto found = numbers.find(classes.of_view(i, d));
          const std::int64_t first = n.view.origin(d), end = n.view.end(d);
          const auto where = marks_.in_memory(n.tensor, d);
          if (!where || first < 0 || (first == 0 && end == p_.tensors[where->first].shape[where->second])) continue;
          all[*where].insert_or_assign(first, Part{end, found == numbers.end() ? end - first : found->second});
        }
      }
    }
    for (const auto& [where, by_begin] : all) {
      std::map<std::int64_t, SymbolicNumber> ends;
      SymbolicNumber end = 0;
      std::int64_t at = 0;
      if (!constants &&
          std::ranges::any_of(by_begin, [](const auto& part) { return part.second.extent.is_constant(); }))
        continue;
      for (auto part = by_begin.find(0); part != by_begin.end(); part = by_begin.find(at))
        end = end + part->second.extent, at = part->second.end, ends.emplace(at, end);
      if (at != p_.tensors[where.first].shape[where.second] || end.is_constant()) continue;
      for (const auto& [coordinate, number] : ends) marks_.add(where, coordinate, number);
      give(where.first, where.second, {end}, p_.name);
    }
  }

  /// Returns the sizes of the kernel's classes: those of the tensors that it accesses.
  std::map<int, SymbolicNumber> numbers_of(const tile::TileProgram& kernel, const tile::SizeClasses& classes,
                                           bool all_known = false) const {
    std::map<int, SymbolicNumber> all;
    each_place(kernel, classes, [&](int which, const ViewDimension& at) {
      const Node& n = kernel.nodes[at.node];
      if (!tile::accesses(n)) return;
      const SymbolicNumber extent = extent_in(kernel, n, at.dim, all_known);
      if (extent.is_constant()) return;
      const auto [found, is_new] = all.try_emplace(which, extent);
      if (!is_new && found->second != extent)
        fail("{}: dimension {} of {} is {}, and {} is as long", kernel.name, at.dim, n.name, extent.text(),
             found->second.text());
    });
    return all;
  }

  void tensors_of(const tile::TileProgram& kernel) {
    const tile::SizeClasses classes(kernel);
    const std::map<int, SymbolicNumber> numbers = numbers_of(kernel, classes);
    std::map<int, ExtentFactors> orders;  // by class, of those that are products
    each_place(kernel, classes, [&](int which, const ViewDimension& at) {
      if (!tile::accesses(kernel.nodes[at.node])) return;
      const auto found = factors_.find({kernel.nodes[at.node].tensor, at.dim});
      if (found != factors_.end()) orders.try_emplace(which, found->second);
    });
    each_place(kernel, classes, [&](int which, const ViewDimension& at) {
      const Node& n = kernel.nodes[at.node];
      const auto found = numbers.find(which);
      if (!tile::accesses(n) || found == numbers.end()) return;
      const std::string size = found->second.text();
      if (const int node = classes.needs_constant(which); node >= 0)
        fail("{}: {} {} needs {} as a constant", kernel.name, tile::name(kernel.nodes[node].kind),
             kernel.nodes[node].name.empty() ? fmt::format("%{}", node) : kernel.nodes[node].name, size);
      if (found->second.low() < 1) fail("{}: {} may be 0, and blocks run one iteration at least", kernel.name, size);
      if (n.view.end(at.dim) - n.view.origin(at.dim) != found->second.high())
        fail("{}: {} is {}, and dimension {} of {} is not", kernel.name, size, found->second.high(), at.dim, n.name);
      if (n.view.origin(at.dim) != 0 || !is_whole(n, at.dim)) return;  // a part, which says nothing of all
      const auto end = marks_.at(n.tensor, at.dim, n.view.end(at.dim));
      if (p_.extent(n.tensor, at.dim).is_constant() && end && *end == found->second) return;  // a slice up to its end
      const auto factors = orders.find(which);
      give(n.tensor, at.dim, factors == orders.end() ? ExtentFactors{found->second} : factors->second, kernel.name);
    });
  }

  /// Gives the sizes to the kernel's cuts, its masks and its counts of elements.
  void cut(tile::TileProgram& kernel) {
    const tile::SizeClasses classes(kernel);
    const std::map<int, SymbolicNumber> numbers = numbers_of(kernel, classes, true);
    begin_parts(kernel);
    for (Node& n : kernel.nodes) set_length(p_, n);
    if (numbers.empty()) return counts_.divide(kernel, classes, numbers);
    each_place(kernel, classes, [&](int which, const ViewDimension& at) {
      Node& n = kernel.nodes[at.node];
      const auto found = numbers.find(which);
      if (found == numbers.end()) return;
      tile::Cut& cut = n.view.cuts[at.dim];
      cut.size = size_of(p_.sizes, found->second), cut.multiple = p_.sizes[cut.size].multiple;
      cut.extent = found->second.high();
      cut.overhang = tile::accesses(n) && cut.multiple % cut.tile != 0;
      const tile::Interval along = n.view.along(at.dim, kernel);
      cut.all_tiles = (cut.loop && cut.axis >= 0) || shares_tiles(kernel, classes, which, along, cut.loop);
      if (cut.all_tiles) cut.overhang = true;
      counts_.add_part(cut.tile), counts_.add_part(cut.tile * kernel.loop);
    });
    for (int i = 0; i < static_cast<int>(kernel.nodes.size()); ++i) set_diagonals(p_, kernel, i);
    counts_.divide(kernel, classes, numbers);
    order_digits(kernel, p_.sizes);
    for (int i = 0; i < static_cast<int>(kernel.nodes.size());
         ++i)  // masks move nodes back, none of them after another
      for (int d = 0; d < kernel.nodes[i].view.rank(); ++d) {
        const Node& n = kernel.nodes[i];  // a load or store of the class
        const tile::Cut cut = n.view.cuts[d];
        if (tile::accesses(n) && tile::number_of(n) < 0 && cut.size >= 0 && cut.overhang)
          mask_ends(kernel, i, d, cut.size, cut.extent);
      }
  }

  /// Gives sizes to where the kernel's loads and stores of parts begin.
  void begin_parts(tile::TileProgram& kernel) {
    for (Node& n : kernel.nodes)
      for (int d = 0; tile::accesses(n) && d < n.view.rank(); ++d) {
        const auto first = marks_.at(n.tensor, d, n.view.origin(d));
        if (n.view.origin(d) <= 0 || !first || first->is_constant()) continue;
        tile::Cut& cut = n.view.cuts[d];
        cut.begin = size_of(p_.sizes, *first), cut.begin_unit = p_.sizes[cut.begin].multiple;
      }
  }

  SizeCounts counts_{p_};
};

}  // namespace

void give_sizes(tile::TilePrograms& program, const tile::SizeList& sizes) {
  const auto add = [&](const tile::Size& size) {
    if (std::ranges::any_of(program.sizes, [&](const tile::Size& s) { return s.name == size.name; }))
      fail("{}: {} is named twice", program.name, size.name);
    program.sizes.push_back(size);
  };
  for (const tile::Size& size : sizes)
    if (!size.computed) add(size);
  for (const tile::Size& size : sizes)
    if (size.computed) {
      const auto at = static_cast<std::size_t>(size_of(program.sizes, *size.computed));
      program.sizes[at].of.insert(program.sizes[at].of.end(), size.of.begin(), size.of.end());
      program.sizes[at].marks.insert(program.sizes[at].marks.end(), size.marks.begin(), size.marks.end());
    }
  SizesOfProgram(program).run();
}

void give_strides(tile::TilePrograms& p) {
  for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t) {
    if (p.view(t) || p.strides.contains(t)) continue;
    std::vector<SymbolicNumber> strides = own_strides(p, t);
    if (!std::ranges::all_of(strides, &SymbolicNumber::is_constant)) p.strides[t] = std::move(strides);
  }
}

}  // namespace zellige::lower
