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

/// Input arrays by the name of the model's input.
using InputArrays = std::map<std::string, InputArray>;

/// Fills the input buffers of a rank for each step. Every input has one source:
/// an array of the caller, a file (--input, --data), a token stream (--tokens),
/// or a counter-based generator (--random-inputs). The elements of a step
/// depend only on the index of its first sample, not on the mesh or on which
/// rank reads which part; a run may therefore resume on another plan.
class Inputs {
public:
  /// Borrows all arguments; they must outlive this object.
  Inputs(const program::ProgramT &program, const Mesh &mesh,
         const Coordinates &at, const RunOptions &options, HostBuffers &buffers)
      : program(program), mesh(mesh), at(at), options(options),
        buffers(buffers) {}

  /// Opens the source of every input, and checks its name, shape and type (exit
  /// code 10). All inputs of the model are checked, also those that this rank
  /// does not read, so that all ranks agree on the outcome. Arrays of `given`
  /// are borrowed for as long as steps are read, and take precedence over the
  /// options. A second call replaces the arrays; sources that the options named
  /// stay open.
  Status open(const InputArrays &given = {});

  /// Checks whether a run can continue with sample `sample` (exit code 10 if
  /// not). Files whose outermost dim is not the batch hold whole steps, so they
  /// can only continue at a step boundary.
  Status checkPosition(int64_t sample) const;

  /// Fills the input buffers of all microbatches for the step that begins with
  /// sample `sample` (counted from 0), and makes them the current step's
  /// inputs. Padding becomes zero. After the last sample of --data the first
  /// one follows.
  Status read(int64_t sample);
  /// Writes and uploads the inputs of the next step while the current one runs;
  /// the following read() then only switches to them. Does nothing if the
  /// device shares the host's memory.
  Status readAhead(int64_t sample);

private:
  /// Fills the next step's buffers, and begins to upload them.
  Status write(int64_t sample);

  /// The origin of one input's elements. Exactly one of `array`, `shift`,
  /// `file` and `random` is used, in this order of precedence.
  struct Source {
    /// The file of --input or --data.
    std::optional<NpyFile> file;
    /// Number of steps in the file's leading dim; 0 if the file has no such
    /// dim, so that all steps read the same elements.
    int64_t numSteps = 0;
    /// The generator of --random-inputs.
    RandomTensor random = {};
    /// For an input from the token stream: its offset in tokens
    /// (TokenStream::shiftOf).
    std::optional<int64_t> shift = {};
    /// Whether the options named a source that has been opened.
    bool isOpen = false;
    /// The caller's array. Takes precedence over the source that the options
    /// name.
    std::optional<InputArray> array;
  };

  /// Returns an error that lists the model's inputs if `name` is none of them.
  Status checkName(const std::string &name) const;
  /// Opens the source that the options name for one input.
  Status open(const program::InputT &input, Source &source) const;
  /// Fills all inputs that this rank reads.
  void fill(int64_t sample) const;
  /// Fills one input in all microbatches.
  void fill(const program::InputT &input, const Source &source,
            int64_t sample) const;
  /// Returns whether the batch is the outermost dim of the input, so that
  /// samples, and therefore steps, are contiguous in a file.
  bool isCutInSamples(const program::InputT &input) const;
  /// Returns the path of the file for an input, or an empty string. Sets
  /// `isOfSteps` if the file has a leading step dim, as files of --data have.
  std::string pathOf(const program::InputT &input, bool &isOfSteps) const;

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  const RunOptions &options;
  HostBuffers &buffers;
  TokenStream tokens;
  /// The source of each input of the program.
  std::vector<Source> sources;
  /// First sample of the inputs that have been written ahead, if any.
  std::optional<int64_t> ahead;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_INPUTS_H
