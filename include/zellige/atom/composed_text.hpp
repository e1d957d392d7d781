// Composes names and PTX at compile time, from words, numbers and the names of number types. LettersOf makes an array of
// the string, as a template argument and inline PTX ("C"(LettersOf<Text>::string)) need it.
#pragma once

#include <zellige/atom/number.hpp>

namespace zellige {

namespace detail {

/// A string that is composed at compile time.
struct ComposedText {
  char text[160] = {};
  int length = 0;

  ZELLIGE_ALGEBRA constexpr ComposedText& operator+=(char const* more) {
    for (; *more != 0; ++more) text[length++] = *more;
    return *this;
  }
  ZELLIGE_ALGEBRA constexpr ComposedText& operator+=(int number) {
    char digits[12] = {};
    int n = 0;
    do digits[n++] = static_cast<char>('0' + number % 10), number /= 10;
    while (number != 0);
    while (n > 0) text[length++] = digits[--n];
    return *this;
  }
  /// Appends the PTX name of a number type, such as "e4m3".
  ZELLIGE_ALGEBRA constexpr ComposedText& operator+=(Number n) {
    for (NumberName const& known : number_names) {
      if (known.number != n) continue;
      for (char const* p = known.name; *p != 0; ++p)
        text[length++] = *p >= 'A' && *p <= 'Z' ? static_cast<char>(*p - 'A' + 'a') : *p;
    }
    return *this;
  }
};

/// The characters of a ComposedText as an array of their number, which a template argument and inline PTX need. Text is
/// a class with a static member `composed`.
template <class Text, class Indices>
struct Letters;
template <class Text, int... I>
struct Letters<Text, seq<I...>> {
  static constexpr char text[] = {Text::composed.text[I]..., 0};
};
template <class Text>
using LettersOf = Letters<Text, make_seq<Text::composed.length>>;

}  // namespace detail

}  // namespace zellige
