//===- KernelCheck.cpp - a kernel beside its twin -------------------------===//

#include "bench/gpu/probe/KernelCheck.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>
#include <cmath>

namespace pcc::bench {

using namespace pcc;
using namespace pcc::runtime;

/// Alignment in bytes of buffers, on which kernels rely.
static constexpr uintptr_t kAligned = 64;

int64_t KernelCheck::bytesOf(size_t buffer) const {
  return context.program.buffers[size_t(kernel.buffers[buffer])]->bytes;
}

ElementType KernelCheck::typeOf(size_t buffer) const {
  return runtime::typeOf(
      context.program.buffers[size_t(kernel.buffers[buffer])]->type);
}

bool KernelCheck::isResult(size_t buffer) const {
  return buffer >= kernel.buffers.size() - size_t(kernel.num_results);
}

static std::vector<double> toDoubles(ElementType type, const void *data,
                                     int64_t bytes) {
  std::vector<double> values(size_t(bytes) / sizeOf(type));
  convertElements(type, data, int64_t(values.size()), ElementType::F64,
                  values.data());
  return values;
}

static double largestOf(const std::vector<double> &values) {
  double largest = 0;
  for (double value : values)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  return largest;
}

/// Downloads all memory that the launch touches.
Status KernelCheck::mirror(int64_t microbatch) {
  regions.clear();
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    const auto *begin = static_cast<const char *>(
        context.buffers.at(kernel.buffers[i], microbatch));
    regions.push_back({begin, begin + bytesOf(i), {}});
  }
  std::sort(regions.begin(), regions.end(),
            [](const Region &left, const Region &right) {
              return left.begin < right.begin;
            });
  std::vector<Region> joined;
  for (const Region &next : regions)
    if (joined.empty() || next.begin >= joined.back().end)
      joined.push_back(next);
    else
      joined.back().end = std::max(joined.back().end, next.end);
  regions = std::move(joined);
  for (Region &region : regions) {
    const auto bytes = size_t(region.end - region.begin);
    region.bytes.resize(bytes + kAligned);
    PCC_RETURN_IF_ERROR(
        context.device.download(find(region.begin), region.begin, bytes));
  }
  return Status::success();
}

/// Returns the address of the copy of `address` in host memory. It has the same
/// distance from a multiple of kAligned as on the GPU.
char *KernelCheck::find(const void *address) {
  const auto *at = static_cast<const char *>(address);
  for (Region &region : regions)
    if (region.begin <= at && (at < region.end || at == region.begin)) {
      const uintptr_t skip = reinterpret_cast<uintptr_t>(region.begin) -
                             reinterpret_cast<uintptr_t>(region.bytes.data());
      return region.bytes.data() + skip % kAligned + (at - region.begin);
    }
  return nullptr;
}

/// Returns the scalars of the launch. For a multi-tensor kernel they are the
/// number of parts and the number of elements of each part.
std::vector<int64_t> KernelCheck::scalarsAt(const Coordinates &at) const {
  std::vector<int64_t> scalars;
  if (!kernel.parts.empty()) {
    scalars = kernel.parts;
    scalars.insert(scalars.begin(), int64_t(kernel.parts.size()));
    return scalars;
  }
  for (const auto &scalar : kernel.scalars)
    scalars.push_back(evaluate(*scalar, context.mesh, at));
  return scalars;
}

Status KernelCheck::compare(size_t buffer, int64_t microbatch, Errors &errors) {
  void *const address = context.buffers.at(kernel.buffers[buffer], microbatch);
  const int64_t bytes = bytesOf(buffer);
  std::vector<char> made(static_cast<size_t>(bytes));
  PCC_RETURN_IF_ERROR(
      context.device.download(made.data(), address, made.size()));
  const ElementType type = typeOf(buffer);
  const std::vector<double> got = toDoubles(type, made.data(), bytes);
  const std::vector<double> want = toDoubles(type, find(address), bytes);
  double largest = 0;
  for (size_t i = 0; i < got.size(); ++i)
    if (got[i] != want[i] && !(std::isnan(got[i]) && std::isnan(want[i])))
      largest = std::max(largest, std::isfinite(got[i] - want[i])
                                      ? std::fabs(got[i] - want[i])
                                      : INFINITY);
  double scale = largestOf(want);
  if (scale < 1e-4 * largestRead)
    scale = largestRead;
  const double error = largest == 0 ? 0
                       : scale == 0 ? largest
                                    : largest / scale;
  double &most = errors[std::string(nameOf(type))];
  most = std::max(most, error);
  return Status::success();
}

Status KernelCheck::run(const RunContext &run,
                        const std::function<Status()> &launch, Errors &errors) {
  PCC_RETURN_IF_ERROR(mirror(run.microbatch));
  std::vector<void *> pointers;
  largestRead = 0;
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    pointers.push_back(
        find(context.buffers.at(kernel.buffers[i], run.microbatch)));
    if (!isResult(i))
      largestRead =
          std::max(largestRead,
                   largestOf(toDoubles(typeOf(i), pointers[i], bytesOf(i))));
  }
  const std::vector<int64_t> scalars = scalarsAt(run.at);
  twin(pointers.data(), scalars.data(), 0, kernel.extent);
  PCC_RETURN_IF_ERROR(launch());
  for (size_t i = 0; i < kernel.buffers.size(); ++i)
    if (isResult(i))
      PCC_RETURN_IF_ERROR(compare(i, run.microbatch, errors));
  return Status::success();
}

} // namespace pcc::bench
