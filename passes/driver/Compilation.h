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

class Compilation {
public:
  /// Both must outlive this.
  Compilation(const CompileOptions &options, const Listener &listener);

  /// Reads the model, or the dump of a phase.
  Outcome load();
  /// Runs the phases that come next, up to `last`; the writing of the bundle is
  /// none of them.
  Outcome advanceTo(Phase last);
  Outcome writeBundle(const std::string &bundle);
  /// Writes the ONNX model with what `4-shard`, which has just passed, decided.
  Outcome writeOnnx(const std::string &path);
  /// Runs `body`, whose crash becomes a defect in the current phase.
  Outcome runGuarded(llvm::function_ref<Outcome()> body);

  mlir::ModuleOp getModule() { return *module; }
  /// After a crash nothing here may be destroyed.
  bool hasCrashed() const { return crashed; }

  CompileReport report;

private:
  Listener keepNotes(const Listener &outside);
  Outcome internalError(const std::string &what);
  Outcome loadOnnx();
  Outcome loadText();
  Outcome checkInstructionSets();
  Outcome fitMemory();
  Outcome fitRecompute();
  bool canRunRest(mlir::ModuleOp copy, Phase first);
  Outcome runPhase(Phase phase);
  Outcome runPasses(Phase phase);
  Outcome dump(Phase phase);

  const CompileOptions &options;
  Listener listener;
  mlir::MLIRContext context;
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// What the current phase began with.
  mlir::OwningOpRef<mlir::ModuleOp> before;
  Phase current = Phase::Import;
  bool crashed = false;
};

/// `use` gets a compilation of `options`, which is not destroyed after a crash.
Outcome withCompilation(const CompileOptions &options, const Listener &listener,
                        llvm::function_ref<Outcome(Compilation &)> use);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_COMPILATION_H
