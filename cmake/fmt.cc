// Compiles fmt once: every other file only calls it.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// Templates that fmt's header leaves to the file that compiles it.
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;

}  // namespace detail
FMT_END_NAMESPACE
