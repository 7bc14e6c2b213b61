//===- Compilation.h - one model on its way through the phases ------------===//

#ifndef PCC_PASSES_DRIVER_COMPILATION_H
#define PCC_PASSES_DRIVER_COMPILATION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Listener.h"
#include "passes/Options.h"
#include "passes/driver/CompileReport.h"
#include "passes/driver/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Driver of one compilation: holds the module and runs the phases one after
/// the other, inside a crash guard. A crash becomes an internal error (exit
/// code 1) with a reproducer, the module on which it occurs. After a crash the
/// object must not be destroyed; withCompilation() takes care of that.
class Compilation {
public:
  /// Creates the MLIR context with all dialects of pcc. Both arguments must
  /// outlive the object.
  Compilation(const CompileOptions &options, const Listener &listener);

  /// Loads the file `options.model`: a model or, if its name ends in .mlir, a
  /// dump. Records the options in the module. For a dump, checks that they
  /// equal the recorded ones. Must be called first.
  Status load();
  /// Runs the phases after the module's current phase, up to and including
  /// `last`. With a memory limit, chooses weights to shard before 4-shard, and
  /// activations to recompute before 6-schedule. Does not write the bundle.
  Status advanceTo(Phase last);
  /// Writes the bundle, the directory that holds the compiled programs, to
  /// `bundle`. The module must have passed phase 7-emit.
  Status writeBundle(const std::string &bundle);
  /// Writes the ONNX model to `path`, with the decided shardings as
  /// annotations. The module must have passed phase 4-shard and no later phase.
  Status writeOnnx(const std::string &path);
  /// Calls `body` inside the crash guard and returns its status. If it
  /// crashes, returns an internal error that names the current phase.
  Status runGuarded(llvm::function_ref<Status()> body);

  /// Returns the module that is being compiled. load() must have succeeded.
  mlir::ModuleOp getModule() { return *module; }
  /// Returns whether a call inside the crash guard has crashed. The object must
  /// then not be destroyed, because its data may be inconsistent.
  bool hasCrashed() const { return crashed; }

  /// Times, notes and unsupported ops, which --report writes.
  CompileReport report;

private:
  /// Returns a listener that forwards notes to `outside` and adds them to the
  /// report. A note that occurs several times is forwarded and added once.
  Listener keepNotes(const Listener &outside);
  /// Writes a reproducer (the module at the start of the current phase).
  /// Returns the error (exit code 1) for a defect of pcc in that phase. `what`
  /// describes the defect.
  Status internalError(const std::string &what);
  /// Imports the .onnx file `options.model` as the module.
  Status loadOnnx();
  /// Parses the .mlir file `options.model` as the module, and checks that the
  /// options fit the dump.
  Status loadText();
  /// Runs the verification gate (rule check) of the phase of which the module
  /// is a dump. A broken rule is reported as an error in the file, because the
  /// user may have edited the dump.
  Status checkDump();
  /// Checks that the instruction sets named in --cpu exist.
  Status checkInstructionSets();
  /// Calls pcc::fitMemory for the module, which chooses weights to shard under
  /// a memory limit.
  Status fitMemory();
  /// Calls pcc::fitRecompute for the module, which chooses activations to
  /// recompute under a memory limit.
  Status fitRecompute();
  /// Runs the phase `first` and all later phases on `copy`. Drops their
  /// diagnostics. Returns whether all these phases succeed.
  bool canRunRest(mlir::ModuleOp copy, Phase first);
  /// Runs one phase, measures its time, and writes its dump if the user wants
  /// dumps.
  Status runPhase(Phase phase);
  /// Runs the passes of one phase. Returns the error if a pass fails.
  Status runPasses(Phase phase);
  /// Writes the module to the directory of --dump-ir, as the dump of `phase`.
  /// Does nothing if the user wants no dumps.
  Status dump(Phase phase);

  /// The user's options.
  const CompileOptions &options;
  /// Receives notes and progress; made by keepNotes().
  Listener listener;
  /// MLIR context of the module. Not multi-threaded.
  mlir::MLIRContext context;
  /// Collects the diagnostics of all passes.
  Diagnostics diagnostics;
  /// The module that is being compiled; null before load().
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Copy of the module from the start of the current phase, for a reproducer.
  /// Null during load().
  mlir::OwningOpRef<mlir::ModuleOp> before;
  /// The phase that is running or, between phases, the one that ran last.
  Phase current = Phase::Import;
  /// Whether a call inside the crash guard has crashed.
  bool crashed = false;
};

/// Creates a compilation with `options`, passes it to `use` and returns the
/// status of `use`. Destroys the compilation afterwards, unless it has
/// crashed.
Status withCompilation(const CompileOptions &options, const Listener &listener,
                       llvm::function_ref<Status(Compilation &)> use);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_COMPILATION_H
