//===- Copy.cpp - strided copies and fills on the host --------------------===//

#include "runtime/device/cpu/CpuResources.h"

#include <algorithm>
#include <cstring>

namespace pcc::runtime {

/// Smallest number of bytes that one thread copies. For fewer bytes, starting
/// another thread costs more time than it saves.
static constexpr int64_t kBytesPerThread = 65536;

namespace {
/// Executes one Copy instruction: nested loops that copy elements from a source
/// buffer to a target buffer. Each iteration of the innermost loop copies one
/// element. The iterations of the outermost loop are divided over the threads.
///
/// In each of the two buffers, the index of the first copied element may depend
/// on the mesh coordinates of the rank and on the microbatch. For example, a
/// rank with coordinate 2 begins at element 16, and a rank with coordinate 3
/// begins at element 24.
class CopyOperation : public Operation {
public:
  CopyOperation(const ThreadTeam &threads, const LoadContext &context,
                const program::CopyT &copy)
      : threads(threads), context(context), copy(copy),
        size(sizeOf(typeOf(context.program.buffers[copy.source]->type))) {
    for (const program::Loop &loop : copy.loops) {
      loops.loops.push_back(
          {loop.extent(), loop.source_stride(), loop.target_stride()});
      isEmpty |= loop.extent() == 0;
    }
    simplify(loops);
  }

  Status run(const RunContext &run) override {
    if (isEmpty)
      return Status::success();
    const char *source = address(copy.source, copy.source_offset.get(), run);
    char *target = address(copy.target, copy.target_offset.get(), run);
    const int64_t inner =
        numElements(loops) / outerExtent(loops) * int64_t(size);
    const int64_t grain =
        std::max<int64_t>(kBytesPerThread / std::max<int64_t>(inner, 1), 1);
    threads.parallelFor(outerExtent(loops), grain,
                        [&](int64_t begin, int64_t end) {
                          runCopyPart(loops, begin, end, source, target, size);
                        });
    return Status::success();
  }

private:
  /// Returns the address of the first element that this rank copies in a
  /// buffer. The buffer is the source or the target of the copy.
  ///
  /// - `buffer`: index of the buffer in the program
  /// - `offset`: formula for the index of the element in the buffer. The
  ///   formula depends on the coordinates of this rank on the mesh. For
  ///   example, the formula 8 * x gives the index 16 if the coordinate of this
  ///   rank on the axis x is 2. If `offset` is null, the index is 0.
  /// - `run`: coordinates of this rank on the mesh, and number of the current
  ///   microbatch. A buffer may have separate memory for different
  ///   microbatches. The returned address is in the memory for the current
  ///   microbatch.
  char *address(int32_t buffer, const program::ScalarT *offset,
                const RunContext &run) const {
    char *base =
        static_cast<char *>(context.buffers.at(buffer, run.microbatch));
    return offset
               ? base + evaluate(*offset, context.mesh, run.at) * int64_t(size)
               : base;
  }

  const ThreadTeam &threads;
  LoadContext context;
  const program::CopyT &copy;
  /// Size of an element in bytes.
  size_t size;
  StridedCopy loops;
  /// Whether one of the copy's nested loops has extent 0, so that no element is
  /// copied.
  bool isEmpty = false;
};

/// Sets all elements of a buffer slot (the memory of one microbatch) to one
/// value.
class FillOperation : public Operation {
public:
  FillOperation(const LoadContext &context, const program::FillT &fill)
      : context(context), fill(fill),
        bytes(size_t(context.program.buffers[fill.buffer]->bytes)) {}

  /// Fills the buffer's memory for the microbatch `run.microbatch`. The value
  /// `fill.element` is first stored once, at the beginning of the memory. Then
  /// the filled bytes are copied to the bytes that follow them, until all bytes
  /// are filled. Each copy doubles the number of filled bytes: an element of 4
  /// bytes fills 4 bytes, then 8 bytes, then 16 bytes.
  Status run(const RunContext &run) override {
    char *target =
        static_cast<char *>(context.buffers.at(fill.buffer, run.microbatch));
    size_t filled = std::min(fill.element.size(), bytes);
    std::memcpy(target, fill.element.data(), filled);
    while (filled > 0 && filled < bytes) {
      const size_t next = std::min(filled, bytes - filled);
      std::memcpy(target + filled, target, next);
      filled += next;
    }
    return Status::success();
  }

private:
  LoadContext context;
  const program::FillT &fill;
  /// Size of one slot (the memory of one microbatch) in bytes.
  size_t bytes;
};
} // namespace

Status prepareCopy(CpuResources &resources, const LoadContext &context,
                   const program::InstructionT &instruction,
                   std::unique_ptr<Operation> &operation) {
  operation = std::make_unique<CopyOperation>(resources.threads(), context,
                                              *instruction.body.AsCopy());
  return Status::success();
}

Status prepareFill(CpuResources &, const LoadContext &context,
                   const program::InstructionT &instruction,
                   std::unique_ptr<Operation> &operation) {
  operation =
      std::make_unique<FillOperation>(context, *instruction.body.AsFill());
  return Status::success();
}

} // namespace pcc::runtime
