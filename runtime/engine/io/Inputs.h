//===- Inputs.h - reads a rank's parts of the inputs ----------------------===//

#ifndef PCC_RUNTIME_ENGINE_IO_INPUTS_H
#define PCC_RUNTIME_ENGINE_IO_INPUTS_H

#include "runtime/engine/io/HostBuffers.h"
#include "runtime/engine/io/TokenStream.h"
#include "runtime/engine/options/RunOptions.h"
#include "runtime/tensor/Npy.h"
#include "runtime/tensor/RandomValues.h"

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
/// --random-inputs. What they are in a step depends on the number of its first
/// sample alone, not on who reads which part of them.
class Inputs {
public:
  /// All of these must outlive this.
  Inputs(const program::ProgramT &program, const Mesh &mesh,
         const Coordinates &at, const RunOptions &options, HostBuffers &buffers)
      : program(program), mesh(mesh), at(at), options(options),
        buffers(buffers) {}

  /// Checks name, shape and type of every input of the model (exit code 10),
  /// also of those that this rank does not read, so that all ranks agree. Of
  /// an input in `given` the array is taken, which must stay as long as steps
  /// are read; called again, all others are what they were.
  Status open(const InputArrays &given = {});

  /// Whether a run can go on with sample `sample`: what --data holds for whole
  /// steps cannot be cut within one (exit code 10).
  Status checkPosition(int64_t sample) const;

  /// Fills this rank's input buffers of all microbatches with what the step
  /// sees that begins with sample `sample`, from 0; padding becomes zero. After
  /// the last sample of --data comes its first one again.
  Status read(int64_t sample);
  /// Does most of that during the step before, where the device has memory of
  /// its own.
  Status readAhead(int64_t sample);

private:
  /// Fills the next step's buffers, and sends them on their way.
  Status write(int64_t sample);

  struct Source {
    std::optional<NpyFile> file;
    /// Steps that the file holds; 0: it has no such dim, and is all steps'.
    int64_t numSteps = 0;
    RandomTensor random = {};
    /// Of a token stream: how far behind a sample's first token it begins.
    std::optional<int64_t> shift = {};
    bool isOpen = false; ///< one of these
    /// In place of them.
    std::optional<InputArray> array;
  };

  Status checkName(const std::string &name) const;
  Status open(const program::InputT &input, Source &source) const;
  void fill(int64_t sample) const;
  void fill(const program::InputT &input, const Source &source,
            int64_t sample) const;
  bool isCutInSamples(const program::InputT &input) const;
  std::string pathOf(const program::InputT &input, bool &isOfSteps) const;

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  const RunOptions &options;
  HostBuffers &buffers;
  TokenStream tokens;
  std::vector<Source> sources; ///< of the program's inputs
  /// Of the step whose inputs lie ready.
  std::optional<int64_t> ahead;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_INPUTS_H
