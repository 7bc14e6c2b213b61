//===- PrivateNetwork.h - network of a job's own on one host --------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_PRIVATENETWORK_H
#define PCC_RUNTIME_LAUNCH_SPAWN_PRIVATENETWORK_H

namespace pcc::runtime {

/// Gives this process and its future children a network that has only a
/// loopback interface, and that no other process can reach. Does nothing where
/// the kernel does not permit this.
///
/// mpirun listens on TCP ports, and a connection on which nothing is sent stops
/// it for ever (PMIx 4.2). If all ranks are on this host, they need no other
/// network. Must be called by a process with one thread.
void enterPrivateNetwork();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_PRIVATENETWORK_H
