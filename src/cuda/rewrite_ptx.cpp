// Rewrites statements of inline PTX that have one instruction, of those in a table, as calls of the prelude's functions:
//
//   asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from));   ::zellige::cuda::ptx_cp_async(to, from, 16);
#include <algorithm>
#include <array>
#include <cctype>

#include "cuda/source_edits.hpp"

namespace zellige::cuda {

namespace {

/// An instruction, and the function of the prelude that does the same with its operands in order.
struct PtxFunction {
  std::string_view instruction;  // without modifiers after it
  std::string_view function;
  bool result = false;  // the first operand is a result
};
constexpr std::array<PtxFunction, 9> functions = {{{"cp.async.ca.shared.global", "ptx_cp_async"},
                                                   {"cp.async.cg.shared.global", "ptx_cp_async"},
                                                   {"cp.async.commit_group", "ptx_cp_async_commit"},
                                                   {"cp.async.wait_group", "ptx_cp_async_wait"},
                                                   {"cp.async.wait_all", "ptx_cp_async_wait_all"},
                                                   {"bar.sync", "ptx_bar_sync"},
                                                   {"bar.arrive", "ptx_bar_arrive"},
                                                   {"membar.gl", "ptx_fence"},
                                                   {"mov.u32", "ptx_special", true}}};

/// A statement of inline PTX: its instruction's name, the source of its operands, and the constraints' expressions.
struct PtxStatement {
  std::string name;
  std::vector<std::string> operands;     // "[%0]", "16", "%laneid"
  std::vector<std::string> expressions;  // %0, %1, ...
  bool single = true;                    // one instruction
  std::size_t end = 0;                   // the statement's last token
};

std::string trimmed(std::string text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) || c == '{' || c == '}'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  const auto first = std::ranges::find_if_not(text, blank);
  return {first, text.end()};
}

// Splits a template into the instruction and its operands.
void parse_template(std::string text, PtxStatement& p) {
  for (const char* escape : {"\\n", "\\t"})
    for (std::size_t at; (at = text.find(escape)) != text.npos;) text.replace(at, 2, " ");
  for (std::size_t at; (at = text.find("%%")) != text.npos;) text.erase(at, 1);
  text = trimmed(text);
  while (!text.empty() && text.back() == ';') text = trimmed(text.substr(0, text.size() - 1));
  p.single = text.find(';') == text.npos && text.find('@') == text.npos;
  const std::size_t blank = std::min(text.find(' '), text.size());
  p.name = text.substr(0, blank);
  for (std::size_t at = blank; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    p.operands.push_back(trimmed(text.substr(at + (text[at] == ','), end - at - (text[at] == ','))));
    at = end;
  }
}

PtxStatement parse(const SourceEdits& s, std::size_t i) {
  const std::vector<SourceToken>& tokens = s.tokens;
  PtxStatement p;
  std::size_t open = i + 1;
  while (s.has(open) && (tokens[open].is("volatile") || tokens[open].is("__volatile__"))) ++open;
  if (!s.has(open) || !tokens[open].is("(")) s.refuse(tokens[i], "this inline PTX");
  const std::size_t close = closing(tokens, open);
  std::string text;
  bool in_template = true;
  for (std::size_t k = open + 1; k < close; ++k) {
    const SourceToken& t = tokens[k];
    if (t.is(":")) in_template = false;
    if (in_template && t.kind == SourceToken::Kind::literal) text += t.text.substr(1, t.text.size() - 2);
    if (in_template || !t.is("(")) continue;
    const std::size_t end = closing(tokens, k);
    if (end > k + 1) p.expressions.emplace_back(s.slice(k + 1, end - 1));
    k = end;
  }
  parse_template(text, p);
  p.end = close;
  return p;
}

// Returns an operand of the template as C++: "%0" and "[%0]" are an expression, "%laneid" a name, others themselves.
std::string as_argument(const PtxStatement& p, std::string operand) {
  if (operand.size() > 2 && operand.front() == '[') operand = trimmed(operand.substr(1, operand.size() - 2));
  if (operand.empty() || operand[0] != '%') return operand;
  if (!std::isdigit(static_cast<unsigned char>(operand[1]))) return as_literal(operand.substr(1));
  const std::size_t k = std::size_t(std::stoi(operand.substr(1)));
  return k < p.expressions.size() ? "(" + p.expressions[k] + ")" : "";
}

}  // namespace

void rewrite_ptx(SourceEdits& s, std::size_t i) {
  const PtxStatement p = parse(s, i);
  if (p.name.empty()) return s.replace_lines(i, p.end, "");  // a barrier of the compiler
  const auto found = std::ranges::find_if(functions, [&](const PtxFunction& f) {
    return p.name.starts_with(f.instruction) &&
           (p.name.size() == f.instruction.size() || p.name[f.instruction.size()] == '.');
  });
  if (found == functions.end() || !p.single) s.refuse(s.tokens[i], p.single ? p.name : "several instructions of PTX");
  std::string call, first;
  for (const std::string& operand : p.operands) {
    const std::string argument = as_argument(p, operand);
    if (found->result && first.empty())
      first = argument + " = ";
    else
      call += (call.empty() ? "" : ", ") + argument;
  }
  s.replace_lines(i, p.end, first + "::zellige::cuda::" + std::string(found->function) + "(" + call + ")");
}

}  // namespace zellige::cuda
