// Changes to a graph: rewrites by identities over the reals, and single edits that are mostly not identities.
#pragma once
#include <optional>
#include <string>

#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "random/rng.hpp"

namespace zellige::search::test {

using graph::BlockGraph;
using graph::KernelGraph;
using graph::OpKind;
using random_graphs::Rng;

/// Inserts operators before operator `at` of either level, and remakes its results.
template <class G>
struct Writer {
  G& g;
  std::size_t at;

  int add(OpKind kind, std::vector<int> inputs, graph::Attributes attributes = {}, int result = -1) {
    auto op = g.ops[at];
    op.kind = kind, op.inputs = std::move(inputs), op.attributes = attributes;
    if (result < 0) {
      result = static_cast<int>(g.tensors.size());
      g.tensors.push_back({g.tensors[g.ops[at].outputs[0]].dtype});
    }
    op.outputs = {result};
    g.ops.insert(g.ops.begin() + static_cast<std::ptrdiff_t>(at++), op);
    return result;
  }
  void drop() { g.ops.erase(g.ops.begin() + static_cast<std::ptrdiff_t>(at)); }
};

/// Rewrites one operator by an identity; empty where none applies to it.
template <class G>
std::string rewrite(G& g, std::size_t at, Rng& rng) {
  const auto op = g.ops[at];
  Writer<G> w{g, at};
  const int x = op.inputs.empty() ? -1 : op.inputs[0], y = op.outputs.empty() ? -1 : op.outputs[0];
  const graph::Shape shape = g.tensors[static_cast<std::size_t>(x < 0 ? y : x)].shape;
  const int last = static_cast<int>(shape.size()) - 1;
  const bool scalar = graph::takes_scalar(op.kind, op.inputs.size());
  if (scalar && op.kind != OpKind::add && op.kind != OpKind::sub && op.kind != OpKind::maximum) return {};
  switch (op.kind) {
    case OpKind::add:
      if (scalar) {
        w.add(OpKind::sub, {x}, {.scalar = -op.attributes.scalar}, y);
        break;
      }
      [[fallthrough]];
    case OpKind::mul:
      w.add(op.kind, {op.inputs[1], x}, {}, y);
      break;
    case OpKind::maximum:  // with itself
      w.add(OpKind::maximum, {w.add(op.kind, op.inputs, op.attributes), x}, {}, y);
      break;
    case OpKind::minimum:
      w.add(OpKind::neg, {w.add(OpKind::maximum, {w.add(OpKind::neg, {op.inputs[1]}), w.add(OpKind::neg, {x})})}, {},
            y);
      break;
    case OpKind::lt:
      w.add(OpKind::gt, {op.inputs[1], x}, {}, y);
      break;
    case OpKind::eq:
      w.add(OpKind::mul, {w.add(OpKind::le, {x, op.inputs[1]}), w.add(OpKind::ge, {x, op.inputs[1]})}, {}, y);
      break;
    case OpKind::neg:
      w.add(OpKind::mul_scalar, {x}, {.scalar = -1}, y);
      break;
    case OpKind::abs:
      w.add(OpKind::maximum, {w.add(OpKind::neg, {x}), x}, {}, y);
      break;
    case OpKind::tanh:
      w.add(OpKind::add,
            {w.add(OpKind::mul_scalar, {w.add(OpKind::sigmoid, {w.add(OpKind::mul_scalar, {x}, {.scalar = 2})})},
                   {.scalar = 2})},
            {.scalar = -1}, y);
      break;
    case OpKind::rsqrt: {
      const int root = w.add(OpKind::rsqrt, {w.add(OpKind::sqrt, {x})});
      w.add(OpKind::square, {root}, {}, y);
      break;
    }
    case OpKind::sub:
      if (scalar) {
        w.add(OpKind::add, {x}, {.scalar = -op.attributes.scalar}, y);
        break;
      }
      w.add(OpKind::add, {x, w.add(OpKind::mul_scalar, {op.inputs[1]}, {.scalar = -1})}, {}, y);
      break;
    case OpKind::div: {  // (x / 3) / (z / 3)
      const int top = w.add(OpKind::mul_scalar, {x}, {.scalar = 1.0 / 3});
      w.add(OpKind::div, {top, w.add(OpKind::mul_scalar, {op.inputs[1]}, {.scalar = 1.0 / 3})}, {}, y);
      break;
    }
    case OpKind::square:
      w.add(OpKind::mul, {x, x}, {}, y);
      break;
    case OpKind::silu:
      w.add(OpKind::mul, {w.add(OpKind::sigmoid, {x}), x}, {}, y);
      break;
    case OpKind::sigmoid: {  // e^x / (1 + e^x), 1 being e^x / e^x
      const int e = w.add(OpKind::exp, {x}), one = w.add(OpKind::div, {e, e});
      w.add(OpKind::div, {e, w.add(OpKind::add, {e, one})}, {}, y);
      break;
    }
    case OpKind::exp: {  // the square of half
      w.add(OpKind::square, {w.add(OpKind::exp, {w.add(OpKind::mul_scalar, {x}, {.scalar = 0.5})})}, {}, y);
      break;
    }
    case OpKind::mul_scalar: {  // in two steps, folded with a rounding
      const double first = rng.chance(50) ? 0.7 : -1.0 / 7;
      w.add(OpKind::mul_scalar, {w.add(OpKind::mul_scalar, {x}, {.scalar = first})},
            {.scalar = op.attributes.scalar / first}, y);
      break;
    }
    case OpKind::relu: {  // the greater of x and 0, twice
      w.add(OpKind::relu, {w.add(OpKind::relu, {x})}, {}, y);
      break;
    }
    case OpKind::clamp: {
      const int lower = w.add(OpKind::clamp, {x}, {.lo = op.attributes.lo, .hi = op.attributes.hi + 1});
      w.add(OpKind::clamp, {lower}, op.attributes, y);
      break;
    }
    case OpKind::log:
      w.add(OpKind::mul_scalar, {w.add(OpKind::log, {w.add(OpKind::sqrt, {x})})}, {.scalar = 2}, y);
      break;
    case OpKind::rms_norm: {  // 1/n represents an extent
      if (!op.attributes.sizes.empty()) return {};
      const int squares = w.add(OpKind::reduction, {w.add(OpKind::square, {x})}, {.dim = last});
      const int mean = w.add(OpKind::mul_scalar, {squares}, {.scalar = 1.0 / static_cast<double>(shape[last])});
      const int root = w.add(OpKind::sqrt, {w.add(OpKind::add, {mean}, {.scalar = op.attributes.eps})});
      if (op.inputs.size() == 1)
        w.add(OpKind::div, {x, root}, {}, y);
      else
        w.add(OpKind::mul, {op.inputs[1], w.add(OpKind::div, {x, root})}, {}, y);
      break;
    }
    case OpKind::reduction: {  // in two steps
      const std::int64_t n = shape[op.attributes.dim];
      std::int64_t between = op.attributes.to;
      for (std::int64_t t = between; t <= n; t += op.attributes.to)
        if (n % t == 0 && rng.chance(60)) between = t;
      const int part = w.add(OpKind::reduction, {x}, {.dim = op.attributes.dim, .to = between});
      w.add(OpKind::reduction, {part}, op.attributes, y);
      break;
    }
    case OpKind::matmul: {  // (2x) z = 3xz - xz, and the other way round
      if (graph::is_integer(g.tensors[static_cast<std::size_t>(x)].dtype)) return {};  // 2x wraps
      const int thrice = w.add(OpKind::mul_scalar, {w.add(OpKind::matmul, {x, op.inputs[1]})}, {.scalar = 3});
      const int twice = w.add(OpKind::matmul, {w.add(OpKind::mul_scalar, {x}, {.scalar = 2}), op.inputs[1]});
      if (op.inputs.size() > 2)
        w.add(OpKind::add, {op.inputs[2], w.add(OpKind::sub, {thrice, twice})}, {}, y);
      else
        w.add(OpKind::sub, {thrice, twice}, {}, y);
      break;
    }
    default:
      return {};
  }
  w.drop();
  return std::string(graph::name(op.kind));
}

/// One edit of the kind that a slip of the hand makes; empty where none applies.
template <class G>
std::string edit(G& g, std::size_t at, Rng& rng) {
  auto& op = g.ops[at];
  graph::Attributes& a = op.attributes;
  const auto become = [&](OpKind kind) {
    std::string text = fmt::format("{} for {}", graph::name(kind), graph::name(op.kind));
    op.kind = kind;
    return text;
  };
  switch (op.kind) {
    case OpKind::mul_scalar:
      a.scalar *= rng.chance(50) ? 1.001 : -1;
      return "another scalar";
    case OpKind::lt:
      return become(rng.chance(50) ? OpKind::le : OpKind::gt);
    case OpKind::ge:
      return become(rng.chance(50) ? OpKind::eq : OpKind::lt);
    case OpKind::eq:
      return become(OpKind::ne);
    case OpKind::maximum:
      return become(OpKind::minimum);
    case OpKind::where:
      return std::swap(op.inputs[0], op.inputs[1]), "another condition";
    case OpKind::sin:
      return become(OpKind::cos);
    case OpKind::clamp:
      if (rng.chance(50)) return a.hi += 0.01, "another upper bound";
      return a.lo -= 0.01, "another lower bound";
    case OpKind::reduction:
      if (rng.chance(50) && a.to > 1) return a.to /= 2, "a shorter result";
      return a.dim = a.dim == 0 ? 1 : a.dim - 1, "another dimension";
    case OpKind::concat:
    case OpKind::matmul:
    case OpKind::sub:
    case OpKind::div:
    case OpKind::pow:
      if (op.inputs.size() > 1 && rng.chance(60)) return std::swap(op.inputs[0], op.inputs[1]), "swapped operands";
      return op.kind == OpKind::sub ? become(OpKind::add) : std::string();
    case OpKind::add:
      return become(op.inputs.size() < 2 || rng.chance(50) ? OpKind::sub : OpKind::mul);
    case OpKind::mul:
      return become(rng.chance(50) ? OpKind::add : OpKind::div);
    case OpKind::exp:
      return become(OpKind::sigmoid);
    case OpKind::square:
      return become(OpKind::silu);
    case OpKind::sqrt:
      return become(OpKind::square);
    case OpKind::silu:
      return become(OpKind::gelu);
    case OpKind::gelu:
      return become(OpKind::silu);
    case OpKind::sigmoid:
      return become(OpKind::relu);
    case OpKind::relu:
      return become(OpKind::square);
    case OpKind::rms_norm:
      return become(OpKind::square);
    case OpKind::log:
      return become(OpKind::sqrt);
    case OpKind::accum:
      return become(OpKind::accum_max);
    case OpKind::accum_red_sum:
      return become(rng.chance(50) ? OpKind::accum_red_mean : OpKind::accum_red_rms);
    case OpKind::accum_red_mean:
      return become(OpKind::accum_red_sum);
    case OpKind::accum_red_rms:
      return become(OpKind::accum_red_mean);
    case OpKind::accum_max:
      return become(OpKind::accum_logsumexp);
    case OpKind::accum_logsumexp:
      return become(OpKind::accum);
    case OpKind::accum_redtox_sum:
      return a.to > 1 ? (a.to /= 2, "a shorter result") : "";
    case OpKind::split:
      return std::swap(a.sizes.front(), a.sizes.back()), "swapped parts";
    default:
      return {};
  }
}

/// Edits a custom operator: the maps of an iterator, and whether the loop splits it.
inline std::string edit_maps(graph::BlockOp& op, Rng& rng) {
  if (op.kind != OpKind::input && op.kind != OpKind::output) return {};
  if (op.kind == OpKind::input && rng.chance(30))
    return std::swap(op.loop_dim, op.map[0]), "the loop's dimension for the grid's";
  return std::swap(op.map[0], op.map[1]), "grid axes exchanged";
}

/// Infers the shapes again; returns nothing if the graph has become invalid.
inline std::optional<KernelGraph> settled(KernelGraph g) {
  std::vector<bool> input(g.tensors.size(), false);
  for (int t : g.inputs) input[static_cast<std::size_t>(t)] = true;
  for (std::size_t t = 0; t < g.tensors.size(); ++t)
    if (!input[t]) g.tensors[t].shape.clear(), g.tensors[t].strides.clear();
  for (graph::KernelOp& op : g.ops)
    if (op.block) {
      BlockGraph b = *op.block;
      for (graph::BlockTensor& t : b.tensors) t.shape.clear();
      op.block = std::make_shared<const BlockGraph>(std::move(b));
    }
  try {
    return graph::infer(std::move(g));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Calls change(graph of one level, index of an operator) until it says what it did.
template <class Change>
std::string change_one(KernelGraph& g, Rng& rng, const Change& change) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto at = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(g.ops.size())));
    if (g.ops[at].kind != OpKind::custom) {
      if (std::string what = change(g, at); !what.empty()) return what;
      continue;
    }
    BlockGraph b = *g.ops[at].block;
    std::string what = change(b, static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(b.ops.size()))));
    if (what.empty()) continue;
    g.ops[at].block = std::make_shared<const BlockGraph>(std::move(b));
    return what;
  }
  return {};
}

}  // namespace zellige::search::test
