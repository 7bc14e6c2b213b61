//===- OneInstruction.h - runs a program's instructions on the cpu device -===//

#ifndef PCC_TEST_RUNTIME_DEVICE_ONEINSTRUCTION_H
#define PCC_TEST_RUNTIME_DEVICE_ONEINSTRUCTION_H

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/program/VerifyProgram.h"
#include "test/runtime/program/TestProgram.h"

#include <gtest/gtest.h>

#include <map>

namespace pcc::test {

/// Weights in memory. Remembers which ones the device has dropped.
class MemoryParameters : public runtime::ParameterSource {
public:
  bool isExclusive(int32_t parameter) const override { return exclusive; }
  Status acquire(int32_t parameter, const void *&data) override {
    data = pieces.at(parameter).data();
    return Status::success();
  }
  void drop(int32_t parameter) override { dropped.push_back(parameter); }

  std::map<int32_t, std::vector<float>> pieces;
  std::vector<int32_t> dropped;
  bool exclusive = true;
};

/// Loads the first function of a program of one rank and runs it for microbatch
/// 0. Buffers are vectors.
class OneInstruction {
public:
  explicit OneInstruction(TestProgram &builder, int threads = 2)
      : at(builder.tables.axes.size() + 1, 0), builder(builder),
        mesh(runtime::meshOf(builder.tables)), table(builder.tables),
        device(runtime::createCpuDevice(threads)) {}

  template <typename T> void set(int buffer, const std::vector<T> &values) {
    auto &bytes = memory[buffer];
    bytes.resize(values.size() * sizeof(T));
    std::copy_n(reinterpret_cast<const std::byte *>(values.data()),
                bytes.size(), bytes.begin());
  }

  template <typename T> std::vector<T> get(int buffer) {
    std::vector<T> values(memory[buffer].size() / sizeof(T));
    std::memcpy(values.data(), memory[buffer].data(), memory[buffer].size());
    return values;
  }

  Status run() {
    if (auto status = runtime::verifyProgram(builder.tables,
                                             int64_t(builder.constants.size()));
        status.failed())
      return status;
    for (size_t i = 0; i < builder.tables.buffers.size(); ++i) {
      const auto &buffer = *builder.tables.buffers[i];
      memory[int(i)].resize(size_t(buffer.bytes));
      const bool isWeight = buffer.memory == program::Memory::Parameter;
      table.setBase(
          int32_t(i),
          isWeight ? static_cast<void *>(parameters.pieces[buffer.index].data())
                   : memory[int(i)].data());
    }
    const runtime::LoadContext context{
        builder.tables, image, mesh, at, table, table, parameters, *device};
    for (const auto &instruction : builder.tables.functions[0]->instructions) {
      auto &operation = operations.emplace_back();
      if (auto status = device->prepare(context, *instruction, operation);
          status.failed())
        return status;
    }
    if (auto status = device->finishLoading(); status.failed())
      return status;
    return rerun();
  }

  Status rerun() {
    static const std::string action = "0F0";
    for (auto &operation : operations)
      if (auto status = operation->run({at, 0, action}); status.failed())
        return status;
    return Status::success();
  }

  MemoryParameters parameters;
  runtime::ProgramImage image = {};
  runtime::Coordinates at;

private:
  TestProgram &builder;
  runtime::Mesh mesh;
  runtime::BufferTable table;
  std::map<int, std::vector<std::byte>> memory;
  std::unique_ptr<runtime::Device> device;
  std::vector<std::unique_ptr<runtime::Operation>> operations;
};

/// Returns small values that f32 sums exactly up to a few thousand terms.
inline std::vector<float> pattern(int64_t count, int seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    values[size_t(i)] = float((i * 7 + int64_t(seed) * 13 + i / 5) % 9 - 4) / 4;
  return values;
}

inline void expectNear(const std::vector<float> &actual,
                       const std::vector<double> &expected,
                       double tolerance = 1e-5) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], tolerance * (1 + std::abs(expected[i])))
        << "element " << i;
}

} // namespace pcc::test

#endif // PCC_TEST_RUNTIME_DEVICE_ONEINSTRUCTION_H
