//===- Copy.cpp - strided copies and fills on the host --------------------===//

#include "runtime/device/cpu/CpuResources.h"

#include <algorithm>
#include <cstring>

namespace pcc::runtime {

/// Smallest number of bytes that one thread copies. For fewer bytes, starting
/// another thread costs more time than it saves.
static constexpr int64_t kBytesPerThread = 65536;

namespace {
/// Executes a strided copy between two buffers. The iterations of its outermost
/// loop are divided over the threads. The first element in each buffer may
/// depend on the mesh coordinates of the rank and the microbatch.
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
  /// Returns the address of element `offset` of the buffer with index `buffer`.
  /// `offset` is an expression over mesh coordinates; it is evaluated at the
  /// coordinates of the run. A null `offset` means 0.
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
  /// Whether a loop has extent 0, so that the operation copies nothing.
  bool isEmpty = false;
};

/// Sets all elements of a buffer slot (the memory of one microbatch) to one
/// value.
class FillOperation : public Operation {
public:
  FillOperation(const LoadContext &context, const program::FillT &fill)
      : context(context), fill(fill),
        bytes(size_t(context.program.buffers[fill.buffer]->bytes)) {}

  /// Stores one element, then repeatedly copies the filled bytes to the bytes
  /// after them. Each copy doubles the number of filled bytes, until the slot
  /// (the memory of one microbatch) is full.
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
