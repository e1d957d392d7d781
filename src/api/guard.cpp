#include "api/guard.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "graph/error.hpp"
#include "graph/shown.hpp"
#include "view/expression.hpp"

namespace zellige::api {
namespace {

thread_local std::string last_error;

zellige_status refused(zellige_status status, const char* why) {
  try {
    last_error = graph::shown_lines(why);
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return status;
}

}  // namespace

zellige_status guarded(const std::function<void()>& work) {
  try {
    work();
    return ZELLIGE_OK;
  } catch (const Fault& e) {
    return refused(ZELLIGE_FAILED, e.what());
  } catch (const view::ExpressionError& e) {
    return refused(ZELLIGE_REFUSED, e.sentence.c_str());
  } catch (const std::bad_alloc&) {
    return refused(ZELLIGE_REFUSED, "this takes more memory than the machine has left");
  } catch (const std::exception& e) {
    return refused(ZELLIGE_REFUSED, e.what());
  } catch (...) {
    return refused(ZELLIGE_FAILED, "an error of no known kind");
  }
}

char* text_copy(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace zellige::api

using namespace zellige::api;

int zellige_api_version(void) { return ZELLIGE_API_VERSION; }
const char* zellige_version(void) { return ZELLIGE_VERSION; }
const char* zellige_last_error(void) { return last_error.c_str(); }
void zellige_text_free(char* text) { std::free(text); }
