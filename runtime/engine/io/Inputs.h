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
/// A sample is one entry of the batch. Samples are numbered from 0 across all
/// steps. With 4 samples per step, step 2 begins with sample 8. The global
/// input of a step depends only on the source and on the number of the step's
/// first sample. The mesh does not matter, so a run can be resumed on another
/// mesh.
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

  /// Returns exit code 10 if training cannot continue with sample number
  /// `sample`. Samples are numbered from 0 across all steps. With 4 samples per
  /// step, step 1 has samples 4 to 7:
  ///
  /// - Sample 4 is the first sample of a step. Training can continue with it.
  /// - Sample 6 is in the middle of a step. Training can continue with it only
  ///   if every .npy file that holds several steps stores the samples one
  ///   after another. The batch must thus be dim 0 of the input.
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
  /// Fills this rank's host buffers with the inputs of the step that begins
  /// with sample number `sample`. Samples are numbered from 0 across all steps.
  /// If the device is a GPU, also begins to upload the host buffers to it.
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
  /// Returns true if dim 0 of the input is the batch, and the size of dim 0 is
  /// the number of samples per step. The elements of each sample are then
  /// contiguous. For example, an input of shape [4, 10] has 4 samples, and
  /// sample 2 consists of the elements 20 to 29.
  bool isCutInSamples(const program::InputT &input) const;
  /// Returns the path of the .npy file that has the elements of an input. The
  /// path is empty if no option names a file. Sets `isOfSteps` to true if the
  /// option is --data: the file then has the elements of several steps. For
  /// example, if the input has shape [4, 10], a file of 100 steps has shape
  /// [100, 4, 10]. Sets `isOfSteps` to false if the option is --input: the file
  /// then has the elements of one step.
  std::string pathOf(const program::InputT &input, bool &isOfSteps) const;

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  const RunOptions &options;
  HostBuffers &buffers;
  TokenStream tokens;
  /// Source of each input, in the order of the program's inputs.
  std::vector<Source> sources;
  /// Number of the first sample of the next step, if write() has already filled
  /// the host buffers for this step. Otherwise empty.
  std::optional<int64_t> ahead;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_INPUTS_H
