// Writes CUDA's syntax as C++: launches, `__shared__` declarations, device variables. Lines stay where they are, so that
// the compiler's messages and the findings name the lines of the source.
//
//   rewrite("k<<<1, 32>>>(x);", "k.cu").text   // ::zellige::cuda::launch("k", [=](auto... p) { k(p...); }, ...
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace zellige::cuda {

/// An #include of a source: the name, and where the directive is.
struct SourceInclude {
  std::string name;
  bool quoted = false;
  int line = 0;
  std::size_t at = 0, end = 0;  // of the name with its quotes, in the rewritten source
  bool next = false;            // #include_next: the search begins after the folder of this file
};

/// A source as C++.
struct Rewritten {
  std::string text;
  std::vector<SourceInclude> includes;
  bool clusters = false;  // it has __cluster_dims__
};

/// Rewrites a source. `file`: its name, for messages. Throws Error if it has a construct that the emulator cannot run,
/// with the construct's name and line. is_header: what it does not run may be unused; it is a finding where a thread reaches it.
/// clusters: a file of the program has `__cluster_dims__`, so kernels tell theirs to launches.
Rewritten rewrite(std::string_view source, const std::string& file, bool is_header = false, bool clusters = false);

}  // namespace zellige::cuda
