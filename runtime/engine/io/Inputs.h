//===- Inputs.h - fills a rank's parts of the model's inputs --------------===//

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

/// An input tensor in the caller's memory: dense and row-major. Borrowed.
struct InputArray {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
};

/// Arrays that a caller passes as inputs, by the input's name in the model.
using InputArrays = std::map<std::string, InputArray>;

/// Fills the input buffers of a rank for each step. Every input has one of
/// these sources:
///
/// - an array of the caller
/// - a file (--input, --data)
/// - a token stream (--tokens)
/// - a random generator (--random-inputs)
///
/// The elements of a step depend only on its first sample, so a run can be
/// resumed on another mesh.
class Inputs {
public:
  /// Borrows all arguments.
  Inputs(const program::ProgramT &program, const Mesh &mesh,
         const Coordinates &at, const RunOptions &options, HostBuffers &buffers)
      : program(program), mesh(mesh), at(at), options(options),
        buffers(buffers) {}

  /// Opens the source of every input (array, file, token stream or generator).
  /// Exit code 10 if a name, shape or type is wrong. All inputs of the model
  /// are checked on all ranks.
  ///
  /// An array in `given` replaces the source that the options name. The arrays
  /// are borrowed for all steps. A second call replaces the arrays.
  Status open(const InputArrays &given = {});

  /// Returns exit code 10 if a run cannot continue with sample number `sample`.
  /// If a file interleaves the samples of a step, the run can continue only
  /// with the first sample of a step.
  Status checkPosition(int64_t sample) const;

  /// Fills the inputs of the current step, which begins with sample number
  /// `sample` (from 0), in all microbatches. After the last sample of a --data
  /// file comes the first one again.
  Status read(int64_t sample);
  /// Writes and uploads the inputs of the next step, which begins with sample
  /// number `sample`, while the current step runs. Does nothing if the device
  /// shares the host's memory.
  Status readAhead(int64_t sample);

private:
  /// Fills the host buffers of the next step, and begins to upload them.
  Status write(int64_t sample);

  /// Source of one input's elements. The first of these members that is set has
  /// the elements:
  ///
  /// - `array`: an array of the caller
  /// - `shift`: the token stream
  /// - `file`: a .npy file
  ///
  /// If none is set, `random` generates the elements.
  struct Source {
    /// The .npy file of --input or --data; empty if there is none.
    std::optional<NpyFile> file;
    /// Size of the file's leading dim, which counts steps; 0 if there is no
    /// such dim, and all steps read the same elements.
    int64_t numSteps = 0;
    /// Parameters of the generator of --random-inputs.
    RandomTensor random = {};
    /// Set only for inputs from the token stream: 0 for the token ids, 1 for
    /// the labels, which begin one token later.
    std::optional<int64_t> shift = {};
    /// Whether the source that the options name has been opened.
    bool isOpen = false;
    /// The caller's array, if any; replaces the source that the options name.
    std::optional<InputArray> array;
  };

  /// Returns an error, with the names of all inputs, if the model has no input
  /// `name`.
  Status checkName(const std::string &name) const;
  /// Opens the source that the options name for one input.
  Status open(const program::InputT &input, Source &source) const;
  /// Fills all inputs that this rank reads, for the step that begins with
  /// sample number `sample`.
  void fill(int64_t sample) const;
  /// Returns exit code 7 if a file of inputs could not be read completely.
  Status checkFiles() const;
  /// Fills one input in all microbatches, for the step that begins with sample
  /// number `sample`.
  void fill(const program::InputT &input, const Source &source,
            int64_t sample) const;
  /// Returns whether the samples of a step are contiguous: the batch is the
  /// outermost dim, with one entry per sample.
  bool isCutInSamples(const program::InputT &input) const;
  /// Returns the path of an input's file; empty if the options name none. Sets
  /// `isOfSteps` to whether the file's leading dim counts steps (--data).
  std::string pathOf(const program::InputT &input, bool &isOfSteps) const;

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  const RunOptions &options;
  HostBuffers &buffers;
  TokenStream tokens;
  /// Source of each input, in the order of the program's inputs.
  std::vector<Source> sources;
  /// First sample of the inputs that readAhead() has written, if any.
  std::optional<int64_t> ahead;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_INPUTS_H
