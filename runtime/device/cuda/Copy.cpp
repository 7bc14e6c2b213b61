//===- Copy.cpp - contiguous copies and fills on the GPU ------------------===//

#include "runtime/device/cuda/CudaResources.h"

#include <algorithm>
#include <cstring>

namespace pcc::runtime {

namespace {
/// Copies contiguous elements from one buffer to another. In each buffer, the
/// index of the first element may depend on the mesh coordinates of the rank,
/// and on the microbatch.
class CopyOperation : public Operation {
public:
  CopyOperation(const CudaContext &gpu, const LoadContext &context,
                const program::CopyT &copy)
      : gpu(gpu), context(context), copy(copy),
        size(int64_t(sizeOf(
            typeOf(context.program.buffers[size_t(copy.source)]->type)))) {}

  Status run(const RunContext &run) override {
    const size_t bytes = size_t(copy.loops.front().extent() * size);
    if (bytes == 0)
      return Status::success();
    return gpu.check(gpu.driver().cuMemcpyDtoDAsync(
                         address(copy.target, copy.target_offset.get(), run),
                         address(copy.source, copy.source_offset.get(), run),
                         bytes, gpu.stream()),
                     "cuMemcpyDtoDAsync");
  }

private:
  /// Returns the address of an element of the buffer with index `buffer`, in
  /// the current microbatch. `offset` is a formula for the index of the
  /// element. The formula may use the coordinates of this rank on the mesh, and
  /// the index of the microbatch. `run` has the values of both. If `offset` is
  /// null, the index is 0.
  ///
  /// For example, let the formula be 4 times the coordinate on the axis "tp".
  /// If the coordinate of the rank on this axis is 3, the index is 12.
  CUdeviceptr address(int32_t buffer, const program::ScalarT *offset,
                      const RunContext &run) const {
    const int64_t elements =
        offset ? evaluate(*offset, context.mesh, run.at) : 0;
    return addressOf(context.buffers.at(buffer, run.microbatch)) +
           CUdeviceptr(elements * size);
  }

  const CudaContext &gpu;
  LoadContext context;
  const program::CopyT &copy;
  /// Size of an element in bytes.
  int64_t size;
};

/// Sets all elements of a buffer slot (the memory of one microbatch) to one
/// value with the driver's memset. An element has 1, 2, 4 or 8 bytes.
class FillOperation : public Operation {
public:
  FillOperation(const CudaContext &gpu, const LoadContext &context,
                const program::FillT &fill)
      : gpu(gpu), context(context), buffer(fill.buffer),
        count(size_t(context.program.buffers[size_t(buffer)]->bytes) /
              fill.element.size()),
        size(fill.element.size()) {
    std::memcpy(words, fill.element.data(), std::min(size, sizeof words));
  }

  Status run(const RunContext &run) override {
    if (count == 0)
      return Status::success();
    const CudaDriver &driver = gpu.driver();
    const CUdeviceptr at =
        addressOf(context.buffers.at(buffer, run.microbatch));
    switch (size) {
    case 1:
      return check(driver.cuMemsetD8Async(
          at, static_cast<unsigned char>(words[0]), count, gpu.stream()));
    case 2:
      return check(driver.cuMemsetD16Async(
          at, static_cast<unsigned short>(words[0]), count, gpu.stream()));
    case 4:
      return check(driver.cuMemsetD32Async(at, words[0], count, gpu.stream()));
    default:
      return fillHalves(at);
    }
  }

private:
  Status check(CUresult result) const {
    return gpu.check(result, "a memset of the driver");
  }

  /// Fills the memory of one microbatch with an element of 8 bytes. The driver
  /// has no memset for 8 bytes. One strided memset writes the low 32 bits of
  /// all elements, another one the high 32 bits.
  Status fillHalves(CUdeviceptr at) const {
    for (size_t half = 0; half < 2; ++half)
      PCC_RETURN_IF_ERROR(check(gpu.driver().cuMemsetD2D32Async(
          at + half * sizeof(uint32_t), /*dstPitch=*/size, words[half],
          /*Width=*/1, /*Height=*/count, gpu.stream())));
    return Status::success();
  }

  const CudaContext &gpu;
  LoadContext context;
  int32_t buffer;
  /// Number of elements in the buffer slot (the memory of one microbatch), and
  /// size of an element in bytes.
  size_t count, size;
  /// Bits of the element with which the buffer is filled. An element of 8 bytes
  /// uses both words: words[0] has the low 32 bits, and words[1] has the high
  /// 32 bits. An element of 4 bytes uses only words[0]. An element of 1 or 2
  /// bytes uses only the low bits of words[0].
  uint32_t words[2] = {0, 0};
};
} // namespace

Status prepareCopy(CudaResources &resources, const LoadContext &context,
                   const program::InstructionT &instruction,
                   std::unique_ptr<Operation> &operation) {
  const program::CopyT &copy = *instruction.body.AsCopy();
  const bool isDense = copy.loops.size() == 1 &&
                       copy.loops.front().source_stride() == 1 &&
                       copy.loops.front().target_stride() == 1;
  if (!isDense)
    return Status::error(DamagedBundle, "the cuda device only copies runs "
                                        "(node '" +
                                            instruction.node + "')");
  operation =
      std::make_unique<CopyOperation>(resources.context(), context, copy);
  return Status::success();
}

Status prepareFill(CudaResources &resources, const LoadContext &context,
                   const program::InstructionT &instruction,
                   std::unique_ptr<Operation> &operation) {
  operation = std::make_unique<FillOperation>(resources.context(), context,
                                              *instruction.body.AsFill());
  return Status::success();
}

} // namespace pcc::runtime
