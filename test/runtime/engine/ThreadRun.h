//===- ThreadRun.h - runs programs on ranks that are threads --------------===//

#ifndef PCC_TEST_RUNTIME_ENGINE_THREADRUN_H
#define PCC_TEST_RUNTIME_ENGINE_THREADRUN_H

#include "runtime/comm/thread/ThreadWorld.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/engine/Rank.h"
#include "test/runtime/base/Folder.h"
#include "test/runtime/program/TestProgram.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace pcc::test {

/// The world of ranks that run these programs, one per position.
class ThreadRun {
public:
  void add(const TestProgram &builder) {
    const auto sealed = runtime::sealProgram(builder.tables, builder.constants);
    auto &storage = programs.emplace_back(sealed.size() + 64);
    auto *at = reinterpret_cast<std::byte *>(
        (reinterpret_cast<uintptr_t>(storage.data()) + 63) / 64 * 64);
    std::memcpy(at, sealed.data(), sealed.size());
    images.push_back({at, sealed.size(), nullptr, 0, nullptr});
    ranks = int(runtime::numRanks(runtime::meshOf(builder.tables)));
  }

  void setKernels(std::vector<runtime::KernelFunction> list) {
    kernels = std::move(list);
    variant = {"x86-64", kernels.data()};
  }

  Status run(const runtime::RunOptions &options) {
    return each(options, [](runtime::Rank &rank) { return rank.run(); });
  }

  /// Runs all ranks. Returns the first error.
  Status each(const runtime::RunOptions &options,
              const std::function<Status(runtime::Rank &)> &body) {
    const auto worlds = runtime::createThreadWorlds(ranks);
    std::vector<std::thread> threads;
    std::mutex mutex;
    Status first = Status::success();
    for (const auto &world : worlds)
      threads.emplace_back([&, worldOfRank = world.get()] {
        runtime::ProgramImage image =
            images[size_t(worldOfRank->rank() / (ranks / int(images.size())))];
        image.variants = &variant;
        image.numVariants = kernels.empty() ? 0 : 1;
        const auto device = runtime::createCpuDevice(1);
        Status status =
            body(*runtime::createRank(image, options, *worldOfRank, *device));
        if (status.ok())
          return;
        std::lock_guard lock(mutex);
        if (first.ok()) {
          first = status;
          worldOfRank->abort(status);
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    return first;
  }

  Status run(const std::map<std::string, std::string> &inputs,
             const std::string &outputDirectory) {
    runtime::RunOptions options;
    options.inputs = inputs;
    options.outputDirectory = outputDirectory;
    options.quiet = true;
    options.timeout = options.loadTimeout = 20;
    return run(options);
  }

private:
  std::vector<std::vector<std::byte>> programs;
  std::vector<runtime::ProgramImage> images;
  std::vector<runtime::KernelFunction> kernels;
  runtime::PccKernelVariant variant = {};
  int ranks = 0;
};

inline std::vector<float> iota(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    values[size_t(i)] = float(i);
  return values;
}

} // namespace pcc::test

#endif // PCC_TEST_RUNTIME_ENGINE_THREADRUN_H
