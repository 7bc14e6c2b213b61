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

/// An input tensor in the caller's memory. The elements at the address `data`
/// are dense and in row-major order. This struct does not own the elements. The
/// caller must keep them in memory until all steps that read them are complete.
struct InputArray {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
};

/// Arrays that a caller passes as inputs, by the input's name in the model.
using InputArrays = std::map<std::string, InputArray>;

/// Fills the input buffers of a rank for each step. The source of an input is
/// an array of the caller, a file (--input, --data), a token stream (--tokens)
/// or a random generator (--random-inputs). A sample is one entry of the batch.
/// Samples are numbered from 0 across all steps.
///
/// A rank copies only the elements that the rank holds. The whole input of a
/// step depends on the source and on the step's first sample, but not on the
/// mesh. A training run can thus be resumed on another mesh.
class Inputs {
public:
  /// Borrows all arguments.
  Inputs(const program::ProgramT &program, const Mesh &mesh,
         const Coordinates &at, const RunOptions &options, HostBuffers &buffers)
      : program(program), mesh(mesh), at(at), options(options),
        buffers(buffers) {}

  /// Opens the source of every input of the model. If `given` has an array for
  /// an input, this array is the source. Otherwise the command-line options
  /// name the source: a .npy file, a file of token ids or a random generator.
  ///
  /// Every rank checks all inputs of the model, even an input that the rank
  /// does not read. The function returns exit code 10 if an input has no
  /// source, if an array or a file has a wrong type or a wrong shape, or if the
  /// model has no input with a given name.
  ///
  /// The function does not copy the elements of the arrays. The caller must
  /// keep the elements in memory until the last step that reads them is
  /// complete. A second call removes all arrays of the first call.
  Status open(const InputArrays &given = {});

  /// Returns an error with exit code 10 if training cannot continue with sample
  /// number `sample`. Samples are numbered from 0 across all steps. Training
  /// can always continue with the first sample of a step. Within a step, there
  /// is a condition for inputs from a .npy file with several steps: dim 0 must
  /// be the batch, with one index per sample of a step. The file then stores
  /// one sample after another.
  Status checkPosition(int64_t sample) const;

  /// Fills the inputs of the current step in all microbatches. The step begins
  /// with sample number `sample`. Samples are numbered from 0 across all steps.
  ///
  /// The option --data names files that have the samples of one or more steps.
  /// After the last sample of a file, the samples of the file are used again,
  /// from the first sample. For example, a file has 8 samples, numbered 0 to 7.
  /// If `sample` is 8, the step begins with sample 0 of the file.
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

  /// Source of one input's elements. The source is one of these:
  ///
  /// - If `array` is set, the source is an array of the caller.
  /// - Otherwise, if `shift` is set, the source is the file of token ids
  ///   (option --tokens).
  /// - Otherwise, if `file` is set, the source is a .npy file.
  /// - Otherwise, the source is a random generator with the parameters
  ///   `random`.
  struct Source {
    /// The .npy file of --input or --data; empty if there is none.
    std::optional<NpyFile> file;
    /// Size of the file's leading dim, which counts steps; 0 if the file has no
    /// such dim. All steps then read the same elements.
    int64_t numSteps = 0;
    /// Parameters of the generator of --random-inputs.
    RandomTensor random = {};
    /// Distance in tokens between the start of a training sample and the first
    /// element of this input in the sample. Set only if the elements come from
    /// a file of token ids. The distance is 0 for the input that has the token
    /// ids, and 1 for the input that has the labels. For example, a sample
    /// begins at token 8 of the file and has 4 token ids. The token ids are
    /// tokens 8 to 11, and the labels are tokens 9 to 12.
    std::optional<int64_t> shift = {};
    /// Whether a call of Inputs::open() has opened the source that the
    /// command-line options name for this input: a .npy file, a file of token
    /// ids or a random generator. If true, later calls do not open the source
    /// again. The value is false if every call so far has passed an array for
    /// this input.
    bool isOpen = false;
    /// Array that the caller has passed for this input. Empty if the caller has
    /// passed no array for this input. If there is an array, the input gets its
    /// elements from the array, even if a command-line option names a file.
    std::optional<InputArray> array;
  };

  /// Returns an error, with the names of all inputs, if the model has no input
  /// `name`.
  Status checkName(const std::string &name) const;
  /// Opens the source of the elements of `input`, and stores it in `source`.
  /// The command-line options name the source: a .npy file (--input, --data), a
  /// file of token ids (--tokens) or a random generator (--random-inputs).
  Status open(const program::InputT &input, Source &source) const;
  /// Returns exit code 10 if two files of --data have different numbers of
  /// steps.
  Status checkSteps() const;
  /// Fills all inputs that this rank reads, for the step that begins with
  /// sample number `sample`.
  void fill(int64_t sample) const;
  /// Returns exit code 7 if an earlier read of an input file failed. The files
  /// are memory-mapped, so a read itself cannot return an error. For example, a
  /// read fails if another process has truncated the file.
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
