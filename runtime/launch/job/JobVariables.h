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
/// Environment variable with the number of ranks that BUNDLE/run must start.
/// BUNDLE/run is an executable in every bundle. Without this variable, a
/// process of BUNDLE/run normally becomes one rank, and a launcher such as
/// mpirun starts one process per rank. With this variable, BUNDLE/run starts
/// one child process per rank.
///
/// `pcc run` sets this variable if the bundle has several ranks on GPUs. These
/// ranks communicate by NCCL, so they do not need mpirun.
inline constexpr const char *kLaunchVariable = "PCC_LAUNCH";
/// Environment variable with the path of the status folder of `pcc run`. A rank
/// that fails writes its error into this folder, and `pcc run` prints the
/// error.
inline constexpr const char *kStatusFolderVariable = "PCC_STATUS_DIR";
/// Environment variable with the path of a folder that the ranks of a job
/// share. BUNDLE/run (the executable of a bundle) creates the folder if it
/// starts the ranks itself, without `pcc run` or mpirun.
///
/// The first rank that fails writes its error into a file in this folder, and
/// prints the error. A rank that fails later finds the file, and prints
/// nothing.
inline constexpr const char *kSessionFolderVariable = "PCC_SESSION_DIR";
/// Environment variable that `pcc run` sets if it displays progress. Rank 0
/// then writes progress lines to stderr.
inline constexpr const char *kProgressVariable = "PCC_PROGRESS";
/// Environment variable that `pcc run` sets if it shows training steps on a
/// terminal. Rank 0 then writes their metrics to stderr, not to stdout.
inline constexpr const char *kTrainingLineVariable = "PCC_TRAINING_LINE";

/// All variables that this file declares. The variables describe one job. A job
/// is one run of a bundle, with one process per rank. If a process of one job
/// starts a second job, the ranks of the second job must not inherit the
/// variables of the first job. Otherwise, a rank of the second job would, for
/// example, connect to the address in PCC_RENDEZVOUS, where rank 0 of the first
/// job listens.
inline constexpr const char *kJobVariables[] = {
    kRendezvousVariable,   kTokenVariable,         kLaunchVariable,
    kStatusFolderVariable, kSessionFolderVariable, kProgressVariable,
    kTrainingLineVariable};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_JOBVARIABLES_H
