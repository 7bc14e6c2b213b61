//===- OutputParts.cpp - the parts of the outputs that a rank writes ------===//

#include "runtime/engine/io/OutputParts.h"
#include "runtime/tensor/ElementDispatch.h"
#include "runtime/tensor/Npy.h"

#include <cstring>

namespace pcc::runtime {

Status MemorySink::write(size_t output, int64_t offset, const void *data,
                         size_t size) {
  std::memcpy(places[output] + offset, data, size);
  return Status::success();
}

/// Handles two kinds of outputs:
///
/// - The output is divided among microbatches: each microbatch has different
///   elements, such as different rows. Writes the elements of every microbatch.
/// - The output is not divided among microbatches: all microbatches have the
///   same elements. Writes the elements of microbatch 0 only.
Status OutputParts::write(OutputSink &sink) {
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const program::OutputT &output = *program.outputs[i];
    if (output.buffer < 0)
      continue;
    const Layout layout = layoutOf(*output.layout, mesh);
    if (!isLowestHolder(layout, mesh, at))
      continue;
    const bool isCut = isCutByMicrobatch(layout);
    for (int32_t m = 0; m < (isCut ? program.microbatches : 1); ++m)
      PCC_RETURN_IF_ERROR(writePart(sink, i, layout, m));
  }
  return Status::success();
}

Status OutputParts::writePart(OutputSink &sink, size_t index,
                              const Layout &layout, int32_t microbatch) {
  const program::OutputT &output = *program.outputs[index];
  Coordinates here = at;
  microbatchOf(here) = microbatch;
  const Layout whole = wholeLayout(output.shape);
  const void *data = nullptr;
  PCC_RETURN_IF_ERROR(buffers.read(output.buffer, microbatch, data));
  for (const StridedCopy &copy :
       intersect({&layout, &here}, {&whole, &here}, mesh))
    PCC_RETURN_IF_ERROR(writeLoops(sink, index, copy.loops, copy.sourceOffset,
                                   copy.targetOffset,
                                   static_cast<const char *>(data)));
  return Status::success();
}

/// Executes the loop nest `loops` by recursion. Each loop has two strides: a
/// stride in the buffer `data`, and a stride in the whole output. Each
/// iteration of the outermost loop calls this function again, with the
/// remaining loops. The recursion ends in one of two cases:
///
/// - One loop remains, and its two strides are both 1. The elements of this
///   loop are contiguous in `data` and in the whole output. One call of
///   writeRun() writes all these elements.
/// - No loop remains. One call of writeRun() writes one element.
Status OutputParts::writeLoops(OutputSink &sink, size_t index,
                               std::span<const CopyLoop> loops, int64_t from,
                               int64_t to, const char *data) {
  const bool isRun =
      loops.empty() || (loops.size() == 1 && loops[0].sourceStride == 1 &&
                        loops[0].targetStride == 1);
  if (isRun)
    return writeRun(sink, index, loops.empty() ? 1 : loops[0].extent, from, to,
                    data);
  for (int64_t i = 0; i < loops[0].extent; ++i)
    PCC_RETURN_IF_ERROR(writeLoops(sink, index, loops.subspan(1),
                                   from + i * loops[0].sourceStride,
                                   to + i * loops[0].targetStride, data));
  return Status::success();
}

Status OutputParts::writeRun(OutputSink &sink, size_t index, int64_t count,
                             int64_t from, int64_t to, const char *data) {
  const ElementType type = typeOf(program.outputs[index]->type);
  const ElementType written = npyTypeOf(type);
  const auto size = int64_t(sizeOf(written));
  data += from * int64_t(sizeOf(type));
  if (type == written)
    return sink.write(index, to * size, data, size_t(count * size));
  converted.resize(size_t(count * size));
  convertElements(type, data, count, written, converted.data());
  return sink.write(index, to * size, converted.data(), converted.size());
}

} // namespace pcc::runtime
