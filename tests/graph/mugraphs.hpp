// The folder of Mirage's muGraphs: ZELLIGE_MUGRAPHS, or ../shared/mugraphs next to the sources.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

namespace zellige::graph::test {

/// The path of a file such as "lora.json"; empty where it is absent.
inline std::string mugraph_file(const std::string& file) {
  const char* folder = std::getenv("ZELLIGE_MUGRAPHS");
  const std::string base = folder ? folder : std::string(ZELLIGE_SOURCE_DIR) + "/../shared/mugraphs";
  const std::string path = base + "/" + file;
  return std::filesystem::exists(path) ? path : "";
}

}  // namespace zellige::graph::test
