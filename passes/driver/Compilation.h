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

/// Compiles one model. Holds the model as an MLIR module, and runs the phases
/// 1-import to 7-emit on it. A crash becomes an error, which usually names a
/// file with which a developer can reproduce the crash. After a crash, the
/// object must not be destroyed, because its data may be inconsistent (see
/// withCompilation()).
class Compilation {
public:
  /// Creates the MLIR context with all dialects of pcc. Both arguments must
  /// outlive the object.
  Compilation(const CompileOptions &options, const Listener &listener);

  /// Reads `options.model`: an .onnx model, an .mlir model in pcc's graph
  /// dialect, or a dump (the module after a phase). Must be called first.
  /// Returns an error if an option that changes the result contradicts the
  /// dump. The user may omit options that the dump records.
  Status load();
  /// Checks that the weight files exist which a dump names. For a bundle or the
  /// reference evaluator, which read them. An error has exit code 3 and names a
  /// line of the dump. Must be called after load().
  Status requireWeights();
  /// Does the same as load(), with one exception: the location of each op of an
  /// .mlir file includes its line and column in the file, so that errors of
  /// later phases name them. The module must not be written to a file, because
  /// its text would contain these locations.
  Status loadWithPlaces();
  /// Runs the phases that the module has not passed, up to and including
  /// `last`. With --memory-limit, may also shard weights (ZeRO) and limit the
  /// activations that ranks keep. Writes no bundle.
  Status advanceTo(Phase last);
  /// Writes the bundle, the directory that holds the compiled programs, to
  /// `bundle`. The module must have passed phase 7-emit. `explanation` becomes
  /// the file explain.json of the bundle; if empty, there is no such file.
  /// Passes a summary of the bundle to Listener::onResult.
  Status writeBundle(const std::string &bundle,
                     const std::string &explanation = {});
  /// Writes a copy of the ONNX model to the file `path`, and adds shardings and
  /// pipeline stages to the copy. Phase 4-shard has chosen the shardings. Phase
  /// 4-shard must be the last phase that the module has passed. If the module
  /// has passed a later phase, the function returns an error with exit code 2.
  Status writeOnnx(const std::string &path);
  /// Writes the module as text to the file `path`, or to stdout if `path` is
  /// "-". If `path` is empty and the user asks for no other file, notes that
  /// nothing is written.
  Status writeText(const std::string &path);
  /// Calls `body` and returns its status. A crash because memory is exhausted
  /// gives exit code 13. Any other crash, or exit code 1 of `body`, gives the
  /// error of internalError().
  Status runGuarded(llvm::function_ref<Status()> body);

  /// Returns the module that is being compiled. load() must have succeeded.
  mlir::ModuleOp getModule() { return *module; }
  /// Returns whether a function that runGuarded() called has crashed. The
  /// object must then not be destroyed, because its data may be inconsistent.
  bool hasCrashed() const { return crashed; }

  /// Times, notes and unsupported ops, which --report writes.
  CompileReport report;

private:
  /// Returns a listener that receives the notes of the passes. A note is a text
  /// for the user. The new listener passes each note to `outside`, the listener
  /// of the user, and adds the note to the report. If an equal note comes
  /// later, the new listener ignores the later note.
  Listener keepNotes(const Listener &outside);
  /// Returns the error for a defect of pcc in the current phase. `what`
  /// describes the defect in one line. The exit code is 1. It is 3 if the input
  /// is an edited or handwritten .mlir file, because the cause may be in this
  /// file.
  Status internalError(const std::string &what);
  /// Reads `options.model` as the module.
  Status loadFile();
  /// Makes the transformer that `options.transformer` describes.
  Status makeModel();
  /// Imports the .onnx file `options.model` as the module.
  Status loadOnnx();
  /// Parses the .mlir file `options.model`, a dump or a model in pcc's graph
  /// dialect. Returns an error if an option contradicts the dump (see load()),
  /// if pcc must not read a weight file (see checkWeightFiles()), or if
  /// checkDump() fails.
  Status loadText();
  /// Checks that no output replaces the model, a file of its weights, another
  /// input or another output. If one would, returns an error and withholds the
  /// report.
  Status keepInputs();
  /// Parses the .mlir file again. In the returned module, the location of each
  /// op includes its line and column in the file. Afterwards, an error at an op
  /// without such a location names the line and column of the module instead.
  mlir::OwningOpRef<mlir::ModuleOp> readPlaced();
  /// Returns whether `check`, which may emit errors, accepts the module, which
  /// was read from an .mlir file. The locations in the module are usually
  /// places in the original model. If `check` fails, its errors are therefore
  /// dropped, and those are taken that it emits for the module with its lines
  /// as locations.
  bool fulfils(llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp)> check);
  /// Checks a module from an .mlir file, which may be edited. The module must
  /// obey limits of pcc, such as at most 65,536 ranks. The gate (verification
  /// pass) of its last phase must accept it. An error has exit code 3 and names
  /// a line of the file.
  Status checkDump();
  /// Checks the option --cpu, which names instruction sets such as x86-64-v3.
  /// pcc compiles the CPU kernels for these instruction sets. Returns an error
  /// with exit code 2 if pcc does not know an instruction set.
  Status checkInstructionSets();
  /// Changes the module so that each rank meets --memory-limit, if given.
  /// First, ranks keep no values from one microbatch to the next. If this is
  /// not enough, ranks hold shards of some weights (ZeRO). Returns exit code 6
  /// if a rank needs too much memory even after all weights are sharded.
  Status fitMemory();
  /// Chooses how many bytes of activations each rank may keep for the backward
  /// pass, so that each rank needs at most the memory that the option
  /// --memory-limit allows. Later, in the backward pass, the rank computes all
  /// other activations again. The function does this only if the user gives
  /// --memory-limit and --recompute auto. Returns exit code 6 if a rank needs
  /// too much memory even with as much recomputation as possible.
  Status fitRecompute();
  /// Runs the phase `first` and all later phases on `copy`, a copy of the
  /// module. Emits no diagnostics. Returns whether all these phases succeed.
  /// The callers use the function to find out how much memory a rank needs.
  bool canRunRest(mlir::ModuleOp copy, Phase first);
  /// Runs the phases that the module has not passed, up to and including
  /// `last`.
  Status runPhases(Phase last);
  /// Returns `status`, the result of load() or of runPhases() up to `last`. If
  /// it is an error about an edited dump (exit code 3 or 6), adds the line and
  /// column to which the error refers.
  Status placed(const Status &status, Phase last);
  /// Returns the error `unplaced` with the line and column in the .mlir file to
  /// which the error refers. To find them, compiles the file again up to
  /// `last`. If the second compilation does not fail with the same exit code,
  /// returns `unplaced` unchanged.
  Status findPlace(const Status &unplaced, Phase last);
  /// Returns `status`. If `status` is an error about an edited dump (exit code
  /// 3 or 6) and names no line of the dump, adds the line and column of the
  /// module.
  Status located(Status status) const;
  /// Runs one phase and measures its time. Writes the dump of the phase if
  /// --dump-ir is given.
  Status runPhase(Phase phase);
  /// Runs the passes of one phase.
  Status runPasses(Phase phase);
  /// Returns the path of the dump of `phase` in the directory of --dump-ir.
  std::string dumpPath(Phase phase) const;
  /// Writes the module to the directory of --dump-ir, as the dump of `phase`.
  /// Does nothing without --dump-ir.
  Status dump(Phase phase);
  /// Returns the line of a result about the files of --dump-ir, which begins
  /// with a line break; "" without the option.
  std::string dumpsText() const;

  /// The user's options.
  const CompileOptions &options;
  /// Receives the notes and the progress of this compilation and forwards them
  /// to the user's listener. Drops repeated notes.
  Listener listener;
  /// MLIR context of the module. Not multi-threaded.
  mlir::MLIRContext context;
  /// Collects the diagnostics of all passes.
  Diagnostics diagnostics;
  /// Path and text of the .mlir file that load() has read. Both are empty if
  /// load() has read an .onnx file.
  ModuleText source;
  /// Whether load() has read an .mlir file that may have been edited or written
  /// by hand. With the option --dump-ir, pcc writes the module after each phase
  /// to an .mlir file. At the end of the file, pcc writes a hash of the text.
  /// If load() reads an .mlir file whose hash is missing or wrong, this member
  /// becomes true. pcc then writes no hash to the .mlir files that it makes
  /// from this file.
  bool isUnsealed = false;
  /// Whether load() has read a dump, the module after some phase.
  bool isDump = false;
  /// Whether the locations in the module include lines and columns of the .mlir
  /// file, see loadWithPlaces().
  bool hasPlaces = false;
  /// The module that is being compiled; null before load().
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Copy of the module, made at the start of the current phase. If the phase
  /// crashes or shows another defect of pcc, pcc writes the copy to a file. A
  /// developer can then run the phase on this file again. Null during load(),
  /// because no phase has started.
  mlir::OwningOpRef<mlir::ModuleOp> before;
  /// The phase that is running or, between phases, the one that ran last.
  Phase current = Phase::Import;
  /// Whether a function that runGuarded() called has crashed.
  bool crashed = false;
};

/// Creates a Compilation object with `options` and `listener`, and calls the
/// function `use` with this object. Returns the status that `use` returns.
/// Destroys the object after the call. There is one exception: if the
/// compilation has crashed, the object is not destroyed, because its data may
/// be inconsistent.
Status withCompilation(const CompileOptions &options, const Listener &listener,
                       llvm::function_ref<Status(Compilation &)> use);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_COMPILATION_H
