// Graphs with sizes that are known at launch. The integers of such a graph are those at the greatest values of its sizes, so that
// it is planned like any other; it also has the expressions of those that depend on sizes.
//
//   KernelGraph g = ...;                               // X(T, 4096), from the builder or from JSON
//   at(g, {{"T", 300}})                                // the graph of constants with X(300, 4096)
//   extents(g)[g.outputs[0]]                           // (T, 11008): what inference finds for all values
//   at(g, values_of(g, {}))                            // each size has its greatest typical value, else its greatest value
//   narrowed(g, {{.name = "T", .min = 1, .max = 64}})  // the same graph for fewer values
#pragma once
#include <compare>

#include "graph/sizes.hpp"
#include "graph/where.hpp"

namespace zellige::graph {

/// The place of an integer in a graph.
struct IntegerPlace {
  /// Of an input's shape, of a tensor's strides, or of an operator's attributes.
  enum class Of : std::uint8_t { shape, strides, sizes, start, end, tril, triu, length };
  Of of{};
  int index = 0;  // of shapes and strides: of the tensor; else of the operator
  int entry = 0;  // in the list, if `of` is one
  auto operator<=>(const IntegerPlace&) const = default;
};

/// The sizes of a graph, and what depends on them. Shapes of results are inferred, and not listed.
struct SymbolicSizes {
  std::vector<NamedSize> names;
  std::map<IntegerPlace, SymbolicExtent> integers;
};

/// Attributes of an operator from which shapes follow; `rest` are those that are constants.
struct SymbolicAttributes {
  const Attributes& rest;
  SymbolicShape sizes;
  SymbolicExtent start, end;
};

/// Bounds of a mask by index, as Kept has them of constants.
struct SymbolicKept {
  std::optional<SymbolicExtent> tril{}, triu{}, length{};
};

// What the rules of shapes ask: whether a <= b, or a divides b, for all values of sizes.
inline bool always_less_equal(std::int64_t a, std::int64_t b) { return a <= b; }
inline bool always_less_equal(const SymbolicExtent& a, const SymbolicExtent& b) { return (b - a).low() >= 0; }
inline bool divides(std::int64_t a, std::int64_t b) { return b % a == 0; }
inline bool divides(std::int64_t a, const SymbolicExtent& b) { return b.divides_into(a); }

/// The rules of infer.hpp for extents that depend on sizes: they throw Error unless a rule holds for all values.
std::vector<SymbolicShape> infer_shapes(const Where&, OpKind, const SymbolicAttributes&,
                                        const std::vector<SymbolicShape>& operands);
void check_shape(const Where&, std::string_view what, const SymbolicShape&);

/// Returns the row-major strides of a shape, in elements.
SymbolicShape row_major(const SymbolicShape&);

/// Returns the sizes of a graph; an empty list if it has none.
const std::vector<NamedSize>& sizes_of(const KernelGraph&);

/// Returns integers from `place` on, `constants`, with the expressions of those that depend on sizes.
SymbolicShape expressed(const SymbolicSizes&, const std::vector<std::int64_t>& constants, IntegerPlace place);
/// Returns the attributes of operator number `op` with their expressions.
SymbolicAttributes expressed(const SymbolicSizes&, const Attributes&, int op);

/// Returns the integer at a place of the graph: its expression, or a constant.
SymbolicExtent integer_of(const KernelGraph&, const IntegerPlace&);

/// Infers the shapes of all tensors for all values of the sizes, operator by operator, in their order.
class ExtentInference {
 public:
  /// Throws Error unless the sizes and the inputs' shapes are valid, and the graph's integers those of the greatest values.
  explicit ExtentInference(const KernelGraph&);
  /// Infers the results of operator `index`. Throws Error if its operands do not fit for all values: one sentence with the
  /// operator, the dimension and both expressions.
  void run(const Where&, int index);
  /// Has the shape of a tensor that a custom operator computes, a constant one, as the graph has it.
  void take(int tensor);
  const std::vector<SymbolicShape>& shapes() const { return shapes_; }

 private:
  void check_mask(const Where&, int op) const;
  const KernelGraph& g_;
  std::vector<SymbolicShape> shapes_;  // by tensor
};

/// Returns the shapes of all tensors of a valid graph.
std::vector<SymbolicShape> extents(const KernelGraph&);

/// Throws Error unless the strides of all tensors give each element an address of its own, for all values of the sizes.
void check_symbolic_strides(const KernelGraph&);

/// Returns a value for each size: a given one, else the greatest typical one, else the greatest one. Throws Error, which begins with
/// the graph's name, if a name is none of the graph's sizes, or a value is none of its size.
SizeValues values_of(const KernelGraph&, const SizeValues& given);

/// Returns the greatest value of each size.
SizeValues greatest(const std::vector<NamedSize>&);

/// Returns the graph of constants at values of its sizes, which is what its JSON with numbers for names describes. Throws Error
/// if a size has no value, or one that it does not have.
KernelGraph at(const KernelGraph&, const SizeValues&);

/// Returns the graph with other ranges of some of its sizes, whose typical values are its own if none are given. Throws Error if a name is none of the graph's sizes, or if a range has
/// values that the graph's own does not have.
KernelGraph narrowed(KernelGraph, const std::vector<NamedSize>&);

}  // namespace zellige::graph
