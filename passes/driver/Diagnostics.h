//===- Diagnostics.h - MLIR diagnostics as one error with notes -----------===//

#ifndef PCC_PASSES_DRIVER_DIAGNOSTICS_H
#define PCC_PASSES_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "passes/Listener.h"

namespace pcc {

/// Handles the diagnostics of an MLIR context while this object lives. Keeps
/// the first error, with notes about its ONNX node and source line. Drops later
/// errors, because the first error has probably caused them. Passes warnings
/// and remarks to the user as notes.
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
  /// Calls take() for each diagnostic of the MLIR context. take() uses the
  /// other members of this class. C++ destroys the last member first. Therefore
  /// `handler` must be the last member. Otherwise, `handler` could call take()
  /// after the other members are destroyed.
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DIAGNOSTICS_H
