//===- Ranks.cpp - Python bindings of a bundle's ranks --------------------===//

#include "python-bindings/src/Ranks.h"
#include "python-bindings/src/Arrays.h"
#include "python-bindings/src/Errors.h"
#include "python-bindings/src/Interruption.h"

#include "runtime/tensor/ElementDispatch.h"
#include "runtime/tensor/Npy.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace pcc;
using namespace pcc::python;
using runtime::Rank;

/// Returns the error of ranks that Ctrl-C or abort() has ended.
static Status interrupted() {
  return Status::error(PeerLost, "the run was interrupted");
}

Ranks::Ranks(const std::string &bundle, const CommandWords &words) {
  check(team.start(bundle, readRunOptions(bundle, words)));
  call([](Rank &rank) { return rank.open(); });
}

Ranks::~Ranks() {
  const nb::gil_scoped_release unlocked;
  team.end();
}

/// The GIL is released before `calls` is locked: a thread that waits for
/// another call must not keep Python from running.
void Ranks::call(const Task &task) {
  Interruption interruption([this] { team.abort(interrupted()); });
  Status status;
  {
    const nb::gil_scoped_release unlocked;
    const std::lock_guard lock(calls);
    status = team.call(task, [&] { interruption.poll(); });
  }
  interruption.rethrow();
  check(status);
}

void Ranks::callApart(const Task &task) {
  Status status;
  {
    const nb::gil_scoped_release unlocked;
    const std::lock_guard lock(calls);
    status = team.callApart(task);
  }
  check(status);
}

nb::dict Ranks::run(const nb::dict &inputs) {
  const BorrowedArrays given(inputs);
  callApart([&](Rank &rank) { return rank.setInputs(given.views()); });
  call([](Rank &rank) {
    Status status = rank.runSteps();
    return status.ok() ? rank.write() : status;
  });
  return outputs();
}

/// Adds the metrics of one rank to those of all. Loss, gradient norm and
/// learning rate are the same on every rank that knows them.
static void merge(runtime::StepMetrics &all, const runtime::StepMetrics &mine) {
  all.step = mine.step;
  if (!all.loss)
    all.loss = mine.loss;
  if (!all.gradNorm)
    all.gradNorm = mine.gradNorm;
  if (!all.learningRate)
    all.learningRate = mine.learningRate;
}

static nb::object orNone(const std::optional<double> &number) {
  return number ? nb::cast(*number) : nb::none();
}

/// Not every rank computes every metric, so the reports of all ranks are
/// merged.
nb::dict Ranks::step(const nb::dict &inputs) {
  const BorrowedArrays given(inputs);
  callApart([&](Rank &rank) { return rank.setInputs(given.views()); });
  std::mutex ofMetrics;
  runtime::StepMetrics metrics;
  double seconds = 0;
  call([&](Rank &rank) {
    runtime::RankReport report;
    Status status = rank.step(report);
    const std::lock_guard lock(ofMetrics);
    for (const runtime::StepMetrics &mine : report.metrics)
      merge(metrics, mine);
    seconds = std::max(seconds, report.seconds);
    return status;
  });
  nb::dict result;
  result["step"] = metrics.step;
  result["loss"] = orNone(metrics.loss);
  result["grad_norm"] = orNone(metrics.gradNorm);
  result["lr"] = orNone(metrics.learningRate);
  result["seconds"] = seconds;
  return result;
}

/// Rank 0 allocates whole arrays; then every rank copies its parts into them.
nb::dict Ranks::outputs() {
  std::vector<std::string> names;
  std::vector<OwnedArray> arrays;
  std::vector<std::byte *> places;
  callApart([&](Rank &rank) {
    if (rank.index() != 0)
      return Status::success();
    for (const auto &output : rank.program().outputs) {
      names.push_back(output->name);
      arrays.emplace_back(runtime::npyTypeOf(runtime::typeOf(output->type)),
                          output->shape);
      places.push_back(arrays.back().data());
    }
    return Status::success();
  });
  callApart([&](Rank &rank) { return rank.copyOutputs(places); });
  nb::dict result;
  for (size_t i = 0; i < names.size(); ++i)
    result[names[i].c_str()] = arrays[i].toNumpy();
  return result;
}

/// Converts bf16 to f32, because NumPy lacks bf16.
static nb::object toNumpy(const runtime::GatheredWeight &weight) {
  OwnedArray array(runtime::npyTypeOf(weight.type), weight.shape);
  runtime::convertElements(weight.type, weight.bytes.data(),
                           runtime::numElements(weight.shape),
                           runtime::npyTypeOf(weight.type), array.data());
  return array.toNumpy();
}

/// Ranks put their pieces into `whole`, which all of them share.
nb::dict Ranks::parameters() {
  runtime::GatheredTensors whole;
  call([&](Rank &rank) { return rank.copyWeights(whole); });
  std::map<std::string, runtime::GatheredWeight> weights;
  check(whole.weights(weights));
  nb::dict result;
  for (const auto &[name, weight] : weights)
    result[name.c_str()] = toNumpy(weight);
  return result;
}

void Ranks::save(const std::string &directory) {
  call([&](Rank &rank) { return rank.save(directory); });
}

std::vector<std::string> Ranks::resume(const std::string &directory) {
  std::vector<std::string> notes;
  call([&](Rank &rank) {
    std::vector<std::string> mine;
    Status status = rank.resume(directory, mine);
    if (rank.index() == 0)
      notes = mine;
    return status;
  });
  return notes;
}

void Ranks::abort() { team.abort(interrupted()); }

void python::defineRanks(nb::module_ &module) {
  nb::class_<Ranks>(module, "Ranks", "The ranks of a bundle as threads.")
      .def(nb::init<const std::string &, const CommandWords &>(),
           nb::arg("bundle"), nb::arg("words"))
      .def("run", &Ranks::run, nb::arg("inputs"),
           "Runs all steps that the options request; returns the outputs.")
      .def("step", &Ranks::step, nb::arg("inputs"),
           "Runs one step; returns its metrics.")
      .def("outputs", &Ranks::outputs, "Returns the outputs of the last step.")
      .def("parameters", &Ranks::parameters, "Returns the trained weights.")
      .def("save", &Ranks::save, nb::arg("directory"), "Saves a checkpoint.")
      .def("resume", &Ranks::resume, nb::arg("directory"),
           "Loads a checkpoint; returns notes.")
      .def("abort", &Ranks::abort,
           "Ends the ranks; may be called from any thread.");
}
