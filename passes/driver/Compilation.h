//===- Compilation.h - one model on its way through the phases ------------===//

#ifndef PCC_PASSES_DRIVER_COMPILATION_H
#define PCC_PASSES_DRIVER_COMPILATION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Options.h"
#include "passes/Outcome.h"
#include "passes/driver/CompileReport.h"
#include "passes/driver/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Driver of one compilation: holds the module and runs the phases one after
/// another. All passes run inside a crash guard. A crash becomes an internal
/// error (exit code 1) with a reproducer, and the object must then not be
/// destroyed; withCompilation() takes care of that.
class Compilation {
public:
  /// Creates the MLIR context with all dialects. Both arguments must outlive
  /// the object.
  Compilation(const CompileOptions &options, const Listener &listener);

  /// Reads the model, or a dump if the file ends in .mlir. Records the options
  /// in the module; for a dump, checks that they are equal to the recorded
  /// ones. Must be called first.
  Outcome load();
  /// Runs the phases that follow the module's current one, up to and including
  /// `last`. Before 4-shard, chooses weights to shard under a memory limit;
  /// before 6-schedule, chooses activations to recompute. Does not write the
  /// bundle.
  Outcome advanceTo(Phase last);
  /// Writes the bundle to the folder `bundle`. The module must have passed
  /// 7-emit.
  Outcome writeBundle(const std::string &bundle);
  /// Writes the ONNX model with the decided shardings as annotations to `path`.
  /// The module must have passed 4-shard, and no later phase.
  Outcome writeOnnx(const std::string &path);
  /// Runs `body` inside the crash guard. A crash becomes an internal error in
  /// the current phase.
  Outcome runGuarded(llvm::function_ref<Outcome()> body);

  /// Returns the module. load() must have succeeded.
  mlir::ModuleOp getModule() { return *module; }
  /// Returns whether a guarded call has crashed. The object must then not be
  /// destroyed, because its data may be inconsistent.
  bool hasCrashed() const { return crashed; }

  /// Times, notes and unsupported ops for --report.
  CompileReport report;

private:
  /// Returns a listener that forwards to `outside`, drops repeated notes, and
  /// also adds notes to the report.
  Listener keepNotes(const Listener &outside);
  /// Returns the error for a defect of pcc in the current phase, after writing
  /// a reproducer.
  Outcome internalError(const std::string &what);
  /// Imports an .onnx file.
  Outcome loadOnnx();
  /// Parses an .mlir file and checks that the options fit the dump.
  Outcome loadText();
  /// Checks the names in --cpu.
  Outcome checkInstructionSets();
  /// Runs pcc::fitMemory on the module.
  Outcome fitMemory();
  /// Runs pcc::fitRecompute on the module.
  Outcome fitRecompute();
  /// Runs the phases from `first` to the last on `copy` without reporting
  /// diagnostics. Returns whether all succeed.
  bool canRunRest(mlir::ModuleOp copy, Phase first);
  /// Runs one phase, including its gate, its time measurement and its dump.
  Outcome runPhase(Phase phase);
  /// Runs the passes of one phase and converts a failure to an outcome.
  Outcome runPasses(Phase phase);
  /// Writes the module to the folder of dumps, if the user wants dumps.
  Outcome dump(Phase phase);

  /// Options of the user.
  const CompileOptions &options;
  /// Listener with the notes of keepNotes().
  Listener listener;
  /// Context of the module. It is single-threaded.
  mlir::MLIRContext context;
  /// Collector of the diagnostics of all passes.
  Diagnostics diagnostics;
  /// The module; null before load().
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Copy of the module at the start of the current phase, for reproducers;
  /// null during load().
  mlir::OwningOpRef<mlir::ModuleOp> before;
  /// The phase that is running or ran last.
  Phase current = Phase::Import;
  /// Result of hasCrashed().
  bool crashed = false;
};

/// Calls `use` with a new compilation of `options` and returns its outcome. The
/// compilation is destroyed afterwards, unless it has crashed.
Outcome withCompilation(const CompileOptions &options, const Listener &listener,
                        llvm::function_ref<Outcome(Compilation &)> use);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_COMPILATION_H
