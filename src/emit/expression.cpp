#include <algorithm>
#include <cctype>

#include "emit/kernel_text.hpp"
#include "rules/table.hpp"

namespace zellige::emit {

using Kind = kernel::Item::Kind;

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
void KernelText::prepare(const std::vector<Item>& items, const NestAt& nest) {
  values_.assign(items.size(), {});
  divisors_.assign(items.size(), "");
  std::vector<bool> divides(items.size(), false), read(items.size(), false);
  for (const Item& item : items)
    for (std::size_t k = 0; !item.invariant && k < item.in.size(); ++k) {
      const bool divisor =
          k == 1 && item.in.size() == 2 && item.kind == Kind::apply && block_.nodes[item.node].op == OpKind::div;
      (divisor ? divides : read)[item.in[k]] = true;
    }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].invariant) continue;
    evaluate_one(items, i, nest);
    if (divides[i]) divisors_[i] = divisor(values_[i].text);
    if (read[i] && items[i].kind == Kind::apply) values_[i] = named(values_[i]);
  }
}

/// Emits the nest's loads, computations and stores that are not invariant, in order.
void KernelText::evaluate(const std::vector<Item>& items, const NestAt& nest) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!items[i].invariant) evaluate_one(items, i, nest);
}

/// Emits items[i] at the coordinate in `nest`, and records the expression of its value for the items that use it.
void KernelText::evaluate_one(const std::vector<Item>& items, std::size_t i, const NestAt& nest) {
  const Item& item = items[i];
  const std::string type = item.node < 0 ? "" : register_type(block_.nodes[item.node].dtype);
  switch (item.kind) {
    case Kind::read_shared:
      values_[i] = read_shared(item, nest);
      break;
    case Kind::read_global:
      values_[i] = read_global(item, nest);
      break;
    case Kind::in_registers:
      if (block_.nodes[item.node].kind == tile::NodeKind::load && !plan_.in_place(item.node)) {
        values_[i] = joined({fmt::format("widened(acc{}[{}].value())", item.node, nest.chunk)}, item.vector, type);
        break;
      }
      values_[i] = {accumulator(item.node, nest, item.vector, item.other), item.vector > 1, "", type};
      break;
    case Kind::in_lines:
      values_[i] = {
          .text = fmt::format("acc{}[{}][0]", item.node,
                              nest.context->row ? fmt::format("{}::line({})", fragment_type(*nest.context), nest.chunk)
                                                : nest.line.str()),
          .type = type,
          .of_row = true};
      break;
    case Kind::apply:
      values_[i] = apply(item, nest);
      break;
    case Kind::choose: {
      const std::string name = fresh("r");
      out_.line("Vec<{}, {}> {};", type, item.vector, name);
      values_[i] = value_named(name, item.vector, type);
      break;
    }
    case Kind::part:
      if (item.part.last) return out_.open("{}{{", item.part.first ? "" : "} else ");
      return out_.open("{}if ({} < {}) {{", item.part.first ? "" : "} else ", nest.index(item.part.at), item.part.end);
    case Kind::take:
      out_.line("{}{}[{}] = {};", counted("v", item.vector).head, values_[item.in[0]].name,
                item.part.alone >= 0 ? Index(item.part.alone) : one_of(item.vector), values_[item.in[1]].text);
      return out_.close(item.part.last ? "}" : "");
    case Kind::guard:
      return out_.open("if ({}) {{", text(condition(item, nest)));
    case Kind::guarded:
      return out_.close();
    case Kind::leave:
      return leave(item, nest);
  }
}

/// Emits a variable of class Divisor with the inverse of the expression `text`. Returns the variable's name.
std::string KernelText::divisor(const std::string& text) {
  const std::string name = fresh("d");
  out_.line("const Divisor {}({});", name, text);
  return name;
}

/// Returns `v` if its expression is a variable or a number. Otherwise emits a variable with its value and returns that.
NodeValue KernelText::named(const NodeValue& v) {
  if (std::ranges::all_of(v.text, [](unsigned char c) { return std::isalnum(c) || c == '_'; })) return v;
  const std::string name = fresh("r");
  out_.line("const {} {} = {};", v.type, name, v.text);
  return {name, false, "", v.type};
}

/// Returns the condition of the bounds check `guard` for the element at the coordinate in `nest`. The condition is
/// true if the element is within the matmul's result (tested if instruction tiles extend beyond it) and within the
/// tensor (tested if the block's tile is partial).
Condition KernelText::condition(const Item& guard, const NestAt& nest) const {
  Condition all;
  for (const kernel::Guard& g : guard.guards)
    all.push_back({Index::named(g.axis == 0 ? "at.n" : g.axis == 1 ? "at.m" : "at.b"), g.below});
  Condition within;
  for (const kernel::Within& w : guard.within)
    check(within, w.along, global_start(w.along, w.far, iteration_) + nest.index(w.at));
  const std::set<Bound> each(within.begin(), within.end());
  all.insert(all.end(), each.begin(), each.end());
  return all;
}

/// Returns the name of the Vec variable that has the value's `vector` elements. Emits the variable if there is none.
std::string KernelText::store_value(const NodeValue& v, int vector) {
  if (!v.name.empty()) return v.name;
  const std::string name = fresh("r");
  if (vector == 1) {
    out_.line("const Vec<{}, 1> {}{{{}}};", v.type, name, v.text);
    return name;
  }
  out_.line("Vec<{}, {}> {};", v.type, vector, name);
  out_.line("#pragma unroll");
  out_.line("{}{}[v] = {};", counted("v", vector).head, name, v.text);
  return name;
}

/// Returns the value of an elementwise operator or a rotation (RoPE), as a variable if it is long or used several
/// times.
NodeValue KernelText::apply(const Item& item, const NestAt& nest) {
  const Node& n = block_.nodes[item.node];
  if (n.kind == tile::NodeKind::unpack) return unpacked(item, nest);
  if (whole_ && item.node == plan_.loop_bounds->mask) return values_[item.in[0]];
  std::vector<std::string> in;
  NodeValue result;
  result.type = register_type(n.dtype);
  for (int i : item.in) {
    in.push_back(values_[i].text);
    result.vector = result.vector || values_[i].vector;
  }
  if (n.kind == tile::NodeKind::rotate) {
    result.vector = result.vector || in.size() == 3;
    result.text = rotated(item, in, nest);
  } else if (n.op == OpKind::mask) {
    const int inner = nest.context->inner();
    result.vector = result.vector || (item.vector > 1 && (inner == n.dim || inner == n.key));
    result.text = masked(item, in, nest);
  } else {
    // The inverse of a divisor is computed once if several neighbours or iterations use it.
    if (n.op == OpKind::div && in.size() == 2) {
      if (!divisors_[item.in[1]].empty())
        in[1] = divisors_[item.in[1]];
      else if (result.vector && !values_[item.in[1]].vector)
        in[1] = divisor(in[1]);
    }
    std::vector<std::string> with_count = in;
    if (n.count_size >= 0)
      with_count.push_back(
          fmt::format("static_cast<float>({})", number(tile::SymbolicNumber::of(program_.sizes, n.count_size))));
    result.text = formula(n, with_count, block_.nodes[n.in[0]].dtype);
    std::vector<NodeValue> operands;
    for (std::size_t k = 0; k < in.size(); ++k) operands.push_back(values_[item.in[k]]), operands[k].text = in[k];
    rules::rewrite(expression_rules, rules::Level::expression, result, Applied{n, *nest.context, operands});
  }
  // A value is assigned to a variable if its expression is long, it has several users, or all neighbours share it.
  const Context& c = *nest.context;
  const bool for_several = !result.vector && c.vector() > 1 && !c.row && !item.invariant;
  if (uses_[item.node] <= 1 && result.text.size() <= 160 && !for_several) return result;
  if (result.vector) {
    NodeValue value = value_named(store_value(result, item.vector), item.vector, result.type);
    value.terms = std::move(result.terms);
    return value;
  }
  return named(result);
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

/// Returns the expression of an element after rotary embedding (RoPE). With x and y the two elements of a
/// pair, this is x * cos - y * sin for the first and y * cos + x * sin for the second.
std::string KernelText::rotated(const Item& item, const std::vector<std::string>& in, const NestAt& nest) {
  const Node& n = block_.nodes[item.node];
  if (in.size() == 4)
    return fmt::format("({} * {} + (({}) % 2 == 0 ? -{} : {}) * {})", in[0], in[2],
                       nest.index(item.pieces.front()[n.dim]), in[1], in[1], in[3]);
  const int tables = block_.nodes[n.in[1]].shape[n.dim] == n.shape[n.dim] ? item.vector : item.vector / 2;
  const std::string x = store_value(values_[item.in[0]], item.vector), cos = store_value(values_[item.in[1]], tables),
                    sin = store_value(values_[item.in[2]], tables);
  const char* table = tables == item.vector ? "v" : "v / 2";
  return fmt::format("({}[v] * {}[{}] + (v % 2 == 0 ? -{}[v ^ 1] : {}[v ^ 1]) * {}[{}])", x, cos, table, x, x, sin,
                     table);
}

/// Returns whether a mask keeps all or none of the neighbours that are evaluated together: it ends at a size whose values are multiples
/// of their number, and so are the coordinates at which they begin.
bool ends_between_vectors(const Item& item, const Node& n, const tile::TilePrograms& program, std::size_t inner) {
  if (n.length_size < 0 || n.kept.tril || n.kept.triu || n.in.size() > 1 || item.pieces.size() != 1) return false;
  const std::int64_t tile = n.shape[static_cast<std::size_t>(n.key)];
  return static_cast<std::size_t>(n.key) == inner && tile % item.vector == 0 &&
         tile::SymbolicNumber::of(program.sizes, n.length_size).divisor() % item.vector == 0;
}

/// Emits a variable with the elements of `item`, an unpack: of all bytes of the vector, or of one byte each.
NodeValue KernelText::unpacked(const Item& item, const NestAt& nest) {
  const Node& n = block_.nodes[item.node];
  const std::string type = register_type(n.dtype), name = fresh("r"),
                    packed = fmt::format("{}, {}", type_name(n.to_dtype), type);
  const NodeValue& bytes = values_[item.in[0]];
  if (item.pieces.empty()) {
    out_.line("const Vec<{}, {}> {} = unpacked<{}>({});", type, item.vector, name, packed,
              store_value(bytes, item.vector * graph::bits(n.to_dtype) / 8));
    return value_named(name, item.vector, type);
  }
  const std::string half = fmt::format("unpacked_one<{}>({}, ({}) % {})", packed, bytes.text,
                                       nest.index(item.pieces.front()[n.dim]), 8 / graph::bits(n.to_dtype));
  return {half, bytes.vector, "", type};
}

/// Returns the expression of a masked value: the operand in[0] if the mask keeps the element, else the mask's
/// constant. The mask tests the element's coordinates in the complete tensor. If there is an operand in[1],
/// it is a length, and elements at or beyond it are masked.
std::string KernelText::masked(const Item& item, const std::vector<std::string>& in, const NestAt& nest) const {
  const Node& n = block_.nodes[item.node];
  std::vector<Index> here = nest.index(item.pieces.front());
  const auto inner = static_cast<std::size_t>(nest.context->inner());
  if (item.vector > 1 && !ends_between_vectors(item, n, program_, inner))
    here = neighbour(here, nest.context->inner(), one_of(item.vector));
  const std::vector<Index> at = position(n, iteration_, here);
  std::string kept;
  const auto ask = [&](const Index& x, const char* relation, const std::optional<std::int64_t>& bound, int size) {
    if (bound) kept += fmt::format("{}{} {} {}", kept.empty() ? "" : " && ", x, relation, this->bound(*bound, size));
  };
  const Index i = at[n.dim], j = at[n.key];
  ask(j - i, "<=", n.kept.tril, n.tril_size);
  ask(j - i, ">=", n.kept.triu, n.triu_size);
  ask(j, "<", n.kept.length, n.length_size);
  if (in.size() > 1) kept += fmt::format("{}{} {} {}", kept.empty() ? "" : " && ", j, n.kept.first ? ">=" : "<", in[1]);
  return fmt::format("({} ? {} : {})", kept, in[0], literal(n.scalar, n.dtype));
}

/// Emits a variable of `vector` elements, the concatenation of the results `parts` of several accesses. Returns it.
NodeValue KernelText::joined(const std::vector<std::string>& parts, int vector, const std::string& type) {
  const std::string name = fresh("x");
  if (vector == 1) {
    out_.line("const {} {} = {}[0];", type, name, parts[0]);
    return {name, false, "", type};
  }
  const std::string text = fmt::format("{}", fmt::join(parts, ", "));
  out_.line("const Vec<{}, {}> {} = {};", type, vector, name, parts.size() == 1 ? text : fmt::format("join({})", text));
  return value_named(name, vector, type);
}

/// Emits `item`, a read from a buffer in shared memory, for the coordinate in `nest`, and returns the value. If the
/// buffer has several partial results per element, the value is what they give together, such as their sum.
NodeValue KernelText::read_shared(const Item& item, const NestAt& nest) {
  const SmemTensor& b = plan_.tensors[item.buffer];
  const std::string tile = tile_at(item.buffer);
  const bool reduced = b.node >= 0 && block_.nodes[b.node].kind == tile::NodeKind::reduce;
  const graph::Monoid& of = reduced ? graph::monoid_of(block_.nodes[b.node].op) : graph::monoids::sum;
  const std::string join = of.functions ? "" : ", " + join_source(of);
  std::vector<std::string> parts;
  for (const std::vector<kernel::TileCoordinate>& piece : item.pieces) {
    const std::vector<Index> at = nest.index(piece);
    parts.push_back(b.partials > 1 ? fmt::format("read_{}<{}, {}>({}{}, {})", of.functions ? of.name : "joined",
                                                 item.width, b.partials, tile, join, fmt::join(at, ", "))
                                   : fmt::format("{}<{}>({}({}))", item.raw ? "load" : "read", item.width, tile,
                                                 fmt::join(at, ", ")));
  }
  return joined(parts, item.vector, item.raw ? type_name(b.dtype) : register_type(b.dtype));
}

/// Replaces coordinates of `at` beyond the tensor that the load `n` reads by the last ones, and returns true, if nobody
/// uses the values that are read instead: the nest's stores have their own bounds checks, or they are rows beyond the
/// last one. Unlike loads under a condition, the loads of a row then differ by constants alone, which instructions add to
/// an address. Returns false if the tensor may end within a row, or may begin after the tile.
bool KernelText::clamp(std::vector<Index>& at, const Node& n, const NestAt& nest) const {
  const Context& c = *nest.context;
  const bool rows = !c.row && c.axes() > 1;
  if ((!rows && !keeps_) || n.view.predicated(c.inner()) || n.unfolded) return false;
  std::vector<Index> inside = at;
  for (int d = 0; d < n.view.rank(); ++d) {
    if (!n.view.predicated(d)) continue;
    const tile::Interval along = n.view.along(d, block_);
    const Index end = global_end(along);
    if (along.origin() < 0 || (!end.is_constant() && !fits_int(along.end(program_.sizes)))) return false;
    inside[d] = end.is_constant() ? at_most(at[d], end.constant() - 1)
                                  : Index::named(fmt::format("at_most({}, {})", at[d], end - 1));
  }
  at = std::move(inside);
  return true;
}

/// Emits `item`, a read of elements of a tensor in global memory, for the coordinate in `nest`, and returns the value.
NodeValue KernelText::read_global(const Item& item, const NestAt& nest) {
  const Node& n = block_.nodes[item.node];
  const int inner = nest.context->inner();
  const int width = program_.tensors[n.tensor].strides[inner] == 1 ? item.width : 1;
  const std::string type = item.raw ? type_name(n.dtype) : register_type(n.dtype);
  std::vector<std::string> parts;
  for (std::size_t v = 0; v < item.pieces.size(); v += width) {
    std::vector<Index> at = position(n, iteration_, nest.index(item.pieces[v]));
    const bool clamped = item.zeros_out_of_bounds && clamp(at, n, nest);
    parts.push_back(
        fmt::format("{}<{}>({}({}))", item.raw ? "load" : "read", width, global(n.tensor), fmt::join(at, ", ")));
    const Condition exists = item.zeros_out_of_bounds && !clamped ? inside(n, at) : Condition();
    if (exists.empty()) continue;
    parts.back() = fmt::format("({} ? {} : Vec<{}, {}>{{}})", text(exists), parts.back(), type, width);
  }
  return joined(parts, item.vector, type);
}

/// Returns the expression of `vector` adjacent accumulators of operator `node`, at the coordinate in `nest`. If
/// `other` is true, returns those at the same row and column of another matrix of the batch: of the matrix with
/// index 2 i + 1 in place of 2 i, and vice versa.
std::string KernelText::accumulator(int node, const NestAt& nest, int vector, bool other) const {
  const std::string chunk =
      other ? fmt::format("{}::other({})", fragment_type(*nest.context), nest.chunk) : fmt::format("{}", nest.chunk);
  return fmt::format(
      "acc{}{}[{}]", node,
      nest.context->row ? fmt::format(".{}({})", runs(*nest.context), chunk) : fmt::format("[{}]", nest.chunk),
      one_of(vector));
}

}  // namespace zellige::emit
