//===- AttentionGraphsTest.cpp - cuDNN, asked without a GPU ---------------===//
//
// cuDNN tells, for a described GPU, whether it has an engine for a graph, and
// compiles it. Only loading the code needs a GPU.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/AttentionGraphs.h"
#include "gtest/gtest.h"

#include <string>
#include <string_view>

using namespace pcc;
using namespace pcc::runtime;

namespace {
constexpr std::string_view h100 = R"({
  "deviceName": "NVIDIA H100 80GB HBM3", "cudaDeviceId": 0, "pciDeviceId": 0,
  "deviceVer": 900, "driverVer": 13000, "multiProcessorCount": 132,
  "warpSize": 32, "regsPerBlock": 65536, "maxRegistersPerSM": 65536,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "maxCtasPerSM": 32,
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "isTccDriver": 0, "supportCoopLaunch": 1, "totalGlobalMem": 85000000000,
  "smClockRateKHz": 1980000, "memClockRateKHz": 2619000,
  "l2CacheSize": 52428800})";

/// Returns a description of an A100 with the properties that matter.
std::string a100() {
  std::string text(h100);
  text.replace(text.find("900"), 3, "800");
  text.replace(text.find("132"), 3, "108");
  text.replace(text.find("232448"), 6, "166912");
  return text;
}

/// Returns a shape in which batch, row and column follow the heads in memory,
/// as in models.
AttentionShape shapeOf(cudnnDataType_t type, int64_t heads, int64_t keyHeads,
                       int64_t sequence, int64_t depth, bool isCausal) {
  AttentionShape shape = {type,     2,     heads, keyHeads, sequence,
                          sequence, depth, depth, isCausal};
  const auto interleaved = [](const CudnnDims &dims) {
    return CudnnDims{dims[1] * dims[2] * dims[3], dims[3], dims[1] * dims[3],
                     1};
  };
  using enum AttentionTensor;
  for (AttentionTensor tensor : {Query, Result, Gradient, QueryGradient})
    shape.strides[size_t(tensor) - 1] = interleaved(shape.queryDims());
  for (AttentionTensor tensor : {Key, Value, KeyGradient, ValueGradient})
    shape.strides[size_t(tensor) - 1] = interleaved(shape.keyDims());
  return shape;
}

class AttentionGraphsTest : public testing::Test {
protected:
  void SetUp() override {
    if (Status status = openCudnnLibrary(library); status.failed())
      GTEST_SKIP() << status.message();
    // Descriptions of GPUs exist since version 9.8.
    if (library.cudnnGetVersion() < 90800)
      GTEST_SKIP() << "cuDNN " << library.cudnnGetVersion() << " is too old";
  }

  CudnnDescriptor describe(std::string_view gpu) {
    cudnnBackendDescriptor_t made = nullptr;
    EXPECT_EQ(library.cudnnBackendCreateDescriptor(
                  CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &made),
              CUDNN_STATUS_SUCCESS);
    CudnnDescriptor owned(library, made);
    EXPECT_EQ(library.cudnnBackendSetAttribute(
                  made, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                  CUDNN_TYPE_CHAR, int64_t(gpu.size()), gpu.data()),
              CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(library.cudnnBackendFinalize(made), CUDNN_STATUS_SUCCESS);
    return owned;
  }

  int64_t finish(CudnnGraph &graph, std::string_view gpu) {
    const CudnnDescriptor properties = describe(gpu);
    CudnnPlan plan;
    const Status status = graph.finish(nullptr, plan, properties.get());
    EXPECT_TRUE(status.ok()) << status.message();
    return graph.engines();
  }

  int64_t enginesOf(const AttentionShape &shape, bool withStatistics,
                    std::string_view gpu) {
    CudnnGraph graph(library);
    addAttention(graph, shape, withStatistics);
    return finish(graph, gpu);
  }

  int64_t enginesOfGradients(const AttentionShape &shape,
                             std::string_view gpu) {
    CudnnGraph graph(library);
    addAttentionGradients(graph, shape);
    return finish(graph, gpu);
  }

  CudnnLibrary library;
};
} // namespace

TEST(AttentionGradients, KnownErrorsOfCudnnAreAvoided) {
  const auto isSound = [](size_t version, int64_t sequence, bool isCausal) {
    return hasSoundGradients(
        shapeOf(CUDNN_DATA_BFLOAT16, 12, 12, sequence, 64, isCausal), version);
  };
  EXPECT_TRUE(isSound(91900, 1024, true));
  EXPECT_TRUE(isSound(91900, 200, false));
  EXPECT_FALSE(isSound(91000, 1024, true));
  EXPECT_FALSE(isSound(91001, 1024, true));
  EXPECT_TRUE(isSound(91002, 1024, true));
  EXPECT_FALSE(isSound(91500, 200, true));
  EXPECT_TRUE(isSound(91501, 200, true));
  EXPECT_FALSE(isSound(91900, 192, false));
  EXPECT_TRUE(isSound(91900, 192, true));
  EXPECT_FALSE(isSound(91900, 1, true));
}

TEST_F(AttentionGraphsTest, CudnnHasEngines) {
  for (const std::string &gpu : {std::string(h100), a100()})
    for (const AttentionShape &shape :
         {shapeOf(CUDNN_DATA_BFLOAT16, 12, 12, 200, 64, true),
          shapeOf(CUDNN_DATA_HALF, 12, 4, 128, 128, false)}) {
      EXPECT_GT(enginesOf(shape, false, gpu), 0);
      EXPECT_GT(enginesOf(shape, true, gpu), 0);
      EXPECT_GT(enginesOfGradients(shape, gpu), 0);
    }
}

TEST_F(AttentionGraphsTest, AnotherGraphHasNone) {
  const AttentionShape shape =
      shapeOf(CUDNN_DATA_BFLOAT16, 12, 12, 256, 64, true);
  CudnnGraph graph(library);
  const CudnnDims dims = shape.queryDims(), strides = denseCudnnStrides(dims);
  const auto query = graph.stored(1, shape.type, dims, strides),
             key = graph.stored(2, shape.type, {2, 12, 64, 256}, strides),
             scores = graph.between(CUDNN_DATA_FLOAT, shape.scoreDims()),
             weights = graph.between(shape.type, shape.scoreDims());
  graph.multiply(query, key, scores);
  graph.compute(CUDNN_POINTWISE_LOG, scores, weights);
  graph.multiply(weights, query, graph.stored(3, shape.type, dims, strides));
  EXPECT_EQ(finish(graph, h100), 0);
}
