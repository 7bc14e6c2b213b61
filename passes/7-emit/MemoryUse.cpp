//===- MemoryUse.cpp - what every rank has to hold ------------------------===//

#include "passes/7-emit/MemoryUse.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/program/InspectText.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using runtime::Status;

int64_t PositionMemory::weightBytes() const {
  int64_t bytes = 0;
  for (const auto &[name, own] : weights)
    bytes += own;
  return bytes;
}

PositionMemory emit::memoryOf(const PositionProgram &program) {
  PositionMemory memory;
  for (const auto &parameter : program.tables.parameters)
    memory.weights[parameter->name] += parameter->local_bytes;
  memory.arena = program.tables.arena_bytes;
  return memory;
}

Status emit::memoryOf(ModuleOp module, std::vector<PositionMemory> &positions) {
  std::string missing;
  const std::optional<ModelFacts> facts = readFacts(module, missing);
  if (!facts)
    return Status::error(runtime::CannotRead,
                         "the module cannot be emitted: " + missing);
  for (int position = 0; position < facts->numPositions(); ++position) {
    PositionProgram program;
    if (Status status = writeProgram(*facts, position, program);
        status.failed())
      return status;
    positions.push_back(memoryOf(program));
  }
  return Status::success();
}

Status emit::checkMemory(ModuleOp module, ArrayRef<PositionMemory> positions) {
  auto limit = module->getAttrOfType<IntegerAttr>(memoryLimitName);
  if (!limit)
    return Status::success();
  for (auto [position, memory] : llvm::enumerate(positions))
    if (memory.total() > limit.getInt())
      return Status::error(
          runtime::CannotMeet,
          "--memory-limit of " + std::to_string(limit.getInt()) +
              " bytes cannot be met: a rank of position " +
              std::to_string(position) + " holds " +
              std::to_string(memory.total()) + ", " +
              runtime::bytesText(static_cast<double>(memory.weightBytes())) +
              " of weights and an arena of " +
              runtime::bytesText(static_cast<double>(memory.arena)));
  return Status::success();
}
