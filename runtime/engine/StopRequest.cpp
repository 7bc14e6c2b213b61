//===- StopRequest.cpp - SIGTERM and SIGINT while training ----------------===//

#include "runtime/engine/StopRequest.h"

#include <csignal>

namespace pcc::runtime {

static volatile std::sig_atomic_t requested = 0;

static void onSignal(int signal) { requested = signal; }

void listenForStop() {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  // The second one has its usual effect.
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

int stopRequested() { return requested; }

} // namespace pcc::runtime
