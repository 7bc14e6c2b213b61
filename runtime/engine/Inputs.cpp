//===- Inputs.cpp - reads a rank's parts of the inputs --------------------===//

#include "runtime/engine/Inputs.h"
#include "runtime/program/ElementDispatch.h"
#include "runtime/program/Npy.h"
#include "runtime/program/RandomValues.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace pcc::runtime {

static std::string describe(const program::InputT &input) {
  return "\"" + input.name + "\" (" +
         std::string(nameOf(npyTypeOf(typeOf(input.type)))) + " " +
         toString(input.shape) + ")";
}

Status Inputs::checkName(const std::string &name) const {
  std::string known;
  for (const auto &input : program.inputs) {
    if (input->name == name)
      return Status::success();
    known += (known.empty() ? "" : ", ") + describe(*input);
  }
  return Status::error(BadInput, "the model has no input \"" + name + "\"",
                       {"its inputs are " + known});
}

/// Whether an array holds an input, or, with `isOfSteps`, one for each step.
static Status checkArray(const program::InputT &input, ElementType type,
                         const std::vector<int64_t> &shape, bool isOfSteps) {
  const ElementType wanted = npyTypeOf(typeOf(input.type));
  if (type != wanted && type != typeOf(input.type))
    return Status::error(BadInput, "input \"" + input.name + "\" has type " +
                                       std::string(nameOf(type)) + ", not " +
                                       std::string(nameOf(wanted)));
  std::vector<int64_t> ofStep = shape;
  if (isOfSteps && !shape.empty() && shape.front() > 0)
    ofStep.erase(ofStep.begin());
  if (ofStep == input.shape && ofStep.size() + isOfSteps == shape.size())
    return Status::success();
  return Status::error(BadInput, "input \"" + input.name + "\" has shape " +
                                     toString(shape) + ", not " +
                                     (isOfSteps ? "steps of " : "") +
                                     toString(input.shape));
}

namespace {
/// Where the elements of one input come from: memory, or a generator.
class InputSource {
public:
  InputSource(ElementType type, const void *data)
      : elements(static_cast<const char *>(data)), type(type) {}
  explicit InputSource(const RandomTensor &random)
      : random(random), type(random.type) {}

  /// Copies to a buffer of type `wanted`.
  void copy(std::span<const CopyLoop> loops, int64_t from, int64_t to,
            ElementType wanted, char *target) const {
    const auto size = int64_t(sizeOf(wanted));
    if (!loops.empty() && (loops.size() > 1 || loops[0].sourceStride != 1 ||
                           loops[0].targetStride != 1)) {
      for (int64_t i = 0; i < loops[0].extent; ++i)
        copy(loops.subspan(1), from + i * loops[0].sourceStride,
             to + i * loops[0].targetStride, wanted, target);
      return;
    }
    const int64_t count = loops.empty() ? 1 : loops[0].extent;
    if (!elements)
      return fillRandom({random.key, wanted, random.scale, random.indexBound},
                        uint64_t(from), 1, count, target + to * size);
    convertElements(type, elements + from * int64_t(sizeOf(type)), count,
                    wanted, target + to * size);
  }

private:
  const char *elements = nullptr;
  RandomTensor random;
  ElementType type;
};
} // namespace

/// With what begins at element `base` of the source.
static void fillBuffer(const program::ProgramT &program,
                       const program::InputT &input, const Mesh &mesh,
                       Coordinates at, const InputSource &source, int64_t base,
                       const BufferTable &buffers) {
  const program::BufferT &buffer = *program.buffers[size_t(input.buffer)];
  const Layout layout = layoutOf(*input.layout);
  const Layout whole = wholeLayout(input.shape);
  const bool isCut = usesAxis(layout, mesh.microbatchAxis());
  for (int32_t slot = 0; slot < buffer.slots; ++slot) {
    at[size_t(mesh.microbatchAxis())] = isCut ? slot : 0;
    char *target = static_cast<char *>(buffers.at(input.buffer, slot));
    std::memset(target, 0, size_t(buffer.bytes));
    for (const StridedCopy &copy :
         intersect({&whole, &at}, {&layout, &at}, mesh))
      source.copy(copy.loops, base + copy.sourceOffset, copy.targetOffset,
                  typeOf(input.type), target);
  }
}

/// The file that was given for an input; empty if none was.
std::string Inputs::pathOf(const program::InputT &input,
                           bool &isOfSteps) const {
  const auto given = options.inputs.find(input.name);
  isOfSteps = given == options.inputs.end() && !options.data.empty();
  if (isOfSteps)
    return options.data + "/" + input.name + ".npy";
  return given == options.inputs.end() ? "" : given->second;
}

Status Inputs::open(const program::InputT &input, Source &source) const {
  bool isOfSteps = false;
  const std::string path = pathOf(input, isOfSteps);
  if (!path.empty()) {
    NpyFile &file = source.file.emplace();
    if (Status status = NpyFile::open(path, file); status.failed())
      return status.addNote("it was given for input " + describe(input));
    if (isOfSteps && !file.shape().empty())
      source.numSteps = file.shape().front();
    Status status = checkArray(input, file.type(), file.shape(), isOfSteps);
    return status.ok() ? status : status.addNote("read from \"" + path + "\"");
  }
  if (!options.randomInputs)
    return Status::error(BadInput, "input " + describe(input) + " is missing",
                         {"give it with --input " + input.name +
                          "=FILE.npy, or --random-inputs SEED"});
  source.random = randomInput(*options.randomInputs, input.name,
                              typeOf(input.type), input.index_bound);
  return Status::success();
}

Status Inputs::open(const InputArrays &given) {
  for (const auto &[name, path] : options.inputs)
    if (Status status = checkName(name); status.failed())
      return status;
  for (const auto &[name, array] : given)
    if (Status status = checkName(name); status.failed())
      return status;
  sources.resize(program.inputs.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    const program::InputT &input = *program.inputs[i];
    Source &source = sources[i];
    const auto array = given.find(input.name);
    source.array.reset();
    if (array != given.end())
      source.array = array->second;
    else if (source.isOpen)
      continue;
    Status status = source.array ? checkArray(input, source.array->type,
                                              source.array->shape, false)
                                 : open(input, source);
    if (status.failed())
      return status;
    source.isOpen |= !source.array;
  }
  return Status::success();
}

void Inputs::read(int64_t step) const {
  for (size_t i = 0; i < sources.size(); ++i) {
    const program::InputT &input = *program.inputs[i];
    const Source &source = sources[i];
    if (input.buffer < 0)
      continue;
    const int64_t base = source.numSteps && !source.array
                             ? step % source.numSteps * numElements(input.shape)
                             : 0;
    fillBuffer(
        program, input, mesh, at,
        source.array  ? InputSource(source.array->type, source.array->data)
        : source.file ? InputSource(source.file->type(), source.file->data())
                      : InputSource(source.random),
        base, buffers);
  }
}

} // namespace pcc::runtime
