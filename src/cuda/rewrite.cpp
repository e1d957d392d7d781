#include "cuda/rewrite.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cuda/declarators.hpp"
#include "cuda/scopes.hpp"
#include "cuda/tokens.hpp"
#include "graph/error.hpp"

namespace zellige::cuda {

namespace {

// Functions that allocate memory through their first argument, by whose name findings call it.
const std::set<std::string_view> allocators = {"cudaMalloc",     "cudaMallocManaged", "cudaMallocHost",
                                               "cudaHostAlloc",  "cudaMallocAsync",   "cudaMallocPitch"};
// Functions whose first argument is a kernel, which is passed by name, and what they become.
const std::map<std::string_view, std::string_view> by_name = {
    {"cudaFuncSetAttribute", "::zellige::cuda::allow"},
    {"cudaLaunchKernel", "::zellige::cuda::launch_array"},
    {"cudaLaunchCooperativeKernel", "::zellige::cuda::launch_together"}};

std::string as_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

/// A source, its tokens, and the replacements that make it C++.
class Rewriter {
 public:
  Rewriter(std::string_view source, std::string file)
      : source_(source), file_(std::move(file)), tokens_(tokenize(source)), scopes_(tokens_) {}

  Rewritten run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const SourceToken& t = tokens_[i];
      if (t.directive && i + 2 < tokens_.size() && t.is("#") && tokens_[i + 1].is("include")) include(i + 2);
      if (is_launch(i)) launch(i);
      if (t.kind != SourceToken::Kind::word) continue;
      if (t.is("__shared__") && !t.directive) shared(i);
      if ((t.is("__device__") || t.is("__constant__") || t.is("__managed__")) && !t.directive) device_variable(i);
      if (t.is("__noinline__")) replace(t.at, t.end(), "__attribute__((noinline))");
      if (i + 1 < tokens_.size() && tokens_[i + 1].is("(")) call(i);
      if (t.is("asm") || t.is("__asm__")) refuse(t, "inline PTX");
    }
    return apply();
  }

 private:
  struct Edit {
    std::size_t at, end;
    std::string text;
  };

  void replace(std::size_t at, std::size_t end, std::string text) { edits_.push_back({at, end, std::move(text)}); }
  void insert(std::size_t at, std::string text) { replace(at, at, std::move(text)); }
  std::string_view slice(std::size_t first, std::size_t last) const {  // the text of tokens first to last
    return source_.substr(tokens_[first].at, tokens_[last].end() - tokens_[first].at);
  }
  [[noreturn]] void refuse(const SourceToken& t, std::string_view what) const {
    fail("{}:{}: {}: the emulator does not run {}", file_, t.line, t.text, what);
  }

  void include(std::size_t i) {
    const SourceToken& name = tokens_[i];
    if (name.kind == SourceToken::Kind::literal) {
      result_.includes.push_back(
          {std::string(name.text.substr(1, name.text.size() - 2)), true, name.line, name.at, name.end()});
    } else if (name.is("<")) {
      const std::size_t end = source_.find('>', name.at);
      if (end == source_.npos) return;
      result_.includes.push_back(
          {std::string(source_.substr(name.at + 1, end - name.at - 1)), false, name.line, name.at, end + 1});
    }
  }

  bool adjacent(std::size_t i, std::string_view three) const {  // <<< or >>>
    for (std::size_t k = 0; k < 3; ++k)
      if (i + k >= tokens_.size() || !tokens_[i + k].is(three) || tokens_[i + k].at != tokens_[i].at + k) return false;
    return true;
  }
  bool is_launch(std::size_t i) const {
    return adjacent(i, "<") && i > 0 && (i < 1 || !tokens_[i - 1].is("<")) && !(i + 3 < tokens_.size() && tokens_[i + 3].is("<"));
  }

  // Returns the first token of the kernel's name, which ends before token i: `a::kernel<T, 4>`, `(*f)`, `table[k]`.
  std::size_t name_start(std::size_t i) const {
    std::size_t first = i - 1;
    if (tokens_[first].is(">") || tokens_[first].is(")") || tokens_[first].is("]")) {
      const bool whole = tokens_[first].is(")");
      first = opening(tokens_, first);
      if (first >= tokens_.size()) refuse(tokens_[i], "a launch of this kernel's name");
      if (whole || first == 0) return first;
      --first;
    }
    while (first >= 3 && tokens_[first - 1].is(":") && tokens_[first - 2].is(":")) {
      first -= 3;
      if (!tokens_[first].is(">")) continue;
      first = opening(tokens_, first);
      if (first == 0 || first >= tokens_.size()) break;
      --first;
    }
    return first;
  }

  void launch(std::size_t i) {
    const std::size_t first = name_start(i);
    std::size_t close = i + 3;
    for (int depth = 0; close < tokens_.size(); ++close) {
      const SourceToken& t = tokens_[close];
      if (t.is("(") || t.is("[") || t.is("{")) ++depth;
      if (t.is(")") || t.is("]") || t.is("}")) --depth;
      if (depth == 0 && adjacent(close, ">")) break;
    }
    if (close + 3 >= tokens_.size() || !tokens_[close + 3].is("(")) refuse(tokens_[i], "a launch without >>>(...)");
    if (scopes_.in_kernel(i)) refuse(tokens_[i], "a launch from a kernel (dynamic parallelism)");
    const std::string name(slice(first, i - 1));
    const bool none = close + 4 < tokens_.size() && tokens_[close + 4].is(")");
    replace(tokens_[first].at, tokens_[i + 2].end(),
            "::zellige::cuda::launch(" + as_literal(name) + ", [=](auto... zellige_p) { " + name +
                "(zellige_p...); }, ::zellige::cuda::Configuration(");
    replace(tokens_[close].at, tokens_[close + 3].end(), none ? ")" : "), ");
  }

  // Returns the first token of the declaration that contains token i.
  std::size_t declaration_start(std::size_t i) const {
    std::size_t first = i;
    while (first > 0 && !tokens_[first - 1].is(";") && !tokens_[first - 1].is("{") && !tokens_[first - 1].is("}") &&
           !tokens_[first - 1].directive && !(tokens_[first - 1].is(")") && !is_alignment_end(first - 1)))
      --first;
    return first;
  }
  bool is_alignment_end(std::size_t i) const {
    const std::size_t open = opening(tokens_, i);
    if (open >= tokens_.size() || open == 0) return false;
    const SourceToken& t = tokens_[open - 1];
    return t.is("alignas") || t.is("__align__") || t.is("__attribute__");
  }
  std::size_t declaration_end(std::size_t i) const {
    for (int depth = 0; i < tokens_.size(); ++i) {
      const SourceToken& t = tokens_[i];
      if (t.is("(") || t.is("[") || t.is("{")) ++depth;
      if (t.is(")") || t.is("]") || t.is("}")) --depth;
      if (depth == 0 && t.is(";")) break;
    }
    return i;
  }

  void shared(std::size_t i) {
    const std::size_t first = declaration_start(i), last = declaration_end(i);
    if (last >= tokens_.size()) refuse(tokens_[i], "this declaration");
    const std::vector<Declarator> all = declarators(tokens_, first, last);
    if (all.empty()) refuse(tokens_[i], "this declaration");
    bool dynamic = false;
    for (std::size_t k = first; k < last; ++k) dynamic |= tokens_[k].is("extern");
    std::string text;
    for (const Declarator& d : all) {
      if (dynamic) {
        const std::string variable = "::std::remove_reference_t<" + d.type + ">* const " + d.name +
                                     " = ::zellige::cuda::dynamic_shared<" + d.type + ">(" + as_literal(d.name) + "); ";
        if (scopes_.in_function(i))
          text += variable;
        else
          for (const std::size_t body : scopes_.functions_that_name(tokens_, d.name, i))
            insert(tokens_[body].end(), " " + variable);
        continue;
      }
      if (!scopes_.in_function(i)) refuse(tokens_[i], "a __shared__ variable outside of functions");
      const std::string tag = "zellige_shared_" + std::to_string(i) + "_" + d.name;
      text += "struct " + tag + " { static const char* zellige_name() { return " + as_literal(d.name) + "; } " + d.full +
              "; }; auto& " + d.name + " = ::zellige::cuda::shared_variable<" + tag + ">()." + d.name + "; ";
    }
    replace_declaration(first, last, text);
  }
  // Replaces a declaration by text, and keeps its lines.
  void replace_declaration(std::size_t first, std::size_t last, std::string text) {
    const std::string_view old = slice(first, last);
    text.append(std::size_t(std::count(old.begin(), old.end(), '\n')), '\n');
    replace(tokens_[first].at, tokens_[last].end(), std::move(text));
  }

  void device_variable(std::size_t i) {
    if (i < after_ || scopes_.in_function(i)) return;
    std::size_t first = declaration_start(i), at = i + 1;
    bool ours = true;
    MemoryWord kind = MemoryWord::variable;
    for (; at < tokens_.size(); ++at) {
      const SourceToken& t = tokens_[at];
      if (t.is("alignas") || t.is("__align__") || t.is("__attribute__")) {
        at = closing(tokens_, at + 1);
        continue;
      }
      if (t.is("<")) {
        for (int depth = 0; at < tokens_.size(); ++at)
          if ((depth += tokens_[at].is("<") ? 1 : tokens_[at].is(">") ? -1 : 0) == 0) break;
        continue;
      }
      if (t.is("operator") || t.is("(")) return;  // a function
      if (t.is(";") || t.is("=") || t.is("[") || t.is("{")) break;
    }
    const std::size_t last = declaration_end(i);
    if (last >= tokens_.size()) return;
    for (std::size_t k = first; k < at; ++k) {
      if (tokens_[k].is("extern") || tokens_[k].is("template") || tokens_[k].is("struct") || tokens_[k].is("class") ||
          tokens_[k].is("typedef") || tokens_[k].is("using"))
        ours = false;
      if (tokens_[k].is("__constant__")) kind = MemoryWord::constant;
      if (tokens_[k].is("__managed__")) kind = MemoryWord::managed;
    }
    if (!ours) return;
    after_ = last;
    for (const Declarator& d : declarators(tokens_, first, last)) {
      static constexpr const char* kinds[] = {"variable", "constant", "managed"};
      insert(tokens_[last].end(), " static ::zellige::cuda::Declaration zellige_declaration_" + std::to_string(i) + "_" + d.name +
                                      "((void*)&" + d.name + ", sizeof(" + d.name + "), 1, ::zellige::cuda::MemoryKind::" +
                                      kinds[int(kind)] + ", " + as_literal(d.name) + ");");
    }
  }

  // Returns the last token of the argument that begins at token i; template arguments may have commas.
  std::size_t argument_end(std::size_t i) const {
    int angles = 0;
    for (; i + 1 < tokens_.size(); ++i) {
      const SourceToken& next = tokens_[i + 1];
      if (tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{")) {
        i = closing(tokens_, i) - 1;
        continue;
      }
      if (tokens_[i].is("<")) ++angles;
      if (tokens_[i].is(">")) --angles;
      if ((next.is(",") && angles <= 0) || next.is(")")) return i;
    }
    return i;
  }

  void call(std::size_t i) {
    const SourceToken& t = tokens_[i];
    if (i + 2 >= tokens_.size() || tokens_[i + 2].is(")")) return;
    const std::size_t first = i + 2;
    if (allocators.count(t.text)) {
      const std::size_t last = argument_end(first);
      insert(tokens_[first].at, "::zellige::cuda::named(" + as_literal(variable_name(first, last)) + ", ");
      insert(tokens_[last].end(), ")");
    } else if (const auto found = by_name.find(t.text); found != by_name.end()) {
      const std::size_t last = argument_end(first);
      std::size_t from = first;
      while (from < last && (tokens_[from].is("(") || tokens_[from].is("&")))
        from = tokens_[from].is("(") ? closing(tokens_, from) + 1 : from + 1;
      const std::string name(slice(from, last));
      replace(t.at, t.end(), std::string(found->second));
      replace(tokens_[first].at, tokens_[last].end(),
              as_literal(name) + (t.is("cudaFuncSetAttribute") ? "" : ", " + name));
    }
  }
  // Returns the name of the variable whose address an argument is: "d.x[1]" of `(void**)&d.x[1]`.
  std::string variable_name(std::size_t first, std::size_t last) const {
    std::size_t from = last;
    for (std::size_t i = first; i <= last; ++i)
      if (tokens_[i].is("&")) from = i + 1;
    if (from > last) from = last;
    std::string name(slice(from, last));
    while (!name.empty() && name.back() == ')') name.pop_back();
    return name;
  }

  Rewritten apply() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.at < b.at; });
    std::size_t at = 0, include = 0;
    const auto copy = [&](std::size_t to) {
      for (; include < result_.includes.size() && result_.includes[include].at < to; ++include) {
        SourceInclude& one = result_.includes[include];
        const std::size_t moved = result_.text.size() + (one.at - at);
        one.end = moved + (one.end - one.at);
        one.at = moved;
      }
      result_.text.append(source_.substr(at, to - at));
      at = to;
    };
    for (const Edit& e : edits_) {
      if (e.at < at) continue;  // within a replaced declaration
      copy(e.at);
      result_.text += e.text;
      at = e.end;
    }
    copy(source_.size());
    return std::move(result_);
  }

  enum class MemoryWord { variable, constant, managed };

  std::string_view source_;
  std::string file_;
  std::vector<SourceToken> tokens_;
  Scopes scopes_;
  std::vector<Edit> edits_;
  Rewritten result_;
  std::size_t after_ = 0;  // the end of the last device variable's declaration
};

}  // namespace

Rewritten rewrite(std::string_view source, const std::string& file) { return Rewriter(source, file).run(); }

}  // namespace zellige::cuda
