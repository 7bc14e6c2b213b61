//===- ProbedDevice.h - a device whose instructions are looked at ---------===//

#ifndef PCC_BENCH_GPU_PROBE_PROBEDDEVICE_H
#define PCC_BENCH_GPU_PROBE_PROBEDDEVICE_H

#include "bench/gpu/probe/KernelCheck.h"

namespace pcc::bench {

/// Observations of one instruction in all of its runs.
struct Observation {
  const program::InstructionT *instruction = nullptr;
  int64_t runs = 0;
  double seconds = 0; ///< the quickest
  Errors errors = {}; ///< the largest
  /// The product without the steps that are fused into it, and its shortest
  /// time.
  program::InstructionT bare = {};
  double bareSeconds = 0;
};

enum class Probe { Check, Time };

/// A GPU that executes one instruction at a time. Probe::Check compares every
/// kernel with its twin on the CPU, for the values that the program has
/// computed so far. Probe::Time executes each instruction repeatedly.
class ProbedDevice final : public runtime::Device {
public:
  ProbedDevice(runtime::Device &gpu, Probe probe) : gpu(gpu), probe(probe) {}

  /// Returns the observations in the order of the program.
  const std::vector<std::unique_ptr<Observation>> &all() const {
    return observations;
  }
  /// Prepares an instruction. Instructions without operands on the GPU, and
  /// those that the host executes, are not observed.
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
  Status clear(void *data, size_t bytes) override {
    return gpu.clear(data, bytes);
  }
  Status copy(std::span<const runtime::StridedCopy> copies, const void *from,
              void *to, size_t size) override {
    return gpu.copy(copies, from, to, size);
  }
  Status finishLoading() override { return gpu.finishLoading(); }
  Status poll(bool &isDone) override { return gpu.poll(isDone); }
  /// Returns the queue of the GPU. A step must not be recorded
  /// (RunOptions::recordSteps), because a replay would not be observed.
  runtime::QueuedDevice *queued() override { return gpu.queued(); }

private:
  runtime::Device &gpu;
  const Probe probe;
  std::vector<std::unique_ptr<Observation>> observations;
};

/// Waits until the GPU has completed all work that was queued.
Status finish(runtime::Device &gpu);
/// Measures the seconds of `work`, which is repeated so often that its start
/// does not count.
Status time(runtime::Device &gpu, const std::function<Status()> &work,
            double &seconds);

} // namespace pcc::bench

#endif // PCC_BENCH_GPU_PROBE_PROBEDDEVICE_H
