// The part of fmt that is compiled once. With it in the executable, libfmt.so is not needed where the
// executable runs. What it consists of is fmt 9's own affair; with another version the shared library stays.
#include <fmt/format.h>

#if FMT_VERSION >= 90000 && FMT_VERSION < 100000
#include <fmt/format-inl.h>

template auto fmt::detail::locale_ref::get<std::locale>() const -> std::locale;
template auto fmt::detail::thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl(locale_ref) -> char;
#endif
