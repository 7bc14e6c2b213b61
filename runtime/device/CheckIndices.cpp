//===- CheckIndices.cpp - bounds check of index tensors -------------------===//

#include "runtime/device/CheckIndices.h"
#include "runtime/device/QueuedDevice.h"

#include <algorithm>
#include <optional>

namespace pcc::runtime {

namespace {
/// Description of an index that is out of range. For example, the index 1000 is
/// out of range if it selects a row of a table with 1000 rows.
struct InvalidIndex {
  int64_t value;
  /// Size of the dim that is indexed. For example, `size` is 1000 if the index
  /// selects a row of a table with 1000 rows.
  int64_t size;
};

/// Describes one index tensor and the valid range of its indices. check()
/// checks whether all indices of the tensor are valid. For example, each index
/// selects a row of a table with 1000 rows. Valid indices are -1000 to 999, or
/// only 0 to 999 if negative indices are not allowed. If an index is invalid,
/// the error message names the index tensor and the table.
class IndexBounds {
public:
  IndexBounds(const program::ProgramT &program,
              const program::CheckIndicesT &indices, const std::string &node)
      : indices(indices), node(node),
        buffer(*program.buffers[size_t(indices.buffer)]),
        type(typeOf(buffer.type)) {}

  /// Checks all indices in an index tensor. `data` is the address of the tensor
  /// in host memory. Returns exit code 10 (BadInput) if an index is out of
  /// range.
  Status check(const void *data) const {
    const auto invalid = type == ElementType::I64
                             ? find(static_cast<const int64_t *>(data))
                             : find(static_cast<const int32_t *>(data));
    return invalid ? fail(*invalid) : Status::success();
  }

  size_t numBytes() const { return size_t(buffer.bytes); }

private:
  template <typename T> std::optional<InvalidIndex> find(const T *data) const {
    const int64_t count = numElements(buffer.shape);
    const auto numSizes = int64_t(indices.sizes.size());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t value = data[i];
      const int64_t size = indices.sizes[size_t(i % numSizes)];
      if (value < lowOf(size) || value >= size)
        return InvalidIndex{value, size};
    }
    return std::nullopt;
  }

  int64_t lowOf(int64_t size) const { return indices.from_zero ? 0 : -size; }

  Status fail(const InvalidIndex &invalid) const {
    const std::string range =
        invalid.size == 0 ? "no indices"
                          : "indices " + std::to_string(lowOf(invalid.size)) +
                                ".." + std::to_string(invalid.size - 1);
    return Status::error(
        BadInput, "index " + std::to_string(invalid.value) + " in '" +
                      indices.input + "' is outside " + indices.table_name +
                      ", which has " + range + " (node '" + node + "')");
  }

  const program::CheckIndicesT &indices;
  const std::string &node;
  const program::BufferT &buffer;
  ElementType type;
};

/// Checks an index tensor that is in host memory, such as the token numbers
/// that a Gather reads. The check is complete when run() returns.
///
/// On a CPU, this class checks every index tensor. On a GPU, this class checks
/// only the index tensors that are inputs of the model, because the host has a
/// copy of each input. CheckOfComputed checks the index tensors that the GPU
/// computes.
class CheckOnHost : public Operation {
public:
  CheckOnHost(const IndexBounds &bounds, const BufferTable &buffers,
              int32_t buffer)
      : bounds(bounds), buffers(buffers), buffer(buffer) {}

  bool runsOnHost() const override { return true; }

  Status run(const RunContext &run) override {
    return bounds.check(buffers.at(buffer, run.microbatch));
  }

private:
  IndexBounds bounds;
  const BufferTable &buffers;
  int32_t buffer;
};

/// Checks an index tensor that a GPU computes, such as a sum of two inputs of
/// the model. run() begins a copy of the index tensor from the GPU to the host.
/// After the end of the step, afterStep() checks the copy on the host.
///
/// Kernels of the step use the indices before this check. An index that is out
/// of range never makes a kernel access memory outside of the kernel's tensors.
/// For example, a gather from 1000 rows reads row 999 if the index is 5000.
class CheckOfComputed : public Operation {
public:
  CheckOfComputed(const IndexBounds &bounds, const LoadContext &context,
                  int32_t buffer)
      : bounds(bounds), context(context), buffer(buffer) {}

  /// Allocates host memory for copies of the index tensor. The GPU computes the
  /// index tensor once for each microbatch of a step. Each microbatch has its
  /// own copy, because afterStep() checks all copies only after the end of the
  /// step.
  Status open() {
    const int64_t numMicrobatches = context.program.microbatches;
    return context.device.allocatePinned(
        int64_t(bounds.numBytes()) * numMicrobatches, copies);
  }

  Status run(const RunContext &run) override {
    return context.device.queued()->beginDownload(
        copyOf(run.microbatch), context.buffers.at(buffer, run.microbatch),
        bounds.numBytes());
  }

  Status afterStep(const RunContext &run) override {
    return bounds.check(copyOf(run.microbatch));
  }

private:
  char *copyOf(int64_t microbatch) const {
    return copies + size_t(microbatch) * bounds.numBytes();
  }

  IndexBounds bounds;
  LoadContext context;
  int32_t buffer;
  /// Page-locked host memory with one copy of the index tensor for each
  /// microbatch. The copies follow each other in the order of the microbatches.
  /// run() begins to fill the copy of its microbatch, and afterStep() checks
  /// the copy. The C++ object `context.device` has allocated this memory, and
  /// frees it in its destructor.
  char *copies = nullptr;
};
} // namespace

Status prepareCheckIndices(const LoadContext &context,
                           const program::InstructionT &instruction,
                           std::unique_ptr<Operation> &operation) {
  const auto &indices = *instruction.body.AsCheckIndices();
  const IndexBounds bounds(context.program, indices, instruction.node);
  const auto &inputs = context.program.inputs;
  const bool isInput =
      std::any_of(inputs.begin(), inputs.end(), [&](const auto &input) {
        return input->buffer == indices.buffer;
      });
  if (context.device.sharesHostMemory() || isInput) {
    operation = std::make_unique<CheckOnHost>(bounds, context.hostBuffers,
                                              indices.buffer);
    return Status::success();
  }
  auto check =
      std::make_unique<CheckOfComputed>(bounds, context, indices.buffer);
  PCC_RETURN_IF_ERROR(check->open());
  operation = std::move(check);
  return Status::success();
}

} // namespace pcc::runtime
