//===- PrivateNetwork.h - network of a job's own on one host --------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_PRIVATENETWORK_H
#define PCC_RUNTIME_LAUNCH_SPAWN_PRIVATENETWORK_H

namespace pcc::runtime {

/// Moves this process to a new network (Linux network namespace), which has
/// only a loopback interface. Children that this process starts later use the
/// new network too. Does nothing if the kernel forbids this. This process must
/// have only one thread.
///
/// The new network protects mpirun (PMIx 4.2), which listens on TCP ports. Any
/// process that reaches a port may connect to it. If that process sends
/// nothing, mpirun hangs. Processes outside the new network cannot connect.
void enterPrivateNetwork();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_PRIVATENETWORK_H
