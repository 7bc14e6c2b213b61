//===- TrainingOptionsCli.cpp - how to train, on a command line -----------===//

#include "tools/pcc/TrainingOptionsCli.h"

using namespace pcc;

static constexpr char group[] = "Training";

static void addNumbers(CLI::App &app, TrainingOptions &options) {
  app.add_option("--lr", options.lr, "learning rate (default 0.001)")
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
  app.add_option("--eps", options.eps, "of adam and adamw (default 1e-8)")
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

static void addGlobs(CLI::App &app, const std::string &name,
                     std::vector<std::string> &globs, const std::string &what) {
  app.add_option(name, globs, what)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("GLOB")
      ->group(group);
}

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
  app.add_option("--optimizer", options.optimizer,
                 "sgd, adam or adamw (default sgd); names and meanings are "
                 "PyTorch's")
      ->check(CLI::IsMember({"sgd", "adam", "adamw"}))
      ->group(group);
  addNumbers(app, options);
  app.add_option("--lr-schedule", options.lrSchedule,
                 "constant, 'linear(steps=N, warmup=K, final=F)' or "
                 "'cosine(...)': the learning rate grows for K steps and falls "
                 "to F of --lr until step N (default constant)")
      ->group(group);
  addGlobs(app, "--decay", options.decay,
           "weights that decay (default: those of two or more dims); "
           "repeatable");
  addGlobs(app, "--freeze", options.freeze,
           "weights that do not train; repeatable");
  addGlobs(app, "--train-only", options.trainOnly,
           "weights that train, and no others (default: all of floats with "
           "more than one element that are no buffers); repeatable");
}
