//===- TestProgram.h - builds small programs by hand ----------------------===//

#ifndef PCC_TEST_RUNTIME_PROGRAM_TESTPROGRAM_H
#define PCC_TEST_RUNTIME_PROGRAM_TESTPROGRAM_H

#include "runtime/program/Program.h"
#include "test/runtime/program/Layouts.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace pcc::test {

/// Builds the program of one position: buffers one after another in the arena,
/// all instructions in one function. Methods return indices.
class TestProgram {
public:
  TestProgram(const std::vector<std::pair<std::string, int64_t>> &axes,
              int32_t microbatches = 1) {
    tables.format = runtime::kFormatVersion;
    tables.target = "cpu";
    for (const auto &[name, size] : axes) {
      auto &axis = tables.axes.emplace_back(std::make_unique<program::AxisT>());
      axis->name = name;
      axis->size = size;
    }
    tables.microbatches = microbatches;
    tables.stage_positions = {0};
    tables.functions.push_back(std::make_unique<program::FunctionT>());
    tables.functions[0]->name = "stage 0";
  }

  dist::SubAxis axis(int32_t index) const {
    return {tables.axes[index]->name, 1, tables.axes[index]->size};
  }
  dist::SubAxis mb() const {
    return {std::string(dist::timeAxis), 1, tables.microbatches};
  }

  int buffer(const std::string &name, runtime::ElementType type,
             const std::vector<int64_t> &shape, program::Memory memory,
             int64_t offset, int32_t index = 0, int32_t slots = 1) {
    auto &buffer =
        tables.buffers.emplace_back(std::make_unique<program::BufferT>());
    buffer->name = name;
    buffer->type = runtime::toProgram(type);
    buffer->shape = shape;
    buffer->bytes = runtime::numElements(shape) * runtime::sizeOf(type);
    buffer->memory = memory;
    buffer->index = index;
    buffer->offset = offset;
    buffer->slots = slots;
    buffer->slot_stride = slots > 1 ? (buffer->bytes + 63) / 64 * 64 : 0;
    return int(tables.buffers.size()) - 1;
  }

  int arena(const std::string &name, runtime::ElementType type,
            const std::vector<int64_t> &shape, int32_t slots = 1) {
    const int index = buffer(name, type, shape, program::Memory::Arena,
                             (tables.arena_bytes + 63) / 64 * 64, 0, slots);
    const program::BufferT &made = *tables.buffers[index];
    tables.arena_bytes =
        made.offset + made.bytes + (slots - 1) * made.slot_stride;
    return index;
  }

  template <typename T>
  int constant(const std::string &name, runtime::ElementType type,
               const std::vector<int64_t> &shape, const std::vector<T> &data) {
    constants.resize((constants.size() + 63) / 64 * 64);
    const size_t offset = constants.size();
    constants.resize(offset + data.size() * sizeof(T));
    std::memcpy(constants.data() + offset, data.data(),
                data.size() * sizeof(T));
    return buffer(name, type, shape, program::Memory::Constant,
                  int64_t(offset));
  }

  int input(const std::string &name, runtime::ElementType type,
            const std::vector<int64_t> &shape, const runtime::Layout &layout,
            int64_t indexBound = 0) {
    auto &input =
        tables.inputs.emplace_back(std::make_unique<program::InputT>());
    input->index_bound = indexBound;
    return port(*input, name, type, shape, layout);
  }

  void output(const std::string &name, int buffer,
              const std::vector<int64_t> &shape,
              const runtime::Layout &layout) {
    auto &output =
        tables.outputs.emplace_back(std::make_unique<program::OutputT>());
    output->name = name;
    output->type = tables.buffers[buffer]->type;
    output->shape = shape;
    output->layout = layoutOf(layout);
    output->buffer = buffer;
  }

  /// Adds a buffer that is an output.
  int output(const std::string &name, runtime::ElementType type,
             const std::vector<int64_t> &shape, const runtime::Layout &layout) {
    auto &output =
        tables.outputs.emplace_back(std::make_unique<program::OutputT>());
    return port(*output, name, type, shape, layout);
  }

  int randomParameter(const std::string &name,
                      const std::vector<int64_t> &shape,
                      const runtime::Layout &layout) {
    auto &parameter =
        tables.parameters.emplace_back(std::make_unique<program::ParameterT>());
    parameter->name = name;
    parameter->seed = 1;
    parameter->stored_shape = parameter->shape = shape;
    parameter->layout = layoutOf(layout);
    return parameterBuffer(layout);
  }

  /// Adds a parameter in a file of the list. The caller describes the file.
  int fileParameter(const std::string &name, int32_t file, uint64_t offset,
                    const std::vector<int64_t> &shape,
                    const runtime::Layout &layout) {
    const int index = randomParameter(name, shape, layout);
    program::ParameterT &parameter = *tables.parameters.back();
    parameter.file = file;
    parameter.offset = offset;
    parameter.length = uint64_t(runtime::numElements(shape)) * 4;
    return index;
  }

  int group(const dist::SubAxes &axes) {
    tables.groups.push_back(std::make_unique<program::GroupT>(
        runtime::toProgram(axes, runtime::meshOf(tables))));
    return int(tables.groups.size()) - 1;
  }

  /// Appends an instruction and returns its table.
  template <typename Table>
  Table &instruction(const std::string &node, size_t function = 0) {
    auto &made = tables.functions[function]->instructions.emplace_back(
        std::make_unique<program::InstructionT>());
    made->node = node;
    made->body.Set(Table());
    return *static_cast<Table *>(made->body.value);
  }

  program::KernelT &kernel(const std::vector<int32_t> &buffers, int64_t extent,
                           int32_t id = 0) {
    program::KernelT &kernel = instruction<program::KernelT>("kernel");
    tables.num_kernels = std::max(tables.num_kernels, id + 1);
    kernel.kernel = id;
    kernel.buffers = buffers;
    kernel.extent = extent;
    return kernel;
  }

  /// Adds a product of dense row-major operands.
  program::MatmulT &matmul(int a, int b, int c, int64_t m, int64_t n,
                           int64_t k) {
    program::MatmulT &matmul = instruction<program::MatmulT>("matmul");
    matmul.a = a;
    matmul.b = b;
    matmul.c = c;
    matmul.m = m;
    matmul.n = n;
    matmul.k = k;
    matmul.a_strides = {k, 1};
    matmul.b_strides = {n, 1};
    matmul.c_strides = {n, 1};
    return matmul;
  }

  program::CollectiveT &
  collective(program::CollectiveKind kind, int group, int in, int out,
             const std::vector<int64_t> &shape, const runtime::Layout &from,
             const runtime::Layout &to, int scratch = -1) {
    auto &collective = instruction<program::CollectiveT>("collective");
    collective.kind = kind;
    collective.group = group;
    collective.in = in;
    collective.out = out;
    collective.shape = shape;
    collective.from = layoutOf(from);
    collective.to = layoutOf(to);
    collective.scratch = scratch;
    collective.value = "value";
    return collective;
  }

  /// Adds an action per microbatch: Forward with function 0.
  void runAll() {
    for (int32_t m = 0; m < tables.microbatches; ++m)
      action(program::ActionKind::Forward, 0, m, 0);
  }

  program::ActionT &action(program::ActionKind kind, int32_t stage,
                           int32_t microbatch, int32_t function) {
    auto &action =
        tables.actions.emplace_back(std::make_unique<program::ActionT>());
    action->kind = kind;
    action->stage = stage;
    action->microbatch = microbatch;
    action->function = function;
    return *action;
  }

  std::unique_ptr<program::LayoutT>
  layoutOf(const runtime::Layout &layout) const {
    return std::make_unique<program::LayoutT>(
        runtime::toProgram(layout, runtime::meshOf(tables)));
  }

  program::ProgramT tables;
  std::vector<std::byte> constants;

private:
  template <typename Port>
  int port(Port &port, const std::string &name, runtime::ElementType type,
           const std::vector<int64_t> &shape, const runtime::Layout &layout) {
    const bool isCut = runtime::isCutByMicrobatch(layout);
    port.name = name;
    port.type = runtime::toProgram(type);
    port.shape = shape;
    port.layout = layoutOf(layout);
    port.buffer = arena(name, type, runtime::localShape(layout),
                        isCut ? tables.microbatches : 1);
    return port.buffer;
  }

  int parameterBuffer(const runtime::Layout &layout) {
    program::ParameterT &parameter = *tables.parameters.back();
    const std::vector<int64_t> local = runtime::localShape(layout);
    parameter.local_bytes = runtime::numElements(local) * 4;
    return buffer(parameter.name, runtime::ElementType::F32, local,
                  program::Memory::Parameter, 0,
                  int32_t(tables.parameters.size()) - 1);
  }
};

} // namespace pcc::test

#endif // PCC_TEST_RUNTIME_PROGRAM_TESTPROGRAM_H
