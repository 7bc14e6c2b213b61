//===- CudnnAttention.cpp - attention plans of cuDNN, cached by shape -----===//

#include "runtime/device/cuda/CudnnAttention.h"
#include "status/PrintableText.h"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace pcc::runtime {

CudnnAttention::~CudnnAttention() {
  plans.clear();
  if (handle)
    library.cudnnDestroy(handle);
}

/// Prints a note that cuDNN is not used, with the reason `why`. The program
/// still runs, but more slowly.
static void noteUnused(const std::string &why) {
  std::fprintf(stderr, "note: cuDNN is not used: %s\n", printable(why).c_str());
}

/// Prints a note if cuDNN is installed but cannot be initialized. Prints no
/// note if cuDNN is not installed, or if PCC_CUDNN is "off".
void CudnnAttention::open(cudaStream_t stream) {
  const char *wish = std::getenv("PCC_CUDNN");
  if ((wish && std::string_view(wish) == "off") ||
      openCudnnLibrary(library).failed())
    return;
  cudnnHandle_t made = nullptr;
  Status status = library.check(library.cudnnCreate(&made), "cudnnCreate");
  if (status.ok()) {
    handle = made;
    status =
        library.check(library.cudnnSetStream(handle, stream), "cudnnSetStream");
  }
  if (status.ok())
    return;
  noteUnused(status.message());
  if (handle)
    library.cudnnDestroy(std::exchange(handle, nullptr));
}

/// Returns the plan for an attention. A plan is a compiled cuDNN graph. `kind`
/// selects the graph: the forward pass, the forward pass that also stores the
/// log-sum-exp of each query's scores, or the backward pass. `shape` has the
/// element type, the sizes and the strides of the tensors. The first call with
/// a pair of `kind` and `shape` compiles the graph, and stores the plan in the
/// member `plans`. Later calls with the same pair return the stored plan.
///
/// Returns null if cuDNN is not open, or if cuDNN cannot compile the graph. If
/// cuDNN cannot compile the graph, the function stores an empty plan, so that
/// later calls do not compile the graph again.
const CudnnPlan *CudnnAttention::find(Kind kind, const AttentionShape &shape) {
  if (!handle)
    return nullptr;
  auto [found, isNew] = plans.try_emplace({kind, shape});
  CudnnPlan &plan = found->second;
  if (isNew) {
    CudnnGraph graph(library);
    if (kind == Kind::Gradients)
      addAttentionGradients(graph, shape);
    else
      addAttention(graph, shape, kind == Kind::ResultAndStatistics);
    if (Status status = graph.finish(handle, plan); status.failed()) {
      noteUnused(status.message());
      plan = CudnnPlan();
    }
  }
  return plan.plan ? &plan : nullptr;
}

const CudnnPlan *CudnnAttention::findResult(const AttentionShape &shape,
                                            bool withStatistics) {
  return find(withStatistics ? Kind::ResultAndStatistics : Kind::Result, shape);
}

/// Also returns null if cuDNN needs a large workspace, which grows with the
/// square of the sequence. The kernels of pcc need none.
const CudnnPlan *CudnnAttention::findGradients(const AttentionShape &shape) {
  constexpr int64_t mostBytes = int64_t(2) << 30;
  if (!handle || !hasSoundGradients(shape, library.cudnnGetVersion()))
    return nullptr;
  const CudnnPlan *plan = find(Kind::Gradients, shape);
  return plan && plan->workspaceBytes <= mostBytes ? plan : nullptr;
}

/// Returns the score that a masked key gets in cuDNN's attention. The score is
/// minus infinity for cuDNN 9.10 or later. Earlier versions of cuDNN do not
/// support scores of minus infinity. For these versions, the score is the
/// lowest finite f32, about -3.4e38.
float CudnnAttention::lowest() const {
  return library.cudnnGetVersion() < 91000
             ? std::numeric_limits<float>::lowest()
             : -std::numeric_limits<float>::infinity();
}

} // namespace pcc::runtime
