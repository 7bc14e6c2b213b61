//===- RunOptionsCli.cpp - command-line flags of a run --------------------===//

#include "runtime/engine/options/RunOptionsCli.h"

#include <CLI/CLI.hpp>

namespace pcc::runtime {

/// Parses one NAME=FILE.npy of --input. Throws for bad syntax or a repeated
/// name.
static void addInput(RunOptions &options, const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw CLI::ValidationError("--input",
                               "expects NAME=FILE.npy, got \"" + text + "\"");
  const std::string name = text.substr(0, equals);
  if (!options.inputs.emplace(name, text.substr(equals + 1)).second)
    throw CLI::ValidationError("--input", "\"" + name + "\" is given twice");
}

/// Adds the flags for inputs, outputs and weights.
static void addData(CLI::App &app, RunOptions &options) {
  app.add_option_function<std::vector<std::string>>(
         "--input,-i",
         [&options](const std::vector<std::string> &texts) {
           for (const std::string &text : texts)
             addInput(options, text);
         },
         "an input of the model, for instance ids=ids.npy; repeatable")
      ->type_name("NAME=FILE.npy")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--output", options.outputDirectory,
                 "directory for the outputs, one NAME.npy each")
      ->type_name("DIR");
  app.add_option_function<uint64_t>(
         "--random-inputs",
         [&options](uint64_t seed) { options.randomInputs = seed; },
         "seeded stand-ins for inputs that are not given")
      ->type_name("SEED");
  app.add_option("--weights", options.weights,
                 "replaces the recorded root of the weights")
      ->type_name("DIR");
  app.add_flag("--check-weights", options.checkWeights,
               "hash whole weight files before running");
}

/// Adds the flags for training.
static void addTraining(CLI::App &app, RunOptions &options) {
  app.add_option("--data", options.data,
                 "what to train on: a directory of NAME.npy with a leading "
                 "step dimension, or, with --tokens, a file of token numbers")
      ->type_name("DIR|FILE.bin");
  app.add_option("--tokens", options.tokens,
                 "how --data FILE.bin has them, little-endian: u16 or u32. A "
                 "sequence of S tokens gives the input, the same one later its "
                 "labels; inputs given by --input stay as they are")
      ->check(CLI::IsMember({"u16", "u32"}));
  app.add_option("--steps", options.steps, "steps to train (default 1)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40));
  app.add_option("--save", options.save,
                 "directory for checkpoints; one after the last step")
      ->type_name("DIR");
  app.add_option("--save-every", options.saveEvery,
                 "and one after every K steps")
      ->type_name("K")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40));
  app.add_flag("--save-in-background", options.saveInBackground,
               "save while training goes on; takes a copy of what is saved");
  app.add_option("--resume", options.resume,
                 "go on where the newest checkpoint in this directory stands; "
                 "it may be of another plan")
      ->type_name("DIR");
  app.add_option("--metrics", options.metrics,
                 "a line of JSON per step: loss, norm, learning rate, seconds, "
                 "tokens or samples per second, mfu, live activations")
      ->type_name("FILE.jsonl");
  app.add_option("--peak-flops", options.peakFlops,
                 "operations per second that a rank can reach at best, for "
                 "mfu: 1.2e12 (default: what the cluster file said)")
      ->check(CLI::PositiveNumber);
}

/// Adds the flags about data and training through the functions above, and all
/// others here.
void addRunOptions(CLI::App &app, RunOptions &options) {
  addData(app, options);
  addTraining(app, options);
  app.add_option(
         "--comm", options.comm,
         "how ranks communicate: mpi (processes), thread (one process), "
         "nccl (processes with a GPU each)")
      ->check(CLI::IsMember({"mpi", "thread", "nccl"}));
  app.add_flag_callback(
      "--no-graph", [&options] { options.recordSteps = false; },
      "GPUs get every kernel of every step, not a graph of the step");
  app.add_flag("--share-gpu", options.shareGpu,
               "several ranks may have one GPU, to test with fewer: slow");
  app.add_option("--threads", options.threads,
                 "threads of each rank (default: cores / ranks)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--report", options.report, "times and memory as JSON")
      ->type_name("FILE.json");
  app.add_option("--schedule-svg", options.scheduleSvg,
                 "draw the last step: what every rank did when, and its memory")
      ->type_name("FILE.svg");
  app.add_option("--trace", options.trace,
                 "the same for Perfetto and chrome://tracing")
      ->type_name("FILE.json");
  app.add_option("--repeat", options.repeat, "steps that are timed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000000));
  app.add_option("--warmup", options.warmup, "steps before them")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000000));
  app.add_option("--timeout", options.timeout,
                 "seconds that any wait may last once the first step has begun")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--load-timeout", options.loadTimeout,
                 "seconds that any wait may last before")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_flag("-q,--quiet", options.quiet, "no summary lines");
}

} // namespace pcc::runtime
