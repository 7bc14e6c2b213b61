//===- RankIdentity.cpp - rank and world size from a launcher's variables -===//

#include "runtime/launch/job/RankIdentity.h"
#include "runtime/launch/job/JobVariables.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <unistd.h>

namespace pcc::runtime {

namespace {

/// Names of the environment variables that a launcher sets for each process.
/// `name` is the name of the launcher, such as "torchrun". Each other member is
/// a list of names of variables for one number:
///
/// - `rank`: the rank of the process
/// - `size`: the number of ranks
/// - `localRank`: the index of the process among the ranks of its host
/// - `localSize`: the number of ranks on this host
///
/// A list can have two names, because variants of a launcher use different
/// names. The number is then read from the first variable in the list that is
/// set.
struct Launcher {
  const char *name;
  std::initializer_list<const char *> rank;
  std::initializer_list<const char *> size;
  std::initializer_list<const char *> localRank;
  std::initializer_list<const char *> localSize;
};

/// Name and value of an environment variable that is set.
struct Variable {
  std::string name;
  std::string value;
  std::string text() const { return name + "=" + value; }
};

/// The rank and world size of this process according to the environment
/// variables of one launcher.
struct Claim {
  RankIdentity identity;
  /// The launcher's variables with their values, for error messages, such as
  /// "RANK=1, WORLD_SIZE=4".
  std::string text;
};

} // namespace

static constexpr const char *kHydra = "Hydra";
static const Launcher kExplicit = {"PCC_*",
                                   {"PCC_RANK"},
                                   {"PCC_WORLD_SIZE"},
                                   {"PCC_LOCAL_RANK"},
                                   {"PCC_LOCAL_SIZE"}};
/// All supported launchers except Slurm, in order of precedence.
static const Launcher kLaunchers[] = {
    kExplicit,
    {"torchrun",
     {"RANK"},
     {"WORLD_SIZE"},
     {"LOCAL_RANK"},
     {"LOCAL_WORLD_SIZE"}},
    {"Open MPI",
     {"OMPI_COMM_WORLD_RANK"},
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_RANK"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"}},
    {kHydra,
     {"PMI_RANK", "PMIX_RANK"},
     {"PMI_SIZE"},
     {"MPI_LOCALRANKID", "PALS_LOCAL_RANKID"},
     {"MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"}},
};
static const Launcher kSlurm = {"srun",
                                {"SLURM_PROCID"},
                                {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
                                {"SLURM_LOCALID"},
                                {}};

Environment currentEnvironment() {
  Environment environment;
  for (char **entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos)
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

/// Returns the first variable of `names` that is set; std::nullopt if no
/// variable is set.
static std::optional<Variable>
firstSet(const Environment &environment,
         std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (auto found = environment.find(name); found != environment.end())
      return Variable{found->first, found->second};
  return std::nullopt;
}

/// Returns an error with exit code 12 and `message`.
static Status wrong(const std::string &message) {
  return Status::error(WrongWorld, message);
}

/// Parses the value of a variable into `number`. Returns an error with exit
/// code 12 if the value is not a decimal number from `lowest` to `highest`.
static Status parseNumber(const Variable &variable, int lowest, int highest,
                          int &number) {
  const char *begin = variable.value.data();
  const char *end = begin + variable.value.size();
  const auto [stop, problem] = std::from_chars(begin, end, number);
  if (problem != std::errc() || stop != end || variable.value.empty())
    return wrong("the launcher's variable " + variable.name + " is \"" +
                 variable.value + "\", not a number");
  if (number < lowest || number > highest)
    return wrong("the launcher's variable " + variable.text() +
                 " is not between " + std::to_string(lowest) + " and " +
                 std::to_string(highest));
  return Status::success();
}

/// Reads a number that a launcher may pass in an environment variable. `names`
/// contains alternative names of the variable, such as MPI_LOCALRANKID and
/// PALS_LOCAL_RANKID. The function parses the value of the first variable that
/// is set, and stores the result in `number`. If no variable is set, `number`
/// does not change. Returns an error with exit code 12 if the value is not a
/// decimal number from `lowest` to `highest`.
static Status parseOptional(const Environment &environment,
                            std::initializer_list<const char *> names,
                            int lowest, int highest, int &number) {
  const std::optional<Variable> variable = firstSet(environment, names);
  return variable ? parseNumber(*variable, lowest, highest, number)
                  : Status::success();
}

/// Reads four numbers that a launcher passes to this process in environment
/// variables, and stores the numbers in `claim`. A launcher is a program that
/// starts one process per rank, such as torchrun. `environment` contains the
/// environment variables of this process. `launcher` contains the names of the
/// variables that the launcher sets. For example, torchrun starts 8 ranks on
/// two hosts, and this process is rank 5:
///
///   number                              variable of torchrun   value
///   rank of this process                RANK                   5
///   number of ranks                     WORLD_SIZE             8
///   index of this process on its host   LOCAL_RANK             1
///   number of ranks on this host        LOCAL_WORLD_SIZE       4
///
/// If the variable of one number is not set, the function does this:
///
/// - Rank or number of ranks: the function stores nothing in `claim`.
/// - Index of this process on its host: the function uses the rank instead.
/// - Number of ranks on this host: the function uses the number of ranks
///   instead, as if all ranks were on one host.
///
/// Returns an error with exit code 12 if the value of a variable is invalid.
static Status readClaim(const Environment &environment,
                        const Launcher &launcher, std::optional<Claim> &claim) {
  const std::optional<Variable> rank = firstSet(environment, launcher.rank);
  const std::optional<Variable> size = firstSet(environment, launcher.size);
  if (!rank || !size)
    return Status::success();
  RankIdentity identity;
  identity.launcher = launcher.name;
  PCC_RETURN_IF_ERROR(parseNumber(*size, 1, kLargestWorld, identity.worldSize));
  const int last = identity.worldSize - 1;
  PCC_RETURN_IF_ERROR(parseNumber(*rank, 0, last, identity.rank));
  identity.localRank = identity.rank;
  identity.localSize = identity.worldSize;
  PCC_RETURN_IF_ERROR(parseOptional(environment, launcher.localSize, 1,
                                    identity.worldSize, identity.localSize));
  PCC_RETURN_IF_ERROR(parseOptional(environment, launcher.localRank, 0, last,
                                    identity.localRank));
  claim = Claim{std::move(identity), rank->text() + ", " + size->text()};
  return Status::success();
}

/// Checks that PCC_RANK and PCC_WORLD_SIZE are both set or both unset. A user
/// may set only one by mistake.
static Status checkExplicit(const Environment &environment) {
  const bool rank = environment.count("PCC_RANK");
  const bool size = environment.count("PCC_WORLD_SIZE");
  if (rank == size)
    return Status::success();
  return wrong(rank ? "PCC_RANK is set, but PCC_WORLD_SIZE is not"
                    : "PCC_WORLD_SIZE is set, but PCC_RANK is not");
}

/// Stores the rank of this process and the number of ranks in `claim`, if srun
/// has started this process. srun is the launcher of Slurm: srun starts one
/// process per rank. The function reads the rank and the number of ranks from
/// environment variables of Slurm, such as SLURM_PROCID.
///
/// If the variable SLURM_STEP_ID is not set, srun has not started this process.
/// The function then does not read the other variables, and `claim` does not
/// change. For example, Slurm sets SLURM_PROCID to 0 for a batch script,
/// although a batch script is not a rank.
static Status readSlurm(const Environment &environment,
                        std::optional<Claim> &claim) {
  if (!environment.count("SLURM_STEP_ID"))
    return Status::success();
  return readClaim(environment, kSlurm, claim);
}

/// Returns whether `claim` was read from environment variables that srun has
/// set. `claim` contains a rank and a number of ranks. srun is the launcher of
/// Slurm.
///
/// The function solves this problem: two launchers set the variables PMI_RANK
/// and PMI_SIZE. One is srun, and the other is Hydra, the launcher of MPICH.
/// Only srun also sets SLURM_PROCID (the rank) and SLURM_STEP_NUM_TASKS (the
/// number of ranks). The function returns true if all of these conditions hold:
///
/// - `claim` was read from variables of Hydra, such as PMI_RANK.
/// - The rank in the variables of srun is equal to the rank in `claim`.
/// - The number of ranks in the variables of srun is equal to the number of
///   ranks in `claim`.
///
/// For example, `claim` contains rank 5 of 8 ranks:
///
///   SLURM_PROCID   SLURM_STEP_NUM_TASKS   result
///   5              8                      true: srun has set PMI_RANK
///   0              2                      false: Hydra has set PMI_RANK
///   not set        not set                false: Hydra has set PMI_RANK
///
/// If the result is true, findIdentity() ignores `claim` and uses the variables
/// of srun. Under srun, only the variable SLURM_LOCALID contains the index of
/// this process among the ranks of its host.
static bool isOfSlurm(const Environment &environment, const Claim &claim) {
  std::optional<Claim> slurms;
  return claim.identity.launcher == kHydra &&
         readSlurm(environment, slurms).ok() && slurms &&
         slurms->identity.rank == claim.identity.rank &&
         slurms->identity.worldSize == claim.identity.worldSize;
}

/// Returns the error for two launchers whose variables contain different ranks
/// or world sizes.
static Status contradiction(const Claim &first, const Claim &second) {
  return wrong("the launcher's variables contradict each other: " + first.text +
               " (" + first.identity.launcher + ") and " + second.text + " (" +
               second.identity.launcher + ")");
}

/// Finds the rank of this process and the number of ranks (the world size), and
/// stores them in `identity`. Both numbers are in environment variables. Each
/// launcher has its own variables. The variables of several launchers can be
/// set at the same time. The function works in these steps:
///
/// 1. Reads the variables of each launcher in the table kLaunchers. Slurm's
///    launcher srun is not in this table. If a launcher has set both a rank and
///    a number of ranks, the launcher is a candidate. There is one exception:
///    Hydra is not a candidate if srun has set the variables of Hydra.
/// 2. Compares the candidates. If two candidates have different ranks or
///    different numbers of ranks, returns an error. Otherwise uses the numbers
///    of the candidate that comes first in the table.
/// 3. If there is no candidate, uses the variables of srun.
/// 4. If srun has not set its variables, `identity` becomes std::nullopt.
///
/// Also returns an error if only one of PCC_RANK and PCC_WORLD_SIZE is set, or
/// if the value of a variable is not a valid number.
Status findIdentity(const Environment &environment,
                    std::optional<RankIdentity> &identity) {
  identity.reset();
  PCC_RETURN_IF_ERROR(checkExplicit(environment));
  std::optional<Claim> winner;
  for (const Launcher &launcher : kLaunchers) {
    std::optional<Claim> claim;
    PCC_RETURN_IF_ERROR(readClaim(environment, launcher, claim));
    if (!claim || isOfSlurm(environment, *claim))
      continue;
    if (!winner)
      winner = std::move(claim);
    else if (winner->identity.rank != claim->identity.rank ||
             winner->identity.worldSize != claim->identity.worldSize)
      return contradiction(*winner, *claim);
  }
  if (!winner)
    PCC_RETURN_IF_ERROR(readSlurm(environment, winner));
  if (winner)
    identity = std::move(winner->identity);
  return Status::success();
}

/// Returns whether `name` is in the table kLaunchers. The table has the names
/// of the environment variables in which launchers pass the rank, the number of
/// ranks, and the position within the host. For example, the result is true for
/// WORLD_SIZE, which torchrun sets. The result is false for SLURM_PROCID,
/// because the variables of Slurm are not in the table.
static bool isInTables(const std::string &name) {
  for (const Launcher &launcher : kLaunchers)
    for (const auto &names :
         {launcher.rank, launcher.size, launcher.localRank, launcher.localSize})
      if (std::find(names.begin(), names.end(), name) != names.end())
        return true;
  return false;
}

/// Returns whether the environment variable `name` contains data about one job.
/// A job is one run of a bundle, with one process per rank. A launcher, such as
/// mpirun or `pcc run`, sets variables of this kind for the processes of one
/// job. A process of another job must not inherit these variables.
///
/// The function knows the variables of Open MPI, PMI, PMIx and pcc. PMI and
/// PMIx are interfaces between launchers and MPI libraries. For variables of
/// other launchers, such as RANK of torchrun, the function returns false.
/// isInTables() finds these variables. The function decides by the name alone.
/// Examples:
///
///   name                      set by      meaning              result
///   PMIX_NAMESPACE            mpirun      name of the job      true
///   OMPI_MCA_ess_base_jobid   mpirun      number of the job    true
///   PCC_STATUS_DIR            pcc run     folder of the job    true
///   OMPI_MCA_btl              the user    option of Open MPI   false
///   PMIX_MCA_gds              the user    option of PMIx       false
static bool isOfJob(const std::string &name) {
  if (name.starts_with("PMIX_MCA_"))
    return false;
  for (const char *prefix :
       {"PMI_", "PMI2_", "PMIX_", "OMPI_MCA_ess", "OMPI_MCA_pmix",
        "OMPI_MCA_orte_", "OMPI_MCA_initial_wdir"})
    if (name.starts_with(prefix))
      return true;
  if (std::find(std::begin(kJobVariables), std::end(kJobVariables), name) !=
      std::end(kJobVariables))
    return true;
  return name.starts_with("OMPI_") && !name.starts_with("OMPI_MCA_") &&
         !name.starts_with("OMPI_ALLOW_");
}

std::vector<std::string> launcherVariables(const Environment &environment) {
  std::vector<std::string> found;
  for (const auto &[name, value] : environment)
    if (isInTables(name) || isOfJob(name))
      found.push_back(name);
  return found;
}

Status checkWorldSize(const RankIdentity &identity, int bundleWorldSize) {
  if (identity.worldSize == bundleWorldSize)
    return Status::success();
  const std::string ranks = bundleWorldSize == 1 ? " rank" : " ranks";
  return wrong(
      "the bundle is made for " + std::to_string(bundleWorldSize) + ranks +
      ", but " +
      (identity.launcher.empty() ? "the launcher" : identity.launcher) +
      " started " + std::to_string(identity.worldSize));
}

} // namespace pcc::runtime
