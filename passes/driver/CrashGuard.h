//===- CrashGuard.h - conversion of crashes of pcc to errors --------------===//

#ifndef PCC_PASSES_DRIVER_CRASHGUARD_H
#define PCC_PASSES_DRIVER_CRASHGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace pcc {

/// Calls `body`. Returns true if `body` returns. Returns false if `body`
/// crashes, by a signal, an abort or exhausted memory, and sets `why` to the
/// reason in one line. After a crash, objects that `body` used may be
/// inconsistent and must be neither used nor destroyed. Calls may be nested.
bool runsWithoutCrash(llvm::function_ref<void()> body, std::string &why);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_CRASHGUARD_H
