//===- ProbedDevice.h - a device whose instructions are looked at ---------===//

#ifndef PCC_BENCH_GPU_PROBE_PROBEDDEVICE_H
#define PCC_BENCH_GPU_PROBE_PROBEDDEVICE_H

#include "bench/gpu/probe/KernelCheck.h"

namespace pcc::bench {

/// What was seen of an instruction in all of its runs.
struct Observation {
  const program::InstructionT *instruction = nullptr;
  int64_t runs = 0;
  double seconds = 0; ///< the quickest
  Errors errors = {}; ///< the largest
  /// A product without all that is fused into it, and its quickest run.
  program::InstructionT bare = {};
  double bareSeconds = 0;
};

enum class Probe { Check, Time };

/// A GPU that does one instruction after the other. Probe::Check compares every
/// kernel with its twin on what the program has computed so far; Probe::Time
/// does each instruction again and again.
class ProbedDevice final : public runtime::Device {
public:
  ProbedDevice(runtime::Device &gpu, Probe probe) : gpu(gpu), probe(probe) {}

  /// In the order of the program.
  const std::vector<std::unique_ptr<Observation>> &all() const {
    return observations;
  }
  /// Instructions without operands on the GPU, or that the host does, are not
  /// looked at.
  Status prepare(const runtime::LoadContext &context,
                 const program::InstructionT &instruction,
                 std::unique_ptr<runtime::Operation> &op) override;

  bool sharesHostMemory() const override { return gpu.sharesHostMemory(); }
  Status allocate(int64_t bytes, char *&data) override {
    return gpu.allocate(bytes, data);
  }
  Status allocatePinned(int64_t bytes, char *&data) override {
    return gpu.allocatePinned(bytes, data);
  }
  Status upload(void *to, const void *from, size_t bytes) override {
    return gpu.upload(to, from, bytes);
  }
  Status download(void *to, const void *from, size_t bytes) override {
    return gpu.download(to, from, bytes);
  }
  Status beginUpload(void *to, const void *from, size_t bytes) override {
    return gpu.beginUpload(to, from, bytes);
  }
  Status copyWithin(std::span<const runtime::DeviceCopy> copies) override {
    return gpu.copyWithin(copies);
  }
  Status clear(void *data, size_t bytes) override {
    return gpu.clear(data, bytes);
  }
  Status copy(std::span<const runtime::StridedCopy> copies, const void *from,
              void *to, size_t size) override {
    return gpu.copy(copies, from, to, size);
  }
  Status generate(const runtime::ProgramImage &image, int32_t kernel,
                  uint64_t key, std::span<const runtime::StridedCopy> copies,
                  void *to) override {
    return gpu.generate(image, kernel, key, copies, to);
  }
  Status finishLoading() override { return gpu.finishLoading(); }
  Status poll(bool &isDone) override { return gpu.poll(isDone); }

private:
  runtime::Device &gpu;
  const Probe probe;
  std::vector<std::unique_ptr<Observation>> observations;
};

/// Until the GPU has done all that it was given.
Status finish(runtime::Device &gpu);
/// Seconds of `work`, done so often that its start does not count.
Status time(runtime::Device &gpu, const std::function<Status()> &work,
            double &seconds);

} // namespace pcc::bench

#endif // PCC_BENCH_GPU_PROBE_PROBEDDEVICE_H
