//===- CrashGuard.h - a crash of pcc becomes an answer --------------------===//

#ifndef PCC_PASSES_DRIVER_CRASHGUARD_H
#define PCC_PASSES_DRIVER_CRASHGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace pcc {

/// Runs `body`. Returns false if it crashed (a signal, an abort, memory that
/// ran out), with the reason in `why`; whatever it had touched must then
/// neither be used nor destroyed.
bool runsWithoutCrash(llvm::function_ref<void()> body, std::string &why);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_CRASHGUARD_H
