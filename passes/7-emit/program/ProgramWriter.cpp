//===- ProgramWriter.cpp - writes the program of one position -------------===//

#include "passes/7-emit/program/ProgramWriter.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/program/AttentionPairs.h"
#include "passes/7-emit/program/FlopCounter.h"
#include "passes/7-emit/program/InstructionTable.h"
#include "passes/plan/cluster/Cluster.h"
#include "llvm/ADT/StringExtras.h"

#include <deque>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns the op that computes the bytes of `value`. Looks through reshapes,
/// which write no bytes.
static Operation *writerOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa<graph::ReshapeOp>(op) && op->getOperand(0).getDefiningOp())
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// Appends a new, empty table to `list`. Returns the new table.
template <typename Table>
static Table &append(std::vector<std::unique_ptr<Table>> &list) {
  return *list.emplace_back(std::make_unique<Table>());
}

namespace {
/// Early reduction (of a gradient, during the backward pass) that has started,
/// but not finished.
struct PendingReduction {
  const EarlyReduction *early;
  /// Instruction that finishes the reduction `early`. Another instruction has
  /// already started it.
  program::CollectiveT collective;
  /// Ops that read the result of the reduction `early`. They are written after
  /// the instruction that finishes the reduction.
  llvm::SmallVector<Operation *, 1> readers;
};

/// Writes the program of one position (virtual pipeline rank). Instructions are
/// in the order of the ops, except for two kinds of collectives:
///
///   - The gather of a weight, with the ops that compute its input, starts
///     earlier (WeightPrefetches.h).
///   - The reduction of a gradient starts right after the gradient is computed,
///     and finishes later (EarlyReductions.h).
class ProgramWriter {
public:
  ProgramWriter(const ModelFacts &facts, int position, PositionProgram &written)
      : facts(facts), position(position), written(written),
        program(written.tables), buffers(facts, position, program),
        instructions(facts, buffers, program) {
    for (const EarlyReduction &early : facts.earlyReductions)
      startsBehind[writerOf(early.gradient)].push_back(&early);
    for (const Prefetch &prefetch : facts.prefetches)
      prefetchesOf[prefetch.collective->getParentOp()].push_back(&prefetch);
  }

  Status run() {
    writeHead();
    buffers.addStages();
    for (func::FuncOp function : buffers.functions())
      writeFunction(function, nameOf(function));
    if (!unsupported.empty())
      return Status::error(Unsupported, "the " + program.target +
                                            " device cannot run " +
                                            llvm::join(unsupported, ", "));
    writePorts();
    writeTransfers();
    writeActions();
    if (std::string fault = buffers.place(); !fault.empty())
      return Status::error(Defect,
                           "phase '7-emit' made a wrong arena: " + fault);
    giveGenerators();
    program.num_kernels =
        static_cast<int32_t>(instructions.usedKernels().size());
    written.kernels = instructions.usedKernels();
    written.constants = buffers.constants();
    written.gradientBytes = buffers.gradientBytes();
    writeStages();
    return Status::success();
  }

private:
  /// Writes the parts of the program that do not depend on instructions, such
  /// as target, mesh and groups.
  void writeHead() {
    program.format = runtime::kFormatVersion;
    program.target = dist::targetOf(facts.module).str();
    program.tf32 = facts.module->hasAttr(rank::tf32Name);
    program.position = position;
    program.microbatches = static_cast<int32_t>(facts.microbatches);
    program.samples = facts.samples;
    program.weights_root = facts.weightsRoot;
    program.model = facts.model;
    for (const dist::Axis &axis : facts.mesh.ranks().spatial().axes) {
      program::AxisT &made = append(program.axes);
      made.name = axis.name;
      made.size = axis.size;
    }
    for (int stagePosition : facts.positionOfStage)
      program.stage_positions.push_back(stagePosition);
    for (const dist::SubAxes &group : facts.groups)
      append(program.groups) = runtime::toProgram(group, facts.mesh.ranks());
  }

  /// Returns the peak speed of the device in flops per second. The user's
  /// cluster file lists one speed per element type. The result is the speed for
  /// the type with the most floating-point operations in the module. Returns 0
  /// without a cluster file.
  double peakFlops(const FlopCounter &flops) const {
    const std::string_view text = dist::clusterOf(facts.module);
    const std::string type = flops.busiestType(facts);
    return text.empty()
               ? 0
               : plan::clusterOf(text, program.target)
                     .peakOf(program.tf32 && type == "f32" ? "tf32" : type);
  }

  /// Writes the floating-point operations and the memory of each stage that
  /// this program runs. Reports show these numbers.
  void writeStages() {
    const FlopCounter flops(facts.module);
    program.peak_flops = peakFlops(flops);
    for (int stage : facts.stagesOf(position)) {
      const runtime::StageBytes bytes = buffers.bytesOfStage(stage);
      program::StageT &made = append(program.stages);
      made.stage = stage;
      made.flops = flops.ofStep(facts, stage);
      made.weight_bytes = bytes.weights;
      made.gradient_bytes = bytes.gradients;
      made.activation_bytes = bytes.activations;
      made.input_activation_bytes = bytes.activationsOfInput;
    }
  }

  /// Returns the name of a function for error messages, such as "Forward of
  /// stage 2".
  static std::string nameOf(func::FuncOp function) {
    const auto action = plan::parseKind(pipe::actionOf(function).str());
    return std::string(program::EnumNameActionKind(
               kindOf(action.value_or(plan::Action())))) +
           " of stage " + std::to_string(pipe::stageOf(function));
  }

  static program::ActionKind kindOf(const plan::Action &action) {
    switch (action.kind) {
    case plan::ActionKind::Backward:
      return program::ActionKind::Backward;
    case plan::ActionKind::InputGradient:
      return program::ActionKind::InputGradient;
    case plan::ActionKind::WeightGradient:
      return program::ActionKind::WeightGradient;
    case plan::ActionKind::Update:
      return program::ActionKind::Update;
    case plan::ActionKind::Unshard:
      return program::ActionKind::Unshard;
    default:
      return program::ActionKind::Forward;
    }
  }

  /// Writes the instructions of `body` to a new function of the program.
  void writeFunction(func::FuncOp body, const std::string &name) {
    auto &function =
        program.functions.emplace_back(std::make_unique<program::FunctionT>());
    function->name = name;
    numberOf[body] = static_cast<int32_t>(program.functions.size()) - 1;
    instructions.setList(function->instructions);
    buffers.beginFunction(body);
    beginPrefetches(body);
    for (Operation &op : body.front().without_terminator()) {
      if (isWritten.contains(&op))
        continue;
      if (gather && gather->prefetch->collective == &op) {
        finishGather();
        continue;
      }
      if (PendingReduction *reduction = pendingFor(op))
        reduction->readers.push_back(&op);
      else
        writeAndReduce(op);
    }
    while (!pending.empty())
      finishReduction();
    pairAttentionGradients(function->instructions);
  }

  /// Lists the all-gathers of weights in `body` that start before the weight is
  /// used, and starts the first one. Each further gather starts when the gather
  /// before it has finished.
  void beginPrefetches(func::FuncOp body) {
    isWritten.clear();
    const auto list = prefetchesOf.lookup(body);
    nextPrefetches.assign(list.rbegin(), list.rend());
    startGatherOfNext();
  }

  /// Writes the start of the next prefetched gather, after the ops that compute
  /// its input. Writes nothing if there is no further gather.
  void startGatherOfNext() {
    if (nextPrefetches.empty())
      return;
    const Prefetch &next = *nextPrefetches.pop_back_val();
    for (Operation *maker : next.makers)
      if (isWritten.insert(maker).second)
        write(*maker);
    buffers.beginInstruction();
    gather = {&next, startGather(next, instructions)};
  }

  /// Writes the instruction that finishes the weight gather `gather`. Then
  /// starts the next weight gather of the function, if any.
  void finishGather() {
    finish(gather->prefetch->collective, std::move(gather->collective));
    gather.reset();
    startGatherOfNext();
  }

  /// Appends `collective`, the instruction that finishes `op`. Keeps the
  /// collective's buffers live until this instruction.
  void finish(dist::CollectiveOp op, program::CollectiveT collective) {
    buffers.beginInstruction();
    buffers.useAgain(collective);
    instructions.emit(op, std::move(collective));
  }

  /// Appends the instructions of an op. If the device cannot run the op, adds
  /// it to the list of unsupported ops instead.
  void write(Operation &op) {
    buffers.beginInstruction();
    BuildInstruction build = InstructionTable::get(program.target).find(&op);
    if (!build || !build(&op, instructions))
      noteUnsupported(&op);
  }

  /// Appends the instructions of `op`. Then starts the early reductions of the
  /// gradients that `op` computes.
  void writeAndReduce(Operation &op) {
    write(op);
    for (const EarlyReduction *early : startsBehind.lookup(&op)) {
      // Make room for one more reduction. finishReduction() may itself start a
      // reduction, so one call may not be enough.
      while (pending.size() >= mostPending)
        finishReduction();
      buffers.beginInstruction();
      pending.push_back({early, startReduction(*early, instructions), {}});
    }
  }

  /// Returns the most recent unfinished reduction whose result `op` reads; null
  /// if there is none.
  PendingReduction *pendingFor(Operation &op) {
    for (PendingReduction &reduction : llvm::reverse(pending))
      if (llvm::is_contained(reduction.early->readers, &op))
        return &reduction;
    return nullptr;
  }

  /// Writes the instruction that finishes the oldest unfinished reduction. Then
  /// writes the ops that read the reduced value.
  void finishReduction() {
    PendingReduction oldest = std::move(pending.front());
    pending.pop_front();
    finish(oldest.early->collective, std::move(oldest.collective));
    for (Operation *reader : oldest.readers)
      writeAndReduce(*reader);
  }

  /// Adds the names of an op and of its ONNX node to the list of unsupported
  /// ops, once.
  void noteUnsupported(Operation *op) {
    std::string text = op->getName().getStringRef().str();
    if (StringRef node = graph::nodeName(op->getLoc()); !node.empty())
      text += " (node \"" + node.str() + "\")";
    if (!llvm::is_contained(unsupported, text))
      unsupported.push_back(text);
  }

  std::unique_ptr<program::LayoutT> layoutOf(const Port &port) const {
    return std::make_unique<program::LayoutT>(
        runtime::toProgram(emit::layoutOf(port.sharding, port.type.getShape()),
                           facts.mesh.ranks()));
  }

  static std::vector<int64_t> shapeOf(const Port &port) {
    return {port.type.getShape().begin(), port.type.getShape().end()};
  }

  template <typename Made>
  std::unique_ptr<Made> makePort(const Port &port, int32_t buffer) {
    auto made = std::make_unique<Made>();
    made->name = port.name;
    made->type = runtime::toProgram(elementTypeOf(port.type));
    made->shape = shapeOf(port);
    made->layout = layoutOf(port);
    made->buffer = buffer;
    return made;
  }

  void writePorts() {
    for (auto [i, input] : llvm::enumerate(facts.inputs)) {
      program.inputs.push_back(makePort<program::InputT>(
          input, buffers.inputBuffer(static_cast<int>(i))));
      program.inputs.back()->index_bound = input.indexBound;
      program.inputs.back()->batch_dim = input.batchDim;
      program.inputs.back()->is_labels = input.isLabels;
    }
    for (auto [i, output] : llvm::enumerate(facts.outputs))
      program.outputs.push_back(makePort<program::OutputT>(
          output, buffers.outputBuffer(static_cast<int>(i))));
  }

  /// For each parameter that a GPU kernel fills with random numbers, stores the
  /// index of this kernel in the parameter.
  void giveGenerators() {
    for (auto &parameter : program.parameters)
      instructions.setGenerator(
          buffers.parameters().declarationOf(parameter->name), *parameter);
  }

  void writeTransfers() {
    for (auto [i, transfer] : llvm::enumerate(facts.transfers)) {
      auto &made = append(program.transfers);
      made.value = transfer.value;
      made.from_stage = transfer.fromStage;
      made.to_stage = transfer.toStage;
      made.from_buffer = buffers.sentBuffer(static_cast<int>(i));
      made.to_buffer = buffers.receivedBuffer(static_cast<int>(i));
    }
  }

  static std::vector<program::Message>
  messagesOf(const std::vector<plan::Message> &messages) {
    std::vector<program::Message> made;
    for (const plan::Message &message : messages)
      made.emplace_back(message.transfer, message.microbatch);
    return made;
  }

  /// Writes the actions of one step: runs of stage functions, posts (starts of
  /// messages) and waits. An optimizer update runs once per step, and reads
  /// values of the last microbatch. Its action therefore has the index of this
  /// microbatch.
  void writeActions() {
    for (const plan::ProgramStep &step : facts.pipeline.positions[position]) {
      auto &action =
          program.actions.emplace_back(std::make_unique<program::ActionT>());
      if (step.kind != plan::ProgramStep::Compute) {
        action->kind = step.kind == plan::ProgramStep::Post
                           ? program::ActionKind::Post
                           : program::ActionKind::Wait;
        action->sends = messagesOf(step.sends);
        action->receives = messagesOf(step.receives);
        nameExchange(*action);
        continue;
      }
      const bool isUpdate = step.action.kind == plan::ActionKind::Update;
      action->kind = kindOf(step.action);
      action->stage = step.action.stage;
      action->microbatch = isUpdate
                               ? static_cast<int32_t>(facts.microbatches) - 1
                               : std::max(step.action.microbatch, 0);
      action->function = numberOf.lookup(facts.functionOf(step.action));
    }
  }

  /// Sets the stage and the microbatch of a post (start) or wait to those of
  /// its first message. Error messages name them.
  void nameExchange(program::ActionT &action) const {
    const bool receives = !action.receives.empty();
    const auto &messages = receives ? action.receives : action.sends;
    if (messages.empty())
      return;
    const StageTransfer &transfer =
        facts.transfers[messages.front().transfer()];
    action.stage = receives ? transfer.toStage : transfer.fromStage;
    action.microbatch = messages.front().microbatch();
  }

  const ModelFacts &facts;
  int position;
  PositionProgram &written;
  program::ProgramT &program;
  BufferPlan buffers;
  InstructionWriter instructions;
  /// Index of each function in the list of functions of the program.
  llvm::DenseMap<Operation *, int32_t> numberOf;
  /// Early reductions of gradients, by the op that computes the gradient. They
  /// start right after this op.
  llvm::DenseMap<Operation *, llvm::SmallVector<const EarlyReduction *, 1>>
      startsBehind;
  /// Largest number of unfinished reductions, each of which occupies memory.
  static constexpr size_t mostPending = 2;
  /// Reductions that have started, but not finished, oldest first.
  std::deque<PendingReduction> pending;
  /// Prefetched gathers of each function, in program order.
  llvm::DenseMap<Operation *, llvm::SmallVector<const Prefetch *, 4>>
      prefetchesOf;
  /// Weight gathers that the current function has still to start, in reverse
  /// order: the last entry starts next.
  llvm::SmallVector<const Prefetch *> nextPrefetches;
  /// Ops of the current function that were written ahead of their turn, because
  /// a weight gather that starts early needs their results.
  llvm::DenseSet<Operation *> isWritten;
  /// Gather of a weight that has started, but not finished.
  struct PendingGather {
    const Prefetch *prefetch;
    /// Instruction that finishes the weight gather `prefetch`. Another
    /// instruction has already started it.
    program::CollectiveT collective;
  };
  /// Weight gather that has started, but not finished. There is at most one.
  std::optional<PendingGather> gather;
  /// Names of the ops that the device cannot run, for the error message.
  std::vector<std::string> unsupported;
};
} // namespace

Status emit::writeProgram(const ModelFacts &facts, int position,
                          PositionProgram &written) {
  return ProgramWriter(facts, position, written).run();
}

Status emit::writePrograms(ModuleOp module, std::optional<ModelFacts> &facts,
                           std::vector<PositionProgram> &programs) {
  auto read = readFacts(module);
  if (!read)
    return read.status().prefixed("the module cannot be emitted: ");
  facts = std::move(*read);
  programs = std::vector<PositionProgram>(facts->numPositions());
  for (int position = 0; position < facts->numPositions(); ++position)
    PCC_RETURN_IF_ERROR(writeProgram(*facts, position, programs[position]));
  return Status::success();
}
