//===- WireReader.h - protocol buffer fields, one after the other ---------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::onnx {

/// Thrown by the decoder for bytes that are no message; never leaves
/// parseModel.
struct WireError {
  std::string message;
  /// A field reaches beyond the end of its message.
  bool endsEarly = false;
};

/// Steps through the fields of one message. Each step reads a whole field, so a
/// field nobody asks for is skipped. protozero decodes the integers; its own
/// reader holds lengths in 32 bits, which a model with its weights inside
/// exceeds.
class WireReader {
public:
  explicit WireReader(std::string_view message)
      : begin(message.data()), position(message.data()),
        end(message.data() + message.size()) {}

  /// Goes to the next field; false at the end of the message.
  bool next();
  uint32_t field() const { return number; }
  /// The field as it stands, with its number and type.
  std::string_view whole() const {
    return {begin, static_cast<size_t>(position - begin)};
  }

  // The value of the field. Throws if it has another wire type.
  std::string_view bytes() const;
  int64_t integer() const;
  float real() const;

  // Appends the value or values of a repeated field, packed or not.
  void appendIntegers(std::vector<int64_t> &values) const;
  void appendReals(std::vector<float> &values) const;

  /// The field is a length and so many bytes (strings, messages, packed
  /// values).
  bool hasBytes() const { return kind == WireType::Bytes; }
  /// The integer or fixed-size value as it stands, in the low bits.
  uint64_t scalar() const { return value; }
  /// Bytes of a fixed-size value, 0 for an integer.
  unsigned fixedSize() const {
    return kind == WireType::Fixed64 ? 8 : kind == WireType::Fixed32 ? 4 : 0;
  }

private:
  /// As on the wire.
  enum class WireType : uint8_t {
    Integer = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5
  };

  uint64_t readInteger();
  std::string_view take(uint64_t size);
  [[noreturn]] void wrongKind() const;

  const char *begin; ///< of the current field
  const char *position;
  const char *end;
  uint32_t number = 0;
  WireType kind = WireType::Integer;
  uint64_t value = 0;
  std::string_view content;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H
