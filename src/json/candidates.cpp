
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "json/json.hpp"
#include "strings/identifier.hpp"
#include "strings/shown.hpp"

namespace zellige::json {
namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 28;  // of one graph's JSON

/// Returns the prefix of the names of a file's graphs: the file's name without folder and extension, with an
/// underscore in place of each character that a graph's name may not contain.
std::string graph_name(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string().substr(0, 150);
  for (char& c : name)
    if (!strings::is_of_a_name(c)) c = '_';
  return name;
}

bool blank(int c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string quoted(int c) {
  if (c < 0) return "the end of the input";
  return c > ' ' && c < 127 ? fmt::format("'{}'", static_cast<char>(c)) : fmt::format("the byte {:#04x}", c);
}

}  // namespace

/// Reads characters from a file or a string and tracks the line and column.
class Characters {
 public:
  explicit Characters(int fd, std::string source) : source_(std::move(source)), fd_(fd), buffer_(1 << 18, '\0') {}
  explicit Characters(std::string_view text) : rest_(text) {}
  Characters(const Characters&) = delete;
  ~Characters() { close(); }

  int peek() { return !rest_.empty() || fill() ? static_cast<unsigned char>(rest_[0]) : -1; }
  void drop() {
    if (rest_[0] == '\n') {
      ++line;
      column = 0;
    }
    ++column;
    ++bytes;
    rest_.remove_prefix(1);
  }
  void skip_blanks() {
    while (blank(peek())) drop();
  }

  /// Reads one JSON value without parsing it, by matching brackets and quotes. Appends the value's text to
  /// `into`, unless `into` is nullptr. Throws Error if the text in `into` exceeds max_bytes.
  void value(std::string* into) {
    int depth = 0;
    bool quoted = false, escaped = false;
    for (int c; (c = peek()) >= 0;) {
      if (!quoted && depth == 0 && (c == ',' || c == ']' || c == '}' || blank(c))) return;
      if (into) {
        if (into->size() == max_bytes) fail("{}: a graph has more than {} bytes", source_, max_bytes);
        into->push_back(static_cast<char>(c));
      }
      drop();
      if (quoted) {
        quoted = escaped || c != '"';
        escaped = !escaped && c == '\\';
        if (!quoted && depth == 0) return;
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        return;
      }
    }
  }

  /// Appends the rest of the input to `into`. Throws Error if the text in `into` exceeds max_bytes.
  void all(std::string& into) {
    while (peek() >= 0) {
      if (into.size() + rest_.size() > max_bytes) fail("{}: a graph has more than {} bytes", source_, max_bytes);
      into += rest_;
      bytes += rest_.size();
      rest_ = {};
    }
  }

  std::size_t line = 1, column = 1, bytes = 0;

 private:
  /// Reads the next part of the file into the buffer. Returns false at the end. Throws Error if that fails.
  bool fill() {
    while (fd_ >= 0) {
      const ssize_t n = ::read(fd_, buffer_.data(), buffer_.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("{}: expected a graph file that can be read, found: {}", source_, std::strerror(errno));
      if (n == 0) close();
      rest_ = std::string_view(buffer_).substr(0, static_cast<std::size_t>(n));
      return n > 0;
    }
    return false;
  }
  void close() {
    if (fd_ > 0) ::close(fd_);
    fd_ = -1;
  }

  std::string source_;
  int fd_ = -1;
  std::string buffer_;
  std::string_view rest_;
};

GraphFile::GraphFile(const std::string& path)
    : source_(path == "-" ? "stdin" : strings::shown(path)), stem_(path == "-" ? "stdin" : graph_name(path)) {
  const int fd = path == "-" ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("{}: expected a graph file that can be read, found: {}", source_, std::strerror(errno));
  in_ = std::make_unique<Characters>(fd, source_);
  struct stat kind;
  if (::fstat(fd, &kind) == 0 && S_ISDIR(kind.st_mode)) fail("{}: expected a graph file, found a directory", source_);
  begin();
}

GraphFile::GraphFile(std::string_view text, std::string source, std::string stem)
    : in_(std::make_unique<Characters>(text)), source_(std::move(source)), stem_(std::move(stem)) {
  begin();
}

GraphFile::GraphFile(GraphFile&&) noexcept = default;
GraphFile::~GraphFile() = default;

std::size_t GraphFile::bytes_read() const { return in_->bytes; }

void GraphFile::begin() {
  std::string text;
  for (const int mark : {0xef, 0xbb, 0xbf}) {
    if (in_->peek() != mark) break;
    in_->drop();
  }
  in_->column = 1;
  const auto take_blanks = [&] {
    for (; blank(in_->peek()); in_->drop()) text.push_back(static_cast<char>(in_->peek()));
  };
  take_blanks();
  const bool list = in_->peek() == '[';
  if (list) {
    text.push_back('[');
    in_->drop();
    take_blanks();
    const int c = in_->peek();
    if (c == '[' || c == '{') {
      const json::TextPlace place{in_->line, in_->column, 1, "[0]"};
      std::string one;
      in_->value(&one);
      first_ = parse_json(one, source_, place);
      list_ = first_->is_array() || is_own_form(*first_);
      if (list_) return;
      text += one;
    }
  }
  in_->all(text);
  first_ = parse_json(text, source_);
  mirage_ = is_mirage_candidate(*first_);
  if (!is_own_form(*first_) && !mirage_)
    fail("{}: expected a graph (an object with \"zellige_graph\") or a list of graphs, found {}", source_,
         describe(*first_));
}

bool GraphFile::advance() {
  if (std::exchange(ended_, true) || !list_) return false;  // stays true if something throws
  in_->skip_blanks();
  const int c = in_->peek();
  const auto expected = [&](const std::string& what) {
    fail("{}: expected JSON, found a parse error at line {}, column {}: expected {}, found {}", source_, in_->line,
         in_->column, what, quoted(in_->peek()));
  };
  if (c != ',' && c != ']') expected(fmt::format("',' or ']' after graph {}", count_ - 1));
  in_->drop();
  in_->skip_blanks();
  if (c == ',') {
    ended_ = false;
    return true;
  }
  if (in_->peek() >= 0) expected("the end after the list");
  return false;
}

Loaded GraphFile::load(const Json& j) {
  const std::string name = list_ || mirage_ ? fmt::format("{}[{}]", stem_, count_) : stem_;
  ++count_;
  Loaded result{name, {}, {}};
  try {
    if (!is_own_form(j) && !j.is_array()) fail("graph {}: expected a graph, found {}", name, describe(j));
    result.graph = is_own_form(j) ? from_json(j, name) : from_mirage(j, name);
    result.name = result.graph.name;
  } catch (const Error& e) {
    result.graph = {};
    result.error = e.what();
  }
  return result;
}

std::optional<Loaded> GraphFile::next() {
  if (first_) {
    const Json j = std::move(*first_);
    first_.reset();
    return load(j);
  }
  if (!advance()) return std::nullopt;
  const json::TextPlace place{in_->line, in_->column, 1, fmt::format("[{}]", count_)};
  ended_ = true;
  std::string text;
  in_->value(&text);
  const Json j = parse_json(text, source_, place);
  ended_ = false;
  return load(j);
}

bool GraphFile::skip() {
  if (first_) {
    first_.reset();
  } else {
    if (!advance()) return false;
    in_->value(nullptr);
  }
  ++count_;
  return true;
}

std::vector<graph::KernelGraph> load(const std::string& path) {
  std::vector<graph::KernelGraph> graphs;
  for (GraphFile file(path); std::optional<Loaded> l = file.next();) {
    if (!l->error.empty()) throw Error(l->error);
    graphs.push_back(std::move(l->graph));
  }
  return graphs;
}

}  // namespace zellige::json
