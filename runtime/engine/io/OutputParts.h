//===- OutputParts.h - the parts of the outputs that a rank writes --------===//

#ifndef PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H
#define PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H

#include "runtime/engine/io/HostBuffers.h"

#include <span>
#include <vector>

namespace pcc::runtime {

/// Destination of the elements of model outputs. In the destination each output
/// is a whole, dense, row-major array in the element type of .npy files (bf16
/// becomes f32). Elements arrive as contiguous ranges of bytes.
class OutputSink {
public:
  virtual ~OutputSink() = default;
  /// Writes `size` bytes from `data` to byte `offset` of the whole array of
  /// output number `output`.
  virtual Status write(size_t output, int64_t offset, const void *data,
                       size_t size) = 0;
};

/// A destination in memory that all ranks share, with one address per output.
/// The ranges that different ranks write do not overlap, so no lock is needed.
class MemorySink : public OutputSink {
public:
  explicit MemorySink(std::span<std::byte *const> places) : places(places) {}
  Status write(size_t output, int64_t offset, const void *data,
               size_t size) override;

private:
  std::span<std::byte *const> places;
};

/// The elements of the outputs that this rank must write. If several ranks hold
/// the same elements (replicas), the lowest of these ranks writes them. The
/// ranks together write every element once.
class OutputParts {
public:
  /// Stores references to all arguments, which must outlive this object.
  OutputParts(const program::ProgramT &program, const Mesh &mesh,
              const Coordinates &at, HostBuffers &buffers)
      : program(program), mesh(mesh), at(at), buffers(buffers) {}

  /// Writes to `sink` the elements of all outputs and microbatches that this
  /// rank must write.
  Status write(OutputSink &sink);

private:
  /// Writes to `sink` the elements of output number `index` in one microbatch.
  /// `layout` determines which elements of the output this rank's buffer holds.
  Status writePart(OutputSink &sink, size_t index, const Layout &layout,
                   int32_t microbatch);
  /// Executes a loop nest, outermost loop first, and writes its contiguous
  /// ranges to `sink`. `from` is the index of the first element in the buffer
  /// `data`. `to` is the index of that element in the whole output.
  Status writeLoops(OutputSink &sink, size_t index,
                    std::span<const CopyLoop> loops, int64_t from, int64_t to,
                    const char *data);
  /// Writes `count` contiguous elements to `sink`, converted to the element
  /// type of .npy files.
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
