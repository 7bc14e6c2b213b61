//===- RandomTensor.cpp - stand-ins for weights and inputs ----------------===//

#include "passes/interpret/RandomTensor.h"

using namespace mlir;
using namespace pcc;
using graph::HostTensor;

/// SplitMix64 (Steele, Lea and Flood 2014).
static uint64_t next(uint64_t &state) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

HostTensor interpret::randomTensor(RankedTensorType type, uint64_t seed,
                                   int64_t bound) {
  HostTensor tensor = HostTensor::zeros(type);
  for (double &value : tensor.floats)
    value = static_cast<float>(
        (static_cast<double>(next(seed) >> 40) * 0x1p-24 - 0.5) * 0.2);
  for (int64_t &value : tensor.ints)
    value = static_cast<int64_t>(
        next(seed) % static_cast<uint64_t>(std::max<int64_t>(1, bound)));
  return tensor;
}
