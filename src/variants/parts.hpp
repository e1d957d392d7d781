// Parts of the values that the sizes of a graph have, each with the program that is compiled for it.
//
//   const ValueParts parts(graph, target, whole, compile);
//   parts.all()[0]                 // the whole program
//   parts.all()[1].us              // expected times at parts.points()
//   parts.aligned(parts.all()[1])  // the program for multiples of 8 among its values
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emit/emit.hpp"
#include "graph/sized_graph.hpp"
#include "target/target.hpp"

namespace zellige::variants {

/// Compiles a graph, which has fewer values of its sizes, through all passes.
using CompileNarrowed = std::function<emit::EmittedProgram(graph::KernelGraph)>;

/// Returns the values that end the parts of a size's range, in order, without its greatest one: the typical ones. If `more`, also 16 and
/// twice, four times, ... each of them, up to half of the next one.
std::vector<std::int64_t> ends_of(const graph::NamedSize&, bool more);

/// A part of the values of all sizes, and the program for it. The whole program is one of them.
struct SizedPart {
  std::vector<graph::NamedSize> sizes;
  emit::EmittedProgram program;
  std::vector<double> us;  // expected times, by point; infinity where the part lacks the point
  /// Returns of how many values of the sizes it is.
  double count() const {
    double all = 1;
    for (const graph::NamedSize& s : sizes) all *= static_cast<double>((s.greatest() - s.minimum()) / s.multiple + 1);
    return all;
  }
};

/// Values of all sizes at which programs are compared.
struct SizePoint {
  std::vector<std::int64_t> values;
  double weight = 1;
};

/// The whole program of a graph with sizes, and programs for parts of the values.
class ValueParts {
 public:
  ValueParts(const graph::KernelGraph&, const target::Target&, emit::EmittedProgram whole, const CompileNarrowed&);

  std::vector<SizedPart>& all() { return parts_; }
  const std::vector<SizedPart>& all() const { return parts_; }
  const std::vector<SizePoint>& points() const { return points_; }

  /// Returns whether another part for multiples of 8 among its values may be faster: rows begin at such multiples for some of them.
  bool may_align(const SizedPart&) const;
  /// Returns that part, if there is a program for it that is faster at its greatest values.
  std::optional<SizedPart> aligned(const SizedPart&) const;

 private:
  double time(const SizedPart&, const SizePoint&) const;
  std::optional<SizedPart> compiled(const std::vector<graph::NamedSize>&) const;
  std::vector<graph::NamedSize> ranges(std::size_t size) const;
  void add_points(const std::vector<std::vector<graph::NamedSize>>& ranges);
  bool is_fixed_in_part(const std::vector<graph::NamedSize>&) const;
  void add_parts();

  const graph::KernelGraph& g_;
  const target::Target& target_;
  const CompileNarrowed& compile_;
  std::vector<graph::NamedSize> sizes_;  // of the program, in order
  std::set<std::string> rows_;           // names of those that decide where rows begin
  std::vector<SizedPart> parts_;         // the whole program first
  std::vector<SizePoint> points_;        // at which programs are compared
};

}  // namespace zellige::variants
