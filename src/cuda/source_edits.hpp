// A source that is rewritten: its tokens, the bodies of its functions, and the replacements so far.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/rewrite.hpp"
#include "cuda/scopes.hpp"
#include "cuda/tokens.hpp"

namespace zellige::cuda {

/// A source and its replacements.
class SourceEdits {
 public:
  SourceEdits(std::string_view text, std::string name)
      : source(text), file(std::move(name)), tokens(tokenize(text)), scopes(tokens) {}

  const std::string_view source;
  const std::string file;
  const std::vector<SourceToken> tokens;
  const Scopes scopes;

  void replace(std::size_t at, std::size_t end, std::string text) { edits_.push_back({at, end, std::move(text)}); }
  void insert(std::size_t at, std::string text) { replace(at, at, std::move(text)); }
  /// Replaces tokens by a string, and keeps the number of lines.
  void replace_lines(std::size_t first, std::size_t last, std::string text);

  /// Returns the source of the tokens from `first` to `last`.
  std::string_view slice(std::size_t first, std::size_t last) const {
    return source.substr(tokens[first].at, tokens[last].end() - tokens[first].at);
  }
  bool has(std::size_t i) const { return i < tokens.size(); }
  /// Returns whether three equal tokens begin at token i, such as <<<, which some programs spell `<< <`.
  bool three(std::size_t i, std::string_view of) const;
  /// Throws Error: the emulator does not run `what`, which is at the token.
  [[noreturn]] void refuse(const SourceToken&, std::string_view what) const;

  /// Returns the source with the replacements made; moves the places of `includes` with them. A replacement within
  /// another one is dropped.
  std::string apply(std::vector<SourceInclude>& includes);

 private:
  struct Edit {
    std::size_t at, end;
    std::string text;
  };
  std::vector<Edit> edits_;
};

/// Returns a string as a C++ string literal.
std::string as_literal(std::string_view text);

/// Rewrite the launch whose <<< begins at token i, the call of a function of CUDA's whose name is token i, the
/// `__shared__` declaration of token i, the inline PTX whose `asm` is token i (conditional: it is in an #if), and the declaration of a device variable of
/// token i, if it is one.
void rewrite_launch(SourceEdits&, std::size_t i);
void rewrite_call(SourceEdits&, std::size_t i);
void rewrite_shared(SourceEdits&, std::size_t i);
void rewrite_ptx(SourceEdits&, std::size_t i, bool conditional);
void rewrite_device_variable(SourceEdits&, std::size_t i);
/// Rewrites an operand of inline PTX that is outside of its statement, in a macro: `"+r"(d)`, which is no C++ elsewhere. Token i: its
/// constraint.
void rewrite_operand(SourceEdits&, std::size_t i);
/// Returns the names of the source's kernels that name nothing else in it, neither a function nor a variable.
std::set<std::string_view> kernel_names(const SourceEdits&);
/// Throws Error if token i, the name of a kernel, calls it as a function of the host does, without <<<>>>.
void refuse_call_of_kernel(const SourceEdits&, std::size_t i);
/// Lets the kernel whose `__global__` is token i tell its `__cluster_dims__` to its launches.
void rewrite_kernel_start(SourceEdits&, std::size_t i);

}  // namespace zellige::cuda
