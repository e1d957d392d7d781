// The output format of the compile-time units: one line per record, newlines as
// \n.
#pragma once
#include <exception>
#include <iostream>
#include <string>

inline void answer(char const* id, std::string const& text) {
  std::cout << id << '\t';
  for (char c : text) {
    if (c == '\n')
      std::cout << "\\n";
    else if (c == '\\')
      std::cout << "\\\\";
    else
      std::cout << c;
  }
  std::cout << '\n' << std::flush;
}
template <class F>
void record(char const* id, F f) {
  try {
    answer(id, "=" + f());
  } catch (std::exception const& e) {
    answer(id, std::string("!") + e.what());
  }
}
