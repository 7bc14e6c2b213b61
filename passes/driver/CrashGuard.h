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

/// Calls `body` and returns how the call has ended:
///  - Returned: `body` has returned.
///  - Exhausted: `body` has failed because memory or another resource of the
///    system was exhausted.
///  - Crashed: `body` has failed for another reason, such as the signal
///    SIGSEGV, a call of abort() or an uncaught exception.
///
/// If `body` has failed, sets `why` to the reason in one line. Objects that
/// `body` used may then be in an invalid state. The caller must neither use nor
/// destroy these objects.
///
/// `body` may call runsWithoutCrash(), too. If `body` starts a thread and this
/// thread crashes, the process ends.
GuardedEnd runsWithoutCrash(llvm::function_ref<void()> body, std::string &why);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_CRASHGUARD_H
