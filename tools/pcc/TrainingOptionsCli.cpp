//===- TrainingOptionsCli.cpp - command line options of training ----------===//

#include "tools/pcc/TrainingOptionsCli.h"

#include <charconv>
#include <cmath>

using namespace pcc;

/// Heading of these options in --help.
static constexpr char group[] = "Training";

/// Adds the hyperparameters of optimizers and gradient clipping.
static void addNumbers(CLI::App &app, TrainingOptions &options) {
  app.add_option("--lr", options.lr,
                 "learning rate (default 0.001, or 0.01 for adagrad)")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_option("--lr-decay", options.lrDecay,
                 "of adagrad: by how much of itself the divisor of the "
                 "learning rate grows in a step (default 0)")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_option("--momentum", options.momentum, "of sgd (default 0)")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_option("--betas", options.betas,
                 "of adam and adamw (default 0.9,0.999)")
      ->delimiter(',')
      ->expected(2)
      ->allow_extra_args(false)
      ->check(CLI::Range(0.0, 1.0))
      ->group(group);
  app.add_option("--eps", options.eps,
                 "of adam and adamw (default 1e-8), and adagrad (1e-10)")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_option("--weight-decay", options.weightDecay,
                 "(default 0, or 0.01 for adamw)")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_option("--clip-norm", options.clipNorm,
                 "most that the norm of all gradients may be; they are scaled "
                 "down to it")
      ->check(CLI::PositiveNumber)
      ->group(group);
}

/// Checks that `text` is a number that uint64_t can hold. Returns an error, or
/// an empty string.
static std::string checkSeed(const std::string &text) {
  uint64_t number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  const bool isWhole = error == std::errc() && end == text.data() + text.size();
  return isWhole ? "" : "needs a whole number, got '" + text + "'";
}

/// Checks that `text` is a positive number or begins with "dynamic"; 2-prepare
/// parses the rest. Returns an error, or an empty string.
static std::string checkScale(const std::string &text) {
  double number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  const bool isNumber = error == std::errc() &&
                        end == text.data() + text.size() && number > 0 &&
                        std::isfinite(number);
  return text.rfind("dynamic", 0) == 0 || isNumber
             ? ""
             : "needs 'dynamic' or a positive number, got '" + text + "'";
}

/// Adds the options of loss scaling, dropout and its seed.
static void addNumerics(CLI::App &app, TrainingOptions &options) {
  app.add_option(
         "--loss-scale", options.lossScale,
         "what the gradient of the loss is multiplied by, and gradients "
         "divided by. A step whose gradients are not finite changes no "
         "weight. A number, or 'dynamic(initial=65536, "
         "interval=2000)': it halves after such a step and doubles "
         "after 2000 others (default: dynamic with --dtype f16, else "
         "no scale)")
      ->check(CLI::Validator(checkScale, ""))
      ->group(group);
  app.add_option("--dropout", options.dropout,
                 "on or off: whether Dropout nodes drop elements (default: "
                 "those whose training_mode is true)")
      ->check(CLI::IsMember({"on", "off"}))
      ->group(group);
  app.add_option("--seed", options.seed,
                 "of the random numbers of dropout (default 0)")
      ->check(CLI::Validator(checkSeed, ""))
      ->group(group);
}

/// Adds the option that makes sums independent of the layout, bit by bit.
static void addReproducible(CLI::App &app, TrainingOptions &options) {
  app.add_flag("--reproducible", options.reproducible,
               "sums over the batch and the norm of gradients in an order "
               "that no layout changes: the same bits for every dp that is a "
               "power of two, with and without zero1, zero2 or zero3. "
               "Gradients are reduced in every microbatch, and products made "
               "sample by sample")
      ->group(group);
}

/// Adds the option of activation checkpointing.
static void addRecompute(CLI::App &app, TrainingOptions &options) {
  app.add_option("--recompute", options.recompute,
                 "what the backward pass makes again in place of keeping it: "
                 "none; selective: what is cheap; full: all between segments "
                 "of a stage; auto: as little as --memory-limit allows "
                 "(default none)")
      ->check(CLI::Validator(
          [](const std::string &name) {
            for (const char *known : {"none", "full", "selective", "auto"})
              if (name == known)
                return std::string();
            return "'" + name + "' is no value of --recompute";
          },
          ""))
      ->group(group);
}

/// Adds a repeatable option whose values are globs of weight names.
static void addGlobs(CLI::App &app, const std::string &name,
                     std::vector<std::string> &globs, const std::string &what) {
  app.add_option(name, globs, what)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("GLOB")
      ->group(group);
}

/// The loss and the schedule of the learning rate are texts, which 2-prepare
/// parses once the graph is known.
void tool::addTrainingOptions(CLI::App &app, TrainingOptions &options) {
  app.add_flag("--train", options.train,
               "make a step of training: loss, gradients, update")
      ->group(group);
  app.add_option(
         "--loss", options.loss,
         "'cross_entropy(logits, labels, ignore_index=-100)', also with "
         "label_smoothing= and z_loss=; 'mse(y, labels)'; or the name of an "
         "output of one number. labels becomes an input")
      ->type_name("EXPR")
      ->group(group);
  app.add_option(
         "--optimizer", options.optimizer,
         "sgd, adam, adamw or adagrad (default sgd); names and meanings "
         "are PyTorch's")
      ->check(CLI::IsMember({"sgd", "adam", "adamw", "adagrad"}))
      ->group(group);
  addNumbers(app, options);
  addReproducible(app, options);
  addRecompute(app, options);
  app.add_option("--lr-schedule", options.lrSchedule,
                 "constant, 'linear(steps=N, warmup=K, final=F)' or "
                 "'cosine(...)': the learning rate grows for K steps and falls "
                 "to F of --lr until step N (default constant)")
      ->group(group);
  addNumerics(app, options);
  addGlobs(app, "--decay", options.decay,
           "weights that decay (default: those of two or more dims); "
           "repeatable");
  addGlobs(app, "--freeze", options.freeze,
           "weights that do not train; repeatable");
  addGlobs(app, "--train-only", options.trainOnly,
           "weights that train, and no others (default: all of floats with "
           "more than one element that are no buffers); repeatable");
}
