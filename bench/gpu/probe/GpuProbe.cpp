//===- GpuProbe.cpp - looks at the instructions of a bundle on a GPU ------===//
//
//   gpu-probe check BUNDLE   compare every kernel with its twin on the CPU
//   gpu-probe time BUNDLE    seconds of every instruction, and of a copy
//
// Executes one step of a bundle for one rank, with random inputs. Prints JSON.
//
//===----------------------------------------------------------------------===//

#include "bench/gpu/probe/ProbedDevice.h"
#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/comm/thread/ThreadWorld.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/engine/Rank.h"
#include "runtime/launch/job/BundleFiles.h"
#include "runtime/launch/rank/GpuEnvironment.h"
#include "runtime/launch/thread/LoadImages.h"
#include "runtime/program/InstructionOperands.h"

#include <cstdio>
#include <nlohmann/json.hpp>

using namespace pcc;
using namespace pcc::bench;
using namespace pcc::runtime;
using Json = nlohmann::ordered_json;

/// Returns the bytes of all buffers of the instruction; each buffer counts
/// once.
static int64_t bytesOf(const program::ProgramT &program,
                       const program::InstructionT &instruction) {
  int64_t bytes = 0;
  for (int32_t buffer : buffersOf(instruction))
    bytes += program.buffers[size_t(buffer)]->bytes;
  return bytes;
}

static std::string typeOf(const program::ProgramT &program, int32_t buffer) {
  return std::string(
      nameOf(runtime::typeOf(program.buffers[size_t(buffer)]->type)));
}

static Json toJson(const program::ProgramT &program,
                   const Observation &observation, Probe what) {
  const program::InstructionT &instruction = *observation.instruction;
  Json json;
  json["kind"] = program::EnumNameInstructionBody(instruction.body.type);
  json["node"] = instruction.node;
  json["runs"] = observation.runs;
  json["bytes"] = bytesOf(program, instruction);
  if (const program::KernelT *kernel = instruction.body.AsKernel()) {
    json["kernel"] = kernel->kernel;
    json["attention"] = kernel->attention != nullptr;
  }
  if (const program::MatmulT *product = instruction.body.AsMatmul()) {
    json["batch"] = product->batch;
    json["m"] = product->m;
    json["n"] = product->n;
    json["k"] = product->k;
    json["dtype"] = typeOf(program, product->a);
  }
  if (what == Probe::Check)
    json["errors"] = observation.errors;
  else
    json["seconds"] = observation.seconds;
  if (observation.bare.body.AsMatmul())
    json["bare_seconds"] = observation.bareSeconds;
  return json;
}

/// Sets `bandwidth` to the bytes per second that a copy within the GPU's memory
/// reads and writes.
static Status measureCopy(Device &gpu, double &bandwidth) {
  constexpr int64_t bytes = int64_t(256) << 20;
  char *from = nullptr, *to = nullptr;
  for (char **data : {&from, &to})
    PCC_RETURN_IF_ERROR(gpu.allocate(bytes, *data));
  const StridedCopy whole{0, 0, {{bytes, 1, 1}}};
  double seconds = 0;
  Status status = bench::time(
      gpu, [&] { return gpu.copy({&whole, 1}, from, to, 1); }, seconds);
  bandwidth = 2 * double(bytes) / seconds;
  return status;
}

static Status probe(Probe what, const std::string &bundle, Json &result) {
  if (countRanks(bundle) != 1)
    return Status::error(WrongWorld, "the bundle is not for one rank");
  std::vector<const ProgramImage *> images;
  PCC_RETURN_IF_ERROR(loadImages(bundle, 1, images));
  setGpuEnvironment(0, /*isShared=*/false);
  std::unique_ptr<Device> gpu;
  CudaContext *context = nullptr;
  PCC_RETURN_IF_ERROR(createCudaDevice(0, bundle, gpu, context));
  if (double bandwidth = 0; what == Probe::Time) {
    PCC_RETURN_IF_ERROR(measureCopy(*gpu, bandwidth));
    result["copy_bytes_per_second"] = bandwidth;
  }
  RunOptions options;
  options.bundle = bundle;
  options.randomInputs = 1;
  options.recordSteps = false;
  options.quiet = true;
  options.isEmbedded = true;
  options.timeout = options.loadTimeout;
  const auto world = createOnlyWorld(std::make_shared<FlightRecorder>(0));
  ProbedDevice device(*gpu, what);
  const auto rank = createRank(*images[0], options, *world, device);
  PCC_RETURN_IF_ERROR(rank->run());
  result["instructions"] = Json::array();
  for (const auto &observation : device.all())
    if (observation->runs > 0)
      result["instructions"].push_back(
          toJson(rank->program(), *observation, what));
  return Status::success();
}

int main(int argc, char **argv) {
  const std::string verb = argc == 3 ? argv[1] : "";
  if (verb != "check" && verb != "time") {
    std::fputs("usage: gpu-probe check|time BUNDLE\n", stderr);
    return WrongUsage;
  }
  Status status;
  try {
    Json result;
    status =
        probe(verb == "check" ? Probe::Check : Probe::Time, argv[2], result);
    if (status.ok())
      std::puts(result.dump(1).c_str());
  } catch (const std::exception &problem) {
    status = Status::error(Defect, problem.what());
  }
  if (status.failed())
    std::fprintf(stderr, "gpu-probe: error: %s\n", status.message().c_str());
  return status.code();
}
