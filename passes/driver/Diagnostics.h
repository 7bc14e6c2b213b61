//===- Diagnostics.h - MLIR diagnostics as one error with notes -----------===//

#ifndef PCC_PASSES_DRIVER_DIAGNOSTICS_H
#define PCC_PASSES_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "passes/Listener.h"
#include "passes/driver/ReadModule.h"

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

  /// Lets each error begin with its place in the .mlir file `text`, which must
  /// outlive this object. An error whose location is no place in this file gets
  /// the place `otherwise`.
  void locateIn(const ModuleText &text, mlir::Location otherwise);
  /// Ends the effect of locateIn(): errors have no place any more.
  void locateNowhere();

  /// Returns the first error, with the exit code `code`. The text of the error
  /// is the place in the .mlir file (if locateIn() was called), then `claim`,
  /// then the text of the MLIR diagnostic. Must be called only after the parser
  /// or a pass has failed. If it has failed without an error diagnostic, the
  /// cause is a defect of pcc. In this case, returns an error with exit code 1
  /// instead of `code`.
  Status status(ExitCode code, const std::string &claim = "") const;
  /// Returns the place of `location` in the .mlir file that was passed to
  /// locateIn(), such as "ir/4-shard.mlir:12:5: ". If `location` is not in this
  /// file, returns the place of the location `otherwise` that was passed to
  /// locateIn(). Returns an empty string if locateIn() was not called.
  std::string placeOf(mlir::Location location) const;

private:
  /// Receives one diagnostic. Always returns success, so that no other handler
  /// gets the diagnostic.
  mlir::LogicalResult take(mlir::Diagnostic &diagnostic);

  /// Receives warnings and remarks as notes.
  const Listener &listener;
  /// Arguments of locateIn(): `file` is the path of the .mlir file, and
  /// `elsewhere` is the place for errors that have no place in this file, such
  /// as "ir/4-shard.mlir:1:1: ". Both are empty if locateIn() was not called.
  std::string file, elsewhere;
  /// Text of the file; empty if locateIn() was not called.
  llvm::StringRef source;
  /// Place of the first error, as placeOf() returns it. Empty if locateIn() was
  /// not called.
  std::string place;
  /// Message of the first error without its place; empty if there was none.
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
