#include <algorithm>
#include <cctype>

#include "emit/nest_text.hpp"
#include "emit/parameters.hpp"
#include "emit/tensor_index.hpp"
#include "rules/table.hpp"

namespace zellige::emit {
using Kind = kernel::Item::Kind;

namespace {

/// Emits a variable of class Divisor with the inverse of the expression `text`. Returns the variable's name.
std::string divisor(const KernelText& k, const std::string& text) {
  const std::string name = k.out.fresh("d");
  k.out.line("const Divisor {}({});", name, text);
  return name;
}

/// Returns `v` if its expression is a variable or a number. Otherwise emits a variable with its value and returns that.
NodeValue named(const KernelText& k, const NodeValue& v) {
  if (std::ranges::all_of(v.text, [](unsigned char c) { return std::isalnum(c) || c == '_'; })) return v;
  const std::string name = k.out.fresh("r");
  k.out.line("const {} {} = {};", v.type, name, v.text);
  return {name, false, "", v.type};
}

/// Returns the condition of the bounds check `guard` for the element at the coordinate in `nest`. The condition is
/// true if the element is within the matmul's result (tested if instruction tiles extend beyond it) and within the
/// tensor (tested if the block's tile is partial).
Condition condition(const KernelText& k, const Item& guard, const NestAt& nest) {
  Condition all;
  for (const kernel::Guard& g : guard.guards)
    all.push_back({Index::named(g.axis == 0 ? "at.n" : g.axis == 1 ? "at.m" : "at.b"), g.below});
  Condition within;
  for (const kernel::Within& w : guard.within)
    check(k, within, w.along, global_start(k, w.along, w.far, nest.place().iteration) + nest.index(w.at));
  const std::set<Bound> each(within.begin(), within.end());
  all.insert(all.end(), each.begin(), each.end());
  return all;
}

/// Returns whether a mask keeps all or none of the neighbours that are evaluated together: it ends at a size whose values are multiples
/// of their number, and so are the coordinates at which they begin.
bool ends_between_vectors(const Item& item, const Node& n, const tile::TilePrograms& program, std::size_t inner) {
  if (n.length_size < 0 || n.kept.tril || n.kept.triu || n.in.size() > 1 || item.pieces.size() != 1) return false;
  const std::int64_t tile = n.shape[static_cast<std::size_t>(n.key)];
  return static_cast<std::size_t>(n.key) == inner && tile % item.vector == 0 &&
         tile::SymbolicNumber::of(program.sizes, n.length_size).divisor() % item.vector == 0;
}

/// Returns the expression of an element after rotary embedding (RoPE). With x and y the two elements of a
/// pair, this is x * cos - y * sin for the first and y * cos + x * sin for the second.
std::string rotated(const KernelText& k, const Item& item, const std::vector<std::string>& in, const NestAt& nest) {
  const Node& n = k.block.nodes[item.node];
  if (in.size() == 4)
    return fmt::format("({} * {} + (({}) % 2 == 0 ? -{} : {}) * {})", in[0], in[2],
                       nest.index(item.pieces.front()[n.dim]), in[1], in[1], in[3]);
  const int tables = k.block.nodes[n.in[1]].shape[n.dim] == n.shape[n.dim] ? item.vector : item.vector / 2;
  const std::string x = store_value(k, nest.value(item.in[0]), item.vector),
                    cos = store_value(k, nest.value(item.in[1]), tables),
                    sin = store_value(k, nest.value(item.in[2]), tables);
  const char* table = tables == item.vector ? "v" : "v / 2";
  return fmt::format("({}[v] * {}[{}] + (v % 2 == 0 ? -{}[v ^ 1] : {}[v ^ 1]) * {}[{}])", x, cos, table, x, x, sin,
                     table);
}

/// Emits a variable with the elements of `item`, an unpack: of all bytes of the vector, or of one byte each.
NodeValue unpacked(const KernelText& k, const Item& item, const NestAt& nest) {
  const Node& n = k.block.nodes[item.node];
  const std::string type = register_type(n.dtype), name = k.out.fresh("r"),
                    packed = fmt::format("{}, {}", type_name(n.to_dtype), type);
  const NodeValue& bytes = nest.value(item.in[0]);
  if (item.pieces.empty()) {
    k.out.line("const Vec<{}, {}> {} = unpacked<{}>({});", type, item.vector, name, packed,
               store_value(k, bytes, item.vector * graph::bits(n.to_dtype) / 8));
    return value_named(name, item.vector, type);
  }
  const std::string half = fmt::format("unpacked_one<{}>({}, ({}) % {})", packed, bytes.text,
                                       nest.index(item.pieces.front()[n.dim]), 8 / graph::bits(n.to_dtype));
  return {half, bytes.vector, "", type};
}

/// Returns the expression of a masked value: the operand in[0] if the mask keeps the element, else the mask's
/// constant. The mask tests the element's coordinates in the complete tensor. If there is an operand in[1],
/// it is a length, and elements at or beyond it are masked.
std::string masked(const KernelText& k, const Item& item, const std::vector<std::string>& in, const NestAt& nest) {
  const Node& n = k.block.nodes[item.node];
  std::vector<Index> here = nest.index(item.pieces.front());
  const auto inner = static_cast<std::size_t>(nest.context().inner());
  if (item.vector > 1 && !ends_between_vectors(item, n, k.program, inner))
    here = neighbour(here, nest.context().inner(), one_of(item.vector));
  const std::vector<Index> at = position(k, n, nest.place().iteration, here);
  std::string kept;
  const auto ask = [&](const Index& x, const char* relation, const std::optional<std::int64_t>& bound, int size) {
    if (bound) kept += fmt::format("{}{} {} {}", kept.empty() ? "" : " && ", x, relation, emit::bound(k, *bound, size));
  };
  const Index i = at[n.dim], j = at[n.key];
  ask(j - i, "<=", n.kept.tril, n.tril_size);
  ask(j - i, ">=", n.kept.triu, n.triu_size);
  ask(j, "<", n.kept.length, n.length_size);
  if (in.size() > 1) kept += fmt::format("{}{} {} {}", kept.empty() ? "" : " && ", j, n.kept.first ? ">=" : "<", in[1]);
  return fmt::format("({} ? {} : {})", kept, in[0], literal(n.scalar, n.dtype));
}

/// Emits a variable of `vector` elements, the concatenation of the results `parts` of several accesses. Returns it.
NodeValue joined(const KernelText& k, const std::vector<std::string>& parts, int vector, const std::string& type) {
  const std::string name = k.out.fresh("x");
  if (vector == 1) {
    k.out.line("const {} {} = {}[0];", type, name, parts[0]);
    return {name, false, "", type};
  }
  const std::string text = fmt::format("{}", fmt::join(parts, ", "));
  k.out.line("const Vec<{}, {}> {} = {};", type, vector, name,
             parts.size() == 1 ? text : fmt::format("join({})", text));
  return value_named(name, vector, type);
}

/// Replaces coordinates of `at` beyond the tensor that the load `n` reads by the last ones, and returns true, if nobody
/// uses the values that are read instead: the nest's stores have their own bounds checks, or they are rows beyond the
/// last one. Unlike loads under a condition, the loads of a row then differ by constants alone, which instructions add to
/// an address. Returns false if the tensor may end within a row, or may begin after the tile.
bool clamp(const KernelText& k, std::vector<Index>& at, const Node& n, const NestAt& nest) {
  const Context& c = nest.context();
  const bool rows = !c.row && c.axes() > 1;
  if ((!rows && !nest.keeps.counter) || n.view.predicated(c.inner()) || n.unfolded) return false;
  std::vector<Index> inside = at;
  for (int d = 0; d < n.view.rank(); ++d) {
    if (!n.view.predicated(d)) continue;
    const tile::Interval along = n.view.along(d, k.block);
    const Index end = global_end(k, along);
    if (along.origin() < 0 || (!end.is_constant() && !fits_int(along.end(k.program.sizes)))) return false;
    inside[d] = end.is_constant() ? at_most(at[d], end.constant() - 1)
                                  : Index::named(fmt::format("at_most({}, {})", at[d], end - 1));
  }
  at = std::move(inside);
  return true;
}

/// Emits `item`, a read from a buffer in shared memory, for the coordinate in `nest`, and returns the value. If the
/// buffer has several partial results per element, the value is what they give together, such as their sum.
NodeValue read_shared(const KernelText& k, const Item& item, const NestAt& nest) {
  const SmemTensor& b = k.plan.tensors[item.buffer];
  const std::string tile = tile_at(k, item.buffer);
  const bool reduced = b.node >= 0 && k.block.nodes[b.node].kind == tile::NodeKind::reduce;
  const graph::Monoid& of = reduced ? graph::monoid_of(k.block.nodes[b.node].op) : graph::monoids::sum;
  const std::string join = of.functions ? "" : ", " + join_source(of, b.dtype);
  std::vector<std::string> parts;
  for (const std::vector<kernel::TileCoordinate>& piece : item.pieces) {
    const std::vector<Index> at = nest.index(piece);
    parts.push_back(b.partials > 1 ? fmt::format("read_{}<{}, {}>({}{}, {})", of.functions ? of.name : "joined",
                                                 item.width, b.partials, tile, join, fmt::join(at, ", "))
                                   : fmt::format("{}<{}>({}({}))", item.raw ? "load" : "read", item.width, tile,
                                                 fmt::join(at, ", ")));
  }
  return joined(k, parts, item.vector, item.raw ? type_name(b.dtype) : register_type(b.dtype));
}

/// Emits `item`, a read of elements of a tensor in global memory, for the coordinate in `nest`, and returns the value.
NodeValue read_global(const KernelText& k, const Item& item, const NestAt& nest) {
  const Node& n = k.block.nodes[item.node];
  const int inner = nest.context().inner();
  const int width = k.program.tensors[n.tensor].strides[inner] == 1 ? item.width : 1;
  const std::string type = item.raw ? type_name(n.dtype) : register_type(n.dtype);
  std::vector<std::string> parts;
  for (std::size_t v = 0; v < item.pieces.size(); v += width) {
    std::vector<Index> at = position(k, n, nest.place().iteration, nest.index(item.pieces[v]));
    const bool clamped = item.zeros_out_of_bounds && clamp(k, at, n, nest);
    parts.push_back(
        fmt::format("{}<{}>({}({}))", item.raw ? "load" : "read", width, k.global(n.tensor), fmt::join(at, ", ")));
    const Condition exists = item.zeros_out_of_bounds && !clamped ? inside(k, n, at) : Condition();
    if (exists.empty()) continue;
    parts.back() = fmt::format("({} ? {} : Vec<{}, {}>{{}})", text(exists), parts.back(), type, width);
  }
  return joined(k, parts, item.vector, type);
}

/// Returns the value of an elementwise operator or a rotation (RoPE), as a variable if it is long or used several
/// times.
NodeValue apply(const KernelText& k, const Item& item, const NestAt& nest) {
  const Node& n = k.block.nodes[item.node];
  if (n.kind == tile::NodeKind::unpack) return unpacked(k, item, nest);
  if (nest.place().whole && item.node == k.plan.loop_bounds->mask) return nest.value(item.in[0]);
  std::vector<std::string> in;
  NodeValue result;
  result.type = register_type(n.dtype);
  for (int i : item.in) {
    in.push_back(nest.value(i).text);
    result.vector = result.vector || nest.value(i).vector;
  }
  if (n.kind == tile::NodeKind::rotate) {
    result.vector = result.vector || in.size() == 3;
    result.text = rotated(k, item, in, nest);
  } else if (n.op == OpKind::mask) {
    const int inner = nest.context().inner();
    result.vector = result.vector || (item.vector > 1 && (inner == n.dim || inner == n.key));
    result.text = masked(k, item, in, nest);
  } else {
    // The inverse of a divisor is computed once if several neighbours or iterations use it.
    if (n.op == OpKind::div && in.size() == 2 && n.dtype != graph::DType::f64) {
      if (!nest.loop->divisors[item.in[1]].empty())
        in[1] = nest.loop->divisors[item.in[1]];
      else if (result.vector && !nest.value(item.in[1]).vector)
        in[1] = divisor(k, in[1]);
    }
    std::vector<std::string> with_count = in;
    if (n.count_size >= 0)
      with_count.push_back(fmt::format("static_cast<{}>({})", result.type,
                                       number(k, tile::SymbolicNumber::of(k.program.sizes, n.count_size))));
    result.text = formula(n, with_count, k.block.nodes[n.in[0]].dtype);
    std::vector<NodeValue> operands;
    for (std::size_t i = 0; i < in.size(); ++i) operands.push_back(nest.value(item.in[i])), operands[i].text = in[i];
    rules::rewrite(expression_rules, rules::Level::expression, result, Applied{n, nest.context(), operands});
  }
  // A value is assigned to a variable if its expression is long, it has several users, or all neighbours share it.
  const Context& c = nest.context();
  const bool for_several = !result.vector && c.vector() > 1 && !c.row && !item.invariant;
  if (k.uses[item.node] <= 1 && result.text.size() <= 160 && !for_several) return result;
  if (result.vector) {
    NodeValue value = value_named(store_value(k, result, item.vector), item.vector, result.type);
    value.terms = std::move(result.terms);
    return value;
  }
  return named(k, result);
}

}  // namespace

Index NestAt::index(const kernel::TileCoordinate& c) const {
  const Index here = (c.from < 0 ? Index(0) : at[c.from]) + c.offset;
  const Index x = c.last >= 0 ? at_most(here, c.last) : here;
  if (c.layout.element == 1) return x + c.layout.added;
  if (c.layout.element == 0) return digit(x, c.layout.run, std::int64_t{1} << 40, true) + c.layout.added;
  return Index::named(fmt::format("({} ^ 1)", x)) + (c.layout.added - 1);
}

std::vector<Index> NestAt::index(const std::vector<kernel::TileCoordinate>& coordinates) const {
  std::vector<Index> all;
  for (const kernel::TileCoordinate& c : coordinates) all.push_back(index(c));
  return all;
}

/// Emits, before the loop of a nest, the values that are invariant along it, and the inverses of invariant divisors.
void prepare(const KernelText& k, const std::vector<Item>& items, const NestAt& nest) {
  nest.loop->values.assign(items.size(), {});
  nest.loop->divisors.assign(items.size(), "");
  std::vector<bool> divides(items.size(), false), read(items.size(), false);
  for (const Item& item : items)
    for (std::size_t o = 0; !item.invariant && o < item.in.size(); ++o) {
      const bool divisor =
          o == 1 && item.in.size() == 2 && item.kind == Kind::apply && k.block.nodes[item.node].op == OpKind::div;
      (divisor ? divides : read)[item.in[o]] = true;
    }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].invariant) continue;
    evaluate_one(k, items, i, nest);
    if (divides[i] && k.block.nodes[items[i].node].dtype != graph::DType::f64)
      nest.loop->divisors[i] = divisor(k, nest.value(i).text);
    if (read[i] && items[i].kind == Kind::apply) nest.value(i) = named(k, nest.value(i));
  }
}

/// Emits the nest's loads, computations and stores that are not invariant, in order.
void evaluate(const KernelText& k, const std::vector<Item>& items, const NestAt& nest) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!items[i].invariant) evaluate_one(k, items, i, nest);
}

/// Emits items[i] at the coordinate in `nest`, and records the expression of its value for the items that use it.
void evaluate_one(const KernelText& k, const std::vector<Item>& items, std::size_t i, const NestAt& nest) {
  const Item& item = items[i];
  const std::string type = item.node < 0 ? "" : register_type(k.block.nodes[item.node].dtype);
  switch (item.kind) {
    case Kind::read_shared:
      nest.value(i) = read_shared(k, item, nest);
      break;
    case Kind::read_global:
      nest.value(i) = read_global(k, item, nest);
      break;
    case Kind::in_registers:
      if (k.block.nodes[item.node].kind == tile::NodeKind::load && !k.plan.in_place(item.node)) {
        nest.value(i) =
            joined(k, {fmt::format("widened(acc{}[{}].value())", item.node, nest.chunk)}, item.vector, type);
        break;
      }
      nest.value(i) = {accumulator(item.node, nest, item.vector, item.other), item.vector > 1, "", type};
      break;
    case Kind::in_lines:
      nest.value(i) = {.text = fmt::format("acc{}[{}][0]", item.node,
                                           nest.context().row
                                               ? fmt::format("{}::line({})", fragment_type(nest.context()), nest.chunk)
                                               : nest.line.str()),
                       .type = type,
                       .of_row = true};
      break;
    case Kind::apply:
      nest.value(i) = apply(k, item, nest);
      break;
    case Kind::choose: {
      const std::string name = k.out.fresh("r");
      k.out.line("Vec<{}, {}> {};", type, item.vector, name);
      nest.value(i) = value_named(name, item.vector, type);
      break;
    }
    case Kind::part:
      if (item.part.last) return k.out.open("{}{{", item.part.first ? "" : "} else ");
      return k.out.open("{}if ({} < {}) {{", item.part.first ? "" : "} else ", nest.index(item.part.at), item.part.end);
    case Kind::take:
      k.out.line("{}{}[{}] = {};", counted("v", item.vector).head, nest.value(item.in[0]).name,
                 item.part.alone >= 0 ? Index(item.part.alone) : one_of(item.vector), nest.value(item.in[1]).text);
      return k.out.close(item.part.last ? "}" : "");
    case Kind::guard:
      return k.out.open("if ({}) {{", text(condition(k, item, nest)));
    case Kind::guarded:
      return k.out.close();
    case Kind::leave:
      return leave(k, item, nest);
  }
}

/// Returns the name of the Vec variable that has the value's `vector` elements. Emits the variable if there is none.
std::string store_value(const KernelText& k, const NodeValue& v, int vector) {
  if (!v.name.empty()) return v.name;
  const std::string name = k.out.fresh("r");
  if (vector == 1) {
    k.out.line("const Vec<{}, 1> {}{{{}}};", v.type, name, v.text);
    return name;
  }
  k.out.line("Vec<{}, {}> {};", v.type, vector, name);
  k.out.line("#pragma unroll");
  k.out.line("{}{}[v] = {};", counted("v", vector).head, name, v.text);
  return name;
}

/// If the operator computes x * scale or x * scale - y, records x, scale and y in result.terms. If it computes
/// exp(x * scale - y), makes it a call of exp_below(), which takes two instructions. The difference in rounding is below
/// the rounding of the matmul that reads the result. Returns false, since no rule applies to a call.
bool exp_of_scaled_less(NodeValue& result, const Applied& a) {
  if (!a.context.row || result.type != "float") return false;
  const NodeValue& x = a.in[0];
  if (a.node.op == OpKind::mul_scalar) {
    result.terms = {x.text, float_literal(a.node.scalar)};
  } else if (a.node.op == OpKind::sub && a.in.size() == 2 && x.vector && a.in[1].of_row) {
    result.terms = x.terms.size() == 2 ? x.terms : std::vector<std::string>{x.text, "1.0f"};
    result.terms.push_back(a.in[1].text);
  } else if (a.node.op == OpKind::exp && x.terms.size() == 3) {
    result.text = fmt::format("zellige::exp_below({}, {}, {})", x.terms[0], x.terms[1], x.terms[2]);
  }
  return false;
}

/// Returns the expression of `vector` adjacent accumulators of operator `node`, at the coordinate in `nest`. If
/// `other` is true, returns those at the same row and column of another matrix of the batch: of the matrix with
/// index 2 i + 1 in place of 2 i, and vice versa.
std::string accumulator(int node, const NestAt& nest, int vector, bool other) {
  const std::string chunk =
      other ? fmt::format("{}::other({})", fragment_type(nest.context()), nest.chunk) : fmt::format("{}", nest.chunk);
  return fmt::format(
      "acc{}{}[{}]", node,
      nest.context().row ? fmt::format(".{}({})", runs(nest.context()), chunk) : fmt::format("[{}]", nest.chunk),
      one_of(vector));
}

}  // namespace zellige::emit
