//===- CudnnOperations.cpp - a graph of operations, as cuDNN is told it ---===//

#include "test/runtime/fake/cuda/CudnnOperations.h"
#include "runtime/tensor/ElementDispatch.h"

#include <cmath>
#include <limits>
#include <set>

namespace pcc::fake {

using runtime::ElementType;
using Dims = CudnnTensor::Dims;

static ElementType elementOf(cudnnDataType_t type) {
  switch (type) {
  case CUDNN_DATA_HALF:
    return ElementType::F16;
  case CUDNN_DATA_BFLOAT16:
    return ElementType::BF16;
  case CUDNN_DATA_INT32:
    return ElementType::I32;
  case CUDNN_DATA_BOOLEAN:
    return ElementType::Bool;
  default:
    return ElementType::F32;
  }
}

size_t CudnnTensor::bytes() const {
  int64_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    last += (dims[i] - 1) * strides[i];
  return size_t(last + 1) * runtime::sizeOf(elementOf(type));
}

/// Returns whether `small` broadcasts to `large`: for every index of `large`
/// there is one of `small`, which is equal, the only one, or that of its group.
static bool isBroadcast(const Dims &small, const Dims &large) {
  for (size_t i = 0; i < small.size(); ++i)
    if (small[i] < 1 || large[i] % small[i] != 0)
      return false;
  return true;
}

static bool fits(const CudnnOperation &op) {
  const Dims &a = op.a.dims, &b = op.b.dims, &result = op.result.dims;
  switch (op.kind) {
  case CudnnKind::Product:
    return a[0] == result[0] && a[1] == result[1] && a[2] == result[2] &&
           a[3] == b[2] && b[3] == result[3] && b[0] == a[0] &&
           a[1] % b[1] == 0;
  case CudnnKind::Pointwise:
    return a == result && (b[0] == 0 || isBroadcast(b, result)) &&
           (op.condition.dims[0] == 0 || op.condition.dims == result);
  case CudnnKind::Reduction:
    return isBroadcast(result, a);
  case CudnnKind::Reorder:
    return a[0] == result[0] && a[1] == result[1] && a[2] == result[3] &&
           a[3] == result[2] && op.a.strides[2] == op.result.strides[3] &&
           op.a.strides[3] == op.result.strides[2];
  }
  return false;
}

static bool isKnown(const CudnnOperation &op) {
  switch (op.mode) {
  case CUDNN_POINTWISE_ADD:
  case CUDNN_POINTWISE_SUB:
  case CUDNN_POINTWISE_MUL:
  case CUDNN_POINTWISE_DIV:
  case CUDNN_POINTWISE_CMP_GE:
    return op.b.dims[0] > 0;
  case CUDNN_POINTWISE_EXP:
  case CUDNN_POINTWISE_LOG:
    return true;
  case CUDNN_POINTWISE_GEN_INDEX:
    return op.dim >= 0 && op.dim < 4;
  case CUDNN_POINTWISE_BINARY_SELECT:
    return op.b.dims[0] > 0 && op.condition.dims[0] > 0;
  default:
    return false;
  }
}

std::string CudnnOperations::findFault() const {
  for (const CudnnOperation &op : operations) {
    if (!isKnown(op))
      return "a mode that the fake does not know";
    if (!fits(op))
      return "dims that do not fit";
    for (const CudnnTensor *tensor : {&op.a, &op.b, &op.condition}) {
      if (!tensor->isVirtual)
        continue;
      bool isMade = false;
      for (const CudnnOperation &other : operations) {
        if (&other == &op)
          break;
        isMade |= other.result.id == tensor->id;
      }
      if (!isMade)
        return "a tensor that nothing makes";
    }
  }
  return {};
}

bool CudnnOperations::findAccesses(const std::map<int64_t, void *> &places,
                                   std::vector<Access> &accesses) const {
  std::set<int64_t> used;
  for (const CudnnOperation &op : operations)
    for (const CudnnTensor *tensor :
         {&op.a, &op.b, &op.condition, &op.result}) {
      if (tensor->isVirtual || tensor->dims[0] == 0)
        continue;
      const auto found = places.find(tensor->id);
      if (found == places.end() || !found->second)
        return false;
      used.insert(tensor->id);
      if (!tensor->isNumber)
        accesses.push_back({reinterpret_cast<uintptr_t>(found->second),
                            tensor->bytes(), tensor == &op.result});
    }
  return used.size() == places.size();
}

/// Calls `visit` with all indices, in order.
template <typename Visit> static void forEach(const Dims &dims, Visit visit) {
  Dims at;
  for (at[0] = 0; at[0] < dims[0]; ++at[0])
    for (at[1] = 0; at[1] < dims[1]; ++at[1])
      for (at[2] = 0; at[2] < dims[2]; ++at[2])
        for (at[3] = 0; at[3] < dims[3]; ++at[3])
          visit(at);
}

namespace {
/// Elements of a dense tensor.
struct Values {
  Dims dims = {};
  std::vector<double> data = {};

  explicit Values(const Dims &dims = {}, double first = 0)
      : dims(dims), data(size_t(dims[0] * dims[1] * dims[2] * dims[3]), first) {
  }

  /// Returns the element for index `at` of a tensor of dims `large` to which
  /// this one is broadcast.
  double &of(const Dims &at, const Dims &large) {
    int64_t place = 0;
    for (size_t i = 0; i < dims.size(); ++i)
      place = place * dims[i] + at[i] / (large[i] / dims[i]);
    return data[size_t(place)];
  }
  double &operator[](const Dims &at) { return of(at, dims); }
};

class Run {
public:
  explicit Run(const std::map<int64_t, void *> &places) : places(places) {}

  void run(const CudnnOperation &op) {
    Values a = read(op.a), b = read(op.b), condition = read(op.condition);
    Values result(op.result.dims,
                  op.kind == CudnnKind::Reduction &&
                          op.reduction == CUDNN_REDUCE_TENSOR_MAX
                      ? -std::numeric_limits<double>::infinity()
                      : 0);
    switch (op.kind) {
    case CudnnKind::Product:
      multiply(a, b, result);
      break;
    case CudnnKind::Pointwise:
      forEach(result.dims, [&](const Dims &at) {
        result[at] =
            pointwise(op, a[at], b.data.empty() ? 0 : b.of(at, result.dims),
                      condition.data.empty() ? 0 : condition[at], at);
      });
      break;
    case CudnnKind::Reduction:
      forEach(a.dims, [&](const Dims &at) {
        double &own = result.of(at, a.dims);
        own = op.reduction == CUDNN_REDUCE_TENSOR_MAX ? std::max(own, a[at])
                                                      : own + a[at];
      });
      break;
    case CudnnKind::Reorder:
      forEach(result.dims, [&](const Dims &at) {
        result[at] = a[Dims{at[0], at[1], at[3], at[2]}];
      });
      break;
    }
    write(op.result, std::move(result));
  }

private:
  static void multiply(Values &a, Values &b, Values &result) {
    const int64_t group = a.dims[1] / b.dims[1];
    forEach(result.dims, [&](const Dims &at) {
      double sum = 0;
      for (int64_t k = 0; k < a.dims[3]; ++k)
        sum += a[Dims{at[0], at[1], at[2], k}] *
               b[Dims{at[0], at[1] / group, k, at[3]}];
      result[at] = sum;
    });
  }

  static double pointwise(const CudnnOperation &op, double a, double b,
                          double condition, const Dims &at) {
    switch (op.mode) {
    case CUDNN_POINTWISE_SUB:
      return a - b;
    case CUDNN_POINTWISE_MUL:
      return a * b;
    case CUDNN_POINTWISE_DIV:
      return a / b;
    case CUDNN_POINTWISE_EXP:
      return std::exp(a);
    case CUDNN_POINTWISE_LOG:
      return std::log(a);
    case CUDNN_POINTWISE_CMP_GE:
      return a >= b;
    case CUDNN_POINTWISE_GEN_INDEX:
      return double(at[size_t(op.dim)]);
    case CUDNN_POINTWISE_BINARY_SELECT:
      return condition != 0 ? a : b;
    default:
      return a + b;
    }
  }

  char *address(const CudnnTensor &tensor, const Dims &at) const {
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i)
      offset += at[i] * tensor.strides[i];
    return static_cast<char *>(places.at(tensor.id)) +
           offset * int64_t(runtime::sizeOf(elementOf(tensor.type)));
  }

  Values read(const CudnnTensor &tensor) const {
    if (tensor.isVirtual)
      return made.at(tensor.id);
    Values values(tensor.dims);
    forEach(tensor.dims, [&](const Dims &at) {
      runtime::convertElements(elementOf(tensor.type), address(tensor, at), 1,
                               ElementType::F64, &values[at]);
    });
    return values;
  }

  /// Between operations, too, a tensor has the precision of its type.
  void write(const CudnnTensor &tensor, Values values) {
    const ElementType type = elementOf(tensor.type);
    forEach(tensor.dims, [&](const Dims &at) {
      double &value = values[at];
      std::array<char, 8> stored = {};
      runtime::convertElements(ElementType::F64, &value, 1, type,
                               tensor.isVirtual ? stored.data()
                                                : address(tensor, at));
      if (tensor.isVirtual)
        runtime::convertElements(type, stored.data(), 1, ElementType::F64,
                                 &value);
    });
    if (tensor.isVirtual)
      made.insert_or_assign(tensor.id, std::move(values));
  }

  const std::map<int64_t, void *> &places;
  std::map<int64_t, Values> made;
};
} // namespace

void CudnnOperations::run(const std::map<int64_t, void *> &places) const {
  Run run(places);
  for (const CudnnOperation &op : operations)
    run.run(op);
}

} // namespace pcc::fake
