//===- Emit.cpp - compilation of a module to a bundle on disk -------------===//

#include "passes/7-emit/Emit.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/bundle/BundleFolder.h"
#include "passes/7-emit/bundle/BundleJson.h"
#include "passes/7-emit/bundle/MemoryUse.h"
#include "passes/7-emit/bundle/PlannedStep.h"
#include "passes/7-emit/bundle/WeightFiles.h"
#include "passes/7-emit/gpu/kernel/Cubin.h"
#include "passes/7-emit/gpu/kernel/Ptx.h"
#include "passes/7-emit/kernel/NativeCode.h"
#include "passes/7-emit/kernel/RandomWeights.h"
#include "passes/7-emit/link/ImageObject.h"
#include "passes/7-emit/link/InstructionSets.h"
#include "passes/7-emit/link/RankLinker.h"
#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/base/QuantityText.h"
#include "runtime/base/SharedLibrary.h"
#include "runtime/program/Program.h"
#include "runtime/program/Seal.h"
#include "runtime/program/SummaryText.h"
#include "runtime/program/VerifyProgram.h"
#include "runtime/program/WeightFile.h"
#include "runtime/program/bundle/BundleFields.h"
#include "runtime/tensor/JsonNumbers.h"
#include "runtime/timeline/TimelineFiles.h"

#include "llvm/ADT/StringExtras.h"

#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// Writes the bundle of one module. run() executes the steps, which are private
/// methods. A step uses the results of earlier steps. The first error ends the
/// run.
class BundleEmitter {
public:
  BundleEmitter(ModuleOp module, const BundleOptions &options)
      : module(module), options(options) {}

  /// Runs the steps that write the bundle, in the order of the array `parts`.
  /// The steps write all files of the bundle into a temporary directory. After
  /// the last step, renames this directory to the path of the bundle. If a step
  /// fails, returns the error of this step and runs no later step.
  Status run() {
    using Part = Status (BundleEmitter::*)();
    static constexpr Part parts[] = {&BundleEmitter::read,
                                     &BundleEmitter::writePrograms,
                                     &BundleEmitter::createFolder,
                                     &BundleEmitter::placeWeights,
                                     &BundleEmitter::compile,
                                     &BundleEmitter::sealPrograms,
                                     &BundleEmitter::linkExecutables,
                                     &BundleEmitter::writeRest,
                                     &BundleEmitter::writeTimeline};
    for (Part part : parts)
      PCC_RETURN_IF_ERROR((this->*part)());
    return folder.finish();
  }

private:
  /// Reads the target, the GPU architecture and the instruction sets from the
  /// module. Finds the support folder (files that executables are linked with).
  Status read() {
    PCC_RETURN_IF_ERROR(findSupportFolder(support));
    target = dist::targetOf(module).str();
    if (target == "cuda")
      gpuCode = GpuCode{rank::gpuArchOf(module).str(), "", {}};
    if (gpuCode && !isGpuArch(gpuCode->arch))
      return Status::error(
          WrongUsage, "there is no GPU architecture '" + gpuCode->arch + "'",
          {"use sm_80, sm_90 or a later one"});
    return instructionSetsOf(module, cpus);
  }

  /// Fills `programs` with one program (list of instructions) per index along
  /// the pipeline axis of the mesh. All ranks with the same index execute the
  /// same program. Writes no file. Returns an error if a rank needs more bytes
  /// of memory than the module attribute `rank.memory_limit` allows.
  Status writePrograms() {
    PCC_RETURN_IF_ERROR(emit::writePrograms(module, facts, programs));
    return checkMemory(module, memoryOf(*facts, programs));
  }

  /// Creates the temporary directory into which the bundle is written.
  Status createFolder() { return folder.create(options.bundle); }

  /// Stores the size and the hashes of each weight file in the programs that
  /// read it. With the option `packWeights`, copies the weights into the
  /// bundle, and makes the programs read the copies.
  Status placeWeights() {
    PCC_RETURN_IF_ERROR(describeWeightFiles(programs));
    return options.packWeights ? packWeights(programs, folder)
                               : Status::success();
  }

  /// Compiles the kernels to one object file per instruction set in `cpus`. For
  /// a GPU target, also compiles the kernels to GPU code.
  Status compile() {
    if (module.getOps<rank::KernelOp>().empty() &&
        randomKernelsOf(module).empty())
      return Status::success();
    if (gpuCode)
      PCC_RETURN_IF_ERROR(compileForGpus());
    if (cpus.empty())
      return Status::success();
    SmallVector<StringRef> names(cpus.begin(), cpus.end());
    FailureOr<std::vector<KernelObject>> compiled =
        compileKernels(module, names);
    if (failed(compiled))
      return Status::error(Defect, "phase '7-emit' cannot compile its kernels");
    for (KernelObject &object : *compiled)
      PCC_RETURN_IF_ERROR(addObject("kernels", object.bytes));
    return Status::success();
  }

  /// Compiles the kernels to PTX. If the library nvJitLink is installed, also
  /// assembles the PTX to a cubin (GPU machine code). Otherwise emits a remark.
  Status compileForGpus() {
    FailureOr<std::string> ptx =
        makePtx(module, gpuCode->arch, support + "/libdevice.10.bc");
    if (failed(ptx))
      return Status::error(
          Defect, "phase '7-emit' cannot translate its kernels to PTX");
    gpuCode->ptx = *ptx;
    std::optional<std::vector<char>> cubin;
    PCC_RETURN_IF_ERROR(
        assemble(gpuCode->ptx, gpuCode->arch, runtime::cudaFolders(), cubin));
    if (!cubin)
      emitRemark(UnknownLoc::get(module.getContext()))
          << "libnvJitLink.so.13 was not found: kernels stay PTX, which the "
             "driver assembles when it loads them";
    gpuCode->cubin = cubin.value_or(std::vector<char>());
    for (const auto &code :
         {StringRef(gpuCode->ptx),
          StringRef(gpuCode->cubin.data(), gpuCode->cubin.size())})
      codeHash = XXH3_64bits_withSeed(code.data(), code.size(), codeHash);
    return Status::success();
  }

  /// Writes `bytes`, an object file with compiled kernels, into the bundle. The
  /// file name is `name` with a number, such as `kernels0.o`.
  Status addObject(const std::string &name, const std::vector<char> &bytes) {
    const std::string file = name + std::to_string(objects.size()) + ".o";
    objects.push_back(file);
    codeHash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), codeHash);
    return folder.write(file, {bytes.data(), bytes.size()});
  }

  /// Stores in each program the hash of the runtime (`build_id`), the hash of
  /// the kernels, and `plan_hash`. Then verifies the programs. `plan_hash`
  /// covers all programs, the kernels and the runtime. Ranks compare it at
  /// startup, so that ranks of different bundles cannot run together.
  Status sealPrograms() {
    uint64_t runtimeHash = 0;
    PCC_RETURN_IF_ERROR(
        runtime::hashFile(rankMain(support, target), runtimeHash));
    uint64_t planHash = codeHash ^ runtimeHash;
    for (PositionProgram &program : programs) {
      program.tables.build_id = "pcc-" + llvm::utohexstr(runtimeHash);
      program.tables.kernels_hash = codeHash;
      const auto bytes =
          runtime::sealProgram(program.tables, program.constants);
      planHash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), planHash);
    }
    for (PositionProgram &program : programs) {
      program.tables.plan_hash = planHash;
      if (Status status = runtime::verifyProgram(
              program.tables, static_cast<int64_t>(program.constants.size()));
          status.failed())
        return Status::error(
            Defect, "phase '7-emit' made a program that the loader rejects: " +
                        status.message());
    }
    return Status::success();
  }

  /// Links one executable per index along the pipeline axis of the mesh. The
  /// first rank with an index gets the file. All other ranks with this index
  /// get hard links to the file.
  Status linkExecutables() {
    const int64_t perPosition =
        runtime::numRanks(facts->mesh.ranks()) / facts->numPositions();
    for (PositionProgram &program : programs) {
      const int64_t first = program.tables.position * perPosition;
      std::string file = nameOf(first);
      PCC_RETURN_IF_ERROR(linkProgram(program, file));
      for (int64_t rank = first + 1; rank < first + perPosition; ++rank)
        PCC_RETURN_IF_ERROR(folder.link(file, nameOf(rank)));
    }
    for (const std::string &object : objects)
      PCC_RETURN_IF_ERROR(folder.remove(object));
    return Status::success();
  }

  /// Returns the file name of a rank's executable, such as `rank-007`.
  static std::string nameOf(int64_t rank) {
    const std::string number = std::to_string(rank);
    return "rank-" +
           std::string(std::max<size_t>(3, number.size()) - number.size(),
                       '0') +
           number;
  }

  /// Links one executable for all ranks with the same index along the pipeline
  /// axis of the mesh. The executable contains `program`. `name` is the name of
  /// its file in the bundle. After linking, appends the size and the checksum
  /// of the file to the file.
  Status linkProgram(PositionProgram &program, const std::string &name) {
    const auto sealed = runtime::sealProgram(program.tables, program.constants);
    Image image{sealed, objects.empty() ? std::vector<std::string>() : cpus,
                program.kernels, gpuCode ? &*gpuCode : nullptr};
    std::vector<char> object;
    PCC_RETURN_IF_ERROR(makeImageObject(image, object));
    const std::string imageFile = name + ".o";
    PCC_RETURN_IF_ERROR(
        folder.write(imageFile, {object.data(), object.size()}));
    std::vector<std::string> paths = {folder.path(imageFile)};
    for (const std::string &file : objects)
      paths.push_back(folder.path(file));
    PCC_RETURN_IF_ERROR(linkRank(support, target, paths, folder.path(name)));
    PCC_RETURN_IF_ERROR(folder.remove(imageFile));
    PCC_RETURN_IF_ERROR(folder.makeExecutable(name));
    return runtime::sealFile(folder.path(name));
  }

  /// Copies the launcher `run` into the bundle and writes bundle.json, and
  /// explain.json if there is an explanation. The files carry a checksum.
  /// Stores the summary of the bundle in `options.summary`, if it is not null.
  Status writeRest() {
    PCC_RETURN_IF_ERROR(folder.copy(support + "/run", "run"));
    PCC_RETURN_IF_ERROR(folder.makeExecutable("run"));
    PCC_RETURN_IF_ERROR(runtime::sealFile(folder.path("run")));
    planned = plannedStep(*facts, programs);
    const auto description =
        runtime::withRoundNumbers(bundleJson(*facts, programs, planned));
    if (options.summary)
      *options.summary = runtime::summaryText(
          description, {planned.makespan, runtime::idleShare(planned)});
    const std::string sealed = runtime::sealJson(
        description.dump(-1, ' ', /*ensure_ascii=*/false,
                         nlohmann::ordered_json::error_handler_t::replace) +
        "\n");
    if (!options.explanation.empty())
      PCC_RETURN_IF_ERROR(
          folder.write("explain.json",
                       runtime::explainJsonFor(options.explanation, sealed)));
    return folder.write("bundle.json", sealed);
  }

  /// Writes the simulated start and end times of the step's computations and
  /// messages to two files: an SVG drawing with the path `options.scheduleSvg`,
  /// and a list of Chrome trace events with the path `options.trace`. If a path
  /// is empty, its file is not written.
  Status writeTimeline() {
    if (options.scheduleSvg.empty() && options.trace.empty())
      return Status::success();
    return runtime::writeTimeline(
        planned,
        "planned " + facts->schedule + " of " +
            runtime::countText(facts->microbatches, "microbatch"),
        {options.scheduleSvg, options.trace});
  }

  ModuleOp module;
  const BundleOptions &options;
  /// Path of the support folder (files that executables are linked with), and
  /// the target: `cpu` or `cuda`.
  std::string support, target;
  /// Names of the instruction sets that CPU kernels are compiled for.
  std::vector<std::string> cpus;
  /// PTX and cubin of the kernels; std::nullopt unless the target is `cuda`.
  std::optional<GpuCode> gpuCode;
  std::optional<ModelFacts> facts;
  /// Programs, one for each index along the pipeline axis of the mesh. All
  /// ranks with index i execute `programs[i]`.
  std::vector<PositionProgram> programs;
  /// Timeline of one simulated training or inference step.
  runtime::Timeline planned;
  BundleFolder folder;
  /// Names of the object files with CPU kernels, one file per instruction set.
  std::vector<std::string> objects;
  /// Hash of all compiled kernels, for GPUs and for CPUs.
  uint64_t codeHash = 0;
};
} // namespace

Status emit::writeBundle(ModuleOp module, const BundleOptions &options) {
  return BundleEmitter(module, options).run();
}
