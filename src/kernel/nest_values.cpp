#include <algorithm>

#include "graph/dtype.hpp"
#include "graph/reductions.hpp"
#include "kernel/index_width.hpp"
#include "kernel/nest.hpp"

namespace zellige::kernel {

bool is_in_registers(const Kernel& kernel, const Work& work, int node) {
  const tile::NodeKind kind = kernel.program.nodes[node].kind;
  return (kind == tile::NodeKind::map || kind == tile::NodeKind::load) && work.node != node &&
         kernel.rmem_of(node) >= 0;
}

NestPoint narrowed(const tile::TileProgram& program, int operand, int node, const NestPoint& p) {
  const Shape &from = program.nodes[operand].shape, &to = program.nodes[node].shape;
  NestPoint q = p;
  q.own = kernel::narrowed(p.own, from, to);
  for (std::size_t d = 0; d < q.at.size(); ++d) {
    if (from[d] == to[d]) continue;
    q.at[d] = {}, q.limit[d] = 0;
    if (static_cast<int>(d) == q.inner) q.vector = 1, q.shift = 0;
  }
  return q;
}

int NestValues::value(int node, const NestPoint& p) {
  const tile::Node& n = nest.p.nodes[node];
  Nest::Key key{node, p.at, p.limit, p.vector};
  if (const int known = nest.find(key); known >= 0) return known;
  int result = -1;
  if (n.kind == tile::NodeKind::map && !is_in_registers(nest.kernel, work, node)) {
    Item item{.kind = Kind::apply, .node = node, .vector = p.vector};
    for (int in : n.in) item.in.push_back(value(in, narrowed(nest.p, in, node, p)));
    if (n.op == graph::OpKind::mask) item.pieces.push_back(p.at);
    result = nest.add(std::move(item));
  } else if (n.kind == tile::NodeKind::slice) {
    NestPoint q = p;
    q.at[n.dim] = q.at[n.dim].moved(n.start);
    if (q.limit[n.dim] > 0) q.limit[n.dim] += n.start;
    if (n.dim == q.inner) q.shift += n.start;
    q.own = At::elsewhere;
    result = value(n.in[0], q);
  } else if (n.kind == tile::NodeKind::permute) {
    NestPoint q = p;
    for (std::size_t d = 0; d < n.order.size(); ++d) q.at[n.order[d]] = p.at[d], q.limit[n.order[d]] = p.limit[d];
    q.inner = n.order[p.inner], q.own = At::elsewhere;
    result = value(n.in[0], q);
  } else if (n.kind == tile::NodeKind::concat) {
    result = concat(n, p);
  } else if (n.kind == tile::NodeKind::rotate) {
    result = rotate(node, p);
  } else if (n.kind == tile::NodeKind::unpack) {
    result = unpack(node, p);
  } else if (n.kind == tile::NodeKind::repeat) {
    result = repeat(node, p);
  } else {
    result = leaf(node, p);
  }
  return nest.remember(std::move(key), result);
}

int NestValues::read_buffer(int buffer, const Shape& shape, const NestPoint& p) {
  if (buffer < 0)
    reject("{}: '{} %{}' reads a value that lies neither in its registers nor in shared memory", nest.p.name,
           name(work.kind), work.node);
  const bool vector = p.vector > 1 && shape[p.inner] > 1;
  const int width =
      vector && p.limit[p.inner] == 0 ? nest.kernel.tensors[buffer].access_width(p.inner, p.vector, p.shift) : 1;
  return read({.kind = Kind::read_shared, .buffer = buffer}, shape, p, width, width);
}

int NestValues::concat(const tile::Node& n, const NestPoint& p) {
  // Elements of a vector along the concatenated dimension may be in different branches: each has its own.
  bool scalar = n.dim == p.inner && p.vector > 1 && (p.shift % p.vector != 0 || p.limit[n.dim] > 0);
  std::int64_t start = 0;
  if (n.dim == p.inner)
    for (int in : n.in) scalar = scalar || start % p.vector != 0, start += nest.p.nodes[in].shape[n.dim];
  const int node = static_cast<int>(&n - nest.p.nodes.data());
  const int choose = nest.add({.kind = Kind::choose, .node = node, .vector = p.vector});
  for (int v = 0; v < (scalar ? p.vector : 1); ++v) {
    NestPoint at = p;
    if (scalar) at.at[p.inner] = at.at[p.inner].moved(v), at.vector = 1, at.shift = 0;
    if (p.limit[n.dim] > 0) at.at[n.dim] = at.at[n.dim].clamped(p.limit[n.dim] - 1), at.limit[n.dim] = 0;
    std::int64_t from = 0;
    for (std::size_t i = 0; i < n.in.size(); ++i) {
      const std::int64_t extent = nest.p.nodes[n.in[i]].shape[n.dim];
      NestPoint q = at;
      if (n.dim == q.inner) q.shift -= from;
      q.own = At::elsewhere;
      q.at[n.dim] = at.at[n.dim].moved(-from);
      const ConcatPart part{scalar ? v : -1, at.at[n.dim], from + extent, i == 0, i + 1 == n.in.size()};
      branch(choose, part, at.vector, [&] { return value(n.in[i], q); });
      from += extent;
    }
  }
  return choose;
}

int NestValues::rotated(int node, int which, const NestPoint& p, const PairLayout& along, int vector) {
  const tile::Node& n = nest.p.nodes[node];
  NestPoint q = narrowed(nest.p, n.in[which], node, p);
  q.own = which == 0 ? kernel::rotated(p.own, n, along == itself) : At::elsewhere, q.limit[n.dim] = 0;
  q.at[n.dim] = p.limit[n.dim] > 0 ? p.at[n.dim].clamped(p.limit[n.dim] - 1) : p.at[n.dim];
  q.at[n.dim].layout = along;
  if (n.dim == p.inner) q.vector = vector, q.shift = along == number_of_pair ? p.shift / 2 : p.shift;
  return value(n.in[which], q);
}

int NestValues::rotate(int node, const NestPoint& p) {
  const tile::Node& n = nest.p.nodes[node];
  const std::int64_t extent = n.shape[n.dim];
  const bool by_element = nest.p.nodes[n.in[1]].shape[n.dim] == extent;  // a cosine per element, not per pair
  const PairLayout& table = by_element ? itself : number_of_pair;
  const auto one = [&](const NestPoint& q) {
    std::vector<int> in{rotated(node, 0, q, itself, 1), rotated(node, 0, q, neighbour_in_pair, 1),
                        rotated(node, 1, q, table, 1), rotated(node, 2, q, table, 1)};
    return nest.add(Item{.kind = Kind::apply, .node = node, .in = std::move(in), .vector = q.vector, .pieces = {q.at}});
  };
  if (n.dim != p.inner || p.vector == 1) return one(p);
  if (p.vector % 2 == 0 && p.shift % p.vector == 0 && p.limit[n.dim] == 0 && extent % p.vector == 0) {
    const int tables = by_element ? p.vector : p.vector / 2;
    std::vector<int> in{rotated(node, 0, p, itself, p.vector), rotated(node, 1, p, table, tables),
                        rotated(node, 2, p, table, tables)};
    return nest.add({.kind = Kind::apply, .node = node, .in = std::move(in), .vector = p.vector});
  }
  const int choose = nest.add({.kind = Kind::choose, .node = node, .vector = p.vector});
  for (int v = 0; v < p.vector; ++v) {  // each element separately
    NestPoint q = p;
    q.at[n.dim] = q.at[n.dim].moved(v), q.vector = 1, q.shift = 0;
    branch(choose, {v, q.at[n.dim], extent, true, true}, 1, [&] { return one(q); });
  }
  return choose;
}

int NestValues::bytes(int node, const NestPoint& p, int vector) {
  const tile::Node& n = nest.p.nodes[node];
  NestPoint q = p;
  q.own = At::elsewhere, q.vector = vector;
  if (8 / graph::bits(n.to_dtype) > 1) {
    q.limit[n.dim] = 0;
    if (p.limit[n.dim] > 0) q.at[n.dim] = p.at[n.dim].clamped(p.limit[n.dim] - 1);
    q.at[n.dim].layout = number_of_pair;
    if (n.dim == p.inner) q.shift = p.shift / 2;
  }
  const int read = value(n.in[0], q);
  nest.keep_bytes(read);
  return read;
}

int NestValues::unpack(int node, const NestPoint& p) {
  const tile::Node& n = nest.p.nodes[node];
  const int per = 8 / graph::bits(n.to_dtype);
  const auto one = [&](const NestPoint& q) {
    return nest.add(
        {.kind = Kind::apply, .node = node, .in = {bytes(node, q, q.vector)}, .vector = q.vector, .pieces = {q.at}});
  };
  if (n.dim != p.inner || p.vector == 1) return one(p);
  if (per == 1 ||
      (p.vector % per == 0 && p.shift % p.vector == 0 && p.limit[n.dim] == 0 && n.shape[n.dim] % p.vector == 0))
    return nest.add({.kind = Kind::apply, .node = node, .in = {bytes(node, p, p.vector / per)}, .vector = p.vector});
  const int choose = nest.add({.kind = Kind::choose, .node = node, .vector = p.vector});
  for (int v = 0; v < p.vector; ++v) {  // each element separately
    NestPoint q = p;
    q.at[n.dim] = q.at[n.dim].moved(v), q.vector = 1, q.shift = 0;
    branch(choose, {v, q.at[n.dim], n.shape[n.dim], true, true}, 1, [&] { return one(q); });
  }
  return choose;
}

int NestValues::repeat(int node, const NestPoint& p) {
  const tile::Node& n = nest.p.nodes[node];
  const auto from = [&](const NestPoint& at) {
    NestPoint q = at;
    q.own = At::elsewhere, q.limit[n.dim] = 0;
    if (at.limit[n.dim] > 0) q.at[n.dim] = at.at[n.dim].clamped(at.limit[n.dim] - 1);
    q.at[n.dim].layout = {0, 1, 0, n.to};
    if (n.dim == at.inner) q.vector = 1, q.shift = 0;
    return value(n.in[0], q);
  };
  const bool one = n.dim != p.inner || p.vector == 1 ||
                   (n.to % p.vector == 0 && p.shift % p.vector == 0 && p.limit[n.dim] == 0);  // all of the vector
  if (one) return from(p);
  const int choose = nest.add({.kind = Kind::choose, .node = node, .vector = p.vector});
  for (int v = 0; v < p.vector; ++v) {
    NestPoint q = p;
    q.at[n.dim] = q.at[n.dim].moved(v), q.vector = 1, q.shift = 0;
    branch(choose, {v, q.at[n.dim], n.shape[n.dim], true, true}, 1, [&] { return from(q); });
  }
  return choose;
}

int NestValues::leaf(int node, const NestPoint& p) {
  const tile::Node& n = nest.p.nodes[node];
  if (nest.kernel.in_place(node) && !is_in_registers(nest.kernel, work, node)) {
    Item item{.kind = Kind::read_global, .node = node};
    const bool several = p.vector > 1 && n.shape[p.inner] > 1;
    // A bounds check tests only the first element of a vector.
    item.zeros_out_of_bounds =
        n.unfolded || ((!p.checked || (several && n.view.straddles_end(p.inner, p.vector))) && n.view.predicated());
    int width = 1;
    if (several && p.limit[p.inner] == 0) {
      width = std::min(p.vector, nest.kernel.in_place(node)->vector);
      while (p.shift % width != 0 || n.view.straddles_end(p.inner, width)) width /= 2;
    }
    return read(std::move(item), n.shape, p, 1, width);
  }
  const int evaluated = nest.kernel.rmem_of(node);
  if (evaluated >= 0 && n.kind != tile::NodeKind::round && nest.complete(work, node)) {
    const bool pair = p.own == At::pair && whole_pairs(nest.c);
    if (evaluated == work.context && (p.own == At::own || pair) && n.shape == nest.c.domain)
      return nest.add({.kind = Kind::in_registers, .node = node, .other = pair, .vector = p.vector});
    if ((p.own == At::own || p.own == At::row) && lines_of(nest.kernel.rmem[evaluated].layout, nest.c))
      return nest.add({.kind = Kind::in_lines, .node = node});
  }
  return read_buffer(nest.kernel.tensor_of(node), n.shape, p);
}

int NestValues::read(Item item, const Shape& shape, const NestPoint& p, int step, int width) {
  item.vector = p.vector > 1 && shape[p.inner] > 1 ? p.vector : 1;
  item.width = width;
  for (int v = 0; v < item.vector; v += step) {
    std::vector<TileCoordinate> at = p.at;
    at[p.inner] = at[p.inner].moved(v);
    for (std::size_t d = 0; d < shape.size(); ++d)
      at[d] = shape[d] == 1 ? TileCoordinate{} : p.limit[d] > 0 ? at[d].clamped(p.limit[d] - 1) : at[d];
    item.pieces.push_back(std::move(at));
  }
  return nest.add(std::move(item));
}

}  // namespace zellige::kernel
