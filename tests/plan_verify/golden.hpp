// Golden files: ZELLIGE_UPDATE_GOLDENS=1 writes them anew.
#pragma once
#include <string>

void expect_golden(const std::string& name, const std::string& text);
