#include <algorithm>

#include "emit/formula.hpp"
#include "emit/kernel_text.hpp"
#include "plan/shared_access.hpp"

namespace zellige::emit {

using plan::NodeKind;
using plan::OpKind;

std::string KernelText::store_value(const Value& v, int vector) {
  if (!v.name.empty()) return v.name;
  const std::string name = fresh("r");
  if (vector == 1) {
    out_.line("const Vec<float, 1> {}{{{}}};", name, v.text);
    return name;
  }
  out_.line("Vec<float, {}> {};", vector, name);
  out_.line("#pragma unroll");
  out_.line("{}{}[v] = {};", counted("v", vector).head, name, v.text);
  return name;
}

/// Closes a scope: what was computed since `mark` is out of reach.
void KernelText::forget(std::size_t mark) {
  for (; order_.size() > mark; order_.pop_back()) known_.erase(order_.back());
}

/// A broadcast operand is read at coordinate 0 of its dimensions of extent 1.
Point KernelText::narrowed(int operand, int node, const Point& p) const {
  const plan::Shape &from = block_.nodes[operand].shape, &to = block_.nodes[node].shape;
  Point q = p;
  for (std::size_t d = 0; d < q.at.size(); ++d) {
    if (from[d] == to[d]) continue;
    q.at[d] = 0, q.limit[d] = 0, q.own = false;
    if (static_cast<int>(d) == q.inner) q.vector = 1, q.shift = 0;
  }
  return q;
}

Value KernelText::value(int node, const Point& p) {
  const Node& n = block_.nodes[node];
  const Key key{node, p.at, p.limit, p.vector};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  Value result;
  switch (n.kind) {
    case NodeKind::map: {
      std::vector<std::string> in;
      for (int i : n.in) {
        const Value v = value(i, narrowed(i, node, p));
        in.push_back(v.text);
        result.vector = result.vector || v.vector;
      }
      result.text = n.op == OpKind::mask ? masked(n, in[0], p) : formula(n, in);
      result.vector =
          result.vector || (n.op == OpKind::mask && p.vector > 1 && (p.inner == n.dim || p.inner == n.key));
      // A value with several readers, or a long one, is computed once.
      if (uses_[node] > 1 || result.text.size() > 160) {
        if (result.vector) {
          result = held_by(store_value(result, p.vector), p.vector);
        } else {
          const std::string name = fresh("r");
          out_.line("const float {} = {};", name, result.text);
          result.text = name;
        }
      }
      break;
    }
    case NodeKind::slice: {
      Point q = p;
      q.at[n.dim] = q.at[n.dim] + n.start;
      if (q.limit[n.dim] > 0) q.limit[n.dim] += n.start;
      if (n.dim == q.inner) q.shift += n.start;
      q.own = false;
      result = value(n.in[0], q);
      break;
    }
    case NodeKind::concat:
      result = concat(node, p);
      break;
    case NodeKind::rotate:
      result = rotated(node, p);
      break;
    default:
      result = leaf(node, p);
      break;
  }
  order_.push_back(known_.emplace(key, result).first);
  return result;
}

/// The operand where the mask keeps the point, which is one of the whole tensor's.
std::string KernelText::masked(const Node& n, const std::string& operand, const Point& p) const {
  std::vector<Index> at = position(n, iteration_, p.at);
  at[p.inner] = at[p.inner] + one_of(p.vector);
  std::string kept;
  const auto ask = [&](const Index& x, const char* relation, const std::optional<std::int64_t>& bound) {
    if (bound) kept += fmt::format("{}{} {} {}", kept.empty() ? "" : " && ", x, relation, *bound);
  };
  const Index i = at[n.dim], j = at[n.key];
  ask(j - i, "<=", n.kept.tril);
  ask(j - i, ">=", n.kept.triu);
  ask(j, "<", n.kept.length);
  return fmt::format("({} ? {} : {})", kept, operand, float_literal(n.scalar));
}

Value KernelText::concat(int node, const Point& p) {
  const Node& n = block_.nodes[node];
  const std::string name = fresh("r");
  out_.line("Vec<float, {}> {};", p.vector, name);
  // Along its own dimension neighbours may lie in different parts: then each is decided alone.
  bool apart = n.dim == p.inner && p.vector > 1 && (p.shift % p.vector != 0 || p.limit[n.dim] > 0);
  std::int64_t start = 0;
  if (n.dim == p.inner)
    for (int in : n.in) apart = apart || start % p.vector != 0, start += block_.nodes[in].shape[n.dim];
  const std::size_t before = mark();
  const auto part = [&](const Point& at, const Index& where) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < n.in.size(); ++i) {
      const std::int64_t extent = block_.nodes[n.in[i]].shape[n.dim];
      const bool last = i + 1 == n.in.size();
      Point q = at;
      if (n.dim == q.inner) q.shift -= from;
      q.own = false;
      q.at[n.dim] = at.at[n.dim] - from;
      if (last)
        out_.open("{}{{", i ? "} else " : "");
      else
        out_.open("{}if ({} < {}) {{", i ? "} else " : "", at.at[n.dim], from + extent);
      const Value v = value(n.in[i], q);
      out_.line("{}{}[{}] = {};", counted("v", at.vector).head, name, where, v.text);
      forget(before);
      if (!last) out_.close("");
      from += extent;
    }
    out_.close();
  };
  if (!apart) {
    Point q = p;
    if (q.limit[n.dim] > 0) q.at[n.dim] = at_most(q.at[n.dim], q.limit[n.dim] - 1), q.limit[n.dim] = 0;
    part(q, one_of(p.vector));
  } else {
    for (int v = 0; v < p.vector; ++v) {
      Point q = p;
      q.at[p.inner] = p.at[p.inner] + v;
      if (p.limit[p.inner] > 0) q.at[p.inner] = at_most(q.at[p.inner], p.limit[p.inner] - 1);
      q.limit[p.inner] = 0;
      q.vector = 1, q.shift = 0;
      part(q, v);
    }
  }
  return held_by(name, p.vector);
}

/// Where each of the pair's numbers, its cosine and its sine are asked for by themselves.
std::string KernelText::rotated_one(int node, const Point& p, bool& vector) {
  const Node& n = block_.nodes[node];
  const Index at = p.limit[n.dim] > 0 ? at_most(p.at[n.dim], p.limit[n.dim] - 1) : p.at[n.dim];
  const auto operand = [&](int which, const Index& along) {
    Point q = narrowed(n.in[which], node, p);
    q.at[n.dim] = along, q.limit[n.dim] = 0, q.own = false;
    const Value v = value(n.in[which], q);
    vector = vector || v.vector;
    return v.text;
  };
  const bool by_element = block_.nodes[n.in[1]].shape[n.dim] == n.shape[n.dim];
  const Index table = by_element ? at : digit(at, 2, n.shape[n.dim], true);
  const std::string x = operand(0, at), other = operand(0, Index::named(fmt::format("({} ^ 1)", at))),
                    cos = operand(1, table), sin = operand(2, table);
  return fmt::format("{} * {} + (({}) % 2 == 0 ? -{} : {}) * {}", x, cos, at, other, other, sin);
}

Value KernelText::rotated(int node, const Point& p) {
  const Node& n = block_.nodes[node];
  const std::int64_t extent = n.shape[n.dim];
  if (n.dim != p.inner || p.vector == 1) {
    Value one;
    one.text = rotated_one(node, p, one.vector);
    if (one.vector) return held_by(store_value(one, p.vector), p.vector);
    const std::string name = fresh("r");
    out_.line("const float {} = {};", name, one.text);
    return {name};
  }
  if (p.vector % 2 == 0 && p.shift % p.vector == 0 && p.limit[n.dim] == 0 && extent % p.vector == 0) {
    // Whole pairs: their numbers are at hand.
    const auto operand = [&](int which) {
      const bool by_element = block_.nodes[n.in[which]].shape[n.dim] == extent;
      Point q = narrowed(n.in[which], node, p);
      q.own = false;
      q.at[n.dim] = by_element ? p.at[n.dim] : digit(p.at[n.dim], 2, extent, true);
      q.shift = by_element ? p.shift : p.shift / 2;
      q.vector = by_element ? p.vector : p.vector / 2;
      return store_value(value(n.in[which], q), q.vector);
    };
    const std::string x = operand(0), cos = operand(1), sin = operand(2);
    const char* table = block_.nodes[n.in[1]].shape[n.dim] == extent ? "v" : "v / 2";
    const Value all{fmt::format("{}[v] * {}[{}] + (v % 2 == 0 ? -{}[v ^ 1] : {}[v ^ 1]) * {}[{}]", x, cos,
                                table, x, x, sin, table),
                    true};
    return held_by(store_value(all, p.vector), p.vector);
  }
  const std::string name = fresh("r");
  out_.line("Vec<float, {}> {};", p.vector, name);
  for (int v = 0; v < p.vector; ++v) {
    Point q = p;
    q.at[n.dim] = p.at[n.dim] + v;
    q.vector = 1, q.shift = 0;
    bool vector = false;
    const std::string one = rotated_one(node, q, vector);
    out_.line("{}[{}] = {};", name, v, one);
  }
  return held_by(name, p.vector);
}

/// Reads the neighbours, `piece` at a time: read(piece, coordinate) is the text of one access.
template <class Read>
Value KernelText::read(const plan::Shape& shape, const Point& p, int piece, Read read) {
  const bool vector = p.vector > 1 && shape[p.inner] > 1;
  const int count = vector ? p.vector : 1;
  std::vector<std::string> parts;
  for (int v = 0; v < count; v += piece) {
    std::vector<Index> at = neighbour(p.at, p.inner, v);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1)
        at[d] = 0;
      else if (p.limit[d] > 0)
        at[d] = at_most(at[d], p.limit[d] - 1);
    }
    parts.push_back(read(piece, at));
  }
  const std::string name = fresh("x");
  if (!vector) {
    out_.line("const float {} = {}[0];", name, parts[0]);
    return {name, false};
  }
  const std::string text = fmt::format("{}", fmt::join(parts, ", "));
  out_.line("const Vec<float, {}> {} = {};", count, name,
            piece == count ? text : fmt::format("join({})", text));
  return held_by(name, count);
}

Value KernelText::read_buffer(const Buffer& b, const plan::Shape& shape, const Point& p,
                              const std::string& tile) {
  const bool vector = p.vector > 1 && shape[p.inner] > 1;
  const bool max = b.node >= 0 && block_.nodes[b.node].kind == NodeKind::reduce &&
                   block_.nodes[b.node].op == OpKind::reduction_max;
  return read(shape, p,
              vector && p.limit[p.inner] == 0 ? plan::access_width(b, p.inner, p.vector, p.shift) : 1,
              [&](int w, const auto& at) {
                return b.partials > 1 ? fmt::format("read_{}<{}, {}>({}, {})", max ? "max" : "sum", w,
                                                    b.partials, tile, fmt::join(at, ", "))
                                      : fmt::format("read<{}>({}({}))", w, tile, fmt::join(at, ", "));
              });
}

Value KernelText::read_global(int node, const Point& p) {
  const Node& n = block_.nodes[node];
  const auto& tensor = program_.tensors[n.tensor];
  int w = 1;
  if (p.vector > 1 && n.shape[p.inner] > 1 && p.limit[p.inner] == 0 && tensor.strides[p.inner] == 1) {
    w = std::min(p.vector, plan_.copies.at(node).vector);
    while (p.shift % w != 0) w /= 2;
  }
  return read(n.shape, p, w, [&](int piece, const auto& at) {
    return fmt::format("read<{}>({}({}))", piece, global(n.tensor),
                       fmt::join(position(n, iteration_, at), ", "));
  });
}

std::string KernelText::accumulator(int node, const Point& p) const {
  const bool fragment = plan_.contexts[p.context].row != nullptr;
  return fmt::format("acc{}{}[{}]", node,
                     fragment ? fmt::format(".pair({})", p.index) : fmt::format("[{}]", p.index),
                     one_of(p.vector));
}

Value KernelText::leaf(int node, const Point& p) {
  const Node& n = block_.nodes[node];
  if (const auto direct = plan_.direct.find(node); direct != plan_.direct.end() && direct->second)
    return read_global(node, p);
  const auto where = plan_.context_of.find(node);
  if (node == spilled_) return {accumulator(node, p), p.vector > 1};
  bool here = where != plan_.context_of.end() && where->second == p.context && p.own;
  if (here) {
    const bool after = n.carried || n.kind == NodeKind::accumulate;
    here = after ? section_ == plan::Section::after : n.section == section_;
    here = here && n.shape == plan_.contexts[p.context].domain && n.kind != NodeKind::round;
  }
  if (here) return {accumulator(node, p), p.vector > 1};
  const int b = plan_.buffer_of.at(node);
  return read_buffer(plan_.buffers[b], n.shape, p, tile_at_stage(b));
}

}  // namespace zellige::emit
