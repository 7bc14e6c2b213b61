//===- Ranks.h - a bundle's ranks, which Python tells what to do ----------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_RANKS_H
#define PCC_PYTHON_BINDINGS_SRC_RANKS_H

#include "python-bindings/src/Commands.h"
#include "runtime/launch/thread/RankTeam.h"

#include <nanobind/nanobind.h>

namespace pcc::python {

/// The ranks of a bundle as threads of this process. Calls release the
/// interpreter's lock and may come from any thread, one after the other. Ctrl-C
/// during a call ends the ranks; so does every error but that of an input.
class Ranks {
public:
  /// Loads the program and the weights; `words` are options of `pcc run`.
  Ranks(const std::string &bundle, const CommandWords &words);
  ~Ranks();

  /// All that the options ask for, as `pcc run` does; the outputs are returned
  /// as well.
  nanobind::dict run(const nanobind::dict &inputs);
  /// One step: its number, loss, gradient norm and learning rate.
  nanobind::dict step(const nanobind::dict &inputs);
  nanobind::dict outputs();
  nanobind::dict parameters();
  void save(const std::string &directory);
  /// Returns the notes.
  std::vector<std::string> resume(const std::string &directory);

  void abort();

private:
  using Task = runtime::RankTeam::Task;

  void call(const Task &task);
  void callApart(const Task &task);
  nanobind::dict collectOutputs();

  /// Of calls. Before `team`, whose ranks may be in one.
  std::mutex calls;
  runtime::RankTeam team;
};

void defineRanks(nanobind::module_ &module);

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_RANKS_H
