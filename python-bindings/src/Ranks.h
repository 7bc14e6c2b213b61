//===- Ranks.h - Python bindings of a bundle's ranks ----------------------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_RANKS_H
#define PCC_PYTHON_BINDINGS_SRC_RANKS_H

#include "python-bindings/src/Commands.h"
#include "runtime/launch/thread/RankTeam.h"

#include <nanobind/nanobind.h>

namespace pcc::python {

/// The ranks of a bundle as threads of this process, for Python. Methods block
/// and release the GIL meanwhile. They may be called from any thread; calls are
/// serialized. Ctrl-C during a call ends the ranks, and so does every error
/// except one about an input. Every later call then raises an error, too.
class Ranks {
public:
  /// Starts the ranks and loads the program and the weights. `words` are
  /// options of `pcc run`. Raises `pcc.Error`.
  Ranks(const std::string &bundle, const CommandWords &words);
  /// Ends the ranks and waits for their threads.
  ~Ranks();

  /// Executes all steps that the options ask for, as `pcc run` does, and writes
  /// the files that they ask for. Returns the outputs by name. `inputs` are
  /// arrays by name.
  nanobind::dict run(const nanobind::dict &inputs);
  /// Executes one step. Returns its metrics: "step", "loss", "grad_norm" and
  /// "lr". A metric that the program does not compute is None.
  nanobind::dict step(const nanobind::dict &inputs);
  /// Returns the outputs of the last step by name.
  nanobind::dict outputs();
  /// Returns the trained weights by name, each as one whole array. Raises
  /// `pcc.Error` with exit code 2 if the program does not train.
  nanobind::dict parameters();
  /// Writes a checkpoint into `directory`.
  void save(const std::string &directory);
  /// Restores the newest checkpoint in `directory`. Returns notes for the user.
  std::vector<std::string> resume(const std::string &directory);

  /// Ends the ranks. May be called from any thread, also during a call.
  void abort();

private:
  using Task = runtime::RankTeam::Task;

  /// Runs `task` on all ranks, which may communicate. Raises the first error,
  /// which ends the ranks.
  void call(const Task &task);
  /// Runs `task` on all ranks, which do not communicate. Raises the error of
  /// the lowest rank, which ends nothing.
  void callApart(const Task &task);

  /// Serializes calls. Declared before `team`, and so destroyed after it: ranks
  /// may be in a call until `team` has ended them.
  std::mutex calls;
  runtime::RankTeam team;
};

/// Defines the class Ranks of the extension module.
void defineRanks(nanobind::module_ &module);

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_RANKS_H
