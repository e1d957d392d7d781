#include "interpret/interpret.hpp"

#include <algorithm>
#include <functional>

#include "graph/dtype.hpp"
#include "graph/elementwise.hpp"
#include "graph/kept.hpp"
#include "graph/reductions.hpp"
#include "reference/evaluate.hpp"
#include "reference/parallel.hpp"
#include "tile/sections.hpp"

namespace zellige::interpret {
namespace {

using graph::Attributes;
using reference::OperandValues;

/// Wraps sums of integers to the width in which they are computed.
void wrap(graph::DType dtype, reference::Array& a) {
  if (graph::is_integer(dtype))
    for (double& v : a.values) v = graph::wrapped(static_cast<std::int64_t>(v), graph::format(tile::kept_in(dtype)));
}

std::int64_t index_along(const graph::Dim3& block, int axis) { return axis < 0 ? 0 : block[axis]; }

/// Interprets the blocks of a kernel, one after another: evaluates the nodes of its tile program before, in and after its loop.
class InterpretedBlock {
 public:
  InterpretedBlock(const tile::TilePrograms&, const tile::TileProgram&, int kernel, Rounding, Memory&);
  /// Runs the block of the grid, with its loads from the memory and its stores to it.
  void run(const graph::Dim3& block);

 private:
  void evaluate(tile::Section, std::int64_t iteration);
  void evaluate(int node, std::int64_t iteration);
  void move(const tile::Node&, std::int64_t iteration, reference::Array& value);
  void map(const tile::Node&, std::int64_t iteration, reference::Array& value);
  void matmul(const tile::Node&, std::int64_t iteration, reference::Array& value);
  void fold(const tile::Node&, std::int64_t iteration, reference::Array& value);
  void running_max(int node, std::int64_t iteration);
  void rearrange(const tile::Node&, reference::Array& value);
  void rotate(const tile::Node&, reference::Array& value);
  void unpack(const tile::Node&, reference::Array& value);
  void repeat(const tile::Node&, reference::Array& value);
  Places places(const tile::Node&, std::int64_t iteration) const;
  /// Rounds a value to a dtype, if it is one of integers or if roundings are asked for.
  void round(graph::DType, reference::Array& value) const;

  reference::OperandValues operand(const tile::Node& n, std::size_t k) const { return values_[n.in[k]]; }
  graph::DType dtype(const tile::Node& n, std::size_t k) const { return p_.nodes[n.in[k]].dtype; }

  const tile::TilePrograms& program_;
  const tile::TileProgram& p_;
  int kernel_;
  bool rounds_;
  Memory& memory_;
  tile::Sections sections_;
  std::vector<bool> needed_;
  graph::Dim3 block_;
  std::vector<reference::Array> values_;     // by node
  std::vector<std::vector<double>> before_;  // by running_max: its value in the iteration before
  std::vector<double> product_;              // of a matmul, in one iteration
};

InterpretedBlock::InterpretedBlock(const tile::TilePrograms& program, const tile::TileProgram& p, int kernel,
                                   Rounding rounding, Memory& memory)
    : program_(program),
      p_(p),
      kernel_(kernel),
      rounds_(rounding == Rounding::of_kernels),
      memory_(memory),
      sections_(p),
      needed_(p.needed()),
      before_(p.nodes.size()) {
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    values_.push_back(needed_[i] ? reference::make_array(p.nodes[i].shape) : reference::Array{});
}

void InterpretedBlock::run(const graph::Dim3& block) {
  block_ = block;
  evaluate(tile::Section::before, 0);
  for (std::int64_t i = 0; p_.loop > 1 && i < p_.loop; ++i) evaluate(tile::Section::inside, i);
  evaluate(tile::Section::after, 0);
}

void InterpretedBlock::evaluate(tile::Section section, std::int64_t iteration) {
  for (int i = 0; i < static_cast<int>(p_.nodes.size()); ++i)
    if (needed_[i] && sections_.of(i) == section) evaluate(i, iteration);
}

void InterpretedBlock::evaluate(int node, std::int64_t iteration) {
  const tile::Node& n = p_.nodes[node];
  reference::Array& value = values_[node];
  switch (n.kind) {
    case tile::NodeKind::load:
    case tile::NodeKind::store:
      return move(n, iteration, value);
    case tile::NodeKind::map:
      return map(n, iteration, value);
    case tile::NodeKind::round:
      value.values = values_[n.in[0]].values;
      return round(n.dtype, value);
    case tile::NodeKind::matmul:
      return matmul(n, iteration, value);
    case tile::NodeKind::reduce:
    case tile::NodeKind::accumulate:
      return fold(n, iteration, value);
    case tile::NodeKind::running_max:
      return running_max(node, iteration);
    case tile::NodeKind::running_diff: {
      const std::vector<double>&old = before_[n.in[0]], &now = values_[n.in[0]].values;
      for (std::size_t i = 0; i < now.size(); ++i)
        value.values[i] = iteration == 0 && now[i] == now[i] ? 0 : old[i] - now[i];
      return;
    }
    default:
      return rearrange(n, value);
  }
}

void InterpretedBlock::round(graph::DType dtype, reference::Array& value) const {
  if (rounds_ || graph::is_integer(dtype))
    graph::round_to(dtype, value.values.data(), static_cast<std::int64_t>(value.values.size()));
}

Places InterpretedBlock::places(const tile::Node& n, std::int64_t iteration) const {
  const int numbers = tile::number_of(n);
  const graph::Strides& strides = program_.tensors[n.tensor].strides;
  Places all;
  for (int d = 0; d < n.view.rank(); ++d) {
    const tile::Interval along = n.view.along(d, p_);
    const std::int64_t start = along.start(index_along(block_, along.axis()), iteration);
    const bool named = numbers >= 0 && d == n.dim;
    std::vector<std::int64_t> of;
    for (std::int64_t j = 0; j < n.shape[d]; ++j) {
      std::int64_t at = start + (named && n.to == 1 && n.page == 0 ? 0 : j);
      const bool exists = at >= 0 && at < along.end();
      if (named && exists) {  // an index out of range is taken for the nearest one, as kernels do
        const reference::Array& of_rows = values_[numbers];
        const std::int64_t extent = program_.shape(n.tensor)[d],
                           last = n.page > 0 ? (extent - n.page) / n.page_step : extent - n.to,
                           which = n.page > 0                       ? at / n.page
                                   : of_rows.shape[d] == n.shape[d] ? j
                                                                    : 0;
        const double number = of_rows.values[static_cast<std::size_t>(which)];
        const auto row =
            number == number ? static_cast<std::int64_t>(std::clamp(number, 0.0, static_cast<double>(last))) : 0;
        at = n.page > 0 ? row * n.page_step + at % n.page : at + row;
      }
      of.push_back(exists ? at * (n.unfolded ? 1 : strides[d]) : Places::outside);
    }
    all.of.push_back(std::move(of));
  }
  return all;
}

void InterpretedBlock::move(const tile::Node& n, std::int64_t iteration, reference::Array& value) {
  const Places at = places(n, iteration);
  if (const tile::Windows* w = n.unfolded ? program_.windows(n.tensor) : nullptr)
    return memory_.load_windows(*w, n.tensor, at, value.values.data());
  if (n.kind == tile::NodeKind::load) return memory_.load(n.tensor, at, value.values.data());
  value.values = values_[n.in[0]].values;
  round(n.dtype, value);
  memory_.store(n.tensor, at, value.values.data(), {kernel_, static_cast<int>(&n - p_.nodes.data())});
}

void InterpretedBlock::map(const tile::Node& n, std::int64_t iteration, reference::Array& value) {
  Attributes a{.scalar = n.scalar, .lo = n.lo, .hi = n.hi, .dtype = n.to_dtype, .saturate = n.saturate};
  const bool wide = n.op == graph::OpKind::mask && operand(n, 0).shape != n.shape;  // the operand is broadcast first
  if (wide) reference::evaluate(graph::OpKind::mul_scalar, {.scalar = 1}, {operand(n, 0)}, {value});
  std::vector<OperandValues> in{wide ? OperandValues(value) : operand(n, 0)};
  for (std::size_t k = 1; k < n.in.size(); ++k) in.push_back(operand(n, k));
  graph::OpKind op = n.op;
  graph::DType from = dtype(n, 0);
  if (op == graph::OpKind::cast && !rounds_ && !graph::is_integer(n.to_dtype)) {
    op = graph::OpKind::mul_scalar, a.scalar = 1, from = graph::DType::f32;
  } else if (op != graph::OpKind::cast && graph::is_integer(from) && graph::is_integer(n.dtype)) {
    from = n.dtype;  // as wide as the result
  }
  if (op == graph::OpKind::mask) {
    graph::Shape origin;
    for (int d = 0; d < n.view.rank(); ++d) {
      const tile::Interval along = n.view.along(d, p_);
      origin.push_back(along.start(index_along(block_, along.axis()), iteration));
    }
    a = graph::mask_from({.sizes = {n.dim, n.key}, .kept = n.kept, .value = n.scalar}, origin);
  }
  reference::evaluate(op, a, in, {value}, from);
}

void InterpretedBlock::matmul(const tile::Node& n, std::int64_t iteration, reference::Array& value) {
  OperandValues a = operand(n, 0);
  reference::Array part;
  if (n.window) {  // the iteration's part of K
    part.shape = a.shape;
    part.shape.back() /= p_.loop;
    part.values.resize(graph::size(part.shape));
    reference::copy_part(a.shape, part.shape, static_cast<int>(part.shape.size()) - 1, iteration * part.shape.back(),
                         [&](std::int64_t w, std::int64_t p, std::int64_t count) {
                           std::copy_n(a.values + w, count, part.values.data() + p);
                         });
  }
  const OperandValues left = n.window ? OperandValues(part) : a;
  const Attributes attributes{.tf32 = n.tf32 && rounds_};
  const bool first = !n.carried || iteration == 0;
  product_.resize(value.values.size());
  reference::evaluate(graph::OpKind::matmul, attributes, {left, operand(n, 1)},
                      {{value.shape, first ? value.values.data() : product_.data()}}, dtype(n, 0));
  if (first) return;
  if (n.in.size() > 2) reference::broadcast(value, operand(n, 2), value, std::multiplies());
  for (std::size_t i = 0; i < value.values.size(); ++i) value.values[i] += product_[i];
  wrap(n.dtype, value);
}

void InterpretedBlock::fold(const tile::Node& n, std::int64_t iteration, reference::Array& value) {
  const graph::ReductionRow& row = *graph::reduction_of(n.op);
  const bool over_iterations = n.kind == tile::NodeKind::accumulate || n.carried,
             first = !over_iterations || iteration == 0;
  if (first) std::ranges::fill(value.values, over_iterations ? row.of->start : row.of->identity);
  if (n.in.size() > 1 && !first) reference::broadcast(value, operand(n, 1), value, std::multiplies());
  reference::fold(*row.of, operand(n, 0), n.kind == tile::NodeKind::accumulate ? -1 : n.dim, false, value);
  wrap(n.dtype, value);
}

void InterpretedBlock::running_max(int node, std::int64_t iteration) {
  reference::Array& value = values_[node];
  if (iteration == 0) std::ranges::fill(value.values, graph::monoids::max.start);
  before_[node] = value.values;
  reference::fold(graph::monoids::max, operand(p_.nodes[node], 0), -1, false, value);
}

void InterpretedBlock::unpack(const tile::Node& n, reference::Array& value) {
  const OperandValues bytes = operand(n, 0);
  const int width = graph::bits(n.to_dtype), per = 8 / width;
  const graph::Strides strides = graph::row_major(bytes.shape);
  for (std::int64_t e = 0; e < graph::size(n.shape); ++e) {
    const graph::Shape at = graph::coordinates(e, n.shape);
    std::int64_t from = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      from += (static_cast<int>(d) == n.dim ? at[d] / per : at[d]) * strides[d];
    const std::uint32_t byte = graph::to_bits(graph::DType::int8, bytes.values[from]);
    value.values[e] = graph::from_bits(n.to_dtype, byte >> (at[n.dim] % per * width) & ((1u << width) - 1));
  }
}

void InterpretedBlock::repeat(const tile::Node& n, reference::Array& value) {
  const OperandValues x = operand(n, 0);
  const graph::Strides strides = graph::row_major(x.shape);
  for (std::int64_t e = 0; e < graph::size(n.shape); ++e) {
    graph::Shape at = graph::coordinates(e, n.shape);
    at[n.dim] /= n.to;
    std::int64_t from = 0;
    for (std::size_t d = 0; d < at.size(); ++d) from += at[d] * strides[d];
    value.values[e] = x.values[from];
  }
}

void InterpretedBlock::rearrange(const tile::Node& n, reference::Array& value) {
  if (n.kind == tile::NodeKind::repeat) return repeat(n, value);
  if (n.kind == tile::NodeKind::unpack) return unpack(n, value);
  if (n.kind == tile::NodeKind::rotate) return rotate(n, value);
  std::vector<OperandValues> in;
  for (std::size_t k = 0; k < n.in.size(); ++k) in.push_back(operand(n, k));
  if (n.kind == tile::NodeKind::concat) return reference::evaluate(graph::OpKind::concat, {.dim = n.dim}, in, {value});
  if (n.kind == tile::NodeKind::permute) {
    const Attributes order{.sizes = {n.order.begin(), n.order.end()}};
    return reference::evaluate(graph::OpKind::permute, order, in, {value});
  }
  const Attributes part{.dim = n.dim, .start = n.start, .end = n.start + n.shape[n.dim]};
  reference::evaluate(graph::OpKind::slice, part, in, {value});
}

void InterpretedBlock::rotate(const tile::Node& n, reference::Array& value) {
  const OperandValues x = operand(n, 0), cosines = operand(n, 1), sines = operand(n, 2);
  const graph::Strides strides = graph::row_major(x.shape);
  const std::int64_t step = strides[n.dim];
  for (std::int64_t e = 0; e < graph::size(x.shape); ++e) {
    const graph::Shape at = graph::coordinates(e, x.shape);
    const auto table = [&](const OperandValues& t) {
      const graph::Strides own = graph::row_major(t.shape);
      std::int64_t from = 0;
      for (int d = 0; d < static_cast<int>(at.size()); ++d) {
        const bool pairs = d == n.dim && t.shape[d] != x.shape[d];
        if (t.shape[d] > 1) from += (pairs ? at[d] / 2 : at[d]) * own[d];
      }
      return t.values[from];
    };
    const bool first = at[n.dim] % 2 == 0;
    const double other = x.values[first ? e + step : e - step];
    value.values[e] = x.values[e] * table(cosines) + (first ? -other : other) * table(sines);
  }
}

}  // namespace

Memory interpret(const tile::TilePrograms& program, const std::vector<reference::Array>& inputs, Rounding rounding) {
  Memory memory(program, inputs);
  for (std::size_t k = 0; k < program.kernels.size(); ++k) {
    const tile::TileProgram& p = program.kernels[k];
    const std::int64_t blocks = p.grid.count();
    const int threads = static_cast<int>(std::min<std::int64_t>(reference::hardware_threads(), blocks));
    std::vector<InterpretedBlock> workers(threads, InterpretedBlock(program, p, static_cast<int>(k), rounding, memory));
    reference::parallel_for(blocks, threads, [&](std::int64_t index, int worker) {
      const std::int64_t x = index % p.grid.x, yz = index / p.grid.x;
      workers[worker].run({x, yz % p.grid.y, yz / p.grid.y});
    });
  }
  return memory;
}

}  // namespace zellige::interpret
