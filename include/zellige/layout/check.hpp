// Reports invalid layout operations at run time. On the host a failed check throws LayoutError, unless ZELLIGE_CHECK is
// defined as 0. On the device nothing is checked unless ZELLIGE_CHECK is defined as 1; a failed check then traps.
// Operations on static layouts are checked at compile time (refusal.hpp).
#pragma once
#include <zellige/layout/rule.hpp>

#if !defined(__CUDACC_RTC__)
#include <exception>
#endif

// ZELLIGE_CHECK_EVERYWHERE is 1 if checks are enabled in both the host pass and the device pass of a
// compilation, else 0. Types that must be the same in both passes use this macro in place of ZELLIGE_CHECK.
#ifdef ZELLIGE_CHECK
#define ZELLIGE_CHECK_EVERYWHERE ZELLIGE_CHECK
#else
#if defined(__CUDACC__)
#define ZELLIGE_CHECK_EVERYWHERE 0
#else
#define ZELLIGE_CHECK_EVERYWHERE 1
#endif
#if defined(__CUDA_ARCH__)
#define ZELLIGE_CHECK 0
#else
#define ZELLIGE_CHECK 1
#endif
#endif

namespace zellige {

#if !defined(__CUDACC_RTC__)
/// Exception of layout operations at run time. `refusal` is the broken rule with the two numbers of the case;
/// what() is the message.
class LayoutError : public std::exception {
 public:
  LayoutError(char const* text, Refusal r) : refusal(r) {
    int i = 0;
    for (; text[i] != 0 && i + 1 < int(sizeof text_); ++i) text_[i] = text[i];
    text_[i] = 0;
  }
  template <class String>
  requires requires(String s) { s.c_str(); }
  LayoutError(String const& text, Refusal r) : LayoutError(text.c_str(), r) {}
  char const* what() const noexcept override { return text_; }
  Refusal refusal;

 private:
  char text_[600];
};

namespace detail {
/// Throws LayoutError with the message of the broken rule, in which {x} and {y} are replaced by the two
/// numbers of r.
[[noreturn]] inline void throw_refusal(Refusal r) {
  char text[400];
  int n = 0;
  auto put = [&](char c) {
    if (n + 1 < int(sizeof text)) text[n++] = c;
  };
  auto put_number = [&](long long v) {
    char digits[24];
    int d = 0;
    unsigned long long u = v < 0 ? 0ULL - static_cast<unsigned long long>(v) : static_cast<unsigned long long>(v);
    do digits[d++] = char('0' + u % 10);
    while ((u /= 10) != 0);
    if (v < 0) put('-');
    while (d > 0) put(digits[--d]);
  };
  for (char const* s = sentence(r.rule); *s != 0; ++s) {
    if (s[0] == '{' && s[1] != 0 && s[2] == '}') {
      put_number(s[1] == 'x' ? r.x : r.y);
      s += 2;
    } else {
      put(*s);
    }
  }
  text[n] = 0;
  throw LayoutError(text, r);
}
}  // namespace detail
#endif

namespace detail {
/// Reports that a check failed at run time: throws LayoutError with the rule's message and the numbers x and
/// y on the host, traps on the device.
ZELLIGE_HOST_DEVICE inline void broken(Rule rule, long long x, long long y) {
#if defined(__CUDA_ARCH__)
  (void)rule, (void)x, (void)y;
  __trap();
#else
  throw_refusal({rule, x, y});
#endif
}
}  // namespace detail

}  // namespace zellige
