//===- Errors.h - outcomes as exceptions of Python ------------------------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_ERRORS_H
#define PCC_PYTHON_BINDINGS_SRC_ERRORS_H

#include "passes/Compile.h"

namespace pcc::python {

/// Raises `pcc.Error` with message, notes and exit code unless all is well. The
/// interpreter's lock is held.
void check(const Outcome &outcome);
void check(const runtime::Status &status);

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_ERRORS_H
