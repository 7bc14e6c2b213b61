//===- MemoryUse.cpp - memory that each rank needs ------------------------===//

#include "passes/7-emit/bundle/MemoryUse.h"
#include "dialects/rank/RankDialect.h"
#include "runtime/base/QuantityText.h"
#include "runtime/program/StepMemory.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

int64_t PositionMemory::weightBytes() const {
  int64_t bytes = 0;
  for (const auto &[name, own] : weights)
    bytes += own;
  return bytes;
}

PositionMemory emit::memoryOf(const PositionProgram &program) {
  const runtime::RowMemory needed = runtime::memoryOf(program.tables);
  PositionMemory memory;
  for (const auto &parameter : program.tables.parameters)
    if (!runtime::isState(*parameter))
      memory.weights[parameter->name] += parameter->local_bytes;
  memory.state = needed.state;
  memory.arena = needed.arena;
  memory.gradients = program.gradientBytes;
  return memory;
}

std::vector<PositionMemory>
emit::memoryOf(const ModelFacts &facts,
               const std::vector<PositionProgram> &programs) {
  std::vector<PositionMemory> positions;
  for (auto [position, program] : llvm::enumerate(programs)) {
    positions.push_back(memoryOf(program));
    positions.back().stages = facts.stagesOf(static_cast<int>(position));
  }
  return positions;
}

Status emit::memoryOf(ModuleOp module, std::vector<PositionMemory> &positions) {
  std::optional<ModelFacts> facts;
  std::vector<PositionProgram> programs;
  PCC_RETURN_IF_ERROR(writePrograms(module, facts, programs));
  positions = memoryOf(*facts, programs);
  return Status::success();
}

/// Returns text such as "stage 0" or "stages 0 and 3".
static std::string stagesText(ArrayRef<int> stages) {
  std::string text = stages.size() > 1 ? "stages " : "stage ";
  for (auto [i, stage] : llvm::enumerate(stages))
    text += (i == 0                   ? ""
             : i + 1 == stages.size() ? " and "
                                      : ", ") +
            std::to_string(stage);
  return text;
}

/// Returns how often `number` can be divided by `divisor`; 0 for 0, which an
/// edited dump may have.
static int powerIn(int64_t number, int64_t divisor) {
  int power = 0;
  for (; number != 0 && number % divisor == 0; number /= divisor)
    ++power;
  return power;
}

/// Returns `bytes` as a whole number of kB, MB, GB or TB, the largest of them
/// that divides it. Returns an empty text if a number of KiB, MiB or GiB is as
/// round.
static std::string decimalText(int64_t bytes) {
  static constexpr const char *units[] = {"", " kB", " MB", " GB", " TB"};
  const int power = std::min(powerIn(bytes, 1000), 4);
  if (power <= powerIn(bytes, 1024))
    return "";
  for (int i = 0; i < power; ++i)
    bytes /= 1000;
  return std::to_string(bytes) + units[power];
}

/// Returns `limit` as text. A limit that was given in decimal units begins with
/// these: "1 MB, which is 976.6 KiB,". If `total`, which is larger, would have
/// the same text, appends the difference: "1.7 MiB (17 B too low)".
static std::string limitText(int64_t limit, int64_t total) {
  std::string text = runtime::bytesText(static_cast<double>(limit));
  if (const std::string decimal = decimalText(limit); !decimal.empty())
    text = decimal + ", which is " + text + ",";
  if (text != runtime::bytesText(static_cast<double>(total)))
    return text;
  return text + " (" + runtime::bytesText(static_cast<double>(total - limit)) +
         " too low)";
}

Status emit::checkMemory(ModuleOp module, ArrayRef<PositionMemory> positions) {
  auto limit = module->getAttrOfType<IntegerAttr>(rank::memoryLimitName);
  if (!limit)
    return Status::success();
  for (auto [position, memory] : llvm::enumerate(positions))
    if (memory.total() > limit.getInt())
      return Status::error(
          CannotMeet,
          "--memory-limit of " + limitText(limit.getInt(), memory.total()) +
              " cannot be met: a rank of position " + std::to_string(position) +
              " (" + stagesText(memory.stages) + ") holds " +
              runtime::bytesText(static_cast<double>(memory.total())) + ": " +
              runtime::bytesText(static_cast<double>(memory.weightBytes())) +
              (memory.state ? " of weights, " : " of weights ") +
              (memory.state
                   ? runtime::bytesText(static_cast<double>(memory.state)) +
                         " of the optimizer's state "
                   : std::string()) +
              "and an arena of " +
              runtime::bytesText(static_cast<double>(memory.arena)));
  return Status::success();
}
