#include "api/guard.hpp"

#include <exception>
#include <new>
#include <system_error>

#include "graph/shown.hpp"
#include "kernel/rejections.hpp"
#include "view/expression.hpp"

namespace zellige::api {
namespace {

thread_local std::string last_error;

/// Stores `why` as the message that zellige_last_error returns to this thread, and returns `status`.
zellige_status kept(zellige_status status, std::string_view why) noexcept {
  try {
    last_error = graph::shown_lines(why);
  } catch (...) {
    last_error.clear();
  }
  return status;
}

/// Stores a message that reports a bug of Zellige, and returns ZELLIGE_FAILED. `what`: the message of the
/// exception, which only a bug can cause.
zellige_status ours(const char* what) noexcept {
  try {
    return kept(ZELLIGE_FAILED, fmt::format("Zellige's own fault: {}", what));
  } catch (...) {
    return kept(ZELLIGE_FAILED, "");
  }
}

}  // namespace

zellige_status caught() noexcept {
  constexpr const char* no_memory = "this takes more memory than the machine has left";
  try {
    throw;
  } catch (const Rejected& e) {
    return kept(ZELLIGE_FAILED, kernel::told(e));
  } catch (const Fault& e) {
    return kept(ZELLIGE_FAILED, e.what());
  } catch (const view::ExpressionError& e) {
    return kept(ZELLIGE_REFUSED, e.sentence);
  } catch (const Error& e) {
    return kept(ZELLIGE_REFUSED, e.what());
  } catch (const std::bad_alloc&) {
    return kept(ZELLIGE_EXHAUSTED, no_memory);
  } catch (const std::length_error&) {  // a container larger than any memory
    return kept(ZELLIGE_EXHAUSTED, no_memory);
  } catch (const std::system_error& e) {  // files and threads: the machine is at fault
    return kept(ZELLIGE_EXHAUSTED, e.what());
  } catch (const std::exception& e) {
    return ours(e.what());
  } catch (...) {
    return ours("an exception of no known kind");
  }
}

}  // namespace zellige::api

using namespace zellige::api;

int zellige_api_version(void) { return ZELLIGE_API_VERSION; }
const char* zellige_version(void) { return ZELLIGE_VERSION; }
const char* zellige_last_error(void) { return last_error.c_str(); }
