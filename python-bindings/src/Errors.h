//===- Errors.h - conversion of errors to Python exceptions ---------------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_ERRORS_H
#define PCC_PYTHON_BINDINGS_SRC_ERRORS_H

#include "passes/Compile.h"

namespace pcc::python {

/// Raises `pcc.Error` with the message, notes and exit code of `status`; does
/// nothing on success. The caller must hold the GIL.
void check(const Status &status);

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_ERRORS_H
