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
/// - a counter-based random generator (--random-inputs)
///
/// The elements of a step depend only on the index of the step's first sample.
/// A run may therefore be resumed on another mesh.
class Inputs {
public:
  /// Stores references to all arguments, which must outlive this object.
  Inputs(const program::ProgramT &program, const Mesh &mesh,
         const Coordinates &at, const RunOptions &options, HostBuffers &buffers)
      : program(program), mesh(mesh), at(at), options(options),
        buffers(buffers) {}

  /// Opens the source of every input (array, file, token stream or generator).
  /// Checks the input's name, shape and type (exit code 10). Inputs that this
  /// rank does not read are checked as well, so that all ranks get the same
  /// result.
  ///
  /// An array in `given` replaces the source that the options name for the same
  /// input. The arrays are borrowed and must stay valid as long as steps are
  /// read. A second call replaces the arrays and keeps opened files open.
  Status open(const InputArrays &given = {});

  /// Checks whether a run can continue with sample number `sample`; returns
  /// exit code 10 if it cannot. If the batch is not the outermost dim of an
  /// input, the input's file can be read only in whole steps. The run can then
  /// continue only with the first sample of a step.
  Status checkPosition(int64_t sample) const;

  /// Fills the input buffers of all microbatches for the step that begins with
  /// sample number `sample` (counted from 0). They become the inputs of the
  /// current step. Padding becomes zero. After the last sample of a --data
  /// file, reading continues with the file's first sample.
  Status read(int64_t sample);
  /// Writes and uploads the inputs of the next step, which begins with sample
  /// number `sample`, while the current step runs. The following read() then
  /// only switches to these inputs. Does nothing if the device shares the
  /// host's memory.
  Status readAhead(int64_t sample);

private:
  /// Fills the host buffers of the next step, and begins to upload them.
  Status write(int64_t sample);

  /// The source of one input's elements. Only one member is used: the first of
  /// `array`, `shift` and `file` that is set. If none is set, `random` is used.
  struct Source {
    /// The .npy file of --input or --data; empty if there is none.
    std::optional<NpyFile> file;
    /// Size of the file's leading dim, which counts steps. It is 0 if the file
    /// has no such dim; all steps then read the same elements.
    int64_t numSteps = 0;
    /// Parameters of the generator of --random-inputs.
    RandomTensor random = {};
    /// Set only for the two inputs from the token stream: 0 for the token ids,
    /// 1 for the labels. The labels begin one token later than the ids (see
    /// TokenStream::shiftOf).
    std::optional<int64_t> shift = {};
    /// Whether the source that the options name for this input (a file, the
    /// token stream or the generator) has been opened.
    bool isOpen = false;
    /// The caller's array, if there is one. It takes precedence over the source
    /// that the options name.
    std::optional<InputArray> array;
  };

  /// Checks that the model has an input `name`. Otherwise returns an error that
  /// lists the model's inputs.
  Status checkName(const std::string &name) const;
  /// Opens the source that the options name for one input, and stores it in
  /// `source`.
  Status open(const program::InputT &input, Source &source) const;
  /// Fills all inputs that this rank reads, for the step that begins with
  /// sample number `sample`.
  void fill(int64_t sample) const;
  /// Returns exit code 7 if a file of inputs could not be read completely.
  /// Inputs that were filled from the file are wrong in that case.
  Status checkFiles() const;
  /// Fills one input in all microbatches, for the step that begins with sample
  /// number `sample`.
  void fill(const program::InputT &input, const Source &source,
            int64_t sample) const;
  /// Returns whether the samples of a step are contiguous in the input's
  /// elements. This requires that the batch is the outermost dim, with one
  /// entry per sample.
  bool isCutInSamples(const program::InputT &input) const;
  /// Returns the path of the file that the options name for an input, or an
  /// empty string if the options name no file. Sets `isOfSteps` to whether the
  /// file's leading dim counts steps, as in files of --data.
  std::string pathOf(const program::InputT &input, bool &isOfSteps) const;

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  const RunOptions &options;
  HostBuffers &buffers;
  TokenStream tokens;
  /// Source of each input, in the order of the program's inputs.
  std::vector<Source> sources;
  /// Index of the first sample of the inputs that readAhead() has written;
  /// empty if it has written none.
  std::optional<int64_t> ahead;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_INPUTS_H
