//===- CrashGuard.h - conversion of crashes of pcc to errors --------------===//

#ifndef PCC_PASSES_DRIVER_CRASHGUARD_H
#define PCC_PASSES_DRIVER_CRASHGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace pcc {

/// Outcome of runsWithoutCrash().
enum class GuardedEnd {
  Returned,  ///< the function has returned
  Exhausted, ///< memory or another resource of the system was exhausted
  Crashed    ///< the function has crashed, by a signal or an abort
};

/// Calls `body` and returns how the call has ended. After a failure, `why` is
/// the reason in one line, and objects that `body` used must be neither used
/// nor destroyed. Calls may be nested. A crash of a thread that `body` starts
/// ends the process.
GuardedEnd runsWithoutCrash(llvm::function_ref<void()> body, std::string &why);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_CRASHGUARD_H
