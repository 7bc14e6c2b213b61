//===- RunOptionsCheck.cpp - options that a bundle would ignore -----------===//

#include "runtime/engine/options/RunOptionsCheck.h"

#include <initializer_list>

namespace pcc::runtime {

namespace {
struct GivenOption {
  const char *name;
  bool isGiven;
};
} // namespace

/// Returns the name of the first option that is given; null if none is.
static const char *firstGiven(std::initializer_list<GivenOption> options) {
  for (const GivenOption &option : options)
    if (option.isGiven)
      return option.name;
  return nullptr;
}

/// Returns an error if an option for GPUs is given to a bundle for CPUs.
static Status checkGpuOptions(const RunOptions &options) {
  const char *name = firstGiven({{"--share-gpu", options.shareGpu},
                                 {"--no-graph", !options.recordSteps}});
  return name ? Status::error(WrongUsage,
                              std::string(name) +
                                  " is for GPUs, but the bundle runs on CPUs",
                              {"compile the model with --target cuda"})
              : Status::success();
}

Status checkRunOptions(const RunOptions &options, bool trains, bool isForGpus) {
  const RunOptions defaults;
  if (!isForGpus)
    PCC_RETURN_IF_ERROR(checkGpuOptions(options));
  if (trains) {
    if (const char *name =
            firstGiven({{"--repeat", options.repeat != defaults.repeat},
                        {"--warmup", options.warmup != defaults.warmup}}))
      return Status::error(WrongUsage, std::string(name) +
                                           " is for inference, but the bundle "
                                           "trains; --steps N trains N steps");
    if (const char *name =
            firstGiven({{"--save-every", options.saveEvery > 0},
                        {"--save-in-background", options.saveInBackground}});
        name && options.save.empty())
      return Status::error(WrongUsage, std::string(name) + " needs --save DIR");
    return options.metrics == "-"
               ? Status::error(WrongUsage,
                               "--metrics needs a file, since the lines of "
                               "steps are on stdout, got '-'")
               : Status::success();
  }
  const char *name =
      firstGiven({{"--data", !options.data.empty()},
                  {"--save", !options.save.empty()},
                  {"--save-every", options.saveEvery > 0},
                  {"--save-in-background", options.saveInBackground},
                  {"--resume", !options.resume.empty()},
                  {"--metrics", !options.metrics.empty()},
                  {"--tokens", !options.tokens.empty()},
                  {"--peak-flops", options.peakFlops != defaults.peakFlops},
                  {"--steps", options.steps != defaults.steps},
                  {"--log-every", options.logEvery != defaults.logEvery},
                  {"--check-finite", options.checkFinite}});
  return name ? Status::error(WrongUsage,
                              std::string(name) +
                                  " is for training, but the bundle does "
                                  "not train",
                              {"compile the model with --train"})
              : Status::success();
}

Status checkWeightsOption(const RunOptions &options,
                          const program::ProgramT &program) {
  bool isRandom = false, isPacked = false;
  for (const auto &parameter : program.parameters)
    isRandom |= parameter->file < 0 && !parameter->filled;
  for (const auto &file : program.files) {
    if (!file->in_bundle)
      return Status::success();
    isPacked = true;
  }
  if (options.weights.empty() || (!isRandom && !isPacked))
    return Status::success();
  return Status::error(
      WrongUsage,
      std::string("--weights replaces the folder of weight "
                  "files, but the bundle ") +
          (isPacked ? "holds its weights" : "has random weights and no files"),
      {isPacked ? "compile the model without --pack-weights"
                : "compile the model without "
                  "--random-weights"});
}

} // namespace pcc::runtime
