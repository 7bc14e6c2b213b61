//===- Diagnostics.h - MLIR diagnostics as one error with notes -----------===//

#ifndef PCC_PASSES_DRIVER_DIAGNOSTICS_H
#define PCC_PASSES_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "passes/Listener.h"

namespace pcc {

/// Collects the diagnostics of an MLIR context while this object lives:
///  - keeps the first error, with notes that name its ONNX node and source
///    line;
///  - drops later errors, which are consequences of the first;
///  - passes warnings and remarks to the listener as notes.
class Diagnostics {
public:
  /// Registers a handler for the diagnostics of `context`. The handler keeps
  /// the first error. The handler passes each warning and each remark to
  /// `listener`, as a note for the user. The destructor removes the handler.
  /// `listener` must outlive this object.
  Diagnostics(mlir::MLIRContext *context, const Listener &listener);

  /// Returns the first error, with the exit code `code`. Called after the
  /// parser or a pass has failed. If the parser or the pass has failed without
  /// an error diagnostic, the cause is a defect of pcc. In this case, returns
  /// an error with exit code 1 instead of `code`.
  Status status(ExitCode code) const;

private:
  /// Receives one diagnostic. Always returns success, so that no other handler
  /// gets the diagnostic.
  mlir::LogicalResult take(mlir::Diagnostic &diagnostic);

  /// Receives warnings and remarks as notes.
  const Listener &listener;
  /// Message of the first error; empty if there was none.
  std::string message;
  /// Notes of the first error.
  std::vector<std::string> notes;
  /// Registration of `take` as a diagnostic handler. Must be the last member,
  /// so that it is destroyed first.
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DIAGNOSTICS_H
