// Files that are whole or absent. Every file Zellige writes goes through here; failures name the path and the
// reason.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace zellige::run {

/// Writes under a name of its own in the same folder, then renames.
void write_whole(const std::filesystem::path&, std::string_view content);
std::string read_whole(const std::filesystem::path&);
void create_folders(const std::filesystem::path&);

/// A file name that no other process or thread uses: host, process and a count are in it.
std::string unique_name(std::string_view suffix);

}  // namespace zellige::run
