//===- VerifyProgram.cpp - memory safety of a program ---------------------===//

#include "runtime/program/VerifyProgram.h"
#include "runtime/program/Program.h"
#include "runtime/program/VerifyInstructions.h"
#include "runtime/program/WeightFile.h"
#include "status/Counted.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace pcc::runtime {

/// Largest number of ranks. The limit keeps later arithmetic from overflowing.
static constexpr int64_t kMaxRanks = 65536;

/// Returns whether `value` is a valid enumerator. The enumerators are numbered
/// from 0 to `last`. The value comes from a program file. A damaged file may
/// contain a larger number.
template <typename Enum> static bool isKnown(Enum value, Enum last) {
  return value <= last;
}

/// Returns the size of a dense tensor in bytes. Returns -1 if a dim is negative
/// or the size exceeds kMaxBytes.
static int64_t bytesOf(const std::vector<int64_t> &shape,
                       program::ElementType type) {
  int64_t bytes = int64_t(sizeOf(typeOf(type)));
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes) ||
        bytes > kMaxBytes)
      return -1;
  return bytes;
}

namespace {
/// Verifies all parts of a program, one after another: the mesh, the
/// communicator groups, the weight files, the parameters, the buffers, the
/// inputs and outputs, the transfers between stages, the instructions and the
/// schedule. Each check returns a description of the first fault, or an empty
/// string. A check may use data that an earlier check has verified.
class Verifier {
public:
  Verifier(const program::ProgramT &program, int64_t constantBytes)
      : program(program), constantBytes(constantBytes) {}

  std::string run() {
    using Check = std::string (Verifier::*)();
    static constexpr Check checks[] = {
        &Verifier::checkHead,         &Verifier::checkGroups,
        &Verifier::checkFiles,        &Verifier::checkParameters,
        &Verifier::checkBuffers,      &Verifier::checkInputs,
        &Verifier::checkOutputs,      &Verifier::checkTransfers,
        &Verifier::checkInstructions, &Verifier::checkActions};
    for (Check check : checks)
      if (std::string fault = (this->*check)(); !fault.empty())
        return fault;
    return {};
  }

private:
  /// Checks the general properties of the program. Returns a description of the
  /// first fault, or an empty string. Sets `mesh`. The format version must be
  /// supported. The target must be "cpu" or "cuda"; only "cuda" may round to
  /// tf32. The mesh must have 1 to 32 axes with different names, and at most
  /// kMaxRanks ranks. The pipeline axis must have the coordinates of the
  /// program and of all stages. There must be at least 1 microbatch.
  /// Intermediate results may need at most kMaxBytes. Statistics of a stage,
  /// such as the bytes of its weights, must not be negative, and the program
  /// must execute the stage.
  std::string checkHead() {
    if (program.format != kFormatVersion)
      return "it has format " + std::to_string(program.format) +
             ", this runtime reads format " + std::to_string(kFormatVersion);
    if (program.target != "cpu" && program.target != "cuda")
      return "it is for '" + program.target + "'";
    if (program.axes.empty() || program.axes.size() > 32)
      return "it has " + counted(program.axes.size(), "axis");
    int64_t ranks = 1;
    for (const auto &axis : program.axes) {
      if (axis->size < 1 || axis->size > kMaxRanks / ranks)
        return "axis '" + axis->name + "' has size " +
               std::to_string(axis->size);
      ranks *= axis->size;
    }
    if (program.microbatches < 1 || program.num_kernels < 0 ||
        program.arena_bytes < 0 || program.arena_bytes > kMaxBytes)
      return "its head has impossible counts";
    if (program.tf32 && program.target != "cuda")
      return "it rounds to tf32, which only GPUs do";
    if (program.position < 0 || program.position >= program.axes[0]->size)
      return "it is for position " + std::to_string(program.position);
    for (int32_t position : program.stage_positions)
      if (position < 0 || position >= program.axes[0]->size)
        return "a stage is at position " + std::to_string(position);
    if (program.samples < 1 || !(program.peak_flops >= 0))
      return "its step has impossible counts";
    for (const auto &stage : program.stages)
      if (!isHere(stage->stage) || !(stage->flops >= 0))
        return "its description of stage " + std::to_string(stage->stage) +
               " is impossible";
    mesh = meshOf(program);
    for (const dist::Axis &axis : mesh.axes)
      if (&axis != &mesh.axes[mesh.indexOf(axis.name)])
        return "it has two axes '" + axis.name + "'";
    return {};
  }

  /// Returns whether this program executes the pipeline stage with the number
  /// `stage`. Returns false if the model has no such stage.
  ///
  /// The compiler writes one program for each coordinate on the pipeline axis.
  /// All ranks with this coordinate execute the program. `program.position` is
  /// the coordinate of this program. `program.stage_positions` contains the
  /// coordinate of each stage. For example, `program.stage_positions` contains
  /// the coordinates 0, 1, 0 and 1. The program for coordinate 0 then executes
  /// the stages 0 and 2.
  bool isHere(int32_t stage) const {
    return stage >= 0 && stage < int64_t(program.stage_positions.size()) &&
           program.stage_positions[stage] == program.position;
  }

  /// Checks the communicator groups: sets of ranks that execute collectives
  /// together. Returns a description of the first fault, or an empty string. A
  /// group is given by sub-axes: mesh axes or factors of mesh axes. For
  /// example, in the mesh {dp=2, tp=4}, a group over tp has 4 ranks with the
  /// same coordinate on dp. The sub-axes must exist in the mesh and must not
  /// overlap. No sub-axis may belong to the axis "mb": its coordinate is the
  /// number of a microbatch, and each rank executes all microbatches.
  std::string checkGroups() {
    for (size_t i = 0; i < program.groups.size(); ++i) {
      const SubAxes group = groupOf(*program.groups[i], mesh);
      const int64_t one[] = {1};
      Layout layout = wholeLayout(one);
      layout.dims[0].factors[0].axes = group;
      const char *fault = findLayoutFault(layout, mesh, one);
      if (fault || holdsAxis(group, dist::timeAxis))
        return "group " + std::to_string(i) + " " +
               (fault ? fault : "uses the microbatch axis");
    }
    return {};
  }

  /// Checks the paths of the weight files. A path must be relative. The path
  /// must not be empty, and must not contain the component "..". For example,
  /// "layers/1.bin" is valid, and "../1.bin" is a fault. The runtime appends
  /// the path to the name of a directory, and opens the file at the resulting
  /// path. The check ensures that the resulting path is inside the directory.
  /// Returns a description of the first fault, or an empty string.
  std::string checkFiles() {
    for (const auto &file : program.files)
      if (!isInsideRoot(file->path))
        return "weight file '" + file->path + "' lies outside its root";
    return {};
  }

  std::string checkParameters() {
    for (const auto &parameter : program.parameters)
      if (std::string fault = findParameterFault(*parameter); !fault.empty())
        return "parameter '" + parameter->name + "' " + fault;
    return {};
  }

  /// Checks a parameter: a tensor that keeps its value between steps, such as a
  /// weight. Returns a description of the fault, or an empty string. The
  /// element type, the layout and the conversion from the weight file's tensor
  /// must be valid. If a weight file contains the parameter, the bytes must lie
  /// within the file. If a GPU kernel generates random initial values, the
  /// program must have the kernel. Each rank must hold the same shard in all
  /// microbatches, and `parameter.local_bytes` must be the size of this shard.
  std::string findParameterFault(const program::ParameterT &parameter) {
    const auto last = program::ElementType::Bool;
    if (!isKnown(parameter.type, last) || !isKnown(parameter.stored_type, last))
      return "has an unknown type";
    const int64_t stored =
        bytesOf(parameter.stored_shape, parameter.stored_type);
    if (stored < 0)
      return "has an impossible shape";
    if (parameter.file < -1 || parameter.file >= int64_t(program.files.size()))
      return "is in file " + std::to_string(parameter.file);
    if (parameter.file >= 0) {
      const uint64_t size = program.files[parameter.file]->size;
      if (parameter.length != uint64_t(stored) || parameter.offset > size ||
          parameter.length > size - parameter.offset)
        return "lies outside its file";
    }
    const bool isMade =
        parameter.file < 0 && !parameter.filled && program.target == "cuda";
    if (parameter.generator < -1 ||
        parameter.generator >= (isMade ? program.num_kernels : 0))
      return "is made by kernel " + std::to_string(parameter.generator);
    if (std::string fault = findTransformFault(parameter); !fault.empty())
      return fault;
    if (std::string fault = findStoredLayoutFault(parameter.layout.get(), mesh,
                                                  parameter.shape);
        !fault.empty())
      return fault;
    const Layout layout = layoutOf(*parameter.layout, mesh);
    if (isCutByMicrobatch(layout))
      return "is cut by microbatch";
    if (parameter.local_bytes != bytesOf(localShape(layout), parameter.type))
      return "has " + std::to_string(parameter.local_bytes) + " local bytes";
    return {};
  }

  /// Checks the transforms of a parameter. The transforms are the steps that
  /// convert a tensor of a weight file to the parameter. Each step is a
  /// transpose, a slice, a reshape or a cast. Each step must be possible for
  /// the result of the step before it. The last step must give the shape and
  /// the element type of the parameter. For example, if the weight file
  /// contains a tensor of shape [4, 6] and the only step is a transpose, the
  /// parameter must have the shape [6, 4]. Returns a description of the fault,
  /// or an empty string.
  static std::string findTransformFault(const program::ParameterT &parameter) {
    std::vector<int64_t> shape = parameter.stored_shape;
    program::ElementType type = parameter.stored_type;
    for (const auto &step : parameter.transforms) {
      if (const auto *transpose = step->step.AsTranspose()) {
        std::vector<int64_t> next;
        std::vector<int32_t> sorted = transpose->permutation;
        std::sort(sorted.begin(), sorted.end());
        for (size_t i = 0; i < sorted.size(); ++i)
          if (sorted[i] != int64_t(i))
            return "has a transpose that is not a permutation";
        if (sorted.size() != shape.size())
          return "has a transpose of another number of dims";
        for (int32_t from : transpose->permutation)
          next.push_back(shape[from]);
        shape = next;
      } else if (const auto *slice = step->step.AsSlice()) {
        if (slice->dim < 0 || slice->dim >= int64_t(shape.size()) ||
            !sliceFits(*slice, shape[slice->dim]))
          return "has a slice outside its tensor";
        shape[slice->dim] = slice->size;
      } else if (const auto *reshape = step->step.AsReshape()) {
        if (bytesOf(reshape->shape, type) != bytesOf(shape, type))
          return "has a reshape to another number of elements";
        shape = reshape->shape;
      } else if (const auto *cast = step->step.AsCast()) {
        if (!isKnown(cast->type, program::ElementType::Bool))
          return "has a cast to an unknown type";
        type = cast->type;
      } else {
        return "has an unknown transform";
      }
    }
    return shape == parameter.shape && type == parameter.type
               ? ""
               : "has transforms that do not end in its shape and type";
  }

  /// Returns whether a slice of one dim reads only existing indices. `size` is
  /// the number of elements of the dim. The slice reads `slice.size` indices.
  /// The first one is `slice.start`, and the distance between neighbors is
  /// `slice.step`. For example, a slice with start 7, size 3 and step -2 reads
  /// the indices 7, 5 and 3. The slice may come from an untrusted file. The
  /// function computes the last index in 128 bits, because `slice.step` may be
  /// so large that 64 bits overflow.
  static bool sliceFits(const program::SliceT &slice, int64_t size) {
    if (slice.start < 0 || slice.start > size || slice.size < 0 ||
        slice.step == 0)
      return false;
    if (slice.size == 0)
      return true;
    const __int128 end =
        __int128(slice.start) + __int128(slice.size - 1) * slice.step;
    return slice.start < size && end >= 0 && end < size;
  }

  std::string checkBuffers() {
    for (size_t i = 0; i < program.buffers.size(); ++i)
      if (std::string fault = findBufferFault(*program.buffers[i]);
          !fault.empty())
        return "buffer " + std::to_string(i) + " '" + program.buffers[i]->name +
               "' " + fault;
    return {};
  }

  /// Checks a buffer. Returns a description of the fault, or an empty string. A
  /// buffer has one or more slots, each for the tensor of one microbatch. For
  /// example, with 2 slots, the microbatches 0 and 2 use slot 0. The element
  /// type must exist, and the size of a slot must match the shape and the
  /// element type. The slots must not overlap, and must lie within
  /// `buffer.memory`: the memory of the intermediate results, of one parameter,
  /// or of the constants. The offset of each slot must be a multiple of the
  /// element size.
  std::string findBufferFault(const program::BufferT &buffer) {
    if (!isKnown(buffer.type, program::ElementType::Bool) ||
        !isKnown(buffer.memory, program::Memory::Constant))
      return "has an unknown type or memory";
    if (buffer.bytes < 0 || bytesOf(buffer.shape, buffer.type) != buffer.bytes)
      return "does not have the size of its shape";
    if (buffer.slots < 1 || buffer.slot_stride < 0 ||
        (buffer.slots > 1 && buffer.slot_stride < buffer.bytes))
      return "has overlapping slots";
    int64_t available = program.arena_bytes;
    if (buffer.memory == program::Memory::Constant)
      available = constantBytes;
    if (buffer.memory == program::Memory::Parameter) {
      if (buffer.index < 0 ||
          buffer.index >= int64_t(program.parameters.size()))
        return "is of parameter " + std::to_string(buffer.index);
      available = program.parameters[buffer.index]->local_bytes;
    }
    const __int128 end = __int128(buffer.offset) + buffer.bytes +
                         __int128(buffer.slots - 1) * buffer.slot_stride;
    const auto size = int64_t(sizeOf(typeOf(buffer.type)));
    if (buffer.offset < 0 || end > available)
      return "ends outside its memory of " + counted(available, "byte");
    if (buffer.offset % size != 0 || buffer.slot_stride % size != 0)
      return "is not aligned";
    return {};
  }

  bool isBuffer(int32_t index) const {
    return index >= 0 && index < int64_t(program.buffers.size());
  }

  /// Checks `port`, an input or an output of the model. Returns a description
  /// of the fault, or an empty string. `port.buffer` is the index of a buffer,
  /// or -1 if this program does not use the port. Otherwise the division of the
  /// tensor over the ranks must be valid. The buffer must have the element type
  /// of the tensor, and as many elements as one rank holds. If the elements
  /// differ between microbatches, the buffer must have a copy for each
  /// microbatch. If `isWritten` is true, the runtime writes the buffer (an
  /// input), and the buffer must be in the memory of intermediate results.
  template <typename Port>
  std::string findPortFault(const Port &port, bool isWritten) {
    if (!isKnown(port.type, program::ElementType::Bool) ||
        bytesOf(port.shape, port.type) < 0)
      return "has an unknown type or an impossible shape";
    if (port.buffer == -1)
      return {};
    if (!isBuffer(port.buffer))
      return "is in buffer " + std::to_string(port.buffer);
    if (std::string fault =
            findStoredLayoutFault(port.layout.get(), mesh, port.shape);
        !fault.empty())
      return fault;
    const Layout layout = layoutOf(*port.layout, mesh);
    const program::BufferT &buffer = *program.buffers[port.buffer];
    if (buffer.type != port.type ||
        numElements(localShape(layout)) != numElements(buffer.shape))
      return "does not fit its buffer";
    if (isWritten && buffer.memory != program::Memory::Arena)
      return "is not in the arena";
    if (isCutByMicrobatch(layout) && buffer.slots != program.microbatches)
      return "has " + std::to_string(buffer.slots) + " slots";
    return {};
  }

  std::string checkInputs() {
    for (const auto &input : program.inputs) {
      std::string fault = findPortFault(*input, /*isWritten=*/true);
      if (fault.empty() && (input->batch_dim < -1 ||
                            input->batch_dim >= int64_t(input->shape.size())))
        fault = "has no dim " + std::to_string(input->batch_dim);
      if (!fault.empty())
        return "input '" + input->name + "' " + fault;
    }
    return {};
  }

  std::string checkOutputs() {
    for (const auto &output : program.outputs)
      if (std::string fault = findPortFault(*output, /*isWritten=*/false);
          !fault.empty())
        return "output '" + output->name + "' " + fault;
    return {};
  }

  /// Returns whether one end of a transfer is valid. A transfer is a value that
  /// one pipeline stage sends to another. `stage` is the stage at this end, and
  /// must exist. `buffer` is the index of the buffer with the value, or -1 if
  /// there is none. A buffer must exist, and the ranks of this program must
  /// execute the stage. If `isWritten` is true, the stage receives the value,
  /// and the buffer must be in the arena, the memory of intermediate results.
  bool isEndFine(int32_t stage, int32_t buffer, bool isWritten) const {
    if (stage < 0 || stage >= int64_t(program.stage_positions.size()))
      return false;
    if (buffer == -1)
      return true;
    return isBuffer(buffer) &&
           program.stage_positions[stage] == program.position &&
           (!isWritten ||
            program.buffers[buffer]->memory == program::Memory::Arena);
  }

  std::string checkTransfers() {
    for (const auto &transfer : program.transfers)
      if (!isEndFine(transfer->from_stage, transfer->from_buffer, false) ||
          !isEndFine(transfer->to_stage, transfer->to_buffer, true))
        return "the transfer of '" + transfer->value +
               "' has an end that does not exist";
    return {};
  }

  /// Checks that each instruction in `list` accesses only memory of its own
  /// buffers. `list` contains the instructions of one function of the program,
  /// such as the forward pass of one stage. `where` is the name of this
  /// function. The result is an empty string, or an error message with the
  /// number of the first faulty instruction and the name `where`.
  std::string
  checkList(const std::string &where,
            const std::vector<std::unique_ptr<program::InstructionT>> &list) {
    for (size_t i = 0; i < list.size(); ++i)
      if (std::string fault = findInstructionFault(program, mesh, *list[i]);
          !fault.empty())
        return "instruction " + std::to_string(i) + " of " + where + " (" +
               list[i]->node + ") " + fault;
    return {};
  }

  /// Returns whether two instructions can be the two halves of one collective.
  /// A collective can be split into an instruction that starts the
  /// communication and a later instruction that finishes the communication.
  /// Both instructions must have, for example, the same kind, group and
  /// buffers.
  static bool areHalves(const program::CollectiveT &start,
                        const program::CollectiveT &finish) {
    const auto facts = [](const program::CollectiveT &half) {
      return std::tie(half.kind, half.group, half.in, half.out, half.scratch,
                      half.reduction, half.only, half.value);
    };
    return facts(start) == facts(finish);
  }

  /// Checks the split collectives of a function. A split collective consists of
  /// two instructions. The first instruction starts the communication, and the
  /// second instruction finishes the communication. Returns a description of
  /// the first fault, or an empty string. The function must satisfy these
  /// conditions:
  ///
  /// - Each instruction that starts a collective has one later instruction that
  ///   finishes the collective.
  /// - Each instruction that finishes a collective has one earlier instruction
  ///   that starts the collective.
  /// - The collectives of one communicator group finish in the order in which
  ///   they started.
  std::string checkHalves(const program::FunctionT &function) {
    std::map<int32_t, std::deque<const program::CollectiveT *>> startedOver;
    for (const auto &instruction : function.instructions) {
      const program::CollectiveT *collective = instruction->body.AsCollective();
      if (!collective || collective->part == program::CollectivePart::Whole)
        continue;
      auto &started = startedOver[collective->group];
      if (collective->part == program::CollectivePart::Start) {
        started.push_back(collective);
        continue;
      }
      if (started.empty() || !areHalves(*started.front(), *collective))
        return function.name + " finishes the collective of '" +
               collective->value + "', which it has not started";
      started.pop_front();
    }
    for (const auto &[group, started] : startedOver)
      if (!started.empty())
        return function.name + " does not finish the collective of '" +
               started.front()->value + "'";
    return {};
  }

  /// Checks that every communicator group is used in only one way: all
  /// collectives of the group are single instructions, or all collectives of
  /// the group are split. A split collective has an instruction that starts the
  /// communication and a later instruction that finishes the communication.
  ///
  /// The reason for this rule is the order of messages. A group delivers the
  /// messages from one rank to another in the order in which the messages were
  /// sent. A message does not tell to which collective it belongs. Suppose that
  /// a collective of the same group runs between the start and the finish of a
  /// split collective. This collective could then receive a message that
  /// belongs to the split collective.
  std::string checkGroupsOfHalves() {
    std::map<int32_t, bool> isOfHalves;
    for (const auto &function : program.functions)
      for (const auto &instruction : function->instructions) {
        const program::CollectiveT *collective =
            instruction->body.AsCollective();
        if (!collective || collective->group < 0)
          continue;
        const bool isHalf = collective->part != program::CollectivePart::Whole;
        auto [known, isNew] = isOfHalves.try_emplace(collective->group, isHalf);
        if (known->second != isHalf)
          return "group " + std::to_string(collective->group) +
                 " has collectives in one part and in two";
      }
    return {};
  }

  /// Checks the instructions of all functions. Returns a description of the
  /// first fault, or an empty string. Each instruction must access only memory
  /// of its own buffers. A collective may be split into two instructions: the
  /// first one starts the communication, and the second one finishes it. Both
  /// must be in the same function, in this order. The split collectives of a
  /// communicator group must finish in the order in which they started. If one
  /// collective of a group is split, all collectives of the group must be
  /// split.
  std::string checkInstructions() {
    for (const auto &function : program.functions) {
      if (std::string fault = checkList(function->name, function->instructions);
          !fault.empty())
        return fault;
      if (std::string fault = checkHalves(*function); !fault.empty())
        return fault;
    }
    return checkGroupsOfHalves();
  }

  /// Returns whether all messages in a list are valid. A message sends or
  /// receives one value for one microbatch. Its fields `transfer` and
  /// `microbatch` must be in range. `transfer` is an index in
  /// `program.transfers`, the values that pipeline stages send to each other.
  /// The transfer must have a buffer for the value: the field `buffer` of the
  /// transfer must not be negative. This field is `from_buffer` for a list of
  /// sends, and `to_buffer` for a list of receives.
  bool areFine(const std::vector<program::Message> &messages,
               int32_t program::TransferT::*buffer) const {
    for (const program::Message &message : messages)
      if (message.transfer() < 0 ||
          message.transfer() >= int64_t(program.transfers.size()) ||
          message.microbatch() < 0 ||
          message.microbatch() >= program.microbatches ||
          (*program.transfers[message.transfer()]).*buffer < 0)
        return false;
    return true;
  }

  /// Checks the actions of the program: the steps of its schedule. Returns a
  /// description of the first fault, or an empty string. The stage and the
  /// microbatch must exist. An action of kind Post or Wait begins messages, or
  /// waits for messages; its `function` must be -1. An action of any other kind
  /// executes a function, a list of instructions. `function` must be the index
  /// of a function, or -1 for no effect, and `sends` and `receives` must be
  /// empty. Each action records the bytes of the arena in use during and after
  /// the action, and how many of them are gradients. The bytes of gradients
  /// must not be negative or exceed the bytes in use. Each message must also
  /// satisfy the conditions of checkMessages().
  std::string checkActions() {
    for (size_t i = 0; i < program.actions.size(); ++i) {
      const program::ActionT &action = *program.actions[i];
      const bool hasMessages =
          !action.sends.empty() || !action.receives.empty();
      const bool exchanges = action.kind == program::ActionKind::Post ||
                             action.kind == program::ActionKind::Wait;
      if (!isKnown(action.kind, program::ActionKind::Unshard) ||
          action.stage < 0 ||
          action.stage >= int64_t(program.stage_positions.size()) ||
          action.microbatch < 0 || action.microbatch >= program.microbatches ||
          action.function < -1 ||
          action.function >= int64_t(program.functions.size()) ||
          (exchanges ? action.function != -1 : hasMessages) ||
          action.gradients_during < 0 || action.gradients_after < 0 ||
          action.gradients_during > action.bytes_during ||
          action.gradients_after > action.bytes_after ||
          !areFine(action.sends, &program::TransferT::from_buffer) ||
          !areFine(action.receives, &program::TransferT::to_buffer))
        return "action " + std::to_string(i) + " is impossible";
    }
    return checkMessages();
  }

  /// Checks the messages between pipeline stages. A message sends or receives
  /// one value for one microbatch. An action is one step of the pipeline
  /// schedule. An action of kind Post begins messages. An action of kind Wait
  /// waits until messages are delivered. Each message must occur in exactly one
  /// action of kind Post, and in exactly one later action of kind Wait. Returns
  /// a description of the fault, or an empty string.
  std::string checkMessages() const {
    using Name = std::tuple<bool, int32_t, int32_t>;
    std::map<Name, bool> isOpen;
    const auto note = [&](const Name &name, program::ActionKind kind) {
      if (kind == program::ActionKind::Post)
        return isOpen.insert({name, true}).second;
      auto it = isOpen.find(name);
      return it != isOpen.end() && std::exchange(it->second, false);
    };
    for (size_t i = 0; i < program.actions.size(); ++i) {
      const program::ActionT &action = *program.actions[i];
      for (const auto *side : {&action.sends, &action.receives})
        for (const program::Message &message : *side)
          if (!note({side == &action.sends, message.transfer(),
                     message.microbatch()},
                    action.kind))
            return "action " + std::to_string(i) +
                   " has a message that is posted or waited for at another "
                   "place";
    }
    for (const auto &[name, open] : isOpen)
      if (open)
        return "a message of '" +
               program.transfers[size_t(std::get<1>(name))]->value +
               "' is never waited for";
    return {};
  }

  const program::ProgramT &program;
  int64_t constantBytes;
  Mesh mesh;
};
} // namespace

Status verifyProgram(const program::ProgramT &program, int64_t constantBytes) {
  std::string fault = Verifier(program, constantBytes).run();
  if (fault.empty())
    return Status::success();
  return Status::error(DamagedBundle, "the program is damaged: " + fault);
}

} // namespace pcc::runtime
