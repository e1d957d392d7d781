// Rewrites launches, and calls of CUDA's functions that need to know a name of the source: of a kernel, or of the variable
// that gets memory.
#include <map>
#include <set>

#include "cuda/source_edits.hpp"
#include "graph/error.hpp"

namespace zellige::cuda {

namespace {

// Functions that allocate memory through their first argument, by whose name findings call it.
const std::set<std::string_view> allocators = {"cudaMalloc",    "cudaMallocManaged", "cudaMallocHost",
                                               "cudaHostAlloc", "cudaMallocAsync",   "cudaMallocPitch"};
// Functions whose first argument is a kernel, which is passed by name, too, and what they become.
const std::map<std::string_view, std::string_view> by_name = {
    {"cudaFuncSetAttribute", "::zellige::cuda::allow"},
    {"cudaLaunchKernel", "::zellige::cuda::launch_array"},
    {"cudaLaunchCooperativeKernel", "::zellige::cuda::launch_together"}};

// Returns the first token of the kernel's name, which ends before token i: `a::kernel<T, 4>`, `(*f)`, `table[k]`.
std::size_t name_start(const SourceEdits& s, std::size_t i) {
  const std::vector<SourceToken>& tokens = s.tokens;
  std::size_t first = i - 1;
  if (tokens[first].is(">") || tokens[first].is(")") || tokens[first].is("]")) {
    const bool whole = tokens[first].is(")");
    first = opening(tokens, first);
    if (first >= tokens.size()) s.refuse(tokens[i], "a launch of this kernel's name");
    if (whole || first == 0) return first;
    --first;
  }
  while (first >= 3 && tokens[first - 1].is(":") && tokens[first - 2].is(":")) {
    first -= 3;
    if (!tokens[first].is(">")) continue;
    first = opening(tokens, first);
    if (first == 0 || first >= tokens.size()) break;
    --first;
  }
  return first;
}

// Returns the last token of the argument that begins at token i; template arguments may have commas.
std::size_t argument_end(const std::vector<SourceToken>& tokens, std::size_t i) {
  int angles = 0;
  for (; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{")) i = closing(tokens, i);
    if (i + 1 >= tokens.size()) break;
    if (tokens[i].is("<")) ++angles;
    if (tokens[i].is(">")) --angles;
    if ((tokens[i + 1].is(",") && angles <= 0) || tokens[i + 1].is(")")) return i;
  }
  return tokens.size() - 1;
}

// Returns the name of the variable whose address an argument is: "d.x[1]" of `(void**)&d.x[1]`.
std::string variable_name(const SourceEdits& s, std::size_t first, std::size_t last) {
  std::size_t from = last;
  for (std::size_t i = first; i <= last; ++i)
    if (s.tokens[i].is("&")) from = i + 1;
  if (from > last) from = last;
  std::string name(s.slice(from, last));
  while (!name.empty() && name.back() == ')') name.pop_back();
  return name;
}

// Returns the source of an argument after its casts and &.
std::string without_casts(const SourceEdits& s, std::size_t first, std::size_t last) {
  while (first < last && (s.tokens[first].is("(") || s.tokens[first].is("&")))
    first = s.tokens[first].is("(") ? closing(s.tokens, first) + 1 : first + 1;
  return std::string(s.slice(first, last));
}

// Returns the token at which the parameters of the function declared by the `__global__` at token i begin; tokens.size(): there is none.
std::size_t parameters_of_kernel(const std::vector<SourceToken>& tokens, std::size_t i) {
  for (std::size_t k = i + 1; k < tokens.size() && !tokens[k].is(";") && !tokens[k].is("{"); ++k) {
    if (!tokens[k].is("(")) continue;
    if (!tokens[k - 1].text.starts_with("__")) return k;
    k = closing(tokens, k);
  }
  return tokens.size();
}

// Returns whether token i, a word directly after `before`, is declared there or is a name of something else's.
bool is_declared(const SourceToken& before) {
  if (before.is("return") || before.is("else") || before.is("do")) return false;
  return before.kind == SourceToken::Kind::word || before.is(">") || before.is("*") || before.is("&") ||
         before.is(".") || before.is(":");
}

}  // namespace

std::set<std::string_view> kernel_names(const SourceEdits& s) {
  const std::vector<SourceToken>& tokens = s.tokens;
  std::set<std::string_view> names;
  std::set<std::size_t> declared;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].is("__global__") && !tokens[i].directive)
      if (const std::size_t open = parameters_of_kernel(tokens, i); s.has(open)) {
        const std::size_t before = tokens[open - 1].is(">") ? opening(tokens, open - 1) : open;  // of add<4>(float* x)
        if (!s.has(before)) continue;
        names.insert(tokens[before - 1].text), declared.insert(before - 1);
      }
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    const bool called = tokens[i + 1].is("(") || tokens[i + 1].is("<");
    if (declared.contains(i) || !names.contains(tokens[i].text)) continue;
    if ((called && is_declared(tokens[i - 1])) || tokens[i].directive || tokens[i + 1].is("=") || tokens[i + 1].is("{"))
      names.erase(tokens[i].text);
  }
  return names;
}

void refuse_call_of_kernel(const SourceEdits& s, std::size_t i) {
  const std::vector<SourceToken>& tokens = s.tokens;
  std::size_t open = i + 1;
  if (s.has(open) && tokens[open].is("<") && !s.three(open, "<"))
    for (int depth = 0; s.has(open); ++open)
      if (tokens[open].is(";") || (depth += tokens[open].is("<") ? 1 : tokens[open].is(">") ? -1 : 0) == 0) break;
  if (open > i + 1 && s.has(open) && tokens[open].is(">")) ++open;
  if (!s.has(open) || !tokens[open].is("(") || tokens[i].directive || !s.scopes.in_function(i) || s.scopes.in_kernel(i))
    return;
  fail("{0}:{1}: {2}: this kernel is called without its grid and block; a launch has them: {2}<<<grid, block>>>(...)",
       s.file, tokens[i].line, tokens[i].text);
}

void rewrite_kernel_start(SourceEdits& s, std::size_t i) {
  const std::vector<SourceToken>& tokens = s.tokens;
  const std::size_t open = parameters_of_kernel(tokens, i);
  if (!s.has(open)) return;
  std::size_t dims = tokens.size();
  for (std::size_t k = i; k > 0 && !tokens[k].is(";") && !tokens[k].is("}"); --k)
    if (tokens[k].is("__cluster_dims__")) dims = k;
  for (std::size_t k = i + 1; k < open; ++k)
    if (tokens[k].is("__cluster_dims__")) dims = k;
  const std::size_t body = closing(tokens, open) + 1;
  if (!s.has(body) || !tokens[body].is("{")) return;
  std::string arguments;
  if (s.has(dims + 3) && tokens[dims + 1].is("(")) arguments = s.slice(dims + 2, closing(tokens, dims + 1) - 1);
  s.replace(tokens[body].at, tokens[body].end(), "{ ::zellige::cuda::kernel_starts(" + arguments + ");");
  if (const std::size_t end = closing(tokens, body); s.has(end) && !arguments.empty())
    s.insert(tokens[end].end(), " static const bool zellige_cluster_" + std::to_string(tokens[i].line) +
                                    " = (::zellige::cuda::uses_clusters = true);");
}

void rewrite_launch(SourceEdits& s, std::size_t i) {
  const std::vector<SourceToken>& tokens = s.tokens;
  const std::size_t first = name_start(s, i);
  std::size_t close = i + 3;
  for (int depth = 0; close < tokens.size(); ++close) {
    const SourceToken& t = tokens[close];
    if (t.is("(") || t.is("[") || t.is("{")) ++depth;
    if (t.is(")") || t.is("]") || t.is("}")) --depth;
    if (depth == 0 && s.three(close, ">")) break;
  }
  if (!s.has(close + 3) || !tokens[close + 3].is("(")) s.refuse(tokens[i], "a launch without >>>(...)");
  if (s.scopes.in_kernel(i)) s.refuse(tokens[first], "a launch from a kernel (dynamic parallelism)");
  const std::string name(s.slice(first, i - 1));
  for (std::size_t k = close + 4, end = closing(tokens, close + 3); k < end; ++k)  // NULL is passed on as a number
    if (tokens[k].is("NULL")) s.replace(tokens[k].at, tokens[k].end(), "nullptr");
  const bool none = s.has(close + 4) && tokens[close + 4].is(")");
  s.replace(tokens[first].at, tokens[i + 2].end(),
            "::zellige::cuda::launch(" + as_literal(name) + ", [=](auto... zellige_p) { " + name +
                "(zellige_p...); }, ::zellige::cuda::Configuration(");
  s.replace(tokens[close].at, tokens[close + 3].end(), none ? ")" : "), ");
}

void rewrite_call(SourceEdits& s, std::size_t i) {
  const std::vector<SourceToken>& tokens = s.tokens;
  const std::size_t first = i + 2;
  if (!s.has(first) || tokens[first].is(")")) return;
  if (allocators.contains(tokens[i].text)) {
    const std::size_t last = argument_end(tokens, first);
    s.insert(tokens[first].at, "::zellige::cuda::named(" + as_literal(variable_name(s, first, last)) + ", ");
    s.insert(tokens[last].end(), ")");
  } else if (tokens[i].is("cudaLaunchKernelEx") || tokens[i].is("cudaLaunchKernelExC")) {
    const std::size_t comma = argument_end(tokens, first) + 1, kernel = comma + 1;
    if (!s.has(kernel) || !tokens[comma].is(",")) s.refuse(tokens[i], "this call");
    const std::size_t last = argument_end(tokens, kernel);
    const std::string name = without_casts(s, kernel, last);
    s.replace(tokens[i].at, tokens[i].end(),
              tokens[i].is("cudaLaunchKernelEx") ? "::zellige::cuda::launch_ex" : "::zellige::cuda::launch_ex_array");
    s.insert(tokens[first].at, as_literal(name) + ", ");
    s.replace(tokens[kernel].at, tokens[last].end(), name);
  } else if (const auto found = by_name.find(tokens[i].text); found != by_name.end()) {
    const std::size_t last = argument_end(tokens, first);
    const std::string name = without_casts(s, first, last);
    s.replace(tokens[i].at, tokens[i].end(), std::string(found->second));
    s.replace(tokens[first].at, tokens[last].end(),
              as_literal(name) + (tokens[i].is("cudaFuncSetAttribute") ? "" : ", " + name));
  }
}

}  // namespace zellige::cuda
