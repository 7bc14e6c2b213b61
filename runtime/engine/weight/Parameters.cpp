//===- Parameters.cpp - loads a rank's pieces of the weights --------------===//

#include "runtime/engine/weight/Parameters.h"
#include "runtime/device/QueuedDevice.h"
#include "runtime/engine/weight/WeightView.h"
#include "runtime/program/InstructionOperands.h"
#include "runtime/program/WeightFile.h"
#include "runtime/tensor/ElementDispatch.h"
#include "status/Counted.h"
#include "status/PrintableText.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pcc::runtime {

Parameters::Parameters(const program::ProgramT &program, const Mesh &mesh,
                       const Coordinates &at)
    : program(program), mesh(mesh), at(at), pieces(program.parameters.size()) {
  countUses();
}

/// Counts how often the program uses each parameter. A use is a buffer of the
/// parameter in one of three places: an instruction, an output of the program,
/// or a message that this rank sends to another stage. For example, if two
/// instructions read a weight and one output is the weight, the count is 3.
void Parameters::countUses() {
  const auto count = [&](int32_t index) {
    if (index < 0)
      return;
    const program::BufferT &buffer = *program.buffers[size_t(index)];
    if (buffer.memory == program::Memory::Parameter)
      ++pieces[size_t(buffer.index)].uses;
  };
  const auto countAll = [&](const auto &instructions) {
    for (const auto &instruction : instructions)
      for (int32_t buffer : buffersOf(*instruction))
        count(buffer);
  };
  for (const auto &function : program.functions)
    countAll(function->instructions);
  for (const auto &output : program.outputs)
    count(output->buffer);
  for (const auto &transfer : program.transfers)
    count(transfer->from_buffer);
}

std::string weightPath(const program::WeightFileT &file,
                       const program::ProgramT &program,
                       const RunOptions &options) {
  const std::string &root =
      options.weights.empty() ? program.weights_root : options.weights;
  const std::string &folder = file.in_bundle ? options.bundle : root;
  return folder.empty() ? file.path : folder + "/" + file.path;
}

/// Prints a note that the option --check-weights could not compare the whole
/// weight file at `path`. The compiler stores two kinds of hashes of a weight
/// file, and the runtime compares these hashes with the file:
///
/// - The hashes of at most 16 blocks of 4096 bytes. The compiler always stores
///   these hashes, and every run compares them.
/// - The hash of all bytes of the file. The compiler stores this hash only if
///   the file is not larger than 1 GiB. Only a run with the option
///   --check-weights compares this hash.
///
/// If the file is larger than 1 GiB, even a run with the option --check-weights
/// compares only the blocks. The function prints its note in this case.
static void noteUnhashed(const std::string &path) {
  std::fprintf(stderr,
               "note: weight file '%s' was too large to be hashed when the "
               "model was compiled; only samples of it were compared\n",
               printable(path).c_str());
}

/// Calls checkWeightFile() for each weight file, which returns an error if the
/// file has changed since the model was compiled. Then maps the file into
/// memory.
///
/// With the option --check-weights, checkWeightFile() also compares a hash of
/// the whole file. If the compiler has not recorded this hash, noteUnhashed()
/// prints a note. Only a rank whose mesh coordinates are all 0 prints the note.
/// Otherwise each rank would print the same note.
Status Parameters::openFiles(const RunOptions &options) {
  const bool isFirst =
      std::all_of(at.begin(), at.end(), [](int64_t c) { return c == 0; });
  for (const auto &file : program.files) {
    const std::string path = weightPath(*file, program, options);
    // The option --weights names a directory with copies of the weight files. A
    // copy may have another modification time than the original file. The next
    // lines therefore set `in_bundle` to true if the user gave the option. If
    // `in_bundle` is true, checkWeightFile() does not compare the modification
    // time.
    program::WeightFileT expected = *file;
    expected.in_bundle |= !options.weights.empty();
    PCC_RETURN_IF_ERROR(checkWeightFile(path, expected, options.checkWeights));
    if (options.checkWeights && isFirst && file->full_hash == 0)
      noteUnhashed(path);
    PCC_RETURN_IF_ERROR(MappedFile::open(path, files.emplace_back()));
    if (files.back().bytes().size() != file->size)
      return Status::error(DamagedBundle, "weight file '" + path +
                                              "' changes while it is "
                                              "read");
  }
  isReadInPlace.resize(files.size());
  return Status::success();
}

/// Returns an error if a mapped weight file has changed since openFiles().
///
/// - The first call comes at the end of loading, in fillBases(). This call
///   checks all weight files, because loading may have read any of them.
/// - Later calls check only the weight files for which `isReadInPlace` is true.
///   Instructions may read weights directly from the mapped pages of these
///   files.
Status Parameters::checkFiles() const {
  for (size_t i = 0; i < files.size(); ++i)
    if (!isLoaded || isReadInPlace[i])
      PCC_RETURN_IF_ERROR(files[i].checkUnchanged(DamagedBundle));
  return Status::success();
}

bool Parameters::isExclusive(int32_t parameter) const {
  return pieces[size_t(parameter)].uses == 1 &&
         !program.parameters[size_t(parameter)]->trainable;
}

Status Parameters::allocate(const program::ParameterT &parameter,
                            LocalPiece &piece) {
  const int64_t rounded =
      (parameter.local_bytes + kAlignment) / kAlignment * kAlignment;
  piece.copy.reset(std::aligned_alloc(kAlignment, size_t(rounded)));
  piece.data = piece.copy.get();
  if (piece.data)
    return Status::success();
  return Status::error(NoDevice, "out of memory: no " +
                                     counted(parameter.local_bytes, "byte") +
                                     " for '" + parameter.name + "'");
}

/// Loads the shard of a parameter from the mapped weight file. There are two
/// cases:
///
/// - Training changes the parameter. The function always copies the shard to
///   host memory, because the mapped file is read-only.
/// - Training does not change the parameter. Instructions may then be able to
///   read the shard directly in the mapped file, and findInPlace() returns the
///   address of the shard there. If findInPlace() returns null, the function
///   copies the shard to host memory.
Status Parameters::readFile(const program::ParameterT &parameter,
                            LocalPiece &piece) {
  const MappedFile &file = files[size_t(parameter.file)];
  const Layout layout = layoutOf(*parameter.layout, mesh);
  const WeightView view(parameter, file.bytes().data() + parameter.offset);
  if (!parameter.trainable)
    piece.data = view.findInPlace(layout, mesh, at);
  if (piece.data) {
    isReadInPlace[size_t(parameter.file)] = true;
    return Status::success();
  }
  PCC_RETURN_IF_ERROR(allocate(parameter, piece));
  view.read(layout, mesh, at, piece.copy.get());
  file.release(parameter.offset, parameter.length);
  return Status::success();
}

/// Fills `target` with `number` in every element.
static void fillElements(double number, ElementType type, void *target,
                         int64_t bytes) {
  char element[8];
  convertElements(ElementType::F64, &number, 1, type, element);
  for (int64_t at = 0; at < bytes; at += int64_t(sizeOf(type)))
    std::memcpy(static_cast<char *>(target) + at, element, sizeOf(type));
}

static RandomTensor randomOf(const program::ParameterT &parameter) {
  return randomWeight(parameter.seed, parameter.name,
                      typeOf(parameter.stored_type));
}

/// Sets `data` to the host address of this rank's shard of parameter number
/// `index`. The first call creates the shard. The function fills the shard with
/// a number in the program (such as 0 for a moment of Adam), loads the shard
/// from a weight file, or generates random elements. Later calls return the
/// same address, until drop() frees the shard.
Status Parameters::acquire(int32_t index, const void *&data) {
  LocalPiece &piece = pieces[size_t(index)];
  const program::ParameterT &parameter = *program.parameters[size_t(index)];
  if (!piece.data && parameter.filled) {
    PCC_RETURN_IF_ERROR(allocate(parameter, piece));
    fillElements(parameter.fill, typeOf(parameter.type), piece.copy.get(),
                 parameter.local_bytes);
  } else if (!piece.data && parameter.file >= 0) {
    PCC_RETURN_IF_ERROR(readFile(parameter, piece));
  } else if (!piece.data) {
    PCC_RETURN_IF_ERROR(allocate(parameter, piece));
    WeightView(parameter, randomOf(parameter))
        .read(layoutOf(*parameter.layout, mesh), mesh, at, piece.copy.get());
  }
  data = piece.data;
  return Status::success();
}

void Parameters::drop(int32_t index) {
  LocalPiece &piece = pieces[size_t(index)];
  const program::ParameterT &parameter = *program.parameters[size_t(index)];
  piece.copy.reset();
  piece.data = nullptr;
  piece.dropped = true;
  if (parameter.file >= 0)
    files[size_t(parameter.file)].release(parameter.offset, parameter.length);
}

bool Parameters::isNeeded(const program::BufferT &buffer) const {
  return buffer.memory == program::Memory::Parameter &&
         pieces[size_t(buffer.index)].uses > 0 &&
         !pieces[size_t(buffer.index)].dropped;
}

Status Parameters::fillBases(BufferTable &buffers, Device &device,
                             const ProgramImage &image) {
  PCC_RETURN_IF_ERROR(device.sharesHostMemory()
                          ? fillBasesOfHost(buffers)
                          : copyTo(device, buffers, image));
  PCC_RETURN_IF_ERROR(checkFiles());
  isLoaded = true;
  return Status::success();
}

Status Parameters::fillBasesOfHost(BufferTable &buffers) {
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const program::BufferT &buffer = *program.buffers[i];
    if (!isNeeded(buffer))
      continue;
    const void *data = nullptr;
    PCC_RETURN_IF_ERROR(acquire(buffer.index, data));
    // The const_cast is safe. Instructions write only to trainable parameters,
    // and the shard of a trainable parameter is a writable copy.
    buffers.setBase(int32_t(i), static_cast<char *>(const_cast<void *>(data)) +
                                    buffer.offset);
  }
  return Status::success();
}

/// Makes a single allocation on the device for all shards. Each shard begins at
/// a multiple of 64 bytes. For example, two shards of 100 and 200 bytes begin
/// at bytes 0 and 128 of the allocation.
///
/// Instructions access the shards through buffers. A buffer is the whole shard
/// of a parameter, or a range of bytes inside the shard. `buffer.offset` is the
/// distance, in bytes, from the beginning of the shard to the beginning of the
/// range. For example, the second shard begins at byte 128 of the allocation. A
/// buffer with offset 40 in this shard begins at byte 128 + 40 = 168 of the
/// allocation.
Status Parameters::copyTo(Device &device, BufferTable &buffers,
                          const ProgramImage &image) {
  std::vector<int64_t> offsets(pieces.size(), -1);
  int64_t total = 0;
  for (const auto &buffer : program.buffers)
    if (isNeeded(*buffer) && offsets[size_t(buffer->index)] < 0) {
      offsets[size_t(buffer->index)] = total;
      const int64_t bytes =
          program.parameters[size_t(buffer->index)]->local_bytes;
      total += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
  char *memory = nullptr;
  PCC_RETURN_IF_ERROR(device.allocate(total, memory));
  for (size_t i = 0; i < program.buffers.size(); ++i)
    if (const program::BufferT &buffer = *program.buffers[i]; isNeeded(buffer))
      buffers.setBase(int32_t(i),
                      memory + offsets[size_t(buffer.index)] + buffer.offset);
  for (size_t i = 0; i < pieces.size(); ++i)
    if (offsets[i] >= 0)
      PCC_RETURN_IF_ERROR(
          writePiece(int32_t(i), device, image, memory + offsets[i]));
  return Status::success();
}

/// Writes the shard of the parameter with number `index` to the device address
/// `to`. There are three cases:
///
/// - All elements of the parameter are zero. The function writes nothing,
///   because Device::allocate() returns memory that is filled with zeros.
/// - The elements of the parameter are random, and the program has a kernel
///   that generates them. The function runs this kernel on the device.
/// - In all other cases, the function loads the shard on the host, copies the
///   shard to the device, and frees the host memory.
Status Parameters::writePiece(int32_t index, Device &device,
                              const ProgramImage &image, void *to) {
  const program::ParameterT &parameter = *program.parameters[size_t(index)];
  if (parameter.filled && parameter.fill == 0)
    return Status::success();
  if (QueuedDevice *const queue = device.queued();
      queue && parameter.generator >= 0) {
    const RandomTensor random = randomOf(parameter);
    const auto copies =
        WeightView(parameter, random)
            .findGenerated(layoutOf(*parameter.layout, mesh), mesh, at);
    if (copies)
      return queue->generate(image, parameter.generator, random.key, *copies,
                             to);
  }
  const void *data = nullptr;
  PCC_RETURN_IF_ERROR(acquire(index, data));
  PCC_RETURN_IF_ERROR(device.upload(to, data, size_t(parameter.local_bytes)));
  drop(index);
  return Status::success();
}

} // namespace pcc::runtime
