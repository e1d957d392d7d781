#include "selection/layouts.hpp"

#include <limits>

#include "selection/elimination.hpp"

namespace zellige::selection {
namespace {

constexpr double forbidden = std::numeric_limits<double>::infinity();

/// Builds and solves the minimisation problem of resolve_layouts().
class Resolution {
 public:
  Resolution(tile::TilePrograms& program, std::vector<Selection>& kernels, const target::Target& target)
      : program_(program), kernels_(kernels), target_(target) {}

  void run() {
    for (std::size_t t = 0; t < program_.tensors.size(); ++t) {
      const auto& tensor = program_.tensors[t];
      if (!tensor.strides.empty()) continue;
      const int v = variable(tensor.shape);
      tensor_variable_[static_cast<int>(t)] = v;
      // Row-major is preferred: any other contiguous dimension has a small cost.
      unary(v, tensor.shape, [&](int d) { return d == last(tensor.shape) ? 0.0 : 1.0; });
    }
    for (std::size_t k = 0; k < kernels_.size(); ++k) add(kernels_[k], static_cast<int>(k));
    const Solution solution = minimise(problem_);
    for (auto& [tensor, v] : tensor_variable_) {
      auto& t = program_.tensors[tensor];
      t.strides = padded_strides(t.shape, solution.value[v], graph::elements_in(target_.access_bytes, t.dtype));
    }
    for (auto& [tile, v] : tile_variable_) kernels_[tile.first].program.nodes[tile.second].inner = solution.value[v];
  }

 private:
  static int last(const graph::Shape& s) { return static_cast<int>(s.size()) - 1; }

  /// Adds a variable to the minimisation problem: the contiguous dimension of a tensor or tile of this shape. Returns
  /// the variable's number.
  int variable(const graph::Shape& shape) {
    problem_.domain.push_back(static_cast<int>(shape.size()));
    return static_cast<int>(problem_.domain.size()) - 1;
  }

  /// Adds a cost table for variable `v` alone: cost(d) if dimension d is the contiguous one.
  template <class F>
  void unary(int v, const graph::Shape& shape, F cost) {
    Factor f;
    f.variables = {v};
    for (int d = 0; d <= last(shape); ++d) f.cost.push_back(cost(d));
    problem_.factors.push_back(std::move(f));
  }

  /// Adds the cost `estimated` if the tile of the load or store `n` and its tensor have different contiguous
  /// dimensions, because elements are then copied one by one. `tile` is the variable of the tile.
  void agree(int tile, const tile::Node& n, double estimated) {
    const auto open = tensor_variable_.find(n.tensor);
    if (open == tensor_variable_.end()) {
      const int inner = innermost(program_, n);
      unary(tile, n.shape, [&](int d) { return d == inner ? 0.0 : estimated; });
      return;
    }
    Factor f;
    f.variables = {tile, open->second};
    for (int a = 0; a <= last(n.shape); ++a)
      for (int b = 0; b <= last(n.shape); ++b) f.cost.push_back(a == b ? 0.0 : estimated);
    problem_.factors.push_back(std::move(f));
  }

  /// Adds the variables and costs of the tiles of kernel number `index`: of its loads, stores and rounded matmul
  /// operands.
  void add(Selection& kernel, int index) {
    const tile::TileProgram& p = kernel.program;
    const tile::Sections sections(p);
    for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) {
      const tile::Node& n = p.nodes[i];
      if (n.kind != tile::NodeKind::load && n.kind != tile::NodeKind::round && n.kind != tile::NodeKind::store)
        continue;
      const int v = variable(n.shape);
      tile_variable_[{index, i}] = v;
      const double elements = static_cast<double>(graph::size(n.shape)) * static_cast<double>(p.grid.count()) *
                              static_cast<double>(sections.inside(i) ? p.loop : 1);
      // A contiguous dimension other than the last costs a sixteenth of an access per element, because accumulators
      // and blocked layouts are contiguous along the last dimension.
      if (n.kind != tile::NodeKind::round) agree(v, n, elements);
      unary(v, n.shape, [&](int d) { return d == last(n.shape) ? 0.0 : elements / 16; });
      for (int reader : p.consumers(i)) {
        if (p.nodes[reader].kind != tile::NodeKind::matmul || !kernel.matmuls.at(reader).row) continue;
        const kernel::MatmulChoice& m = kernel.matmuls.at(reader);
        for (int side = 0; side < 2; ++side)
          if (p.nodes[reader].in[side] == i)
            unary(v, n.shape, [&](int d) {
              return d + 2 > last(n.shape) && m.may_lie(d == k_dimension(n.shape, side)) ? 0.0 : forbidden;
            });
      }
    }
  }

  tile::TilePrograms& program_;
  std::vector<Selection>& kernels_;
  const target::Target& target_;
  Problem problem_;
  std::map<int, int> tensor_variable_;
  std::map<std::pair<int, int>, int> tile_variable_;
};

}  // namespace

int innermost(const graph::Shape& shape, const graph::Strides& strides) {
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d)
    if (shape[d] > 1 && strides[d] == 1) return d;
  return static_cast<int>(shape.size()) - 1;
}

int innermost(const tile::TilePrograms& program, const tile::Node& n) {
  return innermost(program.tensors[n.tensor].shape, program.tensors[n.tensor].strides);
}

bool lies_along(const tile::TilePrograms& program, const tile::TileProgram& p, int node, int dim) {
  const tile::Node& n = p.nodes[node];
  const bool open = n.kind == tile::NodeKind::load && program.tensors[n.tensor].strides.empty();
  if (n.kind == tile::NodeKind::load && !open) return innermost(program, n) == dim;
  bool any = false, all = true;
  if (n.kind == tile::NodeKind::map || n.kind == tile::NodeKind::round)
    for (int in : n.in)
      if (p.nodes[in].shape == n.shape) any = true, all = all && lies_along(program, p, in, dim);
  return any ? all : dim + 1 == static_cast<int>(n.shape.size());
}

graph::Strides padded_strides(const graph::Shape& shape, int inner, std::int64_t multiple) {
  int wide = 0;  // number of dimensions of extent > 1
  for (auto e : shape) wide += e > 1;
  graph::Strides strides(shape.size());
  std::int64_t next = 1;
  bool padded = wide < 2;  // a vector has nothing to align after it
  for (int d : kernel::inner_first(shape, inner)) {
    strides[d] = next;
    std::int64_t extent = shape[d];
    if (!padded && extent > 1) extent = (extent + multiple - 1) / multiple * multiple, padded = true;
    next *= extent;
  }
  return strides;
}

void resolve_layouts(tile::TilePrograms& program, std::vector<Selection>& kernels, const target::Target& target) {
  Resolution(program, kernels, target).run();
}

}  // namespace zellige::selection
