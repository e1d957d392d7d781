// Rewrites statements of inline PTX as calls of the prelude, which the emulator executes (ptx_statement.hpp):
//
//   asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));   ::zellige::cuda::ptx("mov.u32 %0, %%laneid;", {...ptx_result("=r", lane)})
#include <algorithm>
#include <cctype>

#include "cuda/ptx_statement.hpp"
#include "cuda/source_edits.hpp"

namespace zellige::cuda {

namespace {

/// The parts of a statement of inline PTX: its template, and its operands as calls of the prelude.
struct PtxSource {
  std::string text;      // the template as the source has it: literals, perhaps macros
  std::string literals;  // what the literals spell, if there are only literals
  bool plain = true;     // there are only literals
  std::string operands;
  std::size_t end = 0;  // the statement's last token
};

// Appends what a string literal spells.
void unescape(std::string_view literal, std::string& out) {
  if (literal.starts_with("R\"")) {
    const std::size_t open = literal.find('('), close = literal.rfind(')');
    if (open != literal.npos && close != literal.npos) out += literal.substr(open + 1, close - open - 1);
    return;
  }
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\')
      out += literal[i];
    else
      ++i, out += literal[i] == 'n' ? '\n' : literal[i] == 't' ? ' ' : literal[i];
  }
}

// Returns the beginning of the call that makes an operand of this constraint, such as "+r" with its quotes.
std::string operand_call(std::string_view constraint) {
  if (constraint.starts_with("\"=") || constraint.starts_with("\"+"))
    return "::zellige::cuda::ptx_result(" + std::string(constraint) + ", ";
  return constraint == "\"C\"" ? "::zellige::cuda::ptx_text(" : "::zellige::cuda::ptx_operand(";
}

PtxSource read_statement(const SourceEdits& s, std::size_t i) {
  const std::vector<SourceToken>& tokens = s.tokens;
  std::size_t open = i + 1;
  while (s.has(open) && (tokens[open].is("volatile") || tokens[open].is("__volatile__") || tokens[open].is("inline")))
    ++open;
  if (!s.has(open) || !tokens[open].is("(")) s.refuse(tokens[i], "this inline PTX");
  PtxSource p;
  p.end = closing(tokens, open);
  if (p.end >= tokens.size()) s.refuse(tokens[i], "an asm without its closing parenthesis");
  std::size_t k = open + 1;
  for (; k < p.end && !tokens[k].is(":"); ++k) {
    if (tokens[k].kind == SourceToken::Kind::literal)
      unescape(tokens[k].text, p.literals);
    else if (!tokens[k].is("\\"))
      p.plain = false;
  }
  if (k > open + 1) p.text = s.slice(open + 1, k - 1);
  std::string constraint;
  for (int section = 0; k < p.end; ++k) {  // 1: results, 2: operands, 3: what is clobbered
    if (tokens[k].is(":")) ++section;
    if (section > 2) break;
    if (tokens[k].kind == SourceToken::Kind::literal) constraint = tokens[k].text;
    if (tokens[k].kind == SourceToken::Kind::word && !tokens[k + 1].is("(")) {  // a macro that has operands
      std::size_t last = k;                                                     // its name may be pasted
      while (last + 2 < p.end && tokens[last + 1].is("#") && tokens[last + 2].is("#")) last += 3;
      const bool follows = p.operands.empty() || tokens[k - 1].is(")");  // it may begin with a comma of its own
      p.operands += (follows ? "" : ", ") + std::string(s.slice(k, last));
      k = last;
      continue;
    }
    if (!tokens[k].is("(")) continue;
    const std::size_t end = closing(tokens, k);
    const std::string expression = end > k + 1 ? std::string(s.slice(k + 1, end - 1)) : "";
    p.operands += p.operands.empty() ? "" : ", ";
    p.operands += operand_call(constraint) + expression + ")";
    k = end;
  }
  return p;
}

}  // namespace

void rewrite_operand(SourceEdits& s, std::size_t i) {
  std::string_view letters = s.tokens[i].text;
  if (letters.size() < 3 || letters.size() > 5 || letters.front() != '"' || !s.has(i + 1) || !s.tokens[i + 1].is("("))
    return;
  letters = letters.substr(1, letters.size() - 2);
  if (letters[0] == '=' || letters[0] == '+') letters.remove_prefix(1);
  if (letters.starts_with("&")) letters.remove_prefix(1);
  if (letters.size() != 1 || !std::isalpha(static_cast<unsigned char>(letters[0]))) return;
  s.replace(s.tokens[i].at, s.tokens[i + 1].end(), operand_call(s.tokens[i].text));
}

void rewrite_ptx(SourceEdits& s, std::size_t i, bool conditional) {
  const PtxSource p = read_statement(s, i);
  const bool empty = p.plain && p.literals.find_first_not_of(" \n;") == std::string::npos;
  if (empty) return s.replace_lines(i, p.end, "((void)0)");  // a barrier of the compiler
  if (p.plain && !conditional && !s.tokens[i].directive && pasted_operands(p.literals).empty())
    if (const auto statement = parse_ptx(p.literals); !statement->error.empty())
      s.refuse(s.tokens[i], statement->error);
  s.replace_lines(i, p.end,
                  "::zellige::cuda::ptx(" + p.text + (p.operands.empty() ? "" : ", {" + p.operands + "}") + ")");
}

}  // namespace zellige::cuda
