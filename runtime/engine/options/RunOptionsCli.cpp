//===- RunOptionsCli.cpp - command-line flags of a run --------------------===//

#include "runtime/engine/options/RunOptionsCli.h"

#include "runtime/base/NumberCheck.h"
#include "runtime/engine/options/OneOf.h"

#include <CLI/CLI.hpp>

namespace pcc::runtime {

void addInput(std::map<std::string, std::string> &inputs,
              const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw CLI::ValidationError("--input",
                               "expects NAME=FILE.npy, got '" + text + "'");
  const std::string name = text.substr(0, equals);
  if (!inputs.emplace(name, text.substr(equals + 1)).second)
    throw CLI::ValidationError("--input", "'" + name + "' is given twice");
}

/// Makes `option` accept only integers from `least` to `most`.
static void accept(CLI::Option *option, int64_t least, int64_t most) {
  option->check([=](const std::string &text) {
    return checkWholeNumber(text, least, most);
  });
}

/// Makes `option` accept only finite numbers above 0.
static void acceptPositive(CLI::Option *option) {
  option->check([](const std::string &text) {
    return checkRealNumber(text, {.excludesLeast = true});
  });
}

static constexpr int64_t kMostSteps = int64_t(1) << 40;

/// Adds the flags for inputs, outputs and weights.
static void addData(CLI::App &app, RunOptions &options) {
  app.add_option_function<std::vector<std::string>>(
         "--input,-i",
         [&options](const std::vector<std::string> &texts) {
           for (const std::string &text : texts)
             addInput(options.inputs, text);
         },
         "file of an input of the model: ids=ids.npy; repeatable")
      ->type_name("NAME=FILE.npy")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--output", options.outputDirectory,
                 "write each output to NAME.npy in this directory")
      ->type_name("DIR");
  app.add_option_function<uint64_t>(
         "--random-inputs",
         [&options](uint64_t seed) { options.randomInputs = seed; },
         "random values from this seed for inputs that are not given")
      ->type_name("SEED")
      ->check(checkSeed);
  app.add_option(
         "--weights", options.weights,
         "read the weights from this directory instead of the recorded one")
      ->type_name("DIR");
  app.add_flag("--check-weights", options.checkWeights,
               "hash whole weight files before the run, not samples of them");
}

/// Adds the flags for training.
static void addTraining(CLI::App &app, RunOptions &options) {
  app.add_option("--data", options.data,
                 "training data: a directory of NAME.npy with a leading step "
                 "dimension, or, with --tokens, a file of token ids")
      ->type_name("DIR|FILE.bin");
  app.add_option(
         "--tokens", options.tokens,
         "type of the token ids in --data FILE.bin: u16 or u32, little-endian. "
         "S tokens are one input sequence; its labels are the same tokens, one "
         "position later. Inputs given by --input stay unchanged")
      ->check(oneOf({"u16", "u32"}));
  accept(app.add_option("--steps", options.steps, "steps to train (default 1)"),
         1, kMostSteps);
  accept(app.add_option("--log-every", options.logEvery,
                        "show every K-th step only, and the last one, those "
                        "that save, and those with a loss that is not finite; "
                        "--metrics gets all (default 1)")
             ->type_name("K"),
         1, kMostSteps);
  app.add_flag("--check-finite", options.checkFinite,
               "end training (exit code 17) when the loss, the gradient norm "
               "or a weight is not finite, and name the first op and node that "
               "made such a value; looks at all results, so steps take longer");
  app.add_option("--save", options.save,
                 "save a checkpoint to this directory after the last step")
      ->type_name("DIR");
  accept(app.add_option("--save-every", options.saveEvery,
                        "also save a checkpoint after every K steps"),
         1, kMostSteps);
  app.add_flag("--save-in-background", options.saveInBackground,
               "save while training continues; needs memory for a copy of the "
               "saved tensors");
  app.add_option("--resume", options.resume,
                 "resume from the newest checkpoint here; the plan may differ")
      ->type_name("DIR");
  app.add_option(
         "--metrics", options.metrics,
         "write a line of JSON per step: loss, gradient norm, learning rate, "
         "seconds, tokens or samples per second, mfu, live activations")
      ->type_name("FILE.jsonl");
  acceptPositive(
      app.add_option("--peak-flops", options.peakFlops,
                     "peak operations per second of a rank, for mfu: 1.2e12 "
                     "(default: the value in the cluster file)"));
}

/// Puts all flags that have no group yet, except --help, into the group
/// `title`. The text of --help lists each group under its title.
static void putInGroup(CLI::App &app, const char *title) {
  for (CLI::Option *option : app.get_options())
    if (option->get_group() == "Options" && option != app.get_help_ptr() &&
        !option->get_positional())
      option->group(title);
}

/// Adds three groups of flags to the command `app`:
///
/// - the flags for inputs, outputs and weights, which addData() adds
/// - the flags for training, which addTraining() adds
/// - the flags for communication, reports and time limits, which this function
///   adds itself
void addRunOptions(CLI::App &app, RunOptions &options) {
  addData(app, options);
  putInGroup(app, "Inputs and outputs");
  addTraining(app, options);
  putInGroup(app, "Training");
  app.add_option(
         "--comm", options.comm,
         "how ranks communicate: mpi (processes), thread (one process), "
         "nccl (processes with a GPU each)")
      ->check(oneOf({"mpi", "thread", "nccl"}));
  app.add_flag_callback(
      "--no-graph", [&options] { options.recordSteps = false; },
      "launch every kernel of every step on GPUs, instead of a graph of the "
      "step");
  app.add_flag(
      "--share-gpu", options.shareGpu,
      "allow several ranks on one GPU, for tests with fewer GPUs; slow");
  accept(app.add_option("--threads", options.threads,
                        "threads of each rank (default: cores / ranks)"),
         1, 4096);
  app.add_option("--report", options.report, "write times and memory as JSON")
      ->type_name("FILE.json");
  app.add_option("--format", options.format,
                 "write the table of ranks to stdout in this format (default: "
                 "a table on stderr)")
      ->check(oneOf({"table", "csv", "md", "json"}));
  app.add_option("--schedule-svg", options.scheduleSvg,
                 "draw the last step: actions, messages and memory of every "
                 "rank over time")
      ->type_name("FILE.svg");
  app.add_option(
         "--trace", options.trace,
         "write the last step as a trace for Perfetto or chrome://tracing, on "
         "CPUs with the kernels of each action")
      ->type_name("FILE.json");
  app.add_option("--measurements", options.measurements,
                 "write the report with the timeline of the last step as JSON, "
                 "which pcc report draws")
      ->type_name("FILE.json");
  app.add_option("--page", options.page, "file that pcc run --html will write")
      ->group("");
  accept(app.add_option("--repeat", options.repeat, "number of timed steps")
             ->capture_default_str(),
         1, 1000000000);
  accept(app.add_option("--warmup", options.warmup,
                        "number of steps before the timed ones")
             ->capture_default_str(),
         0, 1000000000);
  acceptPositive(
      app.add_option(
             "--timeout", options.timeout,
             "timeout of any wait after the first step has begun, in seconds")
          ->capture_default_str());
  acceptPositive(app.add_option("--load-timeout", options.loadTimeout,
                                "timeout while loading, in seconds")
                     ->capture_default_str());
  putInGroup(app, "Execution");
  app.add_flag("-q,--quiet", options.quiet,
               "suppress notes and the table of ranks");
}

} // namespace pcc::runtime
