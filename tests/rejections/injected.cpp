#include "injected.hpp"

#include <cstdlib>
#include <mutex>
#include <string>

#include "verify/proofs.hpp"

namespace zellige::verify {
namespace {

std::mutex mutex;
test::Reject reject_if;
int plans = 0, rejections = 0;

/// Plans are numbered from each change of the variable.
bool by_environment() {
  static std::string last;
  static int call = 0;
  const char* which = std::getenv("ZELLIGE_INJECTED");
  if (last != (which ? which : "")) last = which ? which : "", call = 0;
  ++call;
  return which && (last == "all" || std::to_string(call) == last);
}

}  // namespace

void verify_memory(const tile::TilePrograms& p) {
  const std::lock_guard lock(mutex);
  ++plans;
  if (!(reject_if ? reject_if(p, plans) : by_environment())) return;
  ++rejections;
  reject("{}: a rejection was injected", p.kernels.empty() ? p.name : p.kernels[0].name);
}

namespace test {

InjectedRejection::InjectedRejection(Reject r) {
  const std::lock_guard lock(mutex);
  reject_if = std::move(r), plans = rejections = 0;
}
InjectedRejection::~InjectedRejection() {
  const std::lock_guard lock(mutex);
  reject_if = nullptr;
}
int InjectedRejection::rejected() const {
  const std::lock_guard lock(mutex);
  return rejections;
}
int InjectedRejection::calls() const {
  const std::lock_guard lock(mutex);
  return plans;
}

}  // namespace test
}  // namespace zellige::verify
