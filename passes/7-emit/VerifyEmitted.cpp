//===- VerifyEmitted.cpp - verifies the programs of all pipeline ranks ----===//

#include "dialects/diagnostics/EmitStatus.h"
#include "passes/7-emit/Passes.h"
#include "passes/7-emit/program/CommunicatorOrder.h"
#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/program/VerifyProgram.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "verify-emitted"

namespace pcc::emit {
#define GEN_PASS_DEF_VERIFYEMITTED
#include "passes/7-emit/Passes.h.inc"
} // namespace pcc::emit

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
struct VerifyEmitted : pcc::emit::impl::VerifyEmittedBase<VerifyEmitted> {
  /// Generates and verifies the program of the ranks with index `position`
  /// along the pipeline axis of the mesh. Moves the program into `tables`. If
  /// the device cannot run an op or the rank needs too much memory, succeeds
  /// with empty `tables`: writeBundle() reports these errors. Emits any other
  /// error and fails.
  LogicalResult check(const ModelFacts &facts, int position,
                      std::optional<program::ProgramT> &tables) {
    PositionProgram program;
    Status status = writeProgram(facts, position, program);
    if (status.code() == Unsupported || status.code() == CannotMeet)
      return success();
    // verifyProgram() reports an error if the program reads bytes beyond the
    // end of a weight file. The sizes of the weight files are not known yet.
    // Store the largest possible number as the size of each file, so that
    // verifyProgram() does not report such an error here.
    for (auto &file : program.tables.files)
      file->size = UINT64_MAX;
    if (status.ok())
      status = runtime::verifyProgram(
          program.tables, static_cast<int64_t>(program.constants.size()));
    if (status.failed())
      return getOperation().emitError()
             << "phase '7-emit' made a wrong program for position " << position
             << ": " << status.message();
    for (const auto &function : program.tables.functions)
      numInstructions += function->instructions.size();
    arenaBytes += program.tables.arena_bytes;
    LDBG() << "position " << position << ": " << program.tables.arena_bytes
           << " bytes of arena";
    tables = std::move(program.tables);
    return success();
  }

  /// Verifies the programs of all pipeline ranks. Also checks that ranks cannot
  /// deadlock (findDeadlock).
  LogicalResult check(const ModelFacts &facts) {
    std::vector<std::optional<program::ProgramT>> programs(
        facts.numPositions());
    std::vector<const program::ProgramT *> written;
    for (int position = 0; position < facts.numPositions(); ++position) {
      if (failed(check(facts, position, programs[position])))
        return failure();
      if (programs[position])
        written.push_back(&*programs[position]);
    }
    if (std::string disorder = findDeadlock(facts, written); !disorder.empty())
      return getOperation().emitError()
             << "ranks would wait for each other forever: " << disorder;
    return success();
  }

  void runOnOperation() override {
    const auto facts = readFacts(getOperation());
    if (!facts) {
      emitStatus(
          getOperation(),
          facts.status().prefixed("phase '7-emit' cannot read the module: "));
      return signalPassFailure();
    }
    if (failed(check(*facts)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
