#include "disassembly.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "graph/error.hpp"
#include "run/files.hpp"

namespace zellige::random_graphs {
namespace {

std::string program() {
  const char* set = std::getenv("ZELLIGE_NVDISASM");
  if (set && *set) return ::access(set, X_OK) == 0 ? set : "";
  const char* path = std::getenv("PATH");
  for (std::string folders = path ? path : ""; !folders.empty();) {
    const std::size_t end = folders.find(':');
    const std::string file = folders.substr(0, end) + "/nvdisasm";
    if (::access(file.c_str(), X_OK) == 0) return file;
    folders = end == folders.npos ? "" : folders.substr(end + 1);
  }
  return "";
}

}  // namespace

std::optional<std::vector<int>> odd_by_nvdisasm(const std::string& cubin) {
  static const std::string nvdisasm = program();
  if (nvdisasm.empty()) return std::nullopt;
  const std::string file = fmt::format("{}/zellige_{}.cubin", P_tmpdir, ::getpid());
  run::write_whole(file, cubin);
  std::vector<int> odd;
  {
    const std::unique_ptr<FILE, int (*)(FILE*)> text(
        ::popen(("'" + nvdisasm + "' -c '" + file + "' 2>&1").c_str(), "r"), ::pclose);
    if (!text) fail("nvdisasm cannot be started");
    bool any = false;
    char line[4096];
    while (std::fgets(line, sizeof line, text.get())) {
      const std::string_view words = line;
      any = any || words.starts_with(".text.") || words.find(".section\t.text.") != words.npos;
      // desc[UR5], but not a product's gdesc[UR5]
      for (std::size_t at = words.find("desc[UR"); at != words.npos; at = words.find("desc[UR", at + 1))
        if (const int number = std::atoi(line + at + 7); number % 2 != 0 && (at == 0 || words[at - 1] != 'g'))
          odd.push_back(number);
    }
    if (!any) fail("nvdisasm does not take the cubin: {}", line);
  }
  ::unlink(file.c_str());
  return odd;
}

}  // namespace zellige::random_graphs
