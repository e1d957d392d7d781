// Compiles the part of the fmt library that is not header-only into the executable, so that libfmt.so is not
// needed at run time. The explicit template instantiations below are those of fmt 9; with other versions of
// fmt, the shared library is used.
#include <fmt/format.h>

#if FMT_VERSION >= 90000 && FMT_VERSION < 100000
#include <fmt/format-inl.h>

template auto fmt::detail::locale_ref::get<std::locale>() const -> std::locale;
template auto fmt::detail::thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl(locale_ref) -> char;
#endif
