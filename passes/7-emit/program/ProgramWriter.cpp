//===- ProgramWriter.cpp - writes the program of one pipeline rank --------===//

#include "passes/7-emit/program/ProgramWriter.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/program/AttentionPairs.h"
#include "passes/7-emit/program/FlopCounter.h"
#include "passes/7-emit/program/InstructionTable.h"
#include "passes/plan/cluster/Cluster.h"
#include "runtime/base/QuantityText.h"
#include "runtime/program/VerifyProgram.h"
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

/// Appends a new, empty struct to `list`, and returns the new struct. `Table`
/// is the C++ type of a table in the FlatBuffers schema of the program file.
template <typename Table>
static Table &append(std::vector<std::unique_ptr<Table>> &list) {
  return *list.emplace_back(std::make_unique<Table>());
}

namespace {
/// Reduction of a gradient that is written as two instructions, a start and a
/// finish. The ranks compute other gradients between the two instructions. The
/// program already contains the start, but not yet the finish.
struct PendingReduction {
  const EarlyReduction *early;
  /// Finish instruction of the gradient reduction that this PendingReduction
  /// describes. Two instructions execute the reduction. The start instruction
  /// begins the communication. The finish instruction waits for the end of the
  /// communication. The program does not contain the finish instruction yet.
  program::CollectiveT collective;
  /// Ops that read the reduced gradient, the result of the reduction that this
  /// PendingReduction describes. The program does not contain the instructions
  /// of these ops yet. The writer first appends the instruction that finishes
  /// the reduction, and then the instructions of these ops.
  llvm::SmallVector<Operation *, 1> readers;
};

/// Writes the program of one pipeline rank. All ranks that run the same
/// pipeline stages execute this program. Each stage function becomes one list
/// of instructions, in the order of its ops. A collective that overlaps
/// computation becomes two instructions, a start and a finish
/// (WeightPrefetches.h, EarlyReductions.h).
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
    if (program.arena_bytes > runtime::kMaxBytes)
      return Status::error(CannotMeet,
                           "the intermediate results of a rank need " +
                               runtime::bytesText(program.arena_bytes) +
                               ", more than " +
                               runtime::bytesText(runtime::kMaxBytes));
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
  /// Writes the fields of the program that are known before the first
  /// instruction is written. Examples are the target device, the mesh of ranks,
  /// and the groups of ranks within which collectives communicate.
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

  /// Adds one entry to `program.stages` for each stage of this pipeline rank.
  /// An entry has the index of the stage, and the number of floating-point
  /// operations of one rank in one step. Also stores the peak speed of the
  /// device in `program.peak_flops`. Reports of a run use these numbers.
  void writeStages() {
    const FlopCounter flops(facts.module);
    program.peak_flops = peakFlops(flops);
    for (int stage : facts.stagesOf(position)) {
      program::StageT &made = append(program.stages);
      made.stage = stage;
      made.flops = flops.ofStep(facts, stage);
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

  /// Appends a function to the program, and writes the instructions of `body`
  /// to this function. `body` is an MLIR function of a pipeline stage. `name`
  /// is the name of the new function for error messages, such as "Forward of
  /// stage 2".
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

  /// Prepares the writer for the stage function `body`. Sets `nextPrefetches`
  /// to the all-gathers of sharded weights in `body` that run while other ops
  /// compute. Two instructions execute each of these all-gathers, a start and a
  /// finish. This method also appends the start of the first all-gather, if
  /// `body` has one. The method finishGather() later appends the finish of the
  /// first all-gather and the start of the second all-gather, and so on.
  void beginPrefetches(func::FuncOp body) {
    isWritten.clear();
    const auto list = prefetchesOf.lookup(body);
    nextPrefetches.assign(list.rbegin(), list.rend());
    startGatherOfNext();
  }

  /// Appends the instruction that starts the next all-gather of a sharded
  /// weight. The all-gather runs while other ops compute, and another
  /// instruction finishes it later. Before the start, this method appends the
  /// instructions of the ops that compute the input of the all-gather, such as
  /// a cast of the shard. Appends nothing if all of these all-gathers of the
  /// current stage function have been started.
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

  /// Appends the finish instruction of an all-gather of a sharded weight. Two
  /// instructions execute the all-gather, a start and a finish. The program
  /// already contains the start, and the member `gather` contains the finish.
  /// After the finish, this method appends the start of the next all-gather, if
  /// the current stage function has another all-gather of this kind.
  void finishGather() {
    finish(gather->prefetch->collective, std::move(gather->collective));
    gather.reset();
    startGatherOfNext();
  }

  /// Appends `collective`, the second of two instructions that execute the op
  /// `op`. The first instruction starts the communication, and the second one
  /// finishes it. Tells the memory planner that the second instruction uses the
  /// input, output and scratch buffers of `collective`. The planner then gives
  /// the memory of these buffers to no other value between the two
  /// instructions.
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

  /// Appends the instructions of `op`. If `op` computes a gradient that the
  /// ranks reduce during the backward pass, also appends the instruction that
  /// starts the reduction. The instruction that finishes the reduction is
  /// appended later. At most two reductions may be unfinished. If there are
  /// two, this method first appends the instruction that finishes the older
  /// one.
  void writeAndReduce(Operation &op) {
    write(op);
    for (const EarlyReduction *early : startsBehind.lookup(&op)) {
      // At most `mostPending` reductions may have a start instruction, but no
      // finish instruction yet. Append finish instructions until one more
      // reduction may start. finishReduction() also appends the instructions of
      // the ops that read the reduced value. One of these ops may start a new
      // reduction, so one call may not be enough.
      while (pending.size() >= mostPending)
        finishReduction();
      buffers.beginInstruction();
      pending.push_back({early, startReduction(*early, instructions), {}});
    }
  }

  /// Returns the entry of `pending` whose result `op` reads. An entry is a
  /// gradient reduction for which the program contains the start instruction,
  /// but not yet the finish instruction. If `op` reads the results of several
  /// entries, returns the reduction that started last. Returns null if `op`
  /// reads none of the results.
  PendingReduction *pendingFor(Operation &op) {
    for (PendingReduction &reduction : llvm::reverse(pending))
      if (llvm::is_contained(reduction.early->readers, &op))
        return &reduction;
    return nullptr;
  }

  /// Appends the finish instruction of the first reduction in `pending`, and
  /// removes the reduction from `pending`. The list `pending` contains the
  /// gradient reductions that have a start instruction, but no finish
  /// instruction yet. After the finish instruction, appends the instructions of
  /// the ops that read the result of the reduction.
  void finishReduction() {
    PendingReduction oldest = std::move(pending.front());
    pending.pop_front();
    finish(oldest.early->collective, std::move(oldest.collective));
    for (Operation *reader : oldest.readers)
      writeAndReduce(*reader);
  }

  /// Adds a text about `op` to the list `unsupported`, which contains the ops
  /// that the device cannot run. The text contains the name of `op`. If `op`
  /// was made from a named ONNX node, the text also contains the name of the
  /// node. Example: `graph.softmax (node "attention/probs")`. If the list
  /// already contains an equal text, the method adds nothing.
  void noteUnsupported(Operation *op) {
    std::string text = op->getName().getStringRef().str();
    if (StringRef node = graph::nodeName(op->getLoc()); !node.empty())
      text += " (node '" + node.str() + "')";
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

  /// Stores for each weight in `program.parameters` the index of the GPU kernel
  /// that generates its random elements. Changes nothing for weights with a
  /// file or a fill value, or if the target is no GPU.
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

  /// Writes the actions of one step: runs of stage functions, and the messages
  /// between stages. All ranks that execute this program run the same actions.
  /// A buffer has slots, each of which holds the tensor of one microbatch at a
  /// time. The microbatch of an action selects the slot. The optimizer update
  /// runs once per step, and uses the slots of the last microbatch.
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

  /// Sets `action.stage` and `action.microbatch` for error reports and
  /// timelines. `action` starts messages between pipeline stages, or waits for
  /// them. The microbatch is that of the first received message, and the stage
  /// is the stage that receives this message. If the rank receives no message,
  /// the first sent message and the stage that sends it are used. Changes
  /// nothing if `action` has no messages.
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
  /// Map from an op that computes a gradient to the reductions of this gradient
  /// that start during the backward pass. Each reduction becomes two
  /// instructions, a start and a finish. The start directly follows the
  /// instructions of the op. The finish comes later.
  llvm::DenseMap<Operation *, llvm::SmallVector<const EarlyReduction *, 1>>
      startsBehind;
  /// Largest number of gradient reductions that are in progress at the same
  /// time. A reduction is an all_reduce or reduce_scatter. A reduction is in
  /// progress between its start instruction and its finish instruction. During
  /// this time, the reduction occupies its input and output buffers.
  static constexpr size_t mostPending = 2;
  /// Gradient reductions for which the program contains the start instruction,
  /// but not yet the finish instruction. A reduction is an all_reduce or
  /// reduce_scatter. The list is in the order of the start instructions.
  std::deque<PendingReduction> pending;
  /// Map from each stage function to its all-gathers of sharded weights that
  /// run while other ops compute. Each list is in program order. Each of these
  /// all-gathers becomes two instructions: one starts the communication, the
  /// other finishes it right before the weight is used.
  llvm::DenseMap<Operation *, llvm::SmallVector<const Prefetch *, 4>>
      prefetchesOf;
  /// All-gathers of sharded weights in the current function that the program
  /// does not start yet. The list is in reverse order: the last entry starts
  /// first.
  llvm::SmallVector<const Prefetch *> nextPrefetches;
  /// Ops of the current function whose instructions the program already
  /// contains. An op that computes the input of a prefetched all-gather, such
  /// as a cast, is written early. It must not be written again.
  llvm::DenseSet<Operation *> isWritten;
  /// All-gather of a sharded weight. Two instructions execute the all-gather: a
  /// start and a finish. The program already contains the start, but not yet
  /// the finish.
  struct PendingGather {
    const Prefetch *prefetch;
    /// Finish instruction of the all-gather that this PendingGather describes.
    /// Two instructions execute the all-gather. The start instruction begins
    /// the communication. The finish instruction waits for the end of the
    /// communication. The program does not contain the finish instruction yet.
    program::CollectiveT collective;
  };
  /// All-gather of a sharded weight for which the program contains the start
  /// instruction, but not yet the finish instruction. The writer finishes each
  /// all-gather before it starts the next one, so there is at most one. Empty
  /// if there is none.
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
