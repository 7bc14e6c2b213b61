//===- PrivateNetwork.h - network of a job's own on one host --------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_PRIVATENETWORK_H
#define PCC_RUNTIME_LAUNCH_SPAWN_PRIVATENETWORK_H

namespace pcc::runtime {

/// Gives this process and its future children a network of their own, with only
/// a loopback interface. Does nothing if the kernel forbids this. This process
/// must have only one thread.
///
/// Used because mpirun (PMIx 4.2) hangs if a foreign connection sends nothing.
void enterPrivateNetwork();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_PRIVATENETWORK_H
