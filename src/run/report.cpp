#include "run/report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "graph/error.hpp"
#include "run/files.hpp"

namespace zellige::run {

constexpr std::size_t max_replaced_bytes = std::size_t{1} << 20;

Report::Report(Outputs& outputs, fs::path file) : outputs_(outputs), file_(std::move(file)) {
  if (file_.empty()) return;
  stream_ = Outputs::is_stream(file_);
  outputs_.claim(file_);
  if (!stream_) outputs_.rewrite(file_, "");
}

Report::~Report() {
  // Appends the lines that waited for a line that was never added.
  try {
    for (const auto& [at, line] : lines_)
      if (appended_ >= 0) append(line + "\n");
  } catch (const Error&) {  // reported already, or no reader is left
  }
  if (appended_ >= 0) ::close(appended_);
}

void Report::append(std::string_view text) {
  outputs_.written().add(digest_.add(text).hex());
  if (const int error = write_all(appended_, text)) unwritable(file_, error);
}

void Report::add(int order, const std::string& line) {
  if (file_.empty()) return;
  if (stream_) return outputs_.rewrite(file_, line + "\n");
  lines_[order] = line;
  bytes_ += line.size() + 1;
  if (appended_ < 0) {
    std::string all;
    for (const auto& [at, text] : lines_) all += text + "\n";
    outputs_.rewrite(file_, all);
    const bool complete = lines_.begin()->first == 0 && lines_.rbegin()->first + 1 == static_cast<int>(lines_.size());
    if (bytes_ < max_replaced_bytes || !complete) return;
    appended_ = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (appended_ < 0) unwritable(file_, errno);
    digest_.add(all);
    next_ = static_cast<int>(lines_.size());
    lines_.clear();
    return;
  }
  for (auto at = lines_.begin(); at != lines_.end() && at->first == next_; at = lines_.erase(at), ++next_)
    append(at->second + "\n");
}

}  // namespace zellige::run
