//===- FiniteCheck.cpp - finds the op that made a value not finite --------===//

#include "runtime/engine/FiniteCheck.h"
#include "runtime/comm/BroadcastText.h"
#include "runtime/engine/collective/QueueWait.h"
#include "runtime/engine/observe/InstructionText.h"
#include "runtime/program/InstructionOperands.h"
#include "runtime/tensor/NonFinite.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pcc::runtime {

/// Reason why a step is bad: the loss, the gradient norm or a trained weight is
/// not finite. If several reasons apply, the error message states the first one
/// in this order.
enum TroubleKind : int64_t { kBadLoss, kBadNorm, kBadWeights, kNoTrouble };

/// Kind of place at which a value that is not finite can appear first: a model
/// input, a weight, or the result of an instruction. The number is a part of
/// the sort key of a finding. Inputs thus come before weights, and weights come
/// before instructions.
enum Source : int64_t { kInput, kWeight, kInstruction };

FiniteCheck::FiniteCheck(const program::ProgramT &program,
                         const BufferTable &buffers, Device &device,
                         World &world)
    : program(program), buffers(buffers), device(device), world(world) {
  for (const auto &function : program.functions) {
    auto &lists = computed.emplace_back();
    for (const auto &instruction : function->instructions)
      lists.push_back(computedBuffersOf(*instruction));
    usual.emplace_back(lists.size(), 0);
  }
}

Status FiniteCheck::look(int32_t buffer, int64_t microbatch, unsigned &kinds) {
  const program::BufferT &facts = *program.buffers[size_t(buffer)];
  const ElementType type = typeOf(facts.type);
  const void *data = buffers.at(buffer, microbatch);
  // Skip a weight without an address: a library, such as oneDNN, keeps it in
  // its own memory format.
  if (!isFloat(type) || !data)
    return Status::success();
  const int64_t count = numElements(facts.shape);
  if (!device.sharesHostMemory()) {
    copy.resize(std::max(copy.size(), size_t(facts.bytes)));
    PCC_RETURN_IF_ERROR(waitForQueue(device, world));
    PCC_RETURN_IF_ERROR(
        device.download(copy.data(), data, size_t(facts.bytes)));
    data = copy.data();
  }
  kinds |= nonFiniteIn(type, data, count);
  return Status::success();
}

void FiniteCheck::note(unsigned kinds, const std::array<int64_t, 5> &place,
                       const std::string &text) {
  Key key = {kinds == kMinusInfinity ? 1 : 0};
  std::copy(place.begin(), place.end(), key.begin() + 1);
  key.back() = world.rank();
  if (hasFinding && first.key <= key)
    return;
  hasFinding = true;
  first = {key, nonFiniteText(kinds) + " " + text};
}

Status FiniteCheck::lookAtWeights(bool onlyTrained, bool &areBad) {
  areBad = false;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const program::BufferT &buffer = *program.buffers[i];
    if (buffer.memory != program::Memory::Parameter)
      continue;
    const program::ParameterT &weight =
        *program.parameters[size_t(buffer.index)];
    if (onlyTrained && !weight.trainable)
      continue;
    unsigned kinds = 0;
    PCC_RETURN_IF_ERROR(look(int32_t(i), 0, kinds));
    // In a weight that is not trained, only NaN counts, because a constant mask
    // may contain infinities.
    if (!weight.trainable)
      kinds &= kNan;
    areBad |= kinds != 0;
    if (kinds && !onlyTrained)
      note(kinds, {kWeight, 0, 0, 0, int64_t(i)},
           "is in weight '" + weight.name + "' before step " +
               std::to_string(step) + " (rank " + std::to_string(world.rank()) +
               ")");
  }
  return Status::success();
}

Status FiniteCheck::beginStep(int64_t number) {
  step = number;
  hasFinding = false;
  current.assign(usual.size(), {});
  for (size_t i = 0; i < usual.size(); ++i)
    current[i].assign(usual[i].size(), 0);
  bool areBad = false;
  if (!std::exchange(sawWeights, true))
    PCC_RETURN_IF_ERROR(lookAtWeights(/*onlyTrained=*/false, areBad));
  for (const auto &input : program.inputs) {
    if (input->buffer < 0)
      continue;
    const int32_t slots = program.buffers[size_t(input->buffer)]->slots;
    for (int64_t microbatch = 0; microbatch < slots; ++microbatch) {
      unsigned kinds = 0;
      PCC_RETURN_IF_ERROR(look(input->buffer, microbatch, kinds));
      if (kinds)
        note(kinds, {kInput, 0, microbatch, 0, input->buffer},
             "is in input '" + input->name + "' of step " +
                 std::to_string(step) + ", microbatch " +
                 std::to_string(microbatch) + " (rank " +
                 std::to_string(world.rank()) + ")");
    }
  }
  return Status::success();
}

/// Returns the number of the pass of a step to which an action belongs: 0 for
/// the all-gather of weights, 1 for the forward pass, 2 for the backward pass
/// or the gradients of inputs, 3 for the gradients of weights, 4 for the
/// update.
static int64_t passOf(program::ActionKind kind) {
  switch (kind) {
  case program::ActionKind::Unshard:
    return 0;
  case program::ActionKind::Backward:
  case program::ActionKind::InputGradient:
    return 2;
  case program::ActionKind::WeightGradient:
    return 3;
  case program::ActionKind::Update:
    return 4;
  default:
    return 1;
  }
}

Status FiniteCheck::see(size_t index, size_t number) {
  const program::ActionT &action = *program.actions[index];
  const auto function = size_t(action.function);
  unsigned kinds = 0;
  for (int32_t buffer : computed[function][number])
    PCC_RETURN_IF_ERROR(look(buffer, action.microbatch, kinds));
  current[function][number] |= kinds;
  kinds &= ~usual[function][number];
  if (!kinds)
    return Status::success();
  const int64_t pass = passOf(action.kind);
  const int64_t place = pass == 2 ? -action.stage : action.stage;
  const program::InstructionT &instruction =
      *program.functions[function]->instructions[number];
  // The update of a stage can consist of several actions. Each action numbers
  // its instructions from 0, so the index of the action must come first in the
  // order.
  const int64_t order =
      (pass == 4 ? int64_t(index) << 32 : 0) + int64_t(number);
  note(kinds, {kInstruction, pass, action.microbatch, place, order},
       "was made on rank " + std::to_string(world.rank()) + " in step " +
           std::to_string(step) +
           (pass == 4 ? ""
                      : ", microbatch " + std::to_string(action.microbatch)) +
           ", action " + nameOf(action) + " by " + describe(instruction) +
           (instruction.node.empty()
                ? ", which belongs to the loss or the optimizer"
                : ""));
  return Status::success();
}

bool FiniteCheck::scalesLoss() const {
  return std::any_of(
      program.outputs.begin(), program.outputs.end(),
      [](const auto &output) { return output->name == "loss_scale"; });
}

Status FiniteCheck::judge(const StepMetrics &metrics, Verdict &verdict) {
  bool areBad = false;
  PCC_RETURN_IF_ERROR(lookAtWeights(/*onlyTrained=*/true, areBad));
  const double loss = metrics.loss.value_or(0);
  const double norm = metrics.gradNorm.value_or(0);
  const bool hasBadNorm = !std::isfinite(norm) && !scalesLoss();
  verdict = {.trouble = !std::isfinite(loss) ? kBadLoss
                        : hasBadNorm         ? kBadNorm
                        : areBad             ? kBadWeights
                                             : kNoTrouble,
             .value = std::isfinite(loss) ? norm : loss,
             .hasFinding = hasFinding,
             .key = first.key};
  return Status::success();
}

void FiniteCheck::learn() {
  for (size_t i = 0; i < usual.size(); ++i)
    for (size_t k = 0; k < usual[i].size(); ++k)
      usual[i][k] |= current[i][k];
}

Status FiniteCheck::explain(const std::vector<Verdict> &verdicts) {
  const auto worst = std::min_element(
      verdicts.begin(), verdicts.end(),
      [](const Verdict &a, const Verdict &b) { return a.trouble < b.trouble; });
  const std::string after =
      " of step " + std::to_string(step) + " is " +
      nonFiniteText(nonFiniteIn(ElementType::F64, &worst->value, 1));
  Status status = Status::error(
      Diverged, worst->trouble == kBadLoss   ? "the loss" + after
                : worst->trouble == kBadNorm ? "the gradient norm" + after
                                             : "weights are not finite after "
                                               "step " +
                                                   std::to_string(step));
  int64_t origin = -1;
  for (size_t rank = 0; rank < verdicts.size(); ++rank)
    if (verdicts[rank].hasFinding &&
        (origin < 0 || verdicts[rank].key < verdicts[size_t(origin)].key))
      origin = int64_t(rank);
  if (origin < 0)
    return status;
  std::string text = first.text;
  PCC_RETURN_IF_ERROR(
      broadcastText(world, int(origin), text, {"step", "check-finite"}));
  status.addNote("the first " + text);
  return status;
}

Status FiniteCheck::endStep(const StepMetrics &metrics) {
  Verdict mine = {};
  PCC_RETURN_IF_ERROR(judge(metrics, mine));
  std::vector<Verdict> verdicts(size_t(world.size()));
  PCC_RETURN_IF_ERROR(world.all().allGather(&mine, verdicts.data(), sizeof mine,
                                            {"step", "check-finite"}));
  const bool isBad =
      std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict &verdict) {
        return verdict.trouble != kNoTrouble;
      });
  if (isBad)
    return explain(verdicts);
  // With a loss scale, an infinite or NaN gradient norm is no error, because
  // the step then changes no weight. But the infinities and NaN of such a step
  // are not usual values, and later steps must still report them. Therefore
  // call learn(), which records the usual kinds of values, only if the loss and
  // the gradient norm of each rank are finite.
  if (std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict &verdict) {
        return std::isfinite(verdict.value);
      }))
    learn();
  return Status::success();
}

} // namespace pcc::runtime
