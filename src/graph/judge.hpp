// Is what a kernel computed right? The one place where that is decided.
//
//   Judge judge(g, inputs, reference);
//   const Comparison c = judge.compare(tensor, found);   // correct; explained: borderline; neither: wrong
//
// First the tolerance (compare.hpp). Past it, and only then, what rounding alone explains is found out, in two steps of which
// the second is taken only if the first finds the result explained:
//
//   the bound    how far each element may lie from the reference at most (rounding.hpp), one more run of the reference
//   the samples  how far it does lie in runs that rounding has moved at random; what rounds the same way everywhere
//                cancels there (softmax, x - 0.999 x), which no bound sees. Four times the greatest of them counts;
//                where each element is within the tolerance and only the norm is not, twice the samples' greatest norm.
#pragma once
#include "graph/compare.hpp"
#include "graph/reference.hpp"

namespace zellige::graph {

class Judge {
 public:
  /// `reference` is the graph's on `inputs`; it takes so many threads, 0: all there are. Where roundings are left out of the graph
  /// (left_out.hpp), `stated` asks for them and `rounded` is its reference. All of them outlive the judge.
  Judge(const KernelGraph&, const std::vector<Array>& inputs, const Reference& reference, int threads = 0,
        const KernelGraph* stated = nullptr, const Reference* rounded = nullptr);

  /// A kernel-level tensor that an operator makes; held to its own dtype's tolerance, or to that of a narrower one.
  Comparison compare(int tensor, const Array& found);
  Comparison compare(int tensor, const Array& found, DType held_to);

  static constexpr int samples = 12;

 private:
  void sample();

  const KernelGraph& graph_;
  const std::vector<Array>& inputs_;
  const Reference& reference_;
  int threads_;
  const KernelGraph* stated_;
  const Reference* rounded_;
  Reference bounds_;            // once it is asked for, as what follows
  std::vector<Array> sampled_;  // by tensor
  std::vector<double> norms_;   // the greatest relative norm of a sample's difference
};

}  // namespace zellige::graph
