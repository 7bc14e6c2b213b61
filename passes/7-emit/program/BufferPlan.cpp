//===- BufferPlan.cpp - memory plan of one pipeline rank ------------------===//

#include "passes/7-emit/program/BufferPlan.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/kernel/Plan.h"
#include "passes/7-emit/program/ConstantBytes.h"
#include "passes/plan/memory/Arena.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns `bytes` rounded up to a multiple of the alignment of buffers.
static int64_t aligned(int64_t bytes) {
  return (bytes + runtime::kAlignment - 1) / runtime::kAlignment *
         runtime::kAlignment;
}

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

int64_t BufferPlan::ValueStorage::stride() const { return aligned(bytes); }

BufferPlan::BufferPlan(const ModelFacts &facts, int position,
                       program::ProgramT &program)
    : facts(facts), position(position), program(program),
      parameterList(facts, program), inputs(facts.inputs.size(), -1),
      outputs(facts.outputs.size(), -1), sent(facts.transfers.size(), -1),
      received(facts.transfers.size(), -1), inputTypes(facts.inputs.size()),
      outputTypes(facts.outputs.size()), stepIndex(facts, position),
      line(facts.pipeline.positions[position]) {}

//===----------------------------------------------------------------------===//
// Storages of values
//===----------------------------------------------------------------------===//

int BufferPlan::newStorage(Value value) {
  ValueStorage &storage = storages.emplace_back();
  storage.bytes = bytesOf(tensorOf(value));
  storage.name = graph::nodeName(value.getLoc()).str();
  return static_cast<int>(storages.size()) - 1;
}

/// Returns the index of the storage (range of bytes) of parameter number
/// `parameter`, such as a weight. The first call for a parameter creates the
/// storage, with the size of `value`. `value` is an SSA value that is read from
/// the parameter or written to the parameter. All stages of the rank share the
/// storage.
int BufferPlan::storageOfParameter(int32_t parameter, Value value) {
  auto [entry, isNew] = parameterStorages.try_emplace(parameter, -1);
  if (!isNew)
    return entry->second;
  entry->second = newStorage(value);
  storages[entry->second].memory = program::Memory::Parameter;
  storages[entry->second].parameter = parameter;
  return entry->second;
}

/// Returns the index of a new storage for `constant`. A storage is a range of
/// bytes. The bytes of all constants of the program lie one after another in
/// the member `constantBytes`. The function appends the bytes of `constant` to
/// `constantBytes`. Exception: if an earlier constant has equal bytes, the
/// function appends nothing, and both constants share the bytes.
int BufferPlan::constantStorage(graph::ConstantOp constant) {
  const std::string bytes = constantBytesOf(constant.getValue());
  auto [entry, isNew] = constantOffsets.insert(
      {bytes, aligned(static_cast<int64_t>(constantBytes.size()))});
  if (isNew) {
    constantBytes.resize(entry->second);
    for (char byte : bytes)
      constantBytes.push_back(static_cast<std::byte>(byte));
  }
  const int storage = newStorage(constant.getResult());
  storages[storage].memory = program::Memory::Constant;
  storages[storage].offset = entry->second;
  return storage;
}

/// Returns whether the op that reads `value` may overwrite the bytes of
/// `value`. No other op may read `value`. An op must compute `value`: a weight,
/// a constant or a function argument must not be overwritten. If `value` is the
/// result of a reshape, the operand of the reshape has the same bytes and must
/// meet the same conditions.
bool BufferPlan::mayReuse(Value value) const {
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (!value.hasOneUse() || !op || op->hasTrait<graph::IsStored>())
      return false;
    if (!isa<graph::ReshapeOp>(op))
      return true;
    value = op->getOperand(0);
  }
}

int BufferPlan::storageFor(Value value, func::FuncOp function) {
  Operation *op = value.getDefiningOp();
  if (auto sum = accumulators.find(value); sum != accumulators.end())
    return sum->second;
  if (auto get = dyn_cast<graph::GetParameterOp>(op))
    return storageOfParameter(parameterList.add(get), value);
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return constantStorage(constant);
  if (isa<graph::ReshapeOp>(op))
    return storageOf.at(op->getOperand(0));
  if (auto collective = dyn_cast<dist::CollectiveOp>(op))
    return storageForMoved(collective, function);
  if (auto receive = dyn_cast<pipe::ReceiveOp>(op))
    return storageForReceived(receive, function);
  if (const int weight = storageOfUpdated(value); weight >= 0)
    return weight;
  return newStorage(value);
}

/// Returns whether every result element of `kernel` depends only on operand
/// elements with the same index. The results may then overwrite the operands.
static bool isElementWise(rank::KernelOp kernel) {
  return llvm::all_of(
      kernel.getBody().front().without_terminator(), [](Operation &op) {
        const ReadKind kind = readKindOf(&op);
        return kind == ReadKind::ElementWise || kind == ReadKind::Source;
      });
}

/// Returns the symbol of the kernel that `op` launches; null if `op` is not a
/// launch.
static FlatSymbolRefAttr launchedBy(Operation *op) {
  if (auto launch = dyn_cast<rank::LaunchOp>(op))
    return launch.getKernelAttr();
  if (auto launch = dyn_cast<rank::LaunchPartsOp>(op))
    return launch.getKernelAttr();
  return {};
}

/// Returns whether no op reads `weight` after the op `launch`. `launch` is an
/// op that runs a kernel. `weight` is the SSA value of a weight. "After" means
/// later in the block of `launch`. If an op reshapes `weight`, the ops that
/// read the result of the reshape count as ops that read `weight`.
static bool readsLast(Operation *launch, Value weight) {
  return llvm::all_of(weight.getUsers(), [&](Operation *user) {
    if (isa<graph::ReshapeOp>(user))
      return readsLast(launch, user->getResult(0));
    return user == launch || user->isBeforeInBlock(launch);
  });
}

ArrayRef<graph::GetParameterOp> BufferPlan::readsOf(int32_t parameter,
                                                    Block *block) {
  auto [entry, isNew] = parameterReads.try_emplace(block);
  if (isNew)
    for (auto get : block->getOps<graph::GetParameterOp>())
      entry->second[parameterList.add(get)].push_back(get);
  return entry->second[parameter];
}

/// Returns the storage of the old value of a parameter if `value` is the new
/// value and may overwrite the old one. Otherwise returns -1. `value` may
/// overwrite the old value if all conditions hold:
///
/// - An element-wise kernel computes `value`.
/// - A graph.set_parameter writes `value` to the parameter. All other ops that
///   read `value` are kernel launches.
/// - The old value is read in the block that computes `value`, with the type of
///   `value`, and no op reads it after the launch that computes `value`.
int BufferPlan::storageOfUpdated(Value value) {
  Operation *launch = value.getDefiningOp();
  FlatSymbolRefAttr symbol = launchedBy(launch);
  if (!symbol || !llvm::all_of(value.getUsers(), [](Operation *user) {
        return isa<graph::SetParameterOp>(user) || launchedBy(user);
      }))
    return -1;
  auto set = llvm::find_if(value.getUsers(), [](Operation *user) {
    return isa<graph::SetParameterOp>(user);
  });
  if (set == value.user_end())
    return -1;
  if (!symbols)
    symbols.emplace(facts.module);
  auto kernel = symbols->lookup<rank::KernelOp>(symbol.getValue());
  const int32_t parameter =
      parameterList.add(cast<graph::SetParameterOp>(*set));
  int storage = -1;
  for (graph::GetParameterOp get : readsOf(parameter, launch->getBlock())) {
    if (get.getType() != value.getType() || !readsLast(launch, get))
      return -1;
    storage = storageOf.at(get);
  }
  return isElementWise(kernel) ? storage : -1;
}

/// Returns the storage of the result of `collective`, which may be an early
/// reduction. An early reduction is a gradient reduction that belongs to the
/// optimizer update, but already runs in the backward function that computes
/// the gradient. The result of an early all_reduce always overwrites the
/// operand. The result of an early reduce_scatter gets a new storage, which is
/// live from the backward function to the update.
int BufferPlan::storageForMoved(dist::CollectiveOp collective,
                                func::FuncOp function) {
  Value input = collective.getInput();
  const EarlyReduction *early = facts.findEarly(collective);
  const bool isOfOther = early && early->maker != function;
  if (collective.getKind() == dist::CollectiveKind::AllReduce &&
      (isOfOther || mayReuse(input)))
    return storageOf.at(input);
  const int storage = newStorage(collective.getResult());
  if (!isOfOther)
    return storage;
  MicrobatchLiveness &slots = held(storage, /*isShared=*/true);
  slots.addRuns(early->maker);
  slots.addRuns(function);
  gradients.insert(storage);
  return storage;
}

/// Returns the index of the storage (range of bytes) of the value that the op
/// `receive` of `function` receives. If the rank also runs the stage that sends
/// the value, both stages use the storage of the sent value. Otherwise creates
/// a new storage. Also records that the storage is in use from the arrival of
/// the value until `function` has run.
int BufferPlan::storageForReceived(pipe::ReceiveOp receive,
                                   func::FuncOp function) {
  const auto from = static_cast<int>(receive.getFrom());
  const int transfer = facts.findTransfer(
      receive.getValue(), from, static_cast<int>(pipe::stageOf(function)));
  const bool isFromHere = facts.positionOfStage[from] == position;
  const int storage =
      isFromHere ? sent[transfer] : newStorage(receive.getResult());
  received[transfer] = storage;
  MicrobatchLiveness &slots = held(storage, pipe::runsOnce(function));
  slots.addReceives(transfer);
  slots.addRuns(function);
  return storage;
}

MicrobatchLiveness &BufferPlan::held(int storage, bool isShared) {
  return outliving
      .try_emplace(storage, stepIndex, isShared ? 1 : facts.microbatches)
      .first->second;
}

void BufferPlan::noteGradient(int storage, func::FuncOp maker,
                              func::FuncOp taker) {
  if (!pipe::runsOnce(maker) && pipe::runsOnce(taker))
    gradients.insert(storage);
}

void BufferPlan::setSlots() {
  for (auto &[index, slots] : outliving)
    if (ValueStorage &storage = storages[index];
        storage.memory == program::Memory::Arena)
      storage.slots = std::max(storage.slots, slots.count());
}

/// Returns whether each microbatch has its own slice of `port`, an input or
/// output of the model.
static bool isCutByMicrobatch(const Port &port) {
  return runtime::isCutByMicrobatch(port.sharding);
}

/// Creates the storage of a sum over microbatches. The storage is live during
/// the whole step, because the sum is complete only after the last microbatch.
int BufferPlan::accumulatorFor(BlockArgument argument) {
  const int storage = newStorage(argument);
  storages[storage].isWhole = true;
  gradients.insert(storage);
  held(storage, /*isShared=*/true);
  return accumulators[pipe::heldBy(argument)] = storage;
}

/// Returns the index of the storage (range of bytes) of `argument`, an argument
/// of a stage function. If `argument` is an input of the model, all stages of
/// the rank use one storage for this input. If each microbatch has its own
/// slice of the input, the storage has room for the slices of all microbatches,
/// because the rank loads all slices before the step begins.
int BufferPlan::storageForArgument(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (pipe::isAccumulator(argument))
    return accumulatorFor(argument);
  if (Value made = pipe::heldBy(argument)) {
    const int storage = storageOf.at(made);
    auto maker = cast<func::FuncOp>(made.getParentBlock()->getParentOp());
    MicrobatchLiveness &slots = held(storage, pipe::runsOnce(maker));
    slots.addRuns(maker);
    slots.addRuns(function);
    noteGradient(storage, maker, function);
    return storage;
  }
  const int input = facts.findInput(argument);
  if (input >= 0 && inputs[input] >= 0)
    return inputs[input];
  const int storage = newStorage(argument);
  storages[storage].isWhole = true;
  if (input < 0)
    return storage;
  inputs[input] = storage;
  inputTypes[input] = tensorOf(argument);
  storages[storage].name = facts.inputs[input].name;
  if (isCutByMicrobatch(facts.inputs[input]))
    storages[storage].slots = static_cast<int32_t>(facts.microbatches);
  return storage;
}

void BufferPlan::addFunction(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    storageOf[argument] = storageForArgument(argument);
  for (Operation &op : function.front().without_terminator())
    for (Value result : op.getResults())
      storageOf[result] = storageFor(result, function);
  addSends(function);
  addOutputs(function);
}

void BufferPlan::addSends(func::FuncOp function) {
  for (auto send : function.getOps<pipe::SendOp>()) {
    const auto to = static_cast<int>(send.getTo());
    const int transfer = facts.findTransfer(
        send.getValue(), static_cast<int>(pipe::stageOf(function)), to);
    if (transfer < 0)
      continue;
    const int storage = sent[transfer] = storageOf.at(send.getInput());
    MicrobatchLiveness &slots = held(storage, pipe::runsOnce(function));
    slots.addRuns(function);
    slots.addSends(transfer);
  }
}

void BufferPlan::addOutputs(func::FuncOp function) {
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    const int output = facts.findOutput(
        function.getResultAttrDict(operand.getOperandNumber()));
    if (output < 0)
      continue;
    outputs[output] = storageOf.at(operand.get());
    outputTypes[output] = tensorOf(operand.get());
    // The output is not split into one slice per microbatch. Each microbatch
    // writes the whole output, to the same bytes. Keep the storage (range of
    // bytes) of the output live during the whole step, so that no other value
    // is placed in these bytes.
    if (facts.microbatches > 1 && !isCutByMicrobatch(facts.outputs[output])) {
      storages[outputs[output]].isWhole = true;
      continue;
    }
    MicrobatchLiveness &slots = held(outputs[output], pipe::runsOnce(function));
    slots.addRuns(function);
    slots.addEnd();
  }
}

/// Returns a sort key for a stage function. A stable sort puts each function
/// after all functions whose results it reads. Functions that run before the
/// forward pass (UNSHARD) have the key of the forward pass, and precede it in
/// the module.
static std::pair<int, int> orderOf(func::FuncOp function) {
  const auto stage = static_cast<int>(pipe::stageOf(function));
  const plan::SendPart kind = plan::sendPartOf(pipe::actionOf(function).str());
  switch (kind.kind) {
  case plan::TransferKind::Forward:
    return {0, stage};
  case plan::TransferKind::Backward:
    return {1, -stage};
  case plan::TransferKind::Update:
    return {2 + kind.part, stage};
  }
  return {};
}

std::vector<func::FuncOp> BufferPlan::functions() const {
  std::vector<func::FuncOp> list;
  for (int stage : facts.stagesOf(position))
    llvm::append_range(list, facts.functions[stage]);
  llvm::stable_sort(list, [](func::FuncOp a, func::FuncOp b) {
    return orderOf(a) < orderOf(b);
  });
  return list;
}

void BufferPlan::addStages() {
  for (func::FuncOp function : functions())
    addFunction(function);
  setSlots();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

void BufferPlan::touch(ValueStorage &storage) { storage.touched.add(line.now); }

int BufferPlan::bufferIn(int storage, RankedTensorType type) {
  auto [entry, isNew] = buffers.insert(
      {{storage, type}, static_cast<int32_t>(program.buffers.size())});
  if (!isNew)
    return entry->second;
  auto buffer = std::make_unique<program::BufferT>();
  buffer->name = storages[storage].name;
  buffer->type = runtime::toProgram(elementTypeOf(type));
  buffer->shape.assign(type.getShape().begin(), type.getShape().end());
  buffer->bytes = bytesOf(type);
  program.buffers.push_back(std::move(buffer));
  storageOfBuffer.push_back(storage);
  return entry->second;
}

int32_t BufferPlan::bufferOf(Value value) {
  const int storage = storageOf.at(value);
  touch(storages[storage]);
  return bufferIn(storage, tensorOf(value));
}

int32_t BufferPlan::scratch(int64_t bytes) {
  if (bytes == 0)
    return -1;
  storages.emplace_back();
  storages.back().bytes = bytes;
  storages.back().name = "scratch";
  touch(storages.back());
  auto *context = facts.module->getContext();
  return bufferIn(static_cast<int>(storages.size()) - 1,
                  RankedTensorType::get({bytes}, IntegerType::get(context, 8)));
}

void BufferPlan::useAgain(const program::CollectiveT &collective) {
  for (int32_t buffer : {collective.in, collective.out, collective.scratch})
    if (buffer >= 0)
      touch(storages[storageOfBuffer[buffer]]);
}

int32_t BufferPlan::widenedBuffer(Value value, int64_t copies) {
  const int storage = storageOf.at(value);
  RankedTensorType type = tensorOf(value);
  auto wide = RankedTensorType::get({copies, type.getNumElements()},
                                    type.getElementType());
  touch(storages[storage]);
  storages[storage].bytes = std::max(storages[storage].bytes, bytesOf(wide));
  return bufferIn(storage, wide);
}

int32_t BufferPlan::parameterBuffer(graph::SetParameterOp set) {
  const int32_t parameter = parameterList.add(set);
  if (parameter < 0)
    return -1;
  return bufferIn(storageOfParameter(parameter, set.getValue()),
                  tensorOf(set.getValue()));
}

int64_t BufferPlan::gradientBytes() const {
  int64_t bytes = 0;
  for (int storage : gradients)
    if (storages[storage].memory == program::Memory::Arena)
      bytes += storages[storage].bytes;
  return bytes;
}

int32_t BufferPlan::inputBuffer(int input) {
  return inputs[input] < 0 ? -1 : bufferIn(inputs[input], inputTypes[input]);
}

int32_t BufferPlan::outputBuffer(int output) {
  return outputs[output] < 0 ? -1
                             : bufferIn(outputs[output], outputTypes[output]);
}

int32_t BufferPlan::sentBuffer(int transfer) {
  return sent[transfer] < 0
             ? -1
             : bufferIn(sent[transfer], facts.transfers[transfer].type);
}

int32_t BufferPlan::receivedBuffer(int transfer) {
  return received[transfer] < 0
             ? -1
             : bufferIn(received[transfer], facts.transfers[transfer].type);
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

bool BufferPlan::isInArena(int index) const {
  const ValueStorage &storage = storages[index];
  return storage.memory == program::Memory::Arena &&
         (storage.isWhole || outliving.contains(index) ||
          storage.touched.first <= storage.touched.last);
}

void BufferPlan::addTo(ArenaUse &use, int index, int64_t bytes) const {
  const ValueStorage &storage = storages[index];
  if (!isInArena(index))
    return;
  if (storage.isWhole)
    use.addWhole(bytes * storage.slots);
  else if (auto found = outliving.find(index); found != outliving.end())
    found->second.addTo(use, line, storage.touched, bytes);
  else
    use.addTemporary(storage.touched, bytes);
}

void BufferPlan::writeUse() {
  ArenaUse all(line, stepIndex), ofGradients(line, stepIndex);
  for (int i = 0; i < static_cast<int>(storages.size()); ++i)
    addTo(all, i, storages[i].stride());
  for (int storage : gradients)
    addTo(ofGradients, storage, storages[storage].bytes);
  for (auto [action, bytes, part] :
       llvm::zip_equal(program.actions, all.compute(), ofGradients.compute())) {
    action->bytes_during = bytes.during;
    action->bytes_after = bytes.after;
    action->gradients_during = part.during;
    action->gradients_after = part.after;
  }
}

/// Returns the size and the live ranges of the storage number `index`. The size
/// is 0 if the storage is not in the arena, such as the storage of a weight.
/// The size is also 0 if no instruction and no message uses the storage.
plan::ArenaBuffer BufferPlan::wantedBy(int index) const {
  const ValueStorage &storage = storages[index];
  const auto outlives = outliving.find(index);
  if (!isInArena(index))
    return {};
  plan::ArenaBuffer wanted{storage.touched.first, storage.touched.last,
                           uint64_t(storage.stride()) * storage.slots,
                           runtime::kAlignment};
  if (storage.isWhole || outlives != outliving.end()) {
    wanted.first = 0;
    wanted.last = line.now;
  }
  if (!storage.isWhole && outlives != outliving.end())
    wanted.pieces = outlives->second.pieces(
        line, storage.touched, storage.slots, uint64_t(storage.stride()));
  return wanted;
}

std::string BufferPlan::place() {
  for (const auto &[value, storage] : accumulators)
    program.accumulators.push_back(bufferIn(storage, tensorOf(value)));
  llvm::sort(program.accumulators);
  std::vector<plan::ArenaBuffer> wanted;
  std::vector<ValueStorage *> placed;
  for (size_t i = 0; i < storages.size(); ++i) {
    plan::ArenaBuffer buffer = wantedBy(static_cast<int>(i));
    if (buffer.size == 0)
      continue;
    wanted.push_back(std::move(buffer));
    placed.push_back(&storages[i]);
  }
  const plan::ArenaPlan arena = plan::planArena(wanted);
  for (auto [storage, offset] : llvm::zip_equal(placed, arena.offsets))
    storage->offset = static_cast<int64_t>(offset);
  program.arena_bytes = static_cast<int64_t>(arena.total);
  program.arena_lower_bound_bytes = static_cast<int64_t>(arena.lowerBound);
  writeUse();
  for (auto [buffer, index] :
       llvm::zip_equal(program.buffers, storageOfBuffer)) {
    const ValueStorage &storage = storages[index];
    buffer->memory = storage.memory;
    buffer->index = storage.parameter;
    buffer->offset = storage.offset;
    buffer->slots = storage.slots;
    buffer->slot_stride = storage.slots > 1 ? storage.stride() : 0;
  }
  return plan::verifyArena(wanted, arena);
}
