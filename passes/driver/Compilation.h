//===- Compilation.h - one model on its way through the phases ------------===//

#ifndef PCC_PASSES_DRIVER_COMPILATION_H
#define PCC_PASSES_DRIVER_COMPILATION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Listener.h"
#include "passes/Options.h"
#include "passes/driver/CompileReport.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/ReadModule.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Driver of one compilation: holds the module and runs the phases in order. A
/// crash in a phase becomes an internal error (exit code 1) with the module as
/// reproducer. After a crash, the object must not be destroyed; see
/// withCompilation().
class Compilation {
public:
  /// Creates the MLIR context with all dialects of pcc. Both arguments must
  /// outlive the object.
  Compilation(const CompileOptions &options, const Listener &listener);

  /// Loads the file `options.model`: an .onnx model, a .mlir model, or a dump
  /// (the module after a phase). For a model, records the options as attributes
  /// of the module. For a dump, checks that the options equal those that the
  /// dump records. Must be called first.
  Status load();
  /// Runs the phases after the module's current phase, up to and including
  /// `last`. Under a memory limit, chooses weights to shard before 4-shard.
  /// With --recompute auto, chooses activations to recompute before 6-schedule.
  /// Does not write the bundle.
  Status advanceTo(Phase last);
  /// Writes the bundle, the directory that holds the compiled programs, to
  /// `bundle`. The module must have passed phase 7-emit.
  Status writeBundle(const std::string &bundle);
  /// Writes the ONNX model to `path`, with the decided shardings as
  /// annotations. The module must have passed phase 4-shard and no later phase.
  Status writeOnnx(const std::string &path);
  /// Calls `body` inside the crash guard and returns its status. After a crash
  /// or a defect in `body`, returns an internal error that names the current
  /// phase.
  Status runGuarded(llvm::function_ref<Status()> body);

  /// Returns the module that is being compiled. load() must have succeeded.
  mlir::ModuleOp getModule() { return *module; }
  /// Returns whether a function that runGuarded() called has crashed. The
  /// object must then not be destroyed, because its data may be inconsistent.
  bool hasCrashed() const { return crashed; }

  /// Times, notes and unsupported ops, which --report writes.
  CompileReport report;

private:
  /// Returns a listener that forwards notes to `outside` and adds them to the
  /// report. A note that occurs several times is forwarded and added once.
  Listener keepNotes(const Listener &outside);
  /// Returns the error for a failure of the current phase, described by `what`:
  ///  - exit code 3 if the input is a .mlir file that was edited or written by
  ///    hand;
  ///  - otherwise exit code 1 (defect of pcc), with the module at the start of
  ///    the phase as reproducer.
  Status internalError(const std::string &what);
  /// Imports the .onnx file `options.model` as the module.
  Status loadOnnx();
  /// Parses the .mlir file `options.model` as the module, and checks that the
  /// options fit it.
  Status loadText();
  /// Checks a module that was read from a .mlir file. The module must obey the
  /// rules of checkDumpRules() and pass the check that ends its last phase.
  /// Otherwise, returns an error about the file (exit code 3).
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
  /// Runs one phase and measures its time. Writes the dump of the phase if
  /// --dump-ir is given.
  Status runPhase(Phase phase);
  /// Runs the passes of one phase.
  Status runPasses(Phase phase);
  /// Writes the module to the directory of --dump-ir, as the dump of `phase`.
  /// Does nothing without --dump-ir.
  Status dump(Phase phase);

  /// The user's options.
  const CompileOptions &options;
  /// Receives the notes and the progress of this compilation and forwards them
  /// to the user's listener. Drops repeated notes.
  Listener listener;
  /// MLIR context of the module. Not multi-threaded.
  mlir::MLIRContext context;
  /// Collects the diagnostics of all passes.
  Diagnostics diagnostics;
  /// The .mlir file that load() has read; empty for other models.
  ModuleText source;
  /// Whether the input is a .mlir file that was edited or written by hand.
  bool isUnsealed = false;
  /// The module that is being compiled; null before load().
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Copy of the module from the start of the current phase, for a reproducer.
  /// Null during load().
  mlir::OwningOpRef<mlir::ModuleOp> before;
  /// The phase that is running or, between phases, the one that ran last.
  Phase current = Phase::Import;
  /// Whether a function that runGuarded() called has crashed.
  bool crashed = false;
};

/// Creates a compilation with `options`, passes it to `use` and returns the
/// status of `use`. Then destroys the compilation, except after a crash: its
/// data may be inconsistent.
Status withCompilation(const CompileOptions &options, const Listener &listener,
                       llvm::function_ref<Status(Compilation &)> use);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_COMPILATION_H
