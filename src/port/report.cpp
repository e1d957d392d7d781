#include "port/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "strings/nearest.hpp"

namespace zellige::port {
namespace fs = std::filesystem;
namespace {

/// Returns the content of a file, or "" if the file cannot be read.
std::string text_of(const fs::path& file) {
  std::stringstream all;
  all << std::ifstream(file).rdbuf();
  return all.str();
}
/// Returns whether a folder is Zellige's own compat folder, not CUTLASS.
bool is_compat(const fs::path& folder) {
  return text_of(folder / "cute" / "config.hpp").find("#define cute zellige") != std::string::npos;
}
/// Returns the first folder of the include path that has the header and is not Zellige's compat folder.
/// Returns an empty path if there is none.
fs::path folder_of(const std::vector<fs::path>& folders, const std::string& header) {
  for (const fs::path& f : folders)
    if (fs::exists(f / header) && !is_compat(f)) return f;
  return {};
}
/// Returns the version of CUTLASS in a folder, such as "4.7.0", or "" if the folder has no version header.
std::string version_of(const fs::path& cutlass) {
  std::istringstream lines(text_of(cutlass / "cutlass" / "version.h"));
  std::map<std::string, std::string> defined;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string define, name, value;
    words >> define >> name >> value;
    if (define == "#define") defined[name] = value;
  }
  const std::string& major = defined["CUTLASS_MAJOR"];
  return major.empty() ? "" : fmt::format("{}.{}.{}", major, defined["CUTLASS_MINOR"], defined["CUTLASS_PATCH"]);
}

/// The names that CUTLASS's CuTe headers declare, each with its file and line. The headers are read at the first call.
class Cutlass {
 public:
  explicit Cutlass(fs::path folder) : folder_(std::move(folder)) {}

  /// Returns FILE:LINE of the CuTe declaration to which a path such as A::b::c refers, or "" if there is none.
  std::string find(const std::string& path) {
    if (folder_.empty()) return "";
    if (!all_) read();
    const std::string name = all_->find(path);
    return name.empty() ? "" : fmt::format("{}:{}", file_of_.at(name), all_->names.at(name));
  }

 private:
  void read() {
    all_.emplace();
    std::vector<fs::path> files;
    for (const auto& e : fs::recursive_directory_iterator(folder_ / "cute"))
      if (e.path().extension() == ".hpp") files.push_back(e.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      Declarations here = declared(read_source(text_of(file)), {"cute"});
      for (const auto& [name, line] : here.names)
        if (all_->names.emplace(name, line).second) file_of_.emplace(name, file.string());
      all_->namespaces.merge(here.namespaces);
    }
  }

  fs::path folder_;
  std::optional<Declarations> all_;
  std::map<std::string, std::string> file_of_;
};

/// A name with its namespaces, A::b::c, and the line where it is used.
struct QualifiedName {
  std::string names;
  int line;
};
/// Returns the path of names, such as A::b::c, that begins at token i. Sets i to the token after it.
QualifiedName path_at(const std::vector<Token>& t, std::size_t& i) {
  QualifiedName p{std::string(t[i].text), t[i].line};
  for (++i; is(t, i, "::") && i + 1 < t.size() && is_word(t[i + 1].text) && t[i + 1].text != "template"; i += 2)
    p.names += fmt::format("::{}", t[i + 1].text);
  return p;
}
/// Returns the paths of names that follow `cute::` in the source.
std::vector<QualifiedName> qualified(const std::vector<Token>& t) {
  std::vector<QualifiedName> found;
  for (std::size_t i = 0; i + 2 < t.size();) {
    const bool outermost = i == 0 || t[i - 1].text != "::" || i == 1 || !is_word(t[i - 2].text);
    if (t[i].text == "cute" && t[i + 1].text == "::" && is_word(t[i + 2].text) && outermost &&
        !(i > 0 && t[i - 1].text == "namespace")) {
      i += 2;
      found.push_back(path_at(t, i));
    } else {
      ++i;
    }
  }
  return found;
}
/// Returns whether the source opens the namespace cute, or has `using namespace cute`.
bool opens_the_namespace(const std::vector<Token>& t) {
  for (std::size_t i = 0; i + 1 < t.size(); ++i)
    if (t[i].text == "namespace" && t[i + 1].text == "cute" && !is(t, i + 2, "::")) return true;
  return false;
}
/// Returns the paths of names that follow neither `cute::` nor another name, except those that the source declares.
std::vector<QualifiedName> unqualified(const std::vector<Token>& t) {
  std::set<std::string_view> own;
  for (std::size_t i = 1; i + 1 < t.size(); ++i) {
    const std::string_view before = t[i - 1].text, after = t[i + 1].text;
    const bool declares = (is_word(before) && before != "return" && before != "using" && before != "typename") ||
                          before == "&" || before == "*" || before == ">" || before == "...";
    const bool ends = after == "=" || after == ";" || after == "," || after == ")" || after == "[" || after == ":" ||
                      after == "{" || after == ">";
    if (is_word(t[i].text) && ((declares && ends) || (before == "using" && after == "="))) own.insert(t[i].text);
  }
  std::vector<QualifiedName> found;
  for (std::size_t i = 0; i < t.size();) {
    const bool member = i > 0 && (t[i - 1].text == "." || t[i - 1].text == "->" || t[i - 1].text == "::");
    if (!is_word(t[i].text) || member || own.count(t[i].text))
      ++i;
    else
      found.push_back(path_at(t, i));
  }
  return found;
}

/// Writes the report of one source.
class ReportWriter {
 public:
  ReportWriter(const Ours& ours, const std::vector<fs::path>& folders)
      : ours_(ours), folders_(folders), folder_(folder_of(folders, "cute/config.hpp")), cutlass_(folder_) {
    for (const auto& [name, of] : ours.names.names) names_.push_back(name);
  }

  PortReport write(const Source& s) {
    PortReport r;
    r.cutlass = folder_.string();
    if (!r.cutlass.empty()) r.version = version_of(folder_);
    std::set<std::string> seen;
    for (const Include& i : s.includes)
      if (i.path.starts_with("cute/") || i.path.starts_with("cutlass/") || i.path.starts_with("zellige/"))
        if (seen.insert("<" + i.path).second) r.includes.push_back(header(i));
    for (const QualifiedName& p : qualified(s.tokens)) name(r, seen, p, true);
    if (opens_the_namespace(s.tokens))
      for (const QualifiedName& p : unqualified(s.tokens)) name(r, seen, p, false);
    std::ranges::stable_sort(r.names, [](const SourceUse& a, const SourceUse& b) { return a.line < b.line; });
    return r;
  }

 private:
  /// Returns the report's entry for an included header: whether Zellige provides it, CUTLASS does, or neither.
  SourceUse header(const Include& i) {
    SourceUse u{fmt::format("<{}>", i.path), i.line, Whose::missing, "", ""};
    const auto at = ours_.headers.find(i.path);
    const fs::path folder = folder_of(folders_, i.path), theirs = folder / i.path;
    const bool there = !folder.empty();
    const bool known_here = at != ours_.headers.end();
    // A header that both Zellige and CUTLASS have counts as CUTLASS's if it is in cutlass/, or if Zellige's
    // header includes CUTLASS's.
    const bool passes_on = i.path.starts_with("cutlass/") || (known_here && at->second != HeaderOf::zellige);
    if (there && (!known_here || passes_on)) {
      u.is = Whose::cutlass;
      u.where = theirs.string();
    } else if (known_here && at->second != HeaderOf::cutlass) {
      u.is = Whose::ours;
    } else {
      std::vector<std::string> known;
      for (const auto& [path, of] : ours_.headers)
        if (of != HeaderOf::cutlass) known.push_back(path);
      const std::string near = nearest(i.path, known);
      if (!near.empty()) u.nearest = fmt::format("<{}>", near);
    }
    return u;
  }
  /// Adds the use of name `p` to the report, unless it has been added or is no name of CuTe. `qualified`: the
  /// name follows `cute::` in the source.
  void name(PortReport& r, std::set<std::string>& seen, const QualifiedName& p, bool qualified) {
    const std::string known = ours_.names.find(p.names);
    SourceUse u{"", p.line, Whose::ours, "", ""};
    if (known.empty()) {
      u.where = cutlass_.find(p.names);
      u.is = u.where.empty() ? Whose::missing : Whose::cutlass;
      if (u.is == Whose::missing && (!qualified || is_namespace(p.names))) return;
      if (u.is == Whose::missing) {
        const std::string near = nearest(p.names, names_);
        if (!near.empty()) u.nearest = fmt::format("cute::{}", near);
      }
    }
    u.what = fmt::format("cute::{}", known.empty() ? p.names : known);
    if (seen.insert(u.what).second) r.names.push_back(u);
  }
  /// Returns whether the path names a namespace of CuTe.
  bool is_namespace(const std::string& path) const {
    const auto at = ours_.names.names.lower_bound(path + "::");
    return ours_.names.namespaces.count(path) || (at != ours_.names.names.end() && at->first.starts_with(path + "::"));
  }

  const Ours& ours_;
  std::vector<fs::path> folders_;
  fs::path folder_;
  Cutlass cutlass_;
  std::vector<std::string> names_;
};

}  // namespace

bool PortReport::complete() const {
  const auto there = [](const SourceUse& u) { return u.is != Whose::missing; };
  return std::ranges::all_of(includes, there) && std::ranges::all_of(names, there);
}

Ours ours() {
  Ours o;
  std::istringstream lines{std::string(cute_names())};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.empty()) continue;
    if (line[0] == '<')
      o.headers.emplace(line.substr(1, line.find('>') - 1), line.ends_with(" next")     ? HeaderOf::cutlass
                                                            : line.ends_with(" either") ? HeaderOf::either
                                                                                        : HeaderOf::zellige);
    else if (equals != std::string::npos)
      o.names.namespaces.emplace(line.substr(0, equals), line.substr(equals + 3));
    else
      o.names.names.emplace(line, 0);
  }
  return o;
}

PortReport report(const Source& s, const Ours& ours, const std::vector<fs::path>& folders) {
  return ReportWriter(ours, folders).write(s);
}

}  // namespace zellige::port
