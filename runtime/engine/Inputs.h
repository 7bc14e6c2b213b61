//===- Inputs.h - reads a rank's parts of the inputs ----------------------===//

#ifndef PCC_RUNTIME_ENGINE_INPUTS_H
#define PCC_RUNTIME_ENGINE_INPUTS_H

#include "runtime/device/Device.h"
#include "runtime/engine/RunOptions.h"
#include "runtime/program/Npy.h"
#include "runtime/program/RandomValues.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// An array of the caller's: dense, row-major.
struct InputArray {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
};

/// By the inputs' names.
using InputArrays = std::map<std::string, InputArray>;

/// The inputs of a run: arrays of the caller's, or from --input, --data or
/// --random-inputs. What they are in a step depends on the step alone, not on
/// who reads which part of them.
class Inputs {
public:
  /// All of these must outlive this.
  Inputs(const program::ProgramT &program, const Mesh &mesh,
         const Coordinates &at, const RunOptions &options,
         const BufferTable &buffers)
      : program(program), mesh(mesh), at(at), options(options),
        buffers(buffers) {}

  /// Checks name, shape and type of every input of the model (exit code 10),
  /// also of those that this rank does not read, so that all ranks agree. Of
  /// an input in `given` the array is taken, which must stay as long as steps
  /// are read; called again, all others are what they were.
  Status open(const InputArrays &given = {});

  /// Fills this rank's input buffers of all microbatches with what step `step`,
  /// from 0, sees; padding becomes zero. After the last step of --data comes
  /// its first one again.
  void read(int64_t step) const;

private:
  struct Source {
    std::optional<NpyFile> file;
    /// Steps that the file holds; 0: it has no such dim, and is all steps'.
    int64_t numSteps = 0;
    RandomTensor random = {};
    bool isOpen = false; ///< one of these
    /// In place of them.
    std::optional<InputArray> array;
  };

  Status checkName(const std::string &name) const;
  Status open(const program::InputT &input, Source &source) const;
  std::string pathOf(const program::InputT &input, bool &isOfSteps) const;

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  const RunOptions &options;
  const BufferTable &buffers;
  std::vector<Source> sources; ///< of the program's inputs
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_INPUTS_H
