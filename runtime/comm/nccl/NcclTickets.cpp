//===- NcclTickets.cpp - tickets of queued calls, as CUDA events ----------===//

#include "runtime/comm/nccl/NcclTickets.h"

namespace pcc::runtime {

Status NcclTickets::issue(CUstream stream, Ticket &ticket) {
  if (unused.empty()) {
    unused.push_back(events.size());
    PCC_RETURN_IF_ERROR(gpu.createEvent(events.emplace_back()));
  }
  ticket = unused.back();
  unused.pop_back();
  return gpu.check(gpu.driver().cuEventRecord(events[ticket], stream),
                   "cuEventRecord");
}

Status NcclTickets::redeem(Ticket ticket) {
  unused.push_back(ticket);
  return gpu.check(gpu.driver().cuStreamWaitEvent(gpu.stream(), events[ticket],
                                                  CU_EVENT_WAIT_DEFAULT),
                   "cuStreamWaitEvent");
}

} // namespace pcc::runtime
