// Golden files under tests/plan/golden. `tests/plan/golden.sh --update` rewrites them.
#pragma once
#include <string>

bool updating_goldens();
std::string read_file(const std::string& path);  // "" where there is none
void write_file(const std::string& path, const std::string& text);
void expect_golden(const std::string& name, const std::string& text);
