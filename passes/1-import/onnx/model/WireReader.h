//===- WireReader.h - decoder of protocol buffer fields -------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::onnx {

/// Exception for bytes that are not a protocol buffer message.
struct WireError {
  /// Description of the fault, without the name of the file.
  std::string message;
  /// True if the bytes end too early, as in a file that was cut off. Example: a
  /// field says that it has 10 bytes, but only 4 bytes are left. False for any
  /// other fault, such as a field with a wrong wire type.
  bool endsEarly = false;
};

/// Iterates over the fields of one encoded protobuf message:
/// `for (WireReader wire(message); wire.next();)`. Unlike the reader of the
/// library protozero, it can read a field of 4 GiB or more.
class WireReader {
public:
  /// Prepares to read the fields of `message`. The bytes must stay alive as
  /// long as the reader and the views that it returns.
  explicit WireReader(std::string_view message)
      : begin(message.data()), position(message.data()),
        end(message.data() + message.size()) {}

  /// Decodes the next field. Returns false if no field is left. Throws
  /// WireError if the bytes do not encode a field.
  bool next();
  /// Returns the field number of the current field. The field number is the
  /// number that the .proto file assigns to the field. Example: the field that
  /// is declared as `string name = 8;` has the field number 8.
  uint32_t field() const { return number; }
  /// Returns all encoded bytes of the current field: the field number and the
  /// wire type, the size if there is one, and the value. The current field is
  /// the field that next() decoded last.
  std::string_view whole() const {
    return {begin, static_cast<size_t>(position - begin)};
  }

  // The five methods from `bytes` to `appendReals` read the value of the
  // current field, which is the field that next() decoded last. The wire type
  // of a field tells how the value is encoded: varint, 32-bit, 64-bit or
  // length-delimited. The comment of each method names the wire types that the
  // method can read. The method throws WireError if the current field has
  // another wire type.

  /// Returns the value of a length-delimited field as bytes. The encoding of
  /// such a field has the size of the value before the value. The result does
  /// not contain the size. Example: for the string "abc", the result is the 3
  /// bytes "abc".
  std::string_view bytes() const;
  /// Returns the value of the current field as an integer. The field must be a
  /// varint (an integer of variable size), otherwise the method throws
  /// WireError. The current field is the field that next() decoded last.
  int64_t integer() const;
  /// Returns the value of the current field as a float. The field must be a
  /// 32-bit field, otherwise the method throws WireError. The current field is
  /// the field that next() decoded last.
  float real() const;

  /// Appends the integers in the current field to `values`. The field belongs
  /// to a list that the .proto file declares, such as `repeated int64 dims`. An
  /// encoder may write the list [2, 3] in two ways:
  ///
  ///   two varint fields           each call appends one integer
  ///   one length-delimited field  one call appends both integers (packed)
  void appendIntegers(std::vector<int64_t> &values) const;
  /// Appends the floats in the current field to `values`. The field belongs to
  /// a list that the .proto file declares, such as `repeated float floats`. An
  /// encoder may write the list [0.5, 2.0] in two ways:
  ///
  ///   two 32-bit fields           each call appends one float
  ///   one length-delimited field  one call appends both floats (packed)
  void appendReals(std::vector<float> &values) const;

  /// Returns whether the current field is length-delimited: a string, a message
  /// or packed values.
  bool hasBytes() const { return kind == WireType::Bytes; }
  /// Returns the value of the current field as a bit pattern, if the field is a
  /// varint (an integer of variable size), a 32-bit field or a 64-bit field. A
  /// 32-bit field sets the low 32 bits, and the other bits are 0. Returns 0 if
  /// the field is length-delimited, such as a string.
  uint64_t scalar() const { return value; }
  /// Returns the size in bytes of the current field's value, if the wire type
  /// gives this size: 4 for a 32-bit field, and 8 for a 64-bit field. Returns 0
  /// for a varint and for a length-delimited field, because their sizes vary.
  /// The current field is the field that next() decoded last.
  unsigned fixedSize() const {
    return kind == WireType::Fixed64 ? 8 : kind == WireType::Fixed32 ? 4 : 0;
  }

private:
  /// Encoding of a field's value. Each enumerator has the number of the wire
  /// type in the protobuf format. The numbers 3 and 4 (start and end of a
  /// group) are deprecated and have no enumerator; `next` throws WireError if
  /// it finds them.
  enum class WireType : uint8_t {
    Integer = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5
  };

  /// Decodes the varint at `position` and advances `position` past it.
  uint64_t readInteger();
  /// Returns the next `size` bytes of the message. `position` points to the
  /// first of these bytes. Moves `position` to the byte after them. Throws
  /// WireError if the message has fewer than `size` bytes left.
  std::string_view take(uint64_t size);
  /// Throws a WireError which says that the current field has a wrong wire
  /// type. The wire type is the kind of encoding, such as varint. Example: a
  /// caller asks for an integer, but the field holds a string.
  [[noreturn]] void wrongKind() const;

  const char *begin;    ///< first byte of the current field
  const char *position; ///< first byte after the current field
  const char *end;      ///< end of the message
  uint32_t number = 0;
  WireType kind = WireType::Integer;
  /// Value of the current field, if the field is a varint (an integer of
  /// variable size), a 32-bit field or a 64-bit field. The value is stored as a
  /// bit pattern: a 32-bit field sets the low 32 bits, and the other bits are
  /// 0. Example: the float 1.0 is stored as 0x3f800000. For a length-delimited
  /// field, such as a string, `value` is 0.
  uint64_t value = 0;
  /// Bytes of the current field's value, if it is length-delimited.
  std::string_view content;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_WIREREADER_H
