// Golden files: ZELLIGE_UPDATE_GOLDENS=1 rewrites them.
#pragma once
#include <string>

void expect_golden(const std::string& name, const std::string& text);
