//===- PlanFields.h - fields that bundle.json and explain.json share ------===//

#ifndef PCC_RUNTIME_PROGRAM_BUNDLE_PLANFIELDS_H
#define PCC_RUNTIME_PROGRAM_BUNDLE_PLANFIELDS_H

#include "runtime/program/bundle/FieldCheck.h"

namespace pcc::runtime {

/// Largest number of ranks, of microbatches in a step, and of calls of a
/// collective.
inline constexpr int64_t mostRanks = 65536, mostMicrobatches = 1 << 22,
                         mostCalls = std::numeric_limits<int32_t>::max();

/// Fields that both files have, with the same possible values. docs/json.md
/// tells their meaning.
inline constexpr FieldRow planFields[] = {
    {"world", FieldKind::Whole, 1, mostRanks},
    {"mesh", FieldKind::Object},
    oneOf("target", "cpu cuda"),
    {"microbatches", FieldKind::Whole, 1, mostMicrobatches},
    {"schedule", FieldKind::Text},
    {"stages", FieldKind::List},
    {"stages.*", FieldKind::Object},
    {"collectives", FieldKind::List},
    {"collectives.*", FieldKind::Object},
    {"collectives.*.kind", FieldKind::Text},
    {"collectives.*.axes", FieldKind::List},
    {"collectives.*.axes.*", FieldKind::Text},
    {"collectives.*.ranks_per_group", FieldKind::Whole, 1, mostRanks},
    {"collectives.*.dtype", FieldKind::Text},
    orNull({"collectives.*.reduction", FieldKind::Text}),
    {"collectives.*.local_bytes", FieldKind::Whole},
    {"collectives.*.received_bytes", FieldKind::Whole},
    oneOf("collectives.*.per", "microbatch step"),
    {"collectives.*.count", FieldKind::Whole, 0, mostCalls},
    {"collectives.*.node", FieldKind::Text},
    {"collectives.*.value", FieldKind::Text},
    {"transfers", FieldKind::List},
    {"transfers.*", FieldKind::Object},
    {"transfers.*.value", FieldKind::Text},
    {"transfers.*.bytes", FieldKind::Whole},
    oneOf("transfers.*.per", "microbatch step"),
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_BUNDLE_PLANFIELDS_H
