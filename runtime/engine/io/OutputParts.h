//===- OutputParts.h - the parts of the outputs that a rank writes --------===//

#ifndef PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H
#define PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H

#include "runtime/engine/io/HostBuffers.h"

#include <span>
#include <vector>

namespace pcc::runtime {

/// Destination for the elements of the model's outputs. The destination has one
/// array per output. The array has all elements of the output, in row-major
/// order and without gaps. If the output has elements of type bf16, the array
/// has elements of type f32, because .npy files have no bf16. Otherwise the
/// array has the element type of the output. Each call of write() writes one
/// range of bytes of one array.
class OutputSink {
public:
  virtual ~OutputSink() = default;
  /// Writes `size` bytes from `data` to byte `offset` of the whole array of
  /// output number `output`.
  virtual Status write(size_t output, int64_t offset, const void *data,
                       size_t size) = 0;
};

/// Writes the elements of the model's outputs to arrays in memory. `places` has
/// one address per output: the address of the array for all elements of this
/// output. Ranks that are threads of one process can write to the same arrays
/// at the same time, because no two ranks write the same element.
class MemorySink : public OutputSink {
public:
  explicit MemorySink(std::span<std::byte *const> places) : places(places) {}
  Status write(size_t output, int64_t offset, const void *data,
               size_t size) override;

private:
  std::span<std::byte *const> places;
};

/// Writes the elements of the model's outputs that this rank must write. If
/// several ranks hold the same elements, only the rank with the lowest number
/// writes these elements. Every element is thus written once.
class OutputParts {
public:
  /// Borrows all arguments.
  OutputParts(const program::ProgramT &program, const Mesh &mesh,
              const Coordinates &at, HostBuffers &buffers)
      : program(program), mesh(mesh), at(at), buffers(buffers) {}

  /// Writes this rank's elements of all outputs to `sink`.
  Status write(OutputSink &sink);

private:
  /// Writes a part of one output to `sink`: the elements that this rank holds
  /// in microbatch number `microbatch`. The output is `program.outputs[index]`.
  /// `layout` describes how the output is divided among ranks and microbatches.
  Status writePart(OutputSink &sink, size_t index, const Layout &layout,
                   int32_t microbatch);
  /// Copies elements from `data`, a buffer of this rank, to `sink`. The
  /// elements belong to the output `program.outputs[index]`. The first element
  /// has index `from` in `data`, and index `to` in the whole output.
  ///
  /// `loops` is a loop nest, outermost loop first. Each entry is {number of
  /// iterations, stride in `data`, stride in the whole output}, with strides in
  /// elements. Each iteration of the innermost loop copies one element.
  ///
  /// For example, a rank holds columns 4 to 7 of an output of shape [2, 8] in a
  /// dense buffer of shape [2, 4]. To copy all these elements, `from` is 0,
  /// `to` is 4, and `loops` is {{2, 4, 8}, {4, 1, 1}}.
  Status writeLoops(OutputSink &sink, size_t index,
                    std::span<const CopyLoop> loops, int64_t from, int64_t to,
                    const char *data);
  /// Writes `count` contiguous elements of the output `program.outputs[index]`
  /// to `sink`. The first element has index `from` in `data`, a buffer of this
  /// rank, and index `to` in the whole output. Converts bf16 elements to f32,
  /// because .npy files have no bf16.
  Status writeRun(OutputSink &sink, size_t index, int64_t count, int64_t from,
                  int64_t to, const char *data);

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  HostBuffers &buffers;
  /// Scratch of writeRun().
  std::vector<char> converted;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H
