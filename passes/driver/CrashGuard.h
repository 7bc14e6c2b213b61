//===- CrashGuard.h - conversion of crashes of pcc to errors --------------===//

#ifndef PCC_PASSES_DRIVER_CRASHGUARD_H
#define PCC_PASSES_DRIVER_CRASHGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace pcc {

/// Runs `body` and returns true, or returns false if it crashed: by a signal,
/// an abort or exhausted memory. `why` is then the reason in one line. Objects
/// that `body` used may be inconsistent after a crash, so they must neither be
/// used nor destroyed. Calls may be nested.
bool runsWithoutCrash(llvm::function_ref<void()> body, std::string &why);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_CRASHGUARD_H
