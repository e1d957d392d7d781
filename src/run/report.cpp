#include "run/report.hpp"

#include "run/files.hpp"

namespace zellige::run {
namespace fs = std::filesystem;

Report::Report(fs::path file) : file_(std::move(file)) {
  if (file_.empty()) return;
  std::error_code ignored;
  const fs::file_status status = fs::status(file_, ignored);
  stream_ = fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
  if (!stream_) write_whole(file_, "");
}

void Report::add(int order, const std::string& line) {
  if (file_.empty()) return;
  if (stream_) return write_whole(file_, line + "\n");
  lines_[order] = line;
  std::string all;
  for (const auto& [at, text] : lines_) all += text + "\n";
  write_whole(file_, all);
}

}  // namespace zellige::run
