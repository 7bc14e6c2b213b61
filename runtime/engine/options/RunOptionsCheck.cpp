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

Status checkRunOptions(const RunOptions &options, bool trains) {
  const RunOptions defaults;
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

} // namespace pcc::runtime
