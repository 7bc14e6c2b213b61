//===- Inputs.cpp - fills a rank's parts of the model's inputs ------------===//

#include "runtime/engine/io/Inputs.h"
#include "runtime/base/QuantityText.h"
#include "runtime/tensor/ElementDispatch.h"
#include "runtime/tensor/Npy.h"
#include "runtime/tensor/RandomValues.h"
#include "status/Counted.h"
#include "status/Suggestions.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace pcc::runtime {

Status Inputs::checkName(const std::string &name) const {
  std::string known;
  std::vector<std::string> names;
  for (const auto &input : program.inputs) {
    if (input->name == name)
      return Status::success();
    known += (known.empty() ? "" : ", ") + describe(*input);
    names.push_back(input->name);
  }
  return Status::error(BadInput,
                       "the model has no input '" + name + "'" +
                           nearestOf(name, names),
                       {"its inputs are " + known});
}

/// Checks that an array has the type and the shape of an input. If `isOfSteps`,
/// the array has one more leading dim, which counts steps. f32 is valid for a
/// bf16 input, because .npy files have no bf16.
static Status checkArray(const program::InputT &input, ElementType type,
                         const std::vector<int64_t> &shape, bool isOfSteps) {
  const ElementType wanted = npyTypeOf(typeOf(input.type));
  if (type != wanted && type != typeOf(input.type))
    return Status::error(BadInput, "input '" + input.name + "' has type " +
                                       std::string(nameOf(type)) + ", not " +
                                       std::string(nameOf(wanted)));
  std::vector<int64_t> ofStep = shape;
  if (isOfSteps && !shape.empty() && shape.front() > 0)
    ofStep.erase(ofStep.begin());
  if (ofStep == input.shape && ofStep.size() + isOfSteps == shape.size())
    return Status::success();
  return Status::error(BadInput, "input '" + input.name + "' has shape " +
                                     toString(shape) + ", not " +
                                     (isOfSteps ? "steps of " : "") +
                                     toString(input.shape));
}

namespace {
/// Source of the elements of one input in one step. The source is memory or a
/// random generator. The index of an element is its row-major index in the
/// whole input, before the input is divided over ranks. For example, in an
/// input of shape [2, 3], element 4 is at row 1, column 1.
class InputSource {
public:
  /// Creates a source of the elements of one step. Element i of the source is
  /// element `(base + i) % count + shift` of the array `data`. `type` is the
  /// element type of `data`. `base` may be larger than `count`, because the
  /// array is read again from its start. `shift` is 1 for labels in a file of
  /// token ids, because the label of a token is the next token. Otherwise,
  /// `shift` is 0.
  InputSource(const void *data, ElementType type, int64_t base, int64_t count,
              int64_t shift = 0)
      : data(static_cast<const char *>(data)), type(type), base(base),
        count(count), shift(shift) {}
  explicit InputSource(const RandomTensor &random) : random(random) {}

  /// Copies elements of this source to the array `target`, and converts the
  /// elements to type `wanted`. `loops` is a loop nest, outermost loop first.
  /// The first iteration copies element `from` to index `to` in `target`. Each
  /// later iteration of a loop adds the strides of the loop to both indices.
  /// For example, one loop has source stride 4 and target stride 1:
  ///
  ///   index in this source   8  12  16
  ///   index in `target`      0   1   2
  void copy(std::span<const CopyLoop> loops, int64_t from, int64_t to,
            ElementType wanted, char *target) const {
    if (!loops.empty() && (loops.size() > 1 || loops[0].sourceStride != 1 ||
                           loops[0].targetStride != 1)) {
      for (int64_t i = 0; i < loops[0].extent; ++i)
        copy(loops.subspan(1), from + i * loops[0].sourceStride,
             to + i * loops[0].targetStride, wanted, target);
      return;
    }
    const int64_t extent = loops.empty() ? 1 : loops[0].extent;
    char *place = target + to * int64_t(sizeOf(wanted));
    if (data)
      copyRun(from, extent, wanted, place);
    else
      fillRandom({random.key, wanted, random.scale, random.indexBound},
                 uint64_t(from), 1, extent, place);
  }

private:
  /// Copies `extent` consecutive elements of this source to the address
  /// `place`, and converts the elements to type `wanted`. The first copied
  /// element has index `from` in this source. Element i of the source is
  /// element `(base + i) % count + shift` of the array `data`. For example,
  /// `from` is 0, `extent` is 4, `base` is 8 and `count` is 10. If `shift` is
  /// 0, the function copies elements 8, 9, 0 and 1 of `data`. If `shift` is 1,
  /// the function copies elements 9, 10, 1 and 2.
  void copyRun(int64_t from, int64_t extent, ElementType wanted,
               char *place) const {
    while (extent > 0) {
      const int64_t first = (base + from) % count;
      const int64_t now = std::min(extent, count - first);
      convertElements(type, data + (first + shift) * int64_t(sizeOf(type)), now,
                      wanted, place);
      from += now;
      extent -= now;
      place += now * int64_t(sizeOf(wanted));
    }
  }

  const char *data = nullptr;
  ElementType type = ElementType::F32;
  int64_t base = 0, count = 1, shift = 0;
  RandomTensor random;
};
} // namespace

/// Fills the buffer of one input on this rank, for all microbatches. `source`
/// has the elements of the whole input. The input may be sharded over ranks and
/// over microbatches. The function copies only the elements that this rank
/// holds in each microbatch. `at` has the mesh coordinates of this rank.
///
/// A buffer may have space for more elements than the rank holds. The function
/// sets this space to zero. For example, an input of 7 elements is sharded over
/// 2 ranks, and both ranks have buffers of 4 elements. Rank 1 then gets 3
/// elements and one zero.
static void fillBuffer(const program::ProgramT &program,
                       const program::InputT &input, const Mesh &mesh,
                       Coordinates at, const InputSource &source,
                       const BufferTable &buffers) {
  const program::BufferT &buffer = *program.buffers[size_t(input.buffer)];
  const Layout layout = layoutOf(*input.layout, mesh);
  const Layout whole = wholeLayout(input.shape);
  const bool isCut = isCutByMicrobatch(layout);
  for (int32_t slot = 0; slot < buffer.slots; ++slot) {
    microbatchOf(at) = isCut ? slot : 0;
    char *target = static_cast<char *>(buffers.at(input.buffer, slot));
    std::memset(target, 0, size_t(buffer.bytes));
    for (const StridedCopy &copy :
         intersect({&whole, &at}, {&layout, &at}, mesh))
      source.copy(copy.loops, copy.sourceOffset, copy.targetOffset,
                  typeOf(input.type), target);
  }
}

/// Returns the path of an input's file:
///
/// - with --input NAME=FILE: FILE, which has the elements of one step
/// - with --data DIR but without --tokens: DIR/NAME.npy, whose leading dim
///   counts steps
/// - otherwise: an empty path
std::string Inputs::pathOf(const program::InputT &input,
                           bool &isOfSteps) const {
  const auto given = options.inputs.find(input.name);
  isOfSteps = given == options.inputs.end() && !options.data.empty() &&
              options.tokens.empty();
  if (isOfSteps)
    return options.data + "/" + input.name + ".npy";
  return given == options.inputs.end() ? "" : given->second;
}

/// Finds and opens the source of the elements of `input`. Stores the result in
/// `source`. The options may name more than one source. The first of these
/// sources is used:
///
/// - the token stream of --tokens, if the token stream provides this input
/// - the .npy file of --input or --data
/// - the random generator of --random-inputs
///
/// Returns exit code 10 if the options name no source for the input.
Status Inputs::open(const program::InputT &input, Source &source) const {
  bool isOfSteps = false;
  source.shift = tokens.shiftOf(input);
  if (source.shift)
    return Status::success();
  const std::string path = pathOf(input, isOfSteps);
  if (!path.empty()) {
    NpyFile &file = source.file.emplace();
    if (Status status = NpyFile::open(path, file); status.failed())
      return status.addNote("it was given for input " + describe(input));
    if (isOfSteps && !file.shape().empty())
      source.numSteps = file.shape().front();
    Status status = checkArray(input, file.type(), file.shape(), isOfSteps);
    return status.ok() ? status : status.addNote("read from '" + path + "'");
  }
  if (!options.randomInputs)
    return Status::error(BadInput, "input " + describe(input) + " is missing",
                         {"give it with --input " + input.name +
                          "=FILE.npy, with --random-inputs SEED or, for "
                          "training, with --data DIR"});
  source.random = randomInput(*options.randomInputs, input.name,
                              typeOf(input.type), input.index_bound);
  return Status::success();
}

/// Opens the source of every input. `given` has arrays of the caller, by input
/// name. If `given` has an array for an input, the array is the source.
/// Otherwise the source is a file, the token stream or the random generator, as
/// the options say.
///
/// The function can be called again with other arrays. The files that are
/// already open stay open, and are not opened again.
Status Inputs::open(const InputArrays &given) {
  for (const auto &[name, path] : options.inputs)
    PCC_RETURN_IF_ERROR(checkName(name));
  for (const auto &[name, array] : given)
    PCC_RETURN_IF_ERROR(checkName(name));
  PCC_RETURN_IF_ERROR(checkData(options));
  if (sources.empty() && !options.tokens.empty())
    PCC_RETURN_IF_ERROR(tokens.open(options, program));
  sources.resize(program.inputs.size());
  ahead.reset();
  for (size_t i = 0; i < sources.size(); ++i) {
    const program::InputT &input = *program.inputs[i];
    Source &source = sources[i];
    const auto array = given.find(input.name);
    source.array.reset();
    if (array != given.end())
      source.array = array->second;
    else if (source.isOpen)
      continue;
    PCC_RETURN_IF_ERROR(source.array ? checkArray(input, source.array->type,
                                                  source.array->shape, false)
                                     : open(input, source));
    source.isOpen |= !source.array;
  }
  return checkSteps();
}

/// Each file is read again after its end. If one file ends before another one,
/// a later step would combine data of different steps.
Status Inputs::checkSteps() const {
  std::optional<size_t> first;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].numSteps == 0)
      continue;
    if (!first)
      first = i;
    const int64_t expected = sources[*first].numSteps;
    if (sources[i].numSteps != expected)
      return Status::error(
          BadInput,
          "input '" + program.inputs[i]->name + "' has data of " +
              countText(sources[i].numSteps, "step") + ", but '" +
              program.inputs[*first]->name + "' of " + std::to_string(expected),
          {"each file of --data needs the same steps"});
  }
  return Status::success();
}

/// Returns whether the elements of each sample are contiguous. The elements are
/// contiguous if the batch is the outermost dim, and this dim has one index per
/// sample. For example, a step has 4 samples. The result is true for the shape
/// [4, 8] if dim 0 is the batch. The result is false for the shape [8, 4] if
/// dim 1 is the batch.
bool Inputs::isCutInSamples(const program::InputT &input) const {
  return input.batch_dim == 0 && input.shape[0] == program.samples;
}

Status Inputs::checkPosition(int64_t sample) const {
  if (sample % program.samples == 0)
    return Status::success();
  for (size_t i = 0; i < sources.size(); ++i)
    if (const program::InputT &input = *program.inputs[i];
        sources[i].numSteps > 1 && !isCutInSamples(input))
      return Status::error(
          BadInput, "training cannot continue at sample " +
                        std::to_string(sample) + ": input " + describe(input) +
                        " does not begin with the batch, so its file holds "
                        "whole steps of " +
                        counted(program.samples, "sample"));
  return Status::success();
}

/// Fills the buffers of one input for the step that begins with sample number
/// `sample`. Samples (entries of the batch) are numbered from 0 across all
/// steps. `base` is the index of the step's first element in a source of
/// several steps. After the end of the source, the source is read again, and
/// `base` continues to grow.
///
/// If the elements of different samples are interleaved, only the elements of a
/// whole step are contiguous. `base` is then the first element of the whole
/// step that contains `sample`.
void Inputs::fill(const program::InputT &input, const Source &source,
                  int64_t sample) const {
  const int64_t ofStep = numElements(input.shape);
  int64_t base = 0;
  if (isCutInSamples(input))
    base = sample * (ofStep / program.samples);
  else
    base = sample / program.samples * ofStep;
  const auto fillFrom = [&](const InputSource &from) {
    fillBuffer(program, input, mesh, at, from, buffers.nextInputs());
  };
  if (source.array)
    fillFrom({source.array->data, source.array->type, 0, ofStep});
  else if (source.shift)
    fillFrom({tokens.data(), tokens.type(), base, tokens.numElements(),
              *source.shift});
  else if (source.file)
    fillFrom({source.file->data(), source.file->type(),
              source.numSteps ? base : 0,
              std::max<int64_t>(1, source.numSteps) * ofStep});
  else
    fillFrom(InputSource(source.random));
}

void Inputs::fill(int64_t sample) const {
  for (size_t i = 0; i < sources.size(); ++i)
    if (program.inputs[i]->buffer >= 0)
      fill(*program.inputs[i], sources[i], sample);
}

Status Inputs::checkFiles() const {
  PCC_RETURN_IF_ERROR(tokens.checkRead());
  for (const Source &source : sources)
    if (source.file)
      PCC_RETURN_IF_ERROR(source.file->checkRead());
  return Status::success();
}

Status Inputs::write(int64_t sample) {
  fill(sample);
  PCC_RETURN_IF_ERROR(checkFiles());
  ahead = sample;
  return buffers.send();
}

Status Inputs::readAhead(int64_t sample) {
  return buffers.canWriteAhead() ? write(sample) : Status::success();
}

Status Inputs::read(int64_t sample) {
  // This step begins with sample number `sample`. An earlier call of
  // readAhead() may have filled the host buffers for a step that begins with
  // another sample, and may have begun to upload these buffers. `ahead` is the
  // number of the other sample. The buffers must be filled again for this step.
  //
  // Each input has two host buffers. The upload may still read one of the two
  // buffers. write() below must therefore fill the other buffer. beginStep()
  // exchanges the two buffers for this purpose.
  if (ahead && ahead != sample)
    PCC_RETURN_IF_ERROR(buffers.beginStep());
  if (ahead != sample)
    PCC_RETURN_IF_ERROR(write(sample));
  ahead.reset();
  return buffers.beginStep();
}

} // namespace pcc::runtime
