//===- TrainingRun.h - step after step, with its metrics and checkpoints --===//

#ifndef PCC_RUNTIME_ENGINE_TRAININGRUN_H
#define PCC_RUNTIME_ENGINE_TRAININGRUN_H

#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/engine/Inputs.h"
#include "runtime/engine/Report.h"
#include "runtime/engine/Schedule.h"

#include <cstdio>
#include <memory>

namespace pcc::runtime {

/// Whether a step changes weights.
bool trains(const program::ProgramT &program);

/// The steps of a training run on one rank.
class TrainingRun {
public:
  /// All of these must outlive this. The bases of all buffers are known.
  TrainingRun(const program::ProgramT &program, const Mesh &mesh,
              const Coordinates &at, const RunOptions &options, World &world,
              const BufferTable &buffers, const Inputs &inputs,
              Schedule &schedule);
  ~TrainingRun();

  /// Takes up a checkpoint, trains, and saves; adds what it took to `report`.
  /// Ends early, after a save, where a signal asked all ranks to.
  Status run(RankReport &report);

private:
  Status resume();
  Status openOutputs();
  Status trainStep(RankReport &report);
  Status saveIfDue(bool isLast);
  Status agreeToStop(bool &stops);
  StepMetrics readMetrics() const;
  void tell(const StepMetrics &metrics, double seconds);

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  const RunOptions &options;
  World &world;
  const BufferTable &buffers;
  const Inputs &inputs;
  Schedule &schedule;
  std::vector<StateTensor> state;
  TrainingPosition position;
  std::unique_ptr<CheckpointWriter> writer;
  std::FILE *metricsFile = nullptr;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_TRAININGRUN_H
