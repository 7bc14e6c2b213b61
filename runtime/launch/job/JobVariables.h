//===- JobVariables.h - environment variables of pcc's own launchers ------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_JOBVARIABLES_H
#define PCC_RUNTIME_LAUNCH_JOB_JOBVARIABLES_H

namespace pcc::runtime {

/// Environment variable with the address at which rank 0 listens for all other
/// ranks. readAddress() parses it.
inline constexpr const char *kRendezvousVariable = "PCC_RENDEZVOUS";
/// Environment variable with the job token, the secret that the ranks of a job
/// share, as 32 hexadecimal digits.
inline constexpr const char *kTokenVariable = "PCC_JOB_TOKEN";
/// Environment variable with a number of ranks, which makes BUNDLE/run (the
/// executable of a bundle) start that many ranks. `pcc run` sets it for NCCL,
/// which needs no launcher.
inline constexpr const char *kLaunchVariable = "PCC_LAUNCH";
/// Environment variable with the path of the status folder of `pcc run`. A rank
/// that fails writes its error into this folder, and `pcc run` prints the
/// error.
inline constexpr const char *kStatusFolderVariable = "PCC_STATUS_DIR";
/// Environment variable with the path of a folder that BUNDLE/run creates for
/// its ranks. The first rank that fails writes its error there, so that only
/// one rank prints an error.
inline constexpr const char *kSessionFolderVariable = "PCC_SESSION_DIR";
/// Environment variable that `pcc run` sets if it displays progress. Rank 0
/// then writes progress lines to stderr.
inline constexpr const char *kProgressVariable = "PCC_PROGRESS";

/// All variables that this file declares, which describe the job of a process.
/// Ranks of a new job must not inherit them.
inline constexpr const char *kJobVariables[] = {
    kRendezvousVariable,   kTokenVariable,         kLaunchVariable,
    kStatusFolderVariable, kSessionFolderVariable, kProgressVariable};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_JOBVARIABLES_H
