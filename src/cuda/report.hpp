// What running a CUDA program has found, for a terminal, as JSON or SARIF.
#pragma once
#include <string>
#include <vector>

#include "emulate/engine.hpp"

namespace zellige::cuda {

/// A fault of the program.
struct ProgramFinding {
  std::string kind;     // "race"
  std::string kernel;   // "" if it is the host's
  std::string message;  // one sentence, which begins with the kind
  std::vector<std::string> lines;
  std::string tensor{};  // "" if no tensor is involved
  std::string mend{};    // what would mend it; "" if that is not plain
};

/// The findings of a run and its costs. Findings are printed on stderr when they are added.
class ProgramReport {
 public:
  bool quiet = false;  // print nothing

  /// Adds a finding, unless one of its kind at its lines is known.
  void add(ProgramFinding);
  /// Adds the findings and costs of a launch of a kernel.
  void add(const std::string& kernel, const emulate::EmulationReport&);

  const std::vector<ProgramFinding>& findings() const { return findings_; }
  unsigned launches() const { return launches_; }

  /// Returns the last line that a terminal shows: "2 findings in 3 launches".
  std::string summary() const;
  /// Returns a line per access with bank conflicts or more sectors than needed, the costliest first.
  std::string costs() const;
  std::string json() const;
  /// Returns the findings in SARIF 2.1.0. `file`: the source.
  std::string sarif(const std::string& file) const;

 private:
  /// The costs of a line over all launches.
  struct KernelCost {
    std::string kernel;
    emulate::LineCost cost;
  };
  std::vector<KernelCost> sorted_costs() const;

  std::vector<ProgramFinding> findings_;
  std::vector<KernelCost> costs_;
  emulate::Counters counters_;  // of all launches
  unsigned launches_ = 0;
};

/// Returns what would mend a finding of an emulated launch; "" if that is not plain.
std::string mend(const emulate::Finding&);

}  // namespace zellige::cuda
