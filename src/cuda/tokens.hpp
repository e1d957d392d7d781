// Splits C++ source code into tokens, as far as the rewriting of CUDA's syntax needs them.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace zellige::cuda {

/// A token of a source: an identifier or number, a literal, or one character of punctuation ("::" is two tokens).
struct SourceToken {
  enum class Kind : unsigned char { word, number, literal, punctuation };
  Kind kind{};
  std::string_view text;
  std::size_t at = 0;      // offset in the source
  int line = 0;            // from 1
  bool directive = false;  // in a preprocessor's line, such as #define

  bool is(std::string_view what) const { return text == what; }
  std::size_t end() const { return at + text.size(); }
};

/// Returns the tokens of a source, without comments.
std::vector<SourceToken> tokenize(std::string_view source);

/// Returns the index of the bracket that closes the one at `open`: (), [] or {}; tokens.size() if there is none.
std::size_t closing(const std::vector<SourceToken>& tokens, std::size_t open);
/// Returns the index of the bracket that opens the one at `close`: (), [], {} or <>; tokens.size() if there is none.
std::size_t opening(const std::vector<SourceToken>& tokens, std::size_t close);

}  // namespace zellige::cuda
