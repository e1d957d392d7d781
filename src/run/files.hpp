// Files that are whole or absent; failures name the path and the reason. The cache writes with these; what a
// user asked for goes through run/outputs.hpp.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace zellige::run {

/// Writes under a name of its own in the same folder, then renames.
void write_whole(const std::filesystem::path&, std::string_view content);
/// Writes a file that is not there yet. Returns 0, or the errno of what failed.
int write_new(const std::filesystem::path&, std::string_view content);
std::string read_whole(const std::filesystem::path&);
void create_folders(const std::filesystem::path&);

/// In lower case: what a file system without case takes two names for.
std::string folded(std::string name);

/// A file name that no other process or thread uses: host, process and a count are in it.
std::string unique_name(std::string_view suffix);

}  // namespace zellige::run
