//===- Throughput.cpp - samples, tokens and FLOPs per second of training --===//

#include "runtime/engine/observe/Throughput.h"

#include <array>
#include <cstdio>

namespace pcc::runtime {

/// Sets `tokens` to the number of labels in one step if the labels are token
/// ids. Labels are the model input with which the loss compares the
/// predictions. The function assumes that labels are token ids if they are
/// 32-bit or 64-bit integers and have at least two dims, such as batch and
/// sequence. `tokens` is 0 for all other labels, such as one class per image.
Throughput::Throughput(const program::ProgramT &program)
    : samples(double(program.samples)), peakFlops(program.peak_flops) {
  for (const auto &input : program.inputs)
    if (input->is_labels && input->shape.size() > 1 &&
        (typeOf(input->type) == ElementType::I64 ||
         typeOf(input->type) == ElementType::I32))
      tokens = double(numElements(input->shape));
  for (const auto &stage : program.stages)
    flops += stage->flops;
}

Status Throughput::open(const RunOptions &options, World &world) {
  if (options.peakFlops > 0)
    peakFlops = options.peakFlops;
  peakFlops *= world.size();
  return world.all().allReduce(&flops, &flops, 1, ElementType::F64,
                               dist::ReductionKind::Sum, {"load", "training"});
}

double Throughput::samplesPerSecond(double seconds) const {
  return samples / seconds;
}

std::optional<double> Throughput::tokensPerSecond(double seconds) const {
  return tokens > 0 ? std::optional(tokens / seconds) : std::nullopt;
}

std::optional<double> Throughput::mfu(double seconds) const {
  return peakFlops > 0 ? std::optional(flops / (seconds * peakFlops))
                       : std::nullopt;
}

std::string Throughput::describe(double seconds) const {
  std::array<char, 64> text;
  const auto speed = tokensPerSecond(seconds);
  std::snprintf(text.data(), text.size(), "%.0f %s/s",
                speed.value_or(samplesPerSecond(seconds)),
                speed ? "tokens" : "samples");
  std::string all = text.data();
  if (const auto share = mfu(seconds)) {
    std::snprintf(text.data(), text.size(), ", MFU %.1f %%", 100 * *share);
    all += text.data();
  }
  return all;
}

} // namespace pcc::runtime
