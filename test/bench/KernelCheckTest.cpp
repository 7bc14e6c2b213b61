//===- KernelCheckTest.cpp - what differs from its twin is found ----------===//

#include "bench/gpu/probe/KernelCheck.h"
#include "test/runtime/program/Layouts.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::runtime;
using pcc::bench::Errors;
using pcc::bench::KernelCheck;

namespace {
/// A device whose memory is host memory.
class HostDevice : public Device {
public:
  bool sharesHostMemory() const override { return true; }
  Status allocate(int64_t, char *&) override { return Status::success(); }
  Status allocatePinned(int64_t, char *&) override { return Status::success(); }
  Status upload(void *to, const void *from, size_t bytes) override {
    return download(to, from, bytes);
  }
  Status download(void *to, const void *from, size_t bytes) override {
    std::memcpy(to, from, bytes);
    return Status::success();
  }
  Status clear(void *, size_t) override { return Status::success(); }
  Status copy(std::span<const StridedCopy>, const void *, void *,
              size_t) override {
    return Status::success();
  }
  Status prepare(const LoadContext &, const program::InstructionT &,
                 std::unique_ptr<Operation> &) override {
    return Status::success();
  }
  Status finishLoading() override { return Status::success(); }
  Status poll(bool &isDone) override {
    isDone = true;
    return Status::success();
  }
};

class NoParameters : public ParameterSource {
public:
  bool isExclusive(int32_t) const override { return false; }
  Status acquire(int32_t, const void *&) override { return Status::success(); }
  void drop(int32_t) override {}
};

/// Kernel y = x + 1 of four elements.
extern "C" void addOne(void *const *buffers, const int64_t *, int64_t,
                       int64_t) {
  for (int i = 0; i < 4; ++i)
    static_cast<float *>(buffers[1])[i] =
        static_cast<const float *>(buffers[0])[i] + 1;
}

class KernelCheckTest : public testing::Test {
protected:
  KernelCheckTest() {
    for (int i = 0; i < 2; ++i) {
      auto &buffer =
          program.buffers.emplace_back(std::make_unique<program::BufferT>());
      buffer->type = program::ElementType::F32;
      buffer->shape = {4};
      buffer->bytes = sizeof x;
    }
    kernel.buffers = {0, 1};
    kernel.num_results = 1;
  }

  /// Returns the error that KernelCheck finds in a launch.
  double errorOf(const std::function<void()> &launch, float *result) {
    BufferTable buffers(program), none(program);
    buffers.setBase(0, x);
    buffers.setBase(1, result);
    const Mesh mesh = test::makeMesh({1, 1});
    const LoadContext context{program, image, mesh,       at,
                              buffers, none,  parameters, device};
    Errors errors;
    const std::string action = "0F0";
    const Status status = KernelCheck(context, kernel, addOne)
                              .run(
                                  {at, 0, action},
                                  [&] {
                                    launch();
                                    return Status::success();
                                  },
                                  errors);
    EXPECT_TRUE(status.ok()) << status.message();
    return errors.at("f32");
  }

  void addOnGpu(float *result) const {
    for (int i = 0; i < 4; ++i)
      result[i] = x[i] + 1;
  }

  program::ProgramT program;
  program::KernelT kernel;
  const ProgramImage image = {};
  const Coordinates at = {0, 0};
  NoParameters parameters;
  HostDevice device;
  float x[4] = {1, 2, 3, 7}, y[4] = {};
};
} // namespace

TEST_F(KernelCheckTest, TheSameIsNoDifference) {
  EXPECT_EQ(errorOf([&] { addOnGpu(y); }, y), 0);
}

TEST_F(KernelCheckTest, AWrongElementIsRelativeToTheLargest) {
  EXPECT_EQ(errorOf(
                [&] {
                  addOnGpu(y);
                  y[0] += 2;
                },
                y),
            0.25);
}

TEST_F(KernelCheckTest, WhatIsNotWrittenIsFound) {
  EXPECT_EQ(errorOf([] {}, y), 1);
}

TEST_F(KernelCheckTest, ANumberThatIsNoneIsFound) {
  EXPECT_EQ(errorOf(
                [&] {
                  addOnGpu(y);
                  y[2] = NAN;
                },
                y),
            INFINITY);
}

/// The twin reads the values from before the GPU's write.
TEST_F(KernelCheckTest, AResultMayLieWhereAnOperandDoes) {
  EXPECT_EQ(errorOf([&] { addOnGpu(x); }, x), 0);
  EXPECT_EQ(x[3], 8);
}

/// x = -1 gives sums of 0 with rounding errors.
TEST_F(KernelCheckTest, WhatCancelsIsRelativeToWhatWasRead) {
  for (float &element : x)
    element = -1;
  EXPECT_EQ(errorOf(
                [&] {
                  addOnGpu(y);
                  y[1] = 0.5;
                },
                y),
            0.5);
}
