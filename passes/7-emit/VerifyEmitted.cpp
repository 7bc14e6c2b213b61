//===- VerifyEmitted.cpp - the gate of phase 7-emit -----------------------===//

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
  /// Leaves `tables` empty where the device cannot run it: that is the user's
  /// to know, when the bundle is written.
  LogicalResult check(const ModelFacts &facts, int position,
                      std::optional<program::ProgramT> &tables) {
    PositionProgram program;
    runtime::Status status = writeProgram(facts, position, program);
    if (status.code() == runtime::Unsupported)
      return success();
    // Sizes of weight files are not known yet.
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

  /// All positions together.
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
    std::string missing;
    const auto facts = readFacts(getOperation(), missing);
    if (!facts) {
      getOperation().emitError()
          << "phase '7-emit' cannot read the module: " << missing;
      return signalPassFailure();
    }
    if (failed(check(*facts)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
