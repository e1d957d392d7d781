#include "sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace zellige::deletions {
namespace {

constexpr auto npos = std::string_view::npos;

// The place of the bracket that closes the one at `open`.
std::size_t closing(std::string_view s, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < s.size(); ++i) {
    if (s[i] == '(' || s[i] == '{' || s[i] == '[') ++depth;
    if ((s[i] == ')' || s[i] == '}' || s[i] == ']') && --depth == 0) return i;
  }
  return s.size();
}

// Finds `word` between `from` and `to` outside of brackets.
std::size_t find_outside(std::string_view s, std::string_view word, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    if (s[i] == '(' || s[i] == '{' || s[i] == '[') i = closing(s, i);
    if (i + word.size() <= to && s.substr(i, word.size()) == word) return i;
  }
  return npos;
}

bool starts_word(std::string_view s, std::size_t at) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return at == 0 || !part(s[at - 1]);
}

class Line {
 public:
  Line(std::string_view text, std::string_view kernel, int number, std::vector<Site>& sites)
      : text_(text), kernel_(kernel), number_(number), sites_(sites) {}

  std::string switched() {
    if (const std::size_t comment = text_.find("//"); comment != npos) {
      end_ = comment;
    } else {
      end_ = text_.size();
    }
    calls("__syncthreads(", Kind::barrier);
    calls("__syncwarp(", Kind::barrier);
    calls("cp_async_wait<", Kind::wait);
    calls("cp_async_commit(", Kind::commit);
    calls("named_barrier_sync(", Kind::barrier);
    calls("wgmma_wait<", Kind::wait);
    calls("wgmma_commit(", Kind::commit);
    calls("tma_store_wait_read<", Kind::wait);
    calls("tma_store_commit(", Kind::commit);
    calls("ring.wait(", Kind::wait);
    calls("ring.release(", Kind::release);
    calls("exchange.wait(", Kind::wait);
    calls("exchange.release(", Kind::release);
    calls("fence_proxy_async_shared(", Kind::fence);
    calls("fence_mbarrier_init(", Kind::fence);
    calls("griddep_wait(", Kind::wait);
    ifs();
    zero_fills();
    limits("at_most(", 1);
    limits("edge(", 0);
    std::stable_sort(inserts_.begin(), inserts_.end(), [](auto& a, auto& b) { return a.first < b.first; });
    std::string out(text_);
    for (auto i = inserts_.rbegin(); i != inserts_.rend(); ++i) out.insert(i->first, i->second);
    return out;
  }

 private:
  int site(Kind kind, std::size_t from, std::size_t to) {
    sites_.push_back({std::string(kernel_), number_, kind, std::string(text_.substr(from, to - from))});
    return static_cast<int>(sites_.size()) - 1;
  }

  template <class Found>
  void each(std::string_view word, Found found) {
    for (std::size_t at = text_.find(word); at != npos && at < end_; at = text_.find(word, at + 1)) {
      if (starts_word(text_, at)) found(at);
    }
  }

  void calls(std::string_view word, Kind kind) {
    each(word, [&](std::size_t at) {
      const int id = site(kind, at, text_.find(';', at) + 1);
      inserts_.emplace_back(at, fmt::format("if (zellige_deleted != {}) ", id));
    });
  }

  void always_true(Kind kind, std::size_t from, std::size_t to) {
    const int id = site(kind, from, to);
    inserts_.emplace_back(from, fmt::format("(zellige_deleted == {} || (", id));
    inserts_.emplace_back(to, "))");
  }

  // Each part of a condition "a && b && c".
  void parts(Kind kind, std::size_t from, std::size_t to) {
    while (true) {
      const std::size_t both = find_outside(text_, " && ", from, to);
      always_true(kind, from, std::min(both, to));
      if (both == npos) return;
      from = both + 4;
    }
  }

  void ifs() {
    each("if (", [&](std::size_t at) { parts(Kind::predicate, at + 4, closing(text_, at + 3)); });
  }

  // "(a && b ? x : 0.0f)", "valid = a && b ? x : 0;". A ring's "stage + 1 == 4 ? 0 : stage + 1" chooses, it guards nothing.
  void zero_fills() {
    for (std::size_t at = text_.find(" ? "); at != npos && at < end_; at = text_.find(" ? ", at + 1)) {
      const std::size_t otherwise = find_outside(text_, " : ", at + 3, end_);
      if (otherwise == npos || text_[otherwise + 3] != '0') continue;
      std::size_t from = at;
      for (int depth = 0; from > 0; --from) {
        const char c = text_[from - 1];
        if (c == ')' || c == ']') ++depth;
        if ((c == '(' || c == '[') && depth-- == 0) break;
        if (depth == 0 && (c == ',' || (c == '=' && from > 1 && text_[from - 2] == ' ' && text_[from] == ' '))) break;
      }
      while (text_[from] == ' ') ++from;
      parts(Kind::zero_fill, from, at);
    }
  }

  // at_most(index, last): no last one. edge(left, whole): more than enough is left.
  void limits(std::string_view word, int argument) {
    each(word, [&](std::size_t at) {
      const std::size_t open = at + word.size() - 1, close = closing(text_, open);
      std::size_t limit = open + 1;
      for (int i = 0; i < argument; ++i) limit = find_outside(text_, ", ", limit, close) + 2;
      const int id = site(Kind::clamp, at, close + 1);
      inserts_.emplace_back(limit, fmt::format("zellige_deleted == {} ? 0x7fffffff : ", id));
    });
  }

  std::string_view text_, kernel_;
  std::size_t end_ = 0;
  int number_;
  std::vector<Site>& sites_;
  std::vector<std::pair<std::size_t, std::string>> inserts_;
};

}  // namespace

std::string_view name(Kind k) {
  constexpr std::string_view names[] = {"barrier", "wait",      "commit",    "release",
                                        "fence",   "predicate", "zero fill", "clamp"};
  return names[static_cast<int>(k)];
}

Switched with_switches(std::string_view source) {
  Switched result;
  std::string kernel;  // "" between kernels
  int number = 0;
  bool declared = false;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view line = source.substr(at, end - at);
    at = end + 1;
    ++number;
    if (const std::size_t k = line.find("__global__"); k != npos) {
      const std::size_t open = line.find('(', line.find("__launch_bounds__", k) == npos ? k : line.find(')', k));
      std::size_t from = open;
      while (from > 0 && line[from - 1] != ' ') --from;
      kernel = line.substr(from, open - from);
      result.text += line;
    } else if (kernel.empty()) {
      result.text += line;
    } else {
      result.text += Line(line, kernel, number, result.sites).switched();
    }
    if (line == "}") kernel.clear();
    if (!declared && line.starts_with("using namespace zellige;")) {
      result.text += " extern \"C\" { int zellige_deleted = -1; }";
      declared = true;
    }
    result.text += '\n';
  }
  return result;
}

}  // namespace zellige::deletions
