//===- JobVariables.h - environment variables of pcc's own launchers ------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_JOBVARIABLES_H
#define PCC_RUNTIME_LAUNCH_JOB_JOBVARIABLES_H

namespace pcc::runtime {

/// Environment variable with the address at which rank 0 listens and to which
/// all other ranks connect, in the form that readAddress() parses.
inline constexpr const char *kRendezvousVariable = "PCC_RENDEZVOUS";
/// Environment variable with the job token, the secret that the ranks of a job
/// share, as 32 hexadecimal digits.
inline constexpr const char *kTokenVariable = "PCC_JOB_TOKEN";
/// Environment variable whose value is a number of ranks. It makes BUNDLE/run,
/// the executable of a bundle, start that many ranks itself. `pcc run` sets it
/// for targets whose communicator needs no launcher (NCCL).
inline constexpr const char *kLaunchVariable = "PCC_LAUNCH";
/// Environment variable with the path of the status folder, which `pcc run`
/// creates. A rank that fails writes its error into this folder, and `pcc run`
/// prints the error.
inline constexpr const char *kStatusFolderVariable = "PCC_STATUS_DIR";
/// Environment variable with the path of the folder that BUNDLE/run, a bundle's
/// executable, creates for the ranks that it starts. A rank that fails writes
/// its error into this folder, so that only one rank prints an error.
inline constexpr const char *kSessionFolderVariable = "PCC_SESSION_DIR";
/// Environment variable that `pcc run` sets if it displays progress: rank 0
/// then writes progress lines to stderr (see progressLine()).
inline constexpr const char *kProgressVariable = "PCC_PROGRESS";

/// All variables that this file declares. They describe the job in which a
/// process runs. A process that starts ranks of a new job therefore removes
/// them from the ranks' environment (launcherVariables()).
inline constexpr const char *kJobVariables[] = {
    kRendezvousVariable,   kTokenVariable,         kLaunchVariable,
    kStatusFolderVariable, kSessionFolderVariable, kProgressVariable};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_JOBVARIABLES_H
